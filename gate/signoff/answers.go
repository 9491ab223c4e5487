package signoff

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// How a command of a review may fit a question or rule of a run: /satisfied site_visit, or /satisfied
// oak-street:site_visit. One for the run beats one for all. A run's id holds no colon (referee.ParseRun), a rule's may:
// the whole key is taken for a rule's id first.
type fit int

const (
	fitsThisRun fit = iota
	fitsAllRuns
)

// AnswersFor are the answers of one review that fit the open questions of a run, each under the question's own id. An
// answer for this run replaces one for all runs.
func AnswersFor(c Commands, run string, asked map[string]bool) []ledger.Answer {
	var out []ledger.Answer
	for _, how := range []fit{fitsThisRun, fitsAllRuns} {
		for _, a := range c.Answers {
			rule := ruleOf(a.ID, run, how)
			known := slices.ContainsFunc(out, func(have ledger.Answer) bool { return have.ID == rule })
			if asked[rule] && !known && (how == fitsAllRuns || !asked[a.ID]) {
				a.ID = rule
				out = append(out, a)
			}
		}
	}
	return out
}

// ruleOf is the id that a command's key would have in a run; "" where it is none of this run.
func ruleOf(key, run string, how fit) string {
	if how == fitsAllRuns {
		return key
	}
	rule, _ := strings.CutPrefix(key, run+":")
	if rule == key {
		return ""
	}
	return rule
}

// RuleOfRun is the rule that a command's key names for one run alone, <run id>:<rule>; "" where it names none of this
// run.
func RuleOfRun(key, run string) string { return ruleOf(key, run, fitsThisRun) }

// WaiversFor are the waivers of one review that fit the findings of a run, each under the rule's own id. A waiver for
// this run replaces one for all runs.
func WaiversFor(accepts []ledger.Waiver, w *receipt.Work) []ledger.Waiver {
	var out []ledger.Waiver
	for _, how := range []fit{fitsThisRun, fitsAllRuns} {
		for _, a := range accepts {
			rule := ruleOf(a.RuleID, w.Run.ID, how)
			known := slices.ContainsFunc(out, func(have ledger.Waiver) bool { return have.RuleID == rule })
			if rule != "" && HasFinding(w, rule) && !known && (how == fitsAllRuns || !HasFinding(w, a.RuleID)) {
				a.RuleID = rule
				out = append(out, a)
			}
		}
	}
	return out
}

// WaiversOfRun writes the rules of waivers so that they fit one run alone.
func WaiversOfRun(run string, waivers []ledger.Waiver) []ledger.Waiver {
	out := slices.Clone(waivers)
	for i := range out {
		out[i].RuleID = run + ":" + out[i].RuleID
	}
	return out
}

// OpenQuestions are the checks of a run that wait for a person's answer.
func OpenQuestions(w *receipt.Work) map[string]bool {
	out := map[string]bool{}
	for _, c := range w.Report.Checks {
		if c.Status == referee.Open {
			out[c.ID] = true
		}
	}
	return out
}

// HasFinding reports whether a rule has a finding in a run.
func HasFinding(w *receipt.Work, rule string) bool {
	return slices.ContainsFunc(
		w.Report.Findings,
		func(f referee.Finding) bool { return slices.Contains(f.RuleIDs, rule) },
	)
}

// coversEarlier reports whether a later command of somebody says something about all that an earlier one of theirs was
// about: a word about all runs takes the place of one about a single run, and not the other way round.
func coversEarlier(later, earlier string) bool {
	return later == earlier || strings.HasSuffix(earlier, ":"+later)
}
