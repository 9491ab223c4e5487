package referee

import (
	"bytes"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/policy"
)

// This file is what the package forge sees of a sheet: its examples, its conditions as trees, and an audit that can be
// asked again.

// Example is a worked submission of a sheet, with what every rule must say of it and the changes that trip its rules.
type Example struct {
	Name       string
	Submission *strictjson.Value
	Agent      *strictjson.Value // the profile; nil when the example states none
	Evidence   []ExampleFile
	Prior      *strictjson.Value // {receipt hash: payload}; nil when it resolves none
	Params     map[string]*strictjson.Value
	Expect     []ExampleStatus // rules that do not pass
	Trips      []Trip
	At         *strictjson.Value // where the sheet says it
}

// ExampleFile is evidence of an example, held in the sheet.
type ExampleFile struct {
	ID, Path, Text string
	At             *strictjson.Value
}

// ExampleStatus is what an example expects of one rule.
type ExampleStatus struct {
	Rule   string
	Status Status
	At     *strictjson.Value
}

// Trip is a change to an example and the rules that it flags, and no others.
type Trip struct {
	Change   string
	Inputs   []strictjson.Member // declared inputs that change
	Patch    []PatchOp           // on the submission, after the calculations are worked anew
	Agent    []strictjson.Member // members of the profile that change; null takes one away
	Evidence []ExampleFile       // texts that change
	Params   map[string]*strictjson.Value
	Flags    []string
	Findings []string
	At       *strictjson.Value
}

// PatchOp is one operation of a JSON Patch (RFC 6902).
type PatchOp struct {
	Op, Path string
	Value    *strictjson.Value
}

// Examples reads the sheet's examples. The loader has checked their shape; the forge holds them to the rules.
func (s *Sheet) Examples() []Example {
	var out []Example
	for _, v := range s.Doc.Get("examples").Elements() {
		ex := Example{Name: v.TextOf("name"), Submission: v.Get("submission"), Agent: v.Get("agent"),
			Prior: v.Get("prior"), Params: paramsOf(v), At: v}
		for _, m := range v.Get("evidence").Fields() {
			ex.Evidence = append(ex.Evidence, ExampleFile{ID: m.Key, Path: m.Value.TextOf("path"),
				Text: m.Value.TextOf("text"), At: m.Value})
		}
		for _, m := range v.Get("expect").Fields() {
			ex.Expect = append(ex.Expect, ExampleStatus{Rule: m.Key, Status: Status(m.Value.Text), At: m.Value})
		}
		for _, t := range v.Get("trips").Elements() {
			ex.Trips = append(ex.Trips, tripOf(t))
		}
		out = append(out, ex)
	}
	return out
}

func tripOf(v *strictjson.Value) Trip {
	t := Trip{Change: v.TextOf("change"), Inputs: v.Get("inputs").Fields(), Agent: v.Get("agent").Fields(),
		Flags: v.Get("flags").Texts(), Findings: v.Get("findings").Texts(), Params: paramsOf(v), At: v}
	for _, p := range v.Get("patch").Elements() {
		t.Patch = append(t.Patch, PatchOp{Op: p.TextOf("op"), Path: p.TextOf("path"), Value: p.Get("value")})
	}
	for _, m := range v.Get("evidence").Fields() {
		t.Evidence = append(t.Evidence, ExampleFile{ID: m.Key, Text: m.Value.Text, At: m.Value})
	}
	return t
}

// paramsOf are the parameters that an example or a trip sets.
func paramsOf(v *strictjson.Value) map[string]*strictjson.Value {
	out := map[string]*strictjson.Value{}
	for _, m := range v.Get("params").Fields() {
		out[m.Key] = m.Value
	}
	return out
}

// NameFor is the sheet's name for a name of a submission: through the aliases, by the normal form, else the name itself
// (S18).
func (s *Sheet) NameFor(name string) string {
	return (&audit{Case: Case{Sheet: s}}).sheetName(name)
}

// Recomputed gives, for each calculation of the submission in its order, the result that an honest agent would state,
// in the calculation's own units: the sheet's value where it can be computed, else that of the agent's own formula; ""
// where neither can.
func Recomputed(c Case) []string {
	a := newAudit(c)
	a.readSubmission()
	out := make([]string, len(a.calcs))
	for i, k := range a.calcs {
		if v := k.recomputedValue(); v != nil {
			if written, err := decimal.Mul(v, k.scale); err == nil {
				out[i] = reportNumber(written)
			}
		}
	}
	a.settleWork()
	return out
}

// Value is where the sheet declares the rule: its check object or key, or the whole sheet for a rule that comes with
// every sheet.
func (r *Rule) Value() *strictjson.Value { return r.v }

// Expr is the rule's condition, nil where it has none. That of a for_each is about one row.
func (r *Rule) Expr() *policy.Expr { return r.expr }

// When is the condition under which the rule applies, nil where it always does.
func (r *Rule) When() *policy.Expr { return r.when }

// Expression is the formula in the language of rules.md, in which every calculation can be said.
func (m *MathCheck) Expression() *policy.Expr { return m.expr }

// Value is where the sheet declares the calculation.
func (m *MathCheck) Value() *strictjson.Value { return m.v }

// Compile reads an expression in either spelling with the names of the sheet.
func (s *Sheet) Compile(v *strictjson.Value) (*policy.Expr, error) {
	if src, ok := v.Str(); ok {
		return policy.ParseText(src, s.names)
	}
	return policy.ParseTree(v, s.names)
}

// CompileRow reads an expression about one row, in which names that the sheet does not declare are the row's members.
func (s *Sheet) CompileRow(v *strictjson.Value) (*policy.Expr, error) {
	rows := *s.names
	rows.Row, rows.RowFields = true, nil
	if src, ok := v.Str(); ok {
		return policy.ParseText(src, &rows)
	}
	return policy.ParseTree(v, &rows)
}

// Const is the value of a constant, nil where the sheet has none of that name.
func (s *Sheet) Const(name string) *strictjson.Value { return s.consts[name] }

// Probe is an audit that can be asked again: what would a rule, or an expression, say of the same submission with
// inputs moved? It must not be used by two goroutines at once.
type Probe struct {
	a     *audit
	found map[string]foundBefore // by rules that ask for it
}

// foundBefore is what the rules before one had found.
type foundBefore struct {
	findings []Finding
	atoms    []Atom
}

// NewProbe reads the case and judges its calculations, which say whether a gate may pass on them; all of its rules,
// where one asks what the others found.
func NewProbe(c Case) *Probe {
	a := newAudit(c)
	a.readSubmission()
	a.checks = make([]Check, len(c.Sheet.Rules))
	p := &Probe{a: a, found: map[string]foundBefore{}}
	asking := slices.ContainsFunc(c.Sheet.Rules, asksOthers)
	for i, r := range c.Sheet.Rules {
		if asksOthers(r) {
			p.found[r.ID] = foundBefore{slices.Clone(a.findings), slices.Clone(a.atoms)}
		}
		if r.math != nil || asking && !lateKeys[r.Kind] {
			a.checkByRule(i, r)
		}
	}
	return p
}

// asksOthers reports whether a rule reads what other rules found.
func asksOthers(r *Rule) bool {
	if r.expr == nil {
		return false
	}
	tree := r.expr.Tree()
	return bytes.Contains(tree, []byte(`"$flags`)) || bytes.Contains(tree, []byte(`"$atoms`))
}

// Status is what became of a calculation's rule; Skip for any other.
func (p *Probe) Status(id string) Status {
	for i := range p.a.checks {
		if p.a.checks[i].ID == id {
			return p.a.checks[i].Status
		}
	}
	return Skip
}

// Ask decides a rule over what was read, as it would have been decided in its place, without the findings; it may be a
// rule of a changed copy of the sheet.
func (p *Probe) Ask(r *Rule) Status {
	a := *p.a
	before := p.found[r.ID]
	a.checks, a.findings, a.atoms, a.explain = slices.Clone(p.a.checks), slices.Clone(before.findings),
		slices.Clone(before.atoms), nil
	a.pick, a.facts, a.recorded = map[string]int{}, &chain{a: &a, values: p.a.facts.values}, len(before.atoms)
	a.atomRows = nil // of other atoms
	a.resetMeters()
	a.env = a.policyEnv()
	if r.Kind == "expr" && a.doc != nil {
		return a.gateStatus(r)
	}
	return a.runRule(r).status
}

// gateStatus is runRule and runExpr without messages, fixes and distances.
func (a *audit) gateStatus(r *Rule) Status {
	if r.when != nil {
		switch r.when.Eval(a.env).Truth {
		case policy.False:
			return Pass
		case policy.Unknown:
			return Skip
		}
	}
	readings, complete := a.readingsOf(r.needs)
	if !complete {
		return Flag
	}
	out := outcome{status: Pass}
	for _, pick := range readings {
		a.chooseCalculations(pick)
		one := outcome{status: Skip}
		switch r.expr.Eval(a.env).Truth {
		case policy.True:
			one.status = Pass
		case policy.False:
			one.status = Flag
		default:
			if r.OnMissing == "flag" {
				one.status = Flag
			}
		}
		out = worseGate(out, one)
	}
	if out.status == Pass && a.unreliableCalculation(r) != "" {
		return Skip
	}
	return out.status
}

// Eval evaluates an expression with inputs at other values; calculations follow them by the sheet's formulas.
func (p *Probe) Eval(e *policy.Expr, at map[string]*decimal.Num) policy.Result {
	a := p.a
	env := *a.env
	if at != nil {
		env.Override = at
		env.Calc = a.calcReader(a.newChain(at), nil)
	}
	return e.Eval(&env)
}

// Leaves lists the declared inputs that an expression reads, directly or through calculations, in order of first use.
func (p *Probe) Leaves(e *policy.Expr) []string { return p.a.leavesOf(e) }

// Input is the submission's value of a declared input, nil where it has none.
func (p *Probe) Input(name string) *strictjson.Value { return p.a.inputValue(name) }

// Document is the submission as read, nil where it cannot be read.
func (p *Probe) Document() *strictjson.Value { return p.a.doc }

// Order is the order of the members of one object of the sheet format, as its description lists them.
type Order struct {
	record *record
	named  *Order // of every member of an object whose keys are the author's
}

// SheetOrder is the order of a whole flight sheet.
func SheetOrder() *Order { return &Order{record: sheetRecord} }

// checkOrder is the order of a check object of any kind: what it is called and asks first, then its parameters, then
// its words.
var checkOrder = &record{Fields: fieldsNamed("check", "id", "label", "category", "risk", "tier", "tier_by", "severity",
	"bucket", "applies_if", "over", "where", "each", "expr",
	"left", "right", "formula", "on_missing", "", "non_compensable", "cap", "emit", "message", "why", "fix", "source",
	"equivalent")}

func fieldsNamed(names ...string) []field {
	out := make([]field, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}

// Of is the order within a member, nil where its author's own order stands.
func (o *Order) Of(key string) *Order {
	if o.named != nil {
		return o.named
	}
	f := o.record.fieldNamed(key)
	switch {
	case f == nil:
		return nil
	case key == "deterministic_checks" || key == "evidence_checks" || key == "rules":
		return &Order{record: checkOrder}
	case f.Of == nil:
		return nil
	case f.Type == "map":
		return &Order{named: &Order{record: f.Of}}
	}
	return &Order{record: f.Of}
}

// Place is where a member stands. Members that the description does not name stand where it says "", else at the end.
func (o *Order) Place(key string) int {
	if o.named != nil {
		return 0
	}
	if i := slices.Index(o.record.memberNames(), key); i >= 0 {
		return i
	}
	if i := slices.Index(o.record.memberNames(), ""); i >= 0 {
		return i
	}
	return len(o.record.Fields)
}
