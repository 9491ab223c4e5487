package referee

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/schema"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
	"github.com/defendableos/referee/referee/policy"
)

// Sheet is a loaded flight sheet: every word in it is known, every expression compiled, every worked number re-derived.
// A Sheet is never changed after LoadSheet and may be used by many audits at once.
type Sheet struct {
	Slug, Name, Version, Lane, Domain string
	Summary, Purpose, Instructions    string
	Baseline                          string // canonical | none
	Origin                            string // library | repository
	Shadows                           bool   // it replaces the library's sheet of the same slug
	File                              string // where it was read, for messages
	SHA256                            string // of Canonical
	Canonical                         []byte // S54
	Inputs                            []Input
	// names that formulas read and only the submission's calculations carry (S78)
	Carried []string
	// calculations that only a rule names: the sheet has no formula for them (S78)
	Undeclared []string
	Outputs    []string
	Gold       string // the id of the evidence that holds the right answer; "" is none
	Math       []*MathCheck
	Rules      []*Rule // everything that is declared and counts (S36), in sheet order
	Derive     []DerivedValue
	Evidence   []EvidenceItem // what a run must bring
	Params     []Param        // limits that the configuration sets (S71), with their values here
	Notes      []string
	Warnings   []Problem
	Doc        *strictjson.Value

	names     *policy.Names
	consts    map[string]*strictjson.Value
	outputs   *schema.Schema    // required_output_schema
	inputs    *schema.Schema    // types of the declared inputs
	canonical *schema.Schema    // the canonical submission, with baseline canonical
	penalty   bands             // of numbers
	money     bands             // of money
	material  *decimal.Num      // S4; nil is off
	alias     map[string]string // normal form of a name → the sheet's own (S18)
	formulas  memo[*parsedFormula]
	normals   memo[string]
	scores    map[string]string
	errors    *errorSpec    // nil: no field is compared with a right answer
	gatingCap *decimal.Num  // highest total where the gate is closed; nil: the sheet sets none
	response  *responseSpec // nil: no member holds a raw answer
	trace     Trace
	// names that only calculations carry, that no rule counts, and that a mid or high gate rests on
	carriedAlone []string
	given        memo[*Sheet] // this sheet with other parameters
	readOnce     sync.Once
	read         map[string]bool // names that it may read in a submission (readNames)
}

// MathCheck is a declared calculation.
type MathCheck struct {
	ID, Label, Text, Units string
	Why, Fix               string
	Monetary               bool
	Optional               bool
	Inputs                 []string // names the formula reads, in order of first use
	Tier                   Tier

	bands   bands
	formula *formula.Formula // when the agent's language can say it
	expr    *policy.Expr     // otherwise
	v       *strictjson.Value
	gated   bool // some rule reads it
}

// DerivedValue is a named value that the sheet reports and never gates on.
type DerivedValue struct {
	ID, Unit string
	expr     *policy.Expr
}

// Rule is one declared rule: data from the sheet and the code of its kind.
type Rule struct {
	ID, Label, Kind, Category string
	Stage                     Stage
	Tier                      Tier
	Severity                  string
	Bucket                    Bucket
	Why, Fix, Message         string
	Text                      string // the condition as text, where it has one
	Source                    Source
	OnMissing                 string
	NonCompensable            bool
	PerRow                    bool
	Question                  string
	Family                    string // of its atoms, where the sheet names one
	RowName                   string // what a row is, for messages: "second"
	PerBatch                  bool   // the question is asked once of a batch of samples

	order  int
	v      *strictjson.Value
	expr   *policy.Expr
	when   *policy.Expr // applies_if
	tierBy *tierBy
	cap    *decimal.Num // highest total where a flag of it closes the gate; nil: the sheet's gating_cap
	math   *MathCheck
	reads  []string     // calculations that it reads otherwise than by expr and applies_if
	needs  []*MathCheck // those and all that they are made of, in sheet order
	run    func(*audit, *Rule) outcome
}

// Source says where a rule comes from.
type Source struct{ Text, URL, Status, AsOf string }

// tierBy lets a measure decide the tier of a flag: above high it is high, above mid it is mid, else low.
type tierBy struct {
	measure   *policy.Expr
	mid, high *decimal.Num
}

// Ref is the sheet's identity in reports and receipts (S54).
func (s *Sheet) Ref() SheetRef { return SheetRef{Slug: s.Slug, Version: s.Version, SHA256: s.SHA256} }

// ForBatch is this sheet, with its parameters, for one sample of a batch: without the questions that are asked once of
// the whole batch, and without the lane's requirements, because the records of a batch carry no profile and it measures
// models of any size. Its identity is the sheet's own. The second result names those questions, in sheet order.
func (s *Sheet) ForBatch() (*Sheet, []Question, error) {
	values := map[string]*strictjson.Value{}
	for i := range s.Params {
		if p := &s.Params[i]; p.Value != nil {
			values[p.Name] = p.Value
		}
	}
	out, err := loadDocument(s.Doc, s.File, s.Origin, values)
	if err != nil {
		return nil, nil, err
	}
	out.Shadows = s.Shadows
	var asked []Question
	kept := out.Rules[:0]
	for _, r := range out.Rules {
		if r.PerBatch {
			asked = append(asked, Question{ID: r.ID, Text: r.Question, Why: r.Why})
			continue
		}
		if r.Stage == StageLane && r.Kind == "stack_fit" {
			continue
		}
		r.order = len(kept)
		kept = append(kept, r)
	}
	out.Rules = kept
	return out, asked, nil
}

// Rule returns the named rule, or nil.
func (s *Sheet) Rule(id string) *Rule {
	i := slices.IndexFunc(s.Rules, func(r *Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return s.Rules[i]
}

var semverPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)
})

// isSlug says that s is lower-case words joined by dashes and begins with a letter. It is no regular expression, as
// those are compiled at each start.
func isSlug(s string) bool {
	for word := range strings.SplitSeq(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return s[0] >= 'a'
}

// LoadSheet reads, checks and compiles one flight sheet. file names it in messages; origin is "library" or
// "repository". A sheet that is not understood whole is refused whole, with every problem at its line and column
// (*RefusedError, or
// *strictjson.Error for bytes that are not strict JSON). Warnings are kept in Sheet.Warnings.
func LoadSheet(src []byte, file, origin string) (*Sheet, error) {
	doc, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return loadDocument(doc, file, origin, nil)
}

// loadDocument compiles a sheet with these values of its parameters.
func loadDocument(doc *strictjson.Value, file, origin string, values map[string]*strictjson.Value) (*Sheet, error) {
	l := &loader{sheet: &Sheet{Doc: doc, File: file, Origin: origin}, problems: Problems{File: file}, values: values}
	sheetRecord.checkValue(doc, &l.problems)
	if l.problems.Refused() {
		return nil, l.problems.Err()
	}
	l.loadSections()
	if err := l.problems.Err(); err != nil {
		return nil, err
	}
	l.sheet.Warnings = l.problems.List
	return l.sheet, nil
}

// loader carries a sheet while it is compiled. Each step adds its problems; only a sheet without a refusal is returned.
type loader struct {
	sheet    *Sheet
	problems Problems
	ids      map[string]*strictjson.Value
	known    []string                     // formulaNames, once there are formulas
	reads    formula.Names                // over them
	values   map[string]*strictjson.Value // of parameters that are set
}

func (l *loader) loadSections() {
	s, doc := l.sheet, l.sheet.Doc
	l.ids = map[string]*strictjson.Value{}
	s.Slug, s.Name, s.Version, s.Lane = doc.TextOf("slug"), doc.TextOf("name"), doc.TextOf("version"), doc.TextOf("lane")
	s.Domain, s.Summary, s.Purpose = doc.TextOf("domain"), doc.TextOf("summary"), doc.TextOf("purpose")
	s.Instructions, s.Outputs, s.Notes = doc.TextOf("assignment_instructions"), doc.Get("expected_outputs").Texts(),
		doc.Get("notes").Texts()
	l.loadIdentity()
	traced := l.tracedParts()
	whole, parts := canonicalParts(doc, traced)
	s.Canonical = whole
	sum := sha256.Sum256(s.Canonical)
	s.SHA256 = hex.EncodeToString(sum[:])
	l.loadTrace(traced, parts)
	l.loadBaseline()
	l.loadEvidence()
	l.loadParams()
	l.loadInputs()
	l.loadNames()
	l.loadSchemas()
	l.loadPenalty()
	l.loadMath()
	l.loadRules()
	s.trace.Registry = s.registrySHA256()
	l.loadDerived()
	s.trace.Reproducibility = s.describeVerifiers()
}

func (l *loader) loadIdentity() {
	if v := l.sheet.Doc.Get("slug"); !isSlug(l.sheet.Slug) {
		l.problems.addProblem(v, "slug", "slug %q must be lower-case words joined by dashes, as in %q", l.sheet.Slug,
			"cre-multifamily-agency")
	}
	if v := l.sheet.Doc.Get("version"); !semverPattern().MatchString(l.sheet.Version) {
		l.problems.addProblem(v, "version", "version %q must be a semantic version such as %q", l.sheet.Version, "1.2.0")
	}
}

// loadBaseline: the canonical submission is the default where an agent reports (rules.md 1.5).
func (l *loader) loadBaseline() {
	l.sheet.Baseline = l.sheet.Doc.TextOf("baseline")
	if l.sheet.Baseline == "" {
		l.sheet.Baseline = "none"
		if l.sheet.Lane == "agent" || l.sheet.Lane == "cook" {
			l.sheet.Baseline = "canonical"
		}
	}
}

// isIdentifier says that s is letters, digits and _ of ASCII, and does not begin with a digit.
func isIdentifier(s string) bool {
	for i, c := range []byte(s) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// loadNames gathers what a bare name may mean, before anything that uses names is compiled.
func (l *loader) loadNames() {
	s, doc := l.sheet, l.sheet.Doc
	n := &policy.Names{Consts: map[string]*strictjson.Value{}, Lexicons: map[string][]string{},
		Calendars: map[string]policy.Calendar{}}
	for _, v := range doc.At("/eval_spec/math_checks").Elements() {
		n.Calcs = append(n.Calcs, v.TextOf("formula_id"))
	}
	for _, m := range doc.Get("consts").Fields() {
		n.Consts[m.Key] = m.Value.Get("value")
	}
	for _, p := range s.Params {
		n.Params = append(n.Params, p.Name)
		n.Consts[p.Name] = p.compiledValue()
	}
	for _, in := range s.Inputs {
		n.Inputs = append(n.Inputs, in.Name)
	}
	l.loadSourceForm(n)
	for _, m := range doc.Get("lexicons").Fields() {
		n.Lexicons[m.Key] = l.loadPhrases(m)
	}
	for _, m := range doc.Get("calendars").Fields() {
		n.Calendars[m.Key] = policy.Calendar{Weekend: m.Value.Get("weekend").Texts(),
			Holidays: m.Value.Get("holidays").Texts()}
	}
	n.RowFields = s.rowFields
	s.names, s.consts = n, n.Consts
	l.distinctNames(n)
}

func (l *loader) loadPhrases(m strictjson.Member) []string {
	var out []string
	for _, item := range m.Value.Elements() {
		if word, ok := item.Str(); ok && strings.TrimSpace(word) != "" {
			out = append(out, word)
			continue
		}
		l.problems.addProblem(item, "lexicon", "lexicon %q must hold phrases", m.Key)
	}
	if len(out) == 0 {
		l.problems.addProblem(m.Value, "lexicon", "lexicon %q is empty: a rule over it would always pass", m.Key)
	}
	return out
}

// distinctNames refuses a name that means two things: a bare name must have one reading for a person, too.
func (l *loader) distinctNames(n *policy.Names) {
	owner := map[string]string{}
	claim := func(name, form, as string) {
		if was, taken := owner[form]; taken && was != as {
			l.problems.addProblem(l.sheet.Doc, "ambiguous_name", "%q is both %s and %s: rename one", name, was, as)
		}
		owner[form] = as
	}
	for _, c := range n.Calcs {
		claim(c, c, "a calculation")
		claim(c, "submission "+normalName(c), "a calculation") // a submission's names are read in this form (S18)
	}
	for _, m := range l.sheet.Doc.Get("consts").Fields() {
		claim(m.Key, m.Key, "a constant")
	}
	for _, p := range l.sheet.Params {
		claim(p.Name, p.Name, "a parameter")
		claim(p.Name, "submission "+normalName(p.Name), "a parameter")
	}
	for _, in := range n.Inputs {
		claim(in, in, "an input")
		claim(in, "submission "+normalName(in), "an input")
	}
}

// rowFields lists the members that rows of an input have, where the sheet says.
func (s *Sheet) rowFields(path string) []string {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "/inputs/"), "inputs.")
	for _, in := range s.Inputs {
		if in.Name == path {
			return in.Fields
		}
	}
	return nil
}

func (l *loader) loadDerived() {
	for _, v := range l.sheet.Doc.Get("derive").Elements() {
		d := DerivedValue{ID: v.TextOf("id"), Unit: v.TextOf("unit"), expr: l.loadExpr(v.Get("expr"), "derive")}
		l.claimID("derive."+d.ID, v)
		l.sheet.Derive = append(l.sheet.Derive, d)
	}
	l.sheet.Gold = l.sheet.Doc.TextOf("gold")
	l.loadErrorSpec()
	l.sheet.scores = map[string]string{}
	for _, m := range l.sheet.Doc.Get("scores").Fields() {
		if !slices.Contains(scoreNames, m.Key) {
			l.problems.addNear(m.Value, "unknown_key", m.Key, scoreNames, "unknown score %q", m.Key)
		}
		if !slices.ContainsFunc(l.sheet.Derive, func(d DerivedValue) bool { return d.ID == m.Value.Text }) {
			l.problems.addProblem(m.Value, "scores", "score %q names %q, which derive does not define", m.Key, m.Value.Text)
		}
		l.sheet.scores[m.Key] = m.Value.Text
	}
	l.sheet.gatingCap = l.capOf(l.sheet.Doc.Get("gating_cap"), "gating_cap")
}

var scoreNames = []string{"availability", "constraint_satisfaction", "conditional_error", "total"}

// tracedParts are the parts of a sheet that have a hash of their own in the trace: its schema, then what limits there
// are. Ranges, steps and bounds stand in the checks themselves.
func (l *loader) tracedParts() []*strictjson.Value {
	doc := l.sheet.Doc
	out := []*strictjson.Value{doc.At("/eval_spec/required_output_schema"), doc.Get("consts"),
		doc.At("/eval_spec/penalty")}
	out = append(out, doc.Get("params"))
	for _, list := range []string{"deterministic_checks", "math_checks", "evidence_checks", "rules"} {
		out = append(out, doc.At("/eval_spec/"+list))
	}
	return out
}

// loadTrace hashes values, so that a changed threshold moves a hash (the original hashed only key names).
func (l *loader) loadTrace(traced []*strictjson.Value, canonical map[*strictjson.Value][]byte) {
	var hashes []string
	for _, v := range traced {
		text := "absent"
		if v != nil {
			text = string(canonical[v])
		}
		hashes = append(hashes, hashText("referee.trace/v1\n"+text))
	}
	l.sheet.trace = Trace{Sheet: l.sheet.SHA256, Schema: hashes[0],
		Limits: hashText("referee.limits/v1\n" + strings.Join(hashes[1:], ""))}
}

// loadExpr compiles an expression in either spelling; nil after a refusal, which has been recorded.
func (l *loader) loadExpr(v *strictjson.Value, what string) *policy.Expr {
	if v == nil {
		return nil
	}
	var e *policy.Expr
	var err error
	if src, ok := v.Str(); ok {
		e, err = policy.ParseText(src, l.sheet.names)
	} else {
		e, err = policy.ParseTree(v, l.sheet.names)
	}
	if err != nil {
		l.problems.addProblem(v, "expression", "%s: %v", what, err)
		return nil
	}
	return e
}

// compilePredicate compiles an expression that must be a condition (S26).
func (l *loader) compilePredicate(v *strictjson.Value, what string) *policy.Expr {
	e := l.loadExpr(v, what)
	if e != nil && !e.Boolean() {
		l.problems.addProblem(v, "not_boolean", "%s: %s is a value, not a condition: compare it with something", what,
			e.Text())
		return nil
	}
	return e
}

// claimID keeps rule ids unique, under the normal form of S18.
func (l *loader) claimID(id string, v *strictjson.Value) {
	n := normalName(id)
	if _, taken := l.ids[n]; taken {
		l.problems.addProblem(v, "duplicate", "rule id %q is used twice: every rule needs its own", id)
	}
	l.ids[n] = v
}
