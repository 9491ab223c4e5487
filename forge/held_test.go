package forge

import (
	"sync/atomic"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"

	flightsheets "github.com/defendableos/referee/flight_sheets"
)

// TestHeldInputsCannotMove: on every sheet, an agent that restates one number that is held, a tenth up or down, and works every calculation anew
// as if it were so, is found out, however the evidence holds it (S70). Before this revision 190 of 363 numbers could be moved so without a
// finding.
func TestHeldInputsCannotMove(t *testing.T) {
	var tried atomic.Int64
	t.Cleanup(func() {
		if n := tried.Load(); n < 600 {
			t.Errorf("%d moves were tried; the library has more than 300 held numbers", n)
		}
	})
	for _, slug := range flightsheets.Names() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			sheet := librarySheet(t, slug)
			for _, ex := range sheet.Examples() {
				base, err := workedExample(sheet, &ex)
				if err != nil {
					t.Fatal(err)
				}
				for _, in := range base.sheet.Inputs {
					if in.Held != referee.HeldCell && in.Held != referee.HeldRecount {
						continue
					}
					if why := looselyHeld[slug+"/"+in.Name]; why != "" {
						continue
					}
					for _, factor := range []string{"1.1", "0.9"} {
						tried.Add(1)
						if what := moved(t, base, in, factor); what != "" {
							t.Errorf("%s times %s: %s", in.Name, factor, what)
						}
					}
				}
			}
		})
	}
}

// looselyHeld are claims whose rule allows more than a tenth on purpose.
var looselyHeld = map[string]string{"doc-plain-language/claimed_fk": "half a grade is allowed, and the example's grade is 0.6"}

// moved restates an input and everything that follows from it, and says what is wrong with the outcome; "" where it is found out, or where the
// input is no number that can be moved.
func moved(t *testing.T, base *worked, in referee.Input, factor string) string {
	t.Helper()
	was := base.submission.Get("inputs").Get(in.Name)
	if was == nil || was.Kind != strictjson.Number || num(was) == nil || num(was).IsZero() {
		return ""
	}
	to, err := decimal.Mul(num(was), decimal.MustParse(factor))
	if err != nil {
		t.Fatal(err)
	}
	before, err := base.recomputed()
	if err != nil {
		t.Fatal(err)
	}
	w := base.clone()
	if err := w.rework([]strictjson.Member{{Key: in.Name, Value: jsonNumber(to.String())}}, before); err != nil {
		t.Fatal(err)
	}
	w.files = base.files
	if hashes := base.submission.Get("evidence_sha256"); hashes != nil {
		set(w.submission, "evidence_sha256", clone(hashes))
	}
	rep, err := w.audited()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Findings {
		if f.Bucket == referee.WorkDefect && (f.Tier == referee.High || in.Gate() != referee.High) {
			return ""
		}
	}
	return "no work-defect speaks of it"
}
