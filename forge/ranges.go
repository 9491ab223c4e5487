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

// rangeOf is an interval that holds every value that an expression can have.
func (r *ranges) rangeOf(v *strictjson.Value) interval {
	switch v.Kind {
	case strictjson.Number:
		if n := v.Decimal(); n != nil {
			return exactInterval(n)
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
		return r.rangeOf(r.constantValue(v))
	case v.Get("input") != nil:
		return r.rangeOfInput(v.TextOf("input"))
	case v.Get("calc") != nil:
		return r.rangeOfCalculation(v.TextOf("calc"))
	case key == "agg":
		return aggregateRange(v.Get("agg").TextOf("op"))
	}
	switch op := v.TextOf("op"); op {
	case "+", "-", "*", "/":
		return r.rangeOfArithmetic(op, r.rangeOf(v.Get("left")), r.rangeOf(v.Get("right")))
	case "neg":
		return r.rangeOf(v.Get("term")).neg()
	case "if":
		if other := v.Get("else"); other != nil {
			return r.rangeOf(v.Get("then")).or(r.rangeOf(other))
		}
	default:
		return r.rangeOfFunction(op, v.Get("args"))
	}
	return everything
}

func (r *ranges) rangeOfArithmetic(op string, left, right interval) interval {
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

// constantValue is the value of {"const": NAME}; a null where it is none.
func (r *ranges) constantValue(v *strictjson.Value) *strictjson.Value {
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
	"exp": atLeast(decimal.FromInt(0)), "jaccard": closedInterval(0, 1), "passive_pct": closedInterval(0, 1),
	"contrast": closedInterval(1, 21), "angdiff": closedInterval(0, 180), "sin": closedInterval(-1, 1),
	"cos": closedInterval(-1, 1),
}

func (r *ranges) rangeOfFunction(name string, args *strictjson.Value) interval {
	if i, ok := functionRanges[name]; ok {
		return i
	}
	if args == nil || len(args.Items) == 0 {
		return everything
	}
	switch name {
	case "abs":
		return r.rangeOf(args.Items[0]).abs()
	case "min", "max":
		out := r.rangeOf(args.Items[0])
		for _, a := range args.Items[1:] {
			if name == "min" {
				out = out.least(r.rangeOf(a))
			} else {
				out = out.most(r.rangeOf(a))
			}
		}
		return out
	case "lookup":
		return r.rangeOfTable(args.Items[0])
	case "piecewise", "band":
		return r.rangeOfSteps(args)
	}
	return everything
}

// rangeOfTable is the range of a const table's entries.
func (r *ranges) rangeOfTable(v *strictjson.Value) interval {
	var out *interval
	for _, m := range r.constantValue(v).Members {
		i := r.rangeOf(m.Value)
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

// rangeOfSteps is the range of the second members of the rows [[x, y], …] of band and piecewise.
func (r *ranges) rangeOfSteps(args *strictjson.Value) interval {
	if len(args.Items) < 2 {
		return everything
	}
	var out *interval
	for _, row := range r.rowsOf(args.Items[1]) {
		if len(row.Items) != 2 {
			return everything
		}
		i := r.rangeOf(row.Items[1])
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

// rowsOf are the items of a list that is written out or a constant.
func (r *ranges) rowsOf(v *strictjson.Value) []*strictjson.Value {
	if v.Kind == strictjson.Object && v.Get("const") != nil {
		v = r.constantValue(v)
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

// rangeOfInput is what the schema of the submission says of a declared input.
func (r *ranges) rangeOfInput(name string) interval {
	schema := r.sheet.Doc.At("/eval_spec/required_output_schema/properties/inputs/properties").Get(name)
	out := everything
	for key, op := range map[string]string{"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=",
		"exclusiveMaximum": "<"} {
		if n := schema.Get(key).Decimal(); n != nil {
			out = out.and(intervalOf(op, n))
		}
	}
	return out
}

// rangeOfCalculation is what the formula makes of its inputs; the loader has refused formulas that need themselves.
func (r *ranges) rangeOfCalculation(id string) interval {
	if i, ok := r.known[id]; ok {
		return i
	}
	i := everything
	for _, m := range r.sheet.Math {
		if m.ID == id && m.Expression() != nil {
			i = r.rangeOf(treeOf(m.Expression()))
		}
	}
	r.known[id] = i
	return i
}
