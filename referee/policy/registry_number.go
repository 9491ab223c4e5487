package policy

import "github.com/defendableos/referee/internal/decimal"

func paramX(t typ) param                     { return param{name: "x", typ: t} }
func paramOf(name string, t typ) param       { return param{name: name, typ: t} }
func optionalParam(name string, t typ) param { return param{name: name, typ: t, opt: true} }
func variadicParam(name string, t typ) param { return param{name: name, typ: t, variadic: true} }
func textParam(name string) param            { return param{name: name, typ: tStr, form: fText} }
func rowsParam(name string) param            { return param{name: name, typ: tList, form: fPath} }
func textAt(name string) param               { return param{name: name, typ: tStr, form: fPath} }

// plainFunction makes the entry of a function of one number.
func plainFunction(name, doc, example string, f num1, aliases ...string) *function {
	return &function{name: name, aliases: aliases, params: []param{paramX(tNum)}, result: tNum, group: groupNumber,
		doc:     doc,
		example: example, eval: ofOneNumber(f)}
}

var numberFunctions = []*function{
	plainFunction("abs", "The value without its sign.", "abs(noi - 920000) <= 1", func(a *decimal.Num) (*decimal.Num,
		error) {
		return decimal.Abs(a), nil
	}),
	{name: "min", params: []param{variadicParam("values", tNum|tStr|tList)}, resultOf: extremeType, result: tNum | tStr,
		group: groupNumber, eval: extremeFunction(-1),
		doc:     "The smallest of numbers or dates, of several arguments or of one list; of nothing missing.",
		example: "min(noi, loan) > 0"},
	{name: "max", params: []param{variadicParam("values", tNum|tStr|tList)}, resultOf: extremeType, result: tNum | tStr,
		group: groupNumber, eval: extremeFunction(1),
		doc:     "The largest of numbers or dates, of several arguments or of one list; of nothing missing.",
		example: "max(noi, 0) >= 1"},
	{name: "sum", params: []param{variadicParam("values", tNum|tList)}, result: tNum, group: groupNumber, eval: evalSum,
		doc: "The sum, in the order given; of nothing 0.", example: "sum(flows) > 0"},
	{name: "avg", params: []param{variadicParam("values", tNum|tList)}, result: tNum, group: groupNumber, eval: evalAvg,
		doc: "The mean; of nothing missing.", example: "avg(flows) > 0"},
	{name: "round", params: []param{paramX(tNum), optionalParam("places", tNum)}, result: tNum, group: groupNumber,
		eval: evalRound,
		doc:  "Rounded half to even at the decimal places given, 0 without (S15).", example: "round(dscr, 2) >= 1.2"},
	plainFunction("sqrt", "The square root; of a negative number undefined.", "sqrt(noi) > 0", decimal.Sqrt),
	plainFunction("exp", "e to the power x.", "exp(rate) > 1", decimal.Exp),
	plainFunction("ln", "The natural logarithm; of 0 and below undefined.", "ln(noi) > 0", decimal.Ln, "log"),
	plainFunction("log10", "The logarithm to base 10.", "log10(noi) > 5", decimal.Log10),
	plainFunction("floor", "The largest whole number not above x.", "floor(dscr) >= 1", decimal.Floor),
	plainFunction("ceil", "The smallest whole number not below x.", "ceil(dscr) >= 2", decimal.Ceil),
	{name: "pow", params: []param{paramX(tNum), paramOf("y", tNum)}, result: tNum, group: groupNumber,
		doc: "Another way to write x ** y.", example: "pow(2, 10) == 1024",
		build: func(c *call) *node { return c.arithNode("**", c.given[0], c.given[1], c.place) }},
	plainFunction("sin", "The sine of radians, in decimal: the same digits everywhere.", "sin(radians(30)) < 1",
		decimal.Sin),
	plainFunction("cos", "The cosine of radians.", "cos(0) == 1", decimal.Cos),
	{name: "atan2", params: []param{paramOf("y", tNum), paramX(tNum)}, result: tNum, group: groupNumber,
		eval: ofTwoNumbers(decimal.Atan2),
		doc:  "The angle of the point (x, y) in radians; of (0, 0) undefined.", example: "degrees(atan2(1, 1)) == 45"},
	plainFunction("degrees", "Radians as degrees.", "degrees(atan2(1, 1)) == 45", decimal.Degrees),
	plainFunction("radians", "Degrees as radians.", "radians(180) > 3.14", decimal.Radians),
	{name: "angdiff", aliases: []string{"angle"}, params: []param{paramOf("a", tNum), paramOf("b", tNum)}, result: tNum,
		group: groupNumber, eval: ofTwoNumbers(angleBetween),
		doc: "The shortest arc between two directions in degrees.", example: "angdiff(350, 10) == 20"},
	{name: "range_ratio", params: []param{paramOf("v", tNum), paramOf("lo", tNum), paramOf("hi", tNum)}, result: tNum,
		group: groupNumber, eval: evalRangeRatio,
		doc:     "How far v lies from the middle of the limits, in half spans: above 1 is out of range.",
		example: "range_ratio(ltv, 0, 1) <= 1"},
	{name: "approx", params: []param{paramOf("a", tNum), paramOf("b", tNum), optionalParam("tolerance", tNum)},
		result: tBool,
		group:  groupNumber, eval: evalApprox,
		doc:     "a is within the tolerance of b, relative to b (0.01 without one); where b is 0, a is 0 (S2, S33).",
		example: "approx(claimed(\"dscr\"), dscr, 0.01)"},
	{name: "lookup", params: []param{paramOf("table", tObj), paramOf("key", tStr|tNum),
		{name: "on_missing", typ: tStr, form: fText, opt: true}}, result: tAny, group: groupNumber,
		eval: evalLookup, check: checkLookup,
		doc:     "The entry of a const table; an unknown key is missing, and with on_missing \"flag\" also an issue.",
		example: "ltv <= lookup(LIMITS, tier)"},
	{name: "band", params: []param{paramX(tNum), paramOf("cuts", tList)}, result: tAny, group: groupNumber, lazy: evalBand,
		check: checkBand,
		doc: "A step table from high to low: the value of the first bound that x reaches; below all of them " +
			"missing.",
		example: "ltv <= band(score, [[580, 0.965], [500, 0.9]])"},
	{name: "piecewise", params: []param{paramX(tNum), paramOf("points", tList)}, result: tNum, group: groupNumber,
		eval: evalPiecewise, check: checkPiecewise,
		doc:     "Linear interpolation between points (x, y) in ascending x, flat beyond the ends.",
		example: "piecewise(score, CURVE) >= 70"},
	{name: "to_number", params: []param{paramX(tNum | tStr | tList)}, result: tNum | tList, group: groupNumber,
		eval: evalToNumber,
		doc: "A text, or each text of a list, as a plain decimal; anything else is an issue. The only way from text " +
			"to number.", example: "to_number(\"0.9\") >= 0.8"},
	{name: "len", params: []param{{name: "x", typ: tStr | tList | tObj, form: fPath}}, result: tNum, group: groupList,
		eval: evalLen,
		doc:  "Items of a list, members of an object, code points of a text (S29).", example: "len(rows) >= 3"},
}

var financeFunctions = []*function{
	{name: "pmt", params: []param{paramOf("rate", tNum), paramOf("n", tNum), paramOf("pv", tNum)}, result: tNum,
		group:   groupNumber,
		doc:     "The level payment of a loan pv over n periods at a rate a period.",
		example: "pmt(rate / 12, 360, loan) > 0",
		eval: func(ev *evaluator, n *node, args []Val) Val {
			ev.chargeWork(100)
			return ev.numberResult(n)(decimal.Pmt(args[0].Num, args[1].Num, args[2].Num))
		}},
	{name: "npv", params: []param{paramOf("rate", tNum), paramOf("flows", tList)}, result: tNum, group: groupNumber,
		doc: "The present value of cash flows, the first undiscounted.", example: "npv(0.08, flows) >= 0",
		eval: cashFlowFunction(func(args []Val, cf []*decimal.Num) (*decimal.Num,
			error) {
			return decimal.Npv(args[0].Num, cf)
		},
			1)},
	{name: "irr", params: []param{paramOf("flows", tList)}, result: tNum, group: groupNumber,
		doc: "The internal rate of return in [-0.9, 10]; with other than one change of sign missing, with the issue " +
			"irr_ambiguous.", example: "irr(flows) >= 0.12",
		eval: cashFlowFunction(func(_ []Val, cf []*decimal.Num) (*decimal.Num, error) { return decimal.Irr(cf) }, 0)},
	{name: "rate", params: []param{paramOf("n", tNum), paramOf("pmt", tNum), paramOf("pv", tNum)}, result: tNum,
		group: groupNumber,
		doc: "The rate a period of an annuity of n equal payments, in [1e-9, 1]. n is a whole number above 0: a " +
			"term with a fraction of a month is undefined, so round it as the contract does.",
		example: "rate(360, 2997.75, 500000) < 0.006",
		eval: func(ev *evaluator, n *node, args []Val) Val {
			ev.chargeWork(2000)
			return ev.numberResult(n)(decimal.Rate(args[0].Num, args[1].Num, args[2].Num))
		}},
}

// extremeType is dates or numbers as the arguments are.
func extremeType(n *node) typ {
	t := typ(0)
	for _, a := range n.args {
		t |= a.typ &^ tList
		if a.typ&tList != 0 {
			t |= tNum | tStr
		}
	}
	return t & (tNum | tStr)
}

// evalLen is S29.
func evalLen(ev *evaluator, n *node, args []Val) Val {
	switch args[0].Kind {
	case List:
		return integerValue(len(args[0].List))
	case Obj:
		return integerValue(len(args[0].memberEntries()))
	}
	return integerValue(len([]rune(args[0].Str)))
}
