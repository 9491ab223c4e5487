package forge

import (
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// TestEvaluatorReportAsTheSourceWritesIt: the source documents' own evaluator report says "autoFailReason": null where
// nothing failed (S78).
func TestEvaluatorReportAsTheSourceWritesIt(t *testing.T) {
	sheet := librarySheet(t, "genai-evaluator-gate")
	w, err := workedExample(sheet, &sheet.Examples()[0])
	if err != nil {
		t.Fatal(err)
	}
	if v := w.submission.Get("autoFailTriggered"); v == nil || v.Kind != strictjson.Bool || v.Text != "false" {
		t.Fatal("the first example has an automatic fail: it needs its reason")
	}
	w.submission.Set("autoFailReason", jsonNull())
	report, err := w.auditWork()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Status != referee.Pass && c.Status != referee.Open {
			t.Errorf("%s is %s: %s", c.ID, c.Status, whyStatus(report, c.ID))
		}
	}
}
