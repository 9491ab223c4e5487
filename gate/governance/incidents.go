package governance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// maxLines is how many pieces of work a spend incident lists; older ones are one line.
const maxLines = 20

// million makes dollars units of a millionth, the smallest cost that run.json may state.
var million = decimal.FromInt(1_000_000)

// draftSpendBreach is the incident of a passed cap, for the sheet incident-spend-cap. That sheet counts tokens at a
// price a million of them; a ledger holds the cost of a run and not its tokens, so that the unit here is a millionth of
// a dollar, at one dollar a million. The draft says so. There is none, and the violation stands without it, where the
// figures are beyond what a sheet can reckon with.
func (d *incidentDrafter) draftSpendBreach(s *agentSpending, limit *decimal.Num, lane string) string {
	if limit.IsZero() {
		// A share of nothing is not defined; the smallest cap that a configuration can write stands for none.
		limit = decimal.MustParse("0.000001")
	}
	l, err := spendLinesOf(s.works)
	ratio, err2 := decimal.Quo(s.total, limit)
	if err != nil || err2 != nil {
		return ""
	}
	total, most := s.total.String(), limit.String()
	approver := "the maintainer who approves this incident"
	return d.writePatch(incident{kind: "spend_breach", sheet: "incident-spend-cap", final: "PASS",
		inputs: map[string]any{
			"cap": json.Number(most), "lines": l.lines, "price_in": 1, "price_out": 0, "gpu_hours": 0, "gpu_rate": 0,
			"claimed_spend": json.Number(total), "action": "stop", "approver": approver,
		},
		calculations: []map[string]any{
			calculationOverRows("token_cost", total, "USD"),
			calculationWithFormula("spend", "token_cost + gpu_hours * gpu_rate", total, "USD",
				map[string]any{"token_cost": json.Number(total), "gpu_hours": 0, "gpu_rate": 0}),
			calculationWithFormula("util", "spend / cap", ratio.String(), "ratio",
				map[string]any{"spend": json.Number(total), "cap": json.Number(most)}),
		},
		claims: []map[string]string{
			{"claim": "The units of each run", "evidence_reference": "usage"},
			{"claim": "The spend is " + total, "evidence_reference": "budget#row=6"},
			{"claim": "What a unit is", "evidence_reference": "prices", "quote": "a million units cost $1.00"},
		},
		evidence: spendEvidence(most, total, approver, l.usage),
		about: map[string]any{
			"tier": "high", "title": "The spend cap of " + d.cfg.Governance.SpendCapUSD + " USD is passed",
			"lane":     lane,
			"receipts": l.receipts, "response": []string{"human_approval_required"},
			"detail": fmt.Sprintf("%s has spent %s USD in %d runs; the gate does not let its work through.",
				d.agentName(), total, len(s.works)),
		}})
}

// spendLines are the pieces of work of a spend incident, as rows of its evidence and as members of its submission.
type spendLines struct {
	usage    [][]string
	lines    []map[string]any
	receipts []string
}

// spendLinesOf lists the newest pieces of work with their cost in millionths of a dollar.
func spendLinesOf(all []paidWork) (spendLines, error) {
	out := spendLines{receipts: []string{}}
	works, err := newestWorks(all)
	if err != nil {
		return out, err
	}
	for _, w := range works {
		units, err := decimal.Mul(w.cost, million)
		if err != nil {
			return out, err
		}
		run := safeToken(w.run)
		out.usage = append(out.usage, []string{run, units.String(), "0"})
		out.lines = append(out.lines, map[string]any{"r": run, "tok_in": json.Number(units.String()), "tok_out": 0})
		if w.hash != "" {
			out.receipts = append(out.receipts, w.hash)
		}
	}
	return out, nil
}

// spendEvidence are the files of a spend incident.
func spendEvidence(most, total, approver string, usage [][]string) []evidenceFile {
	budget := csvRows("item,value", []string{"cap", most}, []string{"price_in", "1"}, []string{"price_out", "0"},
		[]string{"gpu_hours", "0"}, []string{"gpu_rate", "0"}, []string{"claimed_spend", total},
		[]string{"action", "stop"}, []string{"approver", approver})
	prices := "The ledger records the cost of a run in US dollars. One unit here is a millionth of a dollar of " +
		"that cost; a million units cost $1.00. It holds no output and no accelerator hours: both cost $0.\n"
	return []evidenceFile{
		{"budget", "budget.csv", "The cap and the spend", budget},
		{"usage", "usage.csv", "Cost of each run, in millionths of a dollar", csvRows("r,tok_in,tok_out", usage...)},
		{"prices", "prices.txt", "What a unit is", prices},
		{"gpu", "gpu.csv", "Accelerator hours: the ledger holds none", csvRows("r,hours")},
	}
}

// newestWorks lists the newest pieces of work; older ones are summed up in the first.
func newestWorks(works []paidWork) ([]paidWork, error) {
	if len(works) <= maxLines {
		return works, nil
	}
	cut := len(works) - maxLines + 1
	sum, err := sumOf(works[:cut])
	return append([]paidWork{{run: fmt.Sprintf("%d earlier runs", cut), cost: sum}}, works[cut:]...), err
}

// draftLaneLock is the incident of recurring critical flags, for the sheet incident-lane-lock. The lock follows from
// the ledger: it stands from the entry on that reached the limit, whenever somebody looks. The governance sets no
// window: the table says how many days lie between the first and the last, and the sheet's parameter window_days
// decides.
func (d *incidentDrafter) draftLaneLock(flags []flaggedAudit, lane string) string {
	t := tallyFlags(flags)
	last, days := t.last, daysBetween(t.first, t.last)
	plan := "a resolved incident of kind recurring_flag that names these receipts, signed off"
	final := "PASS"
	if len(flags) < 2 {
		final = "REVIEW: one audit is no recurrence; the configuration locks at one"
	}
	limit := d.cfg.Governance.MaxRecurringCritical
	facts := csvRows(
		"item,value",
		[]string{"window_days", days},
		[]string{"limit", strconv.Itoa(limit)},
		[]string{"locked_at", sheetTime(last)},
		[]string{"last_flag", sheetTime(last)},
		[]string{"action", "lock"},
	)
	log := fmt.Sprintf(
		"%s lane %s locked for %s by governance.max_recurring_critical %d\n%s noticed by the gate\n%s",
		sheetTime(last),
		lane,
		safeToken(d.agentName()),
		limit,
		sheetTime(d.at),
		t.log,
	)
	return d.writePatch(incident{kind: "recurring_flag", sheet: "incident-lane-lock", final: final,
		inputs: map[string]any{
			"runs":          t.runs,
			"limit":         limit,
			"locked_at":     sheetTime(last),
			"last_flag":     sheetTime(last),
			"action":        "lock",
			"rule_ids":      append(slices.Clone(t.rules), anyRule),
			"unlock_plan":   plan,
			"receipts":      t.receipts,
			"flags_by_rule": t.counts,
		},
		calculations: []map[string]any{
			calculationOverRows("critical_runs", strconv.Itoa(len(flags)), "count"),
			calculationOverRows("span", days, "days"),
			calculationOverRows("lag_h", "0", "hours"),
		},
		claims: []map[string]string{
			{"claim": "The runs with critical findings", "evidence_reference": "runs"},
			{"claim": "The flags by rule", "evidence_reference": "flags"},
			{
				"claim":              "When the last flag fell",
				"evidence_reference": "incident#row=4",
			},
			{"claim": "The lane is locked", "evidence_reference": "log", "quote": "lane " + lane + " locked for"},
		},
		evidence: []evidenceFile{
			{"incident", "incident.csv", "The lock", facts},
			{"runs", "runs.csv", "Runs with critical findings", csvRows("r,t", t.runRows...)},
			{
				"flags",
				"flags.csv",
				"Rules that raised critical flags, each once a run",
				csvRows("run,rule,tier,at", t.flagRows...),
			},
			{"log", "gate.txt", "What the gate saw", log},
		},
		about: map[string]any{
			"tier":     "high",
			"title":    "The lane " + lane + " is locked by recurring critical flags",
			"lane":     lane,
			"receipts": t.receipts,
			"response": []string{
				"lane_locked",
				"human_approval_required",
			},
			"detail": d.agentName() + " had critical findings in " + strconv.Itoa(len(flags)) + " audits of this lane.",
		}})
}

// flagTally is what a lock says of the flagged audits, as members of the submission and as rows of its evidence. The
// sheet counts the flags of a run and of a rule in those rows, so that each audit has a name of its own and each of its
// rules one row; how many findings an audit had is in the log.
type flagTally struct {
	runs, counts      []map[string]any
	runRows, flagRows [][]string
	receipts, rules   []string
	log               string
	first, last       time.Time
}

// anyRule is a row of every flagged audit: the configuration locks whatever the rule, and the sheet looks for a rule
// that recurs. It is of no tier, as the rules beside it are what the audit's high flags are counted by. noRule stands
// where the receipt names none.
const anyRule, noRule = "any rule", "a rule that the receipt does not list"

func tallyFlags(flags []flaggedAudit) flagTally {
	t := flagTally{first: flags[0].at, last: flags[0].at, rules: []string{}}
	n, seen := map[string]int{}, map[string]bool{}
	for _, f := range flags {
		run := safeToken(f.run)
		if seen[run] { // the same run in another pull request is another audit
			run = safeToken(keepRunes(f.run, 100) + " in the receipt " + f.hash)
		}
		seen[run] = true
		rules := safeTokens(f.rules)
		if len(rules) == 0 {
			rules = []string{noRule}
		}
		for _, id := range rules {
			t.flagRows = append(t.flagRows, []string{run, id, "high", sheetTime(f.at)})
			if n[id] == 0 {
				t.rules = append(t.rules, id)
			}
			n[id]++
		}
		t.addAudit(run, len(rules), f)
	}
	n[anyRule] = len(flags)
	for _, id := range append(slices.Clone(t.rules), anyRule) {
		t.counts = append(t.counts, map[string]any{"id": id, "n": n[id]})
	}
	return t
}

// addAudit adds what is said once of an audit.
func (t *flagTally) addAudit(run string, high int, f flaggedAudit) {
	day := f.at.UTC().Format(time.DateOnly)
	t.flagRows = append(t.flagRows, []string{run, anyRule, "", sheetTime(f.at)})
	t.runRows = append(t.runRows, []string{run, day})
	t.runs = append(t.runs, map[string]any{"r": run, "high": high, "t": day})
	t.receipts = append(t.receipts, f.hash)
	t.log += fmt.Sprintf("%s run %s: high work-defects %d\n", sheetTime(f.at), run, f.high)
	if f.at.After(t.last) {
		t.last = f.at
	}
	if f.at.Before(t.first) {
		t.first = f.at
	}
}

// daysBetween counts the days from one date to another, as the sheets do.
func daysBetween(a, b time.Time) string {
	day := func(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
	return strconv.Itoa(int(day(b).Sub(day(a)) / (24 * time.Hour)))
}

// draftRogue is the incident of an agent that the configuration does not list.
func (d *incidentDrafter) draftRogue(w *receipt.Work) string {
	return d.draftSighting(
		sighting{
			kind:     "rogue",
			alert:    "rogue",
			title:    "An agent that nobody declared",
			lane:     w.Run.Lane,
			declared: "none: not listed in governance.agents",
			observed: ProfileText(
				&w.Run.Agent,
			),
			used:   w.Run.Agent.Tools,
			seen:   d.at,
			detail: d.agentName() + " handed in the run " + w.Run.ID + " and is not listed in governance.agents.",
		},
	)
}

// draftMismatch is the incident of a profile that differs from the pinned one.
func (d *incidentDrafter) draftMismatch(w *receipt.Work, pinned *referee.Agent) string {
	return d.draftSighting(
		sighting{
			kind:     "policy_violation",
			alert:    "rogue",
			title:    "Another profile than the pinned one",
			lane:     w.Run.Lane,
			declared: ProfileText(pinned),
			observed: ProfileText(&w.Run.Agent),
			tools:    pinned.Tools,
			used:     w.Run.Agent.Tools,
			signed:   true,
			seen:     d.at,
			detail: d.agentName() + " states in the run " + w.Run.ID + " another profile than governance.agents " +
				"pins.",
		},
	)
}

// draftSilent is the incident of an agent that is silent.
func (d *incidentDrafter) draftSilent(agent *config.AgentProfile, last time.Time, lane string) string {
	profile := ProfileText(&agent.Profile)
	return d.draftSighting(
		sighting{
			kind:     "dark",
			alert:    "dark",
			title:    "An agent is silent",
			lane:     lane,
			declared: profile,
			observed: profile,
			signed:   true,
			seen:     last,
			detail: d.agentName() + " has had no entry in the ledger since " + last.UTC().
				Format(receipt.TimeFormat) +
				".",
		},
	)
}

// sighting is what was declared of an agent, and what was seen.
type sighting struct {
	kind, alert, title, lane, detail string
	declared, observed               string // profiles in words
	tools, used                      []string
	signed                           bool
	seen                             time.Time
}

// draftSighting is an incident for the sheet incident-rogue-agent. The gate sees no hosts, and lists none; the tools
// are those that run.json states, and the sign of life is an entry of the ledger or the run itself. The verdict is
// about the record: a rogue agent that is called rogue passes, and whoever signs has nothing to accept.
func (d *incidentDrafter) draftSighting(s sighting) string {
	beat := strconv.Itoa(d.cfg.Governance.HeartbeatMinutes)
	silent := minutesText(d.at.Sub(s.seen))
	s.declared, s.observed = exactToken(s.declared), exactToken(s.observed)
	facts := csvRows(
		"item,value",
		[]string{"declared_model", s.declared},
		[]string{"observed_model", s.observed},
		[]string{"last_heartbeat", sheetTime(s.seen)},
		[]string{"now", sheetTime(d.at)},
		[]string{"heartbeat_min", beat},
		[]string{"signed", strconv.FormatBool(s.signed)},
		[]string{"alert", s.alert},
	)
	line := fmt.Sprintf("%s the gate saw the profile: %s", sheetTime(d.at), s.observed)
	declared, used := safeTokens(s.tools), safeTokens(s.used)
	return d.writePatch(incident{kind: s.kind, sheet: "incident-rogue-agent", final: "PASS",
		inputs: map[string]any{
			"declared_tools": declared,
			"used_tools":     used,
			"declared_hosts": []string{},
			"contacted":      []string{},
			"declared_model": s.declared,
			"observed_model": s.observed,
			"last_heartbeat": sheetTime(s.seen),
			"now":            sheetTime(d.at),
			"heartbeat_min":  json.Number(beat),
			"signed":         s.signed,
			"alert":          s.alert,
		},
		calculations: []map[string]any{calculationOverRows("silent_min", silent, "min")},
		claims: []map[string]string{
			{"claim": "The last sign of life and the time of the observation", "evidence_reference": "watch#row=4"},
			{
				"claim":              "The profile that the gate saw",
				"evidence_reference": "trace",
				"quote":              "the gate saw the profile:",
			},
		},
		evidence: []evidenceFile{
			{"watch", "watch.csv", "The declared and the observed profile", facts},
			{"trace", "gate.txt", "What the gate saw", line + "\n"},
			{
				"tool_trace",
				"tool_trace.csv",
				"Tools as run.json states them",
				csvRows("at,tool,model", d.toolRows(used, s.observed)...),
			},
			{"egress", "egress.csv", "Hosts: the gate sees none", csvRows("at,host")},
			{
				"heartbeats",
				"heartbeats.csv",
				"The last sign of life",
				csvRows("at,model", []string{sheetTime(s.seen), s.observed}),
			},
			{
				"profile",
				"profile.json",
				"What governance.agents declares",
				plainJSON(map[string]any{"tools": declared, "hosts": []string{}, "model": s.declared}),
			},
		},
		about: map[string]any{
			"tier":     "high",
			"title":    s.title,
			"lane":     s.lane,
			"receipts": []string{},
			"response": []string{"human_approval_required"},
			"detail":   s.detail,
		}})
}

// toolRows are the rows of a tool trace.
func (d *incidentDrafter) toolRows(tools []string, model string) [][]string {
	var out [][]string
	for _, tool := range tools {
		out = append(out, []string{sheetTime(d.at), tool, model})
	}
	return out
}

// exactToken is a text as a token that tells it from every other: the sheet compares what was declared with what was
// seen.
func exactToken(s string) string {
	if t := safeToken(s); t != s {
		return safeToken(keepRunes(s, 150) + " sha256 " + canonical.SHA256Hex([]byte(s))[:16])
	}
	return s
}

// minutesText is a time in minutes, to a millionth.
func minutesText(t time.Duration) string {
	seconds := int64(t / time.Second)
	if seconds%60 == 0 {
		return strconv.FormatInt(seconds/60, 10)
	}
	return fmt.Sprintf("%d.%06d", seconds/60, seconds%60*1_000_000/60)
}

// agentName is the agent in a draft.
func (d *incidentDrafter) agentName() string {
	if d.agent == "" {
		return "An agent without a name"
	}
	return "The agent " + keepRunes(d.agent, 80)
}

// ProfileText is a profile in words: what a configuration can pin.
func ProfileText(a *referee.Agent) string {
	var out []string
	for _, m := range [][2]string{
		{"model", a.Model}, {"tier", a.CapabilityTier}, {"params_b", a.ParamsB}, {"vram_gb", a.VRAMGB},
	} {
		if m[1] != "" {
			out = append(out, m[0]+" "+keepRunes(m[1], 80))
		}
	}
	if a.ToolsKnown || len(a.Tools) > 0 {
		out = append(out, strconv.Itoa(len(a.Tools))+" tools "+strings.Join(safeTokens(a.Tools), " "))
	}
	if len(out) == 0 {
		return "not stated"
	}
	return keepRunes(strings.Join(out, "; "), 400)
}

// safeTokens are the first words of a list, fit for a draft.
func safeTokens(list []string) []string {
	out := []string{}
	for _, s := range list[:min(len(list), 20)] {
		t := safeToken(s)
		if bare := strings.TrimSpace(t); bare != t { // a table's cells are read without the spaces around them
			t = strings.TrimSpace(bare + " sha256 " + canonical.SHA256Hex([]byte(s))[:16])
		}
		out = append(out, t)
	}
	return out
}

// calculationWithFormula is a calculation with its formula; calculation is one over rows, where the sheet wants none.
func calculationWithFormula(name, formula, result, units string, inputs map[string]any) map[string]any {
	c := calculationOverRows(name, result, units)
	c["formula"], c["inputs"] = formula, inputs
	return c
}

func calculationOverRows(name, result, units string) map[string]any {
	return map[string]any{"name": name, "inputs": map[string]any{}, "result": json.Number(result), "units": units}
}
