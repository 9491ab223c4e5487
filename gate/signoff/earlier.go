package signoff

import (
	"cmp"
	"slices"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// What a person answered in an earlier approving review still holds, as long as it is about the same bytes and they did
// not take it back: the review is of the same head, was neither edited nor dismissed, and its author has requested no
// changes since. A later word of theirs about the same thing stands before it.

// withEarlier adds to a review's commands what earlier approving reviews of the same person say and it does not.
func withEarlier(c Commands, r githubapi.Review, rec Record) Commands {
	earlier := earlierApprovals(r, rec)
	for _, e := range slices.Backward(earlier) { // the newest first
		said, at := ParseCommands(e.Body), canonical.Time(e.SubmittedAt)
		for _, a := range said.Answers {
			if !slices.ContainsFunc(c.Answers, func(have ledger.Answer) bool { return coversEarlier(have.ID, a.ID) }) {
				a.At = at
				c.Answers = append(c.Answers, a)
			}
		}
		for _, w := range said.Accepts {
			if !slices.ContainsFunc(
				c.Accepts,
				func(have ledger.Waiver) bool { return coversEarlier(have.RuleID, w.RuleID) },
			) {
				w.At = at
				c.Accepts = append(c.Accepts, w)
			}
		}
		c.Digest = cmp.Or(c.Digest, said.Digest)
	}
	return c
}

// earlierApprovals are the reviews whose words still hold beside a later one of the same person, in order. What comes
// after the later one makes that one stale, or, where it is carried, neither. A review that was dismissed may have
// asked for changes: it takes back what came before it, too.
func earlierApprovals(r githubapi.Review, rec Record) []githubapi.Review {
	var out []githubapi.Review
	for _, e := range inTime(rec.Reviews) {
		if e.ID == r.ID {
			break
		}
		switch {
		case e.UserID != r.UserID:
		case e.State == "CHANGES_REQUESTED" || e.State == "DISMISSED":
			out = nil
		case e.State == "APPROVED" && e.CommitSHA == r.CommitSHA && !rec.Edited[e.ID] &&
			!rec.movedBetween(e.SubmittedAt, r.SubmittedAt) && len(ParseCommands(e.Body).Problems) == 0:
			out = append(out, e)
		}
	}
	return out
}

// inTime orders reviews as they were submitted.
func inTime(reviews []githubapi.Review) []githubapi.Review {
	sorted := slices.Clone(reviews)
	slices.SortStableFunc(sorted, func(a, b githubapi.Review) int {
		return cmp.Or(a.SubmittedAt.Compare(b.SubmittedAt), cmp.Compare(a.ID, b.ID))
	})
	return sorted
}

// EditedAnswer is an earlier review by which the signer of an entry answered part of the checklist, and that no longer
// says so.
func EditedAnswer(signed *ledger.Receipt, rec *Record) *githubapi.Review {
	a := signed.Approval
	times := map[string]bool{}
	for _, x := range signed.Checklist {
		times[x.At] = times[x.At] || x.By == a.Approver.Login
	}
	for _, x := range signed.Accepted {
		times[x.At] = times[x.At] || x.By == a.Approver.Login
	}
	for i, r := range rec.Reviews {
		if r.UserID == a.Approver.ID && r.ID != a.Review.ID && times[canonical.Time(r.SubmittedAt)] &&
			(rec.Edited[r.ID] || r.State == "DISMISSED") {
			return &rec.Reviews[i]
		}
	}
	return nil
}

// movedBetween reports whether something between two reviews made the first of them stale.
func (rec Record) movedBetween(first, second time.Time) bool {
	e := rec.movedSince(first)
	return e != nil && !e.At.After(second)
}

// movedSince is the first event after a moment that makes earlier reviews of the pull request stale; nil for none.
func (rec Record) movedSince(since time.Time) *githubapi.TimelineEvent {
	i := slices.IndexFunc(rec.Timeline, func(e githubapi.TimelineEvent) bool {
		return (e.Event == "head_ref_force_pushed" || e.Event == "base_ref_changed") && !e.At.Before(since)
	})
	if i < 0 {
		return nil
	}
	return &rec.Timeline[i]
}
