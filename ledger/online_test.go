package ledger_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// record is a forge's record that agrees with Sample(0) and its merge, until a test changes it.
type record struct {
	reviews  []ledger.ReviewRecord
	merges   []ledger.MergeRecord
	noPull   bool
	unread   error
	noMerges error
}

func (r *record) Reviews(_ context.Context, pull int64) ([]ledger.ReviewRecord, error) {
	if r.noPull || pull != 1 {
		return nil, ledger.ErrNoPull
	}
	return r.reviews, r.unread
}

func (r *record) Merges(context.Context) ([]ledger.MergeRecord, error) { return r.merges, r.noMerges }

func agreeingRecord() *record {
	s := storetest.Sample(0)
	return &record{
		reviews: []ledger.ReviewRecord{{ID: 999, State: "COMMENTED", Login: "bot", UserType: "Bot"},
			{ID: 1000, State: "APPROVED", Login: "rosa", UserID: 7,
				UserType: "User", SubmittedAt: s.Approval.Review.SubmittedAt, CommitSHA: s.Approval.Review.CommitSHA,
				BodySHA256: s.Approval.Review.BodySHA256}},
		merges: []ledger.MergeRecord{{PullRequest: 1, SHA: canonical.SHA256Hex([]byte("merge"))[:40],
			Runs: []ledger.MergedRun{{ID: s.Run.ID, SubmissionSHA256: s.Submission.SHA256,
				SheetSHA256: s.FlightSheet.SHA256}}}},
	}
}

func TestVerifyOnline(t *testing.T) {
	approved, merged := storetest.Sample(0), storetest.Observed(storetest.Sample(0), ledger.Merged, hashA)
	carried := storetest.Sample(0)
	carried.Kind, carried.Approval, carried.RefersTo = ledger.Carried, nil, hashA
	better := carried
	better.Verdict = &ledger.Verdict{Severity: "honey"}
	elsewhere := carried
	elsewhere.PullRequest = &ledger.PullRequest{Number: 2, HeadSHA: carried.PullRequest.HeadSHA,
		BaseSHA: carried.PullRequest.BaseSHA}
	withdrawn := storetest.Observed(storetest.Sample(0), ledger.Withdrawn, hashA)
	revoked := storetest.Sample(0)
	revoked.Kind, revoked.Approval.Decision, revoked.RefersTo = ledger.Revoked, ledger.Revoked, hashA
	usual := []*ledger.Receipt{&approved, &merged}
	local := storetest.Local(storetest.Sample(3))
	for name, c := range map[string]struct {
		entries []*ledger.Receipt
		edit    func(*record)
		codes   []ledger.Code
	}{
		"agrees":          {usual, func(*record) {}, codes()},
		"outside a forge": {append(slices.Clone(usual), &local), func(*record) {}, codes(ledger.CodeNoReview)},
		"no pull request": {usual, func(r *record) { r.noPull = true }, codes(ledger.CodeNoReview)},
		"no review":       {usual, func(r *record) { r.reviews = r.reviews[:1] }, codes(ledger.CodeNoReview)},
		"unread": {usual, func(r *record) { r.unread = errors.New("403") },
			codes(ledger.CodeOnlineUnread)},
		"another reviewer": {usual, func(r *record) { r.reviews[1].UserID = 8 }, codes(ledger.CodeReviewDiffers)},
		"a bot": {usual, func(r *record) { r.reviews[1].UserType = "Bot" },
			codes(ledger.CodeReviewDiffers)},
		"another time": {usual, func(r *record) { r.reviews[1].SubmittedAt = "2026-11-02T09:31:00Z" },
			codes(ledger.CodeReviewDiffers)},
		"another state": {usual, func(r *record) { r.reviews[1].State = "CHANGES_REQUESTED" },
			codes(ledger.CodeReviewDiffers)},
		"carried": {append(slices.Clone(usual), &carried), func(*record) {}, codes()},
		"carried, better": {append(slices.Clone(usual), &better), func(*record) {},
			codes(ledger.CodeReviewDiffers)},
		"carried elsewhere": {append(slices.Clone(usual), &elsewhere), func(*record) {},
			codes(ledger.CodeReviewDiffers)},
		"closed, reopened": {[]*ledger.Receipt{&approved, &withdrawn}, func(*record) {}, codes()},
		"renamed reviewer": {usual, func(r *record) { r.reviews[1].Login = "rosa-2" }, codes()},
		"moved to a head":  {usual, func(r *record) { r.reviews[1].CommitSHA = hashB[:40] }, codes()},
		"dismissed": {usual, func(r *record) { r.reviews[1].State = "DISMISSED" },
			codes(ledger.CodeReviewChanged)},
		"edited": {usual, func(r *record) { r.reviews[1].BodySHA256 = hashB },
			codes(ledger.CodeReviewChanged)},
		"dismissed, said so": {[]*ledger.Receipt{&approved, &revoked}, func(r *record) {
			r.reviews[1].State,
				r.merges = "DISMISSED", nil
		}, codes()},
		"merged unreceipted": {usual, func(r *record) { r.merges[0].Runs[0].SubmissionSHA256 = hashB },
			codes(ledger.CodeUnreceipted)},
		"merged, other sheet": {usual, func(r *record) { r.merges[0].Runs[0].SheetSHA256 = hashB },
			codes(ledger.CodeUnreceipted)},
		"merged, revoked": {[]*ledger.Receipt{&approved, &revoked}, func(*record) {},
			codes(ledger.CodeUnreceipted)},
		"no such merge": {usual, func(r *record) { r.merges[0].SHA = hashB[:40] },
			codes(ledger.CodeMergeDiffers)},
		"merges unread": {usual, func(r *record) { r.noMerges = errors.New("502") },
			codes(ledger.CodeOnlineUnread)},
	} {
		forge := agreeingRecord()
		c.edit(forge)
		problems, err := ledger.VerifyOnline(t.Context(), inChain(c.entries), forge)
		found := codes()
		for _, p := range problems {
			found = append(found, p.Code)
			if p.Level != ledger.L4 {
				t.Errorf("%s: %s is of %s", name, p, p.Level)
			}
		}
		if err != nil || !slices.Equal(found, c.codes) {
			t.Errorf("%s: %v, %v; want %v", name, problems, err, c.codes)
		}
	}
	said := storetest.Observed(storetest.Sample(5), ledger.Unreceipted, "")
	s := storetest.Sample(5)
	forge := agreeingRecord()
	forge.merges = []ledger.MergeRecord{{SHA: hashB[:40],
		Runs: []ledger.MergedRun{{ID: s.Run.ID, SubmissionSHA256: s.Submission.SHA256,
			SheetSHA256: s.FlightSheet.SHA256}}}}
	if problems, err := ledger.VerifyOnline(t.Context(), inChain([]*ledger.Receipt{&said}), forge); err != nil ||
		len(problems) != 0 {
		t.Errorf("unreceipted, as the ledger says: %v, %v", problems, err)
	}
	broken := errors.New("broken")
	if _, err := ledger.VerifyOnline(t.Context(), yieldThenFail[ledger.Entry](nil, broken), forge); !errors.Is(err,
		broken) {
		t.Errorf("%v", err)
	}
}

// TestCodes holds the table to the constants: each once, in order, at a level, with words for people.
func TestCodes(t *testing.T) {
	last := ledger.Code("")
	for _, a := range ledger.Codes() {
		if a.Code <= last || len(a.Code) != 7 || a.Code[:4] != "LDG-" {
			t.Errorf("%q after %q", a.Code, last)
		}
		last = a.Code
		if a.Title == "" || a.Why == "" || a.Remedy == "" || a.Level < ledger.L1 || a.Level > ledger.L5 {
			t.Errorf("%s: %+v", a.Code, a)
		}
		if back, ok := a.Code.Of(); !ok || back != a {
			t.Errorf("%s: %+v", a.Code, back)
		}
	}
	if _, ok := ledger.Code("LDG-000").Of(); ok {
		t.Error("LDG-000 is known")
	}
	if len(ledger.Codes()) != 48 {
		t.Errorf("%d codes; a code is added, never taken away: 48 so far", len(ledger.Codes()))
	}
}

// TestBlind holds that every level but none is silent about what it cannot see, and that a higher one is blind for
// less.
func TestBlind(t *testing.T) {
	last := 100
	for l := ledger.Level(0); l <= ledger.L5; l++ {
		blind := l.Blind()
		if len(blind) == 0 || len(blind) > last || l.Says() == "" {
			t.Errorf("%s: %q, %q", l, l.Says(), blind)
		}
		last = len(blind)
	}
	// L4 alone says nothing of what was cut off; L3 alone sees a ledger that was written anew.
	for want, looked := range map[string][]ledger.Level{"entries cut off": {ledger.L1, ledger.L4},
		"a rewrite of the whole ledger": {ledger.L1, ledger.L4}, "a poisoned first": {ledger.L2},
		"another history": {ledger.L3}} {
		has := func(looked []ledger.Level) bool {
			return slices.ContainsFunc(ledger.Unseen(looked),
				func(what string) bool { return strings.HasPrefix(what, want) })
		}
		if !has(looked) || has([]ledger.Level{ledger.L2, ledger.L3, ledger.L5}) {
			t.Errorf("%q with %v: %q", want, looked, ledger.Unseen(looked))
		}
	}
	if got := ledger.L1.Blind(); len(got) < 2 || got[0][:15] != "entries cut off" || ledger.L4.String() != "L4" {
		t.Errorf("%q", got)
	}
}

func TestProblemString(t *testing.T) {
	for want, p := range map[string]ledger.Problem{
		"LDG-101 x: m":       {Code: "LDG-101", Path: "x", Seq: -1, Message: "m"},
		"LDG-203 entry 3: m": {Code: "LDG-203", Seq: 3, Message: "m"},
		"LDG-604: m":         {Code: "LDG-604", Seq: -1, Message: "m"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	whole, bare := storetest.Sample(0), storetest.Observed(storetest.Sample(0), ledger.Merged, hashA)
	if !whole.Audited() || bare.Audited() {
		t.Error("a receipt holds its audit, an observed entry none")
	}
}

// witness is a record that also knows merges and runs of workflows.
type witness struct {
	*record
	merge        string
	event, actor string
	unknown      error
	title, path  string
	permission   string // write if empty
	user         int64  // that has the login now, 0 if nobody has
	pullsOf      map[string][]int64
}

// inChain gives receipts their hashes: the first has the one that the others refer to.
func inChain(receipts []*ledger.Receipt) iter.Seq2[ledger.Entry, error] {
	var entries []ledger.Entry
	for i, r := range receipts {
		hash := hashA
		if i > 0 {
			hash = canonical.SHA256Hex([]byte{byte(i)})
		}
		entries = append(entries, ledger.Entry{Hash: hash, Receipt: r})
	}
	return yieldThenFail(entries, nil)
}

func (w witness) MergeOf(context.Context, int64) (string, error) { return w.merge, w.unknown }

func (w witness) RunOf(_ context.Context, run int64) (ledger.WorkflowRecord, error) {
	s := storetest.Sample(0)
	rec := ledger.WorkflowRecord{Event: cmp.Or(w.event, s.Workflow.Event), Actor: w.actor,
		Path:  cmp.Or(w.path, ".github/workflows/referee.yml"),
		Title: cmp.Or(w.title, ledger.SelfSignTitle(s.Pull(), s.PullRequest.HeadSHA, "0a1b2c3d4e5f6071"))}
	return rec, w.unknown
}

func (w witness) PullsOf(_ context.Context, sha string) ([]int64, error) {
	return w.pullsOf[sha], w.unknown
}

func (w witness) PermissionOf(context.Context, string) (string, error) {
	if errors.Is(w.unknown, ledger.ErrNoRun) {
		return "write", nil
	}
	return cmp.Or(w.permission, "write"), w.unknown
}

func (w witness) UserOf(context.Context, string) (int64, error) {
	if w.user == 0 {
		return 0, ledger.ErrNoUser
	}
	return w.user, nil
}

// workflowOn is the job that wrote an entry, as a runner names it.
func workflowOn(event string) *ledger.Workflow {
	w := *storetest.Sample(0).Workflow
	w.Ref, w.Event = "acme/underwriting/.github/workflows/referee.yml@refs/heads/main", event
	return &w
}

// TestWitness: a self-signed entry rests on a run that its signer began by hand; a merge that no commit on base shows
// may be a rebased one.
func TestWitness(t *testing.T) {
	self := storetest.Sample(0)
	self.SelfSigned, self.Approval.Review.ID, self.Workflow = true, 0, workflowOn("workflow_dispatch")
	nameless := self
	nameless.Workflow = nil
	approved, merged := storetest.Sample(0), storetest.Observed(storetest.Sample(0), ledger.Merged, hashA)
	approved.Workflow = workflowOn("workflow_run")
	renamed := approved
	owner := *renamed.Approval
	owner.Approver.Login = "owner"
	renamed.Approval = &owner
	unmatched := agreeingRecord()
	unmatched.merges[0].PullRequest = 0
	own, down := agreeingRecord(), errors.New("502")
	for name, c := range map[string]struct {
		entries []*ledger.Receipt
		forge   ledger.Online
		codes   []ledger.Code
	}{
		"self-signed": {[]*ledger.Receipt{&self}, witness{record: own, event: "workflow_dispatch",
			actor: "Rosa"}, codes()},
		"self-signed, no witness": {[]*ledger.Receipt{&self}, own, codes()},
		"self-signed without a run": {[]*ledger.Receipt{&nameless}, witness{record: own},
			codes(ledger.CodeNoReview)},
		"self-signed by somebody else": {[]*ledger.Receipt{&self}, witness{record: own, event: "workflow_dispatch",
			actor: "eve"}, codes(ledger.CodeReviewDiffers)},
		"self-signed by a push": {[]*ledger.Receipt{&self}, witness{record: own, event: "push", actor: "rosa"},
			codes(ledger.CodeReviewDiffers)},
		"self-signed, another head": {[]*ledger.Receipt{&self}, witness{record: own, event: "workflow_dispatch",
			actor: "rosa", title: ledger.SelfSignTitle(1, hashB[:40], "0a1b2c3d")}, codes(ledger.CodeReviewDiffers)},
		"self-signed, no title": {[]*ledger.Receipt{&self}, witness{record: own, event: "workflow_dispatch",
			actor: "rosa", title: "referee"}, codes(ledger.CodeReviewDiffers)},
		"self-signed, other workflow": {[]*ledger.Receipt{&self}, witness{record: own, event: "workflow_dispatch",
			actor: "rosa", path: ".github/workflows/evil.yml"}, codes(ledger.CodeReviewDiffers)},
		"self-signed, record is gone": {[]*ledger.Receipt{&self}, witness{record: own, unknown: ledger.ErrNoRun},
			codes(ledger.CodeNoReview)},
		"merged, record is gone": {[]*ledger.Receipt{&self, &merged},
			witness{record: own, unknown: ledger.ErrNoRun}, codes()},
		"approved": {[]*ledger.Receipt{&approved}, witness{record: own}, codes()},
		"approved by who left": {[]*ledger.Receipt{&approved}, witness{record: own, permission: "read"},
			codes(ledger.CodeReviewChanged)},
		"merged, who signed left": {[]*ledger.Receipt{&approved, &merged},
			witness{record: own, permission: "read"}, codes()},
		"by another workflow": {[]*ledger.Receipt{&approved},
			witness{record: own, path: ".github/workflows/evil.yml"}, codes(ledger.CodeReviewDiffers)},
		"by another event": {[]*ledger.Receipt{&approved}, witness{record: own, event: "push"},
			codes(ledger.CodeReviewDiffers)},
		"by no run": {[]*ledger.Receipt{&approved}, witness{record: own, unknown: ledger.ErrNoRun},
			codes()},
		"a rename": {[]*ledger.Receipt{&renamed}, witness{record: own}, codes()},
		"another's name": {[]*ledger.Receipt{&renamed}, witness{record: own, user: 99},
			codes(ledger.CodeReviewDiffers)},
		"self-signed, run unknown": {[]*ledger.Receipt{&self}, witness{record: own, unknown: down},
			codes(ledger.CodeOnlineUnread)},
		"merged, no number": {[]*ledger.Receipt{&approved, &merged}, unmatched,
			codes(ledger.CodeMergeDiffers)},
		"merged, as the forge says": {[]*ledger.Receipt{&approved, &merged},
			witness{record: unmatched, merge: merged.ObservedBy.SHA}, codes()},
		"merged as another commit": {[]*ledger.Receipt{&approved, &merged},
			witness{record: unmatched, merge: hashB[:40]}, codes(ledger.CodeMergeDiffers)},
		"merged, not at the forge": {[]*ledger.Receipt{&approved, &merged}, witness{record: unmatched},
			codes(ledger.CodeMergeDiffers)},
		"merged, no such pull request": {[]*ledger.Receipt{&approved, &merged},
			witness{record: unmatched, unknown: ledger.ErrNoPull}, codes(ledger.CodeMergeDiffers)},
		"merged, unread": {[]*ledger.Receipt{&approved, &merged},
			witness{record: unmatched, unknown: down}, codes(ledger.CodeOnlineUnread)},
	} {
		problems, err := ledger.VerifyOnline(t.Context(), inChain(c.entries), c.forge)
		found := codes()
		for _, p := range problems {
			found = append(found, p.Code)
		}
		if err != nil || !slices.Equal(found, c.codes) {
			t.Errorf("%s: %v, %v; want %v", name, problems, err, c.codes)
		}
	}
	// What was merged is not judged by a part of the ledger.
	if problems, err := ledger.VerifyApprovals(t.Context(), inChain([]*ledger.Receipt{&merged}),
		&record{noMerges: down}); err != nil || len(problems) > 0 {
		t.Errorf("a part: %v, %v", problems, err)
	}
	if _, err := ledger.VerifyApprovals(t.Context(), yieldThenFail[ledger.Entry](nil, down), own); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
}

// TestRebasedMerge: a signed pull request of two commits, merged by rebasing, brings its first commit to base too, and
// that is no merge past the gate; the same bytes of another pull request, or of none, are.
func TestRebasedMerge(t *testing.T) {
	approved := storetest.Sample(0)
	approved.Workflow = workflowOn("workflow_run")
	merged := storetest.Observed(storetest.Sample(0), ledger.Merged, hashA)
	forge := agreeingRecord()
	last := forge.merges[0]
	first := ledger.MergeRecord{SHA: hashB[:40], Runs: []ledger.MergedRun{{ID: last.Runs[0].ID, SubmissionSHA256: hashB,
		SheetSHA256: last.Runs[0].SheetSHA256}}}
	forge.merges = []ledger.MergeRecord{first, last}
	for name, c := range map[string]struct {
		pulls map[string][]int64
		codes []ledger.Code
	}{
		"one pull request":     {map[string][]int64{first.SHA: {1}, last.SHA: {1}}, codes()},
		"another pull request": {map[string][]int64{first.SHA: {2}, last.SHA: {1}}, codes(ledger.CodeUnreceipted)},
		"a direct push":        {map[string][]int64{last.SHA: {1}}, codes(ledger.CodeUnreceipted)},
	} {
		w := witness{record: forge, pullsOf: c.pulls}
		problems, err := ledger.VerifyOnline(t.Context(), inChain([]*ledger.Receipt{&approved, &merged}), w)
		found := codes()
		for _, p := range problems {
			found = append(found, p.Code)
		}
		if err != nil || !slices.Equal(found, c.codes) {
			t.Errorf("%s: %v, %v; want %v", name, problems, err, c.codes)
		}
	}
	forge.merges = []ledger.MergeRecord{last, first}
	if problems, err := ledger.VerifyOnline(t.Context(), inChain([]*ledger.Receipt{&approved, &merged}),
		forge); err != nil || len(problems) != 1 {
		t.Errorf("changed after it was signed: %v, %v", problems, err)
	}
}
