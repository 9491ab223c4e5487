package forge

import (
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// treeLimits bound the canonical tree of an expression, which the engine has written.
var treeLimits = strictjson.Limits{MaxBytes: 8 << 20, MaxDepth: 512}

// treeOf is the canonical JSON of an expression, as a tree to look at and to change.
func treeOf(e *policy.Expr) *strictjson.Value {
	v, err := strictjson.Parse(e.Tree(), treeLimits)
	if err != nil {
		panic("forge: the engine's own tree cannot be read: " + err.Error()) // the engine writes strict JSON
	}
	return v
}

// ranges says which values the numbers of a sheet can have: of an input what the schema of the submission allows, of a
// calculation what its formula makes of that.
type ranges struct {
	sheet *referee.Sheet
	known map[string]interval // of calculations
}

func newRanges(sheet *referee.Sheet) *ranges {
	return &ranges{sheet: sheet, known: map[string]interval{}}
}

// of is an interval that holds every value that an expression can have.
func (r *ranges) of(v *strictjson.Value) interval {
	switch v.Kind {
	case strictjson.Number:
		if n := v.Decimal(); n != nil {
			return exactly(n)
		}
		return everything
	case strictjson.Object:
		return r.ofObject(v)
	}
	return everything
}

func (r *ranges) ofObject(v *strictjson.Value) interval {
	switch key := v.Members[0].Key; {
	case v.Get("const") != nil:
		return r.of(r.constant(v))
	case v.Get("input") != nil:
		return r.input(v.TextOf("input"))
	case v.Get("calc") != nil:
		return r.calculation(v.TextOf("calc"))
	case key == "agg":
		return aggregateRange(v.Get("agg").TextOf("op"))
	}
	switch op := v.TextOf("op"); op {
	case "+", "-", "*", "/":
		return r.arithmetic(op, r.of(v.Get("left")), r.of(v.Get("right")))
	case "neg":
		return r.of(v.Get("term")).neg()
	case "if":
		if other := v.Get("else"); other != nil {
			return r.of(v.Get("then")).or(r.of(other))
		}
	default:
		return r.function(op, v.Get("args"))
	}
	return everything
}

func (r *ranges) arithmetic(op string, left, right interval) interval {
	switch op {
	case "+":
		return left.add(right)
	case "-":
		return left.sub(right)
	case "*":
		return left.mul(right)
	}
	return left.quo(right)
}

// constant is the value of {"const": NAME}; a null where it is none.
func (r *ranges) constant(v *strictjson.Value) *strictjson.Value {
	if c := r.sheet.Const(v.TextOf("const")); c != nil {
		return c
	}
	return jsonNull()
}

// functionRanges are the ranges of functions whatever their operands.
var functionRanges = map[string]interval{
	"len": atLeast(decimal.FromInt(0)), "words": atLeast(decimal.FromInt(0)), "sentences": atLeast(decimal.FromInt(0)),
	"syllables":    atLeast(decimal.FromInt(0)),
	"quoted_words": atLeast(decimal.FromInt(0)), "max_sentence_words": atLeast(decimal.FromInt(0)),
	"range_ratio": atLeast(decimal.FromInt(0)), "sqrt": atLeast(decimal.FromInt(0)),
	"exp": atLeast(decimal.FromInt(0)), "jaccard": between(0, 1), "passive_pct": between(0, 1),
	"contrast": between(1, 21), "angdiff": between(0, 180), "sin": between(-1, 1), "cos": between(-1, 1),
}

func (r *ranges) function(name string, args *strictjson.Value) interval {
	if i, ok := functionRanges[name]; ok {
		return i
	}
	if args == nil || len(args.Items) == 0 {
		return everything
	}
	switch name {
	case "abs":
		return r.of(args.Items[0]).abs()
	case "min", "max":
		out := r.of(args.Items[0])
		for _, a := range args.Items[1:] {
			if name == "min" {
				out = out.least(r.of(a))
			} else {
				out = out.most(r.of(a))
			}
		}
		return out
	case "lookup":
		return r.table(args.Items[0])
	case "piecewise", "band":
		return r.steps(args)
	}
	return everything
}

// table is the range of a const table's entries.
func (r *ranges) table(v *strictjson.Value) interval {
	var out *interval
	for _, m := range r.constant(v).Members {
		i := r.of(m.Value)
		if out != nil {
			i = out.or(i)
		}
		out = &i
	}
	if out == nil {
		return everything
	}
	return *out
}

// steps is the range of the second members of the rows [[x, y], …] of band and piecewise.
func (r *ranges) steps(args *strictjson.Value) interval {
	if len(args.Items) < 2 {
		return everything
	}
	var out *interval
	for _, row := range r.rows(args.Items[1]) {
		if len(row.Items) != 2 {
			return everything
		}
		i := r.of(row.Items[1])
		if out != nil {
			i = out.or(i)
		}
		out = &i
	}
	if out == nil {
		return everything
	}
	return *out
}

// rows are the items of a list that is written out or a constant.
func (r *ranges) rows(v *strictjson.Value) []*strictjson.Value {
	if v.Kind == strictjson.Object && v.Get("const") != nil {
		v = r.constant(v)
	}
	return v.Items
}

func aggregateRange(op string) interval {
	switch op {
	case "count", "distinct", "stddev", "rms":
		return atLeast(decimal.FromInt(0))
	}
	return everything
}

// input is what the schema of the submission says of a declared input.
func (r *ranges) input(name string) interval {
	schema := r.sheet.Doc.At("/eval_spec/required_output_schema/properties/inputs/properties").Get(name)
	out := everything
	for key, op := range map[string]string{"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=",
		"exclusiveMaximum": "<"} {
		if n := schema.Get(key).Decimal(); n != nil {
			out = out.and(beyond(op, n))
		}
	}
	return out
}

// calculation is what the formula makes of its inputs; the loader has refused formulas that need themselves.
func (r *ranges) calculation(id string) interval {
	if i, ok := r.known[id]; ok {
		return i
	}
	i := everything
	for _, m := range r.sheet.Math {
		if m.ID == id && m.Expression() != nil {
			i = r.of(treeOf(m.Expression()))
		}
	}
	r.known[id] = i
	return i
}
