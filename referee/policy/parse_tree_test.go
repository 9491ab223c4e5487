package policy

import (
	"errors"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// treeSeeds are the spellings of the source documents and of rules.md 1.1, and what each reads as.
var treeSeeds = []string{}

var trees = []struct{ tree, text string }{
	{`{"op": ">=", "left": {"calc": "dscr"}, "right": 1.20}`, "dscr >= 1.2"},
	{`{"op": ">=", "left": {"calc": "DSCR", "view": "claimed"}, "right": 1.20}`, `claimed("dscr") >= 1.2`},
	{`{"op": ">=", "left": {"calc": "dscr", "round": 2}, "right": 1.20}`, "round(dscr, 2) >= 1.2"},
	{`{"op": "in", "left": {"field": "inputs.tier"}, "right": ["a", "b"]}`, `tier in ["a", "b"]`},
	{`{"op": "not in", "left": {"field": "/final_output"}, "right": {"literal": ["a"]}}`,
		`field("/final_output") not in ["a"]`},
	{`{"op": "all_nonempty", "array": "claims", "field": "evidence_reference"}`,
		`all_nonempty(field("/claims"), "evidence_reference")`},
	{`{"op": "all_nonempty", "array": "claims", "field": "claim", "allow_empty": true}`,
		`all_nonempty(field("/claims"), "claim", allow_empty=True)`},
	{`{"op": "and", "terms": [{"op": "not", "term": {"input": "cash_out"}}, {"op": "or", "terms": [true, {"op": "<", ` +
		`"left": {"calc": "ltv"}, "right": 1}]}]}`,
		"not cash_out and (True or ltv < 1)"},
	{`{"op": "and", "terms": [{"input": "cash_out"}]}`, "cash_out"},
	{`{"op": "if", "cond": {"input": "cash_out"}, "then": {"op": "<=", "left": {"calc": "ltv"}, "right": 0.8}}`,
		"if(cash_out, ltv <= 0.8)"},
	{`{"op": "if", "cond": {"input": "cash_out"}, "then": true, "else": {"op": "<=", "left": {"calc": "ltv"}, ` +
		`"right": 0.8}}`, "True if cash_out else ltv <= 0.8"},
	{`{"op": "chain", "ops": ["<", "<="], "terms": [0, {"calc": "ltv"}, 1]}`, "0 < ltv <= 1"},
	{`{"op": "approx", "left": {"claimed": "noi"}, "right": {"calc": "noi"}, "tolerance": 0.02}`,
		`approx(claimed("noi"), noi, 0.02)`},
	{`{"op": "==", "left": {"len": "claims"}, "right": 2}`, `len(field("/claims")) == 2`},
	{`{"op": "==", "left": {"field": "len(claims)"}, "right": 2}`, `len(field("/claims")) == 2`},
	{`{"op": "==", "left": {"len": {"literal": "abc"}}, "right": 3}`, `len("abc") == 3`},
	{`{"op": "<=", "left": {"calc": "ltv"}, "right": {"lookup": {"table": {"const": "LIMITS"}, "key": {"input": ` +
		`"tier"}, "on_missing": "flag"}}}`,
		`ltv <= lookup(LIMITS, tier, "flag")`},
	{`{"op": "<=", "left": {"calc": "ltv"}, "right": {"band": {"of": {"input": "score"}, "cuts": [[580, 0.9], [0, ` +
		`0.8]]}}}`, "ltv <= band(score, [[580, 0.9], [0, 0.8]])"},
	{`{"op": ">=", "left": {"piecewise": {"of": {"input": "score"}, "points": {"const": "CURVE"}}}, "right": 7e1}`,
		"piecewise(score, CURVE) >= 70"},
	{`{"op": "==", "left": {"agg": {"op": "sum", "over": {"input": "rows"}, "value": "rent * 2", "where": {"op": ` +
		`"!=", "left": {"field": "row.tenant"}, "right": ""}}}, "right": 0}`,
		`agg("sum", rows, "rent * 2", where='tenant != ""') == 0`},
	{`{"agg": {"op": "any", "over": "claims", "value": {"op": "==", "left": {"row": "claim"}, "right": {"expr": "noi ` +
		`/ 2"}}}}`,
		`agg("any", field("/claims"), "claim == noi / 2")`},
	{`{"op": "<=", "left": {"datediff": {"from": {"input": "sent"}, "to": {"input": "closed"}, "unit": ` +
		`"business_days", "calendar": {"calendar": "FEDERAL"}}}, "right": 3}`,
		"business_days(sent, closed, FEDERAL) <= 3"},
	{`{"op": "<=", "left": {"angle": {"a": 350, "b": 10}}, "right": 20}`, "angdiff(350, 10) <= 20"},
	{`{"op": "<=", "left": {"text": {"metric": "fk_grade", "path": "final_output"}}, "right": 12}`,
		`fk_grade(field("/final_output")) <= 12`},
	{`{"op": ">=", "left": {"contrast": {"fg": "#333333", "bg": "#ffffff"}}, "right": 4.5}`,
		`contrast("#333333", "#ffffff") >= 4.5`},
	{`{"subset": [{"set": {"text": {"input": "memo"}, "pattern": "Section (\\d+)", "normalise": {"case": true, ` +
		`"strip": true}}}, {"set": {"list": {"input": "given"}}}]}`,
		`subset(normalise(extract(memo, r"Section (\d+)"), "case", "strip"), given)`},
	{`{"op": "unique", "args": [{"set": {"path": "claims[*].claim"}}]}`, `unique(field("claims[*].claim"))`},
	{`{"op": "matches", "text": {"input": "memo"}, "regex": "\\bTBD\\b"}`, `matches(memo, r"\bTBD\b")`},
	{`{"op": "has_phrase", "args": [{"input": "memo"}, {"lexicon": "HEDGE"}]}`, "has_phrase(memo, HEDGE)"},
	{`{"op": "==", "left": {"data": {"evidence_id": "ledger", "stat": "rows"}}, "right": 5}`,
		`data("ledger", "rows") == 5`},
	{`{"op": "==", "left": {"evidence": {"id": "ledger", "selector": "#/a"}}, "right": 5}`,
		`evidence("ledger", "#/a") == 5`},
	{`{"op": "==", "left": {"prior": {"receipt_sha": "3f", "path": "/a"}}, "right": 5}`, `prior("3f", "/a") == 5`},
	{`{"op": ">=", "left": {"field": "$stack.params_b"}, "right": 7}`, "$stack.params_b >= 7"},
	{`{"op": ">", "left": {"len": "$evidence[*].id"}, "right": 0}`, `len(field("$evidence[*].id")) > 0`},
	{`{"op": ">", "left": {"field": "inputs.rows[0].rent"}, "right": 0}`, "rows[0].rent > 0"},
	{`{"op": "implies", "args": [{"input": "cash_out"}, true]}`, "implies(cash_out, True)"},
	{`{"op": "<", "left": {"op": "neg", "term": {"calc": "noi"}}, "right": {"op": "neg", "term": 5}}`, "-noi < -5"},
	{`{"op": "<", "left": {"op": "-", "left": 1, "right": {"op": "-", "left": 2, "right": 3}}, "right": {"op": "**", ` +
		`"left": {"op": "**", "left": 2, "right": 3}, "right": 2}}`,
		"1 - (2 - 3) < (2 ** 3) ** 2"},
	{`"dscr >= 1.20"`, "dscr >= 1.2"},
}

func init() {
	for _, c := range trees {
		treeSeeds = append(treeSeeds, c.tree)
	}
	for _, c := range badTrees {
		treeSeeds = append(treeSeeds, c.tree)
	}
}

func TestTreesReadAsText(t *testing.T) {
	names := exampleNames(t)
	for _, c := range trees {
		e, err := ParseTree(jsonOf(t, c.tree), names)
		if err != nil {
			t.Errorf("%s: %v", c.tree, err)
			continue
		}
		if e.Text() != c.text {
			t.Errorf("%s\n reads %s\n want  %s", c.tree, e.Text(), c.text)
		}
		if byText := mustParse(t, c.text, names); string(byText.Tree()) != string(e.Tree()) {
			t.Errorf("the two spellings differ:\n%s\n%s", e.Tree(), byText.Tree())
		}
		roundTrip(t, e, names)
	}
}

// Every refusal of a tree says where it is and what would be right (S26, S31).
var badTrees = []struct{ tree, pointer, message, nearest string }{
	{`null`, "", "null is not a value", ""},
	{`{}`, "", "an operand without a key", ""},
	{`{"opp": "=="}`, "", `unknown key "opp"`, ""},
	{`{"clac": "noi"}`, "", `unknown key "clac"`, "calc"},
	{`{"op": "=>", "left": 1, "right": 2}`, "/op", `unknown operator "=>"`, "=="},
	{`{"op": ">", "left": 1, "rihgt": 2}`, "/rihgt", `unknown key "rihgt"`, "right"},
	{`{"op": ">", "left": 1}`, "", `the key "right" is missing`, ""},
	{`{"op": ">", "left": 1, "right": "a"}`, "/right", "a number cannot be compared with a text", ""},
	{`{"op": "and", "terms": [{"op": "+", "left": 1, "right": 2}]}`, "/terms/0",
		"an operand of and must be true/false, and this is a number", ""},
	{`{"op": "and", "terms": []}`, "", "and of nothing", ""},
	{`{"op": "not", "term": 5}`, "/term", "an operand of not must be true/false, and this is a number", ""},
	{`{"op": "in", "left": {"calc": "noi"}, "right": []}`, "/right", "an empty list holds nothing", ""},
	{`{"op": "in", "left": {"calc": "noi"}, "right": [1, "a"]}`, "/right/1", "the list mixes a number with a text", ""},
	{`{"op": "in", "left": {"input": "tier"}, "right": "abc"}`, "/right", "in looks into a list, and this is a text",
		""},
	{`{"op": "if", "cond": true, "then": 5}`, "/then", "what a condition without else asks for must be true/false, " +
		"and this is a number", ""},
	{`{"op": "chain", "ops": ["<"], "terms": [1]}`, "", "a chain has 1 terms and another number of operators than 0",
		""},
	{`{"op": "matches", "args": [{"input": "memo"}]}`, "", `matches needs the argument "pattern"`, ""},
	{`{"op": "matches", "args": [{"input": "memo"}, "a", "b"]}`, "/args/2", "matches takes at most 2 arguments", ""},
	{`{"op": "matches", "args": [{"input": "memo"}, "("]}`, "/args/1",
		"the pattern does not compile: error parsing regexp: missing closing ): `(`", ""},
	{`{"op": "matches", "text": {"input": "memo"}, "patern": "a"}`, "/patern", `matches has no argument "patern"`,
		"pattern"},
	{`{"calc": "dcsr"}`, "/calc", `"dcsr" is not a calculation of the sheet`, "dscr"},
	{`{"calc": "dscr", "view": "clamed"}`, "/view", `unknown view "clamed"`, ""},
	{`{"const": "LIMIT"}`, "/const", `"LIMIT" is not a const of the sheet`, "LIMITS"},
	{`{"field": ""}`, "/field", "the path is empty", ""},
	{`{"field": "a..b"}`, "/field", `the path "a..b" has an empty step`, ""},
	{`{"field": "a[x]"}`, "/field", `the path "a[x]" has a broken subscript`, ""},
	{`{"field": "/a~2"}`, "/field", `the pointer "/a~2" has a broken escape`, ""},
	{`{"field": "$stak.x"}`, "/field", `unknown name space "$stak"`, "$stack"},
	{`{"op": "==", "left": {"field": "claims[*].claim"}, "right": {"input": "given"}}`, "/left/field",
		"[*] cannot be used beside ==", ""},
	{`{"agg": {"op": "sums", "over": "claims", "value": "1"}}`, "/agg/op", `unknown aggregate "sums"`, "sum"},
	{`{"agg": {"op": "sum", "over": "claims"}}`, "", "sum needs the value to take of each row", ""},
	{`{"agg": {"op": "sum", "over": "claims", "value": "risk +"}}`, "/agg/value", "expected a value, found the end",
		""},
	{`{"op": "==", "left": {"data": {"evidence_id": "ledger", "stat": "hist", "column": "a"}}, "right": 5}`,
		"/left/data/stat", "hist needs the value that it counts", ""},
	{`{"op": "==", "left": {"data": {"evidence_id": "leger", "stat": "rows"}}, "right": 5}`, "/left/data/evidence_id",
		`unknown evidence "leger"`, "ledger"},
	{`{"op": "<", "left": 1e400, "right": 5}`, "/left", "the number is out of range", ""},
	{`{"literal": {"a": 1}}`, "/literal", "a literal is a number, a text, true, false or a list of them", ""},
	{`{"row": "x"}`, "", "no row in this place", ""},
	{`{"text": {"metric": "fog", "path": "a"}}`, "/text/metric", `unknown metric "fog"`, ""},
}

func TestTreeRefusals(t *testing.T) {
	names := exampleNames(t)
	for _, c := range badTrees {
		e, err := ParseTree(jsonOf(t, c.tree), names)
		var refused *Error
		if !errors.As(err, &refused) || e != nil {
			t.Errorf("%s is not refused: %v", c.tree, e)
			continue
		}
		if refused.Pointer != c.pointer || refused.Nearest != c.nearest || refused.Msg != c.message &&
			refused.Msg != c.message+"; " {
			t.Errorf("%s\n is refused at %q: %q (%q)\n want %q: %q (%q)", c.tree, refused.Pointer, refused.Msg,
				refused.Nearest, c.pointer, c.message, c.nearest)
		}
	}
	if _, err := ParseTree(nil, names); err == nil {
		t.Error("an absent expression is not refused")
	}
}

// TestTreeIsCanonical: the members of every object are sorted, so the bytes that are hashed are those of RFC 8785.
func TestTreeIsCanonical(t *testing.T) {
	names := exampleNames(t)
	for _, op := range Registry() {
		jsonOf(t, string(mustParse(t, op.Example, names).Tree())).Walk(func(v *strictjson.Value) bool {
			for i := 1; i < len(v.Members); i++ {
				if v.Members[i-1].Key >= v.Members[i].Key {
					t.Errorf("%s: %q before %q", op.Name, v.Members[i-1].Key, v.Members[i].Key)
				}
			}
			return true
		})
	}
}
