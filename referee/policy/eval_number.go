package policy

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
)

// flattenNumbers flattens arguments into numbers: f(a, b, c) or f(list). A null item makes the whole missing.
func (ev *evaluator) flattenNumbers(n *node, args []Val) ([]*decimal.Num, *Val) {
	items := flattenArguments(args)
	ev.chargeWork(len(items))
	out := make([]*decimal.Num, len(items))
	for i, v := range items {
		switch v.Kind {
		case Num:
			out[i] = v.Num
		case Missing:
			bad := ev.nullIn(items)
			return nil, &bad
		default:
			bad := ev.typeMismatch(n.args[min(i, len(n.args)-1)], v, tNum, n.fn.name)
			return nil, &bad
		}
	}
	return out, nil
}

func flattenArguments(args []Val) []Val {
	if len(args) == 1 && args[0].Kind == List {
		return args[0].List
	}
	return args
}

type num1 = func(a *decimal.Num) (*decimal.Num, error)
type num2 = func(a, b *decimal.Num) (*decimal.Num, error)

// ofOneNumber and of2 make functions of numbers.
func ofOneNumber(f num1) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		ev.chargeWork(40)
		return ev.numberResult(n)(f(args[0].Num))
	}
}

func ofTwoNumbers(f num2) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		ev.chargeWork(40)
		return ev.numberResult(n)(f(args[0].Num, args[1].Num))
	}
}

func (ev *evaluator) numberResult(n *node) func(*decimal.Num, error) Val {
	return func(r *decimal.Num, err error) Val {
		if err != nil {
			return ev.undefinedResult(n, err)
		}
		return Number(r)
	}
}

func sumNumbers(nums []*decimal.Num) (sum *decimal.Num, err error) {
	sum = decimal.FromInt(0)
	for _, x := range nums {
		if sum, err = decimal.Add(sum, x); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func averageNumbers(nums []*decimal.Num) (*decimal.Num, error) {
	sum, err := sumNumbers(nums)
	if err != nil {
		return nil, err
	}
	return decimal.Quo(sum, decimal.FromInt(int64(len(nums))))
}

func evalSum(ev *evaluator, n *node, args []Val) Val {
	nums, bad := ev.flattenNumbers(n, args)
	if bad != nil {
		return *bad
	}
	return ev.numberResult(n)(sumNumbers(nums))
}

func evalAvg(ev *evaluator, n *node, args []Val) Val {
	nums, bad := ev.flattenNumbers(n, args)
	if bad != nil {
		return *bad
	}
	if len(nums) == 0 {
		return Absent("the mean of nothing")
	}
	return ev.numberResult(n)(averageNumbers(nums))
}

// extremeFunction is min (sign −1) or max (sign 1) of numbers, or of dates.
func extremeFunction(sign int) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		items := flattenArguments(args)
		if len(items) == 0 {
			return Absent(n.fn.name + " of nothing")
		}
		return ev.evalExtreme(n, sign, items)
	}
}

func (ev *evaluator) evalExtreme(n *node, sign int, items []Val) Val {
	ev.chargeWork(len(items))
	best := items[0]
	for _, v := range items {
		if v.Kind == Missing {
			return ev.nullIn(items)
		}
		c, bad := ev.evalOrder(n, n, v, best, n.fn.name)
		if bad != nil {
			return *bad
		}
		if c*sign > 0 {
			best = v
		}
	}
	return best
}

func evalRound(ev *evaluator, n *node, args []Val) Val {
	places := 0
	if len(args) > 1 {
		p, ok := listPlace(args[1])
		if !ok || p < -300 || p > 300 {
			return ev.typeMismatch(n.args[1], args[1], tNum, "the places of round (a whole number within ±300)")
		}
		places = p
	}
	return ev.numberResult(n)(decimal.Round(args[0].Num, places))
}

// evalApprox is S33: |a − b| / |b| within the tolerance; where b is 0 only 0 is near.
func evalApprox(ev *evaluator, n *node, args []Val) Val {
	ev.keepSides(n, args[0], args[1])
	tolerance := defaultTolerance
	if len(args) > 2 {
		tolerance = args[2].Num
	}
	diff, err := decimal.Sub(args[0].Num, args[1].Num)
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	if args[1].Num.IsZero() {
		return Truth(args[0].Num.IsZero())
	}
	rel, err := decimal.Quo(decimal.Abs(diff), decimal.Abs(args[1].Num))
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	return Truth(decimal.Cmp(rel, tolerance) <= 0)
}

var (
	defaultTolerance = decimal.MustParse("0.01") // S2
	two              = decimal.FromInt(2)
	circle           = decimal.FromInt(360)
)

// evalRangeRatio is |v − middle| / half the span (rules.md 1.3, range).
func evalRangeRatio(ev *evaluator, n *node, args []Val) Val {
	v, lo, hi := args[0].Num, args[1].Num, args[2].Num
	sum, err := decimal.Add(lo, hi)
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	span, err := decimal.Sub(hi, lo)
	if err == nil && span.Sign() <= 0 {
		return Absent("the upper limit is not above the lower")
	}
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	twice, err := decimal.Mul(v, two)
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	off, err := decimal.Sub(twice, sum)
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	return ev.numberResult(n)(decimal.Quo(decimal.Abs(off), span))
}

// angleBetween is the shortest arc: d = |a − b| mod 360, then min(d, 360 − d) (rules.md 1.1, angle).
func angleBetween(a, b *decimal.Num) (*decimal.Num, error) {
	diff, err := decimal.Sub(a, b)
	if err != nil {
		return nil, err
	}
	d, err := decimal.Mod(decimal.Abs(diff), circle)
	if err != nil {
		return nil, err
	}
	other, err := decimal.Sub(circle, d)
	if err != nil || decimal.Cmp(d, other) <= 0 {
		return d, err
	}
	return other, nil
}

// cashFlowFunction makes a finance function of a list of cash flows.
func cashFlowFunction(
	f func(args []Val, cf []*decimal.Num) (*decimal.Num, error), at int,
) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		cf, bad := ev.flattenNumbers(n, args[at:])
		if bad != nil {
			return *bad
		}
		if len(cf) > 2000 {
			ev.addIssue("too_complex", "", "%s of %d cash flows, at most 2,000 are taken", n.fn.name, len(cf))
			return Absent("too many cash flows")
		}
		ev.chargeWork(100 * len(cf))
		return ev.numberResult(n)(f(args, cf))
	}
}

// evalLookup reads a keyed const table. on_missing="flag" asks for a finding where the key is unknown.
func evalLookup(ev *evaluator, n *node, args []Val) Val {
	key := args[1].Str
	if args[1].Kind == Num {
		key = args[1].Num.String()
	}
	if !args[0].hasMember(key) {
		key = legible.Fold(key) // as a set is asked (S80)
	}
	if args[0].hasMember(key) {
		v := args[0].Member(key)
		v.Ptr = ""
		return v
	}
	table, _ := printText(n.args[0])
	why := "no key " + quoteShort(key) + " in " + table
	if n.argText(2) == "flag" {
		ev.addIssue("lookup_missing", args[1].Pointer(), "%s", why)
	}
	v := ev.noteMissing(n, "const", Absent(why))
	return v
}

func checkLookup(b *builder, n *node) {
	if how := n.arg(2); how != nil && how.lit.Str != "skip" && how.lit.Str != "flag" {
		refuse(how.place, `write on_missing="skip" or "flag"`, "unknown on_missing %s", quoteShort(how.lit.Str))
	}
}

// evalBand is a step table from high to low: the first bound that x reaches gives the value, and only that value is
// evaluated.
func evalBand(ev *evaluator, n *node) Val {
	x := ev.evalLazyArgument(n, 0)
	if x.Kind == Missing {
		return x
	}
	if cuts := n.args[1]; cuts.kind == kList && isCuts(cuts) {
		for _, c := range cuts.args {
			if decimal.Cmp(x.Num, c.args[0].lit.Num) >= 0 {
				return ev.eval(c.args[1])
			}
		}
		return ev.noteMissing(n, "const", Absent("below every bound of the band"))
	}
	cuts, bad := ev.readPoints(n, ev.evalLazyArgument(n, 1), -1, false)
	if bad != nil {
		return *bad
	}
	for _, c := range cuts {
		if decimal.Cmp(x.Num, c.List[0].Num) >= 0 {
			return c.List[1]
		}
	}
	return ev.noteMissing(n, "const", Absent("below every bound of the band"))
}

func isCuts(n *node) bool {
	return !slices.ContainsFunc(n.args, func(c *node) bool {
		return c.kind != kList || len(c.args) != 2 || c.args[0].kind != kLit || c.args[0].lit.Kind != Num
	})
}

// checkBand holds a step table written out to its form: pairs of a number and a value, bounds from high to low.
func checkBand(b *builder, n *node) {
	cuts := n.args[1]
	if cuts.kind == kConst {
		checkPoints(n, cuts, cuts.lit, -1, false)
	}
	if cuts.kind != kList {
		return
	}
	if len(cuts.args) == 0 || !isCuts(cuts) {
		refuse(cuts.place, "write [(580, 0.40), (0, 0.31)]", "the cuts of a band are pairs of a number and a value")
	}
	t := typ(0)
	for i, c := range cuts.args {
		t |= c.args[1].typ
		if i > 0 && decimal.Cmp(cuts.args[i-1].args[0].lit.Num, c.args[0].lit.Num) <= 0 {
			refuse(c.place, "the first bound that is reached decides", "the bounds of a band go from high to low")
		}
	}
	n.typ = t
}

// readPoints are the pairs of a table; bad if it has another form. direction is 1 for ascending, −1 for descending
// first numbers.
func (ev *evaluator) readPoints(n *node, v Val, direction int, numeric bool) ([]Val, *Val) {
	if v.Kind == Missing {
		return nil, &v
	}
	ev.chargeWork(len(v.List))
	if why := badPoints(v, direction, numeric); why != "" {
		bad := Absent(why)
		ev.addIssue("operand_type", v.Pointer(), "the table of %s: %s", n.fn.name, why)
		return nil, &bad
	}
	return v.List, nil
}

func badPoints(v Val, direction int, numeric bool) string {
	if v.Kind != List || len(v.List) == 0 {
		return "it is not a list of pairs"
	}
	for i, p := range v.List {
		if p.Kind != List || len(p.List) != 2 || p.List[0].Kind != Num || numeric && p.List[1].Kind != Num {
			return "an item is not a pair of a number and a value"
		}
		if i > 0 && decimal.Cmp(p.List[0].Num, v.List[i-1].List[0].Num)*direction <= 0 {
			return "its first numbers are not in order"
		}
	}
	return ""
}

func checkPoints(n, at *node, v Val, direction int, numeric bool) {
	if why := badPoints(v, direction, numeric); why != "" {
		refuse(at.place, "see "+n.fn.signatureText(), "the table of %s: %s", n.fn.name, why)
	}
}

func checkPiecewise(b *builder, n *node) {
	if n.args[1].kind == kConst {
		checkPoints(n, n.args[1], n.args[1].lit, 1, true)
	}
}

// evalPiecewise interpolates linearly between points, and is flat beyond the first and the last.
func evalPiecewise(ev *evaluator, n *node, args []Val) Val {
	pts, bad := ev.readPoints(n, args[1], 1, true)
	if bad != nil {
		return *bad
	}
	x := args[0].Num
	for i, p := range pts {
		if decimal.Cmp(x, p.List[0].Num) > 0 {
			continue
		}
		if i == 0 {
			return p.List[1]
		}
		return ev.numberResult(n)(interpolateBetween(x, pts[i-1], p))
	}
	return pts[len(pts)-1].List[1]
}

// interpolateBetween is y1 + (x − x1)·(y2 − y1)/(x2 − x1), the division last so that knots are exact.
func interpolateBetween(x *decimal.Num, p, q Val) (*decimal.Num, error) {
	x1, y1, x2, y2 := p.List[0].Num, p.List[1].Num, q.List[0].Num, q.List[1].Num
	dx, err := decimal.Sub(x, x1)
	if err != nil {
		return nil, err
	}
	dy, err := decimal.Sub(y2, y1)
	if err != nil {
		return nil, err
	}
	span, err := decimal.Sub(x2, x1)
	if err != nil {
		return nil, err
	}
	rise, err := decimal.Mul(dx, dy)
	if err != nil {
		return nil, err
	}
	part, err := decimal.Quo(rise, span)
	if err != nil {
		return nil, err
	}
	return decimal.Add(y1, part)
}
