package rulebook

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// maxConfigRead is a byte more than a configuration may have, so that its reader refuses it by name.
const maxConfigRead = 256<<10 + 1

// configChange reads the configuration of the head and says what it loosens; parsed is nil where it is refused. Without
// one the defaults hold.
func configChange(head fs.FS, now *config.Config) (c Change, parsed *config.Config) {
	c.Path = config.Path
	src, err := referee.ReadFile(head, config.Path, maxConfigRead)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parsed = config.Default()
		c.Warnings = []string{"removed: the defaults apply"}
	case err != nil:
		c.Problems = []string{err.Error() + "; the configuration is a plain file"}
		return c, nil
	default:
		if parsed, err = config.Parse(src, config.Path); err != nil {
			c.Problems = []string{err.Error()}
			return c, nil
		}
	}
	c.Warnings = append(c.Warnings, listLoosened(now, parsed)...)
	return c, parsed
}

// configComparer collects what a new configuration lets through that the one in force does not.
type configComparer struct {
	was, is *config.Config
	out     []string
}

// listLoosened lists it, in the order of the configuration.
func listLoosened(was, is *config.Config) []string {
	l := &configComparer{was: was, is: is}
	l.sayMissing("branches", "is no longer gated with rules of its own", was.Branches, is.Branches)
	l.sayMissing("branches", "brings its own configuration and sheets now: protect it", is.Branches, was.Branches)
	l.compareRunRules()
	l.sayWhen(was.Sheets != is.Sheets, "flight_sheets moves from %s to %s", was.Sheets, is.Sheets)
	l.sayWhen(
		was.Ledger != is.Ledger,
		"ledger moves from %s to %s: earlier receipts stay behind",
		ledgerPlace(was.Ledger),
		ledgerPlace(is.Ledger),
	)
	l.sayLaxer("fail_on", was.FailOn.String(), is.FailOn.String(), "low", "mid", "high", "never")
	l.sayLaxer("accept", was.Accept, is.Accept, "none", "deal-finding")
	l.sayLaxer("evidence", was.Evidence, is.Evidence, "base_only", "any")
	l.compareApproval()
	l.sayWhen(is.Carry && !was.Carry, "carry_on_rebase is turned on")
	l.compareGovernance()
	return l.out
}

// ledgerPlace is repository:branch, or the branch alone where it is this repository's.
func ledgerPlace(c config.Ledger) string {
	return strings.TrimPrefix(c.Repository+":"+c.Branch, ":")
}

// sayWhen says something that holds.
func (l *configComparer) sayWhen(holds bool, format string, args ...any) {
	if holds {
		l.out = append(l.out, fmt.Sprintf(format, args...))
	}
}

// sayMissing names what stands in the first list only.
func (l *configComparer) sayMissing(what, means string, was, is []string) {
	for _, w := range was {
		l.sayWhen(!slices.Contains(is, w), "%s: %s %s", what, w, means)
	}
}

// sayLaxer compares words that are listed from the strictest on.
func (l *configComparer) sayLaxer(what, was, is string, strictest ...string) {
	l.sayWhen(slices.Index(strictest, is) > slices.Index(strictest, was), "%s goes from %s to %s", what, was, is)
}

// compareRunRules compares which rulebook may judge which path. The first rule that covers a folder is its rule, so
// that a new one before an old one may take folders over.
func (l *configComparer) compareRunRules() {
	at := func(list []config.RunRule, pattern string) int {
		return slices.IndexFunc(list, func(r config.RunRule) bool { return r.Path == pattern })
	}
	last := -1
	for _, w := range l.was.Runs {
		i := at(l.is.Runs, w.Path)
		if i < 0 {
			l.sayWhen(true, "runs: %s is no longer gated by a rule of its own", w.Path)
			continue
		}
		l.sayWhen(i < last, "runs: %s now comes before patterns that it came after", w.Path)
		last = max(last, i)
		l.compareSheets(w, l.is.Runs[i])
	}
	for i, r := range l.is.Runs {
		l.sayWhen(
			at(l.was.Runs, r.Path) < 0 && i < last,
			"runs: the new pattern %s comes before older ones and may take over their folders",
			r.Path,
		)
	}
}

// compareSheets compares two rules of one pattern.
func (l *configComparer) compareSheets(was, is config.RunRule) {
	for _, s := range is.Sheets {
		switch {
		case slices.Contains(was.Sheets, s), slices.Contains(was.Sheets, "*"):
		case s == "*":
			l.sayWhen(true, "runs: the pull request chooses the sheet for %s", is.Path)
		default:
			l.sayWhen(true, "runs: %s may now judge %s", s, is.Path)
		}
	}
	l.sayWhen(
		was.Lane != "" && was.Lane != is.Lane,
		"runs: %s accepted only the lane %s and now accepts %s",
		is.Path,
		was.Lane,
		orAny(is.Lane),
	)
	for _, name := range slices.Sorted(maps.Keys(was.Params)) {
		now, set := is.Params[name]
		l.sayWhen(!set, "runs: params.%s was %s for %s and is now the sheet's own", name, was.Params[name], is.Path)
		l.sayWhen(
			set && now != was.Params[name],
			"runs: params.%s goes from %s to %s for %s",
			name,
			was.Params[name],
			now,
			is.Path,
		)
	}
	for _, name := range slices.Sorted(maps.Keys(is.Params)) {
		_, had := was.Params[name]
		l.sayWhen(
			!had,
			"runs: params.%s is set to %s for %s, in place of the sheet's own",
			name,
			is.Params[name],
			is.Path,
		)
	}
}

func orAny(lane string) string {
	if lane == "" {
		return "any"
	}
	return "the lane " + lane
}

func (l *configComparer) compareApproval() {
	was, is := l.was.Approval, l.is.Approval
	l.sayLaxer("approval.minimum_permission", was.MinimumPermission, is.MinimumPermission, "admin", "maintain", "write")
	l.sayWhen(is.Count < was.Count, "approval.count goes from %d to %d", was.Count, is.Count)
	l.sayWhen(len(was.Teams) > 0 && len(is.Teams) == 0, "approval.teams is empty: anybody with the permission approves")
	if len(was.Teams) > 0 {
		for _, team := range is.Teams {
			l.sayWhen(!slices.Contains(was.Teams, team), "approval.teams: %s may approve now", team)
		}
	}
	l.sayWhen(is.AllowAuthor && !was.AllowAuthor, "approval.allow_author is turned on")
	l.sayWhen(is.AllowCommitters && !was.AllowCommitters, "approval.allow_committers is turned on")
	l.sayWhen(was.DigestRequired && !is.DigestRequired, "approval.digest_required is turned off")
	l.sayWhen(is.SelfSign && !was.SelfSign, "approval.self_sign is turned on")
}

func (l *configComparer) compareGovernance() {
	was, is := l.was.Governance, l.is.Governance
	l.sayWhen(
		is.MaxRecurringCritical > was.MaxRecurringCritical,
		"governance.max_recurring_critical goes from %d to %d",
		was.MaxRecurringCritical,
		is.MaxRecurringCritical,
	)
	if was.SpendCapUSD != "" {
		l.sayWhen(is.SpendCapUSD == "", "governance.spend_cap_usd is removed: it was %s", was.SpendCapUSD)
		l.sayWhen(
			is.SpendCapUSD != "" && isAbove(is.SpendCapUSD, was.SpendCapUSD),
			"governance.spend_cap_usd goes from %s to %s",
			was.SpendCapUSD,
			is.SpendCapUSD,
		)
	}
	if was.HeartbeatMinutes > 0 {
		l.sayWhen(
			is.HeartbeatMinutes == 0,
			"governance.heartbeat_minutes is turned off: it was %d",
			was.HeartbeatMinutes,
		)
		l.sayWhen(
			is.HeartbeatMinutes > was.HeartbeatMinutes,
			"governance.heartbeat_minutes goes from %d to %d",
			was.HeartbeatMinutes,
			is.HeartbeatMinutes,
		)
	}
	l.compareAgents(was.Agents, is.Agents)
	l.sayMissing(
		"governance.agent_trailers",
		"now names an agent in a Co-authored-by, not an unknown person",
		is.AgentTrailers,
		was.AgentTrailers,
	)
}

// isAbove compares two amounts; what cannot be read is above all.
func isAbove(is, was string) bool {
	a, err := decimal.Parse(is)
	b, err2 := decimal.Parse(was)
	return err != nil || err2 != nil || decimal.Cmp(a, b) > 0
}

// compareAgents compares the declared agents: who may work, by which profile, and whose e-mail is known.
func (l *configComparer) compareAgents(was, is []config.AgentProfile) {
	find := func(list []config.AgentProfile, name string) *config.AgentProfile {
		if i := slices.IndexFunc(list, func(a config.AgentProfile) bool { return a.Name == name }); i >= 0 {
			return &list[i]
		}
		return nil
	}
	l.sayWhen(len(was) > 0 && len(is) == 0, "governance.agents is empty: any agent may work here")
	for _, w := range was {
		now := find(is, w.Name)
		if now == nil {
			l.sayWhen(true, "governance.agents: %q is removed, and its profile is no longer pinned", w.Name)
			continue
		}
		l.sayMissing(
			"governance.agents",
			fmt.Sprintf("no longer operates %q, and may sign its work", w.Name),
			w.Operators,
			now.Operators,
		)
		l.sayWhen(
			!reflect.DeepEqual(w.Profile, now.Profile),
			"governance.agents: the profile of %q was %s and is %s",
			w.Name,
			governance.ProfileText(&w.Profile),
			governance.ProfileText(&now.Profile),
		)
	}
	for _, a := range is {
		before := find(was, a.Name)
		l.sayWhen(before == nil && len(was) > 0, "governance.agents: %q may work now", a.Name)
		for _, email := range a.Emails {
			l.sayWhen(
				before == nil || !slices.Contains(before.Emails, email),
				"governance.agents: commits of %s count as those of %q, not of an unknown person",
				email,
				a.Name,
			)
		}
	}
}
