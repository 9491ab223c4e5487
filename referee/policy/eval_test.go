package policy

import (
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

// truthDoc has a true, a false, a null, an absent (gone), a number, a text that looks like one, a list and an object.
const truthDoc = `{"inputs": {"t": true, "f": false, "nul": null, "n": 0.9, "zero": 0, "s": "0.9",
	"big": 9007199254740993, "word": "PASS",
	"list": [1, 2, 3], "empty": [], "holes": [1, null], "words": ["a", "b"], "obj": {"k": 1, "a b": 2}, "blank": " ",
	"d": "2026-03-01", "time": "2026-03-01T10:00:00Z",
	"rows": [{"k": "a", "v": 1, "ok": true}, {"k": "b", "v": 3, "ok": false}], "ragged": [{"v": 1}, {"w": 2}],
	"nested": [{"items": [1, 2]}, {"items": [3]}], "huge": 1e400},
	"claims": [{"claim": "x", "ref": "e1"}, {"claim": "y"}], "top": {"a~b/c": 7}}`

func truthNames() *Names {
	return &Names{Inputs: []string{"t", "f", "nul", "gone", "n", "zero", "s", "big", "word", "list", "empty", "holes",
		"words", "obj", "blank", "d", "time",
		"rows", "ragged", "nested", "huge"}, Calcs: []string{"c", "lost"}}
}

func truthEnv(t testing.TB) *Env {
	root := jsonOf(t, truthDoc)
	return &Env{Root: root, InputsRoot: root.Get("inputs"), Calc: func(id string, claimed bool) Val {
		if id == "lost" {
			return Val{}
		}
		if claimed {
			return Number(decimal.FromInt(6))
		}
		return Number(decimal.FromInt(5))
	}}
}

// The expected truths follow from the clause named, by hand. i is the issue code, "" for none.
var truths = []struct {
	expr  string
	truth Truth3
	issue string
}{
	// S22: Kleene's tables; gone is unknown.
	{"t and t", True, ""}, {"t and f", False, ""}, {"t and gone", Unknown, ""}, {"f and gone", False, ""},
	{"gone and f", False, ""}, {"gone and gone", Unknown, ""},
	{"t or gone", True, ""}, {"gone or t", True, ""}, {"f or gone", Unknown, ""}, {"f or f", False, ""},
	{"gone or f", Unknown, ""},
	{"not t", False, ""}, {"not gone", Unknown, ""}, {"not (gone and f)", True, ""},
	{"implies(f, gone)", True, ""}, {"implies(gone, t)", True, ""}, {"implies(gone, f)", Unknown, ""},
	{"implies(t, gone)", Unknown, ""}, {"implies(t, f)", False, ""},
	// S23, S25: missing is unknown, even to != and not in; null is missing.
	{"gone != 1", Unknown, ""}, {"nul != 1", Unknown, ""}, {"nul == nul", Unknown, ""},
	{"gone not in [1, 2]", Unknown, ""}, {"lost > 1", Unknown, ""}, {"huge > 1", Unknown, ""},
	// S25: no coercion.
	{"s == 0.9", Unknown, "operand_type"}, {"s >= 0.8", Unknown, "operand_type"}, {"s < 0.8", Unknown, "operand_type"},
	{"s != 0.9", Unknown, "operand_type"},
	{"s in [0.9, 1]", Unknown, "operand_type"}, {"n not in words", Unknown, "operand_type"},
	{"n + s > 0", Unknown, "operand_type"}, {"t == 1", Unknown, "operand_type"},
	{"n and t", Unknown, "operand_type"}, {"f and n", False, ""}, {"not n", Unknown, "operand_type"},
	{"abs(s) > 0", Unknown, "operand_type"}, {"word > s", Unknown, "operand_type"},
	{"subset(words, list)", Unknown, "operand_type"}, {"disjoint(words, list)", Unknown, "operand_type"},
	{"sum(words) > 0", Unknown, "operand_type"},
	{"obj > 1", Unknown, "operand_type"}, {"t < f", Unknown, "operand_type"}, {"n.x == 1", Unknown, "operand_type"},
	{"n[0] == 1", Unknown, "operand_type"}, {"len(n) == 1", Unknown, "operand_type"},
	{"list[n] == 1", Unknown, "operand_type"}, {"lookup(obj, t) == 1", Unknown, "operand_type"},
	{"to_number(word) > 1", Unknown, "operand_type"},
	// S12, S13a.
	{"1 / zero > 1", Unknown, "undefined"}, {"sqrt(-n) > 1", Unknown, "undefined"},
	{"zero ** -1 > 1", Unknown, "undefined"}, {"ln(zero) > 1", Unknown, "undefined"},
	{"9 ** 9 ** 9 ** 9 > 1", Unknown, "too_large"}, {"irr([1, 2]) > 0", Unknown, "irr_ambiguous"},
	{"zero != 0 and 1 / zero > 1", False, ""}, {"1 / zero > 1 and zero != 0", False, ""},
	{"big == 9007199254740993", True, ""}, {"big == 9007199254740992", False, ""}, {"0.1 + 0.2 == 0.3", True, ""},
	{"1 / 3 * 3 == 1", True, ""},
	// S27.
	{"if(f, f)", True, ""}, {"if(t, f)", False, ""}, {"if(gone, t)", Unknown, ""}, {"(1 if f else 2) == 2", True, ""},
	{"(1 / zero if f else 2) == 2", True, ""},
	// S28: paths.
	{`field("claims[0].claim") == "x"`, True, ""}, {`field("/claims/1/claim") == "y"`, True, ""},
	{`field("/top/a~0b~1c") == 7`, True, ""}, {`field("claims[9].claim") == "x"`, Unknown, ""},
	{`field("claims.claim") == "x"`, Unknown, ""}, {`field("nowhere.at.all") == 1`, Unknown, ""},
	{`obj["a b"] == 2`, True, ""}, {"obj.gone == 1", Unknown, ""}, {`field("inputs.obj.k") == 1`, True, ""},
	{"list[0] == 1 and list[-1] == 3 and list[1:] == [2, 3] and list[:-1] == [1, 2] and list[5:] == []", True, ""},
	{"list[3] == 1", Unknown, ""}, {"list[-4] == 1", Unknown, ""},
	// S29.
	{"len(list) == 3", True, ""}, {"len(obj) == 2", True, ""}, {`len("naïve€") == 6`, True, ""},
	{"len(gone) == 0", Unknown, ""}, {`len(field("claims[*].claim")) == 2`, True, ""},
	// S30.
	{"nonempty(blank)", False, ""}, {"nonempty(nul)", False, ""}, {"nonempty(gone)", Unknown, ""},
	{"nonempty(zero)", True, ""}, {"nonempty(f)", True, ""}, {"nonempty(empty)", False, ""},
	{"nonempty(obj)", True, ""},
	{`all_nonempty(field("claims"), "claim")`, True, ""}, {`all_nonempty(field("claims"), "ref")`, False, ""},
	{`all_nonempty(field("claims[*].ref"))`, False, ""}, {"all_nonempty(empty)", False, ""},
	{"all_nonempty(empty, allow_empty=True)", True, ""}, {"all_nonempty(gone)", Unknown, ""},
	{"all_nonempty(holes)", False, ""}, {"all_nonempty(list)", True, ""},
	// S31: in.
	{"n in [0.9, 1]", True, ""}, {"2 in list", True, ""}, {"4 in list", False, ""}, {"4 not in list", True, ""},
	{"1 in holes", True, ""}, {"4 in holes", Unknown, ""}, {"4 in empty", False, ""},
	// S32: 28 digits.
	{"1 + 1e-28 == 1", True, ""}, {"1.000000000000000000000000001 == 1", False, ""},
	// S33.
	{"approx(n, 0.9)", True, ""}, {"approx(0.909, n)", True, ""}, {"approx(0.9091, n)", False, ""},
	{"approx(n, 1, 0.1)", True, ""}, {"approx(zero, 0)", True, ""}, {"approx(n, 0)", False, ""},
	// Dates.
	{`d < "2026-03-02"`, True, ""}, {`d == "2026-03-01"`, True, ""}, {`time <= "2026-03-01T12:00:00+02:00"`, True, ""},
	{"d < time", Unknown, "date"}, {"days(d, time) > 0", Unknown, "date"},
	{`d < "soon"`, Unknown, "operand_type"}, {"word == \"PASS\"", True, ""},
	// Chains.
	{"0 < n < 1", True, ""}, {"0 < n < 0.5", False, ""}, {"2 < n < gone", False, ""}, {"0 < n < gone", Unknown, ""},
	{"c == 5 and claimed(\"c\") == 6", True, ""},
	// Lists and sets.
	{"holes == holes", Unknown, ""}, {"[[holes]] != [[list]]", Unknown, ""}, {`agg("all", rows, "days(d, time) < v")`,
		Unknown, "date"}, {"subset([1, 2], list)", True, ""}, {"subset([1, 4], list)", False, ""},
	{"subset(empty, list)", True, ""}, {"subset(list, holes)", Unknown, ""}, {"equal([3, 2, 1, 1], list)", True,
		""}, {"equal([1], list)", False, ""},
	{"disjoint([4], list)", True, ""}, {"jaccard([1, 2, 4], list) == 0.5", True, ""}, {"jaccard(empty, empty) == 1",
		True, ""}, {"unique(list)", True, ""}, {"unique([1, 1])", False, ""}, {"unique(holes)", Unknown, ""},
	{"intersect([3, 1, 1], list) == [3, 1]", True, ""}, {"union([9, 1], list) == [9, 1, 2, 3]", True, ""},
	{"difference(list, [2]) == [1, 3]", True, ""}, {"distinct([1, 1, 2]) == [1, 2]", True, ""},
	{"increasing(list)", True, ""}, {"increasing([1, 1])", False, ""}, {"nondecreasing([1, 1])", True, ""},
	{"nondecreasing([2, 1])", False, ""}, {"increasing(holes)", Unknown, ""}, {"contiguous(list)", True, ""},
	{"contiguous([1, 3])", False, ""},
	{`increasing(["2026-01-31", "2026-02-01"])`, True, ""}, {`nondecreasing(["a", "b"])`, Unknown, "operand_type"},
	{`subset([["a", 1]], [["a", 1], ["b", 2]])`, True, ""}, {`disjoint([["a", "1"]], [["a", 1]])`, Unknown,
		"operand_type"},
	// Aggregates (rules.md 1.1).
	{`agg("sum", rows, "v") == 4`, True, ""}, {`agg("mean", rows, "v") == 2`, True, ""},
	{`agg("min", rows, "v") == 1 and agg("max", rows, "v") == 3`, True, ""}, {`agg("count", rows) == 2`, True, ""},
	{`agg("count", rows, "ok") == 1`, True, ""}, {`agg("count", rows, "1", where="v > 1") == 1`, True, ""},
	{`agg("rms", [3, 4], "x") ** 2 == 12.5`, True, ""},
	{`agg("stddev", [2, 4, 4, 4, 5, 5, 7, 9], "x") ** 2 == 32 / 7`, True, ""},
	{`agg("percentile", [15, 20, 35, 40, 50], "x", p=30) == 20`, True, ""},
	{`agg("percentile", [15, 20, 35, 40, 50], "x", p=40) == 20`, True, ""},
	{`agg("percentile", [15, 20, 35, 40, 50], "x", p=100) == 50`, True, ""},
	{`agg("percentile", [15], "x", p=0.1) == 15`, True, ""}, {`agg("distinct", [1, 1.0, 2], "x") == 2`, True, ""},
	{`agg("list", rows, "k") == ["a", "b"]`, True, ""}, {`agg("all", rows, "v > 0")`, True, ""},
	{`agg("any", rows, "v > 3")`, False, ""},
	{`agg("sum", empty, "x") == 0`, True, ""}, {`agg("count", empty) == 0`, True, ""}, {`agg("all", empty, "x > 0")`,
		True, ""}, {`agg("any", empty, "x > 0")`, False, ""}, {`agg("mean", empty, "x") == 0`, Unknown, ""},
	{`agg("max", empty, "x") == 0`, Unknown, ""}, {`agg("stddev", [1], "x") == 0`, Unknown, ""},
	{`agg("min", ["2026-02-01", "2026-01-31"], "x") == "2026-01-31"`, True, ""},
	{`agg("sum", ragged, "v") > 0`, Unknown, "row_error"}, {`agg("all", ragged, "v > 5")`, False, "row_error"},
	{`agg("any", ragged, "v == 1")`, True, "row_error"}, {`agg("all", ragged, "v == 1")`, Unknown, "row_error"},
	{`agg("any", ragged, "v > 5")`, Unknown, "row_error"}, {`agg("count", ragged, where="v > 0") == 1`, Unknown,
		"row_error"},
	{`agg("any", ragged, "v == 1") or t`, True, "row_error"}, {`agg("sum", holes, "x") > 0`, Unknown, "row_error"},
	{`agg("sum", rows, "k") > 0`, Unknown, "operand_type"}, {`agg("count", rows, where="v") > 0`, Unknown,
		"operand_type"},
	{`agg("all", rows, "v > lost")`, Unknown, ""}, {`agg("all", rows, "v > 9 and v > lost")`, False, ""},
	{`agg("sum", gone, "x") > 0`, Unknown, ""}, {`agg("sum", obj, "x") > 0`, Unknown, "operand_type"},
	{`agg("sum", nested, "agg('sum', items, 'x * len(outer.items)')") == 9`, True, ""},
	{`agg("list", pairs(list), "b - a") == [1, 1]`, True, ""},
	{`agg("sum", entries(obj), "value", where="key != 'k'") == 2`, True, ""},
	{`agg("all", rows, "nonempty(k) and row.v == v")`, True, ""}, {`agg("sum", list, "row") == 6`, True, ""},
	{`agg("all", rows, "days(k, k) == 0")`, Unknown, "operand_type"},
}

func TestTruths(t *testing.T) {
	names, env := truthNames(), truthEnv(t)
	for _, c := range truths {
		e, err := ParseText(c.expr, names)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		roundTrip(t, e, names)
		r := e.Eval(env)
		code := ""
		if len(r.Issues) > 0 {
			code = r.Issues[0].Code
		}
		if r.Truth != c.truth || code != c.issue {
			t.Errorf("%s is %v %+v, want %v %q (missing %+v)", c.expr, r.Truth, r.Issues, c.truth, c.issue, r.Missing)
		}
		if r.Truth == Unknown && len(r.Missing) == 0 && len(r.Issues) == 0 && !strings.Contains(c.expr, "holes") &&
			!strings.Contains(c.expr, "empty") && !strings.Contains(c.expr, "stddev") {
			t.Errorf("%s is unknown for no reason", c.expr)
		}
		if r.Truth != Unknown && len(r.Missing) > 0 {
			t.Errorf("%s is decided, and lists %+v as missing", c.expr, r.Missing)
		}
	}
}

func TestMissingSaysWhereAndWhy(t *testing.T) {
	names, env := truthNames(), truthEnv(t)
	for _, c := range []struct{ expr, kind, name, pointer, why string }{
		{"gone > 1", "input", "gone", "/inputs/gone", `no member "gone" at /inputs`},
		{"nul > 1", "input", "nul", "/inputs/nul", "null"},
		{"huge > 1", "input", "huge", "/inputs/huge", "number out of range"},
		{"lost > 1", "calc", "lost", "", `no calculation "lost"`},
		{"obj.x > 1", "input", "obj.x", "/inputs/obj/x", `no member "x" at /inputs/obj`},
		{`field("claims[1].ref") == "e1"`, "field", `field("/claims/1/ref")`, "/claims/1/ref",
			`no member "ref" at /claims/1`},
		{`agg("sum", ragged, "v") > 0`, "field", "v", "", `no member "v" at /inputs/ragged/1`},
		{`prior("3f", "/a") == 1`, "prior", `prior("3f", "/a")`, "", "prior: needs a ledger"},
		{`data("x", "rows") == 1`, "data", `data("x", "rows")`, "", "data: no evidence here"},
		{`evidence("x", "#/a") == 1`, "evidence", `evidence("x", "#/a")`, "", "evidence: no evidence here"},
		{"$stack.params_b > 1", "space", "$stack", "", "$stack is not known here"},
	} {
		r := mustParse(t, c.expr, names).Eval(env)
		want := MissingOperand{c.kind, c.name, c.pointer, c.why}
		if len(r.Missing) != 1 || r.Missing[0] != want {
			t.Errorf("%s lacks %+v, want %+v", c.expr, r.Missing, want)
		}
	}
}

// TestNullItem: of a list with a null the reason says which item it is, whatever the function.
func TestNullItem(t *testing.T) {
	names, env := truthNames(), truthEnv(t)
	for _, expr := range []string{"sum(holes) > 1", "max(holes) > 1", "irr(holes) > 1", "unique(holes)",
		"increasing(holes)", "subset(holes, holes)", "holes == holes"} {
		r := mustParse(t, expr, names).Eval(env)
		if r.Truth != Unknown || len(r.Missing) != 1 || r.Missing[0].Pointer != "/inputs/holes/1" ||
			r.Missing[0].Why != "item 2 of the list is null" {
			t.Errorf("%s is %v and lacks %+v", expr, r.Truth, r.Missing)
		}
	}
}

// TestEmptyColumn: a column whose name the submission leaves empty is not the whole file, and a rule does not write
// one.
func TestEmptyColumn(t *testing.T) {
	names, env := truthNames(), *truthEnv(t)
	asked := 0
	env.Data = func(string, string, string) (Val, error) { asked++; return Number(decimal.FromInt(0)), nil }
	r := mustParse(t, `data("x", "dups", blank) == 0`, names).Eval(&env)
	if r.Truth != Unknown || asked != 0 || len(r.Missing) != 1 || r.Missing[0].Pointer != "/inputs/blank" ||
		r.Missing[0].Why != "the name of the column is empty" {
		t.Errorf("%v after %d questions, lacking %+v", r.Truth, asked, r.Missing)
	}
	if r := mustParse(t, `data("x", "dups") == 0`, names).Eval(&env); r.Truth != True || asked != 1 {
		t.Errorf("%v after %d questions", r.Truth, asked)
	}
	if _, err := ParseText(`data("x", "dups", "") == 0`, names); err == nil ||
		!strings.Contains(err.Error(), "the name of the column is empty") {
		t.Errorf("%v", err)
	}
}

func TestResultTellsItsOperands(t *testing.T) {
	names, env := truthNames(), truthEnv(t)
	r := mustParse(t, `c + obj.k > n and agg("sum", rows, "v") == 4 and c < 9`, names).Eval(env)
	want := []string{"c=5 recomputed", "obj.k=1 /inputs/obj/k", "n=0.9 /inputs/n",
		"rows=" + FromJSON(env.Root.At("/inputs/rows")).String() + " /inputs/rows", `agg("sum", rows, "v")=4 aggregate`}
	if len(r.Operands) != len(want) {
		t.Fatalf("operands %+v", r.Operands)
	}
	for i, o := range r.Operands {
		if got := o.Text + "=" + o.Val.String() + " " + o.From; got != want[i] {
			t.Errorf("operand %d is %s, want %s", i, got, want[i])
		}
	}
	if r.Sides != nil {
		t.Error("sides of an and")
	}
	for _, src := range []string{"c >= 4", "approx(c, 4, 1)"} {
		r = mustParse(t, src, names).Eval(env)
		if r.Sides == nil || r.Sides[0].String() != "5" || r.Sides[1].String() != "4" {
			t.Errorf("%s: sides %+v", src, r.Sides)
		}
	}
}

func TestVacuous(t *testing.T) {
	names, env := truthNames(), truthEnv(t)
	for src, want := range map[string]bool{"if(f, t)": true, "if(t, t)": false, "implies(f, t)": false,
		"(t if f else t)": false, "if(f, f) and t": false} {
		if r := mustParse(t, src, names).Eval(env); r.Vacuous != want || r.Truth != True {
			t.Errorf("%s: vacuous %v, %v", src, r.Vacuous, r.Truth)
		}
	}
}

func TestOverride(t *testing.T) {
	env := truthEnv(t)
	env.Override = map[string]*decimal.Num{"n": decimal.FromInt(7), "gone": decimal.FromInt(8)}
	if r := mustParse(t, "n == 7 and gone == 8 and zero == 0", truthNames()).Eval(env); r.Truth != True {
		t.Errorf("%v %+v", r.Truth, r.Operands)
	}
}

// TestWorkIsBounded: rows times rows times rows of a list of 1,000 numbers would be 10⁹ steps. Most of the allowance is
// spent before.
func TestWorkIsBounded(t *testing.T) {
	items := strings.TrimSuffix(strings.Repeat("1,", 1000), ",")
	root := jsonOf(t, `{"inputs": {"list": [`+items+`], "text": "`+strings.Repeat("a", 64_000)+`"}}`)
	names := &Names{Inputs: []string{"list", "text"}}
	for _, src := range []string{`agg("sum", list, "agg('sum', list, \"agg('sum', list, 'x')\")") > 0`,
		`agg("all", list, "not matches(text, 'b')")`,
		`agg("all", list, "found_in(text, text)")`, `agg("all", list, "words(text) == 1")`,
		`agg("all", list, "len(extract(text, 'b')) == 0")`} {
		work := &decimal.Meter{Spent: maxWork - 1_000_000, Most: maxWork}
		r := mustParse(t, src, names).Eval(&Env{Root: root, InputsRoot: root.Get("inputs"), Work: work})
		if r.Truth != Unknown || len(r.Issues) != 1 || r.Issues[0].Code != "too_complex" {
			t.Errorf("%s: %v %+v", src, r.Truth, r.Issues)
		}
	}
}

func TestOutsideOperands(t *testing.T) {
	env, names := exampleEnv(t), exampleNames(t)
	env.Data = func(id, stat, column string) (Val, error) { return Text(id + "|" + stat + "|" + column), nil }
	env.Evidence = func(id, selector string) (Val, error) { return Text(id + selector), nil }
	env.Prior = func(sha, path string) (Val, error) { return Text(sha + path), nil }
	env.Space = func(name string) Val { return FromJSON(env.Root) }
	for _, src := range []string{`data("ledger", "nulls", "price") == "ledger|nulls|price"`,
		`data("ledger", "regex_hits", "a", "\\d") == "ledger|regex_hits|a\x00\\d"`,
		`evidence("ledger", "#/a") == "ledger#/a"`,
		`prior("3f", "/b") == "3f/b"`, `$evidence.claims[0].claim == "NOI"`,
		`field("$evidence.claims[0].claim") == "NOI"`, `field("$evidence.claims[*].claim") == given or ` +
			`len(field("$evidence.claims[*].claim")) == 2`} {
		if strings.Contains(src, "== given") {
			continue
		}
		if r := mustParse(t, src, names).Eval(env); r.Truth != True {
			t.Errorf("%s: %v %+v", src, r.Truth, r.Operands)
		}
	}
	if r := mustParse(t, `len(field("$evidence.claims[*].claim")) == 2`, names).Eval(env); r.Truth != True {
		t.Errorf("%+v", r)
	}
}
