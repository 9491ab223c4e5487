package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// Kind is the type of a value at run time.
type Kind uint8

// The kinds. Missing is what null, an absent member and an undefined result are.
const (
	Missing Kind = iota
	Bool
	Num
	Str
	List
	Obj
)

// String names a kind as a message does.
func (k Kind) String() string {
	return [...]string{"missing", "true/false", "number", "text", "list", "object"}[k]
}

// Val is a value: of an operand, of a part of an expression, of the whole.
type Val struct {
	Kind    Kind
	Bool    bool
	Num     *decimal.Num
	Str     string
	List    []Val
	Members []Entry // of an object made by the language (a row of pairs or entries); document objects have JSON instead

	JSON *strictjson.Value // where the value came from the document
	Ptr  string            // JSON Pointer where the value came from, if it was noted
	Why  string            // of a missing value: the reason
}

// Entry is one member of an object made by the language.
type Entry struct {
	Key string
	Val Val
}

// Number makes a number value.
func Number(n *decimal.Num) Val { return Val{Kind: Num, Num: n} }

// Text makes a text value.
func Text(s string) Val { return Val{Kind: Str, Str: s} }

// Truth makes a true/false value.
func Truth(b bool) Val { return Val{Kind: Bool, Bool: b} }

// Absent makes a missing value with its reason.
func Absent(why string) Val { return Val{Why: why} }

func listValue(items []Val) Val { return Val{Kind: List, List: items} }

func integerValue(i int) Val { return Number(decimal.FromInt(int64(i))) }

// FromJSON makes the value that a document holds: null and an out-of-range number are missing (S11, S25).
func FromJSON(v *strictjson.Value) Val {
	if v == nil {
		return Absent("absent")
	}
	out := Val{JSON: v}
	switch v.Kind {
	case strictjson.Null:
		out.Why = "null"
	case strictjson.Bool:
		out.Kind, out.Bool = Bool, v.Text == "true"
	case strictjson.Number:
		out = numberFromJSON(out, v)
	case strictjson.String:
		out.Kind, out.Str = Str, v.Text
	case strictjson.Object:
		out.Kind = Obj
	case strictjson.Array:
		out.Kind, out.List = List, make([]Val, len(v.Items))
		for i, item := range v.Items {
			out.List[i] = FromJSON(item)
		}
	}
	return out
}

// Value is FromJSON with lists made once for all evaluations of the environment. Nobody writes to them.
func (e *Env) Value(v *strictjson.Value) Val {
	ev := evaluator{work: e.Work, made: e.Lists}
	if ev.made == nil {
		return FromJSON(v)
	}
	return ev.fromJSON(v)
}

// fromJSON is FromJSON, where a list is paid for once, when it is made. Without room for it, it is missing.
func (ev *evaluator) fromJSON(v *strictjson.Value) Val {
	if v == nil || v.Kind != strictjson.Array {
		return FromJSON(v)
	}
	items, known := ev.made[v]
	if !known {
		if !ev.chargeWork(2 * len(v.Items)) {
			return Absent(tooMuchWork)
		}
		items = make([]Val, len(v.Items))
		for i, item := range v.Items {
			items[i] = ev.fromJSON(item)
		}
		ev.made[v] = items
	}
	return Val{Kind: List, JSON: v, List: items}
}

// tooMuchWork is why a value is missing that the audit's meter has no room for.
const tooMuchWork = "the rule takes too much work"

func numberFromJSON(out Val, v *strictjson.Value) Val {
	n, err := decimal.Parse(v.Text)
	if err != nil || v.OutOfRange {
		out.Why = "number out of range"
		return out
	}
	out.Kind, out.Num = Num, n
	return out
}

// Pointer is the JSON Pointer of a value that came from a document, "" otherwise.
func (v Val) Pointer() string {
	if v.Ptr != "" || v.JSON == nil {
		return v.Ptr
	}
	return v.JSON.Pointer()
}

// Member is a member of an object, missing (with reason) where there is none.
func (v Val) Member(key string) Val { return v.memberWith(key, FromJSON) }

// memberValue is Member for the evaluator.
func (ev *evaluator) memberValue(v Val, key string) Val { return v.memberWith(key, ev.fromJSON) }

func (v Val) memberWith(key string, value func(*strictjson.Value) Val) Val {
	if v.JSON != nil && v.JSON.Kind == strictjson.Object {
		if m := v.JSON.Get(key); m != nil {
			return value(m)
		}
	}
	for _, e := range v.Members {
		if e.Key == key {
			return e.Val
		}
	}
	return Absent("no member " + strconv.Quote(key) + atPointer(v.Pointer()))
}

func atPointer(pointer string) string {
	if pointer == "" {
		return ""
	}
	return " at " + pointer
}

// hasMember says whether an object has a member, null or not.
func (v Val) hasMember(key string) bool {
	if v.JSON != nil {
		return v.JSON.Get(key) != nil
	}
	return slices.ContainsFunc(v.Members, func(e Entry) bool { return e.Key == key })
}

// memberEntries lists an object's members in document order.
func (v Val) memberEntries() []Entry {
	if v.JSON == nil || v.JSON.Kind != strictjson.Object {
		return v.Members
	}
	out := make([]Entry, len(v.JSON.Members))
	for i, m := range v.JSON.Members {
		out[i] = Entry{m.Key, FromJSON(m.Value)}
	}
	return out
}

// memberCount is how many members an object has.
func (v Val) memberCount() int {
	if v.JSON == nil || v.JSON.Kind != strictjson.Object {
		return len(v.Members)
	}
	return len(v.JSON.Members)
}

// keyWork is the work of making the key of a value.
func (v Val) keyWork() int {
	switch {
	case v.JSON != nil:
		return 1 + (v.JSON.End-v.JSON.Pos.Offset)/8
	case v.Kind == Str:
		return 1 + len(v.Str)/16
	}
	n := 1
	for _, item := range v.List {
		n += item.keyWork()
	}
	for _, e := range v.Members {
		n += 1 + len(e.Key)/16 + e.Val.keyWork()
	}
	return n
}

// keyOf is the key of a value, paid for.
func (ev *evaluator) keyOf(v Val) string {
	if !ev.chargeWork(v.keyWork()) {
		return ""
	}
	return v.keyText()
}

// String prints a value for a message: shortened to 80 code points, never empty.
func (v Val) String() string {
	const most = 80
	s := v.writtenText()
	if v.Kind == Missing {
		s = "missing"
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}

// keyText is a text equal for equal values and different for different ones: numbers as their 28 digits, texts quoted,
// so that no number is ever the text that looks like it, and as people see them (S80). It is the identity that sets
// work with.
func (v Val) keyText() string { return v.printWith(legible.Fold) }

// writtenText is key with the texts as they are written.
func (v Val) writtenText() string { return v.printWith(func(s string) string { return s }) }

func (v Val) printWith(text func(string) string) string {
	var b strings.Builder
	v.writeKey(&b, text)
	return b.String()
}

func (v Val) writeKey(b *strings.Builder, text func(string) string) {
	switch v.Kind {
	case Missing:
		b.WriteString("null")
	case Bool:
		b.WriteString(strconv.FormatBool(v.Bool))
	case Num:
		b.WriteString(v.Num.String())
	case Str:
		writeJSONString(b, text(v.Str))
	case List:
		for i, item := range v.List {
			b.WriteByte("[,"[min(i, 1)])
			item.writeKey(b, text)
		}
		if len(v.List) == 0 {
			b.WriteByte('[')
		}
		b.WriteByte(']')
	case Obj:
		v.writeObjectKey(b, text)
	}
}

func (v Val) writeObjectKey(b *strings.Builder, text func(string) string) {
	entries := slices.Clone(v.memberEntries())
	slices.SortFunc(entries, func(x, y Entry) int { return strings.Compare(x.Key, y.Key) })
	b.WriteByte('{')
	for i, e := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		writeJSONString(b, text(e.Key))
		b.WriteByte(':')
		e.Val.writeKey(b, text)
	}
	b.WriteByte('}')
}

// typeSignature is the type of a value, of a list the types of its items: sets of different signatures have nothing to
// compare.
func (v Val) typeSignature() string {
	if v.Kind != List {
		return v.Kind.String()
	}
	parts := make([]string, 0, 2)
	for _, item := range v.List {
		if s := item.typeSignature(); !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	slices.Sort(parts)
	return "[" + strings.Join(parts, " ") + "]"
}
