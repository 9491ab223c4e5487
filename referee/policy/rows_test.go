package policy

import (
	"strings"
	"testing"
)

const rowsDoc = `{"inputs": {"fees": [{"name": "origination", "le": 100, "cd": 120, "bucket": "zero"},
	{"name": "title", "le": 50, "cd": 50, "bucket": "ten"},
	{"name": 7, "le": "50", "cd": 60, "bucket": "zero"}, {"cd": 60, "bucket": "zero"}, {"name": "x", "le": 1, "cd": 1}],
	"scalars": [3, 1, 2], "cap": 110, "one": 1, "none": null}}`

func rowNames() *Names {
	return &Names{Inputs: []string{"fees", "scalars", "cap", "one", "none", "gone"}}
}

func TestRows(t *testing.T) {
	names, root := rowNames(), jsonOf(t, rowsDoc)
	env := &Env{Root: root, InputsRoot: root.Get("inputs")}
	over := mustParse(t, "fees", names)
	check, where, err := over.RowPredicates(names, jsonOf(t, `"cd <= le"`),
		jsonOf(t, `{"op": "==", "left": {"row": "bucket"}, "right": "zero"}`))
	if err != nil {
		t.Fatal(err)
	}
	rows, whole := Rows(env, over, check, where, "name")
	if whole.Truth != True || len(rows) != 4 {
		t.Fatalf("%v, %d rows", whole.Truth, len(rows))
	}
	for i, want := range []struct {
		key, pointer string
		index        int
		truth        Truth3
		issue        string
	}{
		{"origination", "/inputs/fees/0", 0, False, ""},
		{"7", "/inputs/fees/2", 2, Unknown, "operand_type"}, // "50" is no number
		{"row 4", "/inputs/fees/3", 3, Unknown, "row_error"},
		{"x", "/inputs/fees/4", 4, Unknown, "row_error"}, // no bucket: not left out
	} {
		r := rows[i]
		code := ""
		if len(r.Result.Issues) > 0 {
			code = r.Result.Issues[0].Code
		}
		if r.Key != want.key || r.Pointer != want.pointer || r.Index != want.index || r.Result.Truth != want.truth ||
			code != want.issue {
			t.Errorf("row %d is %+v, want %+v", i, r, want)
		}
	}
	if got := rows[0].Result.Operands; len(got) != 2 || got[0].Text != "cd" || got[0].From != "/inputs/fees/0/cd" ||
		got[0].Val.String() != "120" {
		t.Errorf("operands %+v", got)
	}
	if is := rows[2].Result.Issues[0]; is.Pointer != "/inputs/fees/3" ||
		is.Message != `row 4 has no usable le: no member "le" at /inputs/fees/3` {
		t.Errorf("%+v", is)
	}
}

func TestRowsOfScalarsAndInputs(t *testing.T) {
	names, root := rowNames(), jsonOf(t, rowsDoc)
	env := &Env{Root: root, InputsRoot: root.Get("inputs")}
	over := mustParse(t, "scalars", names)
	check, _, err := over.RowPredicates(names, jsonOf(t, `"x > one and agg('all', scalars, 'x <= outer.x + 2')"`), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := check.EvalRows(env, over)
	var truths []string
	for _, r := range rows {
		truths = append(truths, r.Key+" "+r.Result.Truth.String())
	}
	if got := strings.Join(truths, ", "); got != "row 1 true, row 2 false, row 3 true" {
		t.Error(got)
	}
}

func TestRowsThatAreNone(t *testing.T) {
	names, root := rowNames(), jsonOf(t, rowsDoc)
	env := &Env{Root: root, InputsRoot: root.Get("inputs")}
	check := mustParse(t, "one == 1", names)
	for src, issues := range map[string]int{"gone": 0, "none": 0, "one": 1} {
		rows, whole := Rows(env, mustParse(t, src, names), check, nil, "")
		if rows != nil || whole.Truth != Unknown || len(whole.Issues) != issues || len(whole.Missing) != 1-issues {
			t.Errorf("%s: %v %+v", src, rows, whole)
		}
	}
}

func TestRowPredicatesAreRefused(t *testing.T) {
	names := rowNames()
	names.RowFields = func(path string) []string { return map[string][]string{"inputs.fees": {"cap"}}[path] }
	over := mustParse(t, "fees", names)
	if _, _, err := over.RowPredicates(names, jsonOf(t, `"cd <= cap"`), nil); err == nil ||
		!strings.Contains(err.Error(), "a field of the row and a declared input") {
		t.Error(err)
	}
	if _, _, err := over.RowPredicates(names, jsonOf(t, `"cd <= row.cap"`), jsonOf(t, `"cd +"`)); err == nil {
		t.Error("a broken where is not refused")
	}
}
