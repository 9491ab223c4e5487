// Package policy is the three-valued language of a rule's expression (semantics S22–S33, rules.md 1, 1.1, 1.2, 1.4,
// 1.6).
//
// One language has two spellings: the JSON tree of the source documents, {"op": ">=", "left": {"calc": "dscr"},
// "right": 1.20} (ParseTree), and text, dscr >= 1.20 (ParseText). Both build one syntax tree. Tree gives its canonical
// JSON, which is what is hashed and stored; Text gives it as text that can be read aloud. Reading back what was printed
// gives the same tree, in both spellings (FuzzParseText, FuzzParseTree).
//
// # Text
//
// Python's expression syntax, restricted: and or not, chained comparisons, in / not in, + - * / // % **, a if c else b,
// calls, subscripts and slices, .member, lists [a, b] and tuples (a, b), numbers, 'text', "text", r"raw text", True
// False. A statement "if(c, then)" is the conditional without an else: it passes, vacuously, where c is false (S27). A
// row expression, the value and where of agg, is written as a text of its own: agg("sum", rows, "w * s", where="s >
// 0").
//
// # Names
//
// A bare name is, in this order, a calculation of the sheet, a const, a declared input, a lexicon, a calendar. Inside a
// row expression any other name is a field of the row; rows that are not objects are named x, and every row is named
// row. Written out: calc.x, const.X, inputs.x, lexicon.X, calendar.X, row.x, outer.x (the row around a nested agg), and
// calc["a name"] where the name is not a word. Where the rows are known to have a field of that very name, the bare
// name is refused as ambiguous. Paths that are not inputs are field("claims[0].claim"), field("/claims/0/claim"), and
// $stack.params_b for the engine's name spaces.
//
// # Values
//
// Evaluation is Kleene's: true, false and unknown. null is missing, a missing operand makes a comparison unknown, and
// no value is ever taken for another type: "0.9" compared with a number is unknown with an operand_type issue (S23,
// S25). Every refusal at load names what is known nearest to what was written (S26). No input, however hostile, panics:
// depth, size and work are bounded.
package policy
