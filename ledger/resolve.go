package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/defendableos/referee/internal/canonical"
)

// Prior is what a later entry needs to know of an earlier one.
type Prior struct {
	Hash  string
	Seq   int64
	Kind  Kind
	Run   Run
	Bytes string // SHA-256 of the submission
	Sheet FlightSheet
	Score string // of the verdict; "" if the entry holds no audit
}

// PriorOf is the Prior of a receipt with the given hash.
func PriorOf(r *Receipt, hash string) Prior {
	p := Prior{Hash: hash, Seq: r.Seq, Kind: r.Kind, Run: r.Run, Bytes: r.Submission.SHA256, Sheet: r.FlightSheet}
	if r.Verdict != nil {
		p.Score = r.Verdict.Score
	}
	return p
}

// Resolver finds an earlier entry of the same ledger by its hash. It has checked that the bytes have that hash.
type Resolver func(hash string) (Prior, bool)

// Resolve gives the first reason why r may not stand after what it refers to: a hash that this ledger does not hold, or
// a cook whose two receipts are not signed off, not on one sheet and version, or show no lift.
func (r *Receipt) Resolve(find Resolver) error {
	if err := r.resolveEarlier(find); err != nil {
		return err
	}
	if r.Incident != nil {
		for _, hash := range r.Incident.Receipts {
			if earlier, ok := find(hash); !ok || earlier.Seq >= r.Seq {
				return refuse(RefuseUnresolved, "the incident names the receipt %.8s…, which is no earlier entry of this ledger", hash)
			}
		}
	}
	if r.Cook != nil {
		return r.resolveCook(find)
	}
	return nil
}

// resolveEarlier holds a life-cycle entry to the one that it is about: the same run, the same bytes, the same rulebook.
// Nothing is carried that is not signed off.
func (r *Receipt) resolveEarlier(find Resolver) error {
	if r.RefersTo == "" {
		return nil
	}
	earlier, ok := find(r.RefersTo)
	switch {
	case !ok || earlier.Seq >= r.Seq:
		return refuse(RefuseRefers, "refers_to %.8s… is no earlier entry of this ledger", r.RefersTo)
	case earlier.Run != r.Run:
		return refuse(RefuseRefers, "refers_to %.8s… is about the run %q, this entry about %q", r.RefersTo, earlier.Run.ID, r.Run.ID)
	case earlier.Bytes != r.Submission.SHA256 || earlier.Sheet != r.FlightSheet:
		return refuse(RefuseRefers, "refers_to %.8s… is about other bytes, or judged by another rulebook", r.RefersTo)
	case r.Kind == Carried && !earlier.Kind.Live():
		return refuse(RefuseRefers, "refers_to %.8s… is of kind %q; only what is signed off can be carried", r.RefersTo, earlier.Kind)
	}
	return nil
}

func (r *Receipt) resolveCook(find Resolver) error {
	before, err := r.cooked(find, "before", r.Cook.Before, r.Cook.EvalBefore)
	if err != nil {
		return err
	}
	after, err := r.cooked(find, "after", r.Cook.After, r.Cook.EvalAfter)
	if err != nil {
		return err
	}
	if before.Sheet != after.Sheet {
		return refuse(RefuseSheet, "before is on %s@%s (%.8s…), after on %s@%s (%.8s…); a lift is measured on one sheet and version",
			before.Sheet.Slug, before.Sheet.Version, before.Sheet.SHA256, after.Sheet.Slug, after.Sheet.Version, after.Sheet.SHA256)
	}
	return nil
}

// cooked is one side of a cook: a live receipt whose score is the one that the cook claims. As eval_after is above
// eval_before, the scores show the lift.
func (r *Receipt) cooked(find Resolver, side, hash, eval string) (Prior, error) {
	p, ok := find(hash)
	switch {
	case !ok || p.Seq >= r.Seq:
		return Prior{}, refuse(RefuseUnresolved, "cook.%s names the receipt %.8s…, which is no earlier entry of this ledger", side, hash)
	case !p.Kind.Live() || p.Score == "":
		return Prior{}, refuse(RefuseUnresolved, "cook.%s names the entry %.8s… of kind %q, which is not signed off", side, hash, p.Kind)
	case rational(p.Score).Cmp(rational(eval)) != 0:
		return Prior{}, refuse(RefuseLift, "cook.eval_%s is %s, the score of that receipt %s", side, eval, p.Score)
	}
	return p, nil
}

// Subject is what a human signs: the bytes, not a commit (a review can be moved to another head).
type Subject struct {
	SheetSHA256      string
	SubmissionSHA256 string
	Evidence         []Evidence
}

// Digest is SHA-256 over "referee.subject/v1", the sheet, the submission, and id and hash of each piece of evidence in
// order, each text with its length before it, so that no two subjects share a digest.
func (s Subject) Digest() string {
	parts := []string{s.SheetSHA256, s.SubmissionSHA256}
	for _, e := range s.Evidence {
		parts = append(parts, e.ID, e.SHA256)
	}
	return digest("referee.subject/v1", parts...)
}

// Key names a sign-off, so that a second delivery of the same event is recognised.
type Key struct {
	Repository  int64
	PullRequest int64 // 0 outside a forge
	Review      int64 // or the id of the event, for entries that nobody signs
	Run         string
	Kind        Kind
	Subject     string // Subject.Digest
}

// Digest is SHA-256 over "referee.idempotency-key/v1" and the parts, each with its length before it.
func (k Key) Digest() string {
	return digest("referee.idempotency-key/v1", strconv.FormatInt(k.Repository, 10), strconv.FormatInt(k.PullRequest, 10),
		strconv.FormatInt(k.Review, 10), k.Run, string(k.Kind), k.Subject)
}

// digest hashes a domain and parts, each as "<length>:<bytes>".
func digest(domain string, parts ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(domain), domain)
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// SheetHash is the hash that a rulebook's bytes go by, in a receipt and under sheets/.
func SheetHash(sheet []byte) string { return canonical.SHA256Hex(sheet) }
