package referee

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/schema"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/document"
	"github.com/defendableos/referee/referee/evidence"
	"github.com/defendableos/referee/referee/formula"
	"github.com/defendableos/referee/referee/policy"
)

// Case is all that one audit reads. Nothing else reaches a verdict: no clock, no network, no environment (S52).
type Case struct {
	Sheet    *Sheet
	Run      *Run           // nil for a bare submission
	Evidence *evidence.Set  // nil for a bare submission
	Path     string         // of the submission inside the run folder, or a bare file's base name
	Line     int            // line of a .jsonl file, from 1; 0 otherwise
	Location string         // where the caller found it, for papers; outside the digest
	Bytes    []byte         // the submission
	Ref      *SubmissionRef // its identity, where Bytes is only its beginning; nil otherwise
	Agent    *Agent         // profile in force: pinned by the configuration, else the run's own
	Declared *Agent         // the run's own, where another is pinned (S42)
	Advisory []FileRef      // opinions that are shown and hashed and never judged
	Notices  []string       // what the caller must tell the reader
	Prior    PriorFunc      // resolves receipts of the ledger; nil: no ledger here
	AllAtoms bool           // keep atoms that nothing cites
	Explain  bool           // keep the proof of every expression
	Together *decimal.Meter // what this audit and others may take in sum, nil for one that stands alone (S81)
}

// PriorFunc returns the value at a JSON Pointer of the receipt with this hash, after re-verifying the hash.
type PriorFunc func(sha256, pointer string) (policy.Val, error)

// outcome is what running one rule gives.
type outcome struct {
	status    Status
	reason    string
	blockedBy string
	vacuous   bool
	notes     []string
}

var (
	passed  = outcome{status: Pass}
	flagged = outcome{status: Flag}
)

func skipOutcome(format string, args ...any) outcome {
	return outcome{status: Skip, reason: fmt.Sprintf(format, args...)}
}

// audit is the state of one audit: the document, its calculations, and what the rules have found so far.
type audit struct {
	Case
	doc      *strictjson.Value      // nil when the submission cannot be read
	keyed    map[string]*keyedTable // declared tables by their keys, once read
	strange  []outOfEnum            // words that their inputs' enums do not have
	readErr  *strictjson.Error
	answer   rawAnswer // the model's raw answer, where the sheet asks for one
	env      *policy.Env
	calcs    []*calculation
	byID     map[string][]*calculation
	pick     map[string]int // which of several calculations of one id a gate reads now (S19)
	facts    *chain         // what gates read (S14)
	given    map[string]formula.Input
	missing  map[string]bool
	checks   []Check
	done     []bool // the rules that have run
	findings []Finding
	atoms    []Atom
	atomRows []policy.Val // the first of them as values of $atoms
	running  *Rule        // whose atoms are recorded now
	notices  []string
	explain  []Explanation
	failures failures
	raised   int               // findings raised so far, merged and unlisted ones too
	lacking  map[string]string // by rule, where the operand that it lacks should stand

	work     *decimal.Meter // what the audit has taken (S81)
	advice   decimal.Meter
	found    map[findingKey]int // places in findings
	listings map[listKey]*listing
	listed   []listKey // of listings, in the order of the first finding
	recorded int       // atoms so far, those that are not kept too
	holding  int       // of them those that pass
	failing  int       // and those that fail, of the rule under way
	file     *SubmissionRef

	statedFigures []StatedFigure // what a person has to confirm (S70), once listed
	statedKnown   bool
	question      string // which asks for that, once written

	document     *document.Document // the text that document checks read last
	documentText string

	violations []schema.Leaf // of the schemas, once validated
	validated  bool

	shown      bool // showsAll, once looked at
	shownKnown bool
}

// failures are facts that later rules ask about: whether a gate failed at all, at mid or high, at high; and whether the
// evidence is flagged.
type failures struct{ gate, midGate, highGate, evidence bool }

// Audit runs the five stages over one submission and returns its report. It never fails: what cannot be read or decided
// is in the report as a flag or a skip with its reason, because broken must never look like pass.
func Audit(c Case) *Report {
	return newAudit(c).judgeAll()
}

// judgeAll runs every rule and puts the report together.
func (a *audit) judgeAll() *Report {
	c := a.Case
	a.readSubmission()
	a.checks, a.done = make([]Check, len(c.Sheet.Rules)), make([]bool, len(c.Sheet.Rules))
	a.atoms = make([]Atom, 0, len(c.Sheet.Rules)+4) // about one a rule: growing the list from one took twice the room
	for _, late := range []bool{false, true} {
		if late {
			a.hiddenEvidence()
		}
		for i, r := range c.Sheet.Rules {
			if lateKeys[r.Kind] == late {
				a.checkAfter(i, r)
			}
		}
	}
	a.raiseUndecided()
	a.settleWork()
	return a.makeReport()
}

// newAudit is an audit that has read nothing yet.
func newAudit(c Case) *audit {
	a := &audit{Case: c, pick: map[string]int{}, missing: map[string]bool{}}
	a.resetMeters()
	return a
}

// lateKeys judge what the other rules have found, so they run last, wherever the sheet lists them.
var lateKeys = map[string]bool{"self_check_consistent": true, "final_output_consistent": true}

// checkAfter runs the i-th rule, once, after the calculations that it rests on: a sheet may declare them in any order.
func (a *audit) checkAfter(i int, r *Rule) {
	if a.done[i] {
		return
	}
	a.done[i] = true
	for _, m := range r.needs {
		if dep := a.Sheet.Rule("math." + m.ID); dep != nil {
			a.checkAfter(dep.order, dep)
		}
	}
	a.checkByRule(i, r)
}

// checkByRule runs the i-th rule and keeps what became of it.
func (a *audit) checkByRule(i int, r *Rule) {
	a.checks[i] = Check{ID: r.ID, Label: r.Label, Kind: r.Kind, Category: r.Category, Tier: r.Tier}
	first := len(a.atoms)
	a.failing = 0
	out, ch := a.runRule(r), &a.checks[i]
	ch.Status, ch.Reason, ch.BlockedBy, ch.Vacuous = out.status, visibleText(out.reason), out.blockedBy, out.vacuous
	for i, note := range out.notes {
		out.notes[i] = visibleText(note)
	}
	ch.Notes, ch.Atoms = append(ch.Notes, out.notes...), atomIDs(a.atoms[first:])
}

// readSubmission parses the submission and prepares what rules read.
func (a *audit) readSubmission() {
	doc, err := strictjson.Parse(a.Bytes, strictjson.SubmissionLimits)
	if err != nil {
		if !errors.As(err, &a.readErr) {
			a.readErr = &strictjson.Error{Code: "syntax", Message: err.Error()}
		}
	} else {
		a.doc = doc
	}
	a.readResponse()
	a.readEnums()
	for _, name := range a.doc.Get("missing_inputs").Texts() {
		a.missing[normalName(name)] = true
	}
	a.facts = a.newChain(nil)
	a.env = a.policyEnv()
	a.readCalculations()
}

// runRule runs one rule, unless it does not apply or what it needs is not there.
func (a *audit) runRule(r *Rule) outcome {
	if a.doc == nil && needsDocument(r) {
		return outcome{status: Skip, reason: "the submission cannot be read", blockedBy: "json_valid"}
	}
	defer func(was *Rule) { a.running = was }(a.running)
	a.running = r
	out := outcome{status: Skip}
	if !a.work.Exhausted() {
		out = a.runWhereItApplies(r)
	}
	out = a.undecidedIfSpent(r, out)
	if out.status != Pass || r.math != nil && out.vacuous {
		return out
	}
	if i := slices.IndexFunc(r.reads, func(id string) bool { return slices.Contains(a.Sheet.Undeclared, id) }); i >= 0 {
		out.status, out.vacuous = Skip, false
		out.reason = fmt.Sprintf("the sheet has no formula for the calculation %q: a formula of the agent's own may "+
			"fail a gate and never open one", r.reads[i])
		return out
	}
	if id := a.unreliableCalculation(r); id != "" {
		out.status, out.vacuous, out.blockedBy = Skip, false, "math."+id
		out.reason = fmt.Sprintf("it rests on the calculation %q, which is not stated or could not be re-derived by "+
			"the sheet's formula from stated inputs", id)
	}
	return out
}

// runWhereItApplies runs the rule unless its applies_if says that it does not apply.
func (a *audit) runWhereItApplies(r *Rule) outcome {
	if r.when != nil {
		switch res := r.when.Eval(a.env); res.Truth {
		case policy.False:
			return outcome{status: Pass, vacuous: true, notes: []string{"does not apply: " + r.when.Text()}}
		case policy.Unknown:
			a.operandMissing(r, res)
			return skipOutcome("cannot tell whether it applies (%s): %s", r.when.Text(), missingText(res))
		}
	}
	return r.run(a, r)
}

// judgesCalculations are the keys that speak of all calculations: while a declared one is not stated they cannot say
// that all is well, or leaving out the bad one would mend them (S51).
var judgesCalculations = map[string]bool{"calculations_present": true, "inputs_consistent": true,
	"inputs_match_evidence": true, "evidence_references_resolve": true}

// unreliableCalculation names a calculation that the rule rests on, directly or through others, and that is not stated
// or could not be re-derived whole; "" where there is none. Gates fall back to the agent's own value (S16), which may
// show that they fail; that they hold it cannot show, or breaking a calculation could open a gate (S51).
func (a *audit) unreliableCalculation(r *Rule) string {
	for _, m := range r.needs {
		list := a.byID[m.ID]
		if len(list) == 0 && !m.Optional {
			return m.ID
		}
		if slices.ContainsFunc(list, func(c *calculation) bool { return !c.sound && !judgesCalculations[r.Kind] }) {
			return m.ID
		}
	}
	return ""
}

// needsDocument: the checks that can be run on bytes that are not JSON.
func needsDocument(r *Rule) bool {
	return r.Stage != StageLane && r.Stage != StageChecklist && r.ID != "structure" && r.ID != "json_valid"
}

// addFinding records a finding for a rule. Tier, bucket, stage, severity and place are filled in where the caller left
// them empty.
func (a *audit) addFinding(r *Rule, f Finding) {
	if f.Tier == "" {
		f.Tier = r.Tier
	}
	if f.Stage == "" {
		f.Stage = r.Stage
	}
	if f.Bucket == "" {
		f.Bucket = r.Bucket
	}
	if f.Severity == "" && r.Severity != severityOf(r.Tier) {
		f.Severity = r.Severity // the sheet says so; the default follows the flag's own tier (S7, S8)
	}
	if f.Severity == "" || f.Tier == High {
		f.Severity = severityOf(f.Tier)
	}
	if r.NonCompensable {
		f.Severity = severityOf(High) // it closes the gate whatever the score, so it fails the audit too (S74)
	}
	if f.Why == "" {
		f.Why = r.Why
	}
	f.RuleIDs, f.order = []string{r.ID}, r.order
	a.raised++
	a.spendWork(4)
	// A formula that reads what is not stated has no source either; a number that a text gets wrong may have one.
	if f.Stage == StageEvidence && f.Code != "evidence.claim_number" || f.Code == "math.inputs_missing" {
		a.failures.evidence = true
	}
	if f.Stage == StagePolicy {
		a.failures.gate = true
		a.failures.midGate = a.failures.midGate || f.Tier != Low
		a.failures.highGate = a.failures.highGate || f.Tier == High
	}
	if !a.listsFinding(r, &f) {
		return
	}
	f.Message = visibleText(f.Message)
	if f.Fix != nil {
		f.Fix.Text = visibleText(f.Fix.Text)
	}
	if f.Atoms = withoutBlank(f.Atoms); len(f.Atoms) == 0 {
		f.Atoms = withoutBlank([]string{a.atomOf(f)})
	}
	key := findingKey{f.Code, f.Pointer, f.File}
	i, known := a.found[key]
	if known {
		a.findings[i].mergeFinding(f)
	} else {
		i = len(a.findings)
		a.found[key] = i
		if f.File == "" {
			a.placeFinding(&f)
		}
		a.findings = append(a.findings, f)
	}
	a.listings[listKey{r.ID, f.Code, f.Tier, f.Severity}].last = i
}

// maxMessage bounds a message that is joined from several.
const maxMessage = 2000

// mergeFinding joins a second rule's finding about the same thing (S49): both rules are named, the heavier tier stands,
// and what the second one says otherwise is added.
func (f *Finding) mergeFinding(o Finding) {
	if !strings.Contains(f.Message, o.Message) && len(f.Message)+len(o.Message) < maxMessage {
		f.Message += "; " + o.Message
	}
	if !slices.Contains(f.RuleIDs, o.RuleIDs[0]) {
		f.RuleIDs = append(f.RuleIDs, o.RuleIDs...)
	}
	if o.Tier.Rank() < f.Tier.Rank() {
		f.Tier, f.Severity = o.Tier, o.Severity
	}
	if o.Severity == "critical" {
		f.Severity = o.Severity
	}
	f.Atoms = append(f.Atoms, o.Atoms...)
}

// severityOf is the default of S8.
func severityOf(t Tier) string {
	if t == High {
		return "critical"
	}
	return "noncritical"
}

// placeFinding finds the line and column of the finding's pointer, or of the nearest value above it that exists.
func (a *audit) placeFinding(f *Finding) {
	f.File = a.Path
	if a.doc == nil {
		if a.readErr != nil && f.Pointer == "" {
			f.Line, f.Column, f.doc = a.readErr.Pos.Line, a.readErr.Pos.Col, a.readErr.Pos.Offset
		}
		a.shiftLine(f)
		return
	}
	v, at := a.doc.Deepest(f.Pointer)
	end := at == f.Pointer
	if a.answer.grafted > 0 && v.Pos.Offset >= a.answer.grafted {
		v = a.answer.at // it stands in the raw answer
	}
	f.Line, f.Column, f.doc = v.Pos.Line, v.Pos.Col, v.Pos.Offset
	if end && (v.Kind == strictjson.Number || v.Kind == strictjson.String || v.Kind == strictjson.Bool ||
		v.Kind == strictjson.Null) {
		f.EndLine, f.EndCol = v.Pos.Line, v.Pos.Col+utf8.RuneCount(a.Bytes[v.Pos.Offset:v.End])
	}
	a.shiftLine(f)
}

// shiftLine moves a place to the submission's own line of a .jsonl file.
func (a *audit) shiftLine(f *Finding) {
	if a.Line > 0 && f.Line > 0 {
		f.Line += a.Line - 1
		if f.EndLine > 0 {
			f.EndLine += a.Line - 1
		}
	}
}

// addAtom records one verified fact and returns its id, "" where there are too many to keep it.
func (a *audit) addAtom(kind, field string, pass bool, severity, scope, message string) string {
	if !a.keepsAtom(pass) {
		return ""
	}
	id := atomID(a.recorded)
	if pass {
		severity = "info"
	}
	at := Atom{ID: id, Type: kind, Field: field, Pass: pass, Severity: severity, Scope: scope,
		Message: visibleText(message)}
	if r := a.running; r != nil {
		if r.Family != "" {
			at.Type = r.Family + kind[strings.IndexByte(kind, '.'):]
		}
		if !pass {
			at.Meta = a.atomMeta(r.ID, field, "", "")
		}
	}
	a.atoms = append(a.atoms, at)
	return id
}

func (a *audit) atomMeta(rule, field, observed, threshold string) *AtomMeta {
	return &AtomMeta{Rule: rule, Field: field, Observed: observed, Threshold: threshold,
		Config: a.Sheet.trace.Limits[:16]}
}

// addMeasuredAtom is atom for a value that is held against a threshold. The words are made for a fact that fails, and
// for all where all are kept: most facts hold, and nobody reads them.
func (a *audit) addMeasuredAtom(r *Rule, kind, field string, pass bool, severity, scope string, observed,
	threshold string,
	message func() string) string {
	words := "within its limits"
	if !pass || a.AllAtoms {
		words = message()
	}
	id := a.addAtom(kind, field, pass, severity, scope, words)
	if id != "" && (!pass || a.AllAtoms) {
		a.atoms[len(a.atoms)-1].Meta = a.atomMeta(r.ID, field, visibleText(observed), visibleText(threshold))
	}
	return id
}

// atomOf is the fact behind a finding whose rule recorded none: every finding cites one.
func (a *audit) atomOf(f Finding) string {
	severity, scope := "warning", "field"
	if f.Severity == "critical" {
		severity = "critical"
	}
	if f.Pointer == "" {
		scope = "sample"
	}
	kind := f.Code
	if !strings.Contains(kind, ".") {
		kind = string(f.Stage) + "." + kind
	}
	return a.addAtom(kind, f.Pointer, false, severity, scope, f.Message)
}

// atomID numbers atoms from EVID_001.
func atomID(n int) string {
	s := strconv.Itoa(n)
	return "EVID_" + "000"[min(3, len(s)):] + s
}

func atomIDs(atoms []Atom) []string {
	if len(atoms) == 0 {
		return nil
	}
	out := make([]string, len(atoms))
	for i, at := range atoms {
		out[i] = at.ID
	}
	return out
}

// atomSeverity is the severity of a failed atom of this tier.
func atomSeverity(t Tier) string {
	if t == High {
		return "critical"
	}
	return "warning"
}

// submissionRef computes what identifies the submission: its SHA-256 and the id git gives the same bytes.
func (a *audit) submissionRef() SubmissionRef {
	if a.Ref != nil {
		return SubmissionRef{Path: a.Path, SHA256: a.Ref.SHA256, GitBlob: a.Ref.GitBlob, Line: a.Line}
	}
	h := newIdentity(int64(len(a.Bytes)))
	h.Write(a.Bytes)
	ref := h.submissionRef()
	ref.Path, ref.Line = a.Path, a.Line
	return ref
}

// inputValue returns the submission's value of a declared input: under its name, or under one of the sheet's other
// names for it.
func (a *audit) inputValue(name string) *strictjson.Value {
	object := a.doc.Get("inputs")
	if v := object.Get(name); v != nil {
		return v
	}
	for _, m := range object.Fields() {
		if a.Sheet.alias[a.Sheet.normalOf(m.Key)] == name {
			return m.Value
		}
	}
	return nil
}

// inputNumber is input as a number; nil when it is missing or not a number.
func (a *audit) inputNumber(name string) *decimal.Num { return a.inputValue(name).Decimal() }
