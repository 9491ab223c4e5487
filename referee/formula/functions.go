package formula

import (
	"fmt"

	"github.com/defendableos/referee/internal/decimal"
)

// function is one function of the language.
type function struct {
	name     string
	min, max int
	usage    string
	lists    bool // its arguments may be lists
	cost     int  // units of work a call or, where it reads lists, an element takes
	call     func(args []Input) (*decimal.Num, error)
}

// many stands for "any number of arguments": a formula has at most 512 parts.
const many = MaxNodes

// functionTable is the whole list (S13b).
var functionTable = []*function{
	{"abs", 1, 1, "abs(x)", false, 1, unaryCall(func(a *decimal.Num) (*decimal.Num, error) {
		return decimal.Abs(a),
			nil
	})},
	{"min", 1, many, "min(a, b, …) or min(list)", true, 1,
		foldCall(func(a, b *decimal.Num) (*decimal.Num, error) { return pickByOrder(a, b, 1), nil })},
	{"max", 1, many, "max(a, b, …) or max(list)", true, 1,
		foldCall(func(a, b *decimal.Num) (*decimal.Num, error) { return pickByOrder(a, b, -1), nil })},
	{"sum", 1, many, "sum(a, b, …) or sum(list)", true, 1, sumArguments},
	{"avg", 1, many, "avg(a, b, …) or avg(list)", true, 1, averageArguments},
	{"round", 1, 2, "round(x) or round(x, places)", false, 1, roundCall},
	{"sqrt", 1, 1, "sqrt(x)", false, 10, unaryCall(decimal.Sqrt)},
	{"exp", 1, 1, "exp(x)", false, 60, unaryCall(decimal.Exp)},
	{"ln", 1, 1, "ln(x)", false, 100, unaryCall(decimal.Ln)},
	{"log", 1, 2, "log(x) or log(x, base)", false, 200,
		func(a []Input) (*decimal.Num, error) { return decimal.Log(a[0].Num, a[1].Num) }},
	{"log10", 1, 1, "log10(x)", false, 200, unaryCall(decimal.Log10)},
	{"floor", 1, 1, "floor(x)", false, 2, unaryCall(decimal.Floor)},
	{"ceil", 1, 1, "ceil(x)", false, 2, unaryCall(decimal.Ceil)},
	{"pow", 2, 2, "pow(x, y)", false, costPow, nil}, // parsed as x ** y
	{"pmt", 3, 3, "pmt(rate, n, pv)", false, 2 * costPow,
		func(a []Input) (*decimal.Num, error) { return decimal.Pmt(a[0].Num, a[1].Num, a[2].Num) }},
	{"npv", 2, many, "npv(rate, cash_flows)", true, 16, npvCall},
	{"irr", 1, many, "irr(cash_flows)", true, 400,
		func(a []Input) (*decimal.Num, error) { return decimal.Irr(flattenArguments(a)) }},
	{"len", 1, 1, "len(list)", true, 0,
		func(a []Input) (*decimal.Num, error) { return decimal.FromInt(int64(len(a[0].List))), nil }},
}

// costPow is the work of a power in units of about a quarter of a microsecond.
const costPow = 100

var functions, functionNames = indexFunctions(functionTable)

func indexFunctions(table []*function) (map[string]*function, []string) {
	m, names := make(map[string]*function, len(table)), make([]string, 0, len(table))
	for _, f := range table {
		m[f.name] = f
		names = append(names, f.name)
	}
	return m, names
}

// arityText words how many arguments f takes.
func (f *function) arityText() string {
	switch {
	case f.max == many:
		return fmt.Sprintf("%d or more arguments", f.min)
	case f.min != f.max:
		return fmt.Sprintf("%d or %d arguments", f.min, f.max)
	case f.min == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", f.min)
}

// unaryCall makes a call of a function of one number.
func unaryCall(f func(*decimal.Num) (*decimal.Num, error)) func([]Input) (*decimal.Num, error) {
	return func(a []Input) (*decimal.Num, error) { return f(a[0].Num) }
}

// foldCall makes a call that joins all numbers, of which there must be one.
func foldCall(f func(a, b *decimal.Num) (*decimal.Num, error)) func([]Input) (*decimal.Num, error) {
	return func(args []Input) (*decimal.Num, error) {
		ns := flattenArguments(args)
		if len(ns) == 0 {
			return nil, fmt.Errorf("an empty list: %w", decimal.ErrUndefined)
		}
		r := ns[0]
		for _, n := range ns[1:] {
			var err error
			if r, err = f(r, n); err != nil {
				return nil, err
			}
		}
		return r, nil
	}
}

// pickByOrder is b where a compares with it as order says, else a.
func pickByOrder(a, b *decimal.Num, order int) *decimal.Num {
	if decimal.Cmp(a, b) == order {
		return b
	}
	return a
}

func sumArguments(args []Input) (*decimal.Num, error) {
	return foldCall(decimal.Add)(append([]Input{{Num: new(decimal.Num)}}, args...))
}

func averageArguments(args []Input) (*decimal.Num, error) {
	total, err := sumArguments(args)
	if err != nil {
		return nil, err
	}
	return decimal.Quo(total, decimal.FromInt(int64(len(flattenArguments(args)))))
}

func roundCall(args []Input) (*decimal.Num, error) {
	if len(args) == 1 {
		return decimal.Round(args[0].Num, 0)
	}
	places, ok := args[1].Num.Int64()
	if !ok {
		return nil, fmt.Errorf("rounding to %s places: %w", args[1].Num, decimal.ErrUndefined)
	}
	return decimal.Round(args[0].Num, int(max(min(places, 1000), -1000)))
}

// npvCall takes the rate and then the flows, as a list or one by one.
func npvCall(args []Input) (*decimal.Num, error) {
	return decimal.Npv(args[0].Num, flattenArguments(args[1:]))
}

// flattenArguments is the numbers of the arguments in order, lists opened.
func flattenArguments(args []Input) []*decimal.Num {
	if len(args) == 1 && args[0].Num == nil {
		return args[0].List
	}
	var ns []*decimal.Num
	for _, a := range args {
		if a.Num != nil {
			ns = append(ns, a.Num)
		} else {
			ns = append(ns, a.List...)
		}
	}
	return ns
}
