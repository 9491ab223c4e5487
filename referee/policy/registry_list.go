package policy

func twoLists(name, doc, example string, result typ, eval func(*evaluator, *node, []Val) Val,
	aliases ...string) *function {
	return &function{name: name, aliases: aliases, params: []param{paramOf("a", tList), paramOf("b", tList)},
		result: result,
		group:  groupList, doc: doc, example: example, eval: eval}
}

func oneList(name, doc, example string, result typ, eval func(*evaluator, *node, []Val) Val,
	aliases ...string) *function {
	return &function{name: name, aliases: aliases, params: []param{paramOf("values", tList)}, result: result,
		group: groupList, doc: doc, example: example, eval: eval}
}

var listFunctions = []*function{
	{name: "agg", group: groupList, result: tAny, resultOf: aggResult, lazy: evalAgg, check: checkAgg,
		params: []param{textParam("op"), rowsParam("over"), {name: "value", form: fRow, opt: true},
			{name: "where", form: fRow, opt: true, keyword: true},
			{name: "p", typ: tNum, form: fNumber, opt: true, keyword: true}},
		doc: "An aggregate over rows: count, sum, mean, min, max, rms, stddev (n-1), percentile (nearest rank), " +
			"distinct, list, all, any. value and where are row expressions. " +
			"A row without a member they refer to is an error, never left out. Of no rows: sum and count 0, all " +
			"true, any false, list empty, others missing.",
		example: `agg("sum", rows, "rent * 12", where="tenant != ''") >= 0.97 * noi`},
	oneList("pairs", "A row {a, b} of each item and the next.", `agg("all", pairs(flows), "b >= a")`, tList, evalPairs),
	{name: "entries", params: []param{paramOf("object", tObj)}, result: tList, group: groupList, eval: evalEntries,
		doc:     "A row {key, value} of each member of an object or const table.",
		example: `agg("all", entries(LIMITS), "value <= 1")`},
	oneList("distinct", "The items, each once, in order of first appearance.", "len(distinct(flows)) == len(flows)",
		tList, evalDistinct),
	twoLists("intersect", "The items of a that are in b, each once.", "len(intersect(needed, given)) >= 1", tList,
		setList(func(a, b bool) bool { return a && b })),
	twoLists("union", "The items of a, then those of b that are not in a, each once.", "len(union(needed, given)) <= 9",
		tList, setList(func(a, b bool) bool { return true })),
	twoLists("difference", "The items of a that are not in b, each once.", "len(difference(needed, given)) == 0", tList,
		setList(func(a, b bool) bool { return a && !b })),
	twoLists("subset", "Every item of a is in b.", "subset(needed, given)", tBool,
		setTest(func(a, b set) bool { return countCommon(a, b) == len(a.keys) })),
	twoLists("equal", "a and b hold the same items, order and repetition aside.", "equal(needed, given)", tBool,
		setTest(func(a, b set) bool { return len(a.keys) == len(b.keys) && countCommon(a, b) == len(a.keys) }),
		"equal_set"),
	twoLists("disjoint", "No item is in both.", "disjoint(needed, given)", tBool,
		setTest(func(a, b set) bool { return countCommon(a, b) == 0 })),
	twoLists("jaccard", "Items in both over items in either; 1 for two empty lists.", "jaccard(needed, given) >= 0.9",
		tNum, evalJaccard),
	oneList("unique", "No item occurs twice.", `unique(agg("list", rows, "tenant"))`, tBool, evalUnique),
	oneList("increasing", "Every item is above the one before it: numbers, or dates.", "increasing(flows)", tBool,
		sequenceFunction(func(c int) bool { return c > 0 })),
	oneList("nondecreasing", "No item is below the one before it.", "nondecreasing(flows)", tBool,
		sequenceFunction(func(c int) bool { return c >= 0 })),
	oneList("contiguous", "Every number is the one before it plus 1.", "contiguous([1, 2, 3])", tBool, evalContiguous),
}

var truthFunctions = []*function{
	{name: "implies", params: []param{paramOf("if", tBool), paramOf("then", tBool)}, result: tBool, group: groupTruth,
		lazy: evalImplies,
		doc:  "not a or b: true where the premise is false.", example: "implies(cash_out, ltv <= 0.8)"},
	{name: "nonempty", params: []param{paramX(0)}, result: tBool, group: groupTruth, lazy: evalNonempty,
		doc:     `Holds something: null, "", white space, [] and {} are empty, 0 and False are not (S30).`,
		example: "nonempty(memo)"},
	{name: "all_nonempty", params: []param{rowsParam("over"), {name: "field", typ: tStr, form: fText, opt: true},
		{name: "allow_empty", typ: tBool, form: fTruth, opt: true, keyword: true}},
		result: tBool, group: groupTruth, lazy: evalAllNonempty, check: checkAllNonempty,
		doc: "Every item of a list, or a field of it, holds something; an empty list only with " +
			"allow_empty=True. In evidence references placeholders count as empty (S30).",
		example: `all_nonempty(field("claims"), "evidence_reference")`},
}

var outsideFunctions = []*function{
	{name: "data", params: []param{textParam("id"), textParam("stat"), {name: "column", typ: tStr, opt: true},
		{name: "arg", typ: tStr, form: fText, opt: true}},
		result: tAny, group: groupOutside, lazy: evalData, check: checkData,
		doc: "A statistic recounted from a CSV or JSONL evidence file: rows nulls distinct dups sum mean min max " +
			"hist regex_hits type_errors sha256 bytes. " +
			"arg is the value that hist counts, the pattern of regex_hits, the type of type_errors.",
		example: `data("ledger", "rows") == len(rows)`},
	{name: "evidence", params: []param{textParam("id"), textParam("selector")}, result: tAny, group: groupOutside,
		lazy: evalEvidence, check: checkEvidence,
		doc: "The value at a selector of an evidence file (S61).", example: `evidence("ledger", "#cell=4,2") == noi`},
	{name: "table", params: []param{textParam("id"), {name: "column", typ: tStr, form: fText, variadic: true}},
		result: tList,
		group:  groupOutside, lazy: evalTable, check: checkEvidence,
		doc: "The rows of a CSV or JSONL evidence file in their order, each with the columns named, which are found by " +
			"their headings. A cell of a column that the sheet declares as number is a number, as people write it; " +
			"any other is a text.",
		example: `agg("count", table("ledger", "paid"), "1", where="paid == 'yes'") >= 1`},
	{name: "same_rows", params: []param{paramOf("rows", tList), textParam("id"), {name: "column", typ: tStr, form: fText,
		variadic: true}},
		result: tBool, group: groupOutside, lazy: evalSameRows, check: checkSameRows,
		doc: "The rows are those of a CSV or JSONL evidence file, as many and each once, in any order: of each " +
			"the named columns are compared, a number by its value, a text letter for letter. With one column the " +
			"rows may be the values themselves.",
		example: `same_rows(rows, "ledger", "tenant", "rent")`},
	{name: "prior", params: []param{paramOf("sha", tStr), textParam("path")}, result: tAny, group: groupOutside,
		lazy:    evalPrior,
		doc:     "A value of a ledger receipt, found by its hash and verified again.",
		example: `prior("3f", "/verdict/score") <= 100`},
	{name: "claimed", params: []param{textParam("id")}, result: tAny, group: groupName,
		doc: "The agent's stated result of a calculation (S14).", example: `claimed("dscr") >= 1.2`,
		build: func(c *call) *node { return c.builder.namedNode(kClaimed, c.argumentText(0), c.given[0].place) }},
	{name: "field", params: []param{textParam("path")}, result: tAny, group: groupName,
		doc: "A value of the submission by its path: dotted, or a JSON Pointer; [*] for every item, under " +
			"functions of lists (S28).",
		example: `len(field("claims[*].claim")) >= 1`,
		build:   func(c *call) *node { return c.newPath(c.argumentText(0), c.given[0].place) }},
}
