package referee

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee/policy"
)

// maxReadings bounds how many combinations of duplicate calculations one gate is held for (S19).
const maxReadings = 64

// runExpr holds a gate: true passes, false flags, unknown skips with what is missing (S22–S27). Where calculations are
// stated more than once it must hold for every one of them (S19).
func runExpr(a *audit, r *Rule) outcome {
	readings, complete := a.readingsOf(r.needs)
	if !complete {
		a.addFinding(r, Finding{Code: "math.too_complex", Tier: High, Stage: StageMath, Bucket: WorkDefect,
			Pointer: "/calculations",
			Message: fmt.Sprintf("duplicate calculations give more than %d readings of rule %q", maxReadings, r.ID),
			Fix:     &Fix{Text: "state each calculation once"}})
		return flagged
	}
	out := outcome{status: Pass}
	for i, pick := range readings {
		a.chooseCalculations(pick)
		res := r.expr.Eval(a.env)
		one := a.gateOutcome(r, res)
		if i == 0 {
			a.explainRule(r, res, one)
		}
		out = worseGate(out, one)
		a.checkStraddle(r, res.Truth)
	}
	a.chooseCalculations(nil)
	out.notes = append(out.notes, a.fallBacks(r)...)
	return out
}

// fallBacks notes where a gate reads the agent's own value, because the sheet's formula could not be computed (S16).
func (a *audit) fallBacks(r *Rule) []string {
	var out []string
	for _, m := range r.needs {
		for _, c := range a.byID[m.ID] {
			if c.sheet == nil && c.own != nil {
				out = append(out, fmt.Sprintf(
					"%s is read by the agent's own formula: the sheet's %s cannot be computed", m.ID, m.Text))
			}
		}
	}
	return slices.Compact(out)
}

// worseGate: a flag beats a skip beats a pass.
func worseGate(x, y outcome) outcome {
	rank := func(s Status) int { return slices.Index([]Status{Pass, Open, Skip, Flag}, s) }
	if rank(y.status) > rank(x.status) || x.status == Pass && y.vacuous {
		return y
	}
	return x
}

// oneReading picks nothing: where no calculation is duplicated there is one of each. Nobody writes to it.
var oneReading = []map[string]int{{}}

// readingsOf lists the ways to pick one of each duplicated calculation; complete is false when there are too many.
func (a *audit) readingsOf(needs []*MathCheck) (out []map[string]int, complete bool) {
	out = oneReading
	for _, m := range needs {
		n := len(a.byID[m.ID])
		if n < 2 {
			continue
		}
		if len(out)*n > maxReadings {
			return nil, false
		}
		var more []map[string]int
		for _, pick := range out {
			for i := range n {
				p := maps.Clone(pick)
				p[m.ID] = i
				more = append(more, p)
			}
		}
		out = more
	}
	return out, true
}

// gateOutcome turns a result into an outcome and its findings.
func (a *audit) gateOutcome(r *Rule, res policy.Result) outcome {
	a.reportIssues(r, res)
	switch res.Truth {
	case policy.True:
		a.addAtom("policy."+r.ID, "", true, "info", "cross_field", "the gate holds")
		return outcome{status: Pass, vacuous: res.Vacuous}
	case policy.False:
		a.gateFails(r, res)
		return flagged
	}
	if r.OnMissing == "flag" {
		a.gateUnknown(r, res)
		return flagged
	}
	a.operandMissing(r, res)
	return skipOutcome("cannot be decided: %s", missingText(res))
}

// gateFails words the flag of a gate that does not hold, with every operand's value and how far each input would have
// to move.
func (a *audit) gateFails(r *Rule, res policy.Result) {
	tier := a.tierOf(r)
	if r.expr.Approx() && res.Sides != nil {
		tier = a.bandTier(res.Sides)
	}
	said := r.failureText(res)
	id := a.addMeasuredAtom(r, "policy."+r.ID, "", false, atomSeverity(tier), "cross_field", operandText(res.Operands),
		r.Text,
		func() string { return said })
	f := Finding{Code: "policy." + r.ID, Tier: tier, Pointer: a.gatePointer(res), Atoms: []string{id},
		Fix: a.distanceOf(r, res)}
	f.Spot = &Spot{Gate: r.Text}
	if res.Sides != nil {
		f.Spot.Distance = comparisonGap(res.Sides)
	}
	f.Message = said
	if f.Fix == nil && r.Fix != "" {
		f.Fix = &Fix{Text: r.Fix}
	}
	a.addFinding(r, f)
}

// longRule is how many characters of a rule a finding repeats; `audit --explain` prints a longer one.
const longRule = 160

// failureText says that the gate does not hold: in the sheet's words, or with the part of it that fails and the values
// there.
func (r *Rule) failureText(res policy.Result) string {
	if r.Message != "" {
		return withValues(r.Message, operandText(res.Operands))
	}
	what, sides, operands := r.Text, res.Sides, res.Operands
	if t := res.Term; t != nil {
		what, sides = t.Text, t.Sides
		operands = slices.DeleteFunc(slices.Clone(operands),
			func(o policy.OperandValue) bool { return !strings.Contains(what, o.Text) })
	}
	said := r.ruleTitle() + " does not hold: "
	long := utf8.RuneCountInString(what) > longRule
	differs := ""
	if sides != nil && sides[0].Kind == policy.List && sides[1].Kind == policy.List {
		differs = firstDifference(sides[0].List, sides[1].List)
	} else if sides != nil && long {
		differs = clipText(valueText(sides[0])) + " against " + clipText(valueText(sides[1]))
	}
	switch {
	case !long && differs != "":
		return said + what + " (" + differs + ")"
	case !long:
		return withValues(said+what, operandText(operands))
	case differs != "":
		said += differs
	default:
		said = strings.TrimSuffix(said, ": ")
	}
	short := slices.DeleteFunc(slices.Clone(operands), func(o policy.OperandValue) bool {
		return utf8.RuneCountInString(o.Text) > longRule/4 || o.Val.Kind == policy.List
	})
	return withValues(said, operandText(short))
}

// firstDifference says where two lists part, and nothing where they do not.
func firstDifference(left, right []policy.Val) string {
	for i := range min(len(left), len(right)) {
		l, r := left[i], right[i]
		if valueText(l) != valueText(r) || l.Str != r.Str {
			return fmt.Sprintf("number %d of %d is %s against %s", i+1, len(left), clipText(valueText(l)),
				clipText(valueText(r)))
		}
	}
	if len(left) == len(right) {
		return ""
	}
	return fmt.Sprintf("%d values against %d", len(left), len(right))
}

func withValues(said, values string) string {
	if values == "" {
		return said
	}
	return said + " (" + values + ")"
}

// bandTier is the tier of an approx comparison that does not hold: the band sets it (S7, S33).
func (a *audit) bandTier(sides *[2]policy.Val) Tier {
	if sides[0].Num == nil || sides[1].Num == nil {
		return High
	}
	return max(a.Sheet.penalty.bandOf(claimDistance(sides[0].Num, sides[1].Num)), bandLow).bandTier()
}

// gateUnknown flags a gate whose sheet says that a missing operand is a flag (S24).
func (a *audit) gateUnknown(r *Rule, res policy.Result) {
	id := a.addAtom("policy."+r.ID, "", false, atomSeverity(r.Tier), "cross_field", r.Text)
	a.addFinding(r, Finding{Code: "policy." + r.ID, Pointer: missingPointer(res), Atoms: []string{id},
		Spot:    &Spot{Gate: r.Text},
		Message: fmt.Sprintf("%s cannot be shown to hold: %s", r.ruleTitle(), missingText(res)),
		Fix:     &Fix{Text: "supply what is missing"}})
}

// operandMissing raises the work-defect behind a gate that could not be decided because something declared is absent
// (S22a): never a false flag of the gate, never a quiet pass.
func (a *audit) operandMissing(r *Rule, res policy.Result) {
	inRow := slices.ContainsFunc(res.Issues, func(is policy.Issue) bool { return is.Code == "row_error" })
	for _, m := range res.Missing {
		a.noteLacking(r, pointerOf(m))
		if inRow && m.Kind == "field" && m.Pointer == "" {
			continue // said of the row, as what it is
		}
		if m.Kind == "prior" && a.Case.Prior != nil {
			a.priorUnresolved(r, m)
		}
		if m.Kind != "calc" && m.Kind != "input" && m.Kind != "field" || m.Kind == "calc" &&
			a.Sheet.isUndeclared(m.Name) {
			continue
		}
		tier := r.Tier
		if a.missing[normalName(m.Name)] && tier == High {
			tier = Mid
		}
		pointer := pointerOf(m)
		id := a.addAtom("operand.missing", m.Name, false, atomSeverity(tier), "field", m.Why)
		a.addFinding(r, Finding{Code: "evidence.operand_missing", Tier: tier, Stage: StageEvidence, Bucket: WorkDefect,
			Pointer: pointer, Atoms: []string{id},
			Message: fmt.Sprintf("rule %q cannot be decided: %s", r.ID, whyMissing(m)),
			Fix:     &Fix{Text: "supply " + m.Name}})
	}
}

// pointerOf is where a missing operand should stand.
func pointerOf(m policy.MissingOperand) string {
	switch {
	case m.Pointer != "":
	case m.Kind == "input":
		return inputPointer(m.Name)
	case m.Kind == "calc":
		return "/calculations"
	}
	return m.Pointer
}

// noteLacking keeps the first place at which a rule found nothing.
func (a *audit) noteLacking(r *Rule, pointer string) {
	if _, known := a.lacking[r.ID]; known {
		return
	}
	if a.lacking == nil {
		a.lacking = map[string]string{}
	}
	a.lacking[r.ID] = pointer
}

// priorUnresolved flags a receipt that the ledger at hand does not hold; without a ledger the rule only skips.
func (a *audit) priorUnresolved(r *Rule, m policy.MissingOperand) {
	id := a.addAtom("evidence.prior", m.Name, false, "critical", "field", m.Why)
	a.addFinding(r, Finding{Code: "evidence.prior_unresolved", Stage: StageEvidence, Bucket: WorkDefect,
		Pointer: m.Pointer,
		Atoms:   []string{id},
		Message: fmt.Sprintf("rule %q: %s", r.ID, whyMissing(m)),
		Fix:     &Fix{Text: "name a receipt of this ledger by its SHA-256"}})
}

func whyMissing(m policy.MissingOperand) string {
	if m.Why != "" {
		return m.Why
	}
	return fmt.Sprintf("%s %q is missing", m.Kind, m.Name)
}

// reportIssues reports what evaluation stumbled over: wrong types (S25), undefined arithmetic (S12), rows that lack a
// member.
func (a *audit) reportIssues(r *Rule, res policy.Result) {
	for _, is := range res.Issues {
		a.noteLacking(r, is.Pointer)
		f := Finding{Code: "evidence." + is.Code, Tier: Mid, Stage: StageEvidence, Bucket: WorkDefect,
			Pointer: is.Pointer, Message: fmt.Sprintf("rule %q: %s", r.ID, is.Message)}
		switch is.Code {
		case "undefined", "too_large", "irr_ambiguous", "too_complex":
			f.Code, f.Tier, f.Stage = "math."+is.Code, High, StageMath
		case "row_error", "date":
			f.Code, f.Tier, f.Stage = "schema."+is.Code, High, StageSchema
		case "operand_type":
			f.Fix = &Fix{Text: "write the value in the type that the sheet declares; numbers are JSON numbers, " +
				"not text"}
		}
		f.Atoms = []string{a.addAtom("operand."+is.Code, is.Pointer, false, atomSeverity(f.Tier), "field", is.Message)}
		a.addFinding(r, f)
	}
}

// isHonestRounding reports whether the claim is the recomputed value rounded as written, whatever band it is in (S2a).
func (a *audit) isHonestRounding(c *calculation) bool {
	strict := bands{tolerance: zero, mid: c.bands.mid, high: c.bands.high}
	d := strict.measureDeviation(c.claimed, c.recomputedValue(), c.written, c.scale)
	return d.rounded && !d.coarse
}

// noteOnCheck adds a remark to a rule's check.
func (a *audit) noteOnCheck(r *Rule, text string) {
	for i := range a.checks {
		if a.checks[i].ID == r.ID && !slices.Contains(a.checks[i].Notes, text) {
			a.checks[i].Notes = append(a.checks[i].Notes, text)
		}
	}
}

// setStatus changes what became of an earlier rule: math rules come before the gates that show them wrong.
func (a *audit) setStatus(id string, s Status) {
	for i := range a.checks {
		if a.checks[i].ID == id {
			a.checks[i].Status = s
		}
	}
}

// tierOf is the declared tier, or what tier_by's measure says.
func (a *audit) tierOf(r *Rule) Tier {
	if r.tierBy == nil {
		return r.Tier
	}
	measure := r.tierBy.measure.Eval(a.env).Val.Num
	switch {
	case measure == nil || decimal.Cmp(measure, r.tierBy.high) > 0:
		return High
	case r.tierBy.mid == nil || decimal.Cmp(measure, r.tierBy.mid) > 0:
		return Mid
	}
	return Low
}

// ruleTitle is what a message calls the rule.
func (r *Rule) ruleTitle() string {
	if r.Label != "" {
		return r.Label
	}
	return r.ID
}

// gatePointer is where a reader should look: the first operand that came from the submission.
func (a *audit) gatePointer(res policy.Result) string {
	for _, op := range res.Operands {
		p := op.Val.Pointer()
		if v := op.Val.JSON; p != "" && (v == nil || a.doc.At(p) == v) { // not a value of an evidence file
			return p
		}
	}
	return ""
}

func missingPointer(res policy.Result) string {
	for _, m := range res.Missing {
		if m.Pointer != "" {
			return m.Pointer
		}
	}
	return ""
}

// missingText lists what is missing, for reasons and messages.
func missingText(res policy.Result) string {
	var words []string
	for _, m := range res.Missing {
		if w := whyMissing(m); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for _, is := range res.Issues {
		words = append(words, is.Message)
	}
	if len(words) == 0 {
		return "an operand is missing"
	}
	return joinListed(words)
}

// operandText prints the operands that are not literals: "dscr = 1.022, …".
func operandText(operands []policy.OperandValue) string {
	var words []string
	for _, op := range operands {
		w := op.Text + " = " + valueText(op.Val)
		if op.From != "literal" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words[:min(len(words), 8)], ", ")
}

func valueText(v policy.Val) string {
	if v.Kind == policy.Num {
		return shownNumber(v.Num)
	}
	return v.String()
}

// comparisonGap is left − right of a comparison of numbers, as a canonical decimal.
func comparisonGap(sides *[2]policy.Val) string {
	if sides[0].Num == nil || sides[1].Num == nil {
		return ""
	}
	d, err := decimal.Sub(sides[0].Num, sides[1].Num)
	if err != nil {
		return ""
	}
	return reportNumber(d)
}
