package verify

import (
	"context"
	"fmt"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// compareBase holds the ledger to a base branch: every merged run has its live receipt, or an entry that says it has
// none.
func (v *verification) compareBase(repo *gitstore.Repo, commit string) error {
	c, base := v.copied, v.o.Base
	tip, err := repo.Resolve(base)
	switch {
	case err != nil:
		return fmt.Errorf("reading %s: %w", base, err)
	case tip == "":
		return inputError(InputBase, "%s: not found in %s", base, c.Location)
	case commit == "":
		return inputError(InputBase, "%s: not found in %s", c.Store.Ref(), c.Location)
	}
	runs := v.o.Runs
	if runs == "" {
		runs = DefaultRuns
	}
	problems, err := repo.Complete(v.ctx, commit, gitstore.Base{Commit: tip, IsRun: audit.Manifests(runs),
		Read: audit.MergedRun(flightsheets.FS(), "flight_sheets")})
	if err != nil {
		return fmt.Errorf("reading %s: %w", base, err)
	}
	for _, p := range problems {
		v.report(&p)
	}
	return nil
}

// mergesSince gives the commits on base that brought runs, from the base of the first receipt's pull request on: what
// was merged before the ledger began has no receipt.
func (f *Forge) mergesSince(receipts []*ledger.Receipt) func(context.Context) ([]ledger.MergeRecord, error) {
	base := gitstore.Base{Commit: f.tip, IsRun: f.isRun(), Read: audit.MergedRun(flightsheets.FS(), f.config.Sheets)}
	if len(receipts) > 0 && receipts[0].PullRequest != nil {
		base.Until = receipts[0].PullRequest.BaseSHA
	}
	return func(ctx context.Context) ([]ledger.MergeRecord, error) { return f.tree.Merges(ctx, base) }
}

// isRun tells what the gate judges: by the caller's pattern where there is one, by the configuration on base otherwise.
func (f *Forge) isRun() func(string) bool {
	if f.o.Runs != "" {
		return audit.Manifests(f.o.Runs)
	}
	var rules []func(string) bool
	for _, r := range f.config.Runs {
		rules = append(rules, audit.Manifests(r.Path))
	}
	return func(manifest string) bool {
		for _, is := range rules {
			if is(manifest) {
				return true
			}
		}
		return false
	}
}
