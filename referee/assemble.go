package referee

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/referee/evidence"
)

// EngineVersion is the release, set by the linker; it is outside every digest, so that a release does not break replay.
var EngineVersion = "dev"

// makeReport puts the outcome together and seals it with its digest.
func (a *audit) makeReport() *Report {
	a.countRest()
	rankFindings(a.findings)
	rep := &Report{Schema: ReportSchema, Location: a.Location, Lane: a.Sheet.Lane, Sheet: a.Sheet.Ref(),
		Semantics:  SemanticsVersion,
		Engine:     EngineRef{Version: EngineVersion, RegistrySHA256: a.Sheet.trace.Registry},
		Submission: a.submissionRef(), Params: a.Sheet.paramValues(), Evidence: a.evidenceRefs(),
		Stated: a.listStatedFigures(),
		Agent:  a.Agent,
		Checks: a.checks, Findings: a.findings, Derived: a.deriveValues(), Compliance: a.countFactsByFamily(),
		Errors: a.fieldErrors(), Verdict: a.newTally().verdictOf(), Advisory: a.Advisory,
		Protocol: a.protocolOf(), Trace: a.traceOf(),
		Notices: a.allNotices(), Explained: a.explain, Checklist: a.openQuestions()}
	if a.Run != nil {
		rep.Run = RunRef{ID: a.Run.ID, Lane: a.Run.Lane, Project: a.Run.Project}
	}
	rep.Gold = a.goldState()
	if rep.Findings == nil {
		rep.Findings = []Finding{}
	}
	rep.Gating = a.gatingOf()
	rep.Scores = a.scoresOf(rep)
	rep.Adjudication = a.adjudicate(rep.Gating)
	a.citeAtoms(rep)
	rep.Digest = rep.digestOf()
	if a.AllAtoms {
		rep.Atoms = a.atoms
	}
	return rep
}

func (a *audit) newTally() *tally {
	return &tally{lane: a.Sheet.Lane, rules: a.Sheet.Rules, checks: a.checks, findings: a.findings,
		readable: a.doc != nil}
}

// digestOf is SHA-256 over the report in the ledger's canonical profile, without the digest itself, the engine's
// release and where the caller found the file (formats.md): the command line, the gate and every shard agree on it.
func (r *Report) digestOf() string {
	c := *r
	c.Digest, c.Engine.Version, c.Location = "", "", ""
	digest, err := canonical.HashUnbounded(&c)
	if err != nil {
		// Unreachable for a report of this package: every member is text, a number within 2^53, or a list of those.
		panic("referee: report cannot be hashed: " + err.Error())
	}
	return digest
}

func (a *audit) evidenceRefs() []EvidenceRef {
	if a.Evidence == nil {
		return nil
	}
	var out []EvidenceRef
	for _, f := range a.Evidence.All() {
		ref := EvidenceRef{ID: f.ID, Kind: f.Kind, Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Status: "held"}
		if f.Err != nil {
			ref.Status = evidenceStatus(f)
		}
		out = append(out, ref)
	}
	return out
}

// goldState says of a sheet with a right answer whether it was at hand.
func (a *audit) goldState() *Gold {
	if a.Sheet.Gold == "" {
		return nil
	}
	for _, ref := range a.evidenceRefs() {
		if ref.ID == a.Sheet.Gold && ref.Status == "held" {
			return &Gold{Available: true, SHA256: ref.SHA256}
		}
	}
	return &Gold{}
}

func evidenceStatus(f *evidence.File) string {
	switch {
	case errors.Is(f.Err, evidence.ErrMissing):
		return "missing"
	case errors.Is(f.Err, evidence.ErrNotHeld):
		return "not_held"
	}
	return "refused"
}

// deriveValues computes the sheet's reported values.
func (a *audit) deriveValues() []Derived {
	var out []Derived
	for _, d := range a.Sheet.Derive {
		v := Derived{ID: d.ID}
		if len(a.Sheet.scores) > 0 { // errors of unlike fields stand side by side
			v.Unit = d.Unit
		}
		switch {
		case a.doc == nil:
			v.Reason = "the submission cannot be read"
		default:
			res := d.expr.Eval(a.env)
			if res.Val.Num != nil {
				v.Value = reportNumber(res.Val.Num)
			} else if res.Val.Kind != 0 {
				v.Value = res.Val.String()
			} else {
				v.Reason = missingText(res)
			}
		}
		out = append(out, v)
	}
	return out
}

// protocolOf says how much of the submission could be read.
func (a *audit) protocolOf() Protocol {
	p := Protocol{Parsed: a.doc != nil && a.answer.err == nil, FieldCompleteness: "0/1", TypeValidation: a.doc != nil &&
		a.answer.err == nil}
	if a.Sheet.response != nil && a.doc != nil {
		c := a.countFields()
		p.FieldCompleteness, p.TypeValidation = c.completenessText(), p.TypeValidation && c.mistyped == nil &&
			!c.noObject && a.answer.shapes == nil && !a.mistypedBeside()
		return p
	}
	need, have := 0, 0
	count := func(present bool) {
		need++
		if present {
			have++
		}
	}
	if a.Sheet.Baseline == "canonical" {
		for _, k := range canonicalKeys {
			count(!a.doc.Get(k.name).IsMissing())
		}
	}
	for _, in := range a.Sheet.Inputs {
		if !in.Optional {
			count(!a.inputValue(in.Name).IsMissing())
		}
	}
	for _, v := range a.Sheet.Doc.At("/eval_spec/required_output_schema/required").Elements() {
		count(!a.doc.Get(v.Text).IsMissing())
	}
	if need > 0 {
		p.FieldCompleteness = strconv.Itoa(have) + "/" + strconv.Itoa(need)
	} else if a.doc != nil {
		p.FieldCompleteness = "1/1"
	}
	if a.flaggedIn(StageSchema) {
		p.TypeValidation = false
	}
	return p
}

// mistypedBeside reports whether a value beside the answer's fields is of a wrong type. A row that lacks a field is
// counted as incomplete, in a series as in a single state.
func (a *audit) mistypedBeside() bool {
	return slices.ContainsFunc(a.findings,
		func(f Finding) bool { return f.Stage == StageSchema && f.Code != "schema.row_error" })
}

func (a *audit) flaggedIn(stage Stage) bool {
	return slices.ContainsFunc(a.findings, func(f Finding) bool { return f.Stage == stage })
}

// maxReasons are the reasons of an attribution.
const maxReasons = 5

// adjudicate ranks the distinct reasons that weigh most, each with its words and the atoms that prove it. Findings of
// one code are one reason. A finding that only cites what others found, as a gate over the facts does, is none, as long
// as there are others.
func (a *audit) adjudicate(g Gating) Adjudication {
	out := Adjudication{Eligible: a.doc != nil && g.Passed}
	more := map[string]int{}
	for _, f := range a.findings {
		i := slices.IndexFunc(out.Attribution, func(at Attribution) bool { return at.Code == f.Code })
		switch {
		case i >= 0:
			more[f.Code]++
			for _, id := range f.Atoms {
				if at := &out.Attribution[i]; len(at.Atoms) < maxReasonAtoms && !slices.Contains(at.Atoms, id) {
					at.Atoms = append(at.Atoms, id)
				}
			}
		case len(out.Attribution) < maxReasons && len(f.Atoms) > 0 && !a.sumsUp(f):
			out.Attribution = append(out.Attribution, Attribution{RuleID: f.RuleIDs[0], Code: f.Code, Tier: f.Tier,
				Reason: f.Message, Atoms: slices.Clone(f.Atoms[:min(len(f.Atoms), maxReasonAtoms)])})
		}
	}
	for i := range out.Attribution {
		at := &out.Attribution[i]
		at.Rank = i + 1
		if n := more[at.Code]; n > 0 {
			at.Reason = fmt.Sprintf("%s; and %d more of this kind", at.Reason, n)
		}
	}
	return out
}

// maxReasonAtoms are the atoms that one reason cites.
const maxReasonAtoms = 20

// sumsUp reports whether a finding is of a rule over the facts or flags of others, beside those.
func (a *audit) sumsUp(f Finding) bool {
	if len(a.findings) == 1 {
		return false
	}
	return !slices.ContainsFunc(f.RuleIDs, func(id string) bool {
		r := a.Sheet.Rule(id)
		return r == nil || r.expr == nil || !slices.ContainsFunc(r.expr.Refs().Spaces, func(s string) bool {
			return s == "$atoms" || s == "$flags"
		})
	})
}

// citeAtoms keeps the atoms that findings cite; checks then name only those, unless all are asked for.
func (a *audit) citeAtoms(rep *Report) {
	cited := map[string]bool{}
	for _, f := range a.findings {
		for _, id := range f.Atoms {
			cited[id] = true
		}
	}
	for _, at := range a.atoms {
		if cited[at.ID] {
			rep.Atoms = append(rep.Atoms, at)
		}
	}
}

func (a *audit) openQuestions() []Question {
	var out []Question
	for _, r := range a.Sheet.Rules {
		if r.Question != "" {
			text := r.Question
			if r.ID == statedFigures {
				if len(a.listStatedFigures()) == 0 {
					continue
				}
				text = a.statedQuestion()
			}
			out = append(out, Question{ID: r.ID, Text: text, Why: r.Why})
		}
	}
	return out
}

// allNotices are the caller's and the engine's own.
func (a *audit) allNotices() []string {
	out := slices.Clone(a.Notices)
	if a.Sheet.Shadows {
		out = append(out, "the repository's sheet "+a.Sheet.Slug+" replaces the library's")
	}
	return append(out, a.notices...)
}
