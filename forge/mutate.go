package forge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// MutationResult says how many changed gates a sheet's examples and trips would notice, or a submission that was worked
// out on an edge of the gate.
type MutationResult struct {
	Sheet     *referee.Sheet
	Mutants   int
	Written   int        // noticed by what the author wrote: an example or a trip
	Killed    int        // those, and what only a worked-out witness notices
	Survivors []Survivor // what no example and no trip notices, with the witness that does, where there is one
	Idle      []Idle     // explanations of changes that are noticed, or that nobody makes
}

// Idle is an explanation of the sheet that explains nothing.
type Idle struct{ Rule, What string }

// Score is the share of mutants that are noticed, in whole and tenth per cents rounded down; 100 of a sheet without a
// gate.
func (m *MutationResult) Score() string {
	if m.Mutants == 0 {
		return "100"
	}
	tenths := m.Killed * 1000 / m.Mutants
	if tenths%10 == 0 {
		return fmt.Sprint(tenths / 10)
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// Survivor is a changed gate that no example and no trip of the sheet notices.
type Survivor struct {
	Rule string
	What string // the change
	Text string // the changed gate
	// Witness is a submission that tells the changed gate from the gate, in words: it would make a good trip. "" where
	// none was found: then the change may make no difference.
	Witness string
	Patch   string // the same as a JSON Patch on the example's submission, where one says it
	Why     string // the sheet's own reason why the change makes no difference; it counts as not noticed all the same
}

// Mutate changes every gate of the sheet in every small way that a careless editor would and looks for a submission
// that notices: among the examples and trips, then among the boundaries of the gate, then among submissions that differ
// from those in one place, or in one place beside a condition that was turned.
func Mutate(sheet *referee.Sheet) MutationResult {
	sheet = asExample(sheet)
	m := &mutator{sheet: sheet, ranges: newRanges(sheet), trials: suiteOf(sheet)}
	m.result.Sheet = sheet
	for _, r := range gates(sheet) {
		m.mutateGate(r)
	}
	return m.result
}

// mutator is one run over a sheet.
type mutator struct {
	sheet  *referee.Sheet
	ranges *ranges
	trials []*trial
	result MutationResult
}

// mutant is a changed gate, compiled with the parameters of the first example, and for others where a trip sets them.
type mutant struct {
	rule  *referee.Rule
	what  string
	tree  *strictjson.Value
	under map[string]*referee.Rule // by the parameters
}

// maxWitnesses bounds the search for one gate.
const maxWitnesses = 1200

// mutateGate looks for what notices each changed gate, the nearest first.
func (m *mutator) mutateGate(r *referee.Rule) {
	left := m.compileMutants(r)
	m.result.Mutants += len(left)
	for _, t := range m.trials {
		left = m.dropNoticed(left, &witness{trial: t, was: t.askRule(t.ownRule(r))}, nil)
	}
	m.result.Written = m.result.Mutants - len(m.result.Survivors) - len(left)
	asked := 0
	ask := func(w *witness) bool {
		asked++
		left = m.dropNoticed(left, w, func(x mutant, would referee.Status) {
			m.result.Survivors = append(m.result.Survivors, Survivor{Rule: r.ID, What: x.what, Text: x.rule.Text,
				Patch:   w.patch,
				Witness: fmt.Sprintf("%s: %s, and with the change %s", w.trial.name, w.was, would)})
		})
		return len(left) > 0 && asked < maxWitnesses
	}
	if len(left) > 0 {
		m.findWitnesses(r, ask)
	}
	m.keepUnnoticed(r, left)
	m.result.Killed = m.result.Mutants - m.result.openSurvivors()
}

// keepUnnoticed keeps the changes that nothing notices, with the sheet's reasons (the rule's member "equivalent").
func (m *mutator) keepUnnoticed(r *referee.Rule, left []mutant) {
	var explained []*strictjson.Value
	if list := r.Value().Get("equivalent"); list != nil {
		explained = list.Items
	}
	used := map[*strictjson.Value]bool{}
	for _, x := range left {
		s := Survivor{Rule: r.ID, What: x.what, Text: x.rule.Text}
		for _, e := range explained {
			if e.TextOf("change") == x.what {
				s.Why, used[e] = e.TextOf("why"), true
			}
		}
		m.result.Survivors = append(m.result.Survivors, s)
	}
	for _, e := range explained {
		if !used[e] {
			m.result.Idle = append(m.result.Idle, Idle{r.ID, e.TextOf("change")})
		}
	}
}

// Open lists the changes that nothing notices and the sheet does not explain.
func (m *MutationResult) Open() []Survivor {
	return slices.DeleteFunc(slices.Clone(m.Survivors), func(s Survivor) bool { return s.Witness != "" || s.Why != "" })
}

// openSurvivors counts the survivors without a witness.
func (m *MutationResult) openSurvivors() int {
	n := 0
	for _, s := range m.Survivors {
		if s.Witness == "" {
			n++
		}
	}
	return n
}

// dropNoticed drops the mutants that say otherwise than the gate of a witness.
func (m *mutator) dropNoticed(left []mutant, w *witness, found func(mutant, referee.Status)) []mutant {
	var out []mutant
	for _, x := range left {
		rule := m.mutantUnder(x, w.trial)
		if rule == nil {
			out = append(out, x)
			continue
		}
		would := w.trial.askRule(rule)
		if would == w.was {
			out = append(out, x)
		} else if found != nil {
			found(x, would)
		}
	}
	return out
}

// findWitnesses works out submissions for a gate until yield has enough: its boundaries, one place changed near an
// example or a trip of the gate, and the same once a condition is turned.
func (m *mutator) findWitnesses(r *referee.Rule, yield func(*witness) bool) {
	for _, e := range gateEdges(m.sheet, r, m.trials) {
		if !yield(&witness{trial: e.trial, was: e.Got}) {
			return
		}
	}
	near := slices.DeleteFunc(slices.Clone(m.trials), func(t *trial) bool {
		return t.trip != nil && (!slices.Contains(t.trip.Flags, r.ID) || paramsKey(t.work.sheet) != paramsKey(m.sheet))
	})
	for _, t := range near {
		if !m.witnessesAround(r, t, yield) {
			return
		}
	}
	for _, t := range near {
		for _, turned := range m.turnedTrials(r, t) {
			if !m.witnessesAround(r, turned, yield) {
				return
			}
		}
	}
}

// maxTurned bounds how many turned conditions are looked around at, for each example and trip.
const maxTurned = 16

// turnedTrials are the submissions with one condition the other way: another truth, another word, a number on the other
// side of what the gate speaks of.
func (m *mutator) turnedTrials(r *referee.Rule, t *trial) []*trial {
	var out []*trial
	pool := m.gatherPool(r)
	for _, p := range m.placesRead(r, t) {
		var values []*strictjson.Value
		switch p.value.Kind {
		case strictjson.Bool:
			values = []*strictjson.Value{jsonBool(p.value.Text != "true")}
		case strictjson.String:
			values = append(values, jsonString(""))
			for _, w := range pool.words {
				values = append(values, jsonString(w))
			}
			values = append(values, jsonString("another"))
		case strictjson.Number:
			values = []*strictjson.Value{jsonNumber(nudgedUp(p.value.Decimal(), "-0.5").String()),
				jsonNumber(nudgedUp(p.value.Decimal(), "1").String())}
		}
		s := &side{rule: r, place: p, base: t, asked: map[string]*witness{}}
		for _, v := range values {
			if w := s.witnessAt(v); w != nil && len(out) < maxTurned {
				out = append(out, w.trial)
			}
		}
	}
	return out
}

// compileMutants compiles the changed gates; one that the loader refuses, or that is the gate itself in other words, is
// none.
func (m *mutator) compileMutants(r *referee.Rule) []mutant {
	var out []mutant
	seen := map[string]bool{gateIdentity(r): true}
	for _, v := range m.changedChecks(r) {
		changed := m.compileGate(v.tree, m.constantsOf(m.sheet))
		if changed == nil || seen[gateIdentity(changed)] {
			continue
		}
		seen[gateIdentity(changed)] = true
		out = append(out, mutant{rule: changed, what: v.what, tree: v.tree, under: map[string]*referee.Rule{}})
	}
	return out
}

// gateIdentity is what makes two gates the same: the whole check, its condition in canonical form.
func gateIdentity(r *referee.Rule) string {
	v := r.Value().Clone()
	for key, e := range map[string]*strictjson.Value{"expr": ruleTree(r), "each": ruleTree(r),
		"applies_if": whenTree(r)} {
		if v.Get(key) != nil && e != nil {
			v.Set(key, e)
		}
	}
	return string(v.Encode())
}

// changedChecks are the changed check objects of a gate.
func (m *mutator) changedChecks(r *referee.Rule) []mutation {
	var out []mutation
	v := r.Value()
	for _, key := range []string{"expr", "each", "where", "left", "right", "formula", "applies_if"} {
		tree := m.expressionOf(r, key)
		if tree == nil {
			continue
		}
		at := putMember(v, key, func(x *strictjson.Value) *strictjson.Value { return x })
		for _, x := range mutationsOf(tree, m.ranges.constantValue, m.ranges.treeText) {
			out = append(out, mutation{at(x.tree), x.what})
		}
		if key == "expr" || key == "each" {
			out = append(out, mutation{at(jsonObject("op", jsonString("not"), "term", tree)),
				"the whole was turned round"})
		}
		if key == "where" || key == "applies_if" {
			out = append(out, mutation{leftOut(v, key), key + " was left out"})
		}
	}
	return append(out, m.changedParameters(v)...)
}

// expressionOf is an expression of a check as a tree, nil where it has none.
func (m *mutator) expressionOf(r *referee.Rule, key string) *strictjson.Value {
	v := r.Value().Get(key)
	switch {
	case v == nil:
		return nil
	case key == "expr" || key == "each":
		return ruleTree(r)
	case key == "applies_if":
		return whenTree(r)
	case key == "where":
		if e, err := m.sheet.CompileRow(v); err == nil {
			return treeOf(e)
		}
		return nil
	}
	if e, err := m.sheet.Compile(v); err == nil {
		return treeOf(e)
	}
	return nil
}

func leftOut(v *strictjson.Value, key string) *strictjson.Value {
	return v.Without(key)
}

// changedParameters are the numbers of a check beside its expressions.
func (m *mutator) changedParameters(v *strictjson.Value) []mutation {
	var out []mutation
	for _, key := range []string{"warn", "critical", "tolerance", "tolerance_abs", "max_violations", "max_rate",
		"limits", "thresholds"} {
		if p := v.Get(key); p != nil {
			at := putMember(v, key, func(x *strictjson.Value) *strictjson.Value { return x })
			x := &mutating{constant: m.ranges.constantValue, say: m.ranges.treeText}
			x.numbersIn(p, at)
			for _, found := range x.out {
				out = append(out, mutation{found.tree, key + ": " + found.what})
			}
		}
	}
	if v.Get("on_missing") != nil {
		out = append(out, mutation{leftOut(v, "on_missing"), "on_missing was left out"})
	}
	return out
}

// numbersIn moves every number of a parameter.
func (m *mutating) numbersIn(v *strictjson.Value, p put) {
	switch v.Kind {
	case strictjson.Number:
		m.mutateNumber(v, p)
	case strictjson.Array:
		for i, item := range v.Items {
			m.numbersIn(item, putItem(v, i, p))
		}
	case strictjson.Object:
		for _, member := range v.Members {
			m.numbersIn(member.Value, putMember(v, member.Key, p))
		}
	}
}

// asExample is the sheet with the parameters of its first example: one that needs a parameter can decide nothing
// without.
func asExample(sheet *referee.Sheet) *referee.Sheet {
	for _, ex := range sheet.Examples() {
		if with, err := sheet.WithParams(ex.Params); err == nil {
			return with
		}
	}
	return sheet
}

// bareInputs are the declared inputs without what holds them, which no gate reads.
func (m *mutator) bareInputs() *strictjson.Value {
	out := m.sheet.Doc.Get("required_inputs").Clone()
	if out == nil {
		return nil
	}
	for _, in := range out.Items {
		for _, key := range []string{"held", "reason", "from", "param"} {
			in.Remove(key)
		}
	}
	return out
}

// mutantUnder is a changed gate with the parameters of a trial, which are compiled into a gate as its constants are;
// nil where it does not load.
func (m *mutator) mutantUnder(x mutant, t *trial) *referee.Rule {
	if len(m.sheet.Params) == 0 {
		return x.rule
	}
	key := paramsKey(t.work.sheet)
	if key == paramsKey(m.sheet) {
		return x.rule
	}
	rule, known := x.under[key]
	if !known {
		rule = m.compileGate(x.tree, m.constantsOf(t.work.sheet))
		x.under[key] = rule
	}
	return rule
}

// ownRule is the gate with the parameters of the trial.
func (t *trial) ownRule(r *referee.Rule) *referee.Rule {
	if own := t.work.sheet.Rule(r.ID); own != nil {
		return own
	}
	return r
}

// paramsKey is the parameters of a sheet as they are set.
func paramsKey(sheet *referee.Sheet) string {
	var key strings.Builder
	for _, p := range sheet.Params {
		if p.Value != nil {
			key.WriteString(p.Name + "=" + string(p.Value.Encode()) + ";")
		}
	}
	return key.String()
}

// constantsOf are those of the sheet, and its parameters as they are set.
func (m *mutator) constantsOf(sheet *referee.Sheet) *strictjson.Value {
	out := jsonObject()
	for _, c := range sheet.Doc.Get("consts").Fields() {
		out.Set(c.Key, c.Value)
	}
	for _, p := range sheet.Params {
		if p.Value != nil {
			out.Set(p.Name, jsonObject("value", p.Value, "source", jsonString("a parameter"), "status",
				jsonString("policy")))

		}
	}
	return out
}

// compileGate loads a sheet of nothing but what the gate may name, and the gate.
func (m *mutator) compileGate(check, constants *strictjson.Value) *referee.Rule {
	doc := m.sheet.Doc
	math := jsonArray()
	for _, c := range m.sheet.Math {
		math.Items = append(math.Items, jsonObject("formula_id", jsonString(c.ID), "formula", jsonString("1"),
			"optional", jsonBool(c.Optional)))
	}
	spec := jsonObject("math_checks", math, "penalty", doc.At("/eval_spec/penalty"), "rules", jsonArray(check))
	src := jsonObject("slug", jsonString("mutant"), "name", jsonString("mutant"), "version", jsonString("1.0.0"),
		"lane", jsonString(m.sheet.Lane), "baseline", jsonString("none"),
		"required_inputs", m.bareInputs(), "consts", constants, "lexicons", doc.Get("lexicons"), "calendars",
		doc.Get("calendars"), "eval_spec", spec)
	sheet, err := referee.LoadSheet(src.Encode(), "mutant", "library")
	if err != nil {
		return nil
	}
	return gates(sheet)[0]
}

// Below reports whether the score lies below a number of per cents.
func (m *MutationResult) Below(percent float64) bool {
	return float64(m.Killed)*100 < percent*float64(m.Mutants)
}
