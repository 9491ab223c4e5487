package referee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// loadRules lists everything that counts as one rule (S36), in the order of the five stages: structure, schema,
// deterministic checks, calculations and their implicit rule, evidence checks, policy, lane requirements, questions.
func (l *loader) loadRules() {
	spec := l.sheet.Doc.Get("eval_spec")
	l.addImplicit("structure", "The submission can be read and has what the schema requires", StageStructure, runStructure)
	l.addImplicit("schema", "The submission has the declared shape", StageSchema, runSchema)
	l.loadResponse()
	deterministic, evidenceStage := l.baselineKeys()
	for _, key := range deterministic {
		l.addKey(keyNamed(key), nil)
	}
	for _, v := range spec.Get("deterministic_checks").Elements() {
		l.addCheck(v, "")
	}
	for _, m := range l.sheet.Math {
		l.addMath(m)
	}
	l.addImplicit("math.rederivation", "Every calculation re-derives, whether the sheet knows it or not", StageMath,
		runRederivation)
	for _, key := range evidenceStage {
		l.addKey(keyNamed(key), nil)
	}
	for _, v := range spec.Get("evidence_checks").Elements() {
		l.addCheck(v, StageEvidence)
	}
	l.loadHeldInputs()
	for _, v := range spec.Get("rules").Elements() {
		l.addCheck(v, StagePolicy)
	}
	l.loadLane()
	l.loadChecklist()
	l.restOnInputs()
	l.loadStatedFigures()
	l.markGated()
	if !slices.ContainsFunc(l.sheet.Rules, func(r *Rule) bool { return r.Kind != "implicit" }) &&
		l.sheet.outputs == nil {
		l.problems.addProblem(l.sheet.Doc, "no_rule", "the sheet declares no rule: it would pass everything (S35)")
	}
}

// baselineKeys are the checks that "baseline": "canonical" brings, unless the sheet lists them itself.
func (l *loader) baselineKeys() (deterministic, evidence []string) {
	if l.sheet.Baseline != "canonical" {
		return nil, nil
	}
	listed := map[string]bool{}
	for _, place := range []string{"deterministic_checks", "evidence_checks"} {
		for _, v := range l.sheet.Doc.Get("eval_spec").Get(place).Elements() {
			listed[checkName(v)] = true
		}
	}
	for _, k := range ruleKeys {
		switch {
		case !k.Baseline || listed[k.Name]:
		case k.Stage == StageEvidence:
			evidence = append(evidence, k.Name)
		default:
			deterministic = append(deterministic, k.Name)
		}
	}
	return deterministic, evidence
}

// checkName is the kind or key that an entry names.
func checkName(v *strictjson.Value) string {
	if s, ok := v.Str(); ok {
		return s
	}
	return v.TextOf("check")
}

// addRule finishes a rule: order, default bucket and severity, unique id.
func (l *loader) addRule(r *Rule) {
	r.order = len(l.sheet.Rules)
	if r.Bucket == "" {
		r.Bucket = bucketOf(r.Category)
	}
	if r.Severity == "" {
		r.Severity = severityOf(r.Tier)
	}
	if r.Tier == High && r.Severity == "noncritical" {
		l.problems.addProblem(r.v, "severity", "rule %q is high and noncritical: a high flag always closes the gate (S8)",
			r.ID)
	}
	if r.Stage != StageMath || !strings.HasPrefix(r.ID, "math.") || r.math == nil {
		l.claimID(r.ID, r.v)
	}
	l.sheet.Rules = append(l.sheet.Rules, r)
}

// bucketOf is the default bucket of a category (S41).
func bucketOf(category string) Bucket {
	switch category {
	case "policy":
		return DealFinding
	case "lane":
		return StackFit
	}
	return WorkDefect
}

func (l *loader) addImplicit(id, label string, stage Stage, run func(*audit, *Rule) outcome) {
	l.addRule(&Rule{ID: id, Label: label, Kind: "implicit", Category: string(stage), Stage: stage, Tier: High, run: run,
		v: l.sheet.Doc})
}

func (l *loader) addMath(m *MathCheck) {
	r := &Rule{ID: "math." + m.ID, Label: m.Label, Kind: "recompute", Category: "math", Stage: StageMath, Tier: m.Tier,
		Why: m.Why, Fix: m.Fix,
		Text: m.ID + " = " + m.Text, math: m, run: runMath, v: m.v}
	if r.Label == "" {
		r.Label = m.ID
	}
	l.addRule(r)
}

// addCheck adds an entry of deterministic_checks, evidence_checks or rules: a registry key, or an object with a kind.
// stage is where the list stands; "" keeps the kind's own.
func (l *loader) addCheck(v *strictjson.Value, stage Stage) {
	name := checkName(v)
	if name == "" && stage == StagePolicy && v.Kind == strictjson.Object {
		name = "expr"
	}
	if v.Get("match_field") != nil {
		l.addKind(kindNamed("match"), v, stage)
		return
	}
	if k := keyNamed(name); k != nil {
		l.addKey(k, v)
		return
	}
	if k := kindNamed(name); k != nil && v.Kind == strictjson.Object {
		l.addKind(k, v, stage)
		return
	}
	l.problems.addNear(v, "unknown_check", name, checkNames(), "unknown check %q", name)
}

// addKey adds a registry key, with its parameters where v is an object.
func (l *loader) addKey(k *RuleKey, v *strictjson.Value) {
	r := &Rule{ID: k.Name, Label: k.Title, Kind: k.Name, Category: string(k.Stage), Stage: k.Stage, Tier: k.Tier,
		Why: k.Why, Fix: k.Remedy, run: k.run, v: v}
	if v == nil {
		r.v = l.sheet.Doc
	}
	if v != nil && v.Kind == strictjson.Object {
		before := len(l.problems.List)
		keptRecord(k.Name, &k.Params).checkValue(v, &l.problems)
		if len(l.problems.List) > before {
			return
		}
		l.applyModifiers(r, v)
	}
	if k.Name == "sections_present" && len(r.v.Get("sections").Texts()) == 0 && len(l.sheet.Outputs) == 0 {
		l.problems.addProblem(r.v, "missing_key", "sections_present needs sections, or expected_outputs of the sheet: it "+
			"would pass everything")
	}
	l.loadAuditChecks(r)
	l.addRule(r)
}

// addKind adds a check object of one kind.
func (l *loader) addKind(k *RuleKind, v *strictjson.Value, stage Stage) {
	if v.Kind != strictjson.Object {
		l.problems.addProblem(v, "type", "a %s check is an object with parameters", k.Name)
		return
	}
	before := len(l.problems.List)
	keptRecord(k.Name, &k.Params).checkValue(v, &l.problems)
	if len(l.problems.List) > before {
		return
	}
	r := &Rule{Kind: k.Name, Category: string(k.Stage), Stage: k.Stage, Tier: k.Tier, v: v}
	if stage == StagePolicy && (k.Name == "for_each" || k.Name == "expr") {
		r.Stage = StagePolicy
	}
	l.applyModifiers(r, v)
	if r.ID == "" {
		r.ID = k.Name
		if k.Name == "match" {
			r.ID = v.TextOf("check")
		}
	}
	k.compile(l, r, v)
	if r.run == nil && !l.problems.Refused() {
		l.problems.addProblem(v, "internal", "check kind %q cannot be compiled", k.Name)
	}
	l.loadAuditChecks(r)
	l.addRule(r)
}

// applyModifiers applies the modifiers that every kind knows (rules.md 1.3).
func (l *loader) applyModifiers(r *Rule, v *strictjson.Value) {
	set := func(to *string, key string) {
		if s := v.TextOf(key); s != "" {
			*to = s
		}
	}
	set(&r.ID, "id")
	set(&r.Label, "label")
	set(&r.Category, "category")
	set(&r.Why, "why")
	set(&r.Fix, "fix")
	set(&r.Message, "message")
	set(&r.OnMissing, "on_missing")
	set(&r.Family, "family")
	set(&r.RowName, "row_name")
	set(&r.Severity, "severity")
	for _, key := range []string{"risk", "tier"} {
		if t := v.TextOf(key); t != "" {
			r.Tier = Tier(t)
		}
	}
	if b := v.TextOf("bucket"); b != "" {
		r.Bucket = Bucket(b)
	}
	r.cap = l.capOf(v.Get("cap"), r.ID+": cap")
	r.NonCompensable, r.PerRow = v.Get("non_compensable").IsTrue(), v.TextOf("emit") == "per_row"
	if s := v.Get("source"); s != nil {
		r.Source = Source{Text: s.TextOf("text"), URL: s.TextOf("url"), Status: s.TextOf("status"), AsOf: s.TextOf("as_of")}
	}
	r.when = l.compilePredicate(v.Get("applies_if"), r.ID+": applies_if")
	l.modifyTier(r, v.Get("tier_by"))
}

func (l *loader) modifyTier(r *Rule, v *strictjson.Value) {
	if v == nil {
		return
	}
	t := &tierBy{measure: l.loadExpr(v.Get("measure"), r.ID+": tier_by"), mid: v.Get("mid").Decimal(),
		high: v.Get("high").Decimal()}
	if t.mid != nil && decimal.Cmp(t.mid, t.high) > 0 {
		l.problems.addProblem(v, "tier_by", "tier_by of %q: mid %s is greater than high %s", r.ID, t.mid, t.high)
	}
	if t.measure != nil {
		r.tierBy = t
	}
}

// loadAuditChecks takes the words of audit_checks for an automatic check.
func (l *loader) loadAuditChecks(r *Rule) {
	for _, v := range l.sheet.Doc.Get("audit_checks").Elements() {
		if v.TextOf("kind") == "checklist" || v.TextOf("key") != r.ID {
			continue
		}
		if s := v.TextOf("label"); s != "" {
			r.Label = s
		}
		if s := v.TextOf("tier"); s != "" {
			r.Tier = Tier(s)
		}
		if s := v.TextOf("why"); s != "" {
			r.Why = s
		}
		if s := v.TextOf("remedy"); s != "" {
			r.Fix = s
		}
	}
}

// loadChecklist adds the questions: audit_checks of kind checklist.
func (l *loader) loadChecklist() {
	for _, v := range l.sheet.Doc.Get("audit_checks").Elements() {
		key := v.TextOf("key")
		if v.TextOf("kind") != "checklist" {
			if l.sheet.Rule(key) == nil {
				l.problems.addNear(v, "unknown_check", key, l.ruleIDs(), "audit check %q: the sheet has no such rule",
					key)
			}
			continue
		}
		r := &Rule{ID: key, Label: v.TextOf("label"), Kind: "checklist", Category: "checklist", Stage: StageChecklist,
			Tier: Mid, Why: v.TextOf("why"), Fix: v.TextOf("remedy"),
			Severity: v.TextOf("severity"), Question: v.TextOf("label"), run: runChecklist, v: v, Bucket: WorkDefect}
		if t := v.TextOf("tier"); t != "" {
			r.Tier = Tier(t)
		}
		r.PerBatch = v.TextOf("per") == "batch"
		l.checkQuestion(r)
		l.addRule(r)
	}
}

// opinionWords have no yes or no that two people would agree on (rules.md 1.3).
var opinionWords = []string{"good", "quality", "appropriate", "appropriately", "seems", "seem", "reasonable",
	"reasonably", "adequate", "adequately", "sufficient", "proper", "properly"}

// checkQuestion refuses a checklist item that is a matter of taste.
func (l *loader) checkQuestion(r *Rule) {
	if strings.TrimSpace(r.Question) == "" {
		l.problems.addProblem(r.v, "question", "checklist item %q has no question", r.ID)
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(r.Question), func(c rune) bool {
		return c != '-' &&
			(c < 'a' || c > 'z')
	}) {
		if slices.Contains(opinionWords, word) {
			l.problems.addProblem(r.v, "opinion_word", "checklist item %q asks for an opinion (%q): ask what two people "+
				"would answer the same way", r.ID, word)
		}
	}
}

func (l *loader) ruleIDs() []string {
	out := make([]string, len(l.sheet.Rules))
	for i, r := range l.sheet.Rules {
		out[i] = r.ID
	}
	return out
}

// markGated notes which calculations some rule reads, directly or through others: prose in their formula is high
// (S13b).
func (l *loader) markGated() {
	var mark func(id string)
	mark = func(id string) {
		m := l.sheet.mathNamed(id)
		if m == nil || m.gated {
			return
		}
		m.gated = true
		for _, name := range m.Inputs {
			mark(name)
		}
	}
	for _, r := range l.sheet.Rules {
		if r.expr != nil {
			r.reads = append(r.reads, r.expr.Refs().Calcs...)
		}
		if r.when != nil {
			r.reads = append(r.reads, r.when.Refs().Calcs...)
		}
		for _, id := range r.reads {
			mark(id)
		}
		r.needs = l.sheet.madeOf(r)
	}
}

// madeOf lists, in sheet order, the calculations that a rule rests on, with all that those are made of.
func (s *Sheet) madeOf(r *Rule) []*MathCheck {
	need := map[*MathCheck]bool{}
	var walk func(names []string)
	walk = func(names []string) {
		for _, name := range names {
			if m := s.mathNamed(name); m != nil && !need[m] {
				need[m] = true
				walk(m.Inputs)
			}
		}
	}
	walk(r.reads)
	if r.math != nil {
		walk(r.math.Inputs)
	}
	return slices.DeleteFunc(slices.Clone(s.Math), func(m *MathCheck) bool {
		return !need[m] &&
			!judgesCalculations[r.Kind]
	})
}

// ownPolicyCodes are the findings of the policy stage that are no gate of a sheet.
var ownPolicyCodes = []string{"policy.undecided", "policy.final_output_inconsistent"}

func (l *loader) compileExpr(r *Rule, v *strictjson.Value) {
	if r.ID == "" || r.ID == "expr" {
		l.problems.addProblem(v, "missing_key", "a rule needs an id")
	}
	if slices.Contains(ownPolicyCodes, "policy."+r.ID) {
		l.problems.addProblem(v, "reserved_id", "rule id %q is taken: a finding policy.%s is the engine's own", r.ID, r.ID)
	}
	r.expr = l.compilePredicate(v.Get("expr"), fmt.Sprintf("rule %q", r.ID))
	if r.expr != nil {
		r.Text = r.expr.Text()
		if r.expr.Approx() && r.Bucket == "" {
			r.Bucket = WorkDefect // S33
		}
	}
	r.run = runExpr
}

func (l *loader) compileChecklist(r *Rule, v *strictjson.Value) {
	r.Question, r.Stage, r.Category, r.Bucket = v.TextOf("question"), StageChecklist, "checklist", WorkDefect
	r.Label = r.Question
	l.checkQuestion(r)
	r.run = runChecklist
}

// runChecklist: only a person answers (S38).
func runChecklist(_ *audit, r *Rule) outcome { return outcome{status: Open, reason: r.Question} }
