package formula

import (
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
)

// Input is the value of a variable: a number or a list of numbers. Where both are set the number counts; where neither
// is, the variable is missing.
type Input struct {
	Num  *decimal.Num
	List []*decimal.Num
}

// Inputs are the values of variables by name.
type Inputs map[string]Input

// maxWork bounds one evaluation, in units of about a quarter of a microsecond: a formula of irr over long lists is
// refused before it costs a second.
const maxWork = 1_000_000

// Eval computes the formula by itself; see EvalWithin.
func (f *Formula) Eval(in Inputs) (*decimal.Num, error) { return f.EvalWithin(in, nil) }

// EvalWithin computes the formula, and takes the work from the meter of the audit that it belongs to (nil: from none).
// The error is a *MissingError, or an *EvalError that wraps one of package decimal's errors (or a
// *MissingError where a list stands for a number) and says which part has no value.
func (f *Formula) EvalWithin(in Inputs, meter *decimal.Meter) (*decimal.Num, error) {
	values, err := f.bindVariables(in)
	if err != nil {
		return nil, err
	}
	stack := make([]Input, 0, f.depth)
	work := 0
	for _, n := range f.program {
		switch n.op {
		case opNum:
			stack = append(stack, Input{Num: n.num})
			continue
		case opVar:
			stack = append(stack, values[n.slot])
			continue
		}
		first := len(stack) - len(n.args)
		args := stack[first:]
		cost := n.nodeCost(args)
		work += cost
		r, err := n.applyNode(args, work, meter.Take(cost))
		if err != nil {
			return nil, &EvalError{Col: n.col, Expr: legible.Clip(n.String(), 120), Err: err}
		}
		stack = append(stack[:first], Input{Num: r})
	}
	if stack[0].Num == nil { // the formula is the name of a list and no more
		return nil, &EvalError{Col: f.root.col, Expr: f.root.name, Err: &MissingError{Name: f.root.name}}
	}
	return stack[0].Num, nil
}

// bindVariables finds the value of every variable.
func (f *Formula) bindVariables(in Inputs) ([]Input, error) {
	values := make([]Input, len(f.vars))
	for i, name := range f.vars {
		v := in[name]
		if v.Num != nil {
			v.List = nil
		} else if v.List == nil || slices.Contains(v.List, nil) {
			return nil, &MissingError{Name: name}
		}
		values[i] = v
	}
	return values, nil
}

// nodeCost is the work of a node, in the units of maxWork.
func (n *node) nodeCost(args []Input) int {
	switch {
	case n.op == opPow:
		return costPow
	case n.op != opCall:
		return 2
	case !n.fn.lists:
		return n.fn.cost
	}
	elements := len(args)
	for _, a := range args {
		elements += len(a.List)
	}
	return n.fn.cost * elements
}

// applyNode computes one node from its arguments.
func (n *node) applyNode(args []Input, work int, room bool) (*decimal.Num, error) {
	if work > maxWork {
		return nil, fmt.Errorf("too much work for one formula: %w", decimal.ErrTooLarge)
	}
	if !room {
		return nil, fmt.Errorf("the formulas of the audit take too much work: %w", decimal.ErrTooLarge)
	}
	if err := n.checkKinds(args); err != nil {
		return nil, err
	}
	switch n.op {
	case opCall:
		return n.fn.call(args)
	case opNeg:
		return decimal.Neg(args[0].Num), nil
	}
	return arithmetic[n.op](args[0].Num, args[1].Num)
}

var arithmetic = map[operator]func(a, b *decimal.Num) (*decimal.Num, error){
	opAdd: decimal.Add, opSub: decimal.Sub, opMul: decimal.Mul, opDiv: decimal.Quo, opFloorDiv: decimal.FloorDiv,
	opMod: decimal.Mod, opPow: decimal.Pow,
}

// checkKinds refuses a list where a number is needed, and the reverse. Only a variable can be a list.
func (n *node) checkKinds(args []Input) error {
	for i, a := range args {
		isList := a.Num == nil
		switch {
		case n.op == opCall && n.fn.name == "len":
			if !isList {
				return &MissingError{Name: n.args[i].name, List: true}
			}
		case n.op == opCall && n.fn.lists && (n.fn.name != "npv" || i > 0):
		case isList:
			return &MissingError{Name: n.args[i].name}
		}
	}
	return nil
}
