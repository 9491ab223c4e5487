package referee

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
	"github.com/defendableos/referee/referee/policy"
)

// The source documents' own sheets name documents as required inputs, and give formulas over names that only the
// submission's calculations carry (S78). Such a sheet loads; where a sheet declares its inputs, an unknown name stays
// what it is, a slip that is refused.

// loadSourceForm gathers what a sheet in that form speaks of without declaring it, and warns.
func (l *loader) loadSourceForm(n *policy.Names) {
	s := l.sheet
	list := s.Doc.Get("required_inputs")
	if len(s.Inputs) > 0 || len(list.Elements()) == 0 {
		return
	}
	for _, v := range s.Doc.At("/eval_spec/math_checks").Elements() {
		src, _ := v.Get("formula").Str()
		f, err := formula.Parse(src, slices.Concat(n.Calcs, s.Carried))
		if err != nil {
			continue // said where the formula is compiled
		}
		for _, name := range f.Vars() {
			if !slices.Contains(n.Calcs, name) && n.Consts[name] == nil && !slices.Contains(s.Carried, name) &&
				isIdentifier(name) {
				s.Carried = append(s.Carried, name)
			}
		}
	}
	prose := " " + strings.Join(s.Doc.Get("required_inputs").Texts(), " ")
	if unsaid := slices.DeleteFunc(slices.Clone(s.Carried),
		func(name string) bool { return strings.Contains(prose, " "+name+":") }); len(unsaid) > 0 {
		l.problems.addProblem(list, "undeclared_input", "the formulas read %s, which no required input names: the numbers "+
			"are those that the calculations state",
			strings.Join(unsaid, ", ")).asWarning("declare each as {name, type, unit}, so that it is stated once and can " +
			"be held to evidence")
	}
	l.undeclaredCalculations(n)
	n.Inputs = append(n.Inputs, s.Carried...)
	n.Calcs = append(n.Calcs, s.Undeclared...)
}

// undeclaredCalculations finds the calculations that rules name as {"calc": …} and no math check declares.
func (l *loader) undeclaredCalculations(n *policy.Names) {
	rules := l.sheet.Doc.At("/eval_spec/rules")
	if rules == nil {
		return
	}
	known := map[string]bool{}
	for _, id := range n.Calcs {
		known[normalName(id)] = true
	}
	rules.Walk(func(v *strictjson.Value) bool {
		id, ok := v.Get("calc").Str()
		if ok && isIdentifier(id) && !known[normalName(id)] {
			known[normalName(id)] = true
			l.sheet.Undeclared = append(l.sheet.Undeclared, id)
			l.problems.addProblem(v, "undeclared_calculation", "a rule reads the calculation %q, which no math check "+
				"declares: it can fail and never pass", id).
				asWarning("declare it in math_checks with its formula")
		}
		return true
	})
}

// asWarning makes a problem a warning.
func (p *Problem) asWarning(hint string) { p.Warning, p.Hint = true, hint }

// isUndeclared reports whether a name, as an expression writes it, is a calculation that only a rule names.
func (s *Sheet) isUndeclared(name string) bool {
	return slices.Contains(s.Undeclared, strings.TrimPrefix(name, "calc."))
}

// undeclaredEntry is the submission's entry of a calculation that only a rule names, or nil.
func (a *audit) undeclaredEntry(id string) *calculation {
	if !slices.Contains(a.Sheet.Undeclared, id) {
		return nil
	}
	for _, c := range a.calcs {
		if c.check == nil && a.sheetName(c.name) == id {
			return c
		}
	}
	return nil
}
