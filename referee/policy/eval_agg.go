package policy

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/nearest"
)

// aggOps are the aggregates and the types of value they take.
var aggOps = []struct {
	name   string
	value  typ
	result typ
}{
	{"count", tAny, tNum}, {"sum", tNum, tNum}, {"mean", tNum, tNum}, {"min", tNum | tStr, tNum | tStr},
	{"max", tNum | tStr, tNum | tStr},
	{"rms", tNum, tNum}, {"stddev", tNum, tNum}, {"percentile", tNum, tNum}, {"distinct", tAny, tNum},
	{"list", tAny, tList},
	{"all", tBool, tBool}, {"any", tBool, tBool},
}

// The places of agg's arguments.
const (
	aggOp = iota
	aggOver
	aggValue
	aggWhere
	aggP
)

// checkAgg holds the arguments to the operation.
func checkAgg(b *builder, n *node) {
	op, value := n.args[aggOp], n.arg(aggValue)
	var names []string
	for _, o := range aggOps {
		names = append(names, o.name)
		if o.name != op.lit.Str {
			continue
		}
		if value != nil {
			b.wantType(value, o.value, "the value of "+o.name)
		} else if o.name != "count" && o.name != "list" {
			refuse(n.place, `write agg("`+o.name+`", rows, "value")`, "%s needs the value to take of each row", o.name)
		}
	}
	if !slices.Contains(names, op.lit.Str) {
		refuseNear(op.place, nearest.Word(op.lit.Str, names), "", "unknown aggregate %s", quoteShort(op.lit.Str))
	}
	if where := n.arg(aggWhere); where != nil {
		b.wantType(where, tBool, "where")
	}
	checkPercentile(n, op.lit.Str)
}

func checkPercentile(n *node, op string) {
	p := n.arg(aggP)
	switch {
	case op != "percentile" && p != nil:
		refuse(p.place, "p belongs to percentile", "%s takes no p", op)
	case op == "percentile" && p == nil:
		refuse(n.place, "write p=95", "percentile needs p")
	case p != nil && (p.lit.Num.Sign() <= 0 || decimal.Cmp(p.lit.Num, decimal.FromInt(100)) > 0):
		refuse(p.place, "write p=95", "p must be above 0 and at most 100")
	}
}

func aggResult(n *node) typ {
	for _, o := range aggOps {
		if o.name == n.args[aggOp].lit.Str {
			return o.result
		}
	}
	return tAny
}

// evalAgg evaluates the row expressions on every row, in order. A row that lacks a referenced key is an error and makes
// the whole missing: it is never left out.
func evalAgg(ev *evaluator, n *node) Val {
	over := ev.evalLazyArgument(n, aggOver)
	if over.Kind == Missing {
		return over
	}
	outer, inRows, bad := ev.row, ev.inRows, ev.rowBad
	ev.inRows, ev.rowBad = true, false
	ev.nested++
	vals, missing := ev.rowValues(n, over, outer)
	broken := ev.rowBad
	ev.nested--
	ev.row, ev.inRows, ev.rowBad = outer, inRows, bad
	switch {
	case ev.isExhausted():
		return Absent(tooMuchWork)
	case broken:
		if op := n.args[aggOp].lit.Str; op == "all" || op == "any" {
			if v := quantifyTruth(vals, op == "any"); v.Kind == Bool && v.Bool == (op == "any") {
				return v // one row decides, whatever the others lack (S22); what they lack is an issue all the same
			}
		}
		return Absent("a row lacks a member that the rule refers to")
	case missing != nil:
		return *missing
	}
	return ev.evalAggregate(n, vals)
}

// rowValues are the values of the rows that where keeps; of count, all and any, a missing value is kept for Kleene's
// logic.
func (ev *evaluator) rowValues(n *node, over Val, outer *RowScope) (vals []Val, missing *Val) {
	op, value, where := n.args[aggOp].lit.Str, n.arg(aggValue), n.arg(aggWhere)
	vals = make([]Val, 0, len(over.List))
	ev.row = &RowScope{Up: outer}
	for i, row := range over.List {
		ev.row.Row, ev.row.Index = row, i
		if !ev.chargeWork(2) {
			return nil, nil
		}
		if where != nil {
			keep := ev.evalTruth(where, "where")
			if keep.Kind == Missing {
				missing = &keep
				continue
			}
			if !keep.Bool {
				continue
			}
		}
		v := row
		switch {
		case value != nil:
			v = ev.eval(value)
		case op == "count":
			v = Truth(true)
		case v.Kind == Missing:
			v = ev.noteMissing(&node{kind: kRow, text: "row"}, "field", v)
		}
		v = ev.rowTyped(op, value, v)
		if v.Kind == Missing && op != "all" && op != "any" {
			missing = &v
			continue
		}
		vals = append(vals, v)
	}
	return vals, missing
}

// rowTyped holds the value of a row to the aggregate.
func (ev *evaluator) rowTyped(op string, value *node, v Val) Val {
	for _, o := range aggOps {
		if o.name == op && value != nil && v.Kind != Missing && typeOfKind(v.Kind)&o.value == 0 {
			return ev.typeMismatch(value, v, o.value, op)
		}
	}
	return v
}

func (ev *evaluator) evalAggregate(n *node, vals []Val) Val {
	switch op := n.args[aggOp].lit.Str; op {
	case "count":
		return integerValue(countRows(vals))
	case "list":
		return listValue(vals)
	case "distinct":
		seen := map[string]bool{}
		for _, v := range vals {
			seen[ev.keyOf(v)] = true
		}
		return integerValue(len(seen))
	case "all", "any":
		return quantifyTruth(vals, op == "any")
	case "min", "max":
		if len(vals) == 0 {
			return Absent(op + " of no rows")
		}
		return ev.evalExtreme(n, map[string]int{"min": -1, "max": 1}[op], vals)
	default:
		return ev.evalStatistic(n, op, vals)
	}
}

// countRows is how many rows there are or, of a true/false value, for how many it is true.
func countRows(vals []Val) int {
	n := 0
	for _, v := range vals {
		if v.Kind != Bool || v.Bool {
			n++
		}
	}
	return n
}

// quantifyTruth is all (decided by a false) or any (decided by a true), Kleene's way: of no rows true and false.
func quantifyTruth(vals []Val, decides bool) Val {
	result := Truth(!decides)
	for _, v := range vals {
		if v.Kind == Missing {
			result = v
		} else if v.Bool == decides {
			return Truth(decides)
		}
	}
	return result
}

func (ev *evaluator) evalStatistic(n *node, op string, vals []Val) Val {
	ev.chargeWork(8 * len(vals))
	nums := make([]*decimal.Num, len(vals))
	for i, v := range vals {
		nums[i] = v.Num
	}
	if op == "sum" {
		return ev.numberResult(n)(sumNumbers(nums))
	}
	least := map[string]int{"stddev": 2}[op]
	if len(nums) < max(1, least) {
		return Absent(op + " of too few rows")
	}
	switch op {
	case "mean":
		return ev.numberResult(n)(averageNumbers(nums))
	case "rms":
		return ev.numberResult(n)(rootMeanSquare(nums))
	case "stddev":
		return ev.numberResult(n)(sampleDeviation(nums))
	}
	return ev.evalPercentile(n, nums)
}

// rootMeanSquare is the root of the mean of the squares.
func rootMeanSquare(nums []*decimal.Num) (*decimal.Num, error) {
	squares, err := squaredDeviations(nums)
	if err != nil {
		return nil, err
	}
	mean, err := averageNumbers(squares)
	if err != nil {
		return nil, err
	}
	return decimal.Sqrt(mean)
}

// sampleDeviation is the sample's: the sum of squared distances from the mean over n − 1.
func sampleDeviation(nums []*decimal.Num) (*decimal.Num, error) {
	mean, err := averageNumbers(nums)
	if err != nil {
		return nil, err
	}
	off := make([]*decimal.Num, len(nums))
	for i, x := range nums {
		if off[i], err = decimal.Sub(x, mean); err != nil {
			return nil, err
		}
	}
	squares, err := squaredDeviations(off)
	if err != nil {
		return nil, err
	}
	sum, err := sumNumbers(squares)
	if err != nil {
		return nil, err
	}
	variance, err := decimal.Quo(sum, decimal.FromInt(int64(len(nums)-1)))
	if err != nil {
		return nil, err
	}
	return decimal.Sqrt(variance)
}

func squaredDeviations(nums []*decimal.Num) ([]*decimal.Num, error) {
	out := make([]*decimal.Num, len(nums))
	for i, x := range nums {
		var err error
		if out[i], err = decimal.Mul(x, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// evalPercentile is the nearest rank: the ⌈p/100 · n⌉-th smallest.
func (ev *evaluator) evalPercentile(n *node, nums []*decimal.Num) Val {
	sorted := slices.Clone(nums)
	slices.SortStableFunc(sorted, decimal.Cmp)
	of, err := decimal.Mul(n.args[aggP].lit.Num, decimal.FromInt(int64(len(nums))))
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	share, err := decimal.Quo(of, decimal.FromInt(100))
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	rank, err := decimal.Ceil(share)
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	i, _ := rank.Int64()
	return Number(sorted[min(max(int(i), 1), len(sorted))-1])
}
