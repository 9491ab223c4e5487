package referee

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
	"github.com/defendableos/referee/referee/policy"
)

// citing is one run over the inputs that cite evidence (S62).
type citing struct {
	a    *audit
	r    *Rule
	open int                     // left to the human
	cell map[string]*decimal.Num // what the evidence says of an input that says otherwise
}

// runInputsMatchEvidence: an input equals the cell that it cites, exactly or by honest rounding (S62).
func runInputsMatchEvidence(a *audit, r *Rule) outcome {
	cited := slices.ContainsFunc(a.calcs, func(c *calculation) bool { return !isBlank(c.v.Get("sources")) })
	if !cited && !r.v.Get("require_sources").IsTrue() {
		return outcome{status: Pass, vacuous: true}
	}
	if a.Evidence == nil {
		return skipOutcome("no_manifest: a bare submission declares no evidence")
	}
	before, run := a.raised, &citing{a: a, r: r, cell: map[string]*decimal.Num{}}
	for _, c := range a.calcs {
		run.citeCalculation(c)
	}
	run.turnGates()
	out := flaggedSince(a, before)
	if out.status == Pass && run.open > 0 {
		return outcome{status: Open, reason: fmt.Sprintf("%d inputs cite documents that are left to the human",
			run.open)}
	}
	return out
}

// citeCalculation holds the inputs of one calculation to what its sources cite.
func (run *citing) citeCalculation(c *calculation) {
	sources := c.v.Get("sources")
	for _, m := range sources.Fields() {
		if in := c.v.Get("inputs").Get(m.Key); in.Decimal() == nil && (in == nil || in.Kind != strictjson.Array) {
			run.a.addFinding(run.r, Finding{Code: "evidence.input_unsourced", Tier: Mid, Pointer: m.Value.Pointer(),
				Message: fmt.Sprintf("sources names %q, which is no number among the inputs of %q", clipText(m.Key),
					c.labelText()), Fix: &Fix{Text: "state the input, or drop its source"}})
		}
	}
	for _, m := range c.v.Get("inputs").Fields() {
		ref, ok := sources.Get(m.Key).Str()
		switch {
		case ok && m.Value.Kind == strictjson.Array:
			run.citeList(c, m, ref)
		case ok && m.Value.Decimal() != nil:
			run.citeNumber(c, m, ref)
		case !ok && run.r.v.Get("require_sources").IsTrue():
			run.a.addFinding(run.r, Finding{Code: "evidence.input_unsourced", Pointer: m.Value.Pointer(),
				Message: fmt.Sprintf("input %q of %q cites no source", clipText(m.Key), c.labelText()),
				Fix:     &Fix{Text: "cite the cell in sources"}})
		}
	}
}

// flagMissingNumber flags a source at which no such number stands.
func (run *citing) flagMissingNumber(c *calculation, key string, err error) {
	f := Finding{Code: "evidence.no_hit", Tier: Mid, Pointer: strictjson.JoinPointer(c.pointer, "sources", key),
		Message: err.Error(), Fix: &Fix{Text: "cite the one cell that holds the input"}}
	switch {
	case errors.Is(err, evidence.ErrNoNumber):
		f.Code = "evidence.not_a_number"
	case errors.Is(err, evidence.ErrAmbiguous):
		f.Code = "evidence.ambiguous"
	}
	run.a.addFinding(run.r, f)
}

// statementsOf are the places that state an input: the calculation, and the submission's own input of that name, which
// is what gates read.
func (run *citing) statementsOf(m strictjson.Member) []*strictjson.Value {
	name := run.a.sheetName(m.Key)
	if v := run.a.inputValue(name); run.a.Sheet.declaredInput(name) != nil && v != nil {
		return []*strictjson.Value{m.Value, v}
	}
	return []*strictjson.Value{m.Value}
}

func (run *citing) citeNumber(c *calculation, m strictjson.Member, ref string) {
	cited, err := run.a.Evidence.Cited(ref)
	switch {
	case err != nil:
		run.flagMissingNumber(c, m.Key, err)
		return
	case cited.Open:
		run.open++
		return
	}
	name := run.a.sheetName(m.Key)
	values := run.a.citedValues(cited, name)
	if len(values) == 0 {
		run.flagMissingNumber(c, m.Key, fmt.Errorf("%s holds a number that is out of range: %w", clipText(ref),
			evidence.ErrNoNumber))
		return
	}
	for _, v := range run.statementsOf(m) {
		if v.Decimal() != nil {
			run.citeHolds(v, name, ref, values)
		}
	}
}

// citedValues are the values that an input citing this number may have. Where the column says "in thousands", that
// scale counts, unless the sheet's own unit says so too, and a name whose unit nobody declares may be in either.
func (a *audit) citedValues(cited evidence.Cited, name string) []*decimal.Num {
	faces := quotedReadings(cited.Number)
	if cited.ColumnScale == 0 || cited.Number.Percent {
		return faces
	}
	unit := ""
	if in := a.Sheet.declaredInput(name); in != nil {
		unit = strings.ToLower(in.Unit)
	}
	if strings.Contains(unit, "thousand") || strings.Contains(unit, "million") || strings.Contains(unit, "000") {
		return faces
	}
	scaled := cited.Number
	scaled.Scale += cited.ColumnScale
	if unit == "" {
		return append(quotedReadings(scaled), faces...)
	}
	return quotedReadings(scaled)
}

// citeHolds compares one statement of an input with what it cites.
func (run *citing) citeHolds(v *strictjson.Value, name, ref string, values []*decimal.Num) {
	a, x := run.a, v.Decimal()
	best := a.Sheet.penalty.restatedDeviation(x, values[0])
	same := false
	for _, value := range values {
		same = same || decimal.Cmp(x, value) == 0 || honestlyRounded(x, value, v.Text, one)
		if d := a.Sheet.penalty.restatedDeviation(x, value); d.band < best.band {
			best = d
		}
	}
	id := a.addAtom("evidence.input_matches", v.Pointer(), same, "critical", "field", clipText(ref))
	if same {
		return
	}
	run.cell[name] = best.reference
	a.addFinding(run.r, Finding{Code: "evidence.input_mismatch", Tier: best.band.bandTier(), Pointer: v.Pointer(),
		Atoms: []string{id}, Spot: spotOf(best),
		Message: fmt.Sprintf("input %q is %s; %s holds %s (off by %s)", clipText(name), shownNumber(x), clipText(ref),
			shownNumber(best.reference), relativeText(best.rel)),
		Fix: &Fix{Text: "use the evidence's value", JSONPatch: singlePatch("replace", v.Pointer(),
			best.reference.String())}})
}

// citeList holds a list against the numbers of a JSON array, a row or a column, one by one.
func (run *citing) citeList(c *calculation, m strictjson.Member, ref string) {
	cells, hit, err := run.a.Evidence.CitedList(ref)
	switch {
	case err != nil:
		run.flagMissingNumber(c, m.Key, err)
		return
	case hit.Open:
		run.open++
		return
	}
	for _, v := range run.statementsOf(m) {
		if v.Kind == strictjson.Array {
			run.listHolds(v, run.a.sheetName(m.Key), ref, cells)
		}
	}
}

func (run *citing) listHolds(v *strictjson.Value, name, ref string, cells []evidence.Number) {
	a, worst, at := run.a, bandPass, -1
	for i := range min(len(cells), len(v.Items)) {
		if b := run.citeElement(v.Items[i], cells[i]); b > worst {
			worst, at = b, i
		}
	}
	said := fmt.Sprintf("%d numbers against %d", len(v.Items), len(cells))
	if len(cells) != len(v.Items) || worst != bandPass && a.isGated(name) {
		worst = bandHigh // what it does to a gate is not asked of lists
	}
	id := a.addAtom("evidence.input_matches", v.Pointer(), worst == bandPass, "critical", "field", clipText(ref))
	if worst == bandPass {
		return
	}
	if at >= 0 {
		said = fmt.Sprintf("number %d is %s against %s", at+1, clipText(string(v.Items[at].Source(a.Bytes))),
			cells[at].String())
	}
	a.addFinding(run.r, Finding{Code: "evidence.input_mismatch", Tier: worst.bandTier(), Pointer: v.Pointer(),
		Atoms:   []string{id},
		Message: fmt.Sprintf("the list %q is not what %s holds: %s", clipText(name), clipText(ref), said),
		Fix:     &Fix{Text: "use the evidence's values, in their order"}})
}

// citeElement is the band of one element of a list against its cell.
func (run *citing) citeElement(v *strictjson.Value, cell evidence.Number) band {
	x, worst := v.Decimal(), bandHigh
	if x == nil {
		return bandHigh
	}
	for _, value := range quotedReadings(cell) {
		if decimal.Cmp(x, value) == 0 || honestlyRounded(x, value, v.Text, one) {
			return bandPass
		}
		worst = min(worst, run.a.Sheet.penalty.restatedDeviation(x, value).band)
	}
	return worst
}

// turnGates makes a contradiction high where a gate would turn at what the evidence says, of one input or of all of
// them together: a gate does not open on an input that the evidence contradicts, however small the difference is.
func (run *citing) turnGates() {
	names := make([]string, 0, len(run.cell))
	for name := range run.cell {
		names = append(names, name)
	}
	slices.Sort(names)
	turning := findCrossing(names, func(some []string) bool {
		at := map[string]*decimal.Num{}
		for _, name := range some {
			at[name] = run.cell[name]
		}
		return len(at) > 0 && run.a.gateTurns(at)
	})
	for i := range run.a.findings {
		f := &run.a.findings[i]
		name := run.a.sheetName(strictjson.LastName(f.Pointer))
		if f.Code == "evidence.input_mismatch" && slices.Contains(turning, name) {
			f.Tier, f.Severity = High, severityOf(High)
		}
	}
}

// gateTurns reports whether a gate is decided otherwise with these inputs at other values.
func (a *audit) gateTurns(at map[string]*decimal.Num) bool {
	env := *a.env
	env.Override = at
	env.Calc = a.calcReader(a.newChain(at), nil)
	return slices.ContainsFunc(a.Sheet.Rules, func(r *Rule) bool {
		if r.Kind != "expr" || r.expr == nil ||
			!slices.ContainsFunc(a.leavesOf(r.expr), func(name string) bool { return at[name] != nil }) {
			return false
		}
		was, is := r.expr.Eval(a.env).Truth, r.expr.Eval(&env).Truth
		return was != is && was != policy.Unknown
	})
}

// isGated reports whether some gate reads this input, directly or through calculations.
func (a *audit) isGated(name string) bool {
	return slices.ContainsFunc(a.Sheet.Rules, func(r *Rule) bool {
		return r.Kind == "expr" && r.expr != nil && slices.Contains(a.leavesOf(r.expr), name)
	})
}
