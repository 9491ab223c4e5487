package forge

import (
	"fmt"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// condition writes a condition over a and b from bytes: a small grammar that reaches every branch of the reasoning.
func condition(code []byte, depth int) (string, []byte) {
	if len(code) < 4 {
		return "a >= 1", nil
	}
	op, rest := code[0]%12, code[1:]
	pair := func(format string) (string, []byte) {
		left, rest := condition(rest, depth+1)
		right, rest := condition(rest, depth+1)
		return fmt.Sprintf(format, left, right), rest
	}
	if depth < 4 {
		switch op {
		case 0, 1:
			return pair("(%s and %s)")
		case 2, 3:
			return pair("(%s or %s)")
		case 4:
			return pair("implies(%s, %s)")
		case 5:
			inner, rest := condition(rest, depth+1)
			return "not (" + inner + ")", rest
		}
	}
	compare := []string{"<", "<=", ">", ">=", "==", "!="}[rest[0]%6]
	terms := []string{"a", "b", "2 * a", "a - b", "-b", "a + 1", "abs(a)", "min(a, b)", "a / b", "b * b",
		"(3 if a > 2 else b)"}
	left, n := terms[int(rest[1])%len(terms)], int(rest[2]%13)-2
	switch op {
	case 6:
		return fmt.Sprintf("%d %s %s %s %d", n, compare, left, compare, n+3), rest[3:]
	case 7:
		return fmt.Sprintf("%s in [%d, %d]", left, n, n+1), rest[3:]
	case 8:
		return fmt.Sprintf("%s %s %s", left, compare, terms[(n+2)%len(terms)]), rest[3:]
	}
	return fmt.Sprintf("%s %s %d", left, compare, n), rest[3:]
}

// FuzzReasoning: what the engine finds true is never reasoned to be impossible, and what it finds false never to be
// certain.
func FuzzReasoning(f *testing.F) {
	f.Add([]byte{0, 9, 3, 0, 5, 9, 1, 0, 3}, int64(4), int64(2))
	f.Add([]byte{4, 6, 1, 3, 2, 5, 8, 4, 6, 7, 1, 2, 3}, int64(-1), int64(10))
	f.Add([]byte{2, 7, 0, 8, 4, 0, 9, 5, 10, 3, 9, 2, 7, 1}, int64(3), int64(1))
	f.Fuzz(func(t *testing.T, code []byte, a, b int64) {
		if a > 20 || a < -20 || b < 1 || b > 10 { // the schema of the sketch says where b lies
			return
		}
		text, _ := condition(code, 0)
		src := sketch(gate("g", "a >= 1"), "")
		sheet, err := referee.LoadSheet([]byte(src), "s", "library")
		if err != nil {
			t.Fatal(err)
		}
		e, err := sheet.Compile(jsonString(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		doc := fmt.Sprintf(`{"inputs": {"a": %d, "b": %d}}`, a, b)
		truth := referee.NewProbe(referee.Case{Sheet: sheet, Bytes: []byte(doc)}).Eval(e, nil).Truth
		r := newRanges(sheet)
		switch tree := treeOf(e); {
		case truth == policy.True && !r.casesWhere(tree, true).isPossible():
			t.Fatalf("%s holds at %s and is reasoned to be impossible", text, doc)
		case truth == policy.False && !r.casesWhere(tree, false).isPossible():
			t.Fatalf("%s fails at %s and is reasoned to be certain", text, doc)
		}
	})
}

// TestLinear: 2 * (a - 3) / 4 + b - (b - 1) is 0.5 a - 0.5 by hand.
func TestLinear(t *testing.T) {
	sheet := loadSheet(t, sketch(gate("g", "a >= 1"), ""))
	e, err := sheet.Compile(jsonString("2 * (a - 3) / 4 + b - (b - 1)"))
	if err != nil {
		t.Fatal(err)
	}
	f, ok := newRanges(sheet).linearForm(treeOf(e))
	if !ok || len(f.terms) != 1 || f.terms[0].factor.String() != "0.5" ||
		decimal.Cmp(f.constant, decimal.MustParse("-0.5")) != 0 {
		t.Errorf("%+v", f)
	}
	if v := treeOf(e); v.Kind != strictjson.Object {
		t.Errorf("%v", v.Kind)
	}
}
