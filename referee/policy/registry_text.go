package policy

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
)

func textMetric(name, doc, example string, eval func(*evaluator, *node, []Val) Val) *function {
	return &function{name: name, params: []param{textAt("text")}, result: tNum, group: groupText, doc: doc,
		example: example, eval: eval}
}

var textFunctions = []*function{
	{name: "matches", params: []param{paramOf("text", tStr), {name: "pattern", typ: tStr, form: fPattern}}, result: tBool,
		group: groupText, eval: evalMatches,
		doc:     "The regular expression (RE2) matches somewhere in the text.",
		example: `matches(memo, r"\bSection \d+\b")`},
	{name: "extract", params: []param{paramOf("text", tStr), {name: "pattern", typ: tStr, form: fPattern},
		{name: "group", typ: tNum, form: fNumber, opt: true}},
		result: tList, group: groupText, eval: evalExtract, check: checkExtract,
		doc: "What the regular expression finds, in order, repetitions kept: the group given, else the first, else " +
			"the whole.", example: `len(extract(memo, r"\$[\d,]+")) >= 1`},
	{name: "has_phrase", params: []param{paramOf("text", tStr), paramOf("phrases", tList)}, result: tBool,
		group:   groupText,
		eval:    evalHasPhrase,
		doc:     "A phrase of the lexicon stands in the text: case aside, between word boundaries.",
		example: "not has_phrase(memo, HEDGE)"},
	{name: "contains", params: []param{paramOf("text", tStr), paramOf("phrase", tStr)}, result: tBool, group: groupText,
		eval: evalContains,
		doc:  "The phrase stands in the text, letter for letter.", example: `contains(memo, "Governing Law")`},
	{name: "found_in", params: []param{paramOf("quote", tStr), paramOf("text", tStr),
		{name: "min_len", typ: tNum, form: fNumber, opt: true}}, result: tBool, group: groupText,
		eval: evalFoundIn, check: checkFoundIn,
		doc: "The quote stands in the text, white space, case and typography aside; a quote shorter than min_len " +
			"(12) only as a whole line.", example: `found_in("net operating income", memo)`},
	{name: "is_json", params: []param{paramOf("text", tStr)}, result: tBool, group: groupText, eval: evalIsJSON,
		doc: "The text is one JSON document and nothing else, read as strictly as a submission: no name twice " +
			"in an object, no byte order mark, nested at most 64 deep.",
		example: `is_json("{\"tool\": \"search\"}")`},
	{name: "after", params: []param{paramOf("text", tStr), paramOf("marker", tStr)}, result: tStr, group: groupText,
		eval:    evalAfter,
		doc:     "What stands behind the last marker; nothing if there is none.",
		example: `contains(after(memo, "SIGNATURES"), "Harbor LLC")`},
	{name: "lower", params: []param{paramOf("text", tStr)}, result: tStr, group: groupText,
		eval: ofText(func(s string) Val { return Text(strings.ToLower(s)) }),
		doc:  "In lower case.", example: `contains(lower(memo), "governing law")`},
	{name: "normalise", params: []param{paramX(tStr | tList), {name: "step", typ: tStr, form: fText, variadic: true}},
		result: tStr | tList, group: groupText,
		eval: evalNormalise, check: checkNormalise,
		doc: "A text, or each text of a list, with case, space and strip (of space and punctuation at the ends) " +
			"folded as asked.", example: `equal(normalise(needed, "case", "space"), given)`},
	{name: "numbers", params: []param{paramOf("text", tStr)}, result: tList, group: groupText, eval: evalNumbers,
		doc:     "The numbers written in a text, as people write them (1,815,000), without their signs.",
		example: "abs(noi) in numbers(memo)"},
	textMetric("words", "Words of a text, by the frozen tokenizer.", "words(memo) >= 5",
		textCount(func(s string) int { n, _, _, _, _ := measureText(s); return n })),
	textMetric("sentences", "Sentences of a text.", "sentences(memo) >= 1",
		textCount(func(s string) int { return len(sentencesOf(s)) })),
	textMetric("syllables", "Syllables of a text.", "syllables(memo) >= 5",
		textCount(func(s string) int { _, _, n, _, _ := measureText(s); return n })),
	textMetric("fk_grade", "The Flesch-Kincaid grade: 0.39 words/sentences + 11.8 syllables/words - 15.59; of no words "+
		"undefined.", "fk_grade(memo) <= 12", textNumber(fkGrade)),
	textMetric("passive_pct", "The share of sentences with a passive, 0 to 1: a heuristic.", "passive_pct(memo) <= 0.25",
		textNumber(passiveShare)),
	textMetric("max_sentence_words", "Words of the longest sentence.", "max_sentence_words(memo) <= 40",
		textCount(func(s string) int { _, _, _, _, n := measureText(s); return n })),
	textMetric("quoted_words", "Words of the longest text in double quotes.", "quoted_words(memo) >= 2",
		textCount(quotedWords)),
	{name: "shared_ngrams", params: []param{paramOf("items", tList), paramOf("texts", tList),
		{name: "n", typ: tNum, form: fNumber}}, result: tNum, group: groupText,
		eval: evalSharedNgrams, check: checkSharedNgrams,
		doc: "How many of the items, which are texts, share n words in a row with one of the other texts; case " +
			"and punctuation aside.",
		example: `shared_ngrams([memo], ["the net operating income is as"], 4) == 1`},
	{name: "contrast", params: []param{paramOf("fg", tStr), paramOf("bg", tStr)}, result: tNum, group: groupText,
		eval: evalContrast,
		doc:  "WCAG's contrast ratio of two colours #rrggbb.", example: `contrast("#333333", "#ffffff") >= 4.5`},
}

func dateSpan(name, doc, example string, eval func(*evaluator, *node, []Val) Val) *function {
	return &function{name: name, params: []param{paramOf("from", tStr), paramOf("to", tStr)}, result: tNum,
		group: groupDate,
		doc:   doc, example: example, eval: eval}
}

var dateFunctions = []*function{
	dateSpan("days", "Days from one ISO date or time to another; a fraction between times. UTC without a "+
		"offset.", "days(sent, closed) <= 30", datediffIn(86400)),
	dateSpan("hours", "Hours from one ISO date or time to another.", "hours(sent, closed) <= 72", datediffIn(3600)),
	dateSpan("months", "Whole months from one ISO date or time to another.", "months(sent, closed) <= 12", evalMonths),
	{name: "business_days", params: []param{paramOf("from", tStr), paramOf("to", tStr), optionalParam("calendar",
		tCalendar)},
		result: tNum, group: groupDate, eval: evalBusinessDays,
		doc: "Working days after the first date, up to and including the second; without a calendar Monday to " +
			"Friday are worked.",
		example: "business_days(sent, closed, FEDERAL) >= 3"},
	{name: "add_months", params: []param{paramOf("date", tStr), paramOf("n", tNum)}, result: tStr, group: groupDate,
		eval: evalAddMonths,
		doc: "The date on which n months from a date end: the same day, or the last day of a month that is " +
			"shorter. What months counts back.",
		example: "closed <= add_months(sent, 12)"},
	{name: "working_day", params: []param{paramOf("date", tStr), optionalParam("calendar", tCalendar)}, result: tStr,
		group: groupDate, eval: evalWorkingDay,
		doc: "The date itself where it is worked, else the first day after it that is; without a calendar " +
			"Monday to Friday are worked.",
		example: "closed <= working_day(add_months(sent, 12), FEDERAL)"},
	{name: "datediff", params: []param{paramOf("from", tStr), paramOf("to", tStr), textParam("unit"),
		optionalParam("calendar",
			tCalendar)},
		result: tNum, group: groupDate,
		doc:     `Another way to write days, hours, months and business_days: datediff(from, to, "days").`,
		example: `datediff(sent, closed, "months") <= 12`, build: buildDatediff},
}

var units = []string{"days", "hours", "months", "business_days"}

func buildDatediff(c *call) *node {
	unit := c.given[2]
	if !slices.Contains(units, unit.lit.Str) {
		refuseNear(unit.place, nearest.Word(unit.lit.Str, units), "the units are "+strings.Join(units, ", "),
			"unknown unit %s", quoteShort(unit.lit.Str))
	}
	same := c.newCall(unit.lit.Str, c.place)
	same.given = append(c.given[:2:2], c.given[3:]...)
	if len(same.given) > 2 && same.fn.paramAt(2) == nil {
		refuse(c.given[3].place, "only business_days counts by a calendar", "%s takes no calendar", unit.lit.Str)
	}
	return same.finishCall()
}
