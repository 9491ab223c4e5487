package forge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/evidence"
)

// reworkInputs changes inputs of a submission and states every calculation anew, as an honest agent would have: a trip
// is about the gate, so nothing but the gate may flag. Calculations whose value does not move from before keep the
// digits that their author wrote.
func (w *worked) reworkInputs(changes []strictjson.Member, before []string) error {
	if w.submission.Kind != strictjson.Object {
		return fmt.Errorf("the submission is not an object and has no inputs")
	}
	r := &reworking{sheet: w.sheet, old: w.submission.Clone(), moved: map[string]*strictjson.Value{},
		stated: map[string]int{}}
	for i, c := range w.calculationItems() {
		r.stated[w.sheet.NameFor(calculationName(c))] = i
	}
	w.setInputs(changes, r)
	w.restateCells(r)
	for _, p := range w.sheet.Params {
		if p.Value != nil {
			r.moved[p.Name] = p.Value // a calculation that restates a limit states the one in force
		}
	}
	for range len(w.calculationItems()) + 1 {
		for i, c := range w.calculationItems() {
			r.restateInputs(i, c, w.calculationItems())
		}
		after, err := w.recomputedResults()
		if err != nil {
			return err
		}
		if !w.restateResults(before, after) {
			break
		}
		before = after
	}
	w.restateWords(r)
	return nil
}

// restateWords says the new numbers where claims and the summary said the old ones.
func (w *worked) restateWords(r *reworking) {
	var all []restatement
	add := func(name string, was, is *strictjson.Value) {
		if was.Decimal() != nil && is.Decimal() != nil {
			all = append(all, restatement{strings.ReplaceAll(strings.ToLower(name), "_", " "), was.Decimal(), is})
		}
	}
	for i, c := range w.calculationItems() {
		add(calculationName(c), r.old.Get("calculations").Items[i].Get("result"), c.Get("result"))
	}
	if inputs := w.submission.Get("inputs"); inputs != nil {
		for _, m := range inputs.Members {
			add(m.Key, r.old.Get("inputs").Get(m.Key), m.Value)
		}
	}
	restate := func(object *strictjson.Value, key string) {
		if said, ok := object.Get(key).Str(); ok {
			object.Set(key, jsonString(inNewWords(said, all)))
		}
	}
	restate(w.submission, "agent_summary")
	if claims := w.submission.Get("claims"); claims != nil {
		for _, claim := range claims.Items {
			restate(claim, "claim")
		}
	}
}

// restatement is a named number before and after the inputs moved.
type restatement struct {
	name string
	was  *decimal.Num
	is   *strictjson.Value
}

// inNewWords replaces each number of a text that is one of the old values, rounded as it is written, by the new value.
// Of several with one value it is the one that the text names last before the number.
func inNewWords(said string, all []restatement) string {
	for _, f := range slices.Backward(evidence.Figures(said)) {
		face, err := f.Canonical()
		if err != nil {
			continue
		}
		before, places := strings.ToLower(said[:f.Start]), f.Text
		if f.Percent {
			places = face.String()
		}
		best, at := -1, -2
		for i, r := range all {
			if named := strings.LastIndex(before, r.name); restatesValue(face, places, r.was) && named > at {
				best, at = i, named
			}
		}
		if best >= 0 && decimal.Cmp(all[best].was, all[best].is.Decimal()) != 0 {
			said = said[:f.Start] + all[best].is.Text + said[f.End:]
		}
	}
	return said
}

// restatesValue reports whether a number as written is a value rounded to the places that it shows.
func restatesValue(face *decimal.Num, written string, value *decimal.Num) bool {
	_, frac, _ := strings.Cut(written, ".")
	rounded, err := decimal.Round(value, len(frac))
	return err == nil && decimal.Cmp(rounded, face) == 0
}

// reworking is what the restatement of one submission needs to know of its state before.
type reworking struct {
	sheet  *referee.Sheet
	old    *strictjson.Value
	moved  map[string]*strictjson.Value // inputs that change, by the sheet's name
	stated map[string]int               // the calculations, by the sheet's name
}

// setInputs writes the new values, under the names that the submission uses.
func (w *worked) setInputs(changes []strictjson.Member, r *reworking) {
	object := w.submission.Get("inputs")
	if object == nil || object.Kind != strictjson.Object {
		object = jsonObject()
		w.submission.Set("inputs", object)
	}
	for _, c := range changes {
		name := w.sheet.NameFor(c.Key)
		key := c.Key
		for _, m := range object.Members {
			if m.Key != c.Key && object.Get(c.Key) == nil && w.sheet.NameFor(m.Key) == name {
				key = m.Key
			}
		}
		object.Set(key, c.Value.Clone())
		r.moved[name] = c.Value
	}
}

func (w *worked) calculationItems() []*strictjson.Value {
	if v := w.submission.Get("calculations"); v != nil {
		return v.Items
	}
	return nil
}

func calculationName(c *strictjson.Value) string {
	if name := c.TextOf("name"); name != "" {
		return name
	}
	return c.TextOf("formula_id")
}

func (w *worked) recomputedResults() ([]string, error) {
	c, err := w.auditCase()
	if err != nil {
		return nil, err
	}
	return referee.Recomputed(c), nil
}

// restateInputs gives the i-th calculation's own inputs their new values.
func (r *reworking) restateInputs(i int, c *strictjson.Value, all []*strictjson.Value) {
	own := c.Get("inputs")
	if own == nil {
		return
	}
	old := r.old.Get("calculations").Items[i].Get("inputs")
	for j := range own.Members {
		m := &own.Members[j]
		if v := r.restatedInput(m.Key, old.Get(m.Key), all); v != nil {
			m.Value = v
		}
	}
}

// restatedInput is the new value of a calculation's input, nil where it stays: it follows the input of the submission
// or the calculation that it names, and an input under a name of the agent's own follows the one changed input whose
// value it had.
func (r *reworking) restatedInput(key string, old *strictjson.Value, all []*strictjson.Value) *strictjson.Value {
	name := r.sheet.NameFor(key)
	if v, ok := r.moved[name]; ok {
		if was := r.oldInput(name); was.IsMissing() || strictjson.Equal(was, old) {
			return v.Clone()
		}
		return nil
	}
	if i, ok := r.stated[name]; ok {
		return followedResult(old, r.old.Get("calculations").Items[i].Get("result"), all[i].Get("result"))
	}
	if r.isKnownName(name) {
		return nil
	}
	var found *strictjson.Value
	for moved, v := range r.moved {
		if was := r.oldInput(moved); was != nil && strictjson.Equal(was, old) {
			if found != nil {
				return nil
			}
			found = v
		}
	}
	return found.Clone()
}

func (r *reworking) isKnownName(name string) bool {
	for _, in := range r.sheet.Inputs {
		if in.Name == name {
			return true
		}
	}
	return r.sheet.Const(name) != nil || r.sheet.Rule("math."+name) != nil
}

// oldInput is an input of the submission as it was.
func (r *reworking) oldInput(name string) *strictjson.Value {
	if object := r.old.Get("inputs"); object != nil {
		for _, m := range object.Members {
			if r.sheet.NameFor(m.Key) == name {
				return m.Value
			}
		}
	}
	return nil
}

var (
	onePerCent = decimal.MustParse("0.01")
	hundred    = decimal.FromInt(100)
)

// followedResult is an input that states another calculation's result: the same number, or the fraction of a
// percentage.
func followedResult(old, oldResult, newResult *strictjson.Value) *strictjson.Value {
	was, from, to := old.Decimal(), oldResult.Decimal(), newResult.Decimal()
	if was == nil || from == nil || to == nil || strictjson.Equal(oldResult, newResult) {
		return nil
	}
	for _, scale := range []*decimal.Num{decimal.FromInt(1), hundred} {
		f, err := decimal.Quo(from, scale)
		if err != nil || !isNear(was, f) {
			continue
		}
		if t, err := decimal.Quo(to, scale); err == nil {
			return jsonNumber(t.String())
		}
	}
	return nil
}

// isNear reports whether two numbers differ by at most one per cent of the second.
func isNear(x, y *decimal.Num) bool {
	d, err := decimal.Sub(x, y)
	if err != nil {
		return false
	}
	most, err := decimal.Mul(decimal.Abs(y), onePerCent)
	return err == nil && decimal.Cmp(decimal.Abs(d), most) <= 0
}

// restateResults writes the results that moved and reports whether any did.
func (w *worked) restateResults(before, after []string) bool {
	moved := false
	for i, c := range w.calculationItems() {
		if i >= len(after) || after[i] == "" || i < len(before) && before[i] == after[i] {
			continue
		}
		c.Set("result", jsonNumber(after[i]))
		moved = true
	}
	return moved
}
