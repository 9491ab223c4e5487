package flightsheets_test

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
)

// derivedOf is what the sheet's first example derives with the texts in edits exchanged, in its submission and its
// evidence alike.
func derivedOf(t *testing.T, slug string, edits ...string) map[string]string {
	t.Helper()
	sheet := load(t, slug)
	ex := sheet.Examples()[0]
	ex.Evidence = slices.Clone(ex.Evidence)
	for i := range ex.Evidence {
		ex.Evidence[i].Text = strings.NewReplacer(edits...).Replace(ex.Evidence[i].Text)
	}
	c := openExample(t, sheet, &ex)
	for i := 0; i < len(edits); i += 2 {
		c.Bytes = bytes.ReplaceAll(c.Bytes, []byte(edits[i]), []byte(edits[i+1]))
	}
	out := map[string]string{}
	for _, d := range referee.Audit(c).Derived {
		out[d.ID] = strings.Trim(d.Value, `"`) // a text stands in quotes
	}
	return out
}

// TestReadabilityBand: the sub-scores were read off the source's edges by hand: grade up to 8, 10, 13, 16; words a
// sentence up to 18, 22, 30, 40; passives below 10 %, up to 20, 35, 50 %.
func TestReadabilityBand(t *testing.T) {
	const document = "You pay us each month. We send you a bill on the first day. If you pay late, a fee of ten " +
		"dollars is added by us. You may stop at any time. Write to us and we will close your account."
	undefined := []string{`"undefined_terms": 0`, `"undefined_terms": 1`}
	for _, c := range []struct {
		name                string
		edits               []string
		grade, length, pass string
		score, band         string
	}{
		{"8.4 words a sentence, one of five passive: (4 + 4 + 3) / 3", nil, "4", "4", "3", "3.7", "GREEN"},
		{"the same with an undefined term", undefined, "4", "4", "3", "2.7", "GREEN"},
		{"short and passive: (4 + 4 + 0) / 3", []string{document, "It was paid. It was sent."}, "4", "4", "0", "2.7",
			"GREEN"},
		{"the same with an undefined term", append([]string{document, "It was paid. It was sent."}, undefined...), "4",
			"4", "0", "1.7", "YELLOW"},
		{"exactly grade 12", []string{document, "Cancellation is final. Payment is annual. Arbitration follows."}, "2",
			"4", "4", "3.3", "GREEN"},
		{"42 words of four syllables, passive", []string{document, strings.Repeat("cancellation ", 40) +
			"was terminated."}, "0", "0", "0", "0", "RED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := derivedOf(t, "doc-plain-language", c.edits...)
			for id, want := range map[string]string{"grade_points": c.grade, "length_points": c.length,
				"passive_points": c.pass, "readability_score": c.score, "readability_band": c.band} {
				if got[id] != want {
					t.Errorf("%s is %q, not %q", id, got[id], want)
				}
			}
		})
	}
}

// TestGroundingScore: of two quotes, each counting one, or a half where it is boilerplate, and none below eight
// characters.
func TestGroundingScore(t *testing.T) {
	const first, second = "Contractor shall indemnify Company for all losses", "Fees are due within thirty days"
	lost := func(quote string) []string {
		return []string{`"ev": "` + quote + `"`, `"ev": "` + quote + ` sometimes"`}
	}
	for _, c := range []struct {
		name  string
		edits []string
		score *big.Rat
		band  string
	}{
		{"both stand there", nil, big.NewRat(1, 1), "well"},
		{"one of two", lost(first), big.NewRat(1, 2), "partial"},
		{"none", append(lost(first), lost(second)...), big.NewRat(0, 1), "poor"},
		{"the one that is lost is boilerplate: 1 of 1.5",
			[]string{`"ev": "` + first, `"ev": "indemnify and hold harmless`}, big.NewRat(2, 3), "partial"},
		{"a word is no quote", []string{`"ev": "` + first, `"ev": "nowhere`}, big.NewRat(1, 1), "well"},
		{"nothing is quoted", []string{`"ev": "` + first, `"ev": "`, `"ev": "` + second, `"ev": "`}, big.NewRat(1, 1),
			"well"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := derivedOf(t, "doc-contract-review", c.edits...)
			score, ok := new(big.Rat).SetString(got["grounding_score"])
			if !ok || relativeError(score, c.score).Cmp(big.NewRat(1, 1_000_000_000)) > 0 ||
				got["grounding_band"] != c.band {
				t.Errorf("%q, %q; want %s, %q", got["grounding_score"], got["grounding_band"], c.score.FloatString(4),
					c.band)
			}
		})
	}
}
