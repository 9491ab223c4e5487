package forge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// ruleTree is a rule's condition as a tree, nil where it has none.
func ruleTree(r *referee.Rule) *strictjson.Value {
	if r.Expr() == nil {
		return nil
	}
	return treeOf(r.Expr())
}

// eachComparison calls f for every comparison of two operands in a tree, links of chains included.
func eachComparison(v *strictjson.Value, f func(op string, left, right *strictjson.Value)) {
	v.Walk(func(v *strictjson.Value) bool {
		switch op := v.TextOf("op"); op {
		case "==", "!=", "<", "<=", ">", ">=":
			if v.Get("left") != nil {
				f(op, v.Get("left"), v.Get("right"))
			}
		case "chain":
			for _, link := range chainLinks(v) {
				f(link.TextOf("op"), link.Get("left"), link.Get("right"))
			}
		}
		return true
	})
}

// lintExactness warns of == on a computed number: two ways of the same sum end on different last digits (S32).
func (l *linter) lintExactness(r *referee.Rule) {
	if !isDeclaredCheck(r) || ruleTree(r) == nil {
		return
	}
	eachComparison(ruleTree(r), func(op string, left, right *strictjson.Value) {
		if op != "==" && op != "!=" || wordsLike(left) || wordsLike(right) {
			return
		}
		for i, side := range []*strictjson.Value{left, right} {
			other := []*strictjson.Value{right, left}[i]
			if l.isFractional(side) && !(l.isQuotient(side) && (other.Text == "0" || other.Text == "1")) {
				l.warn(r.Value(), "exact", "write approx(a, b), or abs(a - b) <= a bound",
					"the rule %q asks %s %s %s exactly, and %s is computed (S32)", r.ID, l.ranges.treeText(left), op,
					l.ranges.treeText(right), l.ranges.treeText(side))
				return
			}
		}
	})
}

// wordsLike: a comparison with a text or a truth is not about numbers.
func wordsLike(v *strictjson.Value) bool {
	return v.Kind == strictjson.String || v.Kind == strictjson.Bool
}

// isFractional reports whether an operand is computed so that its last digits are a matter of rounding.
func (l *linter) isFractional(v *strictjson.Value) bool {
	if v.Kind != strictjson.Object {
		return false
	}
	switch {
	case v.Get("calc") != nil:
		return l.fractionalCalc(v.TextOf("calc"))
	case v.Get("agg") != nil:
		return slices.Contains([]string{"mean", "rms", "stddev"}, v.Get("agg").TextOf("op"))
	}
	switch v.TextOf("op") {
	case "/", "**", "sqrt", "exp", "ln", "log10", "avg", "pmt", "npv", "irr", "rate", "piecewise":
		return true
	case "+", "-", "*":
		return l.isFractional(v.Get("left")) || l.isFractional(v.Get("right"))
	case "neg":
		return l.isFractional(v.Get("term"))
	}
	return false
}

// isQuotient reports whether an operand is one quotient: n/d is 0 or 1 exactly where n is 0 or d.
func (l *linter) isQuotient(v *strictjson.Value) bool {
	for _, m := range l.sheet.Math {
		if m.ID == v.TextOf("calc") && m.Expression() != nil {
			v = treeOf(m.Expression())
		}
	}
	return v.TextOf("op") == "/" && !l.isFractional(v.Get("left")) && !l.isFractional(v.Get("right"))
}

func (l *linter) fractionalCalc(id string) bool {
	for _, m := range l.sheet.Math {
		if m.ID == id && m.Expression() != nil {
			return l.isFractional(treeOf(m.Expression()))
		}
	}
	return false
}

// lintCoverage is S24: a high gate that skips quietly when its operand is left out lets the work through.
func (l *linter) lintCoverage(r *referee.Rule) {
	if r.Tier != referee.High || !isDeclaredCheck(r) || r.Expr() == nil || r.OnMissing == "flag" || r.When() != nil {
		return
	}
	tree := ruleTree(r)
	if op := tree.TextOf("op"); op == "if" || op == "implies" {
		return
	}
	refs := r.Expr().Refs()
	for _, name := range refs.Inputs {
		i := slices.IndexFunc(l.sheet.Inputs, func(in referee.Input) bool { return in.Name == name })
		if i >= 0 && l.sheet.Inputs[i].Optional && !l.isRequired([]string{"inputs", name}) &&
			!isGuarded(tree, "input", name) {
			l.warnUncovered(r, "the optional input "+name)
		}
	}
	for _, id := range refs.Calcs {
		if slices.ContainsFunc(l.sheet.Math, func(m *referee.MathCheck) bool { return m.ID == id && m.Optional }) {
			l.warnUncovered(r, "the optional calculation "+id)
		}
	}
	for _, path := range refs.Fields {
		steps := pathSteps(path)
		if len(steps) > 0 && !strings.HasPrefix(path, "$") && !strings.HasPrefix(path, "row") && !l.isRequired(steps) &&
			!isGuarded(tree, "field", path) && isPath(tree, path) {
			l.warnUncovered(r, "the member "+path)
		}
	}
}

func (l *linter) warnUncovered(r *referee.Rule, what string) {
	l.warn(r.Value(), "skips", `require it in required_output_schema, set "on_missing": "flag", or say with `+
		`applies_if where the gate applies`,
		"the high gate %q skips where %s is missing, and nothing requires it (S24)", r.ID, what)
}

// isGuarded reports whether an operand stands only where its absence is asked for: under nonempty, or all_nonempty.
func isGuarded(tree *strictjson.Value, key, name string) bool {
	found := false
	tree.Walk(func(v *strictjson.Value) bool {
		if op := v.TextOf("op"); op == "nonempty" || op == "all_nonempty" {
			v.Walk(func(v *strictjson.Value) bool {
				found = found || v.TextOf(key) == name
				return true
			})
		}
		return true
	})
	return found
}

// isPath reports whether a name is read as a path of the submission, and not as a member of a row.
func isPath(tree *strictjson.Value, path string) bool {
	found := false
	tree.Walk(func(v *strictjson.Value) bool {
		found = found || v.TextOf("field") == path
		return true
	})
	return found
}

// pathSteps are the member names of a path of the language, up to its first index.
func pathSteps(path string) []string {
	if strings.HasPrefix(path, "/") {
		steps, err := strictjson.ParsePointer(path)
		if err != nil {
			return nil
		}
		return steps
	}
	path, _, _ = strings.Cut(path, "[")
	return strings.Split(path, ".")
}

// canonicalMembers come with "baseline": "canonical".
var canonicalMembers = []string{"assignment_id", "agent_summary", "inputs_used", "missing_inputs", "claims",
	"calculations", "risks", "assumptions", "open_questions", "final_output", "self_check"}

// isRequired reports whether something flags a submission without the member: the schema of the submission, the
// canonical baseline, or a check of kind required. A declared input is required unless it is optional.
func (l *linter) isRequired(steps []string) bool {
	if l.sheet.Baseline == "canonical" && len(steps) == 1 && slices.Contains(canonicalMembers, steps[0]) {
		return true
	}
	if steps[0] == "inputs" && len(steps) > 1 &&
		slices.ContainsFunc(l.sheet.Inputs, func(in referee.Input) bool {
			return in.Name == steps[1] &&
				!in.Optional
		}) {
		return true
	}
	if l.requiredPath(steps) {
		return true
	}
	schema := l.sheet.Doc.At("/eval_spec/required_output_schema")
	for _, step := range steps {
		if need := schema.Get("required"); need == nil ||
			!slices.ContainsFunc(need.Items, func(v *strictjson.Value) bool { return v.Text == step }) {
			return false
		}
		schema = schema.Get("properties").Get(step)
	}
	return true
}

// requiredPath looks into the checks of kind required.
func (l *linter) requiredPath(steps []string) bool {
	for _, r := range l.sheet.Rules {
		if r.Kind != "required" {
			continue
		}
		for _, p := range r.Value().Get("paths").Items {
			if have := pathSteps(p.Text); len(have) >= len(steps) && slices.Equal(have[:len(steps)], steps) {
				return true
			}
		}
	}
	return false
}

// lintPercentages warns of a formula that yields per cents itself: a claim of 23 percent is read as 0.23 (S10), and
// would never match 23.
func (l *linter) lintPercentages() {
	for _, m := range l.sheet.Math {
		factor := map[string]string{"%": "100", "percent": "100", "pct": "100", "per cent": "100", "percentage": "100",
			"bps": "10000", "bp": "10000", "basis points": "10000"}[strings.ToLower(strings.TrimSpace(m.Units))]
		if factor != "" && m.Expression() != nil && scaledUp(treeOf(m.Expression()), factor) {
			l.warn(m.Value(), "percent", "leave the "+factor+" out: units say how the number is written",
				"the formula of %q multiplies by %s, and its claim in %s is divided by it before they are "+
					"compared (S10)",
				m.ID, factor, m.Units)
		}
	}
}

// scaledUp reports whether a product or quotient has the factor among its outermost multipliers.
func scaledUp(v *strictjson.Value, factor string) bool {
	switch v.TextOf("op") {
	case "*":
		return scaledUp(v.Get("left"), factor) || scaledUp(v.Get("right"), factor)
	case "/":
		return scaledUp(v.Get("left"), factor)
	case "neg":
		return scaledUp(v.Get("term"), factor)
	}
	n := v.Decimal()
	return n != nil && n.String() == factor
}

// lintMagicNumbers warns of a bound without a source: neither the rule nor a constant says where it comes from.
func (l *linter) lintMagicNumbers(r *referee.Rule) {
	if r.Stage != referee.StagePolicy || !isDeclaredCheck(r) || r.Expr() == nil || r.Source.Text != "" {
		return
	}
	eachComparison(ruleTree(r), func(_ string, left, right *strictjson.Value) {
		for _, side := range []*strictjson.Value{left, right} {
			if side.Kind == strictjson.Number && side.Text != "0" && side.Text != "1" {
				l.warn(r.Value(), "magic_number",
					"declare a constant with value, source, as_of and status, and name it",
					"the gate %q compares with %s, which has no source", r.ID, side.Text)
			}
		}
	})
}

// textWithoutPlace is the failure without its place.
func (f Failure) textWithoutPlace() string {
	_, after, _ := strings.Cut(f.String(), fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column))
	return after
}
