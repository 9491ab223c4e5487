package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/ledger"
)

// signOffState is where the sign-off stands, in one line of plain words: the review's headline, and the title of its
// check. name writes a login.
func (o writer) signOffState(name func(string) string) string {
	switch {
	case o.Empty() && o.BrokenRulebooks() > 0:
		return "the rulebook change is refused"
	case o.Empty() && o.Stopped():
		return "an agent is beyond its limits"
	case o.Empty() && len(o.WaitingSiblings()) == 0:
		return "no runs in this pull request"
	case o.Empty():
		return "no runs in this pull request, but " + nameSiblings(o.WaitingSiblings(), "no sign-off")
	case o.SignedHere() && len(o.WaitingSiblings()) > 0:
		return o.signedBy(name) + ", but " + nameSiblings(o.WaitingSiblings(), "no sign-off")
	case o.SignedHere():
		return o.signedBy(name)
	}
	if fixes := o.neededFixes(); len(fixes) > 0 {
		return "waiting for the agent to fix " + joinList(fixes, "and")
	}
	if len(o.Governance) > 0 {
		return "an agent is beyond its limits"
	}
	return "waiting for " + joinList(o.stillRequired(), "and")
}

// nameSiblings names pull requests with the same commit, and what else they have.
func nameSiblings(list []outcome.Sibling, what string) string {
	var names []string
	for _, s := range list {
		names = append(names, fmt.Sprintf("#%d", s.Pull))
	}
	has := "has"
	if len(names) > 1 {
		has = "have"
	}
	return fmt.Sprintf("%s %s the same commit and %s", joinList(names, "and"), has, what)
}

// signedBy is who signed off.
func (o writer) signedBy(name func(string) string) string {
	var names []string
	self := false
	for _, e := range o.Receipts {
		self = self || e.Receipt.SelfSigned
		if a := e.Receipt.Approval; a != nil && !slices.Contains(names, name(a.Approver.Login)) {
			names = append(names, name(a.Approver.Login))
		}
	}
	for _, j := range o.Signers() { // an entry that carries a sign-off over names nobody
		if who := name(j.Review.User); len(names) < o.Need && !slices.Contains(names, who) {
			names = append(names, who)
		}
	}
	text := "signed off"
	if self {
		text = "self-signed"
	}
	if len(names) > 0 {
		text += " by " + joinList(names, "and")
	}
	if slices.ContainsFunc(o.Receipts, func(e ledger.Entry) bool { return e.Receipt.Kind == ledger.Carried }) {
		text += ", on an earlier commit with the same files"
	}
	return text
}

// countedWord is a number with what it counts.
type countedWord struct {
	n         int
	one, more string
}

func inWords(list []countedWord) []string {
	var out []string
	for _, c := range list {
		if c.n == 1 {
			out = append(out, c.one)
		} else if c.n > 1 {
			out = append(out, fmt.Sprintf(c.more, c.n))
		}
	}
	return out
}

// neededFixes are what no person can sign off: the agent has to push first.
func (o writer) neededFixes() []string {
	_, defects := o.Hurdles()
	return inWords([]countedWord{
		{
			min(o.RefusedCount(), 1),
			"what could not be audited",
			"",
		}, {defects, "1 finding", "%d findings"}, {o.UndecidedRules(), "1 undecided rule", "%d undecided rules"},
		{o.BrokenRulebooks(), "1 rulebook change", "%d rulebook changes"},
	})
}

// stillRequired is what a sign-off still needs of people.
func (o writer) stillRequired() []string {
	acceptable, _ := o.Hurdles()
	out := inWords([]countedWord{
		{len(o.Unknown), "1 unknown commit identity to be cleared up", "%d unknown commit identities to be cleared up"},
		{len(o.Objections), "1 request for changes to be settled", "%d requests for changes to be settled"},
		{len(acceptable), "1 finding to be accepted or fixed", "%d findings to be accepted or fixed"},
		{o.Need - len(o.CountedReviews()), "1 approval", "%d approvals"}, {o.openQuestions(), "1 answer", "%d answers"},
		{len(o.Blocked), "1 problem to be solved", "%d problems to be solved"},
	})
	if len(out) == 0 {
		return []string{"its receipts"}
	}
	return out
}

// auditState is the audit's verdict in words.
func (o writer) auditState() string {
	switch {
	case o.Empty() && o.BrokenRulebooks() > 0:
		return "failed, the rulebook change is refused"
	case o.Empty() && o.Stopped():
		return "failed, an agent is beyond its limits"
	case o.PassesHere() && !o.AuditPasses():
		return "failed, because " + nameSiblings(o.FailingElsewhere(), "a failing audit")
	case o.Empty():
		return "no runs in this pull request"
	case o.RefusedCount() > 0:
		return "failed, could not be audited: " + o.firstRefusal()
	}
	text := "failed, "
	if o.PassesHere() {
		text = "passed, "
	}
	text += o.countFindings()
	if o.Fails() && o.PassesHere() {
		text += ", accepted in review"
	}
	if n := o.UndecidedRules(); n > 0 {
		text += ", " + countOf(n, "high rule") + " undecided"
	}
	if o.BrokenRulebooks() > 0 {
		text += ", the rulebook change is refused"
	}
	if len(o.Governance) > 0 {
		text += ", an agent is beyond its limits"
	}
	return text
}

// countFindings counts the findings of all runs in words. Where a run is signed off its receipt counts, with what the
// person flagged.
func (o writer) countFindings() string {
	var high, mid, low int
	for _, v := range o.Verdicts() {
		high, mid, low = high+v.Risk.High, mid+v.Risk.Mid, low+v.Risk.Low
	}
	var parts []string
	for _, c := range []struct {
		n    int
		tier string
	}{{high, "high"}, {mid, "mid"}, {low, "low"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.tier))
		}
	}
	switch {
	case len(parts) == 0:
		return "no findings"
	case high+mid+low == 1:
		return parts[0] + " finding"
	}
	return joinList(parts, "and") + " findings"
}

// joinList joins a list as a sentence does.
func joinList(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + last + " " + list[len(list)-1]
}
