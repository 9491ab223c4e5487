package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// TestPrecedence: each text reads as the fully parenthesised one, by Python's rules, and prints as itself.
func TestPrecedence(t *testing.T) {
	names := truthNames()
	for _, c := range []struct{ plain, full string }{
		{"n + c * 2 ** 2 > 1", "((n + (c * (2 ** 2))) > 1)"},
		{"-n ** 2 < 0", "((-(n ** 2)) < 0)"},
		{"2 ** -1 == 0.5", "((2 ** (-1)) == 0.5)"},
		{"2 ** 3 ** 2 == 512", "((2 ** (3 ** 2)) == 512)"},
		{"c - 1 - 1 == 3", "(((c - 1) - 1) == 3)"},
		{"c / 5 * 2 // 1 % 2 == 0", "(((((c / 5) * 2) // 1) % 2) == 0)"},
		{"t or f and not t", "(t or (f and (not t)))"},
		{"not n == 1", "(not (n == 1))"},
		{"not t and f", "((not t) and f)"},
		{"1 if t else 2 if f else 3 == 3", "(1 if t else (2 if f else (3 == 3)))"},
		{"n in [1, 2] or t", "((n in [1, 2]) or t)"},
		{"-list[0] < -1 + 1", "((-(list[0])) < ((-1) + 1))"},
		{"obj.k ** 2 == 1", "(((obj).k ** 2) == 1)"},
	} {
		a, b := mustParse(t, c.plain, names), mustParse(t, c.full, names)
		if string(a.Tree()) != string(b.Tree()) {
			t.Errorf("%s reads as %s, not as %s", c.plain, a.Tree(), b.Tree())
		}
		if a.Text() != c.plain {
			t.Errorf("%s prints as %s", c.plain, a.Text())
		}
	}
}

// TestReadings: other ways to write the same expression, and how it prints.
func TestReadings(t *testing.T) {
	names := exampleNames(t)
	for src, want := range map[string]string{
		"noi>=1_000.50":                                "noi >= 1000.5",
		"true == .5e1 > 0":                             "",
		"log(noi) > 1":                                 "ln(noi) > 1",
		"angle(1, 2) < 3":                              "angdiff(1, 2) < 3",
		"equal_set(needed, given)":                     "equal(needed, given)",
		`datediff(sent, closed, "days")>1`:             "days(sent, closed) > 1",
		"pow(noi, 2) > 1":                              "noi ** 2 > 1",
		"(((noi))) > (1)":                              "noi > 1",
		"noi > --1":                                    "noi > 1",
		"noi > -(-noi)":                                "noi > --noi",
		"tier in ('a', \"b\",)":                        `tier in ["a", "b"]`,
		`tier == 'say "hi"'`:                           `tier == 'say "hi"'`,
		`tier == "it's \"it\""`:                        `tier == "it's \"it\""`,
		`matches(memo, '\\d')`:                         `matches(memo, r"\d")`,
		`matches(memo, r'\\')`:                         `matches(memo, "\\\\")`,
		`tier == "a\tb\u00e9\x01"`:                     `tier == "a\tbé\x01"`,
		"inputs.noi > 1":                               "",
		`inputs["a name"] > 1`:                         `inputs["a name"] > 1`,
		"calc.noi > const.MAX_LTV":                     "noi > MAX_LTV",
		`calc["DSCR"] > 1`:                             "dscr > 1",
		"if(cash_out, noi, loan) > 1":                  "(noi if cash_out else loan) > 1",
		`agg("sum",rows,'rent',where='tenant=="a"')>1`: `agg("sum", rows, "rent", where='tenant == "a"') > 1`,
		`agg("percentile", rows, "rent", p=95) > 1`:    `agg("percentile", rows, "rent", p=95) > 1`,
		`lookup(LIMITS, tier, on_missing="flag") > 1`:  `lookup(LIMITS, tier, "flag") > 1`,
		`field("inputs.loan") > 1`:                     "loan > 1",
		`field("claims[0].a b") == 1`:                  `field("/claims/0/a b") == 1`,
		"x > 1\n and\ty":                               "",
		`agg("all", rows, "rent > noi\n and\t1 < 2")`:  `agg("all", rows, "rent > noi and 1 < 2")`,
	} {
		e, err := ParseText(src, names)
		if want == "" {
			if err == nil {
				t.Errorf("%s is not refused", src)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if e.Text() != want {
			t.Errorf("%s prints as %s, want %s", src, e.Text(), want)
		}
		roundTrip(t, e, names)
	}
}

// Every refusal says where (the column of its caret), what and what would be right (S26, S31).
var badTexts = []struct {
	src     string
	col     int
	message string
	hint    string // a part of it
	nearest string
}{
	{"", 1, "the expression is empty", "dscr >= 1.20", ""},
	{"nio > 1", 1, `unknown name "nio"`, "a name is", "noi"},
	{"noi > 1 +", 10, "expected a value, found the end", "", ""},
	{"noi > 1 2", 9, `"2" does not belong here`, "", ""},
	{"noi = 1", 5, `"=" does not belong here`, "==", ""},
	{"noi > 1,000", 8, `"," does not belong here`, "without commas", ""},
	{"max(1,000) > 1", 7, `"000" begins with a needless 0`, "without commas", ""},
	{"noi ^ 2 > 1", 5, `the character "^" has no meaning here`, "**", ""},
	{"noi > 1 && cash_out", 9, `the character "&" has no meaning here`, "and", ""},
	{"ltv > 10%", 10, "a number is missing after %", "0.10", ""},
	{"ltv > $5", 7, `the character "$" has no meaning here`, "number alone", ""},
	{"ltv >= 80x", 10, "a number runs into a name", "operator", ""},
	{"noi > 'a", 7, "a text in quotes does not end", "close it", ""},
	{`tier == "\d"`, 10, `unknown escape \d`, "raw text", ""},
	{`tier == "\ud800"`, 10, "the escape is half of a surrogate pair", "itself", ""},
	{"(noi > 1", 9, "expected , or ), found the end", "", ""},
	{"rows[0 > 1", 11, "expected : or ] in a subscript, found the end", "", ""},
	{"maxx(1, 2) > 1", 1, `unknown function "maxx"`, "functions", "max"},
	{"abs() > 1", 1, `abs needs the argument "x"`, "abs(x)", ""},
	{"abs(1, 2) > 1", 8, "abs takes at most 1 arguments", "abs(x)", ""},
	{"round(x=1, 2) > 1", 12, "an argument by place after one by name", "last", ""},
	{"round(1, x=1) > 1", 10, `the argument "x" is given twice`, "round(", ""},
	{"round(1, plaecs=1) > 1", 10, `round has no argument "plaecs"`, "round(", "places"},
	{`abs("a") > 1`, 5, "x of abs must be a number, and this is a text", "", ""},
	{"noi + (1 < 2) > 1", 8, "the right of + must be a number, and this is true/false", "", ""},
	{"noi > 1 and 5", 13, "an operand of and must be true/false, and this is a number", "", ""},
	{`tier == "a" == 1`, 16, "a text cannot be compared with a number", "like with like", ""},
	{"1 < 2 < (1 < 2)", 10, "the right of < must be a number or a text, and this is true/false", "", ""},
	{"noi in []", 8, "an empty list holds nothing", "at least one", ""},
	{"noi in [1, 'a']", 12, "the list mixes a number with a text", "one type", ""},
	{"noi in 'abc'", 8, "in looks into a list, and this is a text", "contains(", ""},
	{"1 in ['a']", 6, "a number is never in a list of a text", "like with like", ""},
	{"cash_out if noi > 1", 20, "expected else, found the end", "if(condition", ""},
	{"if(cash_out, 5)", 14, "what a condition without else asks for must be true/false, and this is a number", "", ""},
	{"if(cash_out)", 1, "if takes 2 or 3 arguments, not 1", "if(", ""},
	{"memo.lower() == 'a'", 6, "a value has no methods", "lower(…)", ""},
	{"[r for r in rows] == 1", 2, `unknown name "r"`, "", ""},
	{"[noi for r in rows] == 1", 6, "lists are not computed in brackets", "agg(", ""},
	{"noi == None", 8, "None is not a value", "nonempty", ""},
	{"row.x > 1", 1, `unknown name "row"`, "rows exist only inside", ""},
	{"const.LIMIT > 1", 1, `"LIMIT" is not a const of the sheet`, "declare", "LIMITS"},
	{"$stacks.a > 1", 1, `unknown name space "$stacks"`, "$stack", "$stack"},
	{`agg("sum", rows, rent) > 1`, 18, "value of agg is a row expression", "in quotes", ""},
	{`agg("sum", rows, "rent + ") > 1`, 26, "expected a value, found the end", "", ""},
	{`agg("sum", rows, r"rent +\d") > 1`, 26, `the character "\\" has no meaning here`, "", ""},
	{`agg("sum", rows, "rent", p=5) > 1`, 28, "sum takes no p", "percentile", ""},
	{`agg("percentile", rows, "rent") > 1`, 1, "percentile needs p", "p=95", ""},
	{`agg("percentile", rows, "rent", p=101) > 1`, 35, "p must be above 0 and at most 100", "p=95", ""},
	{`agg("all", rows, "rent + 1")`, 19, "the value of all must be true/false, and this is a number", "", ""},
	{`agg("count", rows, where="rent + 1") > 1`, 27, "where must be true/false, and this is a number", "", ""},
	{`agg(noi, rows, "rent") > 1`, 5, "op of agg must be a text written out, so that it can be checked at load", "agg(",
		""},
	{`matches(memo, "(") and cash_out`, 15,
		"the pattern does not compile: error parsing regexp: missing closing ): `(`", "RE2", ""},
	{`matches(memo, tier)`, 15, "pattern of matches must be a text written out, so that it can be checked at load", "",
		""},
	{`extract(memo, "a", 1) == given`, 20, "the pattern has 0 groups", "", ""},
	{"band(score, [(1, 2), (3, 4)]) > 1", 22, "the bounds of a band go from high to low", "first bound", ""},
	{"band(score, [1, 2]) > 1", 13, "the cuts of a band are pairs of a number and a value", "write", ""},
	{"piecewise(score, STEPS) > 1", 18, "the table of piecewise: its first numbers are not in order", "", ""},
	{`lookup(LIMITS, tier, "warn") > 1`, 22, `unknown on_missing "warn"`, "skip", ""},
	{`datediff(sent, closed, "weeks") > 1`, 24, `unknown unit "weeks"`, "days", ""},
	{`datediff(sent, closed, "days", FEDERAL) > 1`, 32, "days takes no calendar", "business_days", ""},
	{"FEDERAL > 1", 1, "the left of > must be a number or a text, and this is a calendar", "", ""},
	{`evidence("leger", "#/a") == 1`, 10, `unknown evidence "leger"`, "", "ledger"},
	{`data("ledger", "row") == 1`, 16, `unknown statistic "row"`, "", "rows"},
	{`data("ledger", "hist", "a") == 1`, 16, "hist needs the value that it counts",
		`data("id", "hist", "column", "value")`, ""},
	{`data("ledger", "hist", "a", " ") == 1`, 16, "hist needs the value that it counts", "nulls", ""},
	{`data("ledger", "hist") == 1`, 16, "hist needs the value that it counts", "", ""},
	{`field("claims[*].a") == given`, 7, "[*] cannot be used beside ==", "[*]", ""},
	{`field("claims..a") == 1`, 7, `the path "claims..a" has an empty step`, "", ""},
	{`normalise(memo, "caes") == "a"`, 17, `unknown step "caes"`, "", "case"},
	{"1e350 > noi", 1, `the number "1e350" is out of range`, "±300", ""},
	{"1.23456789012345678901234567890 > noi", 1, "the number has too many digits", "28", ""},
	{strings.Repeat("noi + ", 70) + "1 > 0", 1, "nested more than 64 deep", "calculation", ""},
	{strings.Repeat("(", 300), 257, "nested too deeply", "split", ""},
	// -1 is read as two
	{"max(" + strings.Repeat("-1,", 1300) + "1) > 0", 3006, "more than 2000 operands and operations", "split", ""},
	{strings.Repeat("a", 4001), 1, "the text has 4001 characters, at most 4000 are allowed", "split", ""},
	{"noi > \xff", 1, "the text is not valid UTF-8", "UTF-8", ""},
	{"not not", 8, "expected a value, found the end", "", ""},
	{"noi not 5", 9, "expected in after not, found \"5\"", "", ""},
	{"1 < noi in given", 9, "in cannot be part of a chain of comparisons", "and", ""},
}

func TestTextRefusals(t *testing.T) {
	names := exampleNames(t)
	for _, c := range badTexts {
		e, err := ParseText(c.src, names)
		var refused *Error
		if !errors.As(err, &refused) || e != nil {
			t.Errorf("%s is not refused", c.src)
			continue
		}
		if refused.Msg != c.message || refused.Col != c.col || refused.Nearest != c.nearest ||
			!strings.Contains(refused.Hint, c.hint) {
			t.Errorf("%.80s\n column %d: %s; %s (%s)\n want   %d: %s; %s (%s)", c.src, refused.Col, refused.Msg,
				refused.Hint, refused.Nearest, c.col, c.message, c.hint, c.nearest)
		}
	}
}

func TestCaret(t *testing.T) {
	_, err := ParseText("noi > 1\n  and nio < 2", exampleNames(t))
	var refused *Error
	if !errors.As(err, &refused) {
		t.Fatal("not refused")
	}
	if got, want := refused.Caret(), "  and nio < 2\n      ^"; got != want {
		t.Errorf("caret\n%s\nwant\n%s", got, want)
	}
	if got, want := err.Error(), `column 15: unknown name "nio" (did you mean "noi"?); a name is a calculation, a `+
		`const or a declared input of the sheet`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if (&Error{Msg: "x"}).Caret() != "" {
		t.Error("a caret without a text")
	}
}

// TestNames is rules.md 1: calculation, const, input in this order; a field of the row where nothing else is declared;
// a name that is known to be both is refused.
func TestNames(t *testing.T) {
	one := jsonOf(t, "1")
	names := &Names{Calcs: []string{"a", "row", "Debt Yield"}, Consts: map[string]*strictjson.Value{"a": one, "b": one,
		"calc": one}, Inputs: []string{"a", "b", "c", "rows", "and"},
		RowFields: func(path string) []string { return map[string][]string{"inputs.rows": {"c", "d"}}[path] }}
	for src, tree := range map[string]string{
		"a > 0":              `{"left":{"calc":"a"},"op":">","right":0}`,
		"b > 0":              `{"left":{"const":"b"},"op":">","right":0}`,
		"c > 0":              `{"left":{"input":"c"},"op":">","right":0}`,
		"const.a > inputs.a": `{"left":{"const":"a"},"op":">","right":{"input":"a"}}`,
		"row > 0":            `{"left":{"calc":"row"},"op":">","right":0}`,
		"const.calc > 0":     `{"left":{"const":"calc"},"op":">","right":0}`,
		`inputs["and"] > 0`:  `{"left":{"input":"and"},"op":">","right":0}`,
		"calc.debt_yield > calc[\"DEBT-YIELD\"]": `{"left":{"calc":"Debt Yield"},"op":">","right":{"calc":"Debt ` +
			`Yield"}}`,
		`agg("any", rows, "d > a and e > row.c + inputs.c + b")`: `{"agg":{"op":"any"` +
			`,"over":{"input":"rows"},"value":{"op":"and","terms":[{"left":{"row":"d"},"op":">",` +
			`"right":{"calc":"a"}},{"left":{"row":"e"},"op":">","right":{"left":{"left":{"row":"c"},"op":"+",` +
			`"right":{"input":"c"}},"op":"+","right":{"const":"b"}}}]}}}`,
		`agg("any", rows, "row.a > calc.row and row[\"x y\"] and row == row.row")`: `{"agg":{"op":"any"` +
			`,"over":{"input":"rows"},"value":{"op":"and","terms":[{"left":{"row":"a"},"op":">",` +
			`"right":{"calc":"row"}},{"row":"x y"},{"left":{"row":true},"op":"==","right":{"row":"row"}}]}}}`,
		`agg("any", rows, "agg('any', row.d, 'x > outer.d and outer.outer > 1')")`: "",
		`agg("any", rows, "agg('any', row.d, 'x > outer.d and outer[\"outer\"] > 1 and outer == 1')")`: `{"agg":{"op":"any"` +
			`,"over":{"input":"rows"},"value":{"agg":{"op":"any","over":{"row":"d"},"value":` +
			`{"op":"and","terms":[{"left":{"row":"x"},"op":">","right":{"outer":"d"}},{"left":{"outer":"outer"},` +
			`"op":">","right":1},{"left":{"outer":true},"op":"==","right":1}]}}}}}`,
		`agg("any", rows, "c > 1")`: "", // both a field of the rows and an input
		"d > 0":                     "",
		"calc.c > 0":                "",
	} {
		e, err := ParseText(src, names)
		if tree == "" {
			if err == nil {
				t.Errorf("%s is not refused", src)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if string(e.Tree()) != tree {
			t.Errorf("%s reads as %s\nwant %s", src, e.Tree(), tree)
		}
		roundTrip(t, e, names)
	}
	_, err := ParseText(`agg("any", rows, "c > 1")`, names)
	if err == nil || err.Error() != `column 19: "c" is a field of the row and a declared input; write row.c for the `+
		`field, inputs.c for the other` {
		t.Errorf("%v", err)
	}
}

func TestRefs(t *testing.T) {
	names := exampleNames(t)
	e := mustParse(t, `noi > claimed("dscr") + MAX_LTV and agg("any", rows, "rent > loan") and has_phrase(memo, `+
		`HEDGE) and evidence("ledger", "#/a") == 1 and field("claims[0].x") == 2 and noi > 0`, names)
	r := e.Refs()
	for _, c := range []struct{ got, want []string }{{r.Calcs, []string{"noi", "dscr"}},
		{r.Consts, []string{"MAX_LTV"}}, {r.Inputs, []string{"rows", "loan", "memo"}},
		{r.Fields, []string{"rent", "/claims/0/x"}}, {r.Lexicons, []string{"HEDGE"}},
		{r.Evidence, []string{"ledger"}}} {
		if strings.Join(c.got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	r.Calcs[0] = "changed"
	if e.Refs().Calcs[0] != "noi" {
		t.Error("refs are shared")
	}
}

func TestInputTypes(t *testing.T) {
	names := exampleNames(t)
	names.InputTypes = map[string]string{"loan": "number", "tier": "string", "cash_out": "boolean", "rows": "array"}
	for src, ok := range map[string]bool{"loan > 1": true, `loan == "a"`: false, "tier > loan": false, "cash_out": true,
		"loan and cash_out": false, "not tier": false, "rows > 1": false, "score == 1": true} {
		if _, err := ParseText(src, names); (err == nil) != ok {
			t.Errorf("%s: %v", src, err)
		}
	}
	if mustParse(t, "loan", names).Boolean() || !mustParse(t, "cash_out", names).Boolean() ||
		mustParse(t, "loan + 1", names).Boolean() || !mustParse(t, "loan > 1", names).Boolean() {
		t.Error("what is a predicate")
	}
}
