package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Replay is a receipt derived again from the bytes that it binds.
type Replay struct {
	Same    bool
	Want    string // the recorded report digest
	Got     string // the digest reached now
	Changed []string
	Report  *referee.Report
}

// ErrNotAudited is returned for an entry that holds no audit to replay.
var ErrNotAudited = errors.New("the entry holds no audit")

// Rerun audits a run folder again by the recorded sheet and compares report digests: they are equal, byte for byte, or Changed says which
// rules, findings or bindings differ. folder is the run folder at the recorded commit; profile is the agent's profile as recorded, where
// the configuration pinned it.
func Rerun(r *ledger.Receipt, sheet *referee.Sheet, folder fs.FS, prior referee.PriorFunc) (*Replay, error) {
	if !r.Audited() {
		return nil, fmt.Errorf("%w: kind %q", ErrNotAudited, r.Kind)
	}
	if sheet.SHA256 != r.FlightSheet.SHA256 {
		return nil, fmt.Errorf("the sheet hashes to %.8s…; the receipt binds %s@%s with %.8s…", sheet.SHA256, r.FlightSheet.Slug, r.FlightSheet.Version, r.FlightSheet.SHA256)
	}
	run, err := referee.OpenRun(folder)
	if err != nil {
		return nil, fmt.Errorf("opening the run folder: %w", err)
	}
	if sheet, err = withRecorded(sheet, r.Params); err != nil {
		return nil, err
	}
	c := run.Case(sheet, pinned(r.Agent))
	c.Prior = prior
	rep := referee.Audit(c)
	out := &Replay{Want: r.ReportDigest, Got: rep.Digest, Same: rep.Digest == r.ReportDigest, Report: rep}
	if !out.Same {
		out.Changed = differences(r, rep)
	}
	return out, nil
}

// pinned is the profile that the configuration vouched for; nil where the run's own was read.
func pinned(a *ledger.Agent) *referee.Agent {
	if a == nil || !a.Pinned {
		return nil
	}
	return &referee.Agent{Name: a.Name, Model: a.Model, Provider: a.Provider, Harness: a.Harness, Runtime: a.Runtime, CapabilityTier: a.CapabilityTier, ParamsB: a.ParamsB,
		ContextTokens: a.ContextTokens, VRAMGB: a.VRAMGB, Confidence: a.ConfidencePrior, Tools: a.Tools, Modalities: a.Modalities, Pinned: true,
		ToolsKnown: a.Tools != nil, ModalitiesKnown: a.Modalities != nil}
}

// differences says what a changed engine, or changed bytes, decide otherwise.
func differences(r *ledger.Receipt, rep *referee.Report) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Submission.SHA256 != rep.Submission.SHA256 {
		say("the submission's bytes are others: %.8s… recorded, %.8s… now", r.Submission.SHA256, rep.Submission.SHA256)
	}
	for _, e := range r.Evidence {
		i := slices.IndexFunc(rep.Evidence, func(x referee.EvidenceRef) bool { return x.ID == e.ID })
		if i < 0 || rep.Evidence[i].SHA256 != e.SHA256 {
			say("the evidence %q is another file", e.ID)
		}
	}
	if r.Semantics != rep.Semantics {
		say("semantics %d recorded, %d now", r.Semantics, rep.Semantics)
	}
	if r.Engine != nil && r.Engine.RegistrySHA256 != rep.Engine.RegistrySHA256 {
		say("the rule registry is another: %.8s… recorded, %.8s… now", r.Engine.RegistrySHA256, rep.Engine.RegistrySHA256)
	}
	return append(out, findingDifferences(r, rep)...)
}

// findingDifferences names the rules whose findings appear, vanish or change.
func findingDifferences(r *ledger.Receipt, rep *referee.Report) []string {
	type key struct{ code, pointer string }
	recorded, now := map[key]string{}, map[key]string{}
	rules := map[key]string{}
	for _, f := range r.Findings {
		if f.Stage != string(referee.StageChecklist) {
			recorded[key{f.Code, f.Pointer}], rules[key{f.Code, f.Pointer}] = f.Tier+" "+f.Message, f.RuleIDs[0]
		}
	}
	got, _ := findingsOf(rep.Findings)
	for _, f := range got {
		now[key{f.Code, f.Pointer}], rules[key{f.Code, f.Pointer}] = f.Tier+" "+f.Message, f.RuleIDs[0]
	}
	var out []string
	for k, rule := range rules {
		was, is := recorded[k], now[k]
		switch {
		case was == is:
		case was == "":
			out = append(out, fmt.Sprintf("rule %s now flags %s at %q", rule, k.code, k.pointer))
		case is == "":
			out = append(out, fmt.Sprintf("rule %s no longer flags %s at %q", rule, k.code, k.pointer))
		default:
			out = append(out, fmt.Sprintf("rule %s says otherwise of %q: %s, not %s", rule, k.pointer, is, was))
		}
	}
	slices.Sort(out)
	return out
}
