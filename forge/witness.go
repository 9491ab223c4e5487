package forge

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// witness is a submission near an example or a trip, worked out to lie on an edge of a gate.
type witness struct {
	trial *trial
	patch string // as a JSON Patch on the submission, where one says it
	was   referee.Status
}

// witnessesAround works out witnesses by changing one place of a submission: to nothing, to the other truth, to the
// words that the gate speaks of, to a longer, a shorter and a turned list, and along numbers and dates to both sides of
// every point where the gate changes its mind, and onto it. It stops when yield has enough.
func (m *mutator) witnessesAround(r *referee.Rule, t *trial, yield func(*witness) bool) bool {
	pool := m.gatherPool(r)
	for _, p := range m.placesRead(r, t) {
		s := &side{rule: r, place: p, base: t, asked: map[string]*witness{}}
		for _, to := range pool.valuesFor(p.value) {
			if w := s.witnessAt(to); w != nil && !yield(w) {
				return false
			}
		}
		if line := scaleOf(p.value); line != nil && !s.searchAlong(line, pool, yield) {
			return false
		}
	}
	return true
}

// side asks a gate about one place at several values.
type side struct {
	rule  *referee.Rule
	place spot
	base  *trial
	asked map[string]*witness
}

// witnessAt is the submission with the place at a value; nil where there is none.
func (s *side) witnessAt(to *strictjson.Value) *witness {
	text := string(to.Encode())
	if w, done := s.asked[text]; done {
		return w
	}
	s.asked[text] = nil
	work, err := s.place.with(to)
	if err != nil {
		return nil
	}
	t, err := newTrial(s.base.name+", "+s.place.name+" = "+text, work)
	if err != nil {
		return nil
	}
	w := &witness{trial: t, was: t.askRule(s.rule)}
	if s.place.patch != "" {
		w.patch = string(jsonArray(jsonObject("op", jsonString("replace"), "path", jsonString(s.place.patch),
			"value", to)).Encode())
	}
	s.asked[text] = w
	return w
}

// maxHalvings is how often an interval is halved: ten digits are more than any bound of a rulebook has.
const maxHalvings = 34

// searchAlong looks for the points of a line where the gate changes its mind.
func (s *side) searchAlong(line *scale, pool *pool, yield func(*witness) bool) bool {
	points := pool.pointsAlong(line, s.place.value)
	for i := 0; i+1 < len(points); i++ {
		lo, hi := points[i], points[i+1]
		a, b := s.witnessAt(line.write(lo)), s.witnessAt(line.write(hi))
		if a == nil || b == nil || a.was == b.was {
			continue
		}
		for range maxHalvings {
			mid := middleOf(lo, hi, line.whole)
			if mid == nil {
				break
			}
			w := s.witnessAt(line.write(mid))
			if w == nil {
				break
			}
			if w.was == a.was {
				lo = mid
			} else {
				hi = mid
			}
		}
		for _, n := range []*decimal.Num{lo, hi, simplestBetween(lo, hi)} {
			if n == nil {
				continue
			}
			if w := s.witnessAt(line.write(n)); w != nil && !yield(w) {
				return false
			}
		}
	}
	return true
}

// middleOf lies between two numbers; nil where nothing does, or they are as near as makes no difference.
func middleOf(lo, hi *decimal.Num, whole bool) *decimal.Num {
	sum, err := decimal.Add(lo, hi)
	if err != nil {
		return nil
	}
	mid, err := decimal.Quo(sum, decimal.FromInt(2))
	if err == nil && whole {
		mid, err = decimal.Floor(mid)
	}
	if err != nil || decimal.Cmp(mid, lo) == 0 || decimal.Cmp(mid, hi) == 0 {
		return nil
	}
	return mid
}

// simplestBetween is the number with the fewest decimals from lo to hi: where a gate changes its mind between them,
// most likely its bound.
func simplestBetween(lo, hi *decimal.Num) *decimal.Num {
	unit := decimal.FromInt(1)
	for range 20 {
		scaled, err := decimal.Mul(hi, unit)
		if err != nil {
			return nil
		}
		whole, err := decimal.Floor(scaled)
		if err != nil {
			return nil
		}
		n, err := decimal.Quo(whole, unit)
		if err != nil {
			return nil
		}
		if decimal.Cmp(n, lo) >= 0 {
			return n
		}
		if unit, err = decimal.Mul(unit, decimal.FromInt(10)); err != nil {
			return nil
		}
	}
	return nil
}

// pool is the values that a gate speaks of.
type pool struct {
	numbers []*decimal.Num
	words   []string
}

const (
	maxPool  = 12
	maxWords = 60 // of a text that is made as long as the gate asks for
)

// gatherPool gathers the numbers and words of a gate and of the constants and lexicons it reads.
func (m *mutator) gatherPool(r *referee.Rule) *pool {
	p := &pool{numbers: []*decimal.Num{decimal.FromInt(0), decimal.FromInt(1)}}
	for _, tree := range []*strictjson.Value{ruleTree(r), whenTree(r), r.Value()} {
		tree.Walk(func(v *strictjson.Value) bool {
			if v.Get("const") != nil {
				m.ranges.constantValue(v).Walk(func(v *strictjson.Value) bool { p.addNumber(v); return true })
			}
			if name := v.TextOf("lexicon"); name != "" {
				p.addNumber(m.sheet.Doc.Get("lexicons").Get(name).Item(0))
			}
			if v.Kind == strictjson.Number {
				p.addNumber(v)
			}
			for _, key := range []string{"left", "right", "literal"} {
				p.addWord(v.Get(key))
			}
			if args := v.Get("args"); args != nil {
				for _, a := range args.Items {
					p.addWord(a)
				}
			}
			return true
		})
	}
	return p
}

func (p *pool) addWord(v *strictjson.Value) {
	if _, ok := v.Str(); ok {
		p.addNumber(v)
	}
}

func (p *pool) addNumber(v *strictjson.Value) {
	if n := v.Decimal(); n != nil && len(p.numbers) < maxPool &&
		!slices.ContainsFunc(p.numbers, func(o *decimal.Num) bool { return decimal.Cmp(o, n) == 0 }) {
		p.numbers = append(p.numbers, n)
	}
	if s, ok := v.Str(); ok && len(p.words) < maxPool && !slices.Contains(p.words, s) {
		p.words = append(p.words, s)
	}
}

// valuesFor are what a place may be changed to, one at a time.
func (p *pool) valuesFor(v *strictjson.Value) []*strictjson.Value {
	out := []*strictjson.Value{jsonNull()}
	switch v.Kind {
	case strictjson.Bool:
		out = append(out, jsonBool(v.Text != "true"))
	case strictjson.String:
		out = append(out, p.textsFor(v.Text)...)
	case strictjson.Number:
		for _, n := range p.numbers {
			out = append(out, jsonNumber(n.String()))
		}
	case strictjson.Array:
		out = append(out, listsFor(v)...)
	}
	return out
}

// textsFor are the words that the gate speaks of, the text with them and without them, and the text with a sentence
// less.
func (p *pool) textsFor(s string) []*strictjson.Value {
	out := []*strictjson.Value{jsonString("")}
	for _, w := range p.words {
		out = append(out, jsonString(w))
		if strings.Contains(s, " ") {
			out = append(out, jsonString(s+" "+w))
		}
		if strings.Contains(s, w) {
			out = append(out, jsonString(strings.ReplaceAll(s, w, "")))
		}
	}
	for _, n := range p.numbers {
		if count, ok := n.Int64(); ok && count > 0 && count <= maxWords {
			for k := count - 1; k <= count+1; k++ {
				words := strings.TrimSpace(strings.Repeat("word ", int(k)))
				out = append(out, jsonString(words), jsonString(s+` "`+words+`"`))
			}
		}
	}
	sentences := strings.SplitAfter(s, ". ")
	for i := range sentences[:min(len(sentences), maxPool)] {
		if len(sentences) > 1 {
			out = append(out, jsonString(strings.Join(slices.Delete(slices.Clone(sentences), i, i+1), "")))
		}
	}
	return out
}

// listsFor are the list empty, without its first or last item, with the first twice, and turned round.
func listsFor(v *strictjson.Value) []*strictjson.Value {
	out := []*strictjson.Value{jsonArray()}
	n := len(v.Items)
	if n == 0 {
		return out
	}
	turned := slices.Clone(v.Items)
	slices.Reverse(turned)
	return append(out, jsonArray(v.Items[1:]...), jsonArray(v.Items[:n-1]...),
		jsonArray(append(slices.Clone(v.Items), v.Items[0])...), jsonArray(turned...),
		jsonArray(v.Items[0]))
}

// pointsAlong are values along a line, in order: those that the gate speaks of, and the value itself moved a little and
// far.
func (p *pool) pointsAlong(line *scale, v *strictjson.Value) []*decimal.Num {
	n := line.of(v)
	out := []*decimal.Num{n}
	add := func(x *decimal.Num, err error) {
		if err == nil && !slices.ContainsFunc(out, func(o *decimal.Num) bool { return decimal.Cmp(o, x) == 0 }) {
			out = append(out, x)
		}
	}
	if line.whole {
		for _, days := range []int64{-4000, -400, -40, -4, 4, 40, 400, 4000} {
			add(decimal.Add(n, decimal.FromInt(days*line.day)))
		}
	} else {
		for _, by := range []string{"-2", "-0.5", "-0.02", "0.02", "1", "9"} {
			add(nudgedUp(n, by), nil)
		}
		for _, x := range p.numbers {
			add(x, nil)
		}
	}
	slices.SortFunc(out, decimal.Cmp)
	return out
}
