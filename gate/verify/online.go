package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// compareOnline holds a ledger that agrees with itself to what the forge records (L4), and to what was announced there
// (L3).
func (v *verification) compareOnline(repo *gitstore.Repo, commit string) error {
	f := v.o.Forge
	if info := v.result.Info; info != nil && info.Repository.ID != f.repository.ID {
		v.report(&ledger.Problem{Code: ledger.CodeRepository, Level: ledger.L4, Path: ledger.InfoPath, Seq: -1,
			Message: fmt.Sprintf("it is the ledger of %s (%d); %s is the repository %d", info.Repository.Name,
				info.Repository.ID, f.api.Name(), f.repository.ID)})
		return nil
	}
	var receipts []*ledger.Receipt
	for e, err := range repo.Tree(v.ctx, commit).Receipts() {
		if err != nil {
			return fmt.Errorf("reading %s: %w", v.copied.Name, err)
		}
		receipts = append(receipts, e.Receipt)
	}
	f.online, f.announced = NewOnline(f.api, f.mergesSince(receipts)), 0
	if !v.compareAnnounced(receipts) {
		return nil
	}
	v.look(ledger.L4)
	problems, err := ledger.VerifyOnline(v.ctx, repo.Tree(v.ctx, commit).Receipts(), f.online)
	if err != nil {
		return fmt.Errorf("comparing with the forge: %w", err)
	}
	v.result.Problems = append(v.result.Problems, problems...)
	return v.unmoved(commit)
}

// unmoved tells an announced receipt that is missing from one that was minted and announced while this was verified.
func (v *verification) unmoved(commit string) error {
	c := v.copied
	if c.forge == nil || !slices.ContainsFunc(v.result.Problems,
		func(p ledger.Problem) bool { return p.Code == ledger.CodePinMissing }) {
		return nil
	}
	now, err := c.forge.Tip(v.ctx, "refs/heads/"+c.Branch)
	if err != nil || now != commit {
		return fmt.Errorf("%s %w", c.Name, ErrChanged)
	}
	return nil
}

// compareAnnounced holds the ledger to the receipts that the gate announced in its reviews: on the pull requests that
// the ledger names, and on the newest ones, which a ledger that was cut off does not name any more. It is false if a
// review could not be read: then nothing else is asked.
func (v *verification) compareAnnounced(receipts []*ledger.Receipt) bool {
	f := v.o.Forge
	unread := func(what string, err error) bool {
		v.report(&ledger.Problem{Code: ledger.CodeOnlineUnread, Level: ledger.L3, Seq: -1, Message: what + ": " +
			err.Error()})
		return false
	}
	pulls, err := f.online.Lately(v.ctx)
	if err != nil {
		return unread("the newest pull requests", err)
	}
	for _, r := range receipts {
		if n := r.Pull(); n > 0 {
			pulls = append(pulls, n)
		}
	}
	slices.Sort(pulls)
	for _, n := range slices.Compact(pulls) {
		pins, err := f.online.Announced(v.ctx, n, f.o.App+"[bot]")
		switch {
		case errors.Is(err, ErrAnnouncement):
			v.report(&ledger.Problem{Code: ledger.CodePinUnusable, Level: ledger.L3, Seq: -1, Message: err.Error()})
		case err != nil:
			return unread(fmt.Sprintf("the reviews of pull request %d", n), err)
		}
		for _, p := range pins {
			v.look(ledger.L3)
			f.announced++
			v.report(v.result.Against(p))
		}
	}
	return true
}
