package policy

import (
	"fmt"
	"strconv"

	"github.com/defendableos/referee/internal/strictjson"
)

// evalLeaf evaluates a name or a path, lists it for the proof, and notes it where it is missing.
func (ev *evaluator) evalLeaf(n *node) Val {
	v, kind, from := ev.lookUp(n)
	if v.Kind == Missing {
		v = ev.noteMissing(n, kind, v)
	}
	return ev.noteOperand(n, v, from)
}

func (ev *evaluator) lookUp(n *node) (v Val, kind, from string) {
	switch n.kind {
	case kCalc, kClaimed:
		return ev.evalCalc(n)
	case kConst:
		return n.lit, "const", "const"
	case kInput:
		return ev.evalInput(n.name), "input", ""
	case kRow, kField:
		return ev.evalField(n), "field", ""
	case kSpace:
		return ev.evalSpace(n.name), "space", ""
	}
	return ev.evalPath(n)
}

func (ev *evaluator) evalCalc(n *node) (Val, string, string) {
	from := "recomputed"
	if n.kind == kClaimed {
		from = "claimed"
	}
	if ev.env.Calc == nil {
		return Absent("no calculations here"), "calc", from
	}
	v := ev.env.Calc(n.name, n.kind == kClaimed)
	if v.Kind == Missing && v.Why == "" {
		v.Why = "no calculation " + quoteShort(n.name)
	}
	return v, "calc", from
}

func (ev *evaluator) evalInput(name string) Val {
	if n := ev.env.Override[name]; n != nil {
		return Number(n)
	}
	if v, ok := ev.lists[name]; ok {
		return v
	}
	v := ev.memberOf(ev.env.InputsRoot, name, "/inputs")
	if v.Kind == List {
		if ev.lists == nil {
			ev.lists = map[string]Val{}
		}
		ev.lists[name] = v
	}
	return v
}

// memberOf is a member of a document object with the pointer where it is, or should be.
func (ev *evaluator) memberOf(of *strictjson.Value, name, at string) Val {
	m := of.Get(name)
	if m == nil {
		v := Absent(fmt.Sprintf("no member %s at %s", strconv.Quote(name), at))
		v.Ptr = strictjson.JoinPointer(at, name)
		return v
	}
	v := ev.fromJSON(m)
	v.Ptr = m.Pointer()
	return v
}

func (ev *evaluator) evalSpace(name string) Val {
	if ev.env.Space == nil {
		return Absent(name + " is not known here")
	}
	v := ev.env.Space(name)
	if !ev.chargeWork(8 * len(v.List)) {
		return Absent(tooMuchWork)
	}
	return v
}

// evalField is the row, or a field of it. A row that is no object is named x.
func (ev *evaluator) evalField(n *node) Val {
	scope := ev.row
	for range n.up {
		if scope != nil {
			scope = scope.Up
		}
	}
	if scope == nil {
		return Absent("there is no row here")
	}
	row := scope.Row
	switch {
	case n.kind == kRow:
		return row
	case row.Kind == Obj:
		v := ev.memberValue(row, n.name)
		if v.Kind != Missing && v.JSON != nil && ev.nested == 0 {
			v.Ptr = v.JSON.Pointer()
		}
		return v
	case n.name == "x":
		return row
	}
	return Absent("the row is not an object; it is named x")
}

func (ev *evaluator) evalPath(n *node) (Val, string, string) {
	base, kind := Val{}, "field"
	switch {
	case n.name == "":
		base = ev.fromJSON(ev.env.Root)
	case n.name == "row":
		base = ev.evalField(&node{kind: kRow})
	default:
		base, kind = ev.evalSpace(n.name), "space"
	}
	return ev.walkSteps(base, n.path, ""), kind, ""
}

// walkSteps walks a path. Each [*] makes a list of what lies behind it, missing items included: they are never dropped.
func (ev *evaluator) walkSteps(v Val, path []seg, at string) Val {
	for i, s := range path {
		if v.Kind == Missing {
			break
		}
		if s.wild {
			return ev.spreadList(v, path[i+1:], at)
		}
		at = strictjson.JoinPointer(at, s.key)
		v = ev.stepInto(v, s)
		if v.Kind == Missing && v.Ptr == "" {
			v.Ptr = at
		}
	}
	if v.JSON != nil && v.Ptr == "" {
		v.Ptr = v.JSON.Pointer()
	}
	return v
}

func (ev *evaluator) spreadList(v Val, rest []seg, at string) Val {
	if v.Kind != List {
		return Absent("no list at " + at)
	}
	out := Val{Kind: List, JSON: v.JSON, List: make([]Val, len(v.List))}
	for i, item := range v.List {
		if !ev.chargeWork(1) {
			return Absent(tooMuchWork)
		}
		out.List[i] = ev.walkSteps(item, rest, strictjson.JoinIndex(at, i))
	}
	return out
}

// stepInto is a member of an object or an item of a list; any other value has no parts, so they are missing (S28).
func (ev *evaluator) stepInto(v Val, s seg) Val {
	if v.Kind == List && s.index {
		i, _ := strconv.Atoi(s.key)
		return v.itemAt(i)
	}
	if v.Kind == Obj {
		return ev.memberValue(v, s.key)
	}
	return Absent(fmt.Sprintf("no member %s: %s is %s", strconv.Quote(s.key), orRoot(v.Pointer()), withArticle(v.Kind)))
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "the value"
	}
	return pointer
}

// itemAt is an item of a list; negative places count from the end.
func (v Val) itemAt(i int) Val {
	if i < 0 {
		i += len(v.List)
	}
	if i < 0 || i >= len(v.List) {
		return Absent(fmt.Sprintf("a list of %d items has no such item%s", len(v.List), atPointer(v.Pointer())))
	}
	return v.List[i]
}

// evalPart is a member, an item or a slice of an operand.
func (ev *evaluator) evalPart(n *node) Val {
	before := len(ev.operands)
	base := ev.eval(n.args[0])
	if base.Kind == Missing {
		return base
	}
	ev.operands = ev.operands[:before] // the part is listed, not the whole
	var v Val
	switch n.kind {
	case kMember:
		v = ev.memberPart(n, base)
	case kIndex:
		v = ev.indexPart(n, base)
	default:
		v = ev.slicePart(n, base)
	}
	if v.Kind == Missing {
		v = ev.noteMissing(n, n.missingKind(), v)
	} else if v.JSON != nil && ev.nested == 0 {
		v.Ptr = v.JSON.Pointer()
	}
	return ev.noteOperand(n, v, "")
}

// missingKind is the kind of operand that a part is a part of.
func (n *node) missingKind() string {
	for n.kind == kMember || n.kind == kIndex || n.kind == kSlice {
		n = n.args[0]
	}
	switch n.kind {
	case kInput:
		return "input"
	case kConst:
		return "const"
	case kCalc, kClaimed:
		return "calc"
	case kSpace:
		return "space"
	}
	return "field"
}

func (ev *evaluator) memberPart(n *node, base Val) Val {
	if base.Kind != Obj {
		return ev.typeMismatch(n.args[0], base, tObj, "."+n.name)
	}
	v := ev.memberValue(base, n.name)
	if v.Kind == Missing && base.Pointer() != "" {
		v.Ptr = strictjson.JoinPointer(base.Pointer(), n.name)
	}
	return v
}

func (ev *evaluator) indexPart(n *node, base Val) Val {
	at := ev.eval(n.args[1])
	switch {
	case at.Kind == Missing:
		return at
	case base.Kind == Obj && at.Kind == Str:
		return ev.memberValue(base, at.Str)
	case base.Kind == Obj && at.Kind == Num:
		return ev.memberValue(base, at.Num.String())
	case base.Kind != List:
		return ev.typeMismatch(n.args[0], base, tList|tObj, "a subscript")
	case at.Kind != Num:
		return ev.typeMismatch(n.args[1], at, tNum, "the subscript of a list")
	}
	i, ok := listPlace(at)
	if !ok {
		return ev.typeMismatch(n.args[1], at, tNum, "the subscript of a list (a whole number)")
	}
	return base.itemAt(i)
}

// listPlace is a number as a place in a list.
func listPlace(v Val) (int, bool) {
	i, ok := v.Num.Int64()
	return int(i), ok && i == int64(int32(i))
}

func (ev *evaluator) slicePart(n *node, base Val) Val {
	if base.Kind != List {
		return ev.typeMismatch(n.args[0], base, tList, "a slice")
	}
	bounds := [2]int{0, len(base.List)}
	for i, a := range n.args[1:] {
		if a == nil {
			continue
		}
		v := ev.eval(a)
		if v.Kind == Missing {
			return v
		}
		k, ok := 0, false
		if v.Kind == Num {
			k, ok = listPlace(v)
		}
		if !ok {
			return ev.typeMismatch(a, v, tNum, "the bound of a slice (a whole number)")
		}
		if k < 0 {
			k += len(base.List)
		}
		bounds[i] = min(max(k, 0), len(base.List))
	}
	return listValue(base.List[bounds[0]:max(bounds[0], bounds[1])])
}
