package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// maxWork bounds an evaluation that no audit meters, in the units of decimal.Meter.
const maxWork = 20_000_000

// maxIssues bounds the issues that one evaluation lists, so that a million broken rows make one page.
const maxIssues = 20

// Truth3 is Kleene's truth (S22).
type Truth3 uint8

// The truths. Unknown makes a rule skip.
const (
	Unknown Truth3 = iota
	False
	True
)

// String is "true", "false" or "unknown".
func (t Truth3) String() string { return [...]string{"unknown", "false", "true"}[t] }

// Env is what an expression is evaluated against. Its functions may be nil: their operands are then missing, with the
// reason.
type Env struct {
	Root       *strictjson.Value                          // the submission
	InputsRoot *strictjson.Value                          // its inputs object
	Calc       func(id string, claimed bool) Val          // a calculation, recomputed or as claimed
	Space      func(name string) Val                      // $stack $evidence $flags $atoms $file
	Data       func(id, stat, column string) (Val, error) // a count over a data file
	Column     func(id, name string) ([]string, error)    // the cells of a column of a table
	Numeric    func(id, column string) bool               // whether the sheet declares a column of numbers
	Evidence   func(id, selector string) (Val, error)     // the value at a selector of an evidence file
	Prior      func(sha, path string) (Val, error)        // a value of a ledger receipt
	Override   map[string]*decimal.Num                    // inputs by name, for the distance search
	Row        *RowScope                                  // the row, for the checks of for_each
	Work       *decimal.Meter                             // of the audit, to bound all evaluations together
	// lists of documents as values, made once; nil: made for each evaluation
	Lists map[*strictjson.Value][]Val
}

// RowScope is the row that a row expression is about, and the row around it.
type RowScope struct {
	Row   Val
	Index int
	Up    *RowScope
}

// MissingOperand is one operand that kept the result unknown.
type MissingOperand struct {
	Kind    string // calc, input, field, const, evidence, data, prior, space
	Name    string // as text: noi, row.rent, field("/claims")
	Pointer string // where it should stand in the submission, if that can be said
	Why     string
}

// Issue is something wrong with a value that was found on the way.
type Issue struct {
	Code    string // operand_type, undefined, too_large, irr_ambiguous, date, row_error, lookup_missing, too_complex
	Pointer string
	Message string
}

// OperandValue is an operand with the value it had, for the proof and for messages.
type OperandValue struct {
	Text string // as text
	Val  Val
	From string // JSON Pointer, or "recomputed", "claimed", "const", "row expression over n rows", …
}

// Result is what an evaluation found.
type Result struct {
	Truth    Truth3 // of a predicate; Unknown for any other value
	Val      Val
	Missing  []MissingOperand // what kept the result unknown
	Issues   []Issue
	Operands []OperandValue // in the order of evaluation, each text once
	Vacuous  bool           // a condition without else did not apply (S27)
	Sides    *[2]Val        // left and right of a comparison or approx at the top
	Term     *Term          // of an "and" at the top, the first term that does not hold; nil if there is none
}

// Term is a part of an expression.
type Term struct {
	Text  string
	Sides *[2]Val // left and right, if it is a comparison or approx
}

// Eval evaluates the expression. It never panics and always terminates.
func (e *Expr) Eval(env *Env) Result {
	ev := &evaluator{env: env, row: env.Row, work: env.Work}
	if ev.work == nil {
		ev.work = &decimal.Meter{Most: maxWork}
	}
	if ev.made = env.Lists; ev.made == nil {
		ev.made = map[*strictjson.Value][]Val{}
	}
	ev.top = e.root
	ev.inRows = env.Row != nil
	v := ev.eval(e.root)
	r := Result{Val: v, Issues: ev.issues, Operands: ev.operands, Vacuous: ev.vacuous, Sides: ev.sides, Term: ev.failed}
	if ev.isExhausted() && v.Kind != Missing {
		r.Val = Absent(tooMuchWork)
	}
	switch {
	case r.Val.Kind == Missing:
		r.Missing = ev.missing
	case r.Val.Kind == Bool && r.Val.Bool:
		r.Truth = True
	case r.Val.Kind == Bool:
		r.Truth = False
	}
	return r
}

// evaluator is the state of one evaluation.
type evaluator struct {
	env      *Env
	top      *node
	row      *RowScope
	inRows   bool // a missing field is an error of its row (rules.md 1.1, agg)
	nested   int  // rows inside the expression, whose operands are not listed
	work     *decimal.Meter
	made     map[*strictjson.Value][]Val
	missing  []MissingOperand
	issues   []Issue
	operands []OperandValue
	vacuous  bool
	sides    *[2]Val
	term     *node   // of the "and" at the top, the one under way
	within   *[2]Val // its sides
	failed   *Term
	rowBad   bool           // a row lacked a referenced key
	lists    map[string]Val // inputs that are lists, read once and not once a row
}

func (ev *evaluator) isExhausted() bool { return ev.work.Exhausted() }

// chargeWork adds work; the result is an issue and a missing value as soon as there is too much.
func (ev *evaluator) chargeWork(n int) bool {
	if ev.work.Take(n) {
		return true
	}
	ev.addIssue("too_complex", "", "the audit takes more than %d steps on this submission, and this rule could not be "+
		"decided within them", ev.work.Most)
	return false
}

func (ev *evaluator) addIssue(code, pointer, format string, args ...any) {
	is := Issue{Code: code, Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	if len(ev.issues) < maxIssues && !slices.Contains(ev.issues, is) {
		ev.issues = append(ev.issues, is)
	}
}

// typeMismatch is S25: a value of another type than is asked for is an issue and counts as missing.
func (ev *evaluator) typeMismatch(n *node, v Val, want typ, where string) Val {
	hint := ""
	if v.Kind == Str && want == tNum {
		hint = "; write the number without quotes"
	}
	text, _ := printText(n)
	ev.addIssue("operand_type", v.Pointer(), "%s is %s %s, and %s takes %s%s", text, withArticle(v.Kind), v, where, want,
		hint)
	return Absent("it is " + withArticle(v.Kind) + ", not " + want.String())
}

func withArticle(k Kind) string {
	if k == Bool {
		return "true/false:"
	}
	if k == Obj {
		return "an " + k.String()
	}
	return "a " + k.String()
}

// undefinedResult is S12: a result that mathematics does not define is an issue and counts as missing.
func (ev *evaluator) undefinedResult(n *node, err error) Val {
	code := "undefined"
	switch {
	case errors.Is(err, decimal.ErrAmbiguous):
		code = "irr_ambiguous"
	case errors.Is(err, decimal.ErrTooLarge):
		code = "too_large"
	}
	text, _ := printText(n)
	ev.addIssue(code, "", "%s: %v", text, err)
	return Absent(err.Error())
}

// noteOperand lists an operand and its value once; inside of rows there would be too many to read.
func (ev *evaluator) noteOperand(n *node, v Val, from string) Val {
	if ev.nested > 0 || len(ev.operands) >= 100 {
		return v
	}
	if from == "" {
		from = v.Pointer()
	}
	if !slices.ContainsFunc(ev.operands, func(o OperandValue) bool { return o.Text == n.text }) {
		ev.operands = append(ev.operands, OperandValue{n.text, v, from})
	}
	return v
}

// noteMissing notes a missing operand.
func (ev *evaluator) noteMissing(n *node, kind string, v Val) Val {
	m := MissingOperand{Kind: kind, Name: n.text, Pointer: v.Pointer(), Why: v.Why}
	if ev.inRows && kind == "field" && n.inRow() {
		ev.rowBad = true
		ev.addIssue("row_error", ev.row.Row.Pointer(), "row %d has no usable %s: %s", ev.row.Index+1, n.text, v.Why)
	}
	if len(ev.missing) < maxIssues && !slices.Contains(ev.missing, m) {
		ev.missing = append(ev.missing, m)
	}
	return v
}

// inRow says whether an operand is taken from the row.
func (n *node) inRow() bool {
	switch n.kind {
	case kField, kRow:
		return true
	case kPath:
		return n.name == "row"
	case kMember, kIndex, kSlice:
		return n.args[0].inRow()
	}
	return false
}

func (ev *evaluator) eval(n *node) Val {
	if !ev.chargeWork(1) {
		return Absent(tooMuchWork)
	}
	switch n.kind {
	case kLit, kLexicon:
		return n.lit
	case kList:
		return ev.evalList(n)
	case kCalc, kClaimed, kConst, kInput, kRow, kField, kPath, kSpace:
		return ev.evalLeaf(n)
	case kMember, kIndex, kSlice:
		return ev.evalPart(n)
	case kCall:
		return ev.evalCall(n)
	case kAnd, kOr:
		return ev.evalLogic(n)
	case kNot:
		v := ev.evalTruth(n.args[0], "not")
		if v.Kind == Bool {
			v = Truth(!v.Bool)
		}
		return v
	case kIf:
		return ev.evalConditional(n)
	case kCompare:
		return ev.evalCompare(n)
	case kIn, kNotIn:
		return ev.evalIn(n)
	case kNeg, kArith:
		return ev.evalArith(n)
	}
	return Absent("a calendar is not a value")
}

func (ev *evaluator) evalList(n *node) Val {
	out := make([]Val, len(n.args))
	for i, a := range n.args {
		if out[i] = ev.eval(a); out[i].Kind == Missing {
			return out[i]
		}
	}
	return listValue(out)
}

// evalTruth evaluates an operand that must be true or false.
func (ev *evaluator) evalTruth(n *node, where string) Val {
	v := ev.eval(n)
	if v.Kind != Bool && v.Kind != Missing {
		return ev.typeMismatch(n, v, tBool, where)
	}
	return v
}

// evalLogic is Kleene's and / or, from the left: a false (true) term decides at once, so that a guard written first
// guards, and what was missing or undefined among the terms before it no longer matters (S22).
func (ev *evaluator) evalLogic(n *node) Val {
	word, decides := "and", false
	if n.kind == kOr {
		word, decides = "or", true
	}
	missing, issues := len(ev.missing), len(ev.issues)
	result := Truth(!decides)
	top := n == ev.top && n.kind == kAnd
	for _, a := range n.args {
		if top {
			ev.term, ev.within = a, nil
		}
		v := ev.evalTruth(a, word)
		if v.Kind == Bool && v.Bool == decides {
			ev.forgetMissing(missing, issues)
			if top {
				text, _ := printText(a)
				ev.failed = &Term{text, ev.within}
			}
			return v
		}
		if v.Kind == Missing {
			result = v
		}
	}
	return result
}

// keepSides keeps the sides of a comparison that a message may speak of.
func (ev *evaluator) keepSides(n *node, left, right Val) {
	if n == ev.top {
		ev.sides = &[2]Val{left, right}
	}
	if n == ev.term {
		ev.within = &[2]Val{left, right}
	}
}

// forgetMissing drops what the terms that no longer matter lacked. Wrong types and broken rows stay reported.
func (ev *evaluator) forgetMissing(missing, issues int) {
	ev.missing = ev.missing[:min(missing, len(ev.missing))]
	kept := ev.issues[:min(issues, len(ev.issues))]
	for _, is := range ev.issues[len(kept):] {
		if is.Code != "undefined" && is.Code != "too_large" && is.Code != "irr_ambiguous" {
			kept = append(kept, is)
		}
	}
	ev.issues = kept
}

// evalConditional is S27: no else and a false condition pass, vacuously.
func (ev *evaluator) evalConditional(n *node) Val {
	cond := ev.evalTruth(n.args[0], "a condition")
	switch {
	case cond.Kind == Missing:
		return cond
	case cond.Bool:
		return ev.eval(n.args[1])
	case n.args[2] != nil:
		return ev.eval(n.args[2])
	}
	ev.vacuous = ev.vacuous || n == ev.top
	return Truth(true)
}

func (ev *evaluator) evalArith(n *node) Val {
	var nums [2]*decimal.Num
	bad := Val{}
	for i, a := range n.args {
		v := ev.eval(a)
		if v.Kind != Num && v.Kind != Missing {
			v = ev.typeMismatch(a, v, tNum, "arithmetic")
		}
		if v.Kind == Missing {
			bad = v
			continue
		}
		nums[i] = v.Num
	}
	if nums[0] == nil || nums[len(n.args)-1] == nil {
		return bad
	}
	if n.kind == kNeg {
		return Number(decimal.Neg(nums[0]))
	}
	if n.op == "**" {
		ev.chargeWork(40)
	}
	r, err := arithmetic[n.op](nums[0], nums[1])
	if err != nil {
		return ev.undefinedResult(n, err)
	}
	return Number(r)
}

var arithmetic = map[string]func(a, b *decimal.Num) (*decimal.Num, error){
	"+": decimal.Add, "-": decimal.Sub, "*": decimal.Mul, "/": decimal.Quo, "//": decimal.FloorDiv, "%": decimal.Mod,
	"**": decimal.Pow,
}
