package referee

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

// keyRunners run the registry keys.
var keyRunners = map[string]func(*audit, *Rule) outcome{
	"json_valid": runJSONValid, "required_fields_present": runRequiredFields, "calculations_present": runCalculationsPresent,
	"evidence_references_present": runReferencesPresent, "all_claims_cited": runAllClaimsCited, "evidence_references_resolve": runReferencesResolve,
	"quotes_verbatim": runQuotesVerbatim, "inputs_match_evidence": runInputsMatchEvidence, "inputs_consistent": runInputsConsistent,
	"assumptions_labeled": runAssumptionsLabeled, "missing_inputs_disclosed": runMissingInputsDisclosed, "self_check_true": runSelfCheckTrue,
	"self_check_consistent": runSelfCheckConsistent, "final_output_consistent": runFinalOutputConsistent, "sections_present": runSectionsPresent,
	"output_nonempty": runOutputNonempty, "numbers_present": runNumbersPresent, "specs_present": runSpecsPresent,
	"citations_present": runCitationsPresent, "evidence_attached": runEvidenceAttached,
}

// claims are the submission's claims; a missing or empty list is itself a finding (S30).
func (a *audit) claims(r *Rule) []*strictjson.Value {
	list := items(a.doc.Get("claims"))
	if len(list) == 0 {
		a.flag(r, Finding{Code: "evidence.all_claims_cited", Pointer: "/claims", Message: "there are no claims, so nothing is cited", Fix: &Fix{Text: "state what the work claims, and the evidence for it"}})
	}
	return list
}

// reference is a claim's citation: evidence_reference, or one of the source documents' other names for it.
func reference(claim *strictjson.Value) *strictjson.Value {
	for _, name := range []string{"evidence_reference", "source_location", "source"} {
		if v := claim.Get(name); v != nil {
			return v
		}
	}
	return nil
}

func runReferencesPresent(a *audit, r *Rule) outcome {
	before := a.raised
	for i, claim := range a.claims(r) {
		if reference(claim).IsMissing() {
			a.uncited(r, claim, i, "has no evidence_reference")
		}
	}
	return flaggedSince(a, before)
}

func runAllClaimsCited(a *audit, r *Rule) outcome {
	before := a.raised
	for i, claim := range a.claims(r) {
		ref := reference(claim)
		word, isText := ref.Str()
		switch {
		case ref.IsMissing():
			a.uncited(r, claim, i, "has no evidence_reference")
		case !isText:
			a.uncited(r, claim, i, "has an evidence_reference that is not text")
		case blankReference(word):
			a.uncited(r, claim, i, fmt.Sprintf("cites %q, which names nothing", clip(word)))
		default:
			a.atom("evidence.cited", claim.Pointer(), true, "info", "field", "cites a source")
		}
	}
	return flaggedSince(a, before)
}

func (a *audit) uncited(r *Rule, claim *strictjson.Value, i int, what string) {
	id := a.atom("evidence.cited", claim.Pointer(), false, atomSeverity(r.Tier), "field", what)
	a.flag(r, Finding{Code: "evidence.all_claims_cited", Pointer: claim.Pointer() + "/evidence_reference", Atoms: []string{id},
		Message: fmt.Sprintf("claim %d %s", i+1, what), Fix: &Fix{Text: "cite declared evidence as <id> or <id>#<selector>"}})
}

// runReferencesResolve: every reference leads to held evidence and its selector hits (S61); declared evidence is held.
func runReferencesResolve(a *audit, r *Rule) outcome {
	if a.Evidence == nil {
		return skipped("no_manifest: a bare submission declares no evidence")
	}
	before, open := a.raised, 0
	a.held(r)
	for _, claim := range items(a.doc.Get("claims")) {
		ref := reference(claim)
		if word, ok := ref.Str(); ok && !blankReference(word) {
			open += a.resolve(r, ref, word)
		}
	}
	for _, c := range a.calcs {
		for _, m := range members(c.v.Get("sources")) {
			if word, ok := m.Value.Str(); ok {
				open += a.resolve(r, m.Value, word)
			}
		}
	}
	out := flaggedSince(a, before)
	if out.status == Pass && open > 0 {
		return outcome{status: Open, reason: fmt.Sprintf("%d references point into documents that are hashed and left to the human (S64)", open)}
	}
	return out
}

// held flags declared evidence that is not there, is refused, or is a link without a snapshot (S66).
func (a *audit) held(r *Rule) {
	for _, f := range a.Evidence.All() {
		if f.Err == nil {
			a.atom("evidence.held", f.ID, true, "info", "sample", f.SHA256)
			continue
		}
		code, tier := "evidence.refused", High
		switch {
		case errors.Is(f.Err, evidence.ErrMissing):
			code = "evidence.missing_file"
		case errors.Is(f.Err, evidence.ErrNotHeld):
			code, tier = "evidence.not_held", Low
		}
		id := a.atom("evidence.held", f.ID, false, atomSeverity(tier), "sample", f.Err.Error())
		a.flag(r, Finding{Code: code, Tier: tier, Pointer: "", Atoms: []string{id}, Message: f.Err.Error(), Fix: &Fix{Text: fmt.Sprintf("commit evidence %q as a file of the run folder, or do not declare it", clip(f.ID))}})
	}
}

// resolve follows one reference; it returns 1 where only a person can.
func (a *audit) resolve(r *Rule, at *strictjson.Value, word string) int {
	hit, err := a.Evidence.Resolve(word)
	if err == nil {
		if hit.Open {
			return 1
		}
		a.atom("evidence.resolved", at.Pointer(), true, "info", "field", clip(word))
		return 0
	}
	f := Finding{Pointer: at.Pointer(), Message: err.Error(), Fix: &Fix{Text: "declared evidence: " + listed(a.Evidence.IDs())}}
	switch {
	case errors.Is(err, evidence.ErrUndeclared):
		f.Code, f.Tier = "evidence.unresolved", Low
		if truth(r.v.Get("strict_references")) {
			f.Tier = Mid
		}
	case errors.Is(err, evidence.ErrNoHit):
		f.Code, f.Tier = "evidence.no_hit", Mid
	case errors.Is(err, evidence.ErrMissing), errors.Is(err, evidence.ErrNotHeld), errors.Is(err, evidence.ErrRefused):
		return 0 // said once, of the evidence itself
	default:
		f.Code, f.Tier = "evidence.no_hit", Mid
	}
	f.Atoms = []string{a.atom("evidence.resolved", at.Pointer(), false, atomSeverity(f.Tier), "field", err.Error())}
	a.flag(r, f)
	return 0
}

// runQuotesVerbatim: a claim's quote stands in the evidence it cites (S63).
func runQuotesVerbatim(a *audit, r *Rule) outcome {
	if !slices.ContainsFunc(items(a.doc.Get("claims")), func(claim *strictjson.Value) bool { return !blank(claim.Get("quote")) }) {
		return outcome{status: Pass, vacuous: true}
	}
	if a.Evidence == nil {
		return skipped("no_manifest: a bare submission declares no evidence")
	}
	before, open := a.raised, 0
	for _, claim := range items(a.doc.Get("claims")) {
		quote, ok := claim.Get("quote").Str()
		if !ok || strings.TrimSpace(quote) == "" {
			continue
		}
		word, _ := reference(claim).Str()
		open += a.quoteStands(r, claim.Get("quote"), quote, word, 0)
	}
	out := flaggedSince(a, before)
	if out.status == Pass && open > 0 {
		return outcome{status: Open, reason: fmt.Sprintf("%d quotes are from documents that are left to the human", open)}
	}
	return out
}

// quoteStands looks a quote up in the whole text of the evidence that a reference names.
func (a *audit) quoteStands(r *Rule, at *strictjson.Value, quote, ref string, minLen int) int {
	id, _, _ := strings.Cut(ref, "#")
	found, hit, err := a.Evidence.Quoted(id, quote, minLen)
	if err == nil && hit.Open {
		return 1
	}
	atom := a.atom("evidence.quote", at.Pointer(), found, "critical", "field", clip(quote))
	if found {
		return 0
	}
	message := fmt.Sprintf("the quote %q is not in evidence %q", clip(quote), clip(id))
	if err != nil {
		message = fmt.Sprintf("the quote %q cannot be looked up: %v", clip(quote), err)
	}
	a.flag(r, Finding{Code: "evidence.quote_not_found", Tier: High, Pointer: at.Pointer(), Atoms: []string{atom}, Message: message, Fix: &Fix{Text: "quote the evidence word for word, and cite where it stands"}})
	return 0
}

// runInputsMatchEvidence: an input equals the cell that it cites (S62).
func runInputsMatchEvidence(a *audit, r *Rule) outcome {
	cited := slices.ContainsFunc(a.calcs, func(c *calculation) bool { return !blank(c.v.Get("sources")) })
	if !cited && !truth(r.v.Get("require_sources")) {
		return outcome{status: Pass, vacuous: true}
	}
	if a.Evidence == nil {
		return skipped("no_manifest: a bare submission declares no evidence")
	}
	before, open := a.raised, 0
	for _, c := range a.calcs {
		sources := c.v.Get("sources")
		for _, m := range members(sources) {
			if in := c.v.Get("inputs").Get(m.Key); num(in) == nil && (in == nil || in.Kind != strictjson.Array) {
				a.flag(r, Finding{Code: "evidence.input_unsourced", Tier: Mid, Pointer: m.Value.Pointer(), Message: fmt.Sprintf("sources names %q, which is no number among the inputs of %q", clip(m.Key), c.label()), Fix: &Fix{Text: "state the input, or drop its source"}})
			}
		}
		for _, m := range members(c.v.Get("inputs")) {
			ref, ok := sources.Get(m.Key).Str()
			switch {
			case ok:
				open += a.inputMatches(r, c, m, ref)
			case truth(r.v.Get("require_sources")):
				a.flag(r, Finding{Code: "evidence.input_unsourced", Pointer: m.Value.Pointer(), Message: fmt.Sprintf("input %q of %q cites no source", clip(m.Key), c.label()), Fix: &Fix{Text: "cite the cell in sources"}})
			}
		}
	}
	out := flaggedSince(a, before)
	if out.status == Pass && open > 0 {
		return outcome{status: Open, reason: fmt.Sprintf("%d inputs cite documents that are left to the human", open)}
	}
	return out
}

func (a *audit) inputMatches(r *Rule, c *calculation, m strictjson.Member, ref string) int {
	hit, err := a.Evidence.Resolve(ref)
	if err != nil {
		a.flag(r, Finding{Code: "evidence.no_hit", Tier: Mid, Pointer: c.pointer + "/sources/" + escapePointer(m.Key), Message: err.Error(), Fix: &Fix{Text: "cite the cell that holds the input"}})
		return 0
	}
	if hit.Open {
		return 1
	}
	if m.Value.Kind == strictjson.Array {
		a.listMatches(r, m, ref, hit)
		return 0
	}
	cells := cellNumbers(hit)
	if len(cells) == 0 {
		a.flag(r, Finding{Code: "evidence.not_a_number", Tier: Mid, Pointer: c.pointer + "/sources/" + escapePointer(m.Key),
			Message: fmt.Sprintf("%s holds %q, which is not a number", clip(ref), clip(hit.Text)), Fix: &Fix{Text: "cite the cell that holds the input"}})
		return 0
	}
	x := num(m.Value)
	if x == nil {
		return 0
	}
	best := a.Sheet.penalty.measure(x, cells[0], m.Value.Text, nil)
	for _, cell := range cells[1:] {
		if d := a.Sheet.penalty.measure(x, cell, m.Value.Text, nil); d.band < best.band {
			best = d
		}
	}
	id := a.atom("evidence.input_matches", m.Value.Pointer(), !best.failed(), "critical", "field", clip(ref))
	if best.failed() {
		a.flag(r, Finding{Code: "evidence.input_mismatch", Tier: best.band.tier(), Pointer: m.Value.Pointer(), Atoms: []string{id}, Spot: spotOf(best),
			Message: fmt.Sprintf("input %q is %s; %s holds %s (off by %s)", clip(m.Key), shown(x), clip(ref), shown(best.reference), percent(best.rel)),
			Fix:     &Fix{Text: "use the evidence's value", JSONPatch: patch("replace", m.Value.Pointer(), best.reference.String())}})
	}
	return 0
}

// listMatches holds a list against the numbers of a JSON array, a row or a column, one by one; a heading is no number.
func (a *audit) listMatches(r *Rule, m strictjson.Member, ref string, hit evidence.Hit) {
	cells := slices.DeleteFunc(numbersOf(hit), func(n *decimal.Num) bool { return n == nil })
	worst := bandPass
	for i, item := range m.Value.Items {
		if x := num(item); x == nil || i >= len(cells) {
			worst = bandHigh
		} else {
			worst = max(worst, a.Sheet.penalty.measure(x, cells[i], item.Text, nil).band)
		}
	}
	if len(cells) != len(m.Value.Items) {
		worst = bandHigh
	}
	id := a.atom("evidence.input_matches", m.Value.Pointer(), worst == bandPass, "critical", "field", clip(ref))
	if worst != bandPass {
		a.flag(r, Finding{Code: "evidence.input_mismatch", Tier: worst.tier(), Pointer: m.Value.Pointer(), Atoms: []string{id},
			Message: fmt.Sprintf("the list %q is not what %s holds: %d numbers against %d", clip(m.Key), clip(ref), len(m.Value.Items), len(cells)), Fix: &Fix{Text: "use the evidence's values, in their order"}})
	}
}

// numbersOf are the values of a hit that holds several; nil where a value is no number.
func numbersOf(hit evidence.Hit) []*decimal.Num {
	var out []*decimal.Num
	for _, item := range items(hit.JSON) {
		out = append(out, num(item))
	}
	for _, row := range append(hit.Cells, hit.Row) {
		for _, cell := range row {
			n, _ := evidence.NumberIn(cell)
			out = append(out, hitNumber(n))
		}
	}
	return out
}

// cellNumbers are the values a cell may stand for: 12 % is 0.12, and 12 where the input is stated in percent.
func cellNumbers(hit evidence.Hit) []*decimal.Num {
	if hit.JSON != nil {
		if n := num(hit.JSON); n != nil {
			return []*decimal.Num{n}
		}
	}
	n, ok := evidence.NumberIn(hit.Text)
	if !ok {
		return nil
	}
	var out []*decimal.Num
	if d, err := n.Canonical(); err == nil {
		out = append(out, d)
	}
	if d, err := n.Decimal(); err == nil && n.Percent {
		out = append(out, d)
	}
	return out
}

// runInputsConsistent: one input name has one value in all calculations (S17).
func runInputsConsistent(a *audit, r *Rule) outcome {
	before := a.raised
	first := map[string]*strictjson.Value{}
	for _, c := range a.calcs {
		for _, m := range members(c.v.Get("inputs")) {
			x, name := num(m.Value), a.sheetName(m.Key)
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
		a.valueless(r, c)
	}
	return flaggedSince(a, before)
}

// valueless: a name that a formula reads and that has no value there is not consistent with anything.
func (a *audit) valueless(r *Rule, c *calculation) {
	if c.formula == nil {
		return
	}
	for _, name := range c.formula.Vars() {
		if in := c.inputs[name]; in.Num == nil && in.List == nil {
			a.flag(r, Finding{Code: "math.input_inconsistent", Tier: Mid, Pointer: c.pointer + "/inputs/" + escapePointer(name), Message: fmt.Sprintf("input %q of %q has no value", clip(name), c.label()), Fix: &Fix{Text: "state the input"}})
		}
	}
}

func (a *audit) oneValue(r *Rule, name string, was, is *strictjson.Value) {
	d := a.Sheet.penalty.measure(num(is), num(was), is.Text, nil)
	if d.failed() {
		a.flag(r, Finding{Code: "math.input_inconsistent", Tier: d.band.tier(), Pointer: is.Pointer(), Spot: spotOf(d),
			Message: fmt.Sprintf("input %q is %s here and %s at %s", clip(name), is.Text, was.Text, was.Pointer()), Fix: &Fix{Text: "use one value"}})
	}
}

// runAssumptionsLabeled: an assumption says that it is one.
func runAssumptionsLabeled(a *audit, r *Rule) outcome {
	before := a.raised
	for i, v := range items(a.doc.Get("assumptions")) {
		word, isText := v.Str()
		labelled := isText && strings.HasPrefix(strings.ToLower(strings.TrimSpace(word)), "assumption:")
		if v.Kind == strictjson.Object {
			label, _ := v.Get("label").Str()
			said, _ := v.Get("assumption").Str()
			labelled = strings.EqualFold(strings.TrimSpace(label), "assumption") && strings.TrimSpace(said) != ""
		}
		id := a.atom("evidence.assumption_labeled", v.Pointer(), labelled, atomSeverity(r.Tier), "field", "says that it is an assumption")
		if !labelled {
			a.flag(r, Finding{Code: "evidence.assumptions_labeled", Pointer: v.Pointer(), Atoms: []string{id}, Message: fmt.Sprintf("assumption %d is not labelled as one", i+1), Fix: &Fix{Text: r.Fix}})
		}
	}
	return flaggedSince(a, before)
}

// runMissingInputsDisclosed: an absent required input is named in missing_inputs.
func runMissingInputsDisclosed(a *audit, r *Rule) outcome {
	before := a.raised
	for _, in := range a.Sheet.Inputs {
		if in.Optional || !a.input(in.Name).IsMissing() || a.strangeWord(in.Name) {
			continue
		}
		disclosed := a.missing[normalName(in.Name)]
		id := a.atom("evidence.input_disclosed", in.Name, disclosed, atomSeverity(r.Tier), "field", "absent input is named in missing_inputs")
		if !disclosed {
			a.flag(r, Finding{Code: "evidence.missing_input_undisclosed", Pointer: "/inputs/" + in.Name, Atoms: []string{id},
				Message: fmt.Sprintf("required input %q is absent and missing_inputs does not say so", in.Name), Fix: &Fix{Text: fmt.Sprintf("supply %s, or add %q to missing_inputs", in.Name, in.Name)}})
		}
	}
	return flaggedSince(a, before)
}

func runSelfCheckTrue(a *audit, r *Rule) outcome {
	before := a.raised
	check := a.doc.Get("self_check")
	if len(members(check)) == 0 {
		a.flag(r, Finding{Code: "evidence.self_check_false", Pointer: "/self_check", Message: "there is no self-check", Fix: &Fix{Text: "answer the self-check"}})
	}
	for _, m := range members(check) {
		if m.Value.Kind == strictjson.Bool && !truth(m.Value) {
			a.flag(r, Finding{Code: "evidence.self_check_false", Pointer: m.Value.Pointer(), Message: fmt.Sprintf("the agent's own check %q is false", clip(m.Key)), Fix: &Fix{Text: r.Fix}})
		}
	}
	return flaggedSince(a, before)
}

// runSelfCheckConsistent: a self-check that says all is sourced while evidence is flagged is a false claim (S48).
func runSelfCheckConsistent(a *audit, r *Rule) outcome {
	before := a.raised
	for _, name := range []string{"all_numbers_have_sources", "all_claims_cited", "evidence_attached"} {
		v := a.doc.Get("self_check").Get(name)
		if truth(v) && a.failures.evidence {
			a.flag(r, Finding{Code: "evidence.self_check_inconsistent", Tier: Low, Pointer: v.Pointer(), Message: fmt.Sprintf("self_check says %s, and the audit flags the evidence", name), Fix: &Fix{Text: r.Fix}})
		}
	}
	return flaggedSince(a, before)
}

// runFinalOutputConsistent: the final output does not say PASS while a high gate fails (S48). It runs after the gates.
func runFinalOutputConsistent(a *audit, r *Rule) outcome {
	v := a.doc.Get("final_output")
	if !saysPass(v) {
		return passed
	}
	if !a.failures.highGate {
		return a.undecidedGate()
	}
	a.flag(r, Finding{Code: "policy.final_output_inconsistent", Tier: Mid, Bucket: WorkDefect, Pointer: "/final_output", Message: "final_output says PASS while a high gate fails", Fix: &Fix{Text: r.Fix}})
	return flagged
}

// undecidedGate: PASS is neither right nor wrong while a high gate is undecided, so it does not count as satisfied (S51).
func (a *audit) undecidedGate() outcome {
	for i, ch := range a.checks {
		if a.Sheet.Rules[i].Stage == StagePolicy && ch.Status == Skip && ch.Tier == High {
			return outcome{status: Skip, blockedBy: ch.ID, reason: "final_output says PASS while the high gate " + ch.ID + " is undecided"}
		}
	}
	return passed
}

// saysPass reads PASS as a word of its own at the beginning, or as the decision of an object.
func saysPass(v *strictjson.Value) bool {
	if s, ok := v.Str(); ok {
		word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(s))+" ", " ")
		return strings.Trim(word, ".,:;!-—") == "PASS"
	}
	for _, name := range []string{"decision", "status", "result", "outcome", "recommendation"} {
		if s, ok := v.Get(name).Str(); ok && strings.EqualFold(strings.TrimSpace(s), "PASS") {
			return true
		}
	}
	return false
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
	want := texts(r.v, "sections")
	if want == nil {
		want = a.Sheet.Outputs
	}
	out, before := strings.ToLower(a.outputText()), a.raised
	for _, s := range want {
		if !strings.Contains(out, strings.ToLower(s)) {
			a.flag(r, Finding{Code: "structure.section_missing", Pointer: "/final_output", Message: fmt.Sprintf("the section %q is missing", s), Fix: &Fix{Text: r.Fix}})
			break
		}
	}
	return flaggedSince(a, before)
}

func runOutputNonempty(a *audit, r *Rule) outcome {
	least, _ := r.v.Get("min_chars").Int()
	if n := len([]rune(strings.TrimSpace(a.outputText()))); int64(n) < max(least, 1) {
		a.flag(r, Finding{Code: "structure.output_empty", Pointer: "/final_output", Message: fmt.Sprintf("final_output has %d characters; at least %d are needed", n, max(least, 1)), Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}

func runNumbersPresent(a *audit, r *Rule) outcome {
	if !strings.ContainsAny(a.outputText(), "0123456789") {
		a.flag(r, Finding{Code: "structure.numbers_missing", Pointer: "/final_output", Message: "final_output states no number", Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}

func runSpecsPresent(a *audit, r *Rule) outcome {
	if a.Agent == nil {
		return skipped("no_manifest: a bare submission names no agent")
	}
	if a.Agent.Model == "" {
		a.flag(r, Finding{Code: "structure.specs_missing", Message: "the run's agent names no model", Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}

// citationWords are the source documents' signs of a citation in running text.
var citationWords = []string{"source", "per the", "according to", "exhibit", "rent roll", "t12", "page", "[", "cited", "provided"}

func runCitationsPresent(a *audit, r *Rule) outcome {
	out := strings.ToLower(a.outputText())
	for _, claim := range items(a.doc.Get("claims")) {
		if s, ok := reference(claim).Str(); ok && !blankReference(s) {
			return passed
		}
	}
	for _, w := range citationWords {
		if strings.Contains(out, w) {
			return passed
		}
	}
	a.flag(r, Finding{Code: "evidence.citations_missing", Pointer: "/final_output", Message: "neither a claim nor the final output cites a source", Fix: &Fix{Text: r.Fix}})
	return flagged
}

func runEvidenceAttached(a *audit, r *Rule) outcome {
	if a.Evidence == nil {
		return skipped("no_manifest: a bare submission declares no evidence")
	}
	if len(a.Evidence.IDs()) == 0 {
		a.flag(r, Finding{Code: "evidence.none_attached", Message: "the run declares no evidence", Fix: &Fix{Text: r.Fix}})
		return flagged
	}
	return passed
}
