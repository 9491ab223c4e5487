package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/githubstore"
	"github.com/defendableos/referee/ledger/storetest"
)

// forgeWorld is a repository at a forge with a ledger, appended to with the job's own token.
type forgeWorld struct {
	*githubtest.Server
	t     *testing.T
	api   *githubapi.Client
	store *githubstore.Store
}

func newForge(t *testing.T) *forgeWorld {
	t.Helper()
	s := githubtest.New(t)
	// TestVerifyTail fetches through git's own backend in every run, the others in .ci/run
	if os.Getenv("REFEREE_CI") == "1" || strings.HasPrefix(t.Name(), "TestVerifyTail") {
		s.OverGit()
	}
	f := &forgeWorld{Server: s, t: t, api: clientOf(t, s)}
	var err error
	if f.store, err = githubstore.Open(f.api, githubstore.Options{URL: s.CloneURL(), Token: s.Token}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.store.Close() })
	return f
}

// clientOf asks without waiting for anything.
func clientOf(t *testing.T, s *githubtest.Server) *githubapi.Client {
	t.Helper()
	api, err := githubapi.New(
		githubapi.Options{
			APIURL:     s.APIURL(),
			Token:      s.Token,
			Repository: s.Name,
			MaxWait:    -1,
			Transport:  s.Transport(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// approveRun opens a pull request that rosa approves, and gives the receipt of that, as the forge's record bears it
// out.
func (f *forgeWorld) approveRun(n int64) (pull int64, receipt ledger.Receipt) {
	f.t.Helper()
	branch := fmt.Sprintf("run-%d", n)
	head := f.Commit(branch, githubtest.Change{Files: map[string]string{"runs/x/run.json": branch}, Author: "agent"})
	pull = f.Open(githubtest.Pull{Head: branch, Author: "agent"})
	f.Review(pull, "rosa", "APPROVED", "/satisfied it_is_so\r\n")
	reviews, err := f.api.Reviews(f.t.Context(), pull)
	if err != nil {
		f.t.Fatal(err)
	}
	return pull, receiptOf(n, pull, head, reviews[0])
}

// receiptOf words a review as the receipt that it makes: from the specification's own members, not by ReviewRecord.
func receiptOf(n, pull int64, head string, r githubapi.Review) ledger.Receipt {
	out := storetest.Sample(n)
	out.PullRequest = &ledger.PullRequest{Number: pull, HeadSHA: head, BaseSHA: head}
	at := r.SubmittedAt.Format("2006-01-02T15:04:05Z")
	out.MintedAt = ""
	out.Approval = &ledger.Approval{
		Decision: ledger.Approved,
		Approver: ledger.Approver{Login: "rosa", ID: 7, Type: "User", Permission: "maintain"},
		Review: ledger.Review{
			ID:          r.ID,
			SubmittedAt: at,
			CommitSHA:   r.CommitSHA,
			BodySHA256:  canonical.SHA256Hex([]byte("/satisfied it_is_so\r\n")),
		},
	}
	return storetest.Key(out)
}

// mintReceipts appends entries and gives the state after them.
func (f *forgeWorld) mintReceipts(receipts ...ledger.Receipt) []ledger.Entry {
	f.t.Helper()
	result, err := receipt.Mint(f.t.Context(), f.store, receipts, nil, nil)
	if err != nil || len(result.Added) != len(receipts) {
		f.t.Fatalf("%v, %v", result, err)
	}
	return result.Added
}

func (f *forgeWorld) ledgerHead() ledger.Snapshot {
	f.t.Helper()
	at, err := f.store.Head(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return at
}

// codesOf are the codes of problems, in order.
func codesOf(problems []ledger.Problem) []ledger.Code {
	out := []ledger.Code{}
	for _, p := range problems {
		out = append(out, p.Code)
	}
	return out
}

// announceReview posts a review of the gate as the gate does, by its token.
func (f *forgeWorld) announceReview(pull int64, lines ...string) int64 {
	f.t.Helper()
	marker := memory.Marker{Pull: pull, Head: f.Head(pull), Digest: gatetest.HashOf("d"), RunID: 1, Attempt: 1}.String()
	id, err := f.api.CreateReview(
		f.t.Context(),
		pull,
		f.Head(pull),
		strings.Join(append([]string{marker}, lines...), "\n")+"\n\nwords\n",
	)
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

func TestOnline(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	pull, receipt := f.approveRun(0)
	f.mintReceipts(receipt)
	sha := f.Merge(pull, "owner", "squash")
	online := NewOnline(f.api, func(context.Context) ([]ledger.MergeRecord, error) {
		return []ledger.MergeRecord{
			{
				SHA:         sha,
				PullRequest: pull,
				Runs: []ledger.MergedRun{
					{ID: "x", SubmissionSHA256: receipt.Submission.SHA256, SheetSHA256: receipt.FlightSheet.SHA256},
				},
			},
		}, nil
	})
	merged := ledger.Receipt{
		Kind:        ledger.Merged,
		RefersTo:    gatetest.HashOf("0"),
		Repository:  receipt.Repository,
		PullRequest: receipt.PullRequest,
		ObservedBy:  &ledger.ObservedBy{SHA: sha},
	}
	before := f.Count()
	problems, err := ledger.VerifyOnline(
		t.Context(),
		entrySeq(
			[]ledger.Entry{
				{Hash: gatetest.HashOf("0"), Receipt: &receipt},
				{Hash: gatetest.HashOf("1"), Receipt: &merged},
			},
		),
		online,
	)
	if err != nil || len(problems) > 0 || f.Count() != before+1 || online.Pulls() != 1 {
		t.Errorf("%v, %v, with %d requests", problems, err, f.Count()-before)
	}
	if got, err := online.MergeOf(t.Context(), pull); got != sha || err != nil {
		t.Errorf("merged as %s, %v", got, err)
	}
	if got, err := online.MergeOf(t.Context(), 99); got != "" || !errors.Is(err, ledger.ErrNoPull) {
		t.Errorf("no such pull request: %s, %v", got, err)
	}
	if _, err := online.Reviews(t.Context(), 99); !errors.Is(err, ledger.ErrNoPull) {
		t.Errorf("no such pull request: %v", err)
	}
	run := f.AddRun(githubtest.Run{Pull: pull})
	if rec, err := online.RunOf(t.Context(), run); rec.Event != "pull_request_review" || rec.Actor == "" ||
		rec.Path == "" ||
		err != nil {
		t.Errorf("%+v, %v", rec, err)
	}
	if _, err := online.RunOf(t.Context(), run+1000); !errors.Is(err, ledger.ErrNoRun) {
		t.Errorf("a run that is not there: %v", err)
	}
	if _, err := NewOnline(f.api, nil).Merges(t.Context()); err == nil {
		t.Error("nobody looked at merges, and they are none")
	}
	if numbers, err := online.Lately(t.Context()); err != nil || !slices.Equal(numbers, []int64{pull}) {
		t.Errorf("lately %v, %v", numbers, err)
	}
}

// TestOnlineUnread: whatever keeps the record from being read is LDG-606 (or, where the forge says that there is none,
// LDG-601), never a pass.
func TestOnlineUnread(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	_, receipt := f.approveRun(0)
	f.mintReceipts(receipt)
	for name, c := range map[string]struct {
		fault githubtest.Fault
		code  ledger.Code
	}{
		"no access": {githubtest.NoAccess, ledger.CodeOnlineUnread}, "bad token": {githubtest.BadToken,
			ledger.CodeOnlineUnread}, "unicorn": {githubtest.Unicorn, ledger.CodeOnlineUnread},
		"dropped": {githubtest.DropBefore, ledger.CodeOnlineUnread}, "spent": {f.Spent(403, 3000),
			ledger.CodeOnlineUnread}, "too fast": {githubtest.RetryAfter(429, 60), ledger.CodeOnlineUnread},
		"not there": {githubtest.Missing, ledger.CodeNoReview},
	} {
		f.Inject(c.fault.On("GET", "pulls/*/reviews").Always())
		problems, err := Tail(
			t.Context(),
			f.store,
			f.ledgerHead(),
			ledger.Head{},
			0,
			NewOnline(clientOf(t, f.Server), nil),
		)
		f.ClearFaults()
		if err != nil || !slices.Equal(codesOf(problems), []ledger.Code{c.code}) {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
	}
}

// TestVerifyTail: what an append must not be put behind, and how many requests it takes to know.
func TestVerifyTail(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	tail := func(since ledger.Head, pull int64) ([]ledger.Code, int) {
		t.Helper()
		before := f.Count()
		problems, err := Tail(t.Context(), f.store, f.ledgerHead(), since, pull, NewOnline(f.api, nil))
		if err != nil {
			t.Fatal(err)
		}
		return codesOf(problems), f.Count() - before
	}
	want := func(what string, since ledger.Head, pull int64, calls int, codes ...ledger.Code) {
		t.Helper()
		if got, n := tail(since, pull); !slices.Equal(got, codes) || n != calls {
			t.Errorf("%s: %v with %d requests; want %v with %d", what, got, n, codes, calls)
		}
	}
	want("no ledger yet", ledger.Head{}, 1, 0)
	var pulls []int64
	for n := range int64(6) {
		pull, receipt := f.approveRun(n)
		f.mintReceipts(receipt)
		pulls = append(pulls, pull)
	}
	known := f.ledgerHead().Head
	want("nothing known", ledger.Head{}, 0, 1)
	want("and one of our own", ledger.Head{}, pulls[0], 2)
	want("all known", known, 0, 0)
	want("all known, and our own", known, pulls[0], 1)

	ids := f.ReviewsBy(pulls[5], "rosa")
	f.DismissReview(pulls[5], ids[0], "owner")
	want("dismissed later: for the gate to append", ledger.Head{}, pulls[5], 2)

	_, forged := f.approveRun(6)
	forged.Approval.Review.ID += 1000
	f.mintReceipts(storetest.Key(forged))
	want("forged by the token", ledger.Head{}, 0, 1, ledger.CodeNoReview)
	want("forged since", known, 0, 1, ledger.CodeNoReview)
	want("forged in this pull request", f.ledgerHead().Head, forged.Pull(), 1, ledger.CodeNoReview)

	_, bot := f.approveRun(7)
	bot.Approval.Approver.ID = 41898282
	f.mintReceipts(bot)
	want("another one's review", f.ledgerHead().Head, bot.Pull(), 1, ledger.CodeReviewDiffers)

	longer := f.ledgerHead().Head
	longer.Count++
	want("cut off", longer, 0, 0, ledger.CodeTruncated)
	online := NewOnline(f.api, nil)
	reviews, err := f.api.Reviews(t.Context(), pulls[0])
	if err != nil {
		t.Fatal(err)
	}
	online.Know(pulls[0], reviews)
	before := f.Count()
	if problems, err := Tail(t.Context(), f.store, f.ledgerHead(), f.ledgerHead().Head, pulls[0], online); err != nil ||
		len(problems) > 0 ||
		f.Count() != before {
		t.Errorf("read already: %v, %v, %d requests", problems, err, f.Count()-before)
	}
}

// TestOnlineAnnounced: only the gate's own review announces receipts, and only those of its pull request.
func TestOnlineAnnounced(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	pull, receipt := f.approveRun(0)
	other, _ := f.approveRun(1)
	entries := f.mintReceipts(receipt)
	line := memory.AnnouncedLine(entries)
	read := func(author string) ([]ledger.Pin, error) {
		return NewOnline(f.api, nil).Announced(t.Context(), pull, author)
	}
	const bot = "github-actions[bot]"
	marker := memory.Marker{Pull: pull, Head: f.Head(pull), Digest: gatetest.HashOf("d"), RunID: 1, Attempt: 1}.String()
	f.Review(pull, "mallory", "COMMENTED", marker+"\n"+memory.AnnouncedLine([]ledger.Entry{gatetest.Entry(0, "f")}))
	f.Review(pull, "helper[bot]", "COMMENTED", marker+"\n"+memory.AnnouncedLine([]ledger.Entry{gatetest.Entry(0, "f")}))
	f.Review(
		pull,
		bot,
		"COMMENTED",
		strings.Replace(
			marker,
			fmt.Sprintf("pull=%d", pull),
			fmt.Sprintf("pull=%d", other),
			1,
		)+"\n"+memory.AnnouncedLine(
			[]ledger.Entry{gatetest.Entry(0, "f")},
		),
	)
	f.Review(
		pull,
		bot,
		"COMMENTED",
		"text first\n"+marker+"\n"+memory.AnnouncedLine([]ledger.Entry{gatetest.Entry(0, "f")}),
	)
	if pins, err := read(bot); err != nil || len(pins) > 0 {
		t.Errorf("nothing of it is the gate's: %v, %v", pins, err)
	}
	id := f.announceReview(pull, line)
	want := ledger.Pin{
		Level:  ledger.L3,
		Source: fmt.Sprintf("review %d of pull request %d", id, pull),
		Count:  1,
		Tip:    entries[0].Hash,
	}
	if pins, err := read(bot); err != nil || !slices.Equal(pins, []ledger.Pin{want}) {
		t.Errorf("%v, %v; want %v", pins, err, want)
	}
	f.EditReview(pull, id, marker+"\n"+strings.Replace(line, "0:", "0:0", 1))
	if pins, err := read(bot); pins != nil || !errors.Is(err, ErrAnnouncement) {
		t.Errorf("a line that was changed: %v, %v", pins, err)
	}
	f.Inject(githubtest.NoAccess.On("GET", "pulls/*/reviews").Always())
	if pins, err := read(bot); len(pins) > 0 || !githubapi.IsForbidden(err) {
		t.Errorf("unread: %v, %v", pins, err)
	}
	f.ClearFaults()
	if pins, err := NewOnline(f.api, nil).Announced(t.Context(), 99, bot); err != nil || len(pins) > 0 {
		t.Errorf("no such pull request: %v, %v", pins, err)
	}
}
