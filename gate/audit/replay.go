package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Replay is a receipt derived again from the bytes that it binds.
type Replay struct {
	Same bool // nothing differs, but perhaps the engine and with it the digest
	// "" where the digest is the recorded one; otherwise the recorded engine and the one that replays (S79)
	Engine  string
	Want    string   // the recorded report digest
	Got     string   // the digest reached now
	Changed []string // what is decided otherwise, or not what the receipt says
	Word    []string // what could not be derived and is taken at the receipt's word, with the reason
}

// ErrNotAudited is returned for an entry that holds no audit to replay.
var ErrNotAudited = errors.New("the entry holds no audit")

// ErrOtherSemantics is returned for a receipt of another semantics number: this release does not judge by it, and can
// say neither that the receipt is right nor that it is wrong.
var ErrOtherSemantics = errors.New("a different semantics number")

// Rerun derives a receipt again and compares the whole of it but its place and its approval: verdict, findings,
// answers, agent, evidence, assignment and digest. folder is the run folder at the recorded commit, at what else of the
// repository is at hand. The engine's version decides only which sentence is said of another digest; any other
// difference is one under every engine.
func Rerun(r *ledger.Receipt, sheet *referee.Sheet, folder fs.FS, at Ground, prior referee.PriorFunc) (*Replay, error) {
	if r.Audited() && r.Semantics != referee.SemanticsVersion {
		return nil, fmt.Errorf(
			"%w: the receipt was made under semantics %d by release %s, this release judges by %d; replaying it "+
				"needs the release that made it",
			ErrOtherSemantics,
			r.Semantics,
			r.Engine.Version,
			referee.SemanticsVersion,
		)
	}
	w, word, err := auditAgain(
		r,
		sheet,
		folder,
		prior,
		func(run *referee.Run) (grounds, error) { return groundsOf(r, run, sheet, at) },
	)
	if err != nil {
		return nil, err
	}
	rep := w.Report
	out := &Replay{Want: r.ReportDigest, Got: rep.Digest, Changed: reportDifferences(r, rep), Word: word}
	again, err := deriveReceipt(r, w)
	if err != nil {
		out.Changed = append(out.Changed, "its answers do not make a receipt: "+err.Error())
	} else if err := out.compareMembers(r, &again); err != nil {
		return nil, err
	}
	if out.Got == out.Want && r.Engine.RegistrySHA256 != rep.Engine.RegistrySHA256 {
		out.Changed = append(
			out.Changed,
			"engine.registry_sha256 differs, but report_digest, which covers it, is the same",
		)
	}
	if out.Got != out.Want {
		if r.Engine.Version == rep.Engine.Version && r.Engine.RegistrySHA256 == rep.Engine.RegistrySHA256 {
			out.Changed = append(out.Changed, "report_digest differs, but the engine is the same")
		} else {
			out.Engine = fmt.Sprintf("%s (rules %.8s…) then, %s (rules %.8s…) now",
				r.Engine.Version, r.Engine.RegistrySHA256, rep.Engine.Version, rep.Engine.RegistrySHA256)
		}
	}
	out.Same = len(out.Changed) == 0
	return out, nil
}

// Reaudit audits the run of a receipt again by the sheet that it binds, with the profile, the limits and the origin of
// the evidence that it records.
func Reaudit(r *ledger.Receipt, sheet *referee.Sheet, folder fs.FS, prior referee.PriorFunc) (receipt.Work, error) {
	w, _, err := auditAgain(r, sheet, folder, prior, func(*referee.Run) (grounds, error) { return atWord(r, sheet) })
	return w, err
}

// auditAgain audits the run of a receipt again on some grounds, and says what of them is the receipt's word.
func auditAgain(
	r *ledger.Receipt,
	sheet *referee.Sheet,
	folder fs.FS,
	prior referee.PriorFunc,
	on func(*referee.Run) (grounds, error),
) (receipt.Work, []string, error) {
	if !r.Audited() {
		return receipt.Work{}, nil, fmt.Errorf("%w: kind %q", ErrNotAudited, r.Kind)
	}
	if sheet.SHA256 != r.FlightSheet.SHA256 {
		return receipt.Work{}, nil, fmt.Errorf(
			"the sheet hashes to %.8s…; the receipt binds %s@%s with %.8s…",
			sheet.SHA256,
			r.FlightSheet.Slug,
			r.FlightSheet.Version,
			r.FlightSheet.SHA256,
		)
	}
	run, err := referee.OpenRun(folder)
	if err != nil {
		return receipt.Work{}, nil, fmt.Errorf("opening the run folder: %w", err)
	}
	g, err := on(run.Run)
	if err != nil {
		return receipt.Work{}, nil, err
	}
	c := run.Case(g.sheet, g.profile)
	c.Prior = prior
	w := receipt.Work{Report: referee.Audit(c), Sheet: g.sheet, Run: run.Run, Bytes: run.Bytes, Prior: c.Prior}
	w.Evidence = receipt.EvidenceOf(w.Report, g.evidence(w.Report))
	return w, g.word, nil
}

// deriveReceipt is the receipt that the work makes with the recorded answers.
func deriveReceipt(r *ledger.Receipt, w receipt.Work) (ledger.Receipt, error) {
	d := receipt.Decision{Kind: r.Kind, Answers: r.Checklist}
	if r.Kind.Live() {
		d.Kind = ledger.Approved // what is carried holds the audit of what was approved
	}
	return receipt.Draft(w, d, receipt.Place{})
}

// compareMembers names the members that the receipt words otherwise than the work makes them. A receipt that had to be
// cut shows the first findings.
func (p *Replay) compareMembers(r, again *ledger.Receipt) error {
	again.Findings = again.Findings[:min(len(again.Findings), max(len(r.Findings), cutAt(r)))]
	for _, m := range []struct {
		name string
		of   func(*ledger.Receipt) ledger.Receipt
	}{
		{"run", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Run: r.Run} }},
		{"flight_sheet", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{FlightSheet: r.FlightSheet} }},
		{"submission", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Submission: r.Submission} }},
		{"agent", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Agent: r.Agent} }},
		{"assignment", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Assignment: r.Assignment} }},
		{"params", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Params: r.Params} }},
		{"stated", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Stated: r.Stated} }},
		{"evidence", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Evidence: r.Evidence} }},
		{"advisory", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Advisory: r.Advisory} }},
		{"checklist", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Checklist: r.Checklist} }},
		{"verdict", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Verdict: r.Verdict} }},
		{"findings", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Findings: r.Findings} }},
		{"findings_total", func(
			r *ledger.Receipt) ledger.Receipt {
			return ledger.Receipt{FindingsTotal: r.FindingsTotal}
		}},
		{"cook", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Cook: r.Cook} }},
		{"incident", func(r *ledger.Receipt) ledger.Receipt { return ledger.Receipt{Incident: r.Incident} }},
	} {
		was, err := asWritten(m.of(r))
		if err != nil {
			return err
		}
		made, err := asWritten(m.of(again))
		if err != nil {
			return err
		}
		if was != made {
			p.Changed = append(p.Changed, describeParting(m.name, was, made))
		}
	}
	return nil
}

// cutAt is how many findings a receipt holds at least: all of them, or MaxFindings, unless it is full.
func cutAt(r *ledger.Receipt) int {
	if b, err := ledger.Format(*r); err == nil && len(b) > ledger.FullBytes {
		return 0
	}
	return ledger.MaxFindings
}

// asWritten is a part of a receipt, the rest empty, as canonical JSON.
func asWritten(part ledger.Receipt) (string, error) {
	b, err := canonical.Marshal(part)
	return string(b), err
}

// describeParting shows where two texts part.
func describeParting(name, was, made string) string {
	i := 0
	for i < len(was) && i < len(made) && was[i] == made[i] {
		i++
	}
	from := max(0, i-24)
	excerpt := func(s string) string { return strings.ToValidUTF8(s[min(from, len(s)):min(len(s), i+40)], "") }
	return fmt.Sprintf(
		"%s differs from what the work yields: …%s… in the receipt, …%s… now",
		name,
		excerpt(was),
		excerpt(made),
	)
}

// reportDifferences says what a changed engine, or changed bytes, decide otherwise.
func reportDifferences(r *ledger.Receipt, rep *referee.Report) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Submission.SHA256 != rep.Submission.SHA256 {
		say("the submission's bytes differ: %.8s… recorded, %.8s… now", r.Submission.SHA256, rep.Submission.SHA256)
	}
	for _, e := range r.Evidence {
		i := slices.IndexFunc(rep.Evidence, func(x referee.EvidenceRef) bool { return x.ID == e.ID })
		if i < 0 || rep.Evidence[i].SHA256 != e.SHA256 {
			say("the evidence %q is a different file", e.ID)
		}
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
	got, _ := receipt.FindingsOf(rep.Findings)
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
			out = append(out, fmt.Sprintf("rule %s now reports %[3]s at %[2]q, not %[4]s", rule, k.pointer, is, was))
		}
	}
	slices.Sort(out)
	return out
}
