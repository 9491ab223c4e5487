package referee

import (
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee/formula"
)

// What one audit may cost (S81), whatever the pull request holds. All of it is counted and nothing timed: formulas,
// expressions, rows and the reading of evidence take from one meter, and what is listed is bounded with the count of
// the rest.
const (
	maxAuditWork = 20_000_000 // units of decimal.Meter, about 5 s
	// of the values at which gates would hold (Fix.Moves): without room for more, advice is left out
	maxAdvice    = 2_000_000
	unitsPerRule = 20     // for an audit that has a budget with others
	maxListed    = 100    // findings of one rule, code and tier
	maxAtoms     = 20_000 // verified facts that hold
	maxFailing   = 2_000  // facts of one rule that do not
)

// resetMeters begins the counts anew.
func (a *audit) resetMeters() {
	a.work, a.advice = &decimal.Meter{Most: a.Together.Room(maxAuditWork)},
		decimal.Meter{Most: a.Together.Room(maxAdvice)}
	a.found, a.listings, a.listed = nil, nil, nil // made with the first finding
	if a.Evidence != nil {
		a.Evidence.Meter(a.work)
	}
}

// settleWork counts the audit among those that have a budget together: what was metered, and what every audit takes, by
// its bytes and its rules.
func (a *audit) settleWork() {
	a.Together.Take(a.work.Spent + a.advice.Spent + len(a.Bytes) + unitsPerRule*len(a.Sheet.Rules))
}

// spendWork takes work of a rule that goes through rows by itself; false where none is left. What the rule then says is
// overruled: it is undecided.
func (a *audit) spendWork(n int) bool { return a.work.Take(n) }

// computeFormula evaluates a formula within the audit's work.
func (a *audit) computeFormula(f *formula.Formula, in formula.Inputs) (*decimal.Num, error) {
	return f.EvalWithin(in, a.work)
}

// adviseWithin works on advice, which has a meter of its own: what it takes must not leave a rule undecided.
func (a *audit) adviseWithin(work func()) {
	was := a.work
	a.work = &a.advice
	a.env.Work = a.work
	work()
	a.work, a.env.Work = was, was
}

// undecidedIfSpent overrules what a rule says of which the end was not seen: a flag stands, and anything else is a skip
// with its reason. It is said by a finding too, because what nobody has decided must not look like pass at any tier.
func (a *audit) undecidedIfSpent(r *Rule, out outcome) outcome {
	if !a.work.Exhausted() {
		return out
	}
	reason := fmt.Sprintf("the audit takes more than %d steps on this submission and its evidence", maxAuditWork)
	if a.work.Most < maxAuditWork {
		reason = fmt.Sprintf("the audit takes more than the %d steps that are left of what it may take together with "+
			"the audits before it", a.work.Most)
	}
	a.addFinding(r, Finding{Code: "math.too_complex", Tier: High, Stage: StageMath, Bucket: WorkDefect, Message: reason +
		": rules are undecided",
		Fix: &Fix{Text: "split the work, or leave out what no rule asks for"}})
	if out.status != Flag {
		return outcome{status: Skip, reason: reason, notes: out.notes}
	}
	return out
}

// findingKey is what makes two findings one (S49), listKey what is bounded.
type (
	findingKey struct{ code, pointer, file string } // file: of a finding in the evidence
	listKey    struct {
		rule, code string
		tier       Tier
		severity   string
	}
)

// listing is how many findings of one kind there are, and which is the last that is listed.
type listing struct{ count, last int }

// listsFinding counts a finding and reports whether it is listed. A rule's findings of one code and tier are of one
// weight, so that what is left out changes no verdict.
func (a *audit) listsFinding(r *Rule, f *Finding) bool {
	k := listKey{r.ID, f.Code, f.Tier, f.Severity}
	l := a.listings[k]
	if a.listings == nil {
		a.listings, a.found = map[listKey]*listing{}, map[findingKey]int{}
	}
	if l == nil {
		l = &listing{last: -1}
		a.listings[k] = l
		a.listed = append(a.listed, k)
	}
	l.count++
	return l.count <= maxListed
}

// countRest says of every list that was cut how many more there are, at the last finding that is listed and in the
// rule's notes.
func (a *audit) countRest() {
	for _, k := range a.listed {
		l := a.listings[k]
		rest := l.count - maxListed
		if rest <= 0 {
			continue
		}
		if l.last >= 0 {
			a.findings[l.last].Message += fmt.Sprintf("; and %d more findings of this kind, which are not listed", rest)
		}
		if r := a.Sheet.Rule(k.rule); r != nil {
			a.noteOnCheck(r, fmt.Sprintf("%d more findings %s (%s) are not listed", rest, k.code, k.tier))
		}
	}
}

// keepsAtom counts a fact and reports whether it is kept.
func (a *audit) keepsAtom(pass bool) bool {
	a.recorded++
	if pass {
		a.holding++
		return a.holding <= maxAtoms
	}
	a.failing++
	return a.failing <= maxFailing
}

// withoutBlank drops the ids of facts that were not kept.
func withoutBlank(ids []string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}
