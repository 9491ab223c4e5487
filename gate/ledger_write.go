package gate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// heldEntries is what the ledger holds of a pull request, in one state of it.
type heldEntries struct {
	at      ledger.Snapshot
	entries []ledger.Entry // of this pull request, verified
	// entries, by hash, that the gate itself has announced, or that this job wrote or decided again
	vouched map[string]bool
}

// liveSignOffs are the sign-offs of this pull request that no later entry takes back.
func (h heldEntries) liveSignOffs() []ledger.Entry { return ledger.Live(h.entries) }

// withoutEntry are the drafts that the ledger does not hold yet, by their idempotency keys.
func (h heldEntries) withoutEntry(drafts []ledger.Receipt) []ledger.Receipt {
	return slices.DeleteFunc(slices.Clone(drafts), func(r ledger.Receipt) bool { return h.entryOf(r) != nil })
}

// entryOf is the entry with a draft's idempotency key.
func (h heldEntries) entryOf(r ledger.Receipt) *ledger.Entry {
	i := slices.IndexFunc(h.entries, func(e ledger.Entry) bool { return e.Receipt.IdempotencyKey == r.IdempotencyKey })
	if i < 0 {
		return nil
	}
	return &h.entries[i]
}

// vouchedEntries are those that the review announces. A forged entry below this pull request's name is not among them.
func (h heldEntries) vouchedEntries() []ledger.Entry {
	return slices.DeleteFunc(slices.Clone(h.entries), func(e ledger.Entry) bool { return !h.vouched[e.Hash] })
}

// recogniseEntry holds an entry of the ledger to the draft that this job makes of the same decision, and vouches for
// it: an idempotency key can be computed by anybody.
func (h heldEntries) recogniseEntry(draft ledger.Receipt, e *ledger.Entry) error {
	if what := differsFrom(draft, e.Receipt); what != "" {
		return brokenf(
			"entry %d of the ledger claims to record this job's decision but holds a different %s: it "+
				"was forged; restore the branch from a clone that verifies, then run this job again",
			e.Receipt.Seq,
			what,
		)
	}
	h.vouched[e.Hash] = true
	return nil
}

// otherWords is how an entry differs that holds other answers or waivers.
const otherWords = "answer or waiver"

// differsFrom names what an entry says otherwise than a draft of the same idempotency key; "" where they are the same
// decision. Where and when a job ran may differ, and the words of findings where another version of the engine wrote
// them.
func differsFrom(d ledger.Receipt, e *ledger.Receipt) string {
	a, b := d.Approval, e.Approval
	sameEngine := d.Engine != nil && e.Engine != nil && *d.Engine == *e.Engine && d.Semantics == e.Semantics
	switch {
	case d.Kind != e.Kind || d.Run != e.Run || d.Schema != e.Schema:
		return "kind or run"
	case d.FlightSheet != e.FlightSheet || d.Submission.SHA256 != e.Submission.SHA256 ||
		receipt.SubjectDigest(&d) != receipt.SubjectDigest(e):
		return "subject"
	// what a withdrawal refers to may have been taken back since
	case d.RefersTo != e.RefersTo && d.Kind != ledger.Withdrawn:
		return "earlier receipt"
	case d.Pull() != e.Pull() || d.Kind.Live() && d.PullRequest.HeadSHA != e.PullRequest.HeadSHA:
		return "pull request"
	case (a == nil) != (b == nil) || a != nil && (a.Decision != b.Decision ||
		a.Approver.ID != b.Approver.ID || a.Approver.Type != b.Approver.Type || a.Review.ID != b.Review.ID):
		return "approval"
	case !d.Kind.Live():
		return "" // its review may have been edited or moved once more
	case a != nil && a.Review != b.Review:
		return "review"
	case d.SelfSigned != e.SelfSigned || !reflect.DeepEqual(d.Accepted, e.Accepted) ||
		!reflect.DeepEqual(d.Checklist, e.Checklist):
		return otherWords
	case sameEngine && (d.ReportDigest != e.ReportDigest || d.FindingsTotal != e.FindingsTotal ||
		!reflect.DeepEqual(d.Verdict, e.Verdict)):
		return "verdict"
	}
	return ""
}

// writeEntries appends to the ledger, once: entries that it holds already are left out, after they were compared with
// what would be written.
func (p auditedPull) writeEntries(ctx context.Context, drafts []ledger.Receipt) (auditedPull, error) {
	p.held.vouched = maps.Clone(p.held.vouched)
	for _, r := range drafts {
		if e := p.held.entryOf(r); e != nil {
			if err := p.held.recogniseEntry(r, e); err != nil {
				return p, err
			}
		}
	}
	fresh := p.held.withoutEntry(drafts)
	if len(fresh) == 0 {
		p.out.Entries = p.held.vouchedEntries()
		return p, nil
	}
	if err := p.job.verifyTail(ctx, p.held.at, p.pr.Number, p.reviews); err != nil {
		return p, err
	}
	result, err := p.job.appendEntries(ctx, fresh, p.sheetsToKeep(fresh))
	if err != nil {
		return p, fmt.Errorf("writing to the ledger: %w", err)
	}
	p.out.LedgerHead = result.Head.Tip
	p.held.entries = slices.Clone(p.held.entries)
	for _, e := range slices.Concat(result.Added, result.Found) {
		if !slices.ContainsFunc(p.held.entries, func(have ledger.Entry) bool { return have.Hash == e.Hash }) {
			p.held.entries = append(p.held.entries, e)
		}
	}
	for _, r := range fresh {
		if e := p.held.entryOf(r); e != nil {
			if err := p.held.recogniseEntry(r, e); err != nil { // somebody else wrote an entry of this key meanwhile
				return p, err
			}
		}
	}
	slices.SortFunc(p.held.entries, func(a, b ledger.Entry) int { return cmp.Compare(a.Receipt.Seq, b.Receipt.Seq) })
	p.out.Entries = p.held.vouchedEntries()
	return p, nil
}

// sheetsToKeep are those of the embedded library that receipts with an audit are judged by; a life-cycle entry refers
// to one that is there.
func (a auditedPull) sheetsToKeep(drafts []ledger.Receipt) [][]byte {
	var out [][]byte
	for _, one := range a.out.Audits {
		named := func(r ledger.Receipt) bool { return r.Audited() && r.FlightSheet.SHA256 == one.Work.Sheet.SHA256 }
		if one.Work != nil && one.Work.Sheet.Origin == "library" && slices.ContainsFunc(drafts, named) {
			out = append(out, one.Work.Sheet.Canonical)
		}
	}
	return out
}

// verifyTail holds the end of the ledger to itself and to GitHub's record, before something is written behind it: an
// entry that somebody forged must not be confirmed by the next one.
func (j *Job) verifyTail(ctx context.Context, at ledger.Snapshot, pull int64, reviews []githubapi.Review) error {
	if at.Head.Count == 0 {
		return nil
	}
	online := verify.NewOnline(j.API, nil)
	if reviews != nil {
		online.Know(pull, reviews)
	}
	problems, err := verify.Tail(ctx, j.Store, at, ledger.Head{}, pull, online)
	if err != nil {
		return fmt.Errorf("verifying the end of the ledger: %w", err)
	}
	if len(problems) > 0 {
		return brokenLedger(problems)
	}
	return nil
}

// appendEntries writes entries to the ledger. Sheets are written where the ledger does not hold them.
func (j *Job) appendEntries(ctx context.Context, drafts []ledger.Receipt, sheets [][]byte) (ledger.Result, error) {
	draft := ledger.Draft{Receipts: drafts, Sheets: sheets, Papers: j.Papers}
	return ledger.Append(
		ctx,
		j.Store,
		ledger.Retry{},
		func(ledger.Snapshot) (ledger.Draft, error) { return draft, nil },
	)
}
