package policy

import (
	"fmt"
	"strings"
	"testing"
)

// TestSameRows: rows against a table, by hand.
func TestSameRows(t *testing.T) {
	table := map[string][]string{"id": {"7", "10.5", "10.50", "7"}, "amount": {"1", " 2.0", "3e0", "1"},
		"ok": {"true", "false", "true", "true"}, "note": {"", "a;b", "", ""},
		"rent": {"1,320,000", " $12 ", "(1,200)", "4.50"}, "odd": {"1,32", "1", "2", "3"},
		"pad": {" 12 ", "a b", "", "x"}}
	names := &Names{Inputs: []string{"rows"}, Evidence: []string{"ledger"}}
	column := func(id, name string) ([]string, error) {
		if cells, ok := table[name]; ok && id == "ledger" {
			return cells, nil
		}
		return nil, fmt.Errorf("no column %q", name)
	}
	const all = `{"id":"7","amount":1,"ok":true,"note":""}, {"id":"10.5","amount":2,"ok":false,"note":"a;b"}, ` +
		`{"id":"10.50","amount":3.0,"ok":true,"note":""}, {"id":"7","amount":1,"ok":true,"note":""}`
	const every = `"id", "amount", "ok", "note"`
	for _, c := range []struct {
		name, rows, columns string
		want                Truth3
	}{
		{"as they stand", "[" + all + "]", every, True},
		{"in another order", `[{"id":"10.50","amount":3,"ok":true,"note":""}, {"id":"7","amount":1,"ok":true,` +
			`"note":""}, {"id":"7","amount":1.00,"ok":true,"note":""}, {"id":"10.5","amount":2,"ok":false,` +
			`"note":"a;b"}]`, every, True},
		{"two rows exchange their amounts", `[{"id":"7","amount":2}, {"id":"10.5","amount":1}, {"id":"10.50",` +
			`"amount":3}, {"id":"7","amount":1}]`, `"id", "amount"`, False},
		{"a row less", `[{"id":"7"}, {"id":"10.5"}, {"id":"10.50"}]`, `"id"`, False},
		{"a row more", "[" + all + `, {"id":"7","amount":1,"ok":true,"note":""}]`, every, False},
		{"one row twice for another", `[{"id":"7"}, {"id":"10.5"}, {"id":"10.5"}, {"id":"7"}]`, `"id"`, False},
		{"a text is compared letter for letter", `[{"id":"7"}, {"id":"10.5"}, {"id":"10.5"}, {"id":"7"}]`, `"id"`,
			False},
		{"numbers where the texts are of numbers", `[7, 7, 10.5, 10.5]`, `"id"`, True},
		{"the values themselves", `["7", "7", "10.50", "10.5"]`, `"id"`, True},
		{"values of two types", `["7", 7, "10.50", "10.5"]`, `"id"`, False},
		{"a number where the cell is none", `[1, 2, 3, 4]`, `"note"`, False},
		{"no rows", `[]`, `"id"`, False},
		{"a row without the member", `[{"id":"7"}, {"id":"10.5"}, {}, {"id":"7"}]`, `"id"`, Unknown},
		{"a member that is null", `[{"id":"7"}, {"id":"10.5"}, {"id":null}, {"id":"7"}]`, `"id"`, Unknown},
		{"values for two columns", `["7", "7", "10.50", "10.5"]`, `"id", "note"`, Unknown},
		{"a list is no value", `[["7"], ["7"], ["7"], ["7"]]`, `"id"`, Unknown},
		{"another column", "[" + all + "]", `"sum"`, Unknown},
		{"numbers as people write them", `[1320000, 12, -1200, 4.5]`, `"rent"`, True},
		{"a thousandth of one", `[1320, 12, -1200, 4.5]`, `"rent"`, False},
		{"a sign lost", `[1320000, 12, 1200, 4.5]`, `"rent"`, False},
		{"a comma that separates no thousands", `[132, 1, 2, 3]`, `"odd"`, False},
		{"spaces around a cell", `["12", "a b", "", "x"]`, `"pad"`, True},
		{"a cell copied with its spaces", `[" 12 ", "a b", "", "x"]`, `"pad"`, True},
		{"a space for an empty cell", `["12", "a b", " ", "x"]`, `"pad"`, False},
		{"spaces within a cell", `["12", "ab", "", "x"]`, `"pad"`, False},
		{"no list", `"all"`, `"id"`, Unknown},
	} {
		root := jsonOf(t, `{"inputs":{"rows":`+c.rows+`}}`)
		r := mustParse(t, `same_rows(rows, "ledger", `+c.columns+`)`,
			names).Eval(&Env{Root: root, InputsRoot: root.Get("inputs"), Column: column})
		if r.Truth != c.want {
			t.Errorf("%s: %v, want %v; %+v %+v", c.name, r.Truth, c.want, r.Missing, r.Issues)
		}
		if c.want == Unknown && len(r.Missing)+len(r.Issues) == 0 {
			t.Errorf("%s: unknown without a reason", c.name)
		}
	}
	table["none"] = nil
	root := jsonOf(t, `{"inputs":{"rows":[]}}`)
	if r := mustParse(t, `same_rows(rows, "ledger", "none")`,
		names).Eval(&Env{Root: root, InputsRoot: root.Get("inputs"), Column: column}); r.Truth != True {
		t.Errorf("no rows of an empty table: %v", r.Truth)
	}
	for src, want := range map[string]string{
		`same_rows(rows, "ledger")`:      `same_rows needs the argument "column"`,
		`same_rows(rows, "legder", "a")`: `unknown evidence "legder" (did you mean "ledger"?); declare it`,
	} {
		if _, err := ParseText(src, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}
