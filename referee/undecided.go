package referee

import (
	"fmt"
	"strings"
)

// raiseUndecided makes every high rule that could not be decided a finding (S74): whatever makes an audit fail is one,
// with the operand and the place where it should have been. A submission that cannot be read has said so once, of all
// its rules.
func (a *audit) raiseUndecided() {
	if a.doc == nil {
		return
	}
	for i, ch := range a.checks {
		if !isUndecidedHigh(ch) {
			continue
		}
		r := a.Sheet.Rules[i]
		f := Finding{Code: "policy.undecided", Tier: High, Bucket: WorkDefect, Pointer: a.whereItShouldBe(r, ch),
			Message: fmt.Sprintf("the high rule %q cannot be decided: %s", r.ID,
				strings.TrimPrefix(ch.Reason, "cannot be decided: ")),
			Fix: &Fix{Text: "supply what is missing there; what nobody can decide does not pass"}}
		if r.Bucket == StackFit || strings.Contains(ch.Reason, errNoLedger.Error()) {
			f.Bucket = StackFit // the operator's to mend: a profile, a ledger
		}
		a.addFinding(r, f)
	}
}

// isUndecidedHigh reports whether a check is a high rule that was skipped: nobody knows whether it holds, so the gate
// does not open and no receipt is minted (S39a). A rule whose applies_if says that it does not apply passes and is
// none; nor is what a bare submission cannot have, an agent and evidence, because without a manifest there is no run to
// sign off (S61).
func isUndecidedHigh(ch Check) bool { return ch.Status == Skip && ch.Tier == High && !noManifest(ch) }

// whereItShouldBe is the place of the operand that a rule lacks, or of the calculation that it rests on.
func (a *audit) whereItShouldBe(r *Rule, ch Check) string {
	if pointer, ok := a.lacking[r.ID]; ok {
		return pointer
	}
	if id, ok := strings.CutPrefix(ch.BlockedBy, "math."); ok {
		if list := a.byID[id]; len(list) > 0 {
			return list[0].pointer
		}
		return "/calculations"
	}
	for _, f := range a.findings {
		for _, id := range f.RuleIDs {
			if id == r.ID || id == ch.BlockedBy {
				return f.Pointer
			}
		}
	}
	return ""
}
