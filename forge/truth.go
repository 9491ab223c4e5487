package forge

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// maxCases bounds the disjunction that a condition is taken apart into; a condition with more is left unjudged.
const maxCases = 256

// fact is one condition on one unknown: a number within an interval, a text that is or is not among some, or a
// condition that is not looked into.
type fact struct {
	key   string
	name  string // the unknown as text
	words string // the condition as text
	kind  factKind
	in    interval
	among []string
	truth bool
}

type factKind uint8

const (
	factNumber factKind = iota
	factAmong           // the text is one of these
	factBeside          // the text is none of these
	factTruth
)

// world is a set of facts that may hold together. The zero world has none.
type world struct{ facts []fact }

// with adds a fact; clash names the two facts that exclude one another.
func (w world) with(f fact) (out world, clash [2]string, ok bool) {
	out.facts = slices.Clone(w.facts)
	for i := range out.facts {
		have := &out.facts[i]
		if have.key != f.key || !f.alike(have) {
			continue
		}
		was := have.words
		if have.meet(f); have.impossible() {
			return world{}, [2]string{was, f.words}, false
		}
		return out, clash, true
	}
	if f.impossible() {
		return world{}, [2]string{f.words, f.words}, false
	}
	out.facts = append(out.facts, f)
	return out, clash, true
}

// alike reports whether two facts about one unknown can be joined into one.
func (f *fact) alike(o *fact) bool {
	text := func(k factKind) bool { return k == factAmong || k == factBeside }
	return f.kind == o.kind || text(f.kind) && text(o.kind)
}

// meet narrows a fact by another about the same unknown.
func (f *fact) meet(o fact) {
	if f.words != o.words {
		f.words += " and " + o.words
	}
	switch {
	case f.kind == factNumber:
		f.in = f.in.and(o.in)
	case f.kind == factTruth:
		if f.truth != o.truth {
			f.kind, f.among = factAmong, nil
		}
	case f.kind == factBeside && o.kind == factBeside:
		f.among = append(slices.Clone(f.among), o.among...)
	case f.kind == factBeside:
		f.kind, f.among = factAmong, without(o.among, f.among)
	case o.kind == factBeside:
		f.among = without(f.among, o.among)
	default:
		f.among = slices.DeleteFunc(slices.Clone(f.among), func(s string) bool { return !slices.Contains(o.among, s) })
	}
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}

func (f *fact) impossible() bool {
	return f.kind == factNumber && f.in.empty() || f.kind == factAmong && len(f.among) == 0
}

// sample is an example of the world: "dscr = 1.25, tier = "market"".
func (w world) sample() string {
	var words []string
	for _, f := range w.facts {
		switch f.kind {
		case factNumber:
			if n := f.in.sample(); n != nil {
				words = append(words, f.name+" = "+n.String())
			}
		case factAmong:
			words = append(words, f.name+" = "+string(jsonString(f.among[0]).Encode()))
		case factBeside:
			words = append(words, f.words)
		case factTruth:
			words = append(words, f.words)
		}
	}
	return strings.Join(words, ", ")
}

// cases is the worlds in which a condition holds. All unknowns are taken as known: what is missing never makes a rule
// pass or flag.
type cases struct {
	worlds []world
	clash  [2]string // of the first case that cannot be, where none can
	over   bool      // too many: nothing can be said
}

func never(clash [2]string) cases { return cases{clash: clash} }

func always() cases { return cases{worlds: []world{{}}} }

// possible reports whether the condition can hold.
func (c cases) possible() bool { return c.over || len(c.worlds) > 0 }

func (c cases) or(o cases) cases {
	out := cases{worlds: append(slices.Clone(c.worlds), o.worlds...), clash: c.clash, over: c.over || o.over ||
		len(c.worlds)+len(o.worlds) > maxCases}
	if out.clash[0] == "" {
		out.clash = o.clash
	}
	return out
}

func (c cases) and(o cases) cases {
	out := cases{over: c.over || o.over || len(c.worlds)*len(o.worlds) > maxCases}
	if out.over {
		return out
	}
	out.clash = c.clash
	if out.clash[0] == "" {
		out.clash = o.clash
	}
	for _, a := range c.worlds {
		for _, b := range o.worlds {
			joined, clash, ok := a.joined(b)
			if ok {
				out.worlds = append(out.worlds, joined)
			} else if out.clash[0] == "" {
				out.clash = clash
			}
		}
	}
	return out
}

func (w world) joined(o world) (out world, clash [2]string, ok bool) {
	out, ok = w, true
	for _, f := range o.facts {
		if out, clash, ok = out.with(f); !ok {
			return world{}, clash, false
		}
	}
	return out, clash, true
}

// where takes a condition apart: the worlds in which it is true, or with want false those in which it is false.
func (r *ranges) where(v *strictjson.Value, want bool) cases {
	switch op := v.TextOf("op"); op {
	case "and", "or":
		return r.joined(v.Get("terms").Items, (op == "and") == want, want)
	case "not":
		return r.where(v.Get("term"), !want)
	case "if", "implies":
		return r.conditional(v, want)
	case "chain":
		return r.joined(links(v), want, want)
	case "==", "!=", "<", "<=", ">", ">=":
		return r.comparison(v, op, want)
	case "in", "not in":
		return r.membership(v, (op == "in") == want, want)
	}
	if v.Kind == strictjson.Bool {
		if (v.Text == "true") == want {
			return always()
		}
		return never([2]string{v.Text, v.Text})
	}
	return r.opaque(v, want)
}

// links are the comparisons of a chain a < b < c.
func links(v *strictjson.Value) []*strictjson.Value {
	var out []*strictjson.Value
	terms := v.Get("terms").Items
	for i, op := range v.Get("ops").Items {
		out = append(out, jsonObject("left", terms[i], "op", op, "right", terms[i+1]))
	}
	return out
}

func (r *ranges) joined(terms []*strictjson.Value, all, want bool) cases {
	out := r.where(terms[0], want)
	for _, t := range terms[1:] {
		if next := r.where(t, want); all {
			out = out.and(next)
		} else {
			out = out.or(next)
		}
	}
	return out
}

// conditional is if(c, a), a if c else b, and implies(c, a).
func (r *ranges) conditional(v *strictjson.Value, want bool) cases {
	cond, then, other := v.Get("cond"), v.Get("then"), v.Get("else")
	if args := v.Get("args"); args != nil {
		cond, then = args.Items[0], args.Items[1]
	}
	yes, no := r.where(cond, true).and(r.where(then, want)), r.where(cond, false)
	switch {
	case other != nil:
		no = no.and(r.where(other, want))
	case !want:
		return yes
	}
	return yes.or(no)
}

// opaque is a condition that is not looked into: all that is known is that it is not true and false at once.
func (r *ranges) opaque(v *strictjson.Value, want bool) cases {
	name := r.say(v)
	words := name
	if !want {
		words = "not " + name
	}
	return cases{worlds: []world{{[]fact{{key: string(v.Encode()), name: name, words: words, kind: factTruth,
		truth: want}}}}}
}

// say prints a tree as text.
func (r *ranges) say(v *strictjson.Value) string {
	if s, ok := v.Str(); ok {
		return string(jsonString(s).Encode())
	}
	if e, err := r.sheet.CompileRow(v); err == nil {
		return e.Text()
	}
	return string(v.Encode())
}

var opposites = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
var mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

func (r *ranges) comparison(v *strictjson.Value, op string, want bool) cases {
	left, right := v.Get("left"), v.Get("right")
	if word, other := r.wordBeside(left, right); other != nil {
		if op == "==" || op == "!=" {
			return r.words(other, []string{word}, (op == "==") == want)
		}
		return r.opaque(v, want)
	}
	if !want {
		op = opposites[op]
	}
	f, ok := r.linear(jsonObject("left", left, "op", jsonString("-"), "right", right))
	if !ok {
		return r.opaque(v, want)
	}
	return r.numbers(f, op, v, want)
}

// wordBeside finds the literal text of a comparison and what it is compared with.
func (r *ranges) wordBeside(left, right *strictjson.Value) (string, *strictjson.Value) {
	for _, pair := range [][2]*strictjson.Value{{left, right}, {right, left}} {
		v := pair[0]
		if v.Get("const") != nil {
			v = r.constant(v)
		}
		if s, ok := v.Str(); ok {
			return s, pair[1]
		}
	}
	return "", nil
}

func (r *ranges) words(of *strictjson.Value, among []string, in bool) cases {
	f := fact{key: string(of.Encode()), name: r.say(of), kind: factAmong, among: among}
	verb := " == "
	if !in {
		f.kind, verb = factBeside, " != "
	}
	for i, s := range among {
		if i > 0 {
			f.words += map[bool]string{true: " or ", false: " and "}[in]
		}
		f.words += f.name + verb + string(jsonString(s).Encode())
	}
	return cases{worlds: []world{{[]fact{f}}}}
}

// numbers is form op 0. != is below or above.
func (r *ranges) numbers(f form, op string, v *strictjson.Value, want bool) cases {
	if op == "!=" {
		return r.numbers(f, "<", v, want).or(r.numbers(f, ">", v, want))
	}
	if len(f.terms) == 0 {
		if beyond(op, decimal.FromInt(0)).holds(f.constant) {
			return always()
		}
		words := r.say(v)
		return never([2]string{words, words})
	}
	f, sign, ok := f.scaled()
	if !ok {
		return r.opaque(v, want)
	}
	if sign < 0 {
		op = mirrored[op]
	}
	name := r.nameOf(f)
	have := fact{key: f.key(), name: name, kind: factNumber, in: beyond(op, decimal.Neg(f.constant))}
	have.words = have.in.words(name)
	limits := f.domain(r)
	always := fact{key: have.key, name: name, kind: factNumber, in: limits, words: limits.words(name)}
	w, clash, ok := world{}.with(have)
	if ok && (limits.lo.n != nil || limits.hi.n != nil) {
		w, clash, ok = w.with(always)
	}
	if !ok {
		return never(clash)
	}
	return cases{worlds: []world{w}}
}

// nameOf prints the unknown part of a form.
func (r *ranges) nameOf(f form) string {
	var b strings.Builder
	for i, t := range f.terms {
		factor := t.factor
		if i > 0 {
			b.WriteString(map[bool]string{true: " - ", false: " + "}[factor.IsNeg()])
			factor = decimal.Abs(factor)
		}
		if decimal.Cmp(factor, decimal.FromInt(1)) != 0 {
			b.WriteString(factor.String() + " * ")
		}
		b.WriteString(r.say(t.tree))
	}
	return b.String()
}

// membership is x in [a, b] of texts or of numbers that are written out; any other list is not looked into.
func (r *ranges) membership(v *strictjson.Value, in, want bool) cases {
	var texts []string
	var equal []*strictjson.Value
	for _, item := range r.rows(v.Get("right")) {
		if s, ok := item.Str(); ok {
			texts = append(texts, s)
		} else if item.Kind == strictjson.Number {
			equal = append(equal, jsonObject("left", v.Get("left"), "op", jsonString("=="), "right", item))
		} else {
			return r.opaque(v, want)
		}
	}
	switch {
	case len(texts) > 0 && len(equal) == 0:
		return r.words(v.Get("left"), texts, in)
	case len(equal) > 0 && len(texts) == 0:
		return r.joined(equal, !in, in)
	}
	return r.opaque(v, want)
}
