package referee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/document"
	"github.com/defendableos/referee/referee/policy"
)

// maxDocument is the longest text, in bytes, that a document check reads: some 300 pages. A longer one is undecided,
// and so never a pass.
const maxDocument = 1 << 20

// documentWork is what a byte of a document costs of the audit's work: each check reads it with a handful of patterns,
// some 0.5 µs a byte.
const documentWork = 2

// documentCheck is a check of the kind "document".
type documentCheck struct {
	find        string
	text, names *policy.Expr
	stated      []statedExpr
}

// statedExpr is a value that the text must not contradict.
type statedExpr struct {
	key  string
	expr *policy.Expr
}

// documentFinds are the words for "find", each with what it lists.
var documentFinds = map[string]func(*document.Document, documentOperands) []document.Problem{
	"references":   func(d *document.Document, _ documentOperands) []document.Problem { return d.References() },
	"numbering":    func(d *document.Document, _ documentOperands) []document.Problem { return d.Numbering() },
	"placeholders": func(d *document.Document, _ documentOperands) []document.Problem { return d.Placeholders() },
	"figures":      func(d *document.Document, _ documentOperands) []document.Problem { return d.Figures() },
	"undefined":    func(d *document.Document, _ documentOperands) []document.Problem { return d.Undefined() },
	"unused":       func(d *document.Document, _ documentOperands) []document.Problem { return d.Unused() },
	"attachments":  func(d *document.Document, o documentOperands) []document.Problem { return d.Attachments(o.names) },
	"names":        func(d *document.Document, o documentOperands) []document.Problem { return d.Names(o.names) },
	"signatures":   func(d *document.Document, o documentOperands) []document.Problem { return d.Signatures(o.names) },
	"contradictions": func(d *document.Document, o documentOperands) []document.Problem {
		return d.Contradictions(o.stated)
	},
}

// documentOperands are the values that a check compares the text with.
type documentOperands struct {
	names  []string
	stated []document.Stated
}

func (l *loader) compileDocument(r *Rule, v *strictjson.Value) {
	c := &documentCheck{find: v.TextOf("find"), text: l.loadExpr(v.Get("text"), r.ID+": text")}
	if v.Get("names") != nil {
		c.names = l.loadExpr(v.Get("names"), r.ID+": names")
	}
	for _, m := range v.Get("stated").Fields() {
		c.stated = append(c.stated, statedExpr{m.Key, l.loadExpr(m.Value, r.ID+": stated")})
	}
	needsNames := slices.Contains([]string{"attachments", "names", "signatures"}, c.find)
	switch {
	case needsNames && c.names == nil:
		l.problems.addProblem(v, "missing_key", `find %q needs names: without them it would compare with nothing`, c.find)
	case !needsNames && v.Get("names") != nil:
		l.problems.addProblem(v.Get("names"), "unknown_key", "find %q reads no names; leave them out", c.find)
	case c.find != "contradictions" && v.Get("stated") != nil:
		l.problems.addProblem(v.Get("stated"), "unknown_key", `find %q reads no stated values; they are for `+
			`"contradictions"`, c.find)
	}
	for _, e := range c.documentExpressions() {
		r.reads = append(r.reads, e.Refs().Calcs...)
	}
	if c.text == nil {
		return
	}
	r.Text = c.find + " of " + c.text.Text()
	r.run = func(a *audit, r *Rule) outcome { return a.checkDocument(r, c) }
}

func (c *documentCheck) documentExpressions() (out []*policy.Expr) {
	for _, e := range []*policy.Expr{c.text, c.names} {
		if e != nil {
			out = append(out, e)
		}
	}
	for _, s := range c.stated {
		if s.expr != nil {
			out = append(out, s.expr)
		}
	}
	return out
}

// checkDocument lists what is wrong with the text as people see it (S80). Whatever it cannot read, it does not pass.
func (a *audit) checkDocument(r *Rule, c *documentCheck) outcome {
	res := c.text.Eval(a.env)
	if res.Val.Kind != policy.Str {
		return a.noNumbers(r, res)
	}
	text := legible.Fold(res.Val.Str)
	if len(text) > maxDocument {
		return skipOutcome("the text has %d bytes; at most %d are read", len(text), maxDocument)
	}
	if !a.spendWork(len(text) * documentWork) {
		return skipOutcome("the work of the audit is spent")
	}
	operands, missing := c.operandsOf(a)
	if missing != nil {
		return a.noNumbers(r, *missing)
	}
	if c.find != "signatures" && strings.TrimSpace(text) == "" {
		return skipOutcome("the text is empty")
	}
	problems := documentFinds[c.find](a.readDocument(text), operands)
	id := a.addAtom("policy."+r.ID, a.gatePointer(res), len(problems) == 0, atomSeverity(r.Tier), "cross_field",
		fmt.Sprintf("%s: %s", c.find, legible.Count(len(problems), "problem")))
	if len(problems) == 0 {
		return passed
	}
	f := Finding{Code: "document." + c.find, Pointer: a.gatePointer(res), Message: r.ruleTitle() + ": " +
		problemsText(problems), Atoms: []string{id}}
	if r.Fix != "" {
		f.Fix = &Fix{Text: r.Fix}
	}
	a.addFinding(r, f)
	return flagged
}

// readDocument reads a text once for all checks of the audit: ten rules read one agreement.
func (a *audit) readDocument(text string) *document.Document {
	if a.document == nil || a.documentText != text {
		a.document, a.documentText = document.Read(text), text
	}
	return a.document
}

// operandsOf evaluates what the text is compared with; the result that could not be read comes back. A list with an
// item that is no text is not read in part: the item left out might be the party that does not sign.
func (c *documentCheck) operandsOf(a *audit) (o documentOperands, missing *policy.Result) {
	if c.names != nil {
		res := c.names.Eval(a.env)
		if res.Val.Kind != policy.List {
			return o, &res
		}
		for _, item := range res.Val.List {
			if item.Kind != policy.Str {
				res.Issues = append(res.Issues, policy.Issue{Code: "operand_type", Pointer: item.Pointer(),
					Message: fmt.Sprintf("%s is not a text", item)})
				return o, &res
			}
			o.names = append(o.names, legible.Fold(item.Str))
		}
	}
	for _, s := range c.stated {
		res := s.expr.Eval(a.env)
		if res.Val.Kind != policy.Str {
			return o, &res
		}
		o.stated = append(o.stated, document.Stated{Key: s.key, Value: res.Val.Str})
	}
	return o, nil
}

// problemsText words the first few problems; a draft that is all placeholders is one message, not a hundred.
func problemsText(problems []document.Problem) string {
	const most = 5
	var words []string
	for _, p := range problems[:min(len(problems), most)] {
		words = append(words, p.String())
	}
	if rest := len(problems) - most; rest > 0 {
		words = append(words, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(words, "; ")
}
