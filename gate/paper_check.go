package gate

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

// AuditPaper is the check on the head with the audit's verdict: success or failure, never neutral or skipped, which would satisfy a required
// check. It carries at most that many annotations, the heaviest first.
func (o *Outcome) AuditPaper(annotations int) githubapi.Check {
	items := o.items()
	total := len(items)
	items = items[:min(max(annotations, 0), total)]
	c := o.check(AuditCheck, o.AuditPasses(), "failure")
	c.Title = within(plain(o.auditTitle(len(items), total)), maxTitle)
	c.Summary = written(append(o.front(), o.back()...), maxCheck)
	c.Text = o.runs(maxCheck)
	for _, i := range items {
		c.Annotations = append(c.Annotations, i.annotation())
	}
	return c
}

// SignOffPaper is the check that is required before a merge: success when every run has its receipt, else it waits for a person.
func (o *Outcome) SignOffPaper() githubapi.Check {
	c := o.check(SignOffCheck, o.Signed(), "action_required")
	c.Title = within(plain(o.signOffTitle()), maxTitle)
	c.Summary = written(append(o.front(), o.signing()...), maxCheck)
	return c
}

func (o *Outcome) check(name string, good bool, otherwise string) githubapi.Check {
	c := githubapi.Check{Name: name, HeadSHA: o.Head, ExternalID: o.Digest(), Status: "completed", Conclusion: otherwise}
	if good {
		c.Conclusion = "success"
	}
	return c
}

// auditTitle is the audit in one line; shown and total are annotations.
func (o *Outcome) auditTitle(shown, total int) string {
	var parts []string
	switch {
	case o.refused() > 0:
		parts = append(parts, "could not be audited: "+o.firstRefusal())
	case o.Empty():
		parts = append(parts, "no runs in this pull request")
	default:
		parts = append(parts, o.counts())
	}
	if shown < total {
		parts[0] += fmt.Sprintf(" — %d of %d shown", shown, total)
	}
	if n := o.undecided(); n > 0 {
		parts = append(parts, many(n, "high rule")+" undecided")
	}
	if o.brokenRulebooks() > 0 {
		parts = append(parts, "the rulebook change is refused")
	}
	if len(o.Governance) > 0 {
		parts = append(parts, "an agent is beyond its limits")
	}
	if o.Fails() && o.AuditPasses() {
		parts = append(parts, "accepted in review")
	}
	return strings.Join(parts, "; ")
}

// brokenRulebooks counts the rulebooks that the pull request edits and that would be refused.
func (o *Outcome) brokenRulebooks() int {
	n := 0
	for _, c := range o.Rulebook {
		if len(c.Problems) > 0 {
			n++
		}
	}
	return n
}

// firstRefusal is where and why, short enough for a title.
func (o *Outcome) firstRefusal() string {
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
	text := within(where, pathRoom) + ": " + within(why, reasonRoom)
	if n := o.refused(); n > 1 {
		text += fmt.Sprintf(" (and %d more)", n-1)
	}
	return text
}

// signOffTitle says what is waited for, in words and numbers of our own.
func (o *Outcome) signOffTitle() string {
	switch {
	case o.Empty():
		return "no runs in this pull request"
	case o.Signed():
		return "signed off, " + many(len(o.Audits), "receipt")
	case o.refused() > 0:
		return "nothing can be signed off before all of it is audited"
	}
	parts := []string{fmt.Sprintf("%d of %d approvals", min(len(o.counted()), o.Need), o.Need)}
	say := func(n int, one, more string) {
		switch n {
		case 0:
		case 1:
			parts = append(parts, "1 "+one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, more))
		}
	}
	rules, defects := o.hurdles()
	say(o.open(), "open question", "open questions")
	say(defects, "finding to be mended", "findings to be mended")
	say(o.undecided(), "high rule undecided", "high rules undecided")
	say(len(rules), "rule to be accepted or met", "rules to be accepted or met")
	say(len(o.Objections), "objection", "objections")
	say(len(o.Unknown), "unknown identity", "unknown identities")
	say(o.brokenRulebooks(), "rulebook change refused", "rulebook changes refused")
	say(len(o.Governance), "limit broken by an agent", "limits broken by agents")
	say(len(o.Blocked), "other reason", "other reasons")
	return "waits: " + strings.Join(parts, " · ")
}
