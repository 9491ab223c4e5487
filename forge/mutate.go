package forge

import (
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// MutationResult says how many changed gates the examples, the trips and the boundary witnesses of a sheet would notice.
type MutationResult struct {
	Sheet     *referee.Sheet
	Mutants   int
	Killed    int // noticed by an example, a trip or a boundary witness
	Written   int // of those, noticed by what the author wrote: an example or a trip
	Survivors []Survivor
}

// Score is the share of mutants that are noticed, in whole and tenth per cents rounded down; 100 of a sheet without a gate.
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

// Survivor is a changed gate that nothing in the sheet would notice.
type Survivor struct {
	Rule string
	What string // the change
	Text string // the changed gate
	// Witness is a submission that tells the changed gate from the gate, in words; "" where the search found none: then the change may make
	// no difference.
	Witness string
	Patch   string // the same as a JSON Patch on the example's submission, where one says it
}

// Mutate changes every gate of the sheet in every small way that a careless editor would and looks for a submission that notices: first
// among the examples and trips, then among the boundary witnesses. For what survives it searches further, for a submission that would make a
// good trip.
func Mutate(sheet *referee.Sheet) MutationResult {
	m := &mutator{sheet: sheet, ranges: newRanges(sheet), trials: suite(sheet)}
	m.result.Sheet = sheet
	for _, r := range gates(sheet) {
		m.gate(r)
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

// mutant is a changed gate, compiled.
type mutant struct {
	rule *referee.Rule
	what string
}

func (m *mutator) gate(r *referee.Rule) {
	mutants := m.mutants(r)
	if len(mutants) == 0 {
		return
	}
	m.result.Mutants += len(mutants)
	left := m.survivors(r, mutants, m.trials)
	m.result.Written += len(mutants) - len(left)
	if len(left) > 0 {
		var around []*trial
		for _, e := range edges(m.sheet, r, m.trials) {
			around = append(around, e.trial)
		}
		left = m.survivors(r, left, around)
	}
	m.result.Killed += len(mutants) - len(left)
	if len(left) > 0 {
		m.search(r, left)
	}
}

// survivors are the mutants that say of every trial what the gate says.
func (m *mutator) survivors(r *referee.Rule, mutants []mutant, trials []*trial) []mutant {
	for _, t := range trials {
		if len(mutants) == 0 {
			break
		}
		was := t.ask(r)
		mutants = slices.DeleteFunc(slices.Clone(mutants), func(x mutant) bool { return t.ask(x.rule) != was })
	}
	return mutants
}

// mutants compiles the changed gates; one that the loader refuses, or that is the gate itself in other words, is none.
func (m *mutator) mutants(r *referee.Rule) []mutant {
	var out []mutant
	seen := map[string]bool{identity(r): true}
	for _, v := range m.variants(r) {
		changed := m.compile(v.tree)
		if changed == nil || seen[identity(changed)] {
			continue
		}
		seen[identity(changed)] = true
		out = append(out, mutant{changed, v.what})
	}
	return out
}

// identity is what makes two gates the same: the whole check, its condition in canonical form.
func identity(r *referee.Rule) string {
	v := clone(r.Value())
	for key, e := range map[string]*strictjson.Value{"expr": ruleTree(r), "each": ruleTree(r), "applies_if": whenTree(r)} {
		if v.Get(key) != nil && e != nil {
			set(v, key, e)
		}
	}
	return string(encode(v))
}

// variants are the changed check objects of a gate.
func (m *mutator) variants(r *referee.Rule) []mutation {
	var out []mutation
	v := r.Value()
	for _, key := range []string{"expr", "each", "where", "left", "right", "formula", "applies_if"} {
		tree := m.part(r, key)
		if tree == nil {
			continue
		}
		at := child(v, key, func(x *strictjson.Value) *strictjson.Value { return x })
		for _, x := range mutations(tree, m.ranges.constant, m.ranges.say) {
			out = append(out, mutation{at(x.tree), x.what})
		}
		if key == "expr" || key == "each" {
			out = append(out, mutation{at(jsonObject("op", jsonString("not"), "term", tree)), "the whole was turned round"})
		}
		if key == "where" || key == "applies_if" {
			out = append(out, mutation{leftOut(v, key), key + " was left out"})
		}
	}
	return append(out, m.parameters(v)...)
}

// part is an expression of a check as a tree, nil where it has none.
func (m *mutator) part(r *referee.Rule, key string) *strictjson.Value {
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
	out := &strictjson.Value{Kind: strictjson.Object, Members: slices.Clone(v.Members)}
	remove(out, key)
	return out
}

// parameters are the numbers of a check beside its expressions.
func (m *mutator) parameters(v *strictjson.Value) []mutation {
	var out []mutation
	for _, key := range []string{"warn", "critical", "tolerance", "tolerance_abs", "max_violations", "max_rate", "limits", "thresholds"} {
		if p := v.Get(key); p != nil {
			at := child(v, key, func(x *strictjson.Value) *strictjson.Value { return x })
			x := &mutating{constant: m.ranges.constant, say: m.ranges.say}
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
		m.number(v, p)
	case strictjson.Array:
		for i, item := range v.Items {
			m.numbersIn(item, nth(v, i, p))
		}
	case strictjson.Object:
		for _, member := range v.Members {
			m.numbersIn(member.Value, child(v, member.Key, p))
		}
	}
}

// compile loads a sheet of nothing but what the gate may name, and the gate.
func (m *mutator) compile(check *strictjson.Value) *referee.Rule {
	doc := m.sheet.Doc
	math := jsonArray()
	for _, c := range m.sheet.Math {
		math.Items = append(math.Items, jsonObject("formula_id", jsonString(c.ID), "formula", jsonString("1")))
	}
	spec := jsonObject("math_checks", math, "penalty", doc.At("/eval_spec/penalty"), "rules", jsonArray(check))
	src := jsonObject("slug", jsonString("mutant"), "name", jsonString("mutant"), "version", jsonString("1.0.0"), "lane", jsonString(m.sheet.Lane), "baseline", jsonString("none"),
		"required_inputs", doc.Get("required_inputs"), "consts", doc.Get("consts"), "lexicons", doc.Get("lexicons"), "calendars", doc.Get("calendars"), "eval_spec", spec)
	sheet, err := referee.LoadSheet(encode(src), "mutant", "library")
	if err != nil {
		return nil
	}
	return gates(sheet)[0]
}
