package referee

import (
	"strconv"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// TestCanonicalNumber: equal numbers are spelt alike, however they are written, and no digit is lost that arithmetic
// would see.
func TestCanonicalNumber(t *testing.T) {
	for token, want := range map[string]string{
		"0": "0", "-0.0": "0", "0.80": "0.8", "8e-1": "0.8", "1E2": "100", "1.50e3": "1500", "-12.0": "-12",
		"1.234567890123456789012345678":      "1.234567890123456789012345678", // 28 digits
		"1.2345678901234567890123456789":     "1.2345678901234567890123456789e0",
		"12.3456789012345678901234567890":    "1.2345678901234567890123456789e1",
		"-0.0012345678901234567890123456789": "-1.2345678901234567890123456789e-3",
		"12345678901234567890123456789e2":    "1.2345678901234567890123456789e30",
		"1000000000000000000000000000000000": "1000000000000000000000000000000000",
	} {
		if got := canonicalNumber(token); got != want {
			t.Errorf("%s is spelt %s, not %s", token, got, want)
		}
	}
	if canonicalNumber("0.1234567890123456789012345678901") == canonicalNumber("0.1234567890123456789012345678902") {
		t.Error("two constants that differ in the 31st digit are one")
	}
}

// TestSpelt: a token that is taken as it stands is what the decimals print.
func TestSpelt(t *testing.T) {
	taken := 0
	for _, whole := range []string{"0", "1", "10", "907", "123456789"} {
		for _, rest := range []string{"", ".0", ".5", ".50", ".05", ".0000000001", ".000000000001", ".00", "e1", "E-2",
			".5e0"} {
			for _, token := range []string{whole + rest, "-" + whole + rest} {
				n := decimal.MustParse(token)
				if isSpelledCanonically(token) {
					if taken++; n.String() != token {
						t.Errorf("%s is taken as it stands, and is %s", token, n)
					}
				}
				if got := canonicalNumber(token); got != n.String() {
					t.Errorf("%s is spelt %s, not %s", token, got, n)
				}
			}
		}
	}
	if taken < 20 {
		t.Errorf("%d tokens are taken as they stand", taken)
	}
}

// TestCanonicalString: RFC 8785's escapes, which are those of strconv.Quote for the characters that JSON names, and
// nothing else escaped.
func TestCanonicalString(t *testing.T) {
	for src, want := range map[string]string{
		"":           `""`,
		"a\"b\\c":    `"a\"b\\c"`,
		"\b\f\n\r\t": `"\b\f\n\r\t"`,
		"\x00\x1f\v": `"\u0000\u001f\u000b"`,
		"é </> \x7f": "\"é </> \x7f\"",
		"end\n":      `"end\n"`,
		"\u2028€":    "\"\u2028€\"",
	} {
		if got := string(appendString(nil, src)); got != want {
			t.Errorf("%s is written %s, not %s", strconv.Quote(src), got, want)
		}
		doc, err := strictjson.Parse(appendString(nil, src), strictjson.Limits{})
		if err != nil || doc.Text != src {
			t.Errorf("%s is read again as %v (%v)", strconv.Quote(src), doc, err)
		}
	}
}
