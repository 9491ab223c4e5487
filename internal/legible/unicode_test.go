package legible

import (
	"bufio"
	"compress/bzip2"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// unicodeData opens a file of the Unicode Character Database as Debian's package unicode-data installs it. The
// release's own check needs it; elsewhere what rests on it is passed over.
func unicodeData(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(filepath.Join("/usr/share/unicode", name))
	if err != nil {
		if os.Getenv("REFEREE_CI") != "" {
			t.Fatalf("install unicode-data: %v", err)
		}
		t.Skipf("needs unicode-data: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	if strings.HasSuffix(name, ".bz2") {
		return bzip2.NewReader(f)
	}
	return f
}

// fields yields the fields of each line of a file of the database, without its comments.
func fields(t *testing.T, name string, use func([]string)) {
	t.Helper()
	lines := bufio.NewScanner(unicodeData(t, name))
	n := 0
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" || line[0] == '@' {
			continue
		}
		parts := strings.Split(line, ";")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		use(parts)
		n++
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Fatalf("%s: %d lines, %v", name, n, err)
	}
}

// points reads code points as the database writes them: 0041 0301.
func points(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for f := range strings.FieldsSeq(s) {
		n, err := strconv.ParseUint(f, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteRune(rune(n))
	}
	return b.String()
}

// spread reads one code point or a range of them: 200B..200F.
func spread(t *testing.T, s string, use func(rune)) {
	t.Helper()
	first, last, ranged := strings.Cut(s, "..")
	if !ranged {
		last = first
	}
	for r := []rune(points(t, first))[0]; r <= []rune(points(t, last))[0]; r++ {
		use(r)
	}
}

// property is the set of code points that a file gives a property.
func property(t *testing.T, file, name string) map[rune]bool {
	set := map[rune]bool{}
	fields(t, file, func(f []string) {
		if f[1] == name {
			spread(t, f[0], func(r rune) { set[r] = true })
		}
	})
	return set
}

// TestUnicodeNormalization holds Fold to the 18,000 lines of NormalizationTest.txt: texts that are the same by
// Unicode's canonical rules are seen as the same, and what Fold does not map itself it normalises to NFKC.
func TestUnicodeNormalization(t *testing.T) {
	own := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool {
			to, how := seenAs(r)
			return how != isKept || to != r
		})
	}
	fields(t, "NormalizationTest.txt.bz2", func(f []string) {
		source, nfc, nfd, nfkc := points(t, f[0]), points(t, f[1]), points(t, f[2]), points(t, f[3])
		if Composed(source) != nfc || Decomposed(source) != nfd {
			t.Errorf("%+q is not normalised as Unicode says", source)
		}
		if Fold(source) != Fold(nfc) || Fold(source) != Fold(nfd) {
			t.Errorf("%+q, %+q and %+q are one text, and fold to %+q, %+q and %+q", source, nfc, nfd, Fold(source),
				Fold(nfc), Fold(nfd))
		}
		if !own(source) && !own(nfkc) && Fold(source) != nfkc {
			t.Errorf("Fold(%+q) = %+q, want %+q", source, Fold(source), nfkc)
		}
	})
}

// TestUnicodeIgnorable holds Ignorable to DerivedCoreProperties.txt: the property, and beyond it what legible.go names.
func TestUnicodeIgnorable(t *testing.T) {
	set := property(t, "DerivedCoreProperties.txt", "Default_Ignorable_Code_Point")
	for r := rune(0); r <= unicode.MaxRune; r++ {
		extra := unicode.Is(unicode.Cc, r) && !strings.ContainsRune("\t\n\v\f\r\u0085", r) || r >= 0xFFF9 &&
			r <= 0xFFFB || r == 0x1D159
		if Ignorable(r) != (set[r] || extra) {
			t.Errorf("Ignorable(U+%04X) = %v", r, Ignorable(r))
		}
	}
}

// TestUnicodeDashes holds dash to PropList.txt, and digits to UnicodeData.txt.
func TestUnicodeDashes(t *testing.T) {
	set := property(t, "PropList.txt", "Dash")
	for r := range set {
		if wavy := r == 0x2053 || r == 0x301C || r == 0x3030 || r == 0x30A0; isDash(r) == wavy {
			t.Errorf("dash(U+%04X) = %v", r, isDash(r))
		}
	}
	fields(t, "UnicodeData.txt", func(f []string) {
		want, err := strconv.Atoi(f[6])
		if f[6] == "" || err != nil {
			want = -1
		}
		if r := []rune(points(t, f[0]))[0]; int(digitValue(r)) != want && f[2] != "Cs" {
			t.Errorf("digit(U+%04X) = %d, want %d", r, digitValue(r), want)
		}
	})
}

// TestUnicodeSequences: no emoji and no standardized variant of Unicode's own lists hides anything.
func TestUnicodeSequences(t *testing.T) {
	hidesNothing := func(s string) {
		if found := Find("a " + s + " b"); len(found) > 0 {
			t.Errorf("%+q hides nothing: %+v", s, found)
		}
	}
	for _, file := range []string{"emoji/emoji-test.txt", "emoji/emoji-zwj-sequences.txt",
		"emoji/emoji-variation-sequences.txt", "StandardizedVariants.txt"} {
		fields(t, file, func(f []string) {
			if s := points(t, f[0]); !strings.HasSuffix(file, "variation-sequences.txt") || s[0] >= 0x80 {
				hidesNothing(s)
			}
		})
	}
	fields(t, "emoji/emoji-sequences.txt", func(f []string) {
		if !strings.Contains(f[0], "..") {
			hidesNothing(points(t, f[0]))
		}
	})
}

// TestLookalikes: every letter of our own lists is one of Unicode's, and has the script that it is listed under.
func TestLookalikes(t *testing.T) {
	for list, want := range map[string]script{cyrillicNear: cyrillic, greekNear + greekFormula: greek} {
		for _, r := range list {
			if _, ok := lookalikeOf(r); !ok || scriptOf(r) != want {
				t.Errorf("%c (U+%04X)", r, r)
			}
		}
	}
	if n := utf8.RuneCountInString(lookalikeLetters); n != len(lookalikeShapes) || n < 300 {
		t.Errorf("%d letters, %d shapes", n, len(lookalikeShapes))
	}
}

// TestUnicodeConfusables holds the table to the confusables.txt that it was made from, read by another way than the
// generator's. Debian does not package the file: REFEREE_CONFUSABLES names it.
func TestUnicodeConfusables(t *testing.T) {
	name := os.Getenv("REFEREE_CONFUSABLES")
	if name == "" {
		t.Skip("REFEREE_CONFUSABLES names no confusables.txt")
	}
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(src)); got != lookalikeSource {
		t.Fatalf("the table was made from another file: SHA-256 %s", got)
	}
	want := map[rune]byte{}
	line := regexp.MustCompile(`(?m)^([0-9A-F]+) ;\t00([0-9A-F]{2}) ;\tMA`)
	for _, m := range line.FindAllStringSubmatch(string(src), -1) {
		r, to := []rune(points(t, m[1]))[0], points(t, m[2])[0]
		word := to >= '0' && to <= '9' || to >= 'A' && to <= 'Z' || to >= 'a' && to <= 'z'
		compatible := norm.NFKC.String(string(r))[:1]
		if word && unicode.IsLetter(r) && scriptOf(r) != latin &&
			!strings.ContainsAny(compatible, " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			want[r] = to
		}
	}
	want[0x051A] = 'Q'
	if got := lookalikes(); !maps.Equal(got, want) {
		t.Errorf("the table has %d letters, the file %d", len(got), len(want))
	}
}

// TestUnicodeExamples: the words that UTS #39 itself shows read as the word that they look like, and hide it beside
// words of Latin.
func TestUnicodeExamples(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"p\u0430yp\u0430l", "paypal"}, // Cyrillic a
		{"C\u0456rcle", "Circle"},      // section 5.1, mixed: Cyrillic i
		{"\u0421irc\u04CFe", "Circle"}, // Cyrillic Es and palochka
		{"\u0421\u0456r\u0441\u04CF\u0435", "Circle"},
		{"\U0001D5A2\U0001D5C2\U0001D5CB\U0001D5BC\U0001D5C5\U0001D5BE", "Circle"},   // mathematical letters, by NFKC
		{"t\u03BFp", "top"}, {"\u0455\u0441\u043E\u0440\u0435 of it", "scope of it"}, // whole of Cyrillic, beside Latin
	} {
		if got := Fold(c.in); got != c.want {
			t.Errorf("Fold(%+q) = %+q, want %q", c.in, got, c.want)
		}
		if hides := len(Find(c.in)) > 0; hides == Plain(norm.NFKC.String(c.in)) {
			t.Errorf("%+q: hides %v", c.in, hides)
		}
	}
	if s := "\u0455\u0441\u043E\u0440\u0435"; Fold(s) != s || len(Find(s)) > 0 {
		t.Errorf("a word of Cyrillic alone is one: %+q", Fold(s))
	}
}
