package policy

import (
	"fmt"
	"strings"
	"testing"
)

// TestTable: rows of a table by heading, by hand.
func TestTable(t *testing.T) {
	columns := map[string][]string{"case": {" 007 ", "7", "8"}, "won": {"1", " 1,200 ", "(2)"},
		"odd": {"1", "none", ""}, "none": nil}
	names := &Names{Inputs: []string{"n"}, Evidence: []string{"ledger"}}
	env := &Env{Column: func(id, name string) ([]string, error) {
		if cells, ok := columns[name]; ok && id == "ledger" {
			return cells, nil
		}
		return nil, fmt.Errorf("no column %q", name)
	}, Numeric: func(_, column string) bool { return column == "won" || column == "odd" }}
	for _, c := range []struct {
		expr string
		want Truth3
		why  string // of an unknown
	}{
		{`len(table("ledger", "case")) == 3`, True, ""},
		{`len(table("ledger", "none")) == 0`, True, ""},
		{`agg("list", table("ledger", "case"), "row.case") == ["007", "7", "8"]`, True, ""},
		{`agg("sum", table("ledger", "won"), "won") == 1199`, True, ""},
		{`agg("sum", table("ledger", "case", "won"), "won", where="row.case == '7'") == 1200`, True, ""},
		{`agg("sum", table("ledger", "won", "case"), "won", where="row.case == '007'") == 1`, True, ""},
		{`agg("count", table("ledger", "case", "odd"), "1", where="row.case == '007' and odd == 1") == 1`, True, ""},
		{`agg("count", table("ledger", "odd"), "1", where="odd == 1") == 1`, Unknown, `the cell "none" is not a number`},
		{`agg("sum", table("ledger", "case"), "won") == 1199`, Unknown, "won"},
		{`len(table("ledger", "lost")) == 3`, Unknown, `no column "lost"`},
	} {
		e := *env
		e.Root = jsonOf(t, `{"inputs":{"n":1}}`)
		e.InputsRoot = e.Root.Get("inputs")
		r := mustParse(t, c.expr, names).Eval(&e)
		if r.Truth != c.want {
			t.Errorf("%s: %v, want %v; %+v %+v", c.expr, r.Truth, c.want, r.Missing, r.Issues)
		}
		if said := fmt.Sprintf("%+v %+v", r.Missing, r.Issues); c.want == Unknown && !strings.Contains(said, c.why) {
			t.Errorf("%s: %s, want %s", c.expr, said, c.why)
		}
	}
	r := mustParse(t, `len(table("ledger", "case")) == 3`, names).Eval(&Env{Root: jsonOf(t, `{}`)})
	if r.Truth != Unknown {
		t.Errorf("without evidence: %v", r.Truth)
	}
	for src, want := range map[string]string{
		`len(table("ledger")) == 3`:      `table needs the argument "column"`,
		`len(table("legder", "a")) == 3`: `unknown evidence "legder" (did you mean "ledger"?); declare it`,
	} {
		if _, err := ParseText(src, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}
