package ledger_test

import (
	"context"
	"errors"
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

func agreeing() *record {
	s := storetest.Sample(0)
	return &record{
		reviews: []ledger.ReviewRecord{{ID: 999, State: "COMMENTED", Login: "bot", UserType: "Bot"}, {ID: 1000, State: "APPROVED", Login: "rosa", UserID: 7,
			UserType: "User", SubmittedAt: s.Approval.Review.SubmittedAt, CommitSHA: s.Approval.Review.CommitSHA, BodySHA256: s.Approval.Review.BodySHA256}},
		merges: []ledger.MergeRecord{{PullRequest: 1, SHA: canonical.SHA256Hex([]byte("merge"))[:40],
			Runs: []ledger.MergedRun{{ID: s.Run.ID, SubmissionSHA256: s.Submission.SHA256, SheetSHA256: s.FlightSheet.SHA256}}}},
	}
}

func TestVerifyOnline(t *testing.T) {
	approved, merged := storetest.Sample(0), storetest.Observed(storetest.Sample(0), ledger.Merged, hashA)
	carried := storetest.Sample(0)
	carried.Kind = ledger.Carried
	revoked := storetest.Sample(0)
	revoked.Kind, revoked.Approval.Decision, revoked.RefersTo = ledger.Revoked, ledger.Revoked, hashA
	usual := []*ledger.Receipt{&approved, &merged}
	local := storetest.Local(storetest.Sample(3))
	for name, c := range map[string]struct {
		entries []*ledger.Receipt
		edit    func(*record)
		codes   []ledger.Code
	}{
		"agrees":              {usual, func(*record) {}, codes()},
		"outside a forge":     {append(slices.Clone(usual), &local), func(*record) {}, codes()},
		"no pull request":     {usual, func(r *record) { r.noPull = true }, codes(ledger.CodeNoReview)},
		"no review":           {usual, func(r *record) { r.reviews = r.reviews[:1] }, codes(ledger.CodeNoReview)},
		"unread":              {usual, func(r *record) { r.unread = errors.New("403") }, codes(ledger.CodeOnlineUnread)},
		"another reviewer":    {usual, func(r *record) { r.reviews[1].UserID = 8 }, codes(ledger.CodeReviewDiffers)},
		"a bot":               {usual, func(r *record) { r.reviews[1].UserType = "Bot" }, codes(ledger.CodeReviewDiffers)},
		"another time":        {usual, func(r *record) { r.reviews[1].SubmittedAt = "2026-11-02T09:31:00Z" }, codes(ledger.CodeReviewDiffers)},
		"another state":       {usual, func(r *record) { r.reviews[1].State = "CHANGES_REQUESTED" }, codes(ledger.CodeReviewDiffers)},
		"carried":             {append(slices.Clone(usual), &carried), func(*record) {}, codes()},
		"renamed reviewer":    {usual, func(r *record) { r.reviews[1].Login = "rosa-2" }, codes()},
		"moved to a head":     {usual, func(r *record) { r.reviews[1].CommitSHA = hashB[:40] }, codes()},
		"dismissed":           {usual, func(r *record) { r.reviews[1].State = "DISMISSED" }, codes(ledger.CodeReviewChanged)},
		"edited":              {usual, func(r *record) { r.reviews[1].BodySHA256 = hashB }, codes(ledger.CodeReviewChanged)},
		"dismissed, said so":  {[]*ledger.Receipt{&approved, &revoked}, func(r *record) { r.reviews[1].State, r.merges = "DISMISSED", nil }, codes()},
		"merged unreceipted":  {usual, func(r *record) { r.merges[0].Runs[0].SubmissionSHA256 = hashB }, codes(ledger.CodeUnreceipted)},
		"merged, other sheet": {usual, func(r *record) { r.merges[0].Runs[0].SheetSHA256 = hashB }, codes(ledger.CodeUnreceipted)},
		"merged, revoked":     {[]*ledger.Receipt{&approved, &revoked}, func(*record) {}, codes(ledger.CodeUnreceipted)},
		"no such merge":       {usual, func(r *record) { r.merges[0].SHA = hashB[:40] }, codes(ledger.CodeMergeDiffers)},
		"merges unread":       {usual, func(r *record) { r.noMerges = errors.New("502") }, codes(ledger.CodeOnlineUnread)},
	} {
		forge := agreeing()
		c.edit(forge)
		problems, err := ledger.VerifyOnline(t.Context(), seq(c.entries, nil), forge)
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
	forge := agreeing()
	forge.merges = []ledger.MergeRecord{{SHA: hashB[:40], Runs: []ledger.MergedRun{{ID: s.Run.ID, SubmissionSHA256: s.Submission.SHA256, SheetSHA256: s.FlightSheet.SHA256}}}}
	if problems, err := ledger.VerifyOnline(t.Context(), seq([]*ledger.Receipt{&said}, nil), forge); err != nil || len(problems) != 0 {
		t.Errorf("unreceipted, as the ledger says: %v, %v", problems, err)
	}
	broken := errors.New("broken")
	if _, err := ledger.VerifyOnline(t.Context(), seq[*ledger.Receipt](nil, broken), forge); !errors.Is(err, broken) {
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

// TestBlind holds that every level but none is silent about what it cannot see, and that a higher one is blind for less.
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
	for want, looked := range map[string][]ledger.Level{"entries cut off": {ledger.L1, ledger.L4}, "the whole ledger": {ledger.L1, ledger.L4}, "a poisoned first": {ledger.L2}, "another history": {ledger.L3}} {
		has := func(looked []ledger.Level) bool {
			return slices.ContainsFunc(ledger.Unseen(looked), func(what string) bool { return strings.HasPrefix(what, want) })
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
}

func (w witness) MergeOf(context.Context, int64) (string, error) { return w.merge, w.unknown }

func (w witness) RunOf(context.Context, int64) (string, string, error) {
	return w.event, w.actor, w.unknown
}

// TestWitness: a self-signed entry rests on a run that its signer began by hand; a merge that no commit on base shows may be a rebased one.
func TestWitness(t *testing.T) {
	self := storetest.Sample(0)
	self.SelfSigned, self.Approval.Review.ID = true, 0
	nameless := self
	nameless.Workflow = nil
	approved, merged := storetest.Sample(0), storetest.Observed(storetest.Sample(0), ledger.Merged, hashA)
	unmatched := agreeing()
	unmatched.merges[0].PullRequest = 0
	own, down := agreeing(), errors.New("502")
	for name, c := range map[string]struct {
		entries []*ledger.Receipt
		forge   ledger.Online
		codes   []ledger.Code
	}{
		"self-signed":                  {[]*ledger.Receipt{&self}, witness{record: own, event: "workflow_dispatch", actor: "Rosa"}, codes()},
		"self-signed, no witness":      {[]*ledger.Receipt{&self}, own, codes()},
		"self-signed without a run":    {[]*ledger.Receipt{&nameless}, witness{record: own}, codes(ledger.CodeNoReview)},
		"self-signed by somebody else": {[]*ledger.Receipt{&self}, witness{record: own, event: "workflow_dispatch", actor: "eve"}, codes(ledger.CodeReviewDiffers)},
		"self-signed by a push":        {[]*ledger.Receipt{&self}, witness{record: own, event: "push", actor: "rosa"}, codes(ledger.CodeReviewDiffers)},
		"self-signed, run unknown":     {[]*ledger.Receipt{&self}, witness{record: own, unknown: down}, codes(ledger.CodeOnlineUnread)},
		"merged, no number":            {[]*ledger.Receipt{&approved, &merged}, unmatched, codes(ledger.CodeMergeDiffers)},
		"merged, as the forge says":    {[]*ledger.Receipt{&approved, &merged}, witness{record: unmatched, merge: merged.ObservedBy.SHA}, codes()},
		"merged as another commit":     {[]*ledger.Receipt{&approved, &merged}, witness{record: unmatched, merge: hashB[:40]}, codes(ledger.CodeMergeDiffers)},
		"merged, not at the forge":     {[]*ledger.Receipt{&approved, &merged}, witness{record: unmatched}, codes(ledger.CodeMergeDiffers)},
		"merged, no such pull request": {[]*ledger.Receipt{&approved, &merged}, witness{record: unmatched, unknown: ledger.ErrNoPull}, codes(ledger.CodeMergeDiffers)},
		"merged, unread":               {[]*ledger.Receipt{&approved, &merged}, witness{record: unmatched, unknown: down}, codes(ledger.CodeOnlineUnread)},
	} {
		problems, err := ledger.VerifyOnline(t.Context(), seq(c.entries, nil), c.forge)
		found := codes()
		for _, p := range problems {
			found = append(found, p.Code)
		}
		if err != nil || !slices.Equal(found, c.codes) {
			t.Errorf("%s: %v, %v; want %v", name, problems, err, c.codes)
		}
	}
	// What was merged is not judged by a part of the ledger.
	if problems, err := ledger.VerifyApprovals(t.Context(), seq([]*ledger.Receipt{&merged}, nil), &record{noMerges: down}); err != nil || len(problems) > 0 {
		t.Errorf("a part: %v, %v", problems, err)
	}
	if _, err := ledger.VerifyApprovals(t.Context(), seq[*ledger.Receipt](nil, down), own); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
}
