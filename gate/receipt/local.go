package receipt

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// Local is a sign-off outside a forge: what a person says on the command line, and when. There is no review record: the
// receipt says so by the permission "local", and is worth what the word of whoever keeps the ledger is worth.
type Local struct {
	Name    string
	At      time.Time
	Reject  string // why not; "" approves
	Answers []ledger.Answer
	Waivers []ledger.Waiver
}

// Text is the sign-off as a review on a forge would say it (gate.md): one command a line, sorted. The receipt holds its
// SHA-256.
func (l Local) Text() string {
	var lines []string
	for _, a := range l.Answers {
		line := "/satisfied " + a.ID
		if a.Answer == "flag" {
			line = "/flag " + a.ID + " " + a.Note
		}
		lines = append(lines, line)
	}
	for _, w := range l.Waivers {
		lines = append(lines, "/accept "+w.RuleID+" "+w.Reason)
	}
	if l.Reject != "" {
		lines = append(lines, "/reject "+l.Reject)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// signOffID numbers the sign-off where no forge numbers reviews: 52 bits of a hash over who said what and when, for a
// number in a receipt has 53. So two people may sign in the same second, and the same word said twice is one sign-off.
func (l Local) signOffID() int64 {
	h := sha256.New()
	for _, part := range []string{"referee.local-sign-off/v1", l.Name, l.At.UTC().Format(TimeFormat), l.Text()} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil))>>12) | 1 // never 0, which is no id
}

// Decision is the sign-off as every other.
func (l Local) Decision() Decision {
	at := l.At.UTC().Format(TimeFormat)
	d := Decision{
		Kind:     ledger.Approved,
		Approver: ledger.Approver{Login: l.Name, Type: "User", Permission: "local"},
		Answers:  l.Answers,
		Review:   ledger.Review{ID: l.signOffID(), SubmittedAt: at, BodySHA256: canonical.SHA256Hex([]byte(l.Text()))},
	}
	if l.Reject != "" {
		d.Kind = ledger.Rejected
	}
	for _, w := range l.Waivers {
		w.By, w.At = l.Name, at
		d.Waivers = append(d.Waivers, w)
	}
	return d
}

// SignOff mints a local sign-off, once. Where the newest word of this person about these bytes is the same already,
// nothing is written and that entry is given, with again true.
func (l Local) SignOff(
	ctx context.Context,
	store ledger.Store,
	w Work,
	p Place,
	policy Policy,
	papers []ledger.File,
) (entry *ledger.Entry, again bool, err error) {
	if strings.EqualFold(w.Run.Operator, l.Name) && l.Reject == "" {
		return nil, false, &NotSignable{
			Run:    w.Run.ID,
			Reason: l.Name + " ran the agent, as run.json says; another person signs",
		}
	}
	receipt, err := Sign(w, l.Decision(), p, policy)
	if err != nil {
		return nil, false, notSignable(w, err)
	}
	draft := ledger.Draft{Receipts: []ledger.Receipt{receipt}, Papers: papers}
	if w.Sheet.Origin == "library" {
		draft.Sheets = [][]byte{w.Sheet.Canonical}
	}
	result, err := ledger.Append(ctx, store, localRetry, func(at ledger.Snapshot) (ledger.Draft, error) {
		if e, err := findStanding(ctx, store, at, &receipt); err != nil || e != nil {
			return ledger.Draft{}, errors.Join(err, saidBefore(e))
		}
		return draft, nil
	})
	var before *saidAlready
	switch {
	case errors.As(err, &before):
		return before.entry, true, nil
	case err != nil:
		return nil, false, err
	case len(result.Found) == 1:
		return &result.Found[0], true, nil
	}
	return &result.Added[0], false, nil
}

// notSignable gives what kept a decision from becoming a receipt its type: whatever it is, it is about the work.
func notSignable(w Work, err error) error {
	var already *NotSignable
	if errors.As(err, &already) {
		return err
	}
	return &NotSignable{Run: w.Run.ID, Reason: err.Error()}
}

// localRetry is how a sign-off on this machine tries again: a try is a few milliseconds, and fifty people may sign at
// once.
var localRetry = ledger.Retry{
	Tries: 60,
	Pick:  func(n time.Duration) time.Duration { return rand.N(min(n, time.Second)) },
}

// saidAlready ends an append that has nothing new to say.
type saidAlready struct{ entry *ledger.Entry }

func (*saidAlready) Error() string { return "this sign-off already exists" }

func saidBefore(e *ledger.Entry) error {
	if e == nil {
		return nil
	}
	return &saidAlready{e}
}

// lookBack is how many of the newest entries are searched for an earlier word, as ledger.Find does outside a forge.
const lookBack = 100

// findStanding gives the newest entry that the same person signed about the same bytes, if it says the same as this
// draft and nobody took it back.
func findStanding(
	ctx context.Context,
	store ledger.Store,
	at ledger.Snapshot,
	draft *ledger.Receipt,
) (*ledger.Entry, error) {
	for e, err := range ledger.Backwards(ctx, store, at) {
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		if e.Receipt.Seq+lookBack < at.Head.Count {
			return nil, nil
		}
		a := e.Receipt.Approval
		if a == nil || a.SubjectDigest != draft.Approval.SubjectDigest || e.Receipt.Run != draft.Run ||
			a.Approver != draft.Approval.Approver {
			continue
		}
		if !sameWord(e.Receipt, draft) || e.Receipt.ReportDigest != draft.ReportDigest {
			return nil, nil
		}
		if e.Receipt.Kind == ledger.Rejected {
			return e, nil // nothing takes a rejection back
		}
		live, err := isLive(ctx, store, at, e)
		if err != nil || !live {
			return nil, err
		}
		return e, nil
	}
	return nil, nil
}

// sameWord reports whether two receipts hold the same decision of the same person.
func sameWord(a, b *ledger.Receipt) bool {
	return a.Kind == b.Kind && a.Approval.Approver == b.Approval.Approver &&
		a.Approval.Review.BodySHA256 == b.Approval.Review.BodySHA256
}
