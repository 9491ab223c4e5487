package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// maxConfigRead is a byte more than a configuration may have, so that its reader refuses it by name.
const maxConfigRead = 256<<10 + 1

// configChange reads the configuration of the head and says what it loosens; parsed is nil where it is refused. Without one the defaults hold.
func configChange(head fs.FS, now *Config) (c RulebookChange, parsed *Config) {
	c.Path = ConfigPath
	src, err := referee.ReadFile(head, ConfigPath, maxConfigRead)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parsed = DefaultConfig()
		c.Warnings = []string{"removed: the defaults hold"}
	case err != nil:
		c.Problems = []string{err.Error() + "; the configuration is a plain file"}
		return c, nil
	default:
		if parsed, err = ParseConfig(src, ConfigPath); err != nil {
			c.Problems = []string{err.Error()}
			return c, nil
		}
	}
	c.Warnings = append(c.Warnings, loosened(now, parsed)...)
	return c, parsed
}

// loosening collects what a new configuration lets through that the one in force does not.
type loosening struct {
	was, is *Config
	out     []string
}

// loosened lists it, in the order of the configuration.
func loosened(was, is *Config) []string {
	l := &loosening{was: was, is: is}
	l.missing("branches", "is no longer gated with rules of its own", was.Branches, is.Branches)
	l.missing("branches", "brings its own configuration and sheets now: protect it", is.Branches, was.Branches)
	l.rules()
	l.when(was.Sheets != is.Sheets, "flight_sheets moves from %s to %s", was.Sheets, is.Sheets)
	l.when(was.Ledger != is.Ledger, "ledger moves from %s to %s: earlier receipts stay behind", was.Ledger.where(), is.Ledger.where())
	l.later("fail_on", was.FailOn.String(), is.FailOn.String(), "low", "mid", "high", "never")
	l.later("accept", was.Accept, is.Accept, "none", "deal-finding")
	l.later("evidence", was.Evidence, is.Evidence, "base_only", "any")
	l.approval()
	l.when(is.Carry && !was.Carry, "carry_on_rebase is turned on")
	l.governance()
	return l.out
}

func (c LedgerConfig) where() string {
	return strings.TrimPrefix(c.Repository+":"+c.Branch, ":")
}

// when says something that holds.
func (l *loosening) when(holds bool, format string, args ...any) {
	if holds {
		l.out = append(l.out, fmt.Sprintf(format, args...))
	}
}

// missing names what stands in the first list only.
func (l *loosening) missing(what, means string, was, is []string) {
	for _, w := range was {
		l.when(!slices.Contains(is, w), "%s: %s %s", what, w, means)
	}
}

// later compares words that are listed from the strictest on.
func (l *loosening) later(what, was, is string, strictest ...string) {
	l.when(slices.Index(strictest, is) > slices.Index(strictest, was), "%s goes from %s to %s", what, was, is)
}

// rules compares which rulebook may judge which path. The first rule that covers a folder is its rule, so that a new one before an old one may
// take folders over.
func (l *loosening) rules() {
	at := func(list []RunRule, pattern string) int {
		return slices.IndexFunc(list, func(r RunRule) bool { return r.Path == pattern })
	}
	last := -1
	for _, w := range l.was.Runs {
		i := at(l.is.Runs, w.Path)
		if i < 0 {
			l.when(true, "runs: %s is no longer gated by a rule of its own", w.Path)
			continue
		}
		l.when(i < last, "runs: %s stands before patterns that it stood after", w.Path)
		last = max(last, i)
		l.sheets(w, l.is.Runs[i])
	}
	for i, r := range l.is.Runs {
		l.when(at(l.was.Runs, r.Path) < 0 && i < last, "runs: the new pattern %s stands before older ones and may take their folders over", r.Path)
	}
}

// sheets compares two rules of one pattern.
func (l *loosening) sheets(was, is RunRule) {
	for _, s := range is.Sheets {
		switch {
		case slices.Contains(was.Sheets, s), slices.Contains(was.Sheets, "*"):
		case s == "*":
			l.when(true, "runs: the pull request chooses the sheet for %s", is.Path)
		default:
			l.when(true, "runs: %s may now judge %s", s, is.Path)
		}
	}
	l.when(was.Lane != "" && was.Lane != is.Lane, "runs: %s let only the lane %s in and lets %s in now", is.Path, was.Lane, orAny(is.Lane))
	for _, name := range slices.Sorted(maps.Keys(was.Params)) {
		now, set := is.Params[name]
		l.when(!set, "runs: params.%s was %s for %s, and is the sheet's own now", name, was.Params[name], is.Path)
		l.when(set && now != was.Params[name], "runs: params.%s goes from %s to %s for %s", name, was.Params[name], now, is.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(is.Params)) {
		_, had := was.Params[name]
		l.when(!had, "runs: params.%s is set to %s for %s, in place of the sheet's own", name, is.Params[name], is.Path)
	}
}

func orAny(lane string) string {
	if lane == "" {
		return "any"
	}
	return "the lane " + lane
}

func (l *loosening) approval() {
	was, is := l.was.Approval, l.is.Approval
	l.later("approval.minimum_permission", was.MinimumPermission, is.MinimumPermission, "admin", "maintain", "write")
	l.when(is.Count < was.Count, "approval.count goes from %d to %d", was.Count, is.Count)
	l.when(len(was.Teams) > 0 && len(is.Teams) == 0, "approval.teams is empty: anybody with the permission approves")
	if len(was.Teams) > 0 {
		for _, team := range is.Teams {
			l.when(!slices.Contains(was.Teams, team), "approval.teams: %s may approve now", team)
		}
	}
	l.when(is.AllowAuthor && !was.AllowAuthor, "approval.allow_author is turned on")
	l.when(is.AllowCommitters && !was.AllowCommitters, "approval.allow_committers is turned on")
	l.when(was.DigestRequired && !is.DigestRequired, "approval.digest_required is turned off")
	l.when(is.SelfSign && !was.SelfSign, "approval.self_sign is turned on")
}

func (l *loosening) governance() {
	was, is := l.was.Governance, l.is.Governance
	l.when(is.MaxRecurringCritical > was.MaxRecurringCritical, "governance.max_recurring_critical goes from %d to %d", was.MaxRecurringCritical, is.MaxRecurringCritical)
	if was.SpendCapUSD != "" {
		l.when(is.SpendCapUSD == "", "governance.spend_cap_usd is removed: it was %s", was.SpendCapUSD)
		l.when(is.SpendCapUSD != "" && above(is.SpendCapUSD, was.SpendCapUSD), "governance.spend_cap_usd goes from %s to %s", was.SpendCapUSD, is.SpendCapUSD)
	}
	if was.HeartbeatMinutes > 0 {
		l.when(is.HeartbeatMinutes == 0, "governance.heartbeat_minutes is turned off: it was %d", was.HeartbeatMinutes)
		l.when(is.HeartbeatMinutes > was.HeartbeatMinutes, "governance.heartbeat_minutes goes from %d to %d", was.HeartbeatMinutes, is.HeartbeatMinutes)
	}
	l.agents(was.Agents, is.Agents)
	l.missing("governance.agent_trailers", "names an agent in a Co-authored-by now, and not an unknown person", is.AgentTrailers, was.AgentTrailers)
}

// above compares two amounts; what cannot be read is above all.
func above(is, was string) bool {
	a, err := decimal.Parse(is)
	b, err2 := decimal.Parse(was)
	return err != nil || err2 != nil || decimal.Cmp(a, b) > 0
}

// agents compares the declared agents: who may work, by which profile, and whose e-mail is known.
func (l *loosening) agents(was, is []AgentProfile) {
	find := func(list []AgentProfile, name string) *AgentProfile {
		if i := slices.IndexFunc(list, func(a AgentProfile) bool { return a.Name == name }); i >= 0 {
			return &list[i]
		}
		return nil
	}
	l.when(len(was) > 0 && len(is) == 0, "governance.agents is empty: any agent may work here")
	for _, w := range was {
		now := find(is, w.Name)
		if now == nil {
			l.when(true, "governance.agents: %q is removed, and its profile is pinned no more", w.Name)
			continue
		}
		l.missing("governance.agents", fmt.Sprintf("no longer operates %q, and may sign its work", w.Name), w.Operators, now.Operators)
		l.when(!reflect.DeepEqual(w.Profile, now.Profile), "governance.agents: the profile of %q was %s and is %s", w.Name, profileOf(&w.Profile), profileOf(&now.Profile))
	}
	for _, a := range is {
		before := find(was, a.Name)
		l.when(before == nil && len(was) > 0, "governance.agents: %q may work now", a.Name)
		for _, email := range a.Emails {
			l.when(before == nil || !slices.Contains(before.Emails, email), "governance.agents: commits of %s count as those of %q, not of an unknown person", email, a.Name)
		}
	}
}
