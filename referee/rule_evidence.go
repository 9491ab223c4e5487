package referee

import (
	"errors"
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

// claimsOf are the submission's claims; a missing or empty list is itself a finding (S30).
func (a *audit) claimsOf(r *Rule) []*strictjson.Value {
	list := a.doc.Get("claims").Elements()
	if len(list) == 0 {
		a.addFinding(r, Finding{Code: "evidence.all_claims_cited", Pointer: "/claims",
			Message: "there are no claims, so nothing is cited",
			Fix:     &Fix{Text: "state what the work claims, and the evidence for it"}})
	}
	return list
}

// claimReference is a claim's citation: evidence_reference, or one of the source documents' other names for it.
func claimReference(claim *strictjson.Value) *strictjson.Value {
	for _, name := range []string{"evidence_reference", "source_location", "source"} {
		if v := claim.Get(name); v != nil {
			return v
		}
	}
	return nil
}

func runReferencesPresent(a *audit, r *Rule) outcome {
	before := a.raised
	for i, claim := range a.claimsOf(r) {
		if claimReference(claim).IsMissing() {
			a.flagUncited(r, claim, i, "has no evidence_reference")
		}
	}
	return flaggedSince(a, before)
}

func runAllClaimsCited(a *audit, r *Rule) outcome {
	before := a.raised
	for i, claim := range a.claimsOf(r) {
		if !a.spendWork(2) {
			break
		}
		ref := claimReference(claim)
		word, isText := ref.Str()
		switch {
		case ref.IsMissing():
			a.flagUncited(r, claim, i, "has no evidence_reference")
		case !isText:
			a.flagUncited(r, claim, i, "has an evidence_reference that is not text")
		case blankReference(word):
			a.flagUncited(r, claim, i, fmt.Sprintf("cites %q, which names nothing", clipText(word)))
		default:
			a.addAtom("evidence.cited", claim.Pointer(), true, "info", "field", "cites a source")
		}
	}
	return flaggedSince(a, before)
}

func (a *audit) flagUncited(r *Rule, claim *strictjson.Value, i int, what string) {
	id := a.addAtom("evidence.cited", claim.Pointer(), false, atomSeverity(r.Tier), "field", what)
	a.addFinding(r, Finding{Code: "evidence.all_claims_cited", Pointer: claim.Pointer() + "/evidence_reference",
		Atoms:   []string{id},
		Message: fmt.Sprintf("claim %d %s", i+1, what),
		Fix:     &Fix{Text: "cite declared evidence as <id> or <id>#<selector>"}})
}

// runReferencesResolve: every reference leads to held evidence and its selector hits (S61); declared evidence is held.
func runReferencesResolve(a *audit, r *Rule) outcome {
	if a.Evidence == nil {
		return skipOutcome("no_manifest: a bare submission declares no evidence")
	}
	before, open := a.raised, 0
	a.flagUnheldEvidence(r)
	for _, claim := range a.doc.Get("claims").Elements() {
		ref := claimReference(claim)
		if word, ok := ref.Str(); ok && !blankReference(word) {
			open += a.resolveReference(r, ref, word)
		}
	}
	for _, c := range a.calcs {
		for _, m := range c.v.Get("sources").Fields() {
			if word, ok := m.Value.Str(); ok {
				open += a.resolveReference(r, m.Value, word)
			}
		}
	}
	out := flaggedSince(a, before)
	if out.status == Pass && open > 0 {
		return outcome{status: Open, reason: fmt.Sprintf("%d references point into documents that are hashed and "+
			"left to the human (S64)", open)}
	}
	return out
}

// flagUnheldEvidence flags declared evidence that is not there, is refused, or is a link without a snapshot (S66).
func (a *audit) flagUnheldEvidence(r *Rule) {
	for _, f := range a.Evidence.All() {
		if f.Err == nil {
			a.addAtom("evidence.held", f.ID, true, "info", "sample", f.SHA256)
			continue
		}
		code, tier := "evidence.refused", High
		switch {
		case errors.Is(f.Err, evidence.ErrMissing):
			code = "evidence.missing_file"
		case errors.Is(f.Err, evidence.ErrNotHeld):
			code, tier = "evidence.not_held", Low
		}
		id := a.addAtom("evidence.held", f.ID, false, atomSeverity(tier), "sample", f.Err.Error())
		a.addFinding(r, Finding{Code: code, Tier: tier, Pointer: "", Atoms: []string{id}, Message: f.Err.Error(),
			Fix: &Fix{Text: fmt.Sprintf("commit evidence %q as a file of the run folder, or do not declare it",
				clipText(f.ID))}})
	}
}

// resolveReference follows one reference; it returns 1 where only a person can.
func (a *audit) resolveReference(r *Rule, at *strictjson.Value, word string) int {
	hit, err := a.Evidence.Resolve(word)
	if err == nil {
		if hit.Open {
			return 1
		}
		a.addAtom("evidence.resolved", at.Pointer(), true, "info", "field", clipText(word))
		return 0
	}
	f := Finding{Pointer: at.Pointer(), Message: err.Error(),
		Fix: &Fix{Text: "declared evidence: " + joinListed(a.Evidence.IDs())}}
	switch {
	case errors.Is(err, evidence.ErrUndeclared):
		f.Code, f.Tier = "evidence.unresolved", Low
		if r.v.Get("strict_references").IsTrue() {
			f.Tier = Mid
		}
	case errors.Is(err, evidence.ErrNoHit):
		f.Code, f.Tier = "evidence.no_hit", Mid
	case errors.Is(err, evidence.ErrMissing), errors.Is(err, evidence.ErrNotHeld), errors.Is(err, evidence.ErrRefused):
		return 0 // said once, of the evidence itself
	default:
		f.Code, f.Tier = "evidence.no_hit", Mid
	}
	f.Atoms = []string{a.addAtom("evidence.resolved", at.Pointer(), false, atomSeverity(f.Tier), "field", err.Error())}
	a.addFinding(r, f)
	return 0
}

// runInputsConsistent: one input name has one value in all calculations (S17).
func runInputsConsistent(a *audit, r *Rule) outcome {
	before := a.raised
	first := map[string]*strictjson.Value{}
	for _, c := range a.calcs {
		for _, m := range c.v.Get("inputs").Fields() {
			x, name := m.Value.Decimal(), a.sheetName(m.Key)
			if x == nil {
				continue
			}
			was, seen := first[name]
			if !seen {
				first[name] = m.Value
				continue
			}
			a.oneValue(r, name, was, m.Value)
		}
		a.flagValueless(r, c)
	}
	return flaggedSince(a, before)
}

// valueless: a name that a formula reads and that has no value there is not consistent with anything.
func (a *audit) flagValueless(r *Rule, c *calculation) {
	if c.formula == nil {
		return
	}
	for _, name := range c.formula.Vars() {
		if in := c.inputs[name]; in.Num == nil && in.List == nil {
			a.addFinding(r, Finding{Code: "math.input_inconsistent", Tier: Mid,
				Pointer: strictjson.JoinPointer(c.pointer, "inputs", name),
				Message: fmt.Sprintf("input %q of %q has no value", clipText(name), c.labelText()),
				Fix:     &Fix{Text: "state the input"}})
		}
	}
}

func (a *audit) oneValue(r *Rule, name string, was, is *strictjson.Value) {
	d := a.Sheet.penalty.measureDeviation(is.Decimal(), was.Decimal(), is.Text, nil)
	if d.isFlag() {
		a.addFinding(r, Finding{Code: "math.input_inconsistent", Tier: d.band.bandTier(), Pointer: is.Pointer(),
			Spot:    spotOf(d),
			Message: fmt.Sprintf("input %q is %s here and %s at %s", clipText(name), is.Text, was.Text, was.Pointer()),
			Fix:     &Fix{Text: "use one value"}})
	}
}

// runAssumptionsLabeled: an assumption says that it is one.
func runAssumptionsLabeled(a *audit, r *Rule) outcome {
	before := a.raised
	for i, v := range a.doc.Get("assumptions").Elements() {
		word, isText := v.Str()
		labelled := isText && strings.HasPrefix(strings.ToLower(strings.TrimSpace(legible.Fold(word))), "assumption:")
		if v.Kind == strictjson.Object {
			label, _ := v.Get("label").Str()
			said, _ := v.Get("assumption").Str()
			labelled = strings.EqualFold(strings.TrimSpace(legible.Fold(label)), "assumption") && !legible.Blank(said)
		}
		id := a.addAtom("evidence.assumption_labeled", v.Pointer(), labelled, atomSeverity(r.Tier), "field",
			"says that it is an assumption")
		if !labelled {
			a.addFinding(r, Finding{Code: "evidence.assumptions_labeled", Pointer: v.Pointer(), Atoms: []string{id},
				Message: fmt.Sprintf("assumption %d is not labelled as one", i+1), Fix: &Fix{Text: r.Fix}})
		}
	}
	return flaggedSince(a, before)
}

// runMissingInputsDisclosed: an absent required input is named in missing_inputs.
func runMissingInputsDisclosed(a *audit, r *Rule) outcome {
	before := a.raised
	for _, in := range a.Sheet.Inputs {
		if in.Optional || !a.inputValue(in.Name).IsMissing() || a.strangeWord(in.Name) {
			continue
		}
		disclosed := a.missing[normalName(in.Name)]
		id := a.addAtom("evidence.input_disclosed", in.Name, disclosed, atomSeverity(r.Tier), "field",
			"absent input is named in missing_inputs")
		if !disclosed {
			a.addFinding(r, Finding{Code: "evidence.missing_input_undisclosed", Pointer: inputPointer(in.Name),
				Atoms:   []string{id},
				Message: fmt.Sprintf("required input %q is absent and missing_inputs does not say so", in.Name),
				Fix:     &Fix{Text: fmt.Sprintf("supply %s, or add %q to missing_inputs", in.Name, in.Name)}})
		}
	}
	return flaggedSince(a, before)
}

func runSelfCheckTrue(a *audit, r *Rule) outcome {
	before := a.raised
	check := a.doc.Get("self_check")
	if len(check.Fields()) == 0 {
		a.addFinding(r, Finding{Code: "evidence.self_check_false", Pointer: "/self_check", Message: "there is no self-check",
			Fix: &Fix{Text: "answer the self-check"}})
	}
	for _, m := range check.Fields() {
		if m.Value.Kind == strictjson.Bool && !m.Value.IsTrue() {
			a.addFinding(r, Finding{Code: "evidence.self_check_false", Pointer: m.Value.Pointer(),
				Message: fmt.Sprintf("the agent's own check %q is false", clipText(m.Key)), Fix: &Fix{Text: r.Fix}})
		}
	}
	return flaggedSince(a, before)
}

// runSelfCheckConsistent: a self-check that says all is sourced while evidence is flagged is a false claim (S48).
func runSelfCheckConsistent(a *audit, r *Rule) outcome {
	before := a.raised
	for _, name := range []string{"all_numbers_have_sources", "all_claims_cited", "evidence_attached"} {
		v := a.doc.Get("self_check").Get(name)
		if v.IsTrue() && a.failures.evidence {
			a.addFinding(r, Finding{Code: "evidence.self_check_inconsistent", Tier: Low, Pointer: v.Pointer(),
				Message: fmt.Sprintf("self_check says %s, and the audit flags the evidence", name),
				Fix:     &Fix{Text: r.Fix}})
		}
	}
	return flaggedSince(a, before)
}

// outputText is the final output as text: itself, or all strings in it.
func (a *audit) outputText() string {
	v := a.doc.Get("final_output")
	if s, ok := v.Str(); ok {
		return s
	}
	var words []string
	if v != nil {
		v.Walk(func(x *strictjson.Value) bool {
			if x.Kind == strictjson.String || x.Kind == strictjson.Number {
				words = append(words, x.Text)
			}
			for _, m := range x.Members {
				words = append(words, m.Key)
			}
			return true
		})
	}
	return strings.Join(words, "\n")
}

func runSectionsPresent(a *audit, r *Rule) outcome {
	want := r.v.Get("sections").Texts()
	if want == nil {
		want = a.Sheet.Outputs
	}
	out, before := strings.ToLower(legible.Fold(a.outputText())), a.raised
	for _, s := range want {
		if !strings.Contains(out, strings.ToLower(legible.Fold(s))) {
			a.addFinding(r, Finding{Code: "structure.section_missing", Pointer: "/final_output",
				Message: fmt.Sprintf("the section %q is missing", s), Fix: &Fix{Text: r.Fix}})
			break
		}
	}
	return flaggedSince(a, before)
}

func runOutputNonempty(a *audit, r *Rule) outcome {
	least, _ := r.v.Get("min_chars").Int()
	if n := len([]rune(strings.TrimSpace(legible.Fold(a.outputText())))); int64(n) < max(least, 1) {
		a.addFinding(r, Finding{Code: "structure.output_empty", Pointer: "/final_output",
			Message: fmt.Sprintf("final_output has %d characters; at least %d are needed", n, max(least, 1)),
			Fix:     &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}

func runNumbersPresent(a *audit, r *Rule) outcome {
	if !strings.ContainsAny(legible.Fold(a.outputText()), "0123456789") {
		a.addFinding(r, Finding{Code: "structure.numbers_missing", Pointer: "/final_output",
			Message: "final_output states no number", Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}

func runSpecsPresent(a *audit, r *Rule) outcome {
	if a.Agent == nil {
		return skipOutcome("no_manifest: a bare submission names no agent")
	}
	if a.Agent.Model == "" {
		a.addFinding(r, Finding{Code: "structure.specs_missing", Message: "the run's agent names no model",
			Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}

// citationWords are the source documents' signs of a citation in running text.
var citationWords = []string{"source", "per the", "according to", "exhibit", "rent roll", "t12", "page", "[", "cited",
	"provided"}

func runCitationsPresent(a *audit, r *Rule) outcome {
	out := strings.ToLower(legible.Fold(a.outputText()))
	for _, claim := range a.doc.Get("claims").Elements() {
		if s, ok := claimReference(claim).Str(); ok && !blankReference(s) {
			return passed
		}
	}
	for _, w := range citationWords {
		if strings.Contains(out, w) {
			return passed
		}
	}
	a.addFinding(r, Finding{Code: "evidence.citations_missing", Pointer: "/final_output",
		Message: "neither a claim nor the final output cites a source", Fix: &Fix{Text: r.Fix}})
	return flagged
}

func runEvidenceAttached(a *audit, r *Rule) outcome {
	if a.Evidence == nil {
		return skipOutcome("no_manifest: a bare submission declares no evidence")
	}
	if len(a.Evidence.IDs()) == 0 {
		a.addFinding(r, Finding{Code: "evidence.none_attached", Message: "the run declares no evidence",
			Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}
