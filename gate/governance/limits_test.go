package governance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// agentEntry is an entry of the ledger as governance reads it.
func agentEntry(kind ledger.Kind, agent, run, submission, cost string, edits ...func(*ledger.Receipt)) *ledger.Entry {
	r := &ledger.Receipt{
		Kind:       kind,
		MintedAt:   "2026-11-20T09:00:00Z",
		Run:        ledger.Run{ID: run, Lane: "agent"},
		Submission: ledger.Submission{SHA256: submission},
		Agent:      &ledger.Agent{Name: agent, CostUSD: cost},
		Verdict:    &ledger.Verdict{},
	}
	for _, edit := range edits {
		edit(r)
	}
	return &ledger.Entry{
		Hash:    ledger.SheetHash([]byte(fmt.Sprint(kind, agent, run, submission, cost, r.Pull(), r.MintedAt))),
		Receipt: r,
	}
}

func referTo(e *ledger.Entry) func(*ledger.Receipt) {
	return func(r *ledger.Receipt) { r.RefersTo = e.Hash }
}

func inPull(n int64) func(*ledger.Receipt) {
	return func(r *ledger.Receipt) { r.PullRequest = &ledger.PullRequest{Number: n} }
}

func mintedAt(at string) func(*ledger.Receipt) {
	return func(r *ledger.Receipt) { r.MintedAt = at }
}

// highDefects gives an entry high work-defects, one a rule.
func highDefects(rules ...string) func(*ledger.Receipt) {
	return func(r *ledger.Receipt) {
		for _, id := range rules {
			r.Findings = append(
				r.Findings,
				ledger.Finding{
					Code:     "policy." + id,
					RuleIDs:  []string{id},
					Tier:     "high",
					Severity: "critical",
					Bucket:   "work-defect",
				},
			)
		}
		r.Verdict.Risk.High, r.FindingsTotal = len(r.Findings), len(r.Findings)
	}
}

// inBucket says whom the findings of an entry concern.
func inBucket(bucket string) func(*ledger.Receipt) {
	return func(r *ledger.Receipt) {
		for i := range r.Findings {
			r.Findings[i].Bucket = bucket
		}
	}
}

// closedBy says who withdrew the work of an entry.
func closedBy(login string) func(*ledger.Receipt) {
	return func(r *ledger.Receipt) { r.ObservedBy = &ledger.ObservedBy{Event: "closed", Actor: login} }
}

// addedBy says whose pull requests brought the evidence of an entry; "" is the base branch's.
func addedBy(logins ...string) func(*ledger.Receipt) {
	return func(r *ledger.Receipt) {
		for _, login := range logins {
			r.Evidence = append(r.Evidence, ledger.Evidence{AddedBy: login})
		}
	}
}

// pendingRun is a run in the pull request, without its audit's findings.
func pendingRun(agent, run, submission, cost string) audit.AuditedRun {
	return audit.AuditedRun{
		Dir: "runs/" + run,
		Work: &receipt.Work{Run: &referee.Run{ID: run, Lane: "agent", CostUSD: cost, Agent: referee.Agent{Name: agent}},
			Report: &referee.Report{Lane: "agent", Submission: referee.SubmissionRef{SHA256: submission}}},
	}
}

func historyOf(
	t *testing.T,
	cfg *config.Config,
	pull int64,
	audits []audit.AuditedRun,
	entries ...*ledger.Entry,
) *History {
	t.Helper()
	h := NewHistory(cfg, pull, audits)
	for _, e := range entries {
		if err := h.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TestSpent: what a person vouches for and what this pull request adds; nothing twice, nothing that was taken back.
func TestSpent(t *testing.T) {
	first := agentEntry(ledger.Approved, "a", "r1", "s1", "1.10")
	carried := agentEntry(ledger.Carried, "a", "r1", "s1", "1.10", referTo(first), inPull(2))
	for _, c := range []struct {
		what    string
		pull    int64
		audits  []audit.AuditedRun
		entries []*ledger.Entry
		want    string
	}{
		{"nothing", 0, []audit.AuditedRun{pendingRun("a", "r", "s", "")}, nil, "0"},
		{"a tenth and a fifth", 0, []audit.AuditedRun{pendingRun("a", "r", "s", "0.1")},
			[]*ledger.Entry{agentEntry(ledger.Approved, "a", "r1", "s1", "0.2")}, "0.3"},
		{"another agent", 0, []audit.AuditedRun{pendingRun("b", "r", "s", "1")},
			[]*ledger.Entry{agentEntry(ledger.Approved, "b", "r1", "s1", "1.10")}, "0"},
		{"approved and carried", 0, nil, []*ledger.Entry{first, carried}, "1.1"},
		{"the approval is revoked, what was carried stands", 0, nil,
			[]*ledger.Entry{first, carried, agentEntry(ledger.Revoked, "a", "r1", "s1", "1.10", referTo(first))}, "1.1"},
		{"superseded", 0, nil, []*ledger.Entry{first, agentEntry(ledger.Superseded, "a", "r1", "s1", "1.10", referTo(first)),
			agentEntry(ledger.Approved, "a", "r1", "s2", "3")}, "3"},
		{"taken back twice", 0, nil, []*ledger.Entry{first, agentEntry(ledger.Amended, "a", "r1", "s1", "1.10",
			referTo(first)), agentEntry(ledger.Revoked, "a", "r1", "s1", "1.10", referTo(first)),
			agentEntry(ledger.Approved, "a", "r1", "s1", "1.10", inPull(4))}, "1.1"},
		{"rejected and merged", 0, nil, []*ledger.Entry{agentEntry(ledger.Rejected, "a", "r1", "s1", "7"), first,
			agentEntry(ledger.Merged, "a", "r1", "s1", "1.10", referTo(first))}, "1.1"},
		{"the same run with other bytes was run again", 0, nil,
			[]*ledger.Entry{first, agentEntry(ledger.Approved, "a", "r1", "s2", "2")}, "3.1"},
		{"the same bytes again, at a lower cost", 0, []audit.AuditedRun{pendingRun("a", "r1", "s1", "0.01")},
			[]*ledger.Entry{first}, "1.1"},
		{"the same bytes again, at a higher cost", 0, []audit.AuditedRun{pendingRun("a", "r1", "s1", "4")},
			[]*ledger.Entry{first}, "4"},
		{"a run of this pull request as it stands now", 2, []audit.AuditedRun{pendingRun("a", "r1", "s2", "5")},
			[]*ledger.Entry{carried}, "5"},
		{"a receipt of this pull request for another run", 2, []audit.AuditedRun{pendingRun("a", "r9", "s9", "5")},
			[]*ledger.Entry{carried}, "6.1"},
		{"a receipt of another pull request for this run", 2, []audit.AuditedRun{pendingRun("a", "r1", "s2", "5")},
			[]*ledger.Entry{agentEntry(ledger.Approved, "a", "r1", "s1", "1.10", inPull(3))}, "6.1"},
		{"signed off at two costs", 0, nil, []*ledger.Entry{first, agentEntry(ledger.Approved, "a", "r1", "s1", "1.2",
			inPull(3)), agentEntry(ledger.Approved, "a", "r1", "s1", "0.2", inPull(4))}, "1.2"},
		{"a cost below nothing", 0, nil, []*ledger.Entry{first, agentEntry(ledger.Approved, "a", "r2", "s2", "-1000")},
			"1.1"},
		{"two runs here", 0, []audit.AuditedRun{pendingRun("a", "r2", "s2", "1"), pendingRun("a", "r3", "s3", "1.000001"),
			{Dir: "runs/x", Refused: "no"}}, []*ledger.Entry{first}, "3.100001"},
	} {
		cfg := config.Default()
		cfg.Governance.Agents = []config.AgentProfile{{Name: "a"}}
		got, err := historyOf(t, cfg, c.pull, c.audits, c.entries...).Spent("a", c.audits)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.what, got, err, c.want)
		}
	}
}

// TestSpendCap: more than the cap is a breach, the cap itself is not; without a cap nothing is.
func TestSpendCap(t *testing.T) {
	audits := []audit.AuditedRun{pendingRun("a", "r2", "s2", "30.00"), pendingRun("b", "r3", "s3", "49.99")}
	signed := agentEntry(ledger.Approved, "a", "r1", "s1", "20.00")
	for limit, want := range map[string]string{"50.00": "", "49.999999": "a", "": "", "0": "a b"} {
		cfg := config.Default()
		cfg.Governance.SpendCapUSD = limit
		var got []string
		for _, v := range CheckLimits(audits, cfg, historyOf(t, cfg, 1, audits, signed), gatetest.Nine) {
			got = append(got, v.Agent)
			if v.Kind != "spend_breach" || v.Draft == "" {
				t.Errorf("cap %q: %+v", limit, v)
			}
			if v.Agent == "a" &&
				!strings.Contains(
					v.Reason,
					"has spent 50 USD, 30 of it in this pull request; governance.spend_cap_usd is "+limit,
				) {
				t.Errorf("cap %q: %s", limit, v.Reason)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("cap %q: %q, want %q", limit, got, want)
		}
	}
}

// TestSpendCapBroken: what cannot be added up is a breach, never a pass.
func TestSpendCapBroken(t *testing.T) {
	cfg := config.Default()
	cfg.Governance.SpendCapUSD = "5"
	audits := []audit.AuditedRun{pendingRun("a", "r", "s", "12 EUR")}
	got := CheckLimits(audits, cfg, NewHistory(cfg, 0, audits), gatetest.Nine)
	if len(got) != 1 || got[0].Kind != "spend_breach" || !strings.Contains(got[0].Reason, "cannot be added up") {
		t.Errorf("%+v", got)
	}
	if err := NewHistory(cfg, 0, audits).Add(agentEntry(ledger.Approved, "a", "r", "s", "x")); err == nil ||
		!strings.Contains(err.Error(), "cost_usd") {
		t.Errorf("a recorded cost that is no number: %v", err)
	}
	if err := NewHistory(cfg, 0, audits).Add(agentEntry(ledger.Approved, "a", "r", "s", "1",
		mintedAt("yesterday"))); err == nil ||
		!strings.Contains(err.Error(), "minted_at") {
		t.Errorf("a recorded time that is none: %v", err)
	}
	for cost, draft := range map[string]bool{"9e399": false, "1e30": true} {
		entries := []*ledger.Entry{
			agentEntry(ledger.Approved, "a", "r1", "s1", cost),
			agentEntry(ledger.Approved, "a", "r2", "s2", cost),
		}
		paid := []audit.AuditedRun{pendingRun("a", "r", "s", "1")}
		got := CheckLimits(paid, cfg, historyOf(t, cfg, 0, paid, entries...), gatetest.Nine)
		if len(got) != 1 || got[0].Kind != "spend_breach" || (got[0].Draft != "") != draft {
			t.Errorf("costs of %s: %+v", cost, got)
		}
	}
	h := historyOf(
		t,
		cfg,
		0,
		audits,
		agentEntry(ledger.Approved, "a", "r1", "s1", "9.9e400"),
		agentEntry(ledger.Approved, "a", "r2", "s2", "9.9e400"),
	)
	if got := CheckLimits([]audit.AuditedRun{pendingRun("a", "r", "s", "1")}, cfg, h, gatetest.Nine); len(got) != 1 ||
		!strings.Contains(got[0].Reason, "cannot be added up") {
		t.Errorf("a sum beyond all numbers: %+v", got)
	}
	if _, err := h.Spent("a", nil); err == nil {
		t.Error("a sum beyond all numbers is given")
	}
	cfg.Governance.SpendCapUSD = "five"
	if got := CheckLimits(audits, cfg, NewHistory(cfg, 0, audits), gatetest.Nine); len(got) != 1 ||
		!strings.Contains(got[0].Reason, "cannot be read") {
		t.Errorf("a cap that is no number: %+v", got)
	}
}

// TestUnlisted: only the agents of a declared list work, by their exact names.
func TestUnlisted(t *testing.T) {
	report := pendingRun("", "report", "s", "")
	report.Work.Run.Lane = "incident"
	filed := pendingRun("clerk", "filed", "s", "")
	filed.Work.Run.Lane = "incident"
	audits := []audit.AuditedRun{
		pendingRun("a", "r1", "s1", ""),
		pendingRun("A", "r2", "s2", ""),
		pendingRun("", "r3", "s3", ""),
		pendingRun("A", "r4", "s4", ""),
		report,
		filed,
	}
	cfg := config.Default()
	if got := CheckLimits(audits, cfg, NewHistory(cfg, 0, audits), gatetest.Nine); got != nil {
		t.Errorf("without a list any agent works: %+v", got)
	}
	cfg.Governance.Agents = []config.AgentProfile{{Name: "a"}, {Name: "other"}}
	var got []string
	for _, v := range CheckLimits(audits, cfg, NewHistory(cfg, 0, audits), gatetest.Nine) {
		got = append(got, v.Kind+" "+v.Agent)
	}
	if want := []string{"rogue A", "rogue ", "rogue clerk"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMisstatedProfile: the governance says what the engine says, where a pinned profile is misstated and nowhere else.
func TestMisstatedProfile(t *testing.T) {
	for what, pinned := range map[string]referee.Agent{
		"the same": {Model: "example-70b-instruct", CapabilityTier: "frontier", ParamsB: "70",
			Tools: []string{"calculator", "document_reader"}, ToolsKnown: true},
		"another model": {Model: "example-8b"},
		"a lower tier":  {CapabilityTier: "small"},
		"fewer tools":   {Tools: []string{"calculator"}, ToolsKnown: true},
		"not stated":    {VRAMGB: "80"},
	} {
		pinned.Name, pinned.Pinned = "underwriter", true
		cfg := config.Default()
		cfg.Governance.Agents = []config.AgentProfile{{Name: "underwriter", Profile: pinned}}
		a := audit.Examine(
			gatetest.SampleDeal(t, "oak-street"),
			audit.PlannedRun{Dir: "runs/oak-street", Rule: cfg.Runs[0]},
			gatetest.Library(),
			cfg,
			nil,
		)
		got := CheckLimits([]audit.AuditedRun{a}, cfg, NewHistory(cfg, 0, []audit.AuditedRun{a}), gatetest.Nine)
		want := what != "the same" && what != "not stated"
		if (len(got) == 1) != want ||
			want &&
				(got[0].Kind != "policy_violation" || got[0].Draft == "" ||
					!strings.Contains(got[0].Reason, "oak-street")) {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// resolvedIncident is an incident that unlocks a lane.
func resolvedIncident(by string, receipts ...*ledger.Entry) *ledger.Entry {
	in := &ledger.Incident{
		Kind:     "recurring_flag",
		Lane:     "agent",
		Status:   "resolved",
		Response: []string{"repair_task_recommended"},
	}
	for _, e := range receipts {
		in.Receipts = append(in.Receipts, e.Hash)
	}
	return agentEntry(
		ledger.Approved,
		by,
		"unlock",
		"s9",
		"",
		func(r *ledger.Receipt) { r.Run.Lane, r.Incident = "incident", in },
	)
}

func editIncident(e *ledger.Entry, edit func(*ledger.Incident)) *ledger.Entry {
	edit(e.Receipt.Incident)
	return e
}

// TestRecurringFlags: which audits count towards a lock, and what lifts it.
func TestRecurringFlags(t *testing.T) {
	one := agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("dscr"))
	two := agentEntry(ledger.Withdrawn, "a", "r2", "s2", "", highDefects("ltv"), closedBy("Runner"))
	yes := agentEntry(ledger.Approved, "a", "r3", "s3", "", highDefects("dscr"))
	accepted := agentEntry(
		ledger.Approved,
		"a",
		"r4",
		"s4",
		"",
		highDefects("dscr"),
		inBucket("deal-finding"),
		func(r *ledger.Receipt) { r.Accepted = []ledger.Waiver{{RuleID: "dscr"}} },
	)
	unlock := resolvedIncident("", one, two)
	withdrawn := func(edits ...func(*ledger.Receipt)) *ledger.Entry {
		return agentEntry(ledger.Withdrawn, "a", "r2", "s2", "", append(edits, highDefects("ltv"))...)
	}
	for _, c := range []struct {
		what    string
		entries []*ledger.Entry
		want    bool
	}{
		{"one audit", []*ledger.Entry{one}, false},
		{"rejected and withdrawn", []*ledger.Entry{one, two}, true},
		{"rejected, and withdrawn by somebody else", []*ledger.Entry{one, withdrawn(closedBy("mallory"))}, false},
		{"withdrawn, and nobody says who", []*ledger.Entry{one, withdrawn()}, false},
		{"withdrawn by the operator of another agent", []*ledger.Entry{one, withdrawn(closedBy("clerk"))}, false},
		{"the operator closes somebody else's work",
			[]*ledger.Entry{one, withdrawn(closedBy("runner"), addedBy("", "mallory"))}, false},
		{"somebody else closes the operator's work",
			[]*ledger.Entry{one, withdrawn(closedBy("wim"), addedBy("", "runner"))}, true},
		{"of both", []*ledger.Entry{one, withdrawn(closedBy("runner"), addedBy("runner", "mallory"))}, false},
		{"right analyses of bad deals", []*ledger.Entry{agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("x"),
			inBucket("deal-finding")), agentEntry(ledger.Approved, "a", "r2", "s2", "", highDefects("x"),
			inBucket("deal-finding"))}, false},
		{"the wrong agent for the work", []*ledger.Entry{one, agentEntry(ledger.Rejected, "a", "r2", "s2", "",
			highDefects("x"), inBucket("stack-fit"))}, false},
		{"rejected and approved", []*ledger.Entry{one, yes}, true},
		{"merged without a receipt",
			[]*ledger.Entry{one, agentEntry(ledger.Unreceipted, "a", "r5", "s5", "", highDefects("x"))}, true},
		{"one audit twice", []*ledger.Entry{one, agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("dscr"),
			mintedAt("2026-11-21T09:00:00Z"))}, false},
		{"two revisions in one pull request",
			[]*ledger.Entry{agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("x"), inPull(3)),
				agentEntry(ledger.Rejected, "a", "r1", "s2", "", highDefects("x"), inPull(3))}, false},
		{"one run in two pull requests", []*ledger.Entry{agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("x"),
			inPull(3)), agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("x"), inPull(4))}, true},
		{"two runs of this very pull request",
			[]*ledger.Entry{agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("x"), inPull(9)),
				agentEntry(ledger.Rejected, "a", "r2", "s2", "", highDefects("x"), inPull(9))}, false},
		{"an entry about an audit", []*ledger.Entry{yes, agentEntry(ledger.Merged, "a", "r6", "s3", "", highDefects("dscr"),
			referTo(yes)), agentEntry(ledger.Revoked, "a", "r7", "s3", "", highDefects("dscr"), referTo(yes))}, false},
		{"a deal that the client accepts", []*ledger.Entry{one, accepted}, false},
		{"more high findings than a receipt holds", []*ledger.Entry{one, agentEntry(ledger.Rejected, "a", "r8", "s8", "",
			func(r *ledger.Receipt) { r.Verdict.Risk.High = 1 })}, true},
		{"another agent's", []*ledger.Entry{one, agentEntry(ledger.Rejected, "b", "r2", "s2", "", highDefects("x"))}, false},
		{"another lane's", []*ledger.Entry{one, agentEntry(ledger.Rejected, "a", "r2", "s2", "", highDefects("x"),
			func(r *ledger.Receipt) { r.Run.Lane = "compute" })}, false},
		{"no critical finding", []*ledger.Entry{one, agentEntry(ledger.Rejected, "a", "r2", "s2", "",
			func(r *ledger.Receipt) {
				r.Findings, r.Verdict.Risk.Mid = []ledger.Finding{{Tier: "mid", Severity: "noncritical"}}, 1
			})}, false},
		{"no audit in it", []*ledger.Entry{one,
			{Hash: two.Hash, Receipt: &ledger.Receipt{Kind: ledger.Withdrawn, MintedAt: two.Receipt.MintedAt}}}, false},
		{"resolved", []*ledger.Entry{one, two, unlock}, false},
		{"resolved for one of them", []*ledger.Entry{one, two, resolvedIncident("", two)}, false},
		{"resolved for another", []*ledger.Entry{one, two, resolvedIncident("", yes)}, true},
		{"flagged again after it", []*ledger.Entry{one, two, unlock, yes, agentEntry(ledger.Rejected, "a", "r5", "s5", "",
			highDefects("x"))}, true},
		{"the incident is taken back", []*ledger.Entry{one, two, unlock, agentEntry(ledger.Revoked, "", "unlock", "s9", "",
			referTo(unlock))}, true},
		{"still open", []*ledger.Entry{one, two,
			editIncident(resolvedIncident("", one, two), func(i *ledger.Incident) { i.Status = "open" })}, true},
		{"another lane", []*ledger.Entry{one, two,
			editIncident(resolvedIncident("", one, two), func(i *ledger.Incident) { i.Lane = "compute" })}, true},
		{"another kind", []*ledger.Entry{one, two,
			editIncident(resolvedIncident("", one, two), func(i *ledger.Incident) { i.Kind = "rogue" })}, true},
		{"resolved and still locked", []*ledger.Entry{one, two,
			editIncident(resolvedIncident("", one, two), func(i *ledger.Incident) { i.Response = []string{"lane_locked"} })},
			true},
		{"resolved, and nobody signed it off", []*ledger.Entry{one, two,
			func() *ledger.Entry { e := resolvedIncident("", one, two); e.Receipt.Kind = ledger.Rejected; return e }()}, true},
		{"by the locked agent itself", []*ledger.Entry{one, two, resolvedIncident("a", one, two)}, true},
		{"by another agent", []*ledger.Entry{one, two, resolvedIncident("recorder", one, two)}, false},
	} {
		audits := []audit.AuditedRun{pendingRun("a", "now", "s0", ""), pendingRun("a", "now2", "s00", "")}
		cfg := config.Default()
		cfg.Governance.Agents = []config.AgentProfile{
			{Name: "a", Operators: []string{"runner"}},
			{Name: "b", Operators: []string{"clerk"}},
		}
		got := CheckLimits(audits, cfg, historyOf(t, cfg, 9, audits, c.entries...), gatetest.Nine)
		if (len(got) == 1) != c.want || len(got) > 1 ||
			c.want &&
				(got[0].Kind != "recurring_flag" || !strings.Contains(got[0].Reason, "locked out of the lane agent")) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// TestDark: silence is longer than the heartbeat, counted from the last entry of the agent, or from the ledger's first.
func TestDark(t *testing.T) {
	cfg := config.Default()
	cfg.Governance.Agents = []config.AgentProfile{{Name: "a"}, {Name: "never"}}
	first := agentEntry(ledger.Approved, "x", "r", "s", "", mintedAt("2026-11-20T08:00:00Z"))
	seen := agentEntry(ledger.Rejected, "a", "r", "s", "", mintedAt("2026-11-20T08:30:00Z"))
	late := agentEntry(
		ledger.Approved,
		"a",
		"r2",
		"s2",
		"",
		mintedAt("2026-11-20T08:10:00Z"),
	) // minted late: minted_at may be out of order
	for _, c := range []struct {
		minutes int
		now     string
		want    []string
		entries []*ledger.Entry
	}{
		{0, "2027-01-01T00:00:00Z", nil, []*ledger.Entry{first}},
		{30, "2026-11-20T09:00:00Z", []string{"never"}, []*ledger.Entry{first, seen, late}},
		{30, "2026-11-20T09:00:01Z", []string{"a", "never"}, []*ledger.Entry{first, seen, late}},
		{60, "2026-11-20T09:00:00Z", nil, []*ledger.Entry{first, seen}},
		{30, "2026-11-20T07:00:00Z", nil, []*ledger.Entry{first, seen}},
		{30, "2027-01-01T00:00:00Z", nil, nil},
	} {
		cfg.Governance.HeartbeatMinutes = c.minutes
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range SilentAgents(cfg, historyOf(t, cfg, 0, nil, c.entries...), now) {
			got = append(got, v.Agent)
			if v.Kind != "dark" || v.Draft == "" || !strings.Contains(v.Reason, "governance.heartbeat_minutes is 30") {
				t.Errorf("%+v", v)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d minutes at %s: %q, want %q", c.minutes, c.now, got, c.want)
		}
	}
}

// TestHistoryKeepsLittle: entries of agents that nobody asks about leave nothing behind, however many there are.
func TestHistoryKeepsLittle(t *testing.T) {
	cfg := config.Default()
	audits := []audit.AuditedRun{pendingRun("a", "now", "s", "")}
	h := NewHistory(cfg, 0, audits)
	entry := agentEntry(ledger.Approved, "b", "r", "s", "1", highDefects("x"))
	for range 100_000 {
		if err := h.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.live)+len(h.laneUnlocks)+len(h.agentTracks["a"].works)+len(h.agentTracks["a"].flags) != 0 ||
		len(h.agentTracks) != 1 {
		t.Errorf("%d sign-offs of %d agents are kept", len(h.live), len(h.agentTracks))
	}
}
