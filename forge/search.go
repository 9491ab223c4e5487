package forge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// The search for a witness: how many places of a submission are changed, and to how many values each.
const (
	maxPlaces = 80
	maxValues = 12
)

// search looks for submissions that tell the changed gates from the gate, and lists the survivors.
func (m *mutator) search(r *referee.Rule, left []mutant) {
	found := make([]Survivor, len(left))
	for i, x := range left {
		found[i] = Survivor{Rule: r.ID, What: x.what, Text: x.rule.Text}
	}
	open := len(left)
	m.candidates(r, func(c *candidate) bool {
		t, err := newTrial("", c.work)
		if err != nil {
			return true
		}
		was := t.ask(r)
		for i, x := range left {
			if found[i].Witness != "" {
				continue
			}
			if would := t.ask(x.rule); would != was {
				found[i].Witness = fmt.Sprintf("%s, %s: %s, and with the change %s", c.of, c.what, was, would)
				found[i].Patch, open = c.patch, open-1
			}
		}
		return open > 0
	})
	m.result.Survivors = append(m.result.Survivors, found...)
}

// candidate is a submission near an example or a trip.
type candidate struct {
	work            *worked
	of, what, patch string
}

// candidates tries every example and every trip of the gate, each with one place changed, until yield has enough.
func (m *mutator) candidates(r *referee.Rule, yield func(*candidate) bool) {
	pool := m.pool(r)
	for _, t := range m.trials {
		if t.trip != nil && !slices.Contains(t.trip.Flags, r.ID) {
			continue
		}
		if !m.around(t, pool, yield) || !evidenceAround(t, yield) {
			return
		}
	}
}

// around changes one place of a submission: an input with every calculation worked anew, or any value below.
func (m *mutator) around(t *trial, pool *pool, yield func(*candidate) bool) bool {
	places := 0
	before, err := t.work.recomputed()
	more := err == nil
	t.probe.Document().Walk(func(v *strictjson.Value) bool {
		pointer := v.Pointer()
		if !more || pointer == "" || places >= maxPlaces {
			return more && pointer == ""
		}
		if strings.HasPrefix(pointer, "/calculations/") || pointer == "/inputs" {
			return pointer == "/inputs"
		}
		places++
		for _, to := range pool.values(v) {
			w := t.work.clone()
			if name, top := strings.CutPrefix(pointer, "/inputs/"); top && !strings.Contains(name, "/") {
				err = w.rework([]strictjson.Member{{Key: name, Value: to}}, before)
			} else {
				w.submission, err = applyPatch(w.submission, []referee.PatchOp{{Op: "replace", Path: pointer, Value: to}})
			}
			if err != nil {
				continue
			}
			patch := encode(jsonArray(jsonObject("op", jsonString("replace"), "path", jsonString(pointer), "value", to)))
			if more = yield(&candidate{w, t.name, pointer + " = " + string(encode(to)), string(patch)}); !more {
				return false
			}
		}
		return true
	})
	return more
}

// evidenceAround changes a line of a piece of evidence.
func evidenceAround(t *trial, yield func(*candidate) bool) bool {
	for i, f := range t.work.files {
		lines := strings.SplitAfter(f.Text, "\n")
		last := len(lines) - 1
		if last > 0 && lines[last] == "" {
			last--
		}
		for _, c := range [][2]string{
			{"without its last line", strings.Join(lines[:last], "")},
			{"with its last line twice", f.Text + lines[last]},
		} {
			w := t.work.clone()
			w.files[i].Text = c[1]
			if !yield(&candidate{work: w, of: t.name, what: "evidence " + f.ID + " " + c[0]}) {
				return false
			}
		}
	}
	return true
}

// pool is the values that a gate speaks of: what makes a difference to it lies on them or beside them.
type pool struct {
	numbers []*decimal.Num
	words   []string
}

// pool gathers the numbers and words of a gate and of the constants it reads.
func (m *mutator) pool(r *referee.Rule) *pool {
	p := &pool{numbers: []*decimal.Num{decimal.FromInt(0), decimal.FromInt(1)}}
	for _, tree := range []*strictjson.Value{ruleTree(r), whenTree(r), r.Value()} {
		tree.Walk(func(v *strictjson.Value) bool {
			if v.Get("const") != nil {
				m.ranges.constant(v).Walk(func(v *strictjson.Value) bool { p.add(v); return true })
			}
			if v.Kind == strictjson.Number {
				p.add(v)
			}
			for _, key := range []string{"left", "right", "literal"} {
				if s, ok := v.Get(key).Str(); ok {
					p.add(jsonString(s))
				}
			}
			return true
		})
	}
	return p
}

func (p *pool) add(v *strictjson.Value) {
	if n := num(v); n != nil && len(p.numbers) < maxValues && !slices.ContainsFunc(p.numbers, func(o *decimal.Num) bool { return decimal.Cmp(o, n) == 0 }) {
		p.numbers = append(p.numbers, n)
	}
	if s, ok := v.Str(); ok && len(p.words) < maxValues && !slices.Contains(p.words, s) {
		p.words = append(p.words, s)
	}
}

// values are what a place may be changed to.
func (p *pool) values(v *strictjson.Value) []*strictjson.Value {
	out := []*strictjson.Value{jsonNull()}
	switch v.Kind {
	case strictjson.Number:
		return append(out, p.numbersNear(v)...)
	case strictjson.Bool:
		return append(out, jsonBool(v.Text != "true"))
	case strictjson.String:
		out = append(out, jsonString(""))
		for _, w := range p.words {
			out = append(out, jsonString(w))
		}
	case strictjson.Array:
		out = append(out, jsonArray())
		if len(v.Items) > 0 {
			out = append(out, jsonArray(v.Items[1:]...), jsonArray(append(slices.Clone(v.Items), v.Items[0])...))
		}
		if len(v.Items) > 1 {
			turned := slices.Clone(v.Items)
			slices.Reverse(turned)
			out = append(out, jsonArray(turned...))
		}
	}
	return out
}

// numbersNear are the numbers that the gate speaks of and those just beside them, and the value itself moved a little and much.
func (p *pool) numbersNear(v *strictjson.Value) []*strictjson.Value {
	var out []*strictjson.Value
	for _, n := range p.numbers {
		for _, by := range []string{"0", "-0.001", "0.001", "-0.02", "0.02"} {
			out = append(out, jsonNumber(nudged(n, by).String()))
		}
	}
	if n := num(v); n != nil {
		for _, by := range []string{"0.001", "-0.001", "0.02", "-0.02", "1", "-0.5", "-2", "10"} {
			out = append(out, jsonNumber(nudged(n, by).String()))
		}
	}
	return out
}
