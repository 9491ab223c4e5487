package forge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// lintRules are in the order in which Lint looks. "example" refuses a sheet; the others warn, but for what a sheet of
// the library must have.
var lintRules = []string{
	"example",       // an example or a trip contradicts the sheet's own rules (S53)
	"no_example",    // the sheet has no worked example
	"no_trip",       // no trip flags a gate: nobody has seen it work
	"no_source",     // a high gate does not say where it comes from
	"no_why",        // a gate or a calculation does not say why it exists
	"no_fix",        // a gate or a calculation does not say what would be right
	"no_as_of",      // a constant has no date
	"review_by",     // a constant is past the day on which it had to be looked at again
	"material",      // calculations of money, and no amount from which an error is material (S4)
	"exact",         // == on a computed number (S32)
	"skips",         // a high gate skips where an operand is missing that nothing requires (S24)
	"magic_number",  // a gate without a source compares with a number that no constant explains
	"question",      // a checklist item is not a question
	"unused",        // a constant, lexicon or calendar that no rule reads
	"unsatisfiable", // a gate that nothing can pass
	"always_true",   // a gate that nothing can fail
	"contradictory", // two gates that cannot both hold
	"subsumed",      // a gate that says nothing beyond another
	"unreachable",   // a branch or a band that is never reached
	// an input of a library sheet that does not say how it is held, or that no rule counts as it says (S70)
	"held",
	"domain",            // a number of a library sheet without min, max or signed (S72)
	"percent",           // a formula yields per cents, and claims are read as fractions (S10)
	"unit",              // a bound that looks like another unit than its operand: 80 against 0.80
	"stale_explanation", // x-lint explains a warning that does not occur
}

// musts are what a sheet of the library must have, and no explanation replaces: who did not write it relies on it.
var musts = []string{"no_source", "no_why", "no_fix"}

// Lint looks for what the loader lets pass and a careful author would not. Refusals have Warning false: an example that
// contradicts its own rules and, in a sheet of the library, a gate without why, fix or, where it is high, source.
// today, a date YYYY-MM-DD or "", is what review_by is held against. A sheet explains a warning by "x-lint": {code:
// reason} on the rule, calculation or constant it is about, or at the sheet's top; explained warnings are left out.
func Lint(sheet *referee.Sheet, today string) []referee.Problem {
	return lint(sheet, today, (*linter).examples)
}

// LintOnly is Lint without what running the examples gives, for who asks Test beside it.
func LintOnly(sheet *referee.Sheet, today string) []referee.Problem {
	return lint(sheet, today, func(*linter) {})
}

func lint(sheet *referee.Sheet, today string, examples func(*linter)) []referee.Problem {
	l := &linter{sheet: sheet, ranges: newRanges(sheet), used: map[*strictjson.Value]bool{}}
	examples(l)
	l.tripless()
	l.gateWords()
	l.lintPercentages()
	l.lintConstants(today)
	l.lintMoney()
	l.lintHeldInputs()
	for _, r := range sheet.Rules {
		l.lintExactness(r)
		l.lintCoverage(r)
		l.lintMagicNumbers(r)
		l.lintQuestion(r)
		l.lintUnits(r)
	}
	l.lintUnused()
	l.lintReachability()
	l.staleExplanations()
	slices.SortStableFunc(l.problems, func(a, b referee.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return l.problems
}

// linter is one run over a sheet.
type linter struct {
	sheet    *referee.Sheet
	ranges   *ranges
	problems []referee.Problem
	used     map[*strictjson.Value]bool // explanations that were needed
	probe    *referee.Probe             // of the first example
}

// warn adds a warning at a value, unless the sheet explains it there, at one of the owners, or at its top.
func (l *linter) warn(at *strictjson.Value, code, hint, format string, args ...any) {
	p := l.problem(at, code, fmt.Sprintf(format, args...))
	p.Warning, p.Hint = true, hint
	if l.sheet.Origin == "library" && slices.Contains(musts, code) {
		p.Warning = false
		l.problems = append(l.problems, p)
		return
	}
	for _, v := range []*strictjson.Value{at, l.sheet.Doc} {
		if reason := v.Get("x-lint").Get(code); reason != nil && strings.TrimSpace(reason.Text) != "" {
			l.used[reason] = true
			return
		}
	}
	l.problems = append(l.problems, p)
}

func (l *linter) problem(at *strictjson.Value, code, message string) referee.Problem {
	return referee.Problem{File: l.sheet.File, Line: at.Pos.Line, Column: at.Pos.Col, Pointer: at.Pointer(), Rule: code,
		Message: message}
}

// examples runs the sheet's own examples: a sheet that contradicts itself is refused.
func (l *linter) examples() {
	result := Test(l.sheet)
	for _, f := range result.Failures {
		p := referee.Problem{File: f.File, Line: f.Line, Column: f.Column, Pointer: f.Pointer, Rule: "example",
			Message: f.textWithoutPlace()}
		l.problems = append(l.problems, p)
	}
}

// tripless warns of a sheet without an example, and of gates that nobody has seen work.
func (l *linter) tripless() {
	if len(l.sheet.Examples()) == 0 {
		l.warn(l.sheet.Doc, "no_example", "add examples: a worked submission and, for each gate, a trip",
			"the sheet has no example")
		return
	}
	for _, r := range gates(l.sheet) {
		if !hasTrip(l.sheet, r.ID) {
			l.warn(r.Value(), "no_trip", "add a trip to an example: a change, and the rules that it flags",
				"no trip flags the gate %q", r.ID)
		}
	}
}

// gates are the policy rules that the sheet itself declares.
func gates(sheet *referee.Sheet) []*referee.Rule {
	var out []*referee.Rule
	for _, r := range sheet.Rules {
		if r.Stage == referee.StagePolicy && isDeclaredCheck(r) {
			out = append(out, r)
		}
	}
	return out
}

// isDeclaredCheck reports whether a rule is a check object of the sheet, and not a registry key.
func isDeclaredCheck(r *referee.Rule) bool {
	return slices.ContainsFunc(referee.RuleKinds(), func(k referee.RuleKind) bool { return k.Name == r.Kind })
}

// hasTrip reports whether a trip names the rule.
func hasTrip(sheet *referee.Sheet, id string) bool {
	for _, ex := range sheet.Examples() {
		for _, t := range ex.Trips {
			if slices.Contains(t.Flags, id) {
				return true
			}
		}
	}
	return false
}

// gateWords holds gates and calculations to why, fix and source.
func (l *linter) gateWords() {
	for _, r := range gates(l.sheet) {
		l.whyAndFix(r.Value(), fmt.Sprintf("gate %q", r.ID), r.Why, r.Fix)
		if r.Tier == referee.High && strings.TrimSpace(r.Source.Text) == "" {
			l.warn(r.Value(), "no_source", `add "source": {"text": …, "status": …}`, "the high gate %q has no source",
				r.ID)
		}
	}
	for _, m := range l.sheet.Math {
		l.whyAndFix(m.Value(), fmt.Sprintf("calculation %q", m.ID), m.Why, m.Fix)
	}
}

func (l *linter) whyAndFix(at *strictjson.Value, what, why, fix string) {
	if strings.TrimSpace(why) == "" {
		l.warn(at, "no_why", `add "why": what goes wrong without it`, "the %s does not say why", what)
	}
	if strings.TrimSpace(fix) == "" {
		l.warn(at, "no_fix", `add "fix": what would be right`, "the %s does not say how to fix it", what)
	}
}

// lintConstants holds constants to their dates.
func (l *linter) lintConstants(today string) {
	v := l.sheet.Doc.Get("consts")
	if v == nil {
		return
	}
	for _, m := range v.Members {
		if m.Value.TextOf("as_of") == "" {
			l.warn(m.Value, "no_as_of", `add "as_of": the day the value was in force, YYYY-MM-DD`,
				"the constant %s has no date", m.Key)
		}
		if by := m.Value.TextOf("review_by"); today != "" && by != "" && by < today {
			l.warn(m.Value, "review_by", "look it up again; then move as_of and review_by",
				"the constant %s had to be looked at again by %s", m.Key, by)
		}
	}
}

// money: without a material amount a large sum within 10 % is never high (S4).
func (l *linter) lintMoney() {
	i := slices.IndexFunc(l.sheet.Math, func(m *referee.MathCheck) bool { return m.Monetary })
	if i < 0 || l.sheet.Doc.At("/eval_spec/penalty/monetary_material_abs") != nil {
		return
	}
	l.warn(l.sheet.Math[i].Value(), "material", `add "monetary_material_abs" to eval_spec.penalty, or explain why no `+
		`amount is material`,
		"the calculation %q is money, and the sheet does not say from which amount an error is material (S4)",
		l.sheet.Math[i].ID)
}

// question: a person answers yes or no.
func (l *linter) lintQuestion(r *referee.Rule) {
	if r.Stage == referee.StageChecklist && !strings.HasSuffix(strings.TrimSpace(r.Question), "?") {
		l.warn(r.Value(), "question", "ask what is answered by yes or no", "the checklist item %q is not a "+
			"question: %q",
			r.ID, r.Question)
	}
}

// lintUnused finds names that are declared and never read: a rule that was meant to read them is missing.
func (l *linter) lintUnused() {
	var words strings.Builder
	for _, key := range []string{"eval_spec", "derive", "scores"} {
		l.sheet.Doc.Get(key).Walk(func(v *strictjson.Value) bool {
			if v.Kind == strictjson.String {
				words.WriteString(v.Text + "\n")
			}
			return true
		})
	}
	for _, kind := range []struct{ key, noun string }{{"consts", "constant"}, {"lexicons", "lexicon"},
		{"calendars", "calendar"}} {
		v := l.sheet.Doc.Get(kind.key)
		if v == nil {
			continue
		}
		for _, m := range v.Members {
			if !hasWord(words.String(), m.Key) {
				at := m.Value
				l.warn(at, "unused", "name it in the rule that it is for, or take it out", "no rule reads the %s %s",
					kind.noun, m.Key)
			}
		}
	}
}

// hasWord finds a name in a text, between characters that no name has.
func hasWord(s, word string) bool {
	for rest := s; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		after := rest[i+len(word):]
		if (i == 0 || !nameByte(rest[i-1])) && (after == "" || !nameByte(after[0])) {
			return true
		}
		rest = after
	}
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// staleExplanations: an explanation without its warning would hide the next one.
func (l *linter) staleExplanations() {
	l.sheet.Doc.Walk(func(v *strictjson.Value) bool {
		if v.Kind != strictjson.Object || v.Get("x-lint") == nil {
			return true
		}
		for _, m := range v.Get("x-lint").Members {
			if !l.used[m.Value] && !(m.Key == "review_by") {
				l.problems = append(l.problems, l.staleProblem(m))
			}
		}
		return true
	})
}

func (l *linter) staleProblem(m strictjson.Member) referee.Problem {
	p := l.problem(m.Value, "stale_explanation", fmt.Sprintf("x-lint explains %q, which does not occur here", m.Key))
	p.Warning, p.Hint = true, "take it out"
	if near := nearest.Word(m.Key, lintRules); near != "" && near != m.Key {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return p
}
