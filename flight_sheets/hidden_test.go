package flightsheets_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
)

// auditEdited audits a sheet's first example with one text of its evidence exchanged, and with the hash of that file as
// it then is.
func auditEdited(t *testing.T, slug, id, from, to string) *referee.Report {
	t.Helper()
	sheet := load(t, slug)
	ex := sheet.Examples()[0]
	ex.Evidence = slices.Clone(ex.Evidence)
	i := slices.IndexFunc(ex.Evidence, func(f referee.ExampleFile) bool { return f.ID == id })
	before := ex.Evidence[i].Text
	ex.Evidence[i].Text = strings.Replace(before, from, to, 1)
	if ex.Evidence[i].Text == before {
		t.Fatalf("%q is not in the evidence %q", from, id)
	}
	c := openExample(t, sheet, &ex)
	c.Bytes = bytes.ReplaceAll(c.Bytes, []byte(hashOf(before)), []byte(hashOf(ex.Evidence[i].Text)))
	return referee.Audit(c)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestTelephoneNumbersAsPeopleSeeThem: a telephone number is one whatever its hyphens, spaces and digits are made of;
// what only looks like the parts of one is none.
func TestTelephoneNumbersAsPeopleSeeThem(t *testing.T) {
	for _, number := range []string{
		"555-012-3456", "555\u2011012\u20113456", "555\u00A0012\u00A03456", "５５５－０１２－３４５６", "555\u200B-012\u200B-3456",
		"5\u200D55 012\u20093456",
		"٥٥٥-٠١٢-٣٤٥٦", "555\u2012012\u22123456", "⁵⁵⁵⁻⁰¹²⁻³⁴⁵⁶", "𝟝𝟝𝟝-𝟘𝟙𝟚-𝟛𝟜𝟝𝟞",
		"5\uFE0F\u20E35\uFE0F\u20E35\uFE0F\u20E3-012-3456",
	} {
		rep := auditEdited(t, "comp-hipaa-safe-harbor", "dataset", "improved", "call "+number)
		if !slices.ContainsFunc(rep.Findings, func(f referee.Finding) bool {
			return f.Code == "policy.scan_zero" ||
				f.Code == "policy.hits_recount"
		}) {
			t.Errorf("%q passes Safe Harbor: %v", number, rep.Findings)
		}
	}
	for _, honest := range []string{"10⁶ cells per 5½ ml", "dose 5 µm; Δp 3 kPa", "555 patients", "naïve – see chart",
		"לא השתנה"} {
		rep := auditEdited(t, "comp-hipaa-safe-harbor", "dataset", "improved", honest)
		// no profile is given here
		if slices.ContainsFunc(rep.Findings, func(f referee.Finding) bool { return f.Bucket != referee.StackFit }) {
			t.Errorf("%q is flagged: %+v", honest, rep.Findings)
		}
	}
}

// TestGoverningLawThatNobodySees: a character of no width is no governing law, and it is found where it stands.
func TestGoverningLawThatNobodySees(t *testing.T) {
	sheet := load(t, "doc-contract-review")
	for _, law := range []string{`\u200b`, "\u200B", `\u3164`, `\u00a0`, `\u2060\ufeff`} {
		ex := sheet.Examples()[0]
		c := openExample(t, sheet, &ex)
		v := ex.Submission.At("/inputs/governing_law")
		if v == nil || v.Text == "" {
			t.Fatal("the example states no governing law")
		}
		c.Bytes = bytes.Replace(c.Bytes, []byte(`"`+v.Text+`"`), []byte(`"`+law+`"`), 1)
		rep := referee.Audit(c)
		found := func(code, pointer string) bool {
			return slices.ContainsFunc(rep.Findings, func(f referee.Finding) bool {
				return f.Code == code &&
					f.Pointer == pointer
			})
		}
		if !found("policy.jurisdiction", "/inputs/governing_law") {
			t.Errorf("%q is a governing law: %+v", law, rep.Findings)
		}
		if hidden := !strings.Contains(law, "00a0"); found("evidence.hidden_text", "/inputs/governing_law") != hidden {
			t.Errorf("%q: %+v", law, rep.Findings)
		}
	}
}
