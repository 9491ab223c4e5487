package forge

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"

	flightsheets "github.com/defendableos/referee/flight_sheets"
)

// TestHeldInputsCannotMove: on every sheet, an agent that restates one number that is held, a tenth up or down, and
// works every calculation anew as if it were so, is found out, however the evidence holds it (S70). Before this
// revision 190 of 363 numbers could be moved so without a finding.
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

// TestTableAndInputTogether: where a document of the client holds a figure beside the table that the agent's side
// writes, an agent that moves the figure in its answer and in its table alike, and works every calculation anew, is
// contradicted by the document, and the other way about.
func TestTableAndInputTogether(t *testing.T) {
	var tried atomic.Int64
	t.Cleanup(func() {
		if n := tried.Load(); n < 400 {
			t.Errorf("%d figures were moved with one of their documents; the library has more than 200 that two hold",
				n)
		}
	})
	for _, slug := range flightsheets.Names() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			sheet := librarySheet(t, slug)
			ex := sheet.Examples()[0]
			base, err := workedExample(sheet, &ex)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range base.sheet.Inputs {
				if len(in.From) < 2 {
					continue
				}
				for _, keep := range in.From {
					tried.Add(1)
					if what := movedBut(t, base, in, keep.Evidence); what != "" {
						t.Errorf("%s, and every document of it but %q: %s", in.Name, keep.Evidence, what)
					}
				}
			}
		})
	}
}

// movedBut gives an input another value in the answer and in all its documents but one.
func movedBut(t *testing.T, base *worked, in referee.Input, kept string) string {
	t.Helper()
	to := anotherValue(base.submission.Get("inputs").Get(in.Name), in)
	if to == nil {
		return ""
	}
	before, err := base.recomputedResults()
	if err != nil {
		t.Fatal(err)
	}
	w := base.cloneWork()
	if err := w.reworkInputs([]strictjson.Member{{Key: in.Name, Value: to}}, before); err != nil {
		t.Fatal(err)
	}
	for i, f := range base.files {
		if f.ID == kept {
			w.rewriteFile(i, f.Text)
		}
	}
	rep, err := w.auditWork()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Findings {
		if f.Code == "evidence.input_mismatch" && f.Pointer == "/inputs/"+in.Name && f.Bucket == referee.WorkDefect &&
			(f.Tier == referee.High || in.Gate() != referee.High) {
			return ""
		}
	}
	return fmt.Sprintf("no evidence.input_mismatch at the tier of its gate %q: %v", in.Gate(), codesOf(rep))
}

// anotherValue is a value that an input could have and has not, nil where it has none.
func anotherValue(was *strictjson.Value, in referee.Input) *strictjson.Value {
	switch {
	case was.IsMissing():
		return nil
	case was.Decimal() != nil:
		more, err := decimal.Add(was.Decimal(), decimal.MustParse("1"))
		if err != nil {
			return nil
		}
		return jsonNumber(more.String())
	case was.Kind == strictjson.Bool:
		return jsonBool(was.Text != "true")
	case len(in.Enum) > 0:
		return jsonString(in.Enum[(slices.Index(in.Enum, was.Text)+1)%len(in.Enum)])
	case in.Type == "date":
		return jsonString("2019-02-03")
	case in.Type == "datetime":
		return jsonString("2019-02-03T04:05:06")
	}
	return jsonString(was.Text + " B")
}

// moved restates an input and everything that follows from it, and says what is wrong with the outcome; "" where it is
// found out, or where the input is no number that can be moved.
func moved(t *testing.T, base *worked, in referee.Input, factor string) string {
	t.Helper()
	was := base.submission.Get("inputs").Get(in.Name)
	if was == nil || was.Kind != strictjson.Number || was.Decimal() == nil || was.Decimal().IsZero() {
		return ""
	}
	to, err := decimal.Mul(was.Decimal(), decimal.MustParse(factor))
	if err != nil {
		t.Fatal(err)
	}
	before, err := base.recomputedResults()
	if err != nil {
		t.Fatal(err)
	}
	w := base.cloneWork()
	if err := w.reworkInputs([]strictjson.Member{{Key: in.Name, Value: jsonNumber(to.String())}}, before); err != nil {
		t.Fatal(err)
	}
	w.files = base.files
	if hashes := base.submission.Get("evidence_sha256"); hashes != nil {
		w.submission.Set("evidence_sha256", hashes.Clone())
	}
	rep, err := w.auditWork()
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
