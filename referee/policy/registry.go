package policy

import "slices"

// The groups of the registry, in the order of the documentation.
const (
	groupOperator = "operators"
	groupNumber   = "numbers"
	groupList     = "lists and rows"
	groupText     = "texts"
	groupDate     = "dates"
	groupTruth    = "conditions"
	groupOutside  = "evidence and ledger"
	groupName     = "names and paths"
)

// Operation is one operand, function or predicate of the language. docs/rules.md and the editors' schema are made from
// these.
type Operation struct {
	Name      string
	Aliases   []string // other spellings, read and never printed
	Signature string
	Group     string
	Result    string // the type of the result: "true/false", "a number", …
	Doc       string
	Example   string
}

// Registry lists every operation: operators first, then functions by group.
func Registry() []Operation {
	out := slices.Clone(operatorDocs)
	for _, f := range functions {
		out = append(out, Operation{Name: f.name, Aliases: slices.Clone(f.aliases), Signature: f.signatureText(),
			Group:  f.group,
			Result: f.result.String(), Doc: f.doc, Example: f.example})
	}
	return out
}

// functions are all functions, group by group.
var functions = slices.Concat(numberFunctions, financeFunctions, listFunctions, textFunctions, dateFunctions,
	truthFunctions, outsideFunctions)

// byName finds a function by its name or an alias; functionNames lists the names in the order of the registry.
var (
	byName        map[string]*function
	functionNames []string
)

func init() { // a variable's initialiser would be a cycle: some functions are built from others
	byName = map[string]*function{}
	for _, f := range functions {
		functionNames = append(functionNames, f.name)
		for _, name := range append([]string{f.name}, f.aliases...) {
			byName[name] = f
		}
	}
}

var operatorDocs = []Operation{
	{Name: "and", Signature: "a and b", Group: groupOperator, Result: "true/false",
		Doc:     "Both. A false side decides, whatever the other; the left is asked first.",
		Example: "noi > 0 and dscr >= 1.2"},
	{Name: "or", Signature: "a or b", Group: groupOperator, Result: "true/false",
		Doc: "Either. A true side decides, whatever the other.", Example: `tier == "market" or dscr >= 1.2`},
	{Name: "not", Signature: "not a", Group: groupOperator, Result: "true/false",
		Doc: "The opposite; unknown stays unknown.", Example: "not cash_out"},
	{Name: "if", Signature: "if(condition, requirement)", Group: groupOperator, Result: "true/false",
		Doc:     "The requirement where the condition holds; where it is false the rule passes, vacuously (S27).",
		Example: "if(cash_out, ltv <= 0.8)"},
	{Name: "if else", Signature: "a if condition else b", Group: groupOperator, Result: "that of a and b",
		Doc:     "a where the condition holds, else b; only that one is evaluated.",
		Example: "ltv <= (0.8 if cash_out else 0.87)"},
	{Name: "== !=", Signature: "a == b", Group: groupOperator, Result: "true/false",
		Doc: "Equality of values of one type, numbers at 28 digits (S32); unknown for different types and where one " +
			"is missing.", Example: `tier != "market"`},
	{Name: "< <= > >=", Signature: "a <= b <= c", Group: groupOperator, Result: "true/false",
		Doc: "Order of numbers, or of ISO dates; comparisons chain.", Example: "0.25 <= ltv <= 0.8"},
	{Name: "in", Signature: "x in list", Group: groupOperator, Result: "true/false",
		Doc: "Membership in a list of values of one type; also not in.", Example: `tier in ["market", "affordable"]`},
	{Name: "+ - * /", Signature: "a + b", Group: groupOperator, Result: "a number",
		Doc: "Decimal arithmetic of 40 digits (S13a).", Example: "noi / (loan * 0.08) - 1 >= 0"},
	{Name: "// %", Signature: "a // b", Group: groupOperator, Result: "a number",
		Doc: "Floor division and its remainder, with Python's signs.", Example: "noi % 12 == 0"},
	{Name: "**", Signature: "a ** b", Group: groupOperator, Result: "a number",
		Doc:     "Power; binds tighter than a minus on its left, and to the right.",
		Example: "(1 + rate / 12) ** -360 < 1"},
	{Name: "subscript", Signature: "list[0], list[-1], list[1:], object.name, object[\"a name\"]", Group: groupOperator,
		Result: "the part", Doc: "An item, a slice or a member; out of range is missing.",
		Example: `rows[0].rent + rows[-1]["rent"] >= 0`},
	{Name: "[ ]", Signature: "[a, b] or (a, b)", Group: groupOperator, Result: "a list", Doc: "A list of operands.",
		Example: "sum([noi, loan]) > 0"},
	{Name: "calc", Signature: "name or calc.name", Group: groupName, Result: "a number",
		Doc: "The recomputed value of a calculation; not recomputable is missing (S14).", Example: "calc.dscr >= 1.2"},
	{Name: "const", Signature: "NAME or const.NAME", Group: groupName, Result: "the const's",
		Doc: "A const of the sheet.", Example: "ltv <= const.MAX_LTV"},
	{Name: "inputs", Signature: "name or inputs.name", Group: groupName, Result: "the input's",
		Doc: "A declared input of the submission.", Example: "inputs.loan > 0"},
	{Name: "lexicon", Signature: "NAME or lexicon.NAME", Group: groupName, Result: "a list",
		Doc: "A declared list of phrases.", Example: "not has_phrase(memo, lexicon.HEDGE)"},
	{Name: "calendar", Signature: "NAME or calendar.NAME", Group: groupName, Result: "a calendar",
		Doc: "A declared working calendar.", Example: "business_days(sent, closed, calendar.FEDERAL) >= 3"},
	{Name: "row", Signature: "name, row.name or row[\"a name\"]; x; outer.name", Group: groupName,
		Result: "the field's", Doc: "A field of the row in a row expression; a row that is no object is x; outer is " +
			"the row around a nested agg.", Example: `agg("all", rows, "row.rent >= 0")`},
	{Name: "$", Signature: "$stack $evidence $flags $atoms $file", Group: groupName, Result: "the engine's",
		Doc: "What the engine knows of the run.", Example: "$stack.params_b >= 7"},
}
