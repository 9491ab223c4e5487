package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// signedPull is the fourth step: what became of earlier sign-offs and the receipts of this one are on the ledger, and
// the outcome says who signed.
type signedPull struct{ judgedPull }

// writeEntriesAndReceipts writes to the ledger what the reviews mean, and takes for signed what it decided itself.
// Before a receipt is minted this job must have a check that it can write.
func (p judgedPull) writeEntriesAndReceipts(ctx context.Context, checks *headChecks) (signedPull, error) {
	ended := p.draftLifecycle()
	p.out.Drift, p.out.Notices = append(p.out.Drift, ended.drift...), append(p.out.Notices, ended.notices...)
	signing, blocked := p.draftReceipts()
	p.out.Blocked = append(p.out.Blocked, blocked...)
	if len(p.held.withoutEntry(signing)) > 0 {
		if err := p.claimCheck(ctx, checks); err != nil {
			return signedPull{p}, err
		}
	}
	var err error
	if p.auditedPull, err = p.writeEntries(ctx, append(ended.drafts, signing...)); err != nil {
		return signedPull{p}, err
	}
	return p.confirmSigned(ctx, signing)
}

// draftReceipts drafts one receipt for each run and each approval that makes the sign-off; none while any of the runs
// may not be signed off, for the pull request is merged as a whole. blocked says why then.
func (p judgedPull) draftReceipts() (drafts []ledger.Receipt, blocked []string) {
	o := &p.out
	signers := o.Signers()
	if len(signers) == 0 || o.Empty() || o.Stopped() {
		return nil, nil
	}
	blocked = o.UnaskedCommands(signers)
	for _, a := range o.Audits {
		if a.Work == nil {
			blocked = append(blocked, a.Dir+" could not be audited")
			continue
		}
		for _, s := range signers {
			decision := signoff.DecisionOf(s, p.record.Permissions[s.Review.User], signers, a.Work)
			r, err := p.draftReceipt(*a.Work, s, decision)
			var not *receipt.NotSignable
			switch {
			case errors.As(err, &not):
				blocked = append(blocked, fmt.Sprintf("%s: %s", a.Dir, not.Reason))
			case err != nil:
				blocked = append(blocked, fmt.Sprintf("%s: %v", a.Dir, err))
			default:
				drafts = append(drafts, r)
			}
			if err != nil {
				break
			}
		}
	}
	if len(blocked) > 0 {
		return nil, blocked
	}
	return drafts, nil
}

// draftReceipt drafts the receipt of one approval of one run: a new one, or one that carries the approval's earlier
// receipt to this head.
func (p judgedPull) draftReceipt(w receipt.Work, s signoff.Judged, d receipt.Decision) (ledger.Receipt, error) {
	r, err := receipt.Sign(
		w,
		d,
		p.job.receiptPlace(p.pullRef()),
		receipt.Policy{FailOn: p.rules.Config.FailOn, Accept: p.rules.Config.Accept},
	)
	if err != nil {
		return r, err
	}
	if !s.Carried {
		return p.withOwnKey(r, d), nil
	}
	e := p.carriedFrom(s.Review, w)
	if e == nil {
		return r, &receipt.NotSignable{Run: w.Run.ID, Reason: "the receipt of its approval is not in the ledger"}
	}
	return p.draftCarried(*e, w), nil
}

// withOwnKey gives a receipt that repeats what other approvals answer a key of its own, where this gate has written one
// already that repeats what somebody else answered: the approval is the same, and who else signs is not. A second one
// that its own words alone would explain is a forgery.
func (p judgedPull) withOwnKey(r ledger.Receipt, d receipt.Decision) ledger.Receipt {
	e := p.held.entryOf(r)
	if e == nil || !p.held.vouched[e.Hash] || differsFrom(r, e.Receipt) != otherWords {
		return r
	}
	var others []string
	for _, a := range d.Answers {
		others = append(others, a.By+" "+a.At+" "+a.ID+" "+a.Answer)
	}
	for _, w := range d.Waivers {
		others = append(others, w.By+" "+w.At+" "+w.RuleID)
	}
	subject := canonical.SHA256Hex([]byte(receipt.SubjectDigest(&r) + "\n" + strings.Join(others, "\n")))
	r.IdempotencyKey = ledger.Key{
		Repository:  r.Repository.ID,
		PullRequest: r.Pull(),
		Review:      r.Approval.Review.ID,
		Run:         r.Run.ID,
		Kind:        r.Kind,
		Subject:     subject,
	}.Digest()
	return r
}

// confirmSigned takes for signed off what this job has decided from the reviews of now, and nothing else: the entries
// of its own drafts, which the ledger holds, and a self-signature that the record of its workflow run bears out.
func (p judgedPull) confirmSigned(ctx context.Context, signing []ledger.Receipt) (signedPull, error) {
	for _, r := range signing {
		e := p.held.entryOf(r)
		if e == nil {
			return signedPull{p}, fmt.Errorf("the ledger does not hold the receipt that was written to it")
		}
		if err := p.held.recogniseEntry(r, e); err != nil {
			return signedPull{p}, err
		}
		p.out.Receipts = append(p.out.Receipts, *e)
	}
	if len(signing) > 0 {
		return signedPull{p}, nil
	}
	return signedPull{p}.confirmSelfSigned(ctx)
}
