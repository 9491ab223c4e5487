package policy

import (
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// json reads a JSON value of a test, written by hand.
func jsonOf(t testing.TB, src string) *strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(src), strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 400})
	if err != nil {
		t.Fatalf("%.200s: %v", src, err)
	}
	return v
}

// exampleNames are the names that the registry's examples speak of.
func exampleNames(t testing.TB) *Names {
	return &Names{
		Calcs: []string{"dscr", "ltv", "noi"},
		Consts: map[string]*strictjson.Value{
			"LIMITS": jsonOf(t, `{"market": 0.87, "affordable": 0.9}`),
			"CURVE":  jsonOf(t, `[[0, 100], [700, 50], [800, 0]]`), "MAX_LTV": jsonOf(t, `0.8`),
			"STEPS": jsonOf(t, `[[2, 0.4], [1, 0.37], [0, 0.31]]`), "YES": jsonOf(t, `true`),
			"WORD": jsonOf(t, `"market"`),
		},
		Inputs: []string{"loan", "rate", "tier", "cash_out", "rows", "flows", "needed", "given", "memo", "sent",
			"closed", "score", "a name"},
		Lexicons: map[string][]string{"HEDGE": {"should review", "may want to"}},
		Calendars: map[string]Calendar{"FEDERAL": {Weekend: []string{"saturday", "sunday"},
			Holidays: []string{"2026-10-12"}}},
		Evidence: []string{"ledger"},
	}
}

const exampleDoc = `{"inputs": {"loan": 9300000, "rate": 0.0575, "tier": "market", "cash_out": false,
	"rows": [{"tenant": "Harbor", "rent": 76700}, {"tenant": "", "rent": 0}], "flows": [-100, 50, 60],
	"needed": ["a", "b"], "given": ["b", "a", "c"],
	"memo": "The net operating income is \"as stated\" $920,000 in Section 3. Governing Law.",
	"sent": "2026-10-09", "closed": "2026-10-15", "score": 640, "a name": 5},
	"claims": [{"claim": "NOI", "evidence_reference": "t12#cell=14,3"}, {"claim": "LTV", "evidence_reference": "N/A"}]}`

// exampleEnv is a submission and its calculations: noi 920000, dscr 1.3794…, ltv 0.75, claimed as 1.38.
func exampleEnv(t testing.TB) *Env {
	root := jsonOf(t, exampleDoc)
	number := func(s string) Val { return FromJSON(jsonOf(t, s)) }
	asClaimed := number("1.38")
	calcs := map[string]Val{"noi": number("920000"), "dscr": number("1.3794642986874859"), "ltv": number("0.75")}
	return &Env{Root: root, InputsRoot: root.Get("inputs"), Calc: func(id string, claimed bool) Val {
		if claimed {
			return asClaimed
		}
		return calcs[id]
	}}
}

func mustParse(t testing.TB, src string, n *Names) *Expr {
	t.Helper()
	e, err := ParseText(src, n)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return e
}

// roundTrip holds an expression to rules.md 1: its text and its tree both read back as the same expression.
func roundTrip(t testing.TB, e *Expr, n *Names) {
	t.Helper()
	again, err := ParseText(e.Text(), n)
	if err != nil {
		t.Fatalf("printed text %q does not parse: %v", e.Text(), err)
	}
	if string(again.Tree()) != string(e.Tree()) || again.Text() != e.Text() {
		t.Fatalf("text is not a fixed point:\n%s\n%s\n%s\n%s", e.Text(), again.Text(), e.Tree(), again.Tree())
	}
	fromTree, err := ParseTree(jsonOf(t, string(e.Tree())), n)
	if err != nil {
		t.Fatalf("tree %s does not parse: %v", e.Tree(), err)
	}
	if string(fromTree.Tree()) != string(e.Tree()) || fromTree.Text() != e.Text() {
		t.Fatalf("tree is not a fixed point:\n%s\n%s\n%s", e.Tree(), fromTree.Tree(), fromTree.Text())
	}
}
