package referee

import (
	"errors"
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
)

// runMath judges a declared calculation: it is there (S20), once (S19), re-derives by its own formula and by the
// sheet's within the bands (S1–S7), and is the sheet's formula (S16).
func runMath(a *audit, r *Rule) outcome {
	m, list := r.math, a.byID[r.math.ID]
	if len(list) == 0 {
		return a.calcMissing(r, m)
	}
	out := passed
	for i, c := range list {
		if i > 0 {
			a.addFinding(r, Finding{Code: "math.duplicate_calc", Tier: Mid, Pointer: c.pointer,
				Message: fmt.Sprintf("calculation %q is stated %d times; every gate must hold for each of them", m.ID,
					len(list)),
				Fix: &Fix{Text: "state it once"}})
			out.status = Flag
		}
		out = worseOutcome(out, a.judgeCalculation(r, c))
	}
	return out
}

// worseOutcome joins two outcomes of one rule.
func worseOutcome(x, y outcome) outcome {
	x.notes = append(x.notes, y.notes...)
	if x.status == Flag || y.status == Pass {
		return x
	}
	x.status, x.reason = y.status, y.reason
	return x
}

// calcMissing: a declared calculation that is not there is high, unless every input is disclosed as missing (S20).
func (a *audit) calcMissing(r *Rule, m *MathCheck) outcome {
	if m.Optional {
		return outcome{status: Pass, vacuous: true, notes: []string{"optional, and not stated"}}
	}
	tier := High
	if a.isDisclosed(m) {
		tier = Mid
	}
	id := a.addAtom("recompute.missing", m.ID, false, atomSeverity(tier), "field", "the calculation is not stated")
	f := Finding{Code: "math.calc_missing", Tier: tier, Stage: StageMath, Pointer: "/calculations", Atoms: []string{id},
		Message: fmt.Sprintf("no calculation named %q; the sheet declares %s = %s", m.ID, m.ID, m.Text),
		Fix:     &Fix{Text: "add each declared calculation with its formula, its inputs, result and units"}}
	a.addFinding(r, f)
	// What is absent has no shape either: otherwise leaving a malformed calculation out would raise the score (S51).
	a.addFinding(a.Sheet.Rule("schema"), f)
	a.setStatus("schema", Flag)
	return flagged
}

// isDisclosed reports whether the submission names every input that the calculation is made of in missing_inputs. A
// constant is no input.
func (a *audit) isDisclosed(m *MathCheck) bool {
	named := 0
	for _, name := range m.Inputs {
		dep := a.Sheet.mathNamed(name)
		switch {
		case a.missing[normalName(name)], dep != nil && a.isDisclosed(dep):
			named++
		case a.Sheet.consts[name] == nil:
			return false
		}
	}
	return named > 0
}

// runRederivation is the one implicit rule over the calculations that the sheet does not know (S21).
func runRederivation(a *audit, r *Rule) outcome {
	out, n := passed, 0
	for _, c := range a.calcs {
		if c.check == nil {
			out = worseOutcome(out, a.judgeCalculation(r, c))
			n++
		}
	}
	if over := len(a.doc.Get("calculations").Elements()); over > maxCalculations {
		a.addFinding(r, Finding{Code: "math.too_complex", Tier: High, Pointer: "/calculations",
			Message: fmt.Sprintf("%d calculations; at most %d are re-derived", over, maxCalculations),
			Fix:     &Fix{Text: "split the submission"}})
		return flagged
	}
	out.vacuous = n == 0
	return out
}

// judgeCalculation re-derives one calculation, flags what does not hold, and keeps the proof. Formula and inputs are
// looked at whether or not a result is stated: a gate reads the recomputed value either way, so leaving the result out
// must not make it sound (S51).
func (a *audit) judgeCalculation(r *Rule, c *calculation) outcome {
	out := a.rederiveCalculation(r, c)
	a.explainCalculation(r, c, out)
	return out
}

func (a *audit) rederiveCalculation(r *Rule, c *calculation) outcome {
	out := outcome{status: Pass}
	ownOK, sheetOK := a.judgeOwn(r, c), a.judgeSheet(r, c)
	c.sound = ownOK && sheetOK
	bad := !c.sound
	switch {
	case c.raw == nil:
		a.noResult(r, c)
		bad = true
	case c.own != nil || c.sheet != nil:
		bad = a.compareClaim(r, c) || bad
	}
	if c.worst.rounded && !c.worst.coarse {
		out.notes = append(out.notes, "rounded: "+c.name)
	}
	if c.formula != nil && len(c.formula.Notes()) > 0 {
		out.notes = append(out.notes, "read "+c.name+" as: "+strings.Join(c.formula.Notes(), "; "))
	}
	if c.check != nil && (c.own != nil || c.sheet != nil) {
		replaced := a.checkSubstituted(r, c)
		if replaced && !a.statesInputs(c) {
			c.sound = false
		}
		bad = a.numberForFormula(r, c) || replaced || bad
		if len(c.readAs) > 0 && !replaced {
			out.notes = append(out.notes, "names in "+c.name+": "+strings.Join(c.readAs, ", "))
		}
	}
	bad = a.checkRestated(r, c) || bad
	if bad {
		out.status = Flag
	}
	return out
}

// noResult flags a calculation without a result that is a number.
func (a *audit) noResult(r *Rule, c *calculation) {
	message, result := "states no result", c.v.Get("result")
	switch {
	case result == nil || result.IsMissing() && !result.OutOfRange:
	case result.OutOfRange:
		message = "states a result that is out of range (at most 34 digits and exponents within ±300)"
	default:
		message = fmt.Sprintf("states a result that is not a JSON number: %s", clipText(string(result.Source(a.Bytes))))
	}
	id := a.addAtom("recompute.no_result", c.name, false, "critical", "field", message)
	a.addFinding(r, Finding{Code: "math.result_missing", Tier: High, Pointer: c.pointer + "/result", Atoms: []string{id},
		Message: fmt.Sprintf("calculation %q %s", c.labelText(), message),
		Fix:     &Fix{Text: "state the result as a JSON number"}})
}

// labelText names the calculation in messages.
func (c *calculation) labelText() string {
	if c.check != nil {
		return c.check.ID
	}
	if c.name != "" {
		return clipText(c.name)
	}
	return c.pointer
}

// judgeOwn flags a formula that cannot be read or computed. Prose in formula must not hide a number (S13b).
func (a *audit) judgeOwn(r *Rule, c *calculation) bool {
	tier := Mid
	if c.check != nil && c.check.gated {
		tier = High
	}
	var syntax *formula.SyntaxError
	var limit *formula.LimitError
	switch {
	case errors.Is(c.formulaErr, errNoFormula):
		if c.check != nil && c.check.formula == nil {
			return true // the agent's language cannot say the sheet's formula (S13b)
		}
		a.flagMath(r, c, "math.formula_unparseable", tier, "/formula", "states no formula",
			"state the formula over the named inputs")
	case errors.As(c.formulaErr, &syntax):
		a.flagMath(r, c, "math.formula_unparseable", tier, "/formula",
			fmt.Sprintf("has a formula that cannot be read: column %d: %s", syntax.Col, syntax.Msg), syntax.Hint)
	case errors.As(c.formulaErr, &limit):
		a.flagMath(r, c, "math.too_complex", High, "/formula", "has a formula that is refused: "+limit.Msg, limit.Hint)
	case c.ownErr != nil:
		return a.ownFailed(r, c, tier)
	}
	return c.formulaErr == nil || (errors.Is(c.formulaErr, errNoFormula) && c.check != nil && c.check.formula == nil)
}

// ownFailed flags a formula that could be read and not computed.
func (a *audit) ownFailed(r *Rule, c *calculation, tier Tier) bool {
	var missing *formula.MissingError
	switch {
	case errors.As(c.ownErr, &missing):
		a.ownMissing(r, c, tier, missing.Name)
	case errors.Is(c.ownErr, decimal.ErrTooLarge):
		a.flagMath(r, c, "math.too_complex", High, "/formula", "cannot be computed: "+c.ownErr.Error(),
			"numbers stay within exponents of ±400 and powers of ±10,000")
	default:
		a.flagMath(r, c, "math.undefined", High, "/formula", "is undefined: "+c.ownErr.Error(),
			"state that it is undefined, and why, instead of a number")
	}
	return false
}

// ownMissing flags a name of the agent's formula without a number; of a list it says which element is none.
func (a *audit) ownMissing(r *Rule, c *calculation, tier Tier, name string) {
	for i, item := range c.v.Get("inputs").Get(name).Elements() {
		if item.Decimal() == nil {
			a.flagMath(r, c, "math.inputs_missing", tier, strictjson.JoinIndex(inputPointer(name), i),
				fmt.Sprintf("reads the list %q, whose element %d is %s, not a number", name, i+1, a.sourceText(item)),
				"write each element as a JSON number")
			return
		}
	}
	a.flagMath(r, c, "math.inputs_missing", tier, "/inputs",
		fmt.Sprintf("reads %q, which its inputs do not hold as a number", name), "add the input")
}

// judgeSheet flags a sheet formula that cannot be computed at the agent's inputs; gates then fall back to the agent's
// own (S16).
func (a *audit) judgeSheet(r *Rule, c *calculation) bool {
	if c.check == nil || c.sheetErr == nil {
		return true
	}
	var name *missingName
	var missing *formula.MissingError
	switch {
	case errors.As(c.sheetErr, &name):
		a.flagMath(r, c, "math.inputs_missing", Mid, "/inputs",
			fmt.Sprintf("cannot be computed by the sheet's formula %s: no value for %q", c.check.Text, name.Name),
			a.whereToState(name.Name))
	case errors.As(c.sheetErr, &missing):
		a.flagMath(r, c, "math.inputs_missing", Mid, "/inputs",
			fmt.Sprintf("cannot be computed by the sheet's formula %s: no number for %q", c.check.Text, missing.Name),
			a.whereToState(missing.Name))
	default:
		a.flagMath(r, c, "math.undefined", High, "", fmt.Sprintf("is undefined by the sheet's formula %s: %v", c.check.Text,
			c.sheetErr), "state that it is undefined, and why, instead of a number")
	}
	return false
}

// whereToState says where a name that a sheet's formula reads gets its value (S14, S78).
func (a *audit) whereToState(name string) string {
	if a.Sheet.carriesName(name) {
		return "add " + name + " to the calculation's inputs"
	}
	return "state " + name + " in the submission's inputs: what only a calculation states decides nothing"
}

// flagMath flags a calculation with one failed atom.
func (a *audit) flagMath(r *Rule, c *calculation, code string, tier Tier, below, message, fix string) {
	id := a.addAtom("recompute."+strings.TrimPrefix(code, "math."), c.labelText(), false, atomSeverity(tier), "field",
		message)
	f := Finding{Code: code, Tier: tier, Pointer: c.pointer + below, Atoms: []string{id},
		Message: fmt.Sprintf("calculation %q %s", c.labelText(), message)}
	if fix != "" {
		f.Fix = &Fix{Text: fix}
	}
	a.addFinding(r, f)
}

// compareClaim holds the claim against both recomputations; the worse one counts.
func (a *audit) compareClaim(r *Rule, c *calculation) bool {
	first := true
	for _, reference := range []*decimal.Num{c.sheet, c.own} {
		if reference == nil || !first && (reference == c.worst.reference ||
			decimal.Cmp(reference, c.worst.reference) == 0) {
			continue
		}
		d := a.Sheet.materialAmount(c.bands.measureDeviation(c.claimed, reference, c.written, c.scale), c.money)
		if first || d.band > c.worst.band || d.rounded && !c.worst.rounded && d.band == c.worst.band {
			c.worst = d
		}
		first = false
	}
	pass := !c.worst.isFlag()
	id := a.addAtom("recompute.within_band", c.labelText(), pass, atomSeverity(c.worst.band.bandTier()), "field",
		"claimed result against recomputed")
	if !pass {
		a.addFinding(r, a.mismatchFinding(c, id))
	}
	return !pass
}

// mismatchFinding words the flag of a claim that does not re-derive.
func (a *audit) mismatchFinding(c *calculation, atom string) Finding {
	d := c.worst
	f := Finding{Code: "math.mismatch", Tier: d.band.bandTier(), Pointer: c.pointer + "/result", Atoms: []string{atom},
		Spot: spotOf(d)}
	f.Message = fmt.Sprintf("calculation %q claims %s; recomputed %s (off by %s, %s)", c.labelText(),
		shownNumber(d.claimed),
		shownNumber(d.reference), amountText(d.delta, c.money, c.units), relativeText(d.rel))
	if d.coarse {
		f.Code = "math.coarse_rounding"
		f.Message = fmt.Sprintf("calculation %q claims %s, which is %s rounded until it is %s off: state more digits",
			c.labelText(), c.written, shownNumber(d.reference), relativeText(d.rel))
	}
	if d.notRounded {
		f.Message += fmt.Sprintf("; %s is not how one rounds: write the digits out", clipText(c.written))
	}
	if d.material {
		f.Message += fmt.Sprintf("; the amount is material (≥ %s)", shownNumber(a.Sheet.material))
	}
	if hint := percentHint(d); hint != "" {
		f.Message += "; " + hint
	}
	f.Fix = c.fixResult(a)
	return f
}

// percentHint recognises a ratio that was written as a percentage, or the other way round (S10).
func percentHint(d deviation) string {
	if d.reference.IsZero() || decimal.PlainlyWithin(d.claimed, d.reference, fifty) &&
		decimal.PlainlyWithin(d.reference, d.claimed, fifty) {
		return "" // neither is near a hundred times the other
	}
	ratio, err := decimal.Quo(d.claimed, d.reference)
	if err != nil {
		return ""
	}
	near := func(to *decimal.Num) bool { return defaultBands.bandOf(claimDistance(ratio, to)) == bandPass }
	switch {
	case near(hundred):
		return `looks like percent: write the units "percent", or the ratio`
	case near(decimal.MustParse("0.01")):
		return `looks like a ratio: write the units "ratio", or the percentage`
	}
	return ""
}

func spotOf(d deviation) *Spot {
	s := &Spot{Claimed: reportNumber(d.claimed), Recomputed: reportNumber(d.reference), Delta: reportNumber(d.delta),
		Percent: "infinite",
		Band:    d.band.String()}
	if d.rel != nil {
		s.Percent = percentText(d.rel)
	}
	return s
}
