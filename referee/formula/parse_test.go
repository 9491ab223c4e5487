package formula

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
)

// refusals holds every branch that refuses a text: the column where it does, a part of the message, a part of the hint.
var refusals = []struct {
	src   string
	names string // separated by |
	col   int
	msg   string
	hint  string
}{
	{"", "", 1, "empty", "state how"},
	{"  \n ", "", 1, "empty", ""},
	{"noi ^ 2", "noi", 5, "'^'", "use **"},
	{"1,000 + noi", "noi", 2, "the comma in 1,000", "write 1000: commas separate arguments"},
	{"noi / 12,345,678", "noi", 9, "12,345,678", "write 12345678"},
	{"(1,000)", "", 3, "1,000", "write 1000"},
	{"max(1,000)", "", 6, "1,000", "write 1000"},
	{"max((1,250), 2)", "", 7, "1,250", "write 1250"},
	{"max(1,250,050)", "", 6, "1,250,050", "write 1250050"},
	{"0,125 * noi", "noi", 2, "comma outside", "decimals with a point"},
	{"a, b", "a|b", 2, "comma outside", "commas separate"},
	{"10%", "", 3, "not followed by a value", "write 10/100 or 0.1"},
	{"gpr * 10% - 5", "gpr", 9, "not followed by a value", "write 10/100 or 0.1"},
	{"10%-3", "", 3, "not followed by a value", "write 10/100"},
	{"10% of noi", "noi", 3, "not followed by a value", "write 10/100"},
	{"(7.5%)", "", 5, "not followed by a value", "write 7.5/100 or 0.075"},
	{"vacancy% * gpr", "vacancy|gpr", 8, "not followed by a value", "divide by 100"},
	{"max(5%, 2)", "", 6, "not followed by a value", "write 5/100 or 0.05"},
	{"$5 + 1", "", 1, "currency sign $", "number alone"},
	{"5 €", "", 3, "currency sign €", "number alone"},
	{"noi * £3", "noi", 7, "currency sign £", ""},
	{"2(3)", "", 2, "side by side: 2 (", "write *"},
	{"12 P", "P", 4, "side by side: 12 P", "write *"},
	{"12 * P [r]", "P|r", 8, "subscript", "input of its own"},
	{"P (1 + r)", "P|r", 3, "side by side: P (", "write *"},
	{"(a)(b)", "a|b", 4, "side by side", "write *"},
	{"(a) b", "a|b", 5, "side by side: ) b", "write *"},
	{"2x", "x", 2, "side by side: 2 x", "write *"},
	{"a b", "a|b", 3, "side by side: a b", "write *"},
	{"0x10", "", 2, "side by side", ""},
	{"1.2.3", "", 4, "a point behind a value", ""},
	{"net income divided by debt", "noi|ads", 5, `"income" after "net"`, `the inputs are "noi", "ads"`},
	{"see spreadsheet", "", 5, "words, not a formula", "no inputs"},
	{"a if b else c", "a|b|c", 3, "conditions", "min and max"},
	{"not a", "a", 1, "conditions", ""},
	{"a and b", "a|b", 3, "conditions", ""},
	{"a == b", "a|b", 3, `"="`, "no comparison"},
	{"a + b = c", "a|b|c", 7, `"="`, "no assignment"},
	{"a = b = c", "a|b|c", 7, `"="`, "no assignment"},
	{"a - b = c", "a|b|c", 7, `"="`, "no comparison"},
	{"a <= b", "a|b", 3, `"<"`, "no comparison"},
	{"a ≥ b", "a|b", 3, "≥", "no comparison"},
	{"= noi / ads", "noi|ads", 1, "an =", "leave it out"},
	{"noi.total", "noi", 4, "point behind a value", "no attributes"},
	{"rents[0]", "rents", 6, "subscript", ""},
	{"'noi'", "noi", 1, "'\\''", "no strings"},
	{`"noi" * 2`, "noi", 1, "", "no strings"},
	{"`noi`", "noi", 1, "'`'", "numbers, input names"},
	{"round(x, ndigits=2)", "x", 17, "keyword arguments", "in order"},
	{"roud(x)", "x", 1, `no function "roud"`, "did you mean round?"},
	{"MAX(1, 2)", "", 1, `no function "MAX"`, "did you mean max?"},
	{"eval(x)", "x", 1, `no function "eval"`, "the functions are abs min max"},
	{"__import__(x)", "x", 1, `no function "__import__"`, ""},
	{"sqrt(1, 2)", "", 1, "sqrt takes 1 argument, not 2", "write sqrt(x)"},
	{"round()", "", 1, "round takes 1 or 2 arguments, not 0", ""},
	{"pmt(1)", "", 1, "pmt takes 3 arguments, not 1", "pmt(rate, n, pv)"},
	{"npv(1)", "", 1, "npv takes 2 or more", ""},
	{"len(a + b)", "a|b", 5, "name of a list", "len(list)"},
	{"max(1,)", "", 7, "closing bracket where a value", ""},
	{"(1", "", 3, "opened at column 1", "write )"},
	{"max(1, 2", "", 9, "opened at column 4", ""},
	{"1)", "", 2, "without an opening", ""},
	{"1 +", "", 4, "ends where a value", ""},
	{"* 2", "", 1, `"*" where a value`, "each side"},
	{"1 + / 2", "", 5, `"/" where a value`, ""},
	{"2 *** 3", "", 5, `"*" where a value`, ""},
	{"{1}", "", 1, "'{'", "round brackets"},
	{"1 ; 2", "", 3, "';'", "one expression"},
	{"3²", "", 2, "'²'", "use **2"},
	{"3 – 2", "", 3, "'–'", "use -"},
	{"1 + \u202e2", "", 5, "invisible character <U+202E>", "leave it out"},
	{"1 \x00", "", 3, "invisible character <U+0000>", ""},
	{"1 \xff", "", 3, "'\ufffd'", ""},
	{"1e5000000", "", 1, "out of range", "34 significant digits"},
	{"1e301", "", 1, "out of range", ""},
	{"2 + 12345678901234567890123456789012345", "", 5, "out of range", ""},
	{"0." + strings.Repeat("0", 70) + "1", "", 1, "out of range", "64 characters"},
	{"Noi + 1", "NOI|noi", 1, `may be the input "NOI" or "noi"`, "exactly"},
	{"noi-reserves", "noi|reserves|noi-reserves", 1, "also reads as a calculation", "rename"},
	{"vacancy % -3", "vacancy|vacancy %", 1, "also reads as a calculation", "rename"},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		var names []string
		if c.names != "" {
			names = strings.Split(c.names, "|")
		}
		f, err := Parse(c.src, names)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || f != nil {
			t.Errorf("%q: %v, %v, want a *SyntaxError", c.src, f, err)
			continue
		}
		if syntax.Col != c.col || !strings.Contains(quoteless(syntax.Msg), quoteless(c.msg)) ||
			!strings.Contains(syntax.Hint, c.hint) || syntax.Src != c.src {
			t.Errorf("%q: %v\nwant column %d, %q, %q", c.src, syntax, c.col, c.msg, c.hint)
		}
		if !strings.HasPrefix(syntax.Error(), "column ") {
			t.Errorf("%q: %s", c.src, syntax)
		}
		checkCaret(t, syntax)
	}
}

// quoteless lets the table write ' where the message has ".
func quoteless(s string) string { return strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(s) }

// checkCaret holds what every caret promises: two lines, at most 72 columns, ^ last.
func checkCaret(t *testing.T, e *SyntaxError) {
	t.Helper()
	lines := strings.Split(e.Caret(), "\n")
	if len(lines) != 2 || strings.TrimLeft(lines[1], " ") != "^" || len([]rune(lines[0])) > 72 || len(lines[1]) > 72 {
		t.Errorf("%q: caret\n%s", e.Src, e.Caret())
	}
	if strings.ContainsFunc(e.Caret(), func(r rune) bool { return r != '\n' && isShapeless(r) }) {
		t.Errorf("%q: the caret holds a control character: %q", e.Src, e.Caret())
	}
}

func TestCaret(t *testing.T) {
	long := strings.Repeat("a + ", 30) + "$5 + " + strings.Repeat("b + ", 30) + "1"
	for _, c := range []struct {
		src  string
		want string
	}{
		{"noi ^ 2", "noi ^ 2\n    ^"},
		{"noi +", "noi +\n     ^"},
		{"a\u202e ^ 1", "a<U+202E> ^ 1\n ^"},
		{"é ×\t$5", "é × $5\n    ^"},
		{long, "…" + long[86:86+69] + "…\n" + strings.Repeat(" ", 35) + "^"},
	} {
		var syntax *SyntaxError
		if _, err := Parse(c.src, nil); !errors.As(err, &syntax) {
			t.Errorf("%q: %v", c.src, err)
		} else if got := syntax.Caret(); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.src, got, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name, src, msg string
		ok             bool
	}{
		{"2,000 characters", strings.Repeat(" ", 1999) + "1", "", true},
		{"2,001 characters", strings.Repeat("é", 2001), "longer than 2,000", false},
		{"a million characters", strings.Repeat("1+", 500_000) + "1", "longer than 2,000", false},
		{"511 parts", strings.Repeat("1+", 255) + "1", "", true},
		{"513 parts", strings.Repeat("1+", 256) + "1", "more than 512 parts", false},
		{"64 brackets", strings.Repeat("(", 64) + "1" + strings.Repeat(")", 64), "", true},
		{"65 brackets", strings.Repeat("(", 65) + "1" + strings.Repeat(")", 65), "deeper than 64", false},
		{"100,000 brackets", strings.Repeat("(", 100_000), "longer than 2,000", false},
		{"65 signs", strings.Repeat("-", 65) + "1", "deeper than 64", false},
		{"65 powers", strings.Repeat("1**", 65) + "1", "deeper than 64", false},
		{"65 calls", strings.Repeat("abs(", 65) + "1" + strings.Repeat(")", 65), "deeper than 64", false},
	} {
		f, err := Parse(c.src, nil)
		if c.ok {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if _, err := f.Eval(nil); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var limit *LimitError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), c.msg) || limit.Hint == "" {
			t.Errorf("%s: %v, want a *LimitError with %q", c.name, err, c.msg)
			continue
		}
		checkCaret(t, limit.SyntaxError)
		if errors.As(err, new(*SyntaxError)) {
			t.Errorf("%s is also a syntax error", c.name)
		}
	}
}

func TestNormalisations(t *testing.T) {
	for _, c := range []struct {
		src, names, canonical string
		notes                 []string
	}{
		{"a × b ÷ c − 1", "a|b|c", "a * b / c - 1", []string{"× read as *", "÷ read as /", "− read as -"}},
		{"−a ** −2", "a", "-a ** -2", []string{"− read as -"}},
		{"DSCR = noi / ads", "noi|ads", "noi / ads", []string{`leading "DSCR =" left out`}},
		{"Cap Rate (%) = noi / value", "noi|value", "noi / value", []string{`leading "Cap Rate (%) =" left out`}},
		{"Loan-to-Value = loan / value", "loan|value", "loan / value", []string{`leading "Loan-to-Value =" left out`}},
		{"1_000_000 * a", "a", "1000000 * a", []string{"1_000_000 read as 1000000"}},
		{"max(1,250)", "", "max(1, 250)", []string{"1,250 read as separate arguments"}},
		{"max(1, 250)", "", "max(1, 250)", nil},
		{"Gross Potential Rent - vacancy", "gross potential rent|vacancy", "gross potential rent - vacancy",
			[]string{`"Gross Potential Rent" read as the input "gross potential rent"`}},
		{"noi/Debt  Service", "NOI|Debt Service", "NOI / Debt Service", []string{`"noi" read as the input "NOI"`,
			`"Debt  Service" read as the input "Debt Service"`}},
		{"debt service / debt", "debt|debt service", "debt service / debt", nil},
		{"debt_service / debt", "debt|debt service", "debt service / debt",
			[]string{`"debt_service" read as the input "debt service"`}},
		{"Loan-to-Value * value", "Loan-to-Value|value", "`Loan-to-Value` * value", nil},
		{"loan-to * 2", "Loan-to|loan", "loan - to * 2", nil},
		{"12-month rent / 12", "12-month rent", "`12-month rent` / 12", nil},
		{"P&L + 1", "P&L", "`P&L` + 1", nil},
		{"noi + NOI", "NOI|noi", "noi + NOI", nil},
		{"rate of return * 2", "rate|rate of return|return", "rate of return * 2", nil},
		{"max * max(max, 2)", "max", "max * max(max, 2)", nil},
		{"2 * 1e5", "2|1e5", "2 * 100000", nil},
		{"unknown + 1", "", "unknown + 1", nil},
		{"10 % 3", "", "10 % 3", nil}, {"10%3", "", "10 % 3", nil}, {"10% a", "a", "10 % a", nil},
		{"10 % -3", "", "10 % -3", nil}, {"a%(b)", "a|b", "a % b", nil},
		{"of % of", "of", "of % of", nil},
	} {
		f, err := Parse(c.src, strings.Split(c.names, "|"))
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if f.Canonical() != c.canonical || !slices.Equal(f.Notes(), c.notes) || f.Source() != c.src {
			t.Errorf("%q: %q, %q\nwant %q, %q", c.src, f.Canonical(), f.Notes(), c.canonical, c.notes)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a*(b)", "a * b"}, {"a*b", "a * b"}, {"pow(a,b)", "a ** b"}, {"a**b", "a ** b"}, {"log(a)", "ln(a)"},
		{"log(a, 10)", "log(a, 10)"}, {"0.50", "0.5"}, {"5e-1", "0.5"}, {"+a", "a"},
		{"b*a", "b * a"}, {"(a+b)+c", "a + b + c"}, {"a+(b+c)", "a + (b + c)"}, {"a-(b-c)", "a - (b - c)"},
		{"(a*b)/c", "a * b / c"}, {"a*(b/c)", "a * (b / c)"}, {"(a+b)*c", "(a + b) * c"},
		{"(-a)**b", "(-a) ** b"}, {"-a**b", "-a ** b"}, {"-(a**b)", "-a ** b"}, {"(a**b)**c", "(a ** b) ** c"},
		{"a**(b**c)", "a ** b ** c"}, {"a**(-b)", "a ** -b"}, {"a**(b*c)", "a ** (b * c)"},
		{"(-a)*b", "-a * b"}, {"-(a*b)", "-(a * b)"}, {"a*(-b)", "a * -b"}, {"a-(-b)", "a - -b"}, {"-(-a)", "--a"},
		{"((a))", "a"}, {"max( a,(b) )", "max(a, b)"}, {"pow(-a, 2)", "(-a) ** 2"},
		{"1e40", "1e+40"}, {"9e34", "9e+34"}, {"9e33", "9" + strings.Repeat("0", 33)}, {"1000", "1000"}, {"0.00", "0"},
		{"1.2345678901234567890123456789012345", "err"}, {"1.234567890123456789012345678901234",
			"1.234567890123456789012345678901234"}, {"1e-20", "1e-20"}, {"1.50e-13", "1.5e-13"},
		{"0.000000000001", "0.000000000001"},
	} {
		f, err := Parse(c.src, []string{"a", "b", "c"})
		if err != nil {
			if c.want != "err" {
				t.Errorf("%s: %v", c.src, err)
			}
			continue
		}
		if f.Canonical() != c.want {
			t.Errorf("%s: %s, want %s", c.src, f.Canonical(), c.want)
		}
	}
}

// A name that looks like an expression never prints as one: two formulas of equal canonical text are the same function.
func TestCanonicalNamesAreApart(t *testing.T) {
	variable := mustParse(t, "x-y", "x-y")
	difference := mustParse(t, "x-y", "x", "y")
	if variable.Canonical() == difference.Canonical() {
		t.Errorf("both are %s", variable.Canonical())
	}
	ticks, err := parseQuoted("`a``b`", nil)
	if err != nil || ticks.Canonical() != "`a``b`" || ticks.Vars()[0] != "a`b" {
		t.Errorf("%v, %v", ticks, err)
	}
}

func TestNormaliseWith(t *testing.T) {
	f := mustParse(t, "Net Income / DS + DS", "Net Income", "DS")
	names := map[string]string{"Net Income": "noi", "DS": "debt_service"}
	g := f.NormaliseWith(func(s string) string { return names[s] })
	if g.Canonical() != "noi / debt_service + debt_service" ||
		!slices.Equal(g.Vars(), []string{"noi", "debt_service"}) {
		t.Errorf("%s, %q", g.Canonical(), g.Vars())
	}
	if f.Canonical() != "Net Income / DS + DS" {
		t.Errorf("the original became %s", f.Canonical())
	}
	if v, err := g.Eval(Inputs{"noi": number("6"), "debt_service": number("3")}); err != nil || v.String() != "5" {
		t.Errorf("%v, %v", v, err)
	}
	// Two variables never become one.
	for _, c := range []struct{ src, want string }{{"NOI / noi", "NOI / noi"}, {"NOI / Noi", "NOI / Noi"},
		{"NOI / x", "noi / x"}} {
		h := mustParse(t, c.src, "NOI", "noi", "Noi", "x").NormaliseWith(strings.ToLower)
		if h.Canonical() != c.want {
			t.Errorf("%s: %s, want %s", c.src, h.Canonical(), c.want)
		}
	}
}

// Two names of one normal form keep their own values.
func TestNamesAreNotConfused(t *testing.T) {
	f := mustParse(t, "NOI - noi", "noi", "NOI")
	v, err := f.Eval(Inputs{"noi": number("1"), "NOI": number("3")})
	if err != nil || v.String() != "2" {
		t.Errorf("%v, %v", v, err)
	}
}

func TestVars(t *testing.T) {
	f := mustParse(t, "b + a * b - max(c, a)", "a", "b", "c")
	if !slices.Equal(f.Vars(), []string{"b", "a", "c"}) {
		t.Errorf("%q", f.Vars())
	}
}

func TestNormalName(t *testing.T) {
	for in, want := range map[string]string{"DSCR": "dscr", " Debt - Service ": "debt_service",
		"Net Operating Income (NOI)": "net_operating_income_noi", "a__b..c": "a_b_c", "P&L": "pl", "_x_": "x",
		"%": ""} {
		if got := NormalName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzParse: no panic, an error or a formula and never both, a caret within bounds, and print∘parse is the identity.
func FuzzParse(f *testing.F) {
	for _, c := range refusals {
		f.Add(c.src, c.names)
	}
	f.Add("12 * loan * (rate/12) / (1 - (1 + rate/12)**(-360))", "loan|rate")
	f.Add("Net Operating Income (NOI) / 12-month debt", "Net Operating Income (NOI)|12-month debt|x`y")
	f.Add("-a**-b//c%d", "a|b|c|d")
	f.Fuzz(func(t *testing.T, src, names string) {
		keys := strings.Split(names, "|")
		formula, err := Parse(src, keys)
		if err != nil {
			var syntax *SyntaxError
			var limit *LimitError
			if errors.As(err, &limit) {
				syntax = limit.SyntaxError
			} else if !errors.As(err, &syntax) {
				t.Fatalf("%q: %v", src, err)
			}
			if formula != nil || syntax.Col < 1 || syntax.Col > len([]rune(src))+1 || syntax.Msg == "" {
				t.Fatalf("%q: %+v beside %v", src, syntax, formula)
			}
			checkCaret(t, syntax)
			return
		}
		canonical := formula.Canonical()
		again, err := parseQuoted(canonical, keys)
		if err != nil {
			if len([]rune(canonical)) > MaxCharacters || errors.As(err, new(*LimitError)) {
				return // brackets that the tree needs can take the text over the limit of the source
			}
			t.Fatalf("%q: canonical %q: %v", src, canonical, err)
		}
		if again.Canonical() != canonical || !slices.Equal(again.Vars(), formula.Vars()) {
			t.Fatalf("%q: %q becomes %q", src, canonical, again.Canonical())
		}
	})
}

// FuzzEval: no panic and no wait, whatever the formula and its inputs; an error is one of those documented.
func FuzzEval(f *testing.F) {
	f.Add("9**9**9**9", "1", "2")
	f.Add("irr(a, b) + npv(a, l) / len(l)", "-1", "1.1")
	f.Add("round(a, b) % b // a", "1e300", "-1e-300")
	f.Add("exp(exp(a)) ** log(b, a)", "0.9999", "1e-12")
	f.Add("sum(l) - avg(l, a)", "12", "13")
	f.Fuzz(func(t *testing.T, src, a, b string) {
		formula, err := Parse(src, []string{"a", "b", "l"})
		if err != nil {
			return
		}
		x, errX := decimal.Parse(a)
		y, errY := decimal.Parse(b)
		if errX != nil || errY != nil {
			return
		}
		n, err := formula.Eval(Inputs{"a": {Num: x}, "b": {Num: y}, "l": {List: []*decimal.Num{x, y, x}}})
		if (n == nil) == (err == nil) {
			t.Fatalf("%q: %v beside %v", src, n, err)
		}
		var missing *MissingError
		if err != nil && !errors.As(err, &missing) && !errors.Is(err, decimal.ErrUndefined) &&
			!errors.Is(err, decimal.ErrTooLarge) && !errors.Is(err, decimal.ErrAmbiguous) {
			t.Fatalf("%q: %v", src, err)
		}
	})
}

// parseQuoted reads names between backquotes too, as Canonical writes those that are not plain words: "vacancy % 0" is
// a remainder there, although an input is called "vacancy %".
func parseQuoted(src string, names []string) (*Formula, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return quoteName(name) != name })
	return parseFormula(src, newNameTable(names), true)
}
