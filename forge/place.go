package forge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// spot is one value of a submission or of its evidence that a gate may read, and how to make the submission with
// another value there.
type spot struct {
	name  string // for people: /inputs/noi, or evidence log: /gold/lat
	patch string // the JSON Pointer in the submission; "" of evidence
	value *strictjson.Value
	with  func(*strictjson.Value) (*worked, error)
}

// The bounds of the search: places of one submission, and items of one list whose parts are looked at.
const (
	maxPlaces = 40
	maxItems  = 2
)

// placesRead lists the values that the gate reads, directly or through calculations.
func (m *mutator) placesRead(r *referee.Rule, t *trial) []spot {
	before, err := t.work.recomputedResults()
	if err != nil || t.probe.Document() == nil {
		return nil
	}
	reads := m.readingsOf(r, t)
	var out []spot
	for _, pointer := range reads.pointers {
		out = append(out, t.spotsBelow(pointer, t.probe.Document().At(pointer), before)...)
	}
	for i, f := range t.work.files {
		if slices.Contains(reads.evidence, f.ID) || reads.dataset {
			out = append(out, t.evidencePlaces(i, before)...)
		}
	}
	return out[:min(len(out), maxPlaces)]
}

// readings are what a gate reads of a submission.
type readings struct {
	pointers []string
	evidence []string
	dataset  bool // it counts over evidence that the submission names
}

func (m *mutator) readingsOf(r *referee.Rule, t *trial) readings {
	var out readings
	add := func(list *[]string, s string) {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, key := range []string{"expr", "each", "where", "left", "right", "formula", "applies_if", "over"} {
		v := r.Value().Get(key)
		if v == nil {
			continue
		}
		e, err := m.sheet.CompileRow(v)
		if err != nil {
			continue
		}
		for _, name := range t.probe.Leaves(e) {
			add(&out.pointers, strictjson.JoinPointer("/inputs", name))
		}
		refs := e.Refs()
		for _, path := range refs.Fields {
			if steps := pathSteps(path); len(steps) > 0 && t.probe.Document().Get(steps[0]) != nil {
				add(&out.pointers, strictjson.JoinPointer("", steps[0]))
			}
		}
		for _, id := range m.evidenceBehind(refs.Calcs) {
			add(&out.evidence, id)
		}
		for _, id := range refs.Evidence {
			add(&out.evidence, id)
		}
	}
	if s, ok := r.Value().Get("over").Str(); ok {
		if steps := pathSteps(s); len(steps) > 0 && t.probe.Document().Get(steps[0]) != nil {
			add(&out.pointers, strictjson.JoinPointer("", steps[0]))
		}
	}
	return out
}

// evidenceBehind lists the evidence that calculations read, directly or through others.
func (m *mutator) evidenceBehind(calcs []string) []string {
	var out []string
	seen := map[string]bool{}
	var walk func(id string)
	walk = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		for _, c := range m.sheet.Math {
			if c.ID == id && c.Expression() != nil {
				refs := c.Expression().Refs()
				out = append(out, refs.Evidence...)
				for _, id := range refs.Calcs {
					walk(id)
				}
			}
		}
	}
	for _, id := range calcs {
		walk(id)
	}
	return out
}

// spotsBelow lists a value and the values in it; of a list only the first items and the last.
func (t *trial) spotsBelow(pointer string, v *strictjson.Value, before []string) []spot {
	if v == nil {
		return nil
	}
	out := []spot{{name: pointer, patch: pointer, value: v, with: func(to *strictjson.Value) (*worked,
		error) {
		return t.replacedAt(pointer, to, before)
	}}}
	for _, at := range someItems(v) {
		out = append(out, t.spotsBelow(strictjson.JoinIndex(pointer, at), v.Items[at], before)...)
	}
	for _, m := range v.Members {
		out = append(out, t.spotsBelow(strictjson.JoinPointer(pointer, m.Key), m.Value, before)...)
	}
	return out
}

// replacedAt is the submission with another value at a place. Where the place is in an input, the calculations that
// restate the input follow.
func (t *trial) replacedAt(pointer string, to *strictjson.Value, before []string) (*worked, error) {
	w := t.work.cloneWork()
	changed, err := applyPatch(w.submission.Clone(), []referee.PatchOp{{Op: "replace", Path: pointer, Value: to}})
	if err != nil {
		return nil, err
	}
	if names, err := strictjson.ParsePointer(pointer); err == nil && len(names) > 1 && names[0] == "inputs" {
		key := names[1]
		return w, w.reworkInputs([]strictjson.Member{{Key: key, Value: changed.Get("inputs").Get(key)}}, before)
	}
	w.submission = changed
	return w, w.reworkInputs(nil, before)
}

func someItems(v *strictjson.Value) []int {
	var out []int
	for i := range v.Items {
		if i < maxItems || i == len(v.Items)-1 {
			out = append(out, i)
		}
	}
	return out
}

// writtenNumber is a number in a text of evidence.
var writtenNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`) })

// evidencePlaces lists the values of a JSON file, and the numbers and lines of any other text.
func (t *trial) evidencePlaces(i int, before []string) []spot {
	f := t.work.files[i]
	rewritten := func(text string) (*worked, error) {
		w := t.work.cloneWork()
		w.files[i].Text = text
		return w, w.reworkInputs(nil, before)
	}
	if doc, err := strictjson.Parse([]byte(f.Text), strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 64}); err == nil {
		return jsonPlaces(f.ID, doc, rewritten)
	}
	out := []spot{{name: "evidence " + f.ID, value: jsonArray(jsonLines(f.Text)...),
		with: func(to *strictjson.Value) (*worked, error) {
			var b strings.Builder
			for _, line := range to.Items {
				b.WriteString(line.Text)
			}
			return rewritten(b.String())
		}}}
	for _, at := range firstAndLast(writtenNumber().FindAllStringIndex(f.Text, -1)) {
		out = append(out, spot{name: "evidence " + f.ID + ": " + f.Text[at[0]:at[1]],
			value: jsonNumber(f.Text[at[0]:at[1]]), with: func(to *strictjson.Value) (*worked, error) {
				return rewritten(f.Text[:at[0]] + to.Text + f.Text[at[1]:])
			}})
	}
	return out
}

// firstAndLast are the first and the last few of a list.
func firstAndLast(list [][]int) [][]int {
	const few = 6
	if len(list) <= 2*few {
		return list
	}
	return append(slices.Clone(list[:few]), list[len(list)-few:]...)
}

func jsonLines(text string) []*strictjson.Value {
	var out []*strictjson.Value
	for line := range strings.Lines(text) {
		out = append(out, jsonString(line))
	}
	return out
}

// jsonPlaces lists the values of a JSON file.
func jsonPlaces(id string, doc *strictjson.Value, rewritten func(string) (*worked, error)) []spot {
	var out []spot
	var walk func(v *strictjson.Value)
	walk = func(v *strictjson.Value) {
		pointer := v.Pointer()
		out = append(out, spot{name: "evidence " + id + ": " + pointer, value: v,
			with: func(to *strictjson.Value) (*worked, error) {
				changed, err := applyPatch(doc.Clone(), []referee.PatchOp{{Op: "replace", Path: pointer, Value: to}})
				if err != nil {
					return nil, err
				}
				return rewritten(string(changed.Encode()))
			}})
		for _, at := range someItems(v) {
			walk(v.Items[at])
		}
		for _, m := range v.Members {
			walk(m.Value)
		}
	}
	walk(doc)
	return out
}

// scale is how the values of a place are laid on a line, so that one can search between two of them: a number as
// itself, a date as its day, a time as its second.
type scale struct {
	of    func(*strictjson.Value) *decimal.Num
	write func(*decimal.Num) *strictjson.Value
	whole bool
	day   int64 // units of a day, of dates and times
}

// scaleOf is the scale of a value, nil for what has none.
func scaleOf(v *strictjson.Value) *scale {
	if v.Decimal() != nil {
		return &scale{of: (*strictjson.Value).Decimal,
			write: func(n *decimal.Num) *strictjson.Value { return jsonNumber(n.String()) }}
	}
	s, _ := v.Str()
	if colour().MatchString(s) {
		return &scale{of: greyOf, write: greyColour, whole: true, day: 1}
	}
	for _, layout := range []struct {
		text string
		unit int64
	}{{time.DateOnly, 86400}, {time.RFC3339, 1}, {"2006-01-02T15:04:05", 1}, {"2006-01-02T15:04", 60},
		{"2006-01-02T15:04Z07:00", 60}} {
		if _, err := time.Parse(layout.text, s); err != nil {
			continue
		}
		return &scale{whole: true, day: 86400 / layout.unit,
			of: func(v *strictjson.Value) *decimal.Num {
				at, err := time.Parse(layout.text, v.Text)
				if err != nil || v.Kind != strictjson.String {
					return nil
				}
				return decimal.FromInt(at.Unix() / layout.unit)
			},
			write: func(n *decimal.Num) *strictjson.Value {
				units, _ := n.Int64()
				return jsonString(time.Unix(units*layout.unit, 0).UTC().Format(layout.text))
			}}
	}
	return nil
}

var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#[0-9a-fA-F]{6}$`) })

// greyOf lays colours on a line by the first of their three parts.
func greyOf(v *strictjson.Value) *decimal.Num {
	n, err := strconv.ParseInt(v.Text[1:3], 16, 64)
	if err != nil {
		return nil
	}
	return decimal.FromInt(n)
}

// greyColour is the colour whose three parts are a number from 0 to 255.
func greyColour(n *decimal.Num) *strictjson.Value {
	i, _ := n.Int64()
	return jsonString("#" + strings.Repeat(fmt.Sprintf("%02x", min(max(i, 0), 255)), 3))
}
