package referee

import (
	"slices"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/policy"
)

// ruleExprs are the compiled conditions of a rule.
func (r *Rule) ruleExprs() []*policy.Expr {
	out := []*policy.Expr{r.expr, r.when}
	if r.tierBy != nil {
		out = append(out, r.tierBy.measure)
	}
	return out
}

// prose are the members of a check that are words for people.
var prose = []string{"id", "label", "why", "fix", "message", "source", "equivalent", "x-lint", "category", "tier",
	"risk", "severity", "bucket", "emit", "on_missing", "check"}

// eachParameter visits the texts of a check's parameters.
func eachParameter(v *strictjson.Value, visit func(string)) {
	for _, m := range v.Fields() {
		if slices.Contains(prose, m.Key) {
			continue
		}
		m.Value.Walk(func(x *strictjson.Value) bool {
			if x.Kind == strictjson.String {
				visit(x.Text)
			}
			return true
		})
	}
}

// inputsUnder are the declared inputs that a rule reads, directly or through calculations. The parameters of a kind are
// read as texts: a name too many makes a gate rest on more than it does, which errs to the strict side.
func (s *Sheet) inputsUnder(r *Rule) []string {
	seen := map[string]bool{}
	var out []string
	var note func(names []string)
	note = func(names []string) {
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			switch m := s.mathNamed(name); {
			case m != nil:
				note(m.Inputs)
			case s.declaredInput(name) != nil || s.carriesName(name):
				out = append(out, name)
			}
		}
	}
	if r.Kind == "expr" {
		for _, e := range r.ruleExprs() {
			if e != nil {
				refs := e.Refs()
				note(append(refs.Inputs, refs.Calcs...))
				for _, f := range refs.Fields {
					note(identifiersIn(f))
				}
			}
		}
		return out
	}
	eachParameter(r.v, func(text string) { note(identifiersIn(text)) })
	note(r.reads)
	return out
}

// identifiersIn are the identifiers in a text.
func identifiersIn(s string) []string {
	var out []string
	from := -1
	for i := 0; i <= len(s); i++ {
		word := i < len(s) && (s[i] == '_' || s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z')
		switch {
		case word && from < 0:
			from = i
		case !word && from >= 0:
			out, from = append(out, s[from:i]), -1
		}
	}
	return out
}

// Counted lists the rules that hold an input to evidence: they read it, and they read evidence too, themselves, or by a
// calculation or another input that is counted from it.
func (s *Sheet) Counted(input string) []string {
	var out []string
	for _, r := range s.Rules {
		if r.v == nil || r.v == s.Doc || r.math != nil || keyNamed(r.Kind) != nil {
			continue
		}
		counts := r.readsEvidence() || r.Bucket == WorkDefect && s.restsOnCounted(r, input)
		if r.Kind == "bind" && r.v.TextOf("input") == input || counts && slices.Contains(s.inputsUnder(r), input) {
			out = append(out, r.ID)
		}
	}
	return out
}

// restsOnCounted reports whether the rule reads evidence through a calculation, or another input that a rule counts
// from evidence.
func (s *Sheet) restsOnCounted(r *Rule, input string) bool {
	for _, m := range r.needs {
		if m.expr != nil && len(m.expr.Refs().Evidence) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(s.inputsUnder(r), func(name string) bool {
		in := s.declaredInput(name)
		return name != input && in != nil && in.Held == HeldRecount
	})
}
