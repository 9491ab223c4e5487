package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// How a command of a review may fit a question or rule of a run: /satisfied site_visit, or /satisfied oak-street:site_visit. One for the run beats
// one for all. A run's id holds no colon (referee.ParseRun), a rule's may: the whole key is taken for a rule's id first.
type fit int

const (
	fitsThisRun fit = iota
	fitsAllRuns
)

// answersFor are the answers of one review that fit the open questions of a run, each under the question's own id. An answer for this run replaces
// one for all runs.
func answersFor(c Commands, run string, asked map[string]bool) []ledger.Answer {
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

// waiversFor are the waivers of one review that fit the findings of a run, each under the rule's own id. A waiver for this run replaces one for all
// runs.
func waiversFor(accepts []ledger.Waiver, w *Work) []ledger.Waiver {
	var out []ledger.Waiver
	for _, how := range []fit{fitsThisRun, fitsAllRuns} {
		for _, a := range accepts {
			rule := ruleOf(a.RuleID, w.Run.ID, how)
			known := slices.ContainsFunc(out, func(have ledger.Waiver) bool { return have.RuleID == rule })
			if rule != "" && raised(w, rule) && !known && (how == fitsAllRuns || !raised(w, a.RuleID)) {
				a.RuleID = rule
				out = append(out, a)
			}
		}
	}
	return out
}

// forRun writes the rules of waivers so that they fit one run alone.
func forRun(run string, waivers []ledger.Waiver) []ledger.Waiver {
	out := slices.Clone(waivers)
	for i := range out {
		out[i].RuleID = run + ":" + out[i].RuleID
	}
	return out
}

// unasked are the words of signers that fit no run: an answer to no question, a waiver of a rule that flags nothing. They are slips of the pen. So is
// a key that means one rule in all runs and another in one.
func (o *Outcome) unasked(signers []Judged) []string {
	var out []string
	say := func(s Judged, verb, key, nothing string, fits func(w *Work, rule string) bool) {
		switch all, one := o.fits(key, fits); {
		case all && one:
			out = append(out, fmt.Sprintf("%s %s %q, which is a key of its own and a key of one run: rename one of the rules", s.Review.User, verb, key))
		case !all && !one:
			out = append(out, fmt.Sprintf("%s %s %q, which %s", s.Review.User, verb, key, nothing))
		}
	}
	for _, s := range signers {
		for _, a := range s.Commands.Answers {
			say(s, "answers", a.ID, "no run asks", func(w *Work, rule string) bool { return asks(w)[rule] })
		}
		for _, w := range s.Commands.Accepts {
			say(s, "accepts", w.RuleID, "flags nothing", raised)
		}
	}
	return out
}

// fits reports whether a command's key fits a rule of some run by itself, and whether it fits one behind the run's id.
func (o *Outcome) fits(key string, has func(w *Work, rule string) bool) (all, one bool) {
	for _, a := range o.Audits {
		if a.Work == nil {
			continue
		}
		all = all || has(a.Work, key)
		rule := ruleOf(key, a.Work.Run.ID, fitsThisRun)
		one = one || rule != "" && has(a.Work, rule)
	}
	return all, one
}

// asks are the checks of a run that wait for a person's answer.
func asks(w *Work) map[string]bool {
	out := map[string]bool{}
	for _, c := range w.Report.Checks {
		if c.Status == referee.Open {
			out[c.ID] = true
		}
	}
	return out
}

// raised reports whether a rule has a finding in a run.
func raised(w *Work, rule string) bool {
	return slices.ContainsFunc(w.Report.Findings, func(f referee.Finding) bool { return slices.Contains(f.RuleIDs, rule) })
}

// covers reports whether a later command of somebody says something about all that an earlier one of theirs was about: a word about all runs takes
// the place of one about a single run, and not the other way round.
func covers(later, earlier string) bool {
	return later == earlier || strings.HasSuffix(earlier, ":"+later)
}
