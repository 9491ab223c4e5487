package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
)

// set is a list as a set: the keys of its items, and the types they have.
type set struct {
	keys  map[string]bool
	types []string
}

var errNullItem = errors.New("an item of the list is null")

// nullIn notes the first item of a list that is null, so that a reader learns which: where it stands in the submission,
// else which one it is.
func (ev *evaluator) nullIn(items []Val) Val {
	for i, item := range items {
		if item.Kind == List && item.holdsNull() {
			return ev.nullIn(item.List)
		}
		if item.Kind != Missing {
			continue
		}
		m := MissingOperand{Kind: "field", Name: item.Pointer(), Pointer: item.Pointer(),
			Why: fmt.Sprintf("item %d of the list is null", i+1)}
		if m.Name == "" {
			m.Name = fmt.Sprintf("item %d of the list", i+1)
		}
		if len(ev.missing) < maxIssues && !slices.Contains(ev.missing, m) {
			ev.missing = append(ev.missing, m)
		}
		out := Absent(m.Why)
		out.Ptr = m.Pointer
		return out
	}
	return Absent(errNullItem.Error())
}

func (ev *evaluator) newSet(v Val) (set, error) {
	s := set{keys: make(map[string]bool, len(v.List))}
	for _, item := range v.List {
		if item.Kind == Missing {
			return s, errNullItem
		}
		if s.keys[ev.keyOf(item)] = true; ev.isExhausted() {
			break
		}
		if t := item.typeSignature(); !slices.Contains(s.types, t) {
			s.types = append(s.types, t)
		}
	}
	slices.Sort(s.types)
	return s, nil
}

// readSets makes the two sets of a comparison. Sets whose items differ in type have nothing to compare: the answer
// would be false (or, for disjoint, true) by accident, so it is unknown, with an issue (S25).
func (ev *evaluator) readSets(n *node, args []Val) (a, b set, bad *Val) {
	var err error
	if a, err = ev.newSet(args[0]); err == nil {
		b, err = ev.newSet(args[1])
	}
	if err != nil {
		v := ev.nullIn(slices.Concat(args[0].List, args[1].List))
		return a, b, &v
	}
	if len(a.types) > 0 && len(b.types) > 0 && !slices.Equal(a.types, b.types) {
		text, _ := printText(n.args[0])
		ev.addIssue("operand_type", args[0].Pointer(), "%s holds %v, and what %s compares it with holds %v", text, a.types,
			n.fn.name, b.types)
		v := Absent("lists of different types")
		return a, b, &v
	}
	return a, b, nil
}

// countCommon counts the keys of a that are in b.
func countCommon(a, b set) int {
	n := 0
	for k := range a.keys {
		if b.keys[k] {
			n++
		}
	}
	return n
}

// setTest makes a predicate of two sets.
func setTest(test func(a, b set) bool) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		a, b, bad := ev.readSets(n, args)
		if bad != nil {
			return *bad
		}
		return Truth(test(a, b))
	}
}

// setList makes a list from two: the items of the first, then of the second, that keep says, each once and in their
// order.
func setList(keep func(inA, inB bool) bool) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		a, b, bad := ev.readSets(n, args)
		if bad != nil {
			return *bad
		}
		var out []Val
		seen := map[string]bool{}
		for _, item := range append(slices.Clone(args[0].List), args[1].List...) {
			k := ev.keyOf(item)
			if !seen[k] && keep(a.keys[k], b.keys[k]) {
				out = append(out, item)
			}
			seen[k] = true
		}
		return listValue(out)
	}
}

// evalJaccard is |a ∩ b| / |a ∪ b|; two empty sets are the same set, 1.
func evalJaccard(ev *evaluator, n *node, args []Val) Val {
	a, b, bad := ev.readSets(n, args)
	if bad != nil {
		return *bad
	}
	both := countCommon(a, b)
	all := len(a.keys) + len(b.keys) - both
	if all == 0 {
		return integerValue(1)
	}
	q, err := decimal.Quo(decimal.FromInt(int64(both)), decimal.FromInt(int64(all)))
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	return Number(q)
}

func evalDistinct(ev *evaluator, n *node, args []Val) Val {
	if _, err := ev.newSet(args[0]); err != nil {
		return Absent(err.Error())
	}
	var out []Val
	seen := map[string]bool{}
	for _, item := range args[0].List {
		if k := ev.keyOf(item); !seen[k] {
			seen[k] = true
			out = append(out, item)
		}
	}
	return listValue(out)
}

// evalUnique: two equal items are a repetition whatever else is null; otherwise a null leaves it open.
func evalUnique(ev *evaluator, n *node, args []Val) Val {
	seen, null := map[string]bool{}, false
	for _, item := range args[0].List {
		ev.chargeWork(1)
		if item.Kind == Missing {
			null = true
			continue
		}
		k := ev.keyOf(item)
		if ev.isExhausted() {
			break
		}
		if seen[k] {
			return Truth(false)
		}
		seen[k] = true
	}
	if null {
		return ev.nullIn(args[0].List)
	}
	return Truth(true)
}

// sequenceFunction makes a predicate that holds between each item and the next: numbers, or dates.
func sequenceFunction(holds func(c int) bool) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		items, result := args[0].List, Truth(true)
		for i := range items {
			ev.chargeWork(1)
			if items[i].Kind == Missing {
				result = Absent(errNullItem.Error())
				continue
			}
			if i == 0 || items[i-1].Kind == Missing {
				continue
			}
			c, bad := ev.evalOrder(n.args[0], n.args[0], items[i], items[i-1], n.fn.name)
			switch {
			case bad != nil:
				return *bad
			case !holds(c):
				return Truth(false)
			}
		}
		if result.Kind == Missing {
			return ev.nullIn(items)
		}
		return result
	}
}

// evalContiguous: every number is the one before it plus 1.
func evalContiguous(ev *evaluator, n *node, args []Val) Val {
	nums, bad := ev.flattenNumbers(n, args)
	if bad != nil {
		return *bad
	}
	for i := 1; i < len(nums); i++ {
		next, err := decimal.Add(nums[i-1], decimal.FromInt(1))
		if err != nil || decimal.Cmp(next, nums[i]) != 0 {
			return Truth(false)
		}
	}
	return Truth(true)
}

// evalPairs makes a row {a, b} of each item and the next.
func evalPairs(ev *evaluator, n *node, args []Val) Val {
	items := args[0].List
	ev.chargeWork(len(items))
	var out []Val
	for i := 1; i < len(items); i++ {
		out = append(out, Val{Kind: Obj, Members: []Entry{{"a", items[i-1]}, {"b", items[i]}}, Ptr: items[i].Pointer()})
	}
	return listValue(out)
}

// evalEntries makes a row {key, value} of each member, in document order.
func evalEntries(ev *evaluator, n *node, args []Val) Val {
	if !ev.chargeWork(4 * args[0].memberCount()) {
		return Absent(tooMuchWork)
	}
	members := args[0].memberEntries()
	out := make([]Val, len(members))
	for i, m := range members {
		out[i] = Val{Kind: Obj, Members: []Entry{{"key", Text(m.Key)}, {"value", m.Val}}, Ptr: m.Val.Pointer()}
	}
	return listValue(out)
}
