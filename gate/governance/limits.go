package governance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/ledger"
)

// CheckLimits holds the agents of a pull request to the limits of the base branch's configuration. h is made for these
// audits (NewHistory). It is pure: draftAt is the time that the drafts state. The kinds, in the order in which they are
// looked for, agent by agent in the order of the audits:
//
//   - rogue: the configuration lists agents and this one is not among them, or has no name. Names are compared byte
//     by byte. A run of the lane incident that names no agent is a person's report and is held to nothing here.
//   - policy_violation: run.json states another profile than the pinned one (the engine's mid finding
//     lane.profile_mismatch, S42).
//   - spend_breach: what the agent has spent (History.Spent) is more than spend_cap_usd. Without a cap nothing is.
//   - recurring_flag: the lane is locked for the agent: it had critical work-defects (high or critical, S8) in
//     max_recurring_critical earlier audits of the lane that are known to be its work (IsAttributed). Approved,
//     carried, rejected, withdrawn and unreceipted entries count, one for each run and pull request, and none of this
//     pull request: its revisions are counted by Heads. A live incident of kind recurring_flag and status resolved,
//     without the response lane_locked and not by this agent, takes the audits out whose entries it names. Or a live
//     incident of that kind, open and with the response lane_locked, names work of the agent in the lane's name: it
//     locks below the limit too, until an unlock after it names these receipts.
//
// Each holds an incident's run folder as a patch that `git apply` takes (Violation.Draft); a spend_breach whose figures
// no sheet can reckon with stands without one.
func CheckLimits(audits []audit.AuditedRun, cfg *config.Config, h *History, draftAt time.Time) []Violation {
	var out []Violation
	for _, a := range groupByAgent(audits) {
		d := &incidentDrafter{cfg: cfg, at: draftAt.UTC(), agent: a.name}
		out = append(out, a.checkListed(d)...)
		out = append(out, a.checkProfile(d)...)
		out = append(out, a.checkSpending(d, h)...)
		out = append(out, a.checkLocks(d, h)...)
	}
	return out
}

// agentRuns are the runs of one agent in a pull request.
type agentRuns struct {
	name string
	runs []*receipt.Work
}

// groupByAgent are the audited runs by agent. What could not be audited fails without this.
func groupByAgent(audits []audit.AuditedRun) []*agentRuns {
	var out []*agentRuns
	for _, a := range audits {
		if a.Work == nil || isPersonalReport(a.Work) {
			continue
		}
		name := a.Work.Run.Agent.Name
		i := slices.IndexFunc(out, func(g *agentRuns) bool { return g.name == name })
		if i < 0 {
			i, out = len(out), append(out, &agentRuns{name: name})
		}
		out[i].runs = append(out[i].runs, a.Work)
	}
	return out
}

// isPersonalReport reports whether a run is a person's own report of an incident.
func isPersonalReport(w *receipt.Work) bool {
	return w.Run.Lane == "incident" && w.Run.Agent.Name == ""
}

// checkListed finds an agent that the configuration does not know.
func (a *agentRuns) checkListed(d *incidentDrafter) []Violation {
	if len(d.cfg.Governance.Agents) == 0 || config.PinnedProfile(d.cfg, a.name) != nil {
		return nil
	}
	reason := fmt.Sprintf(
		"%s is not among the %d agents of governance.agents; list it there on the base branch, or do not merge "+
			"its work",
		agentInWords(a.name),
		len(d.cfg.Governance.Agents),
	)
	if a.name == "" {
		reason = "run.json names no agent, and governance.agents lists those that may work here; name the agent " +
			"that ran"
	}
	return []Violation{{Agent: a.name, Kind: "rogue", Reason: reason, Draft: d.draftRogue(a.runs[0])}}
}

// checkProfile finds a run that states another profile than the pinned one. One violation an agent: the first run's.
func (a *agentRuns) checkProfile(d *incidentDrafter) []Violation {
	pinned := config.PinnedProfile(d.cfg, a.name)
	if pinned == nil {
		return nil
	}
	for _, w := range a.runs {
		for _, f := range w.Report.Findings {
			if f.Code != "lane.profile_mismatch" {
				continue
			}
			reason := fmt.Sprintf(
				"%s: %s (run %s); state the profile that ran, or change governance.agents on the base branch",
				agentInWords(a.name),
				f.Message,
				w.Run.ID,
			)
			return []Violation{
				{Agent: a.name, Kind: "policy_violation", Reason: reason, Draft: d.draftMismatch(w, pinned)},
			}
		}
	}
	return nil
}

// checkSpending holds the agent to the spend cap.
func (a *agentRuns) checkSpending(d *incidentDrafter, h *History) []Violation {
	text := d.cfg.Governance.SpendCapUSD
	if text == "" {
		return nil
	}
	v := Violation{Agent: a.name, Kind: "spend_breach"}
	limit, err := decimal.Parse(text)
	if err != nil {
		v.Reason = fmt.Sprintf("governance.spend_cap_usd %q cannot be read: %v", text, err)
		return []Violation{v}
	}
	s, err := h.spendingOf(a.name, a.runs)
	switch {
	case err != nil:
		v.Reason = fmt.Sprintf(
			"what %s spent cannot be added up, so the cap of %s USD cannot be enforced: %v",
			agentInWords(a.name),
			text,
			err,
		)
	case decimal.Cmp(s.total, limit) <= 0:
		return nil
	default:
		v.Reason = fmt.Sprintf(
			"%s has spent %s USD, %s of it in this pull request; governance.spend_cap_usd is %s. Stop the agent, "+
				"or raise the cap on the base branch",
			agentInWords(a.name),
			s.total,
			s.here,
			text,
		)
		v.Draft = d.draftSpendBreach(s, limit, a.runs[0].Run.Lane)
	}
	return []Violation{v}
}

// checkLocks finds the lanes that recurring critical flags close to the agent.
func (a *agentRuns) checkLocks(d *incidentDrafter, h *History) []Violation {
	var out []Violation
	var seen []string
	limit := d.cfg.Governance.MaxRecurringCritical
	for _, w := range a.runs {
		lane := w.Report.Lane
		if slices.Contains(seen, lane) {
			continue
		}
		seen = append(seen, lane)
		flags := h.criticalAudits(a.name, lane)
		if limit < 1 || len(flags) < limit {
			if lock := h.openLock(a.name, lane); lock != nil {
				out = append(out, a.describeOpenLock(lock))
			}
			continue
		}
		var runs []string
		for _, f := range flags[len(flags)-min(len(flags), 5):] {
			runs = append(runs, f.run)
		}
		out = append(
			out,
			Violation{Agent: a.name, Kind: "recurring_flag", Draft: d.draftLaneLock(flags[len(flags)-limit:], lane),
				Reason: fmt.Sprintf(
					"%s is locked out of the lane %s: %d earlier audits had critical work-defects, "+
						"governance.max_recurring_critical is %d (last: %s). A signed-off incident of kind "+
						"recurring_flag with status resolved, that names their receipts, unlocks it",
					agentInWords(a.name),
					lane,
					len(flags),
					limit,
					strings.Join(runs, ", "),
				)},
		)
	}
	return out
}

// describeOpenLock words a lock that a signed incident holds. No draft: the incident is in the ledger already.
func (a *agentRuns) describeOpenLock(lock *laneLock) Violation {
	return Violation{Agent: a.name, Kind: "recurring_flag", Reason: fmt.Sprintf(
		"%s is locked out of the lane %s: the incident %q, receipt %.8s…, is open and says lane_locked. A signed-off "+
			"incident of kind recurring_flag with status resolved, that names its receipts, unlocks it",
		agentInWords(a.name), lock.lane, keepRunes(lock.id, 80), lock.entry)}
}

// SilentAgents lists the agents of governance.agents without an entry in the ledger for more than heartbeat_minutes; 0
// looks for none. An entry of an agent is one with its name and an audit, of any kind, that is known to be its work
// (IsAttributed); its time is minted_at. An agent that never had one is silent since the ledger's first entry; an empty
// ledger tells nothing, and no agent is dark in it.
func SilentAgents(cfg *config.Config, h *History, now time.Time) []Violation {
	g := cfg.Governance
	if g.HeartbeatMinutes < 1 || h.first.IsZero() {
		return nil
	}
	var out []Violation
	for _, agent := range g.Agents {
		last, lane, said := h.first, "agent", "has no entry in the ledger, which began at "
		if t := h.agentTracks[agent.Name]; t != nil && !t.last.IsZero() {
			last, lane, said = t.last, t.lane, "was last seen at "
		}
		silent := now.Sub(last)
		if silent <= time.Duration(g.HeartbeatMinutes)*time.Minute {
			continue
		}
		d := &incidentDrafter{cfg: cfg, at: now.UTC(), agent: agent.Name}
		out = append(out, Violation{Agent: agent.Name, Kind: "dark", Draft: d.draftSilent(&agent, last, lane),
			Reason: fmt.Sprintf(
				"%s %s%s, %d minutes ago; governance.heartbeat_minutes is %d",
				agentInWords(agent.Name),
				said,
				last.UTC().Format(receipt.TimeFormat),
				int64(silent/time.Minute),
				g.HeartbeatMinutes,
			)})
	}
	return out
}

// agentInWords names an agent in a sentence.
func agentInWords(name string) string {
	if name == "" {
		return "an agent without a name"
	}
	return fmt.Sprintf("the agent %q", keepRunes(name, 80))
}

// keepRunes keeps the first runes of a text.
func keepRunes(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Violation is an agent beyond a limit of the configuration.
type Violation struct {
	Agent  string
	Kind   string // spend_breach, rogue, policy_violation, recurring_flag, dark
	Reason string
	Draft  string // an incident, ready to commit
}

// isCritical reports whether a finding makes a verdict propolis: it is high, or critical (S8).
func isCritical(f ledger.Finding) bool { return f.Tier == "high" || f.Severity == "critical" }
