package signoff

import (
	"cmp"
	"slices"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// DecisionOf is what an approving review decides of a run. Answers and waivers of all the approvals that make the
// sign-off count, each with its person; where one is satisfied and another is not, the flag stands.
func DecisionOf(s Judged, permission string, all []Judged, w *receipt.Work) receipt.Decision {
	d := receipt.Decision{
		Kind:     ledger.Approved,
		Approver: ApproverOf(s.Review, permission),
		Review:   ReviewRef(s.Review),
	}
	asked := OpenQuestions(w)
	for _, j := range all {
		by, at := j.Review.User, canonical.Time(j.Review.SubmittedAt)
		// a pull request may hold runs with other questions
		for _, answer := range AnswersFor(j.Commands, w.Run.ID, asked) {
			answer.By, answer.At = by, cmp.Or(answer.At, at)
			d.Answers = MergeAnswer(d.Answers, answer)
		}
		for _, waiver := range WaiversFor(j.Commands.Accepts, w) {
			waiver.By, waiver.At = by, cmp.Or(waiver.At, at)
			d.Waivers = append(d.Waivers, waiver)
		}
	}
	return d
}

// MergeAnswer adds an answer; of two about one thing the flag stands, and of two flags the first.
func MergeAnswer(have []ledger.Answer, next ledger.Answer) []ledger.Answer {
	i := slices.IndexFunc(have, func(a ledger.Answer) bool { return a.ID == next.ID })
	if i < 0 {
		return append(have, next)
	}
	if have[i].Answer != "flag" && next.Answer == "flag" {
		have[i] = next
	}
	return have
}

// ApproverOf is the author of a review, with the permission that they have, as a receipt holds it.
func ApproverOf(r githubapi.Review, permission string) ledger.Approver {
	return ledger.Approver{Login: r.User, ID: r.UserID, Type: r.UserType, Permission: permission}
}

// ReviewRef is a review as a receipt binds it.
func ReviewRef(r githubapi.Review) ledger.Review {
	return ledger.Review{
		ID:          r.ID,
		SubmittedAt: canonical.Time(r.SubmittedAt),
		CommitSHA:   r.CommitSHA,
		BodySHA256:  canonical.SHA256Hex([]byte(r.Body)),
	}
}
