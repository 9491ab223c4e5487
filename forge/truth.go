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

// withFact adds a fact; clash names the two facts that exclude one another.
func (w world) withFact(f fact) (out world, clash [2]string, ok bool) {
	out.facts = slices.Clone(w.facts)
	for i := range out.facts {
		have := &out.facts[i]
		if have.key != f.key || !f.isAlike(have) {
			continue
		}
		was := have.words
		if have.meetFact(f); have.isImpossible() {
			return world{}, [2]string{was, f.words}, false
		}
		return out, clash, true
	}
	if f.isImpossible() {
		return world{}, [2]string{f.words, f.words}, false
	}
	out.facts = append(out.facts, f)
	return out, clash, true
}

// isAlike reports whether two facts about one unknown can be joined into one.
func (f *fact) isAlike(o *fact) bool {
	text := func(k factKind) bool { return k == factAmong || k == factBeside }
	return f.kind == o.kind || text(f.kind) && text(o.kind)
}

// meetFact narrows a fact by another about the same unknown.
func (f *fact) meetFact(o fact) {
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
		f.kind, f.among = factAmong, withoutAll(o.among, f.among)
	case o.kind == factBeside:
		f.among = withoutAll(f.among, o.among)
	default:
		f.among = slices.DeleteFunc(slices.Clone(f.among), func(s string) bool { return !slices.Contains(o.among, s) })
	}
}

func withoutAll(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}

func (f *fact) isImpossible() bool {
	return f.kind == factNumber && f.in.isEmpty() || f.kind == factAmong && len(f.among) == 0
}

// sampleText is an example of the world: "dscr = 1.25, tier = "market"".
func (w world) sampleText() string {
	var words []string
	for _, f := range w.facts {
		switch f.kind {
		case factNumber:
			if n := f.in.sampleNumber(); n != nil {
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

func neverCases(clash [2]string) cases { return cases{clash: clash} }

func alwaysCases() cases { return cases{worlds: []world{{}}} }

// isPossible reports whether the condition can hold.
func (c cases) isPossible() bool { return c.over || len(c.worlds) > 0 }

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
			joined, clash, ok := a.joinedWith(b)
			if ok {
				out.worlds = append(out.worlds, joined)
			} else if out.clash[0] == "" {
				out.clash = clash
			}
		}
	}
	return out
}

func (w world) joinedWith(o world) (out world, clash [2]string, ok bool) {
	out, ok = w, true
	for _, f := range o.facts {
		if out, clash, ok = out.withFact(f); !ok {
			return world{}, clash, false
		}
	}
	return out, clash, true
}

// casesWhere takes a condition apart: the worlds in which it is true, or with want false those in which it is false.
func (r *ranges) casesWhere(v *strictjson.Value, want bool) cases {
	switch op := v.TextOf("op"); op {
	case "and", "or":
		return r.joinedCases(v.Get("terms").Items, (op == "and") == want, want)
	case "not":
		return r.casesWhere(v.Get("term"), !want)
	case "if", "implies":
		return r.conditionalCases(v, want)
	case "chain":
		return r.joinedCases(chainLinks(v), want, want)
	case "==", "!=", "<", "<=", ">", ">=":
		return r.comparisonCases(v, op, want)
	case "in", "not in":
		return r.membershipCases(v, (op == "in") == want, want)
	}
	if v.Kind == strictjson.Bool {
		if (v.Text == "true") == want {
			return alwaysCases()
		}
		return neverCases([2]string{v.Text, v.Text})
	}
	return r.opaqueCases(v, want)
}

// chainLinks are the comparisons of a chain a < b < c.
func chainLinks(v *strictjson.Value) []*strictjson.Value {
	var out []*strictjson.Value
	terms := v.Get("terms").Items
	for i, op := range v.Get("ops").Items {
		out = append(out, jsonObject("left", terms[i], "op", op, "right", terms[i+1]))
	}
	return out
}

func (r *ranges) joinedCases(terms []*strictjson.Value, all, want bool) cases {
	out := r.casesWhere(terms[0], want)
	for _, t := range terms[1:] {
		if next := r.casesWhere(t, want); all {
			out = out.and(next)
		} else {
			out = out.or(next)
		}
	}
	return out
}

// conditionalCases is if(c, a), a if c else b, and implies(c, a).
func (r *ranges) conditionalCases(v *strictjson.Value, want bool) cases {
	cond, then, other := v.Get("cond"), v.Get("then"), v.Get("else")
	if args := v.Get("args"); args != nil {
		cond, then = args.Items[0], args.Items[1]
	}
	yes, no := r.casesWhere(cond, true).and(r.casesWhere(then, want)), r.casesWhere(cond, false)
	switch {
	case other != nil:
		no = no.and(r.casesWhere(other, want))
	case !want:
		return yes
	}
	return yes.or(no)
}

// opaqueCases is a condition that is not looked into: all that is known is that it is not true and false at once.
func (r *ranges) opaqueCases(v *strictjson.Value, want bool) cases {
	name := r.treeText(v)
	words := name
	if !want {
		words = "not " + name
	}
	return cases{worlds: []world{{[]fact{{key: string(v.Encode()), name: name, words: words, kind: factTruth,
		truth: want}}}}}
}

// treeText prints a tree as text.
func (r *ranges) treeText(v *strictjson.Value) string {
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

func (r *ranges) comparisonCases(v *strictjson.Value, op string, want bool) cases {
	left, right := v.Get("left"), v.Get("right")
	if word, other := r.wordBeside(left, right); other != nil {
		if op == "==" || op == "!=" {
			return r.wordCases(other, []string{word}, (op == "==") == want)
		}
		return r.opaqueCases(v, want)
	}
	if !want {
		op = opposites[op]
	}
	f, ok := r.linearForm(jsonObject("left", left, "op", jsonString("-"), "right", right))
	if !ok {
		return r.opaqueCases(v, want)
	}
	return r.numberCases(f, op, v, want)
}

// wordBeside finds the literal text of a comparison and what it is compared with.
func (r *ranges) wordBeside(left, right *strictjson.Value) (string, *strictjson.Value) {
	for _, pair := range [][2]*strictjson.Value{{left, right}, {right, left}} {
		v := pair[0]
		if v.Get("const") != nil {
			v = r.constantValue(v)
		}
		if s, ok := v.Str(); ok {
			return s, pair[1]
		}
	}
	return "", nil
}

func (r *ranges) wordCases(of *strictjson.Value, among []string, in bool) cases {
	f := fact{key: string(of.Encode()), name: r.treeText(of), kind: factAmong, among: among}
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

// numberCases is form op 0. != is below or above.
func (r *ranges) numberCases(f form, op string, v *strictjson.Value, want bool) cases {
	if op == "!=" {
		return r.numberCases(f, "<", v, want).or(r.numberCases(f, ">", v, want))
	}
	if len(f.terms) == 0 {
		if intervalOf(op, decimal.FromInt(0)).contains(f.constant) {
			return alwaysCases()
		}
		words := r.treeText(v)
		return neverCases([2]string{words, words})
	}
	f, sign, ok := f.normalised()
	if !ok {
		return r.opaqueCases(v, want)
	}
	if sign < 0 {
		op = mirrored[op]
	}
	name := r.nameOf(f)
	have := fact{key: f.key(), name: name, kind: factNumber, in: intervalOf(op, decimal.Neg(f.constant))}
	have.words = have.in.conditionText(name)
	limits := f.domain(r)
	always := fact{key: have.key, name: name, kind: factNumber, in: limits, words: limits.conditionText(name)}
	w, clash, ok := world{}.withFact(have)
	if ok && (limits.lo.n != nil || limits.hi.n != nil) {
		w, clash, ok = w.withFact(always)
	}
	if !ok {
		return neverCases(clash)
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
		b.WriteString(r.treeText(t.tree))
	}
	return b.String()
}

// membershipCases is x in [a, b] of texts or of numbers that are written out; any other list is not looked into.
func (r *ranges) membershipCases(v *strictjson.Value, in, want bool) cases {
	var texts []string
	var equal []*strictjson.Value
	for _, item := range r.rowsOf(v.Get("right")) {
		if s, ok := item.Str(); ok {
			texts = append(texts, s)
		} else if item.Kind == strictjson.Number {
			equal = append(equal, jsonObject("left", v.Get("left"), "op", jsonString("=="), "right", item))
		} else {
			return r.opaqueCases(v, want)
		}
	}
	switch {
	case len(texts) > 0 && len(equal) == 0:
		return r.wordCases(v.Get("left"), texts, in)
	case len(equal) > 0 && len(texts) == 0:
		return r.joinedCases(equal, !in, in)
	}
	return r.opaqueCases(v, want)
}
