package referee

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

// The ids of the two rules of S70, which a sheet has where an input of it needs them.
const (
	heldInputs    = "inputs_held"
	statedFigures = "stated_figures"
)

// loadHeldInputs adds the rule that every input held by a cell is held. Its tier is that of the heaviest gate that
// rests on one of them.
func (l *loader) loadHeldInputs() {
	if slices.ContainsFunc(l.sheet.Inputs, func(in Input) bool { return in.isChecked() }) {
		l.addRule(&Rule{ID: heldInputs, Label: "Every input that evidence must hold is held by it", Kind: "implicit",
			Category: "evidence", Stage: StageEvidence, Tier: Low,
			Why: "A gate that opens on a number which no document holds has opened on the agent's word.",
			run: runHeldInputs, v: l.sheet.Doc})
	}
}

// restOnInputs notes, once all rules are there, which gates rest on which input, and weighs the rule above by them.
func (l *loader) restOnInputs() {
	rest, r := l.sheet.gatesOnInputs(), l.sheet.Rule(heldInputs)
	for i := range l.sheet.Inputs {
		in := &l.sheet.Inputs[i]
		if in.gate = rest[in.Name]; in.isChecked() && in.findingTier().Rank() < r.Tier.Rank() {
			r.Tier, r.Severity = in.findingTier(), severityOf(in.findingTier())
		}
	}
}

// isChecked reports whether the rule above holds the input; a rule of the sheet, or a person, holds the others.
func (in *Input) isChecked() bool {
	return in.Held == HeldCell || in.Held == HeldAttested || in.Held == HeldParam
}

// loadStatedFigures adds S70's one question where a mid or high gate may rest on an input that only the agent states.
func (l *loader) loadStatedFigures() {
	rest := l.sheet.gatesOnInputs()
	for _, name := range l.sheet.Carried {
		if tier := rest[name]; (tier == High || tier == Mid) && len(l.sheet.Counted(name)) == 0 {
			l.sheet.carriedAlone = append(l.sheet.carriedAlone, name)
		}
	}
	if len(l.sheet.carriedAlone) == 0 &&
		!slices.ContainsFunc(l.sheet.Inputs, func(in Input) bool { return in.isAsked() }) {
		return
	}
	l.addRule(&Rule{ID: statedFigures, Label: "Figures that come from the agent alone", Kind: "checklist",
		Category: "checklist", Stage: StageChecklist, Tier: Mid,
		Bucket: WorkDefect, Question: "Do you confirm the figures that come from the agent alone?",
		Why: "No document of the run holds them, and a gate rests on them: nobody vouches for them but the agent.",
		run: runStatedFigures, v: l.sheet.Doc})
}

// findingTier is that of a finding about the input: the heaviest gate's that rests on it.
func (in *Input) findingTier() Tier {
	if in.gate == "" {
		return Low
	}
	return in.gate
}

// isAsked reports whether a person has to confirm the input: only the agent states it, and a mid or high gate rests on
// it.
func (in *Input) isAsked() bool { return in.Held == HeldStated && (in.gate == High || in.gate == Mid) }

// runStatedFigures asks about the figures that this submission states; it has nothing to ask where it states none.
func runStatedFigures(a *audit, r *Rule) outcome {
	if len(a.listStatedFigures()) == 0 {
		return outcome{status: Pass, vacuous: true}
	}
	return outcome{status: Open, reason: a.statedQuestion()}
}

// StatedFigure is an input that nothing but the agent vouches for, as a report shows it.
type StatedFigure struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Unit   string `json:"unit,omitempty"`
	Reason string `json:"reason,omitempty"` // why no evidence holds it
}

// maxStatedFigure bounds one value of the question; a longer one is cut, and the report's submission holds it whole.
const maxStatedFigure = 80

// listStatedFigures lists the inputs that a person has to confirm, in sheet order. The rule, the question and the
// report ask for them; they are written once.
func (a *audit) listStatedFigures() []StatedFigure {
	if !a.statedKnown {
		a.statedFigures, a.statedKnown = a.listStated(), true
	}
	return slices.Clip(a.statedFigures)
}

func (a *audit) listStated() []StatedFigure {
	out := make([]StatedFigure, 0, len(a.Sheet.Inputs))
	for i := range a.Sheet.Inputs {
		in := &a.Sheet.Inputs[i]
		v := a.inputValue(in.Name)
		if !in.isAsked() || v.IsMissing() || in.Type == "" && len(in.Enum) == 0 && v.Kind == strictjson.String &&
			!isDate(v.Text) {
			continue
		}
		out = append(out, StatedFigure{Name: in.Name, Value: visibleText(statedText(v)), Unit: in.Unit, Reason: in.Reason})
	}
	for _, name := range a.Sheet.carriedAlone {
		if v := a.carriedValue(name); v != nil {
			out = append(out, StatedFigure{Name: name, Value: visibleText(statedText(v)),
				Reason: "only the submission's calculations carry it"})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// carriedValue is the value of a name that only calculations carry, by the first that does (S78).
func (a *audit) carriedValue(name string) *strictjson.Value {
	for _, c := range a.calcs {
		for _, m := range c.v.Get("inputs").Fields() {
			if a.sheetName(m.Key) == name && (m.Value.Decimal() != nil || m.Value.Kind == strictjson.Array) {
				return m.Value
			}
		}
	}
	return nil
}

// isDate reports whether a text begins like an ISO date.
func isDate(s string) bool {
	if len(s) < len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)])
	return err == nil
}

// plainWhole reports whether a number is written as a short whole number is printed.
func plainWhole(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && s[0] != '0' && len(s) <= 18
}

// statedText is a value for people: thousands apart, a list in brackets.
func statedText(v *strictjson.Value) string {
	switch v.Kind {
	case strictjson.Number:
		if plainWhole(v.Text) {
			return groupThousands(v.Text) // as it would be printed
		}
		if n := v.Decimal(); n != nil {
			return shownNumber(n)
		}
	case strictjson.Array, strictjson.Object:
		s := string(canonicalJSON(v))
		if r := []rune(s); len(r) > maxStatedFigure {
			s = string(r[:maxStatedFigure]) + "…"
		}
		return s
	}
	if r := []rune(v.Text); len(r) > maxStatedFigure {
		return string(r[:maxStatedFigure]) + "…"
	}
	return v.Text
}

// statedQuestion is S70's one question, with the values. The rule and the report ask it; it is written once.
func (a *audit) statedQuestion() string {
	if a.question != "" {
		return a.question
	}
	var b strings.Builder
	b.WriteString("These figures come from the agent alone: ")
	for i, f := range a.listStatedFigures() {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.Name)
		b.WriteByte(' ')
		b.WriteString(f.Value)
	}
	b.WriteString(". Do you confirm them?")
	a.question = b.String()
	return a.question
}

// runHeldInputs: an input that evidence must hold equals the cells that hold it (S62, S70).
func runHeldInputs(a *audit, r *Rule) outcome {
	before, open := a.raised, 0
	for i := range a.Sheet.Inputs {
		in := &a.Sheet.Inputs[i]
		v := a.inputValue(in.Name)
		if v.IsMissing() {
			if in.isChecked() && !in.Optional {
				// as the structure stage says: otherwise leaving a wrong one out would mend this rule (S51)
				a.inputAbsent(r, *in)
			}
			continue
		}
		switch in.Held {
		case HeldParam:
			a.restatesParam(r, in, v)
		case HeldAttested:
			a.flagUnheld(r, in, v, "it must be attested, and attestations are not read yet",
				"leave the run until they are, or have the sheet hold the input otherwise")
		case HeldCell:
			if a.Evidence == nil {
				continue
			}
			open += a.heldByCells(r, in, v)
		}
	}
	out := flaggedSince(a, before)
	switch {
	case out.status == Flag:
	case a.Evidence == nil && slices.ContainsFunc(a.Sheet.Inputs, func(in Input) bool { return in.Held == HeldCell }):
		return skipOutcome("no_manifest: a bare submission declares no evidence")
	case open > 0:
		return outcome{status: Open,
			reason: fmt.Sprintf("%d inputs stand in documents that are left to the human (S64)", open)}
	}
	return out
}

// restatesParam holds an input to the parameter that it restates.
func (a *audit) restatesParam(r *Rule, in *Input, v *strictjson.Value) {
	p := a.Sheet.paramNamed(in.Param)
	if p.Value == nil || sameValue(v, p.Value) {
		return
	}
	a.addFinding(r, Finding{Code: "evidence.param_set", Tier: in.findingTier(), Pointer: v.Pointer(),
		Atoms: []string{a.heldAtom(in, false, p.Name)},
		Message: fmt.Sprintf("input %q is %s; the parameter %s is %s, and a submission cannot set it (S71)", in.Name,
			clipText(v.Text), p.Name, canonicalJSON(p.Value)),
		Fix: &Fix{Text: "state the parameter's value", JSONPatch: singlePatch("replace", v.Pointer(),
			string(canonicalJSON(p.Value)))}})
}

// sameValue compares JSON values, numbers by value.
func sameValue(x, y *strictjson.Value) bool {
	if n, m := x.Decimal(), y.Decimal(); n != nil && m != nil {
		return decimal.Cmp(n, m) == 0
	}
	return strictjson.Equal(x, y)
}

func (a *audit) heldAtom(in *Input, pass bool, what string) string {
	return a.addAtom("evidence.input_held", inputPointer(in.Name), pass, atomSeverity(in.findingTier()), "field", what)
}

func (a *audit) flagUnheld(r *Rule, in *Input, v *strictjson.Value, why, fix string) {
	a.addFinding(r, Finding{Code: "evidence.input_unheld", Tier: in.findingTier(), Bucket: WorkDefect,
		Pointer: v.Pointer(),
		Atoms:   []string{a.heldAtom(in, false, why)},
		Message: fmt.Sprintf("input %q is %s, and no evidence holds it: %s", in.Name, clipText(statedText(v)), why),
		Fix:     &Fix{Text: fix}})
}

// heldByCells holds an input against every place that the sheet names, or the one that the submission cites; it returns
// 1 where only a person can read one of them.
func (a *audit) heldByCells(r *Rule, in *Input, v *strictjson.Value) (open int) {
	if len(in.From) == 0 {
		return a.heldByCitation(r, in, v, "")
	}
	for _, p := range in.From {
		if kind := a.Sheet.evidenceItem(p.Evidence).Kind; kind != "table" && kind != "json" {
			open = max(open, a.heldByCitation(r, in, v, p.Evidence))
			continue
		}
		cell, err := a.cellAt(in, p)
		switch {
		case errors.Is(err, errLeftToHuman):
			open = 1
		case err != nil:
			a.flagUnheld(r, in, v, err.Error(), fmt.Sprintf("attach the evidence %q with the value of %s", p.Evidence,
				in.Name))
		default:
			a.checkHolds(r, in, v, cell, fmt.Sprintf("%s of evidence %q", p.placeText(in), p.Evidence))
		}
	}
	return open
}

// heldByCitation reads the place that the submission cites for an input: in its own sources, else in those of a
// calculation. within is the evidence that it must stand in, "" for any.
func (a *audit) heldByCitation(r *Rule, in *Input, v *strictjson.Value, within string) (open int) {
	ref, found := a.inputCitation(in)
	id, _, _ := strings.Cut(ref, "#")
	switch {
	case !found:
		a.flagUnheld(r, in, v, "the submission cites no place for it", fmt.Sprintf("cite it: \"sources\": {%q: \"%s#…\"}",
			in.Name, orWord(within, "<evidence>")))
		return 0
	case within != "" && id != within:
		a.flagUnheld(r, in, v, fmt.Sprintf("it is cited from %q, and the evidence %q must hold it", clipText(id), within),
			fmt.Sprintf("cite where it stands in %q", within))
		return 0
	}
	hit, err := a.Evidence.Resolve(ref)
	switch {
	case err != nil:
		a.flagUnheld(r, in, v, err.Error(), "cite the cell that holds it")
	case hit.Open:
		return 1
	case hit.Kind == evidence.HitFile && hit.JSON == nil:
		a.flagUnheld(r, in, v, fmt.Sprintf("%q is a whole file, not a cell of it", clipText(ref)),
			"cite the cell that holds it, as <evidence>#cell=2,2")
	case hit.JSON != nil && hit.JSON.Kind != strictjson.String:
		a.checkHolds(r, in, v, string(canonicalJSON(hit.JSON)), clipText(ref))
	default:
		a.checkHolds(r, in, v, hit.Text, clipText(ref))
	}
	return 0
}

func orWord(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// inputCitation is the submission's reference for an input.
func (a *audit) inputCitation(in *Input) (string, bool) {
	for _, m := range a.doc.Get("sources").Fields() {
		if a.sheetName(m.Key) == in.Name {
			return m.Value.Str()
		}
	}
	for _, c := range a.calcs {
		for _, m := range c.v.Get("sources").Fields() {
			if a.sheetName(m.Key) == in.Name {
				return m.Value.Str()
			}
		}
	}
	return "", false
}

// checkHolds compares the value with the cell.
func (a *audit) checkHolds(r *Rule, in *Input, v *strictjson.Value, cell, where string) {
	if in.matchesCell(v, cell) {
		a.heldAtom(in, true, where)
		return
	}
	a.addFinding(r, Finding{Code: "evidence.input_mismatch", Tier: in.findingTier(), Bucket: WorkDefect,
		Pointer: v.Pointer(),
		Atoms:   []string{a.heldAtom(in, false, where)},
		Message: fmt.Sprintf("input %q is %s; %s holds %q", in.Name, clipText(statedText(v)), where, clipText(cell)),
		Fix:     &Fix{Text: "use the evidence's value"}})
}

// placeText name the place for a person.
func (p *Place) placeText(in *Input) string {
	switch {
	case p.Pointer != "":
		return p.Pointer
	case p.Row != "":
		return fmt.Sprintf("the row %q", p.Row)
	}
	return fmt.Sprintf("the row %q", in.Name)
}
