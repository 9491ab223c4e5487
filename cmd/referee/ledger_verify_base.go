package main

import (
	"context"
	"strconv"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// mergesSince gives the commits on base that brought runs, from the base of the first receipt's pull request on: what
// was merged before the ledger began has no receipt.
func (f *forgeSide) mergesSince(s *session, receipts []*ledger.Receipt) func(context.Context) ([]ledger.MergeRecord,
	error) {
	base := gitstore.Base{Commit: f.tip, IsRun: f.isRun(s), Read: audit.MergedRun(flightsheets.FS(), f.config.Sheets)}
	if len(receipts) > 0 && receipts[0].PullRequest != nil {
		base.Until = receipts[0].PullRequest.BaseSHA
	}
	return func(ctx context.Context) ([]ledger.MergeRecord, error) { return f.tree.Merges(ctx, base) }
}

// isRun tells what the gate judges: by --runs where it is given, by the configuration on base otherwise.
func (f *forgeSide) isRun(s *session) func(string) bool {
	if f.flags.set.Changed("runs") {
		return audit.Manifests(s.options.runs)
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

// unreadOnly reports whether nothing is wrong but that something could not be read.
func unreadOnly(problems []ledger.Problem) bool {
	for _, p := range problems {
		if p.Code != ledger.CodeOnlineUnread {
			return false
		}
	}
	return true
}

// forgeRecord is with whom a ledger was compared, as json.
type forgeRecord struct {
	Repository   string `json:"repository"`
	Site         string `json:"site"`
	Base         string `json:"base"`
	BaseSHA      string `json:"base_sha"`
	PullRequests int    `json:"pull_requests"` // whose reviews were asked for
	Announced    int    `json:"announced"`     // receipts that they announce
	Genesis      string `json:"genesis_pin,omitempty"`
	Requests     int    `json:"requests"`
}

func (f *forgeSide) record() *forgeRecord {
	if f == nil {
		return nil
	}
	r := &forgeRecord{Repository: f.api.Name(), Site: f.site, Base: f.base, BaseSHA: f.tip, Announced: f.announced,
		Genesis: f.config.Ledger.Genesis, Requests: f.api.Calls()}
	if f.online != nil {
		r.PullRequests = f.online.Pulls()
	}
	return r
}

// entries says with whom the ledger was compared.
func (f *forgeSide) entries(p *page) {
	if f == nil {
		return
	}
	r := f.record()
	p.entry("forge", receiptColumn, r.Site+"/"+r.Repository)
	p.entry("base", receiptColumn, r.Base+" "+r.BaseSHA)
	genesis := r.Genesis
	if genesis == "" {
		genesis = "not pinned: ledger.genesis in " + config.Path + " would"
	}
	p.entry("genesis", receiptColumn, genesis)
	p.entry("announced", receiptColumn, plural(r.Announced, "receipt")+" in the reviews of "+plural(r.PullRequests,
		"pull request"))
	p.entry("requests", receiptColumn, strconv.Itoa(r.Requests))
}

// unpinned says that L3 was not looked at although the forge was asked.
func (f *forgeSide) unpinned(looked bool) string {
	if f == nil || looked {
		return ""
	}
	return "L3 was not looked at: the configuration on " + f.base + " pins no genesis, and no review of " +
		f.flags.app + "[bot] announces a receipt."
}
