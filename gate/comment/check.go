package comment

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/githubapi"
)

// The names of the two checks.
const (
	AuditCheck   = "referee / audit"
	SignOffCheck = "referee / sign-off"
)

// writeAuditCheck makes the check on the head with the audit's verdict: success or failure, never neutral or skipped,
// which would satisfy a required check. It carries at most that many annotations, the heaviest first; the rest of what
// is to be said stands in the review.
func (o writer) writeAuditCheck(annotations int) githubapi.Check {
	items := o.itemsByRank()
	total := len(items)
	items = items[:min(max(annotations, 0), total)]
	c := o.makeCheck(AuditCheck, o.AuditPasses(), "failure", o.auditTitle(len(items), total), o.verdictSentence(), 0)
	if o.NoReview {
		c.Text = o.runSections(maxCheck)
	}
	for _, i := range items {
		c.Annotations = append(c.Annotations, i.toAnnotation())
	}
	return c
}

// writeSignOffCheck makes the check that is required before a merge: success when every run has its receipt, here and
// in every other open pull request with this commit. Else it waits for a person.
func (o writer) writeSignOffCheck() githubapi.Check {
	state := o.signOffState(codeName)
	return o.makeCheck(
		SignOffCheck,
		o.Signed(),
		"action_required",
		o.signOffTitle(),
		strings.ToUpper(state[:1])+state[1:]+".",
		o.ReviewID,
	)
}

// makeCheck is a check of this outcome. Its title names the pull request, because two of them can share a commit. Its
// summary is one sentence and a link to the review; where there is no review, it says all.
func (o writer) makeCheck(name string, good bool, otherwise, title, sentence string, review int64) githubapi.Check {
	c := githubapi.Check{
		Name:       name,
		HeadSHA:    o.Head,
		ExternalID: o.Digest(),
		Status:     "completed",
		Conclusion: otherwise,
	}
	if good {
		c.Conclusion = "success"
	}
	c.Title = cutToBytes(plainText(fmt.Sprintf("#%d: %s", o.Pull, title)), maxTitle)
	c.Summary = fmt.Sprintf("%s\n\n%s\n", sentence, o.reviewLink(review))
	if o.NoReview {
		c.Summary = joinSections(append(o.sectionsBeforeRuns(), o.sectionsAfterRuns()...), maxCheck)
	}
	return c
}

// auditTitle is the audit in one line; shown and total are annotations.
func (o writer) auditTitle(shown, total int) string {
	text := o.auditState()
	if shown < total {
		text += fmt.Sprintf(" (%d of %d shown on the lines)", shown, total)
	}
	return text
}

// signOffTitle says where the sign-off stands.
func (o writer) signOffTitle() string {
	return o.signOffState(func(login string) string { return login })
}

// reviewLink says where the details are: in a review, 0 where its number does not matter. The audit's check names none:
// it is posted before the review is there, and a sign-off alone does not write it again.
func (o writer) reviewLink(review int64) string {
	page := o.pageAddress("pull", fmt.Sprint(o.Pull))
	switch {
	case page == "":
		return "The details are in Referee's review of this pull request."
	case review > 0:
		return fmt.Sprintf("The details are in [Referee's review](%s#pullrequestreview-%d).", page, review)
	}
	return fmt.Sprintf("The details are in Referee's review of [pull request #%d](%s).", o.Pull, page)
}

// firstRefusal is where and why, short enough for a title.
func (o writer) firstRefusal() string {
	where, why := "", ""
	if len(o.Refusals) > 0 {
		where, why = o.Refusals[0].Path, o.Refusals[0].Reason
	}
	for _, a := range o.Audits {
		if a.Work == nil && where == "" {
			where, why = a.Dir, a.Refused
		}
	}
	const pathRoom, reasonRoom = 60, 100
	text := cutToBytes(where, pathRoom) + ": " + cutToBytes(why, reasonRoom)
	if n := o.RefusedCount(); n > 1 {
		text += fmt.Sprintf(" (and %d more)", n-1)
	}
	return strings.TrimSpace(text)
}
