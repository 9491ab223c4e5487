package receipt_test

import (
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// TestSubjectHoldsParams: other limits are another subject. The digest is worked out by hand from the parts, each with
// its length before it.
func TestSubjectHoldsParams(t *testing.T) {
	sheet, submission := strings.Repeat("a", 64), strings.Repeat("b", 64)
	s := ledger.Subject{
		SheetSHA256:      sheet,
		SubmissionSHA256: submission,
		Params:           []ledger.Param{{Name: "cap", Value: "500"}},
	}
	want := canonical.SHA256Hex(
		[]byte("18:referee.subject/v164:" + sheet + "64:" + submission + "6:params1:13:cap3:500"),
	)
	if got := s.Digest(); got != want {
		t.Errorf("the subject is %s, want %s", got, want)
	}
	s.Params[0].Value = "501"
	if s.Digest() == want {
		t.Error("another limit has the same subject")
	}
}
