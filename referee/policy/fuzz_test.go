package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// seeds are texts that reach every production of the grammar and most of the refusals.
var seeds = []string{
	"", "noi", "--noi > -1", "-2 ** -2 ** 2 < 1", "(-5) ** 2 == 25", "1 < 2 <= 3 != 4", "not not cash_out",
	"not (noi > 1) == cash_out",
	`a["b c"].d[0][1:][:2][-1] == "x"`, `rows[0]["a b"] in ["a", 'b"c', "d'e\"f"]`, `r"a\"b" == memo`,
	`matches(memo, r"\d+\\")`, `"\u00e9\n\x01" == tier`,
	`agg("sum", rows, "agg('list', row.items, \"outer.rent + x\")[0]", where="tenant != ''")`,
	`agg('all', pairs(flows), 'outer["outer"] == row["row"]')`,
	`if(cash_out, ltv <= 0.8)`, `if(cash_out, 1, 2) == 1`, `(1 if cash_out else 2) == 1`, `x if y`,
	`$stack["a b"].c >= 7`, `field("claims[*].claim") == 1`,
	`all_nonempty(field("claims"), allow_empty=True)`, `inputs["a name"] == calc.noi`, `claimed("DSCR") > 1e-9`,
	`band(score, [(2, 1), (1, "a")]) == "a"`,
	`datediff(sent, closed, "business_days", FEDERAL) > 1`, `closed <= working_day(add_months(sent, -1), FEDERAL)`,
	`same_rows(rows, "ledger", "tenant", "rent")`, `len(table("ledger", "tenant")) >= 1`,
	`1_000.50e+2 > .5`, "1,000", "10%", "a ^ b", "a && b", "a = b",
	`f(x)`, `noi.lower()`, `[x for x in rows]`,
	`lookup(LIMITS, tier, on_missing="flag") > 0`, `"0.9" == noi`, strings.Repeat("(", 300), strings.Repeat("-", 300) +
		"1", strings.Repeat("not ", 100) + "cash_out",
	`{"op": ">=", "left": {"calc": "dscr"}, "right": 1.20}`, "\xff", "“x”", `"\ud800"`,
	`agg("percentile", rows, "rent", p=95) > 0`, `prior("a", "/b") == 1`,
	`is_json("{\"a\": 1, \"a\": 2}") == cash_out`, `is_json('[1, 2] ') and not is_json(memo)`,
}

// FuzzParseText: nothing panics; what parses prints, in both spellings, as what reads back the same; it evaluates on
// the example submission and on an empty one, twice to the same result; a refusal has a message and a place, and no
// expression.
func FuzzParseText(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	for _, op := range Registry() {
		f.Add(op.Example)
	}
	names, env := exampleNames(f), exampleEnv(f)
	inRow := *names
	inRow.Row = true
	f.Fuzz(func(t *testing.T, src string) {
		for _, n := range []*Names{names, &inRow} {
			e, err := ParseText(src, n)
			if err != nil {
				checkRefusal(t, e, err)
				continue
			}
			roundTrip(t, e, n)
			wantStableEvaluation(t, e, env)
			wantStableEvaluation(t, e, &Env{})
		}
	})
}

func checkRefusal(t *testing.T, e *Expr, err error) {
	t.Helper()
	var refused *Error
	if e != nil || !errors.As(err, &refused) || refused.Msg == "" {
		t.Fatalf("refused with %v and %v", err, e)
	}
	if caret := refused.Caret(); refused.Src != "" && !strings.HasSuffix(caret, "^") {
		t.Fatalf("caret %q", caret)
	}
}

func wantStableEvaluation(t *testing.T, e *Expr, env *Env) {
	t.Helper()
	first, second := e.Eval(env), e.Eval(env)
	if first.Truth != second.Truth || first.Val.keyText() != second.Val.keyText() ||
		len(first.Issues) != len(second.Issues) {
		t.Fatalf("%s: %v %v, then %v %v", e.Text(), first.Truth, first.Val, second.Truth, second.Val)
	}
	if first.Truth != Unknown && first.Val.Kind != Bool {
		t.Fatalf("%s: %v but %v", e.Text(), first.Truth, first.Val)
	}
}

// FuzzParseTree is the same for the JSON spelling.
func FuzzParseTree(f *testing.F) {
	names, env := exampleNames(f), exampleEnv(f)
	for _, op := range Registry() {
		f.Add(string(mustParse(f, op.Example, names).Tree()))
	}
	for _, s := range treeSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		v, err := strictjson.Parse([]byte(src), strictjson.Limits{MaxBytes: 1 << 16, MaxDepth: 400})
		if err != nil {
			return
		}
		e, err := ParseTree(v, names)
		if err != nil {
			checkRefusal(t, e, err)
			return
		}
		roundTrip(t, e, names)
		wantStableEvaluation(t, e, env)
	})
}

// FuzzEval puts hostile submissions before every example of the registry: nothing panics, and no value becomes another
// type.
func FuzzEval(f *testing.F) {
	f.Add(exampleDoc)
	f.Add(`{"inputs": {"rows": [1, "x", null, {"rent": "0.9"}, [[]]], "flows": [null, 1e300, -1e300], "memo": "", ` +
		`"sent": "2026-02-30", "tier": 5}}`)
	f.Add(`{"inputs": {"rows": {}, "flows": [1, "2"], "memo": "\"", "sent": "9999-12-31T23:59:59.999+14:00", ` +
		`"closed": "0000-01-01T00:00", "score": 1e-300}}`)
	names := exampleNames(f)
	var exprs []*Expr
	for _, op := range Registry() {
		exprs = append(exprs, mustParse(f, op.Example, names))
	}
	f.Fuzz(func(t *testing.T, src string) {
		root, err := strictjson.Parse([]byte(src), strictjson.Limits{MaxBytes: 1 << 16, MaxDepth: 64})
		if err != nil {
			return
		}
		calc := func(id string, _ bool) Val { return FromJSON(root.Get("inputs").Get("score")) }
		env := &Env{Root: root, InputsRoot: root.Get("inputs"), Calc: calc,
			Space: func(string) Val { return FromJSON(root) }}
		for _, e := range exprs {
			wantStableEvaluation(t, e, env)
		}
	})
}
