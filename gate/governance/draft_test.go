package governance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// applyPatch is what a patch of new files adds, read without git.
func applyPatch(t *testing.T, patch string) fstest.MapFS {
	t.Helper()
	out, name := fstest.MapFS{}, ""
	for line := range strings.Lines(patch) {
		if to, ok := strings.CutPrefix(line, "+++ b/"); ok {
			name = strings.TrimSpace(to)
			out[name] = &fstest.MapFile{}
		} else if name != "" && strings.HasPrefix(line, "+") {
			out[name].Data = append(out[name].Data, line[1:]...)
		} else if strings.HasPrefix(line, "diff ") {
			name = ""
		}
	}
	if len(out) < 4 {
		t.Fatalf("the draft adds %d files:\n%s", len(out), patch)
	}
	return out
}

// incidentWork audits the run of a draft.
func incidentWork(t *testing.T, tree fstest.MapFS) receipt.Work {
	t.Helper()
	dirs, err := fs.Glob(tree, "*/*/run.json")
	if err != nil || len(dirs) != 1 {
		t.Fatalf("runs %q, %v", dirs, err)
	}
	return gatetest.AuditSample(t, withRuns(tree), strings.Split(dirs[0], "/")[1], nil)
}

// withRuns lets a run be found under runs/, wherever the configuration wants it.
func withRuns(tree fstest.MapFS) fstest.MapFS {
	out := fstest.MapFS{}
	for name, f := range tree {
		_, rest, _ := strings.Cut(name, "/")
		out["runs/"+rest] = f
	}
	return out
}

// violationKinds make one of each kind, by a ledger that holds what they name.
func violationKinds(t *testing.T, name string) (*ledger.MemStore, map[string]Violation) {
	t.Helper()
	store, in := &ledger.MemStore{}, gatetest.Samples(nil)
	cfg := config.Default()
	cfg.Governance = config.Governance{MaxRecurringCritical: 2, SpendCapUSD: "3.00", HeartbeatMinutes: 90,
		Agents: []config.AgentProfile{
			{
				Name: "underwriter",
				Profile: referee.Agent{
					Name:       "underwriter",
					Model:      "example-8b",
					Tools:      []string{"calculator"},
					ToolsKnown: true,
					Pinned:     true,
				},
			},
		}}
	plan := func(run string) audit.PlannedRun { return audit.PlannedRun{Dir: "runs/" + run, Rule: cfg.Runs[0]} }
	audits := []audit.AuditedRun{audit.Examine(in, plan("oak-street"), gatetest.Library(), cfg, nil)}
	stranger := gatetest.SampleDeal(t, "maple-court", [3]string{"run.json", `"underwriter"`, name})
	audits = append(audits, audit.Examine(stranger, plan("maple-court"), gatetest.Library(), cfg, nil))
	for _, a := range audits {
		if a.Work == nil {
			t.Fatal(a.Refused)
		}
	}
	h := NewHistory(cfg, 0, audits)
	for i, run := range []string{"maple-court", "birch-hall", "elm-plaza"} {
		l := receipt.Local{Name: "ann", At: gatetest.Nine.Add(time.Duration(i) * 26 * time.Hour), Reject: "no"}
		if run == "maple-court" {
			l.Reject, l.Answers = "", gatetest.BothTrue
		}
		w := gatetest.AuditSample(t, in, strings.Replace(run, "birch-hall", "elm-plaza", 1), nil)
		w.Run.ID = run // the same work, handed in again as another run
		if err := h.Add(gatetest.MintNew(t, store, w, l)); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]Violation{}
	now := gatetest.Nine.Add(240 * time.Hour)
	for _, v := range append(CheckLimits(audits, cfg, h, now), SilentAgents(cfg, h, now)...) {
		out[v.Kind] = v
	}
	return store, out
}

// TestDrafts: each kind's draft is a true record, so its sheet finds nothing wrong with it, and it mints when a person
// approves it.
//
// Source: 001 #89.
func TestDrafts(t *testing.T) {
	store, all := violationKinds(t, `"stranger"`)
	for kind, want := range map[string]struct {
		sheet    string
		receipts int
		answers  []string
	}{
		"spend_breach":     {"incident-spend-cap", 1, []string{"cap_change_approved", "affected_runs_listed"}},
		"recurring_flag":   {"incident-lane-lock", 2, []string{"oncall_acknowledged", "client_notified"}},
		"dark":             {"incident-rogue-agent", 0, []string{"token_owner_checked", "outputs_quarantined"}},
		"rogue":            {"incident-rogue-agent", 0, []string{"token_owner_checked", "outputs_quarantined"}},
		"policy_violation": {"incident-rogue-agent", 0, []string{"token_owner_checked", "outputs_quarantined"}},
	} {
		v := all[kind]
		w := incidentWork(t, applyPatch(t, v.Draft))
		local := receipt.Local{Name: "ann", At: gatetest.Nine.Add(time.Duration(240+24*len(kind)) * time.Hour)}
		for _, f := range w.Report.Findings {
			t.Errorf("%s: %s %v %s", kind, f.Tier, f.RuleIDs, f.Message)
		}
		for _, id := range want.answers {
			local.Answers = append(local.Answers, ledger.Answer{ID: id, Answer: "satisfied"})
		}
		in := gatetest.MintNew(t, store, w, local).Receipt.Incident
		if w.Sheet.Slug != want.sheet || in.Kind != kind || in.Status != "open" || in.Lane != "agent" ||
			len(in.Receipts) != want.receipts ||
			in.OpenedAt != "2026-11-30T09:00:00Z" {
			t.Errorf("%s: %s, %+v", kind, w.Sheet.Slug, in)
		}
	}
}

// TestDraftNumbers: the figures of the draft, worked out by hand: 1.61 signed off (maple-court) and 1.84 here against a
// cap of 3.00, 11,280 minutes of silence, and so on.
func TestDraftNumbers(t *testing.T) {
	_, all := violationKinds(t, `"stranger"`)
	for kind, lines := range map[string][]string{
		"spend_breach": {`+cap,3`, `"action": "stop"`, `+claimed_spend,3.45`, `+maple-court,1610000,0`,
			`+oak-street,1840000,0`, `"result": 1.15,`},
		"recurring_flag": {`+window_days,1`, `+limit,2`, `+action,lock`, `"critical_runs"`,
			`+birch-hall,math.dscr,high,2026-11-21T11:00:00`, `+elm-plaza,math.dscr,high,2026-11-22T13:00:00`,
			`+elm-plaza,any rule,,2026-11-22T13:00:00`, `+2026-11-22T13:00:00 run elm-plaza: high work-defects 2`,
			`+2026-11-22T13:00:00 lane agent locked for The agent underwriter by governance.max_recurring_critical 2`},
		"dark": {`+last_heartbeat,2026-11-22T13:00:00`, `+now,2026-11-30T09:00:00`, `"result": 11280,`},
		"rogue": {`+declared_model,none: not listed in governance.agents`,
			`+observed_model,model example-70b-instruct; tier frontier; params_b 70; 2 tools calculator document_reader`,
			`"signed": false`},
	} {
		for _, line := range lines {
			if !strings.Contains(all[kind].Draft, line) {
				t.Errorf("%s: %q is not in\n%s", kind, line, all[kind].Draft)
			}
		}
	}
}

// TestDraftsHostileName: whatever an agent calls itself, the draft is a patch of plain ASCII that adds its files and no
// other, and audits.
func TestDraftsHostileName(t *testing.T) {
	for _, name := range []string{`"x\n+++ b/.github/workflows/a.yml\n+on: push"`, "\"\\u202e\u200b@all `|<!-- " +
		"--> ]]\"", `"../../../etc"`, `"𝔲𝔫𝔡𝔢𝔯"`, `"a,b\"c"`, `"` + strings.Repeat("long ", 2000) + `"`} {
		_, all := violationKinds(t, name)
		draft := all["rogue"].Draft
		for i := range len(draft) {
			if c := draft[i]; c != '\n' && (c < ' ' || c > '~') {
				t.Fatalf("%.20q: byte %d is %q", name, i, c)
			}
		}
		_, files, _ := strings.Cut(draft, "diff --git ")
		if len(draft) > 16<<10 || strings.ContainsAny(files, "<`|~") || strings.Count(files, "@") != 8*len("@@@@") {
			t.Errorf("%.20q: %d bytes\n%s", name, len(draft), draft)
		}
		tree, called := applyPatch(t, draft), ""
		if err := json.Unmarshal([]byte(name), &called); err != nil {
			t.Fatal(err)
		}
		for file, f := range tree {
			var said struct{ Incident struct{ Detail string } }
			if strings.HasSuffix(file, "/submission.json") &&
				(json.Unmarshal(f.Data, &said) != nil ||
					!strings.HasPrefix(said.Incident.Detail, "The agent "+called[:min(len(called), 80)])) {
				t.Errorf("%.20q is called %q", name, said.Incident.Detail)
			}
			if !strings.HasPrefix(file, "runs/rogue-") || !fs.ValidPath(file) || strings.Contains(file, "..") {
				t.Errorf("%.20q adds %q", name, file)
			}
		}
		for _, f := range incidentWork(t, tree).Report.Findings {
			if f.Code != "evidence.hidden_text" { // a name that hides something is said to
				t.Errorf("%.20q: %+v", name, f)
			}
		}
	}
}

// TestDraftApplies: git takes the patch as it is.
func TestDraftApplies(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	_, all := violationKinds(t, `"stranger"`)
	for kind, v := range all {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "incident.patch"), []byte(v.Draft), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), git, "apply", "--whitespace=error-all", "incident.patch")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", kind, err, out)
		}
		for name, f := range applyPatch(t, v.Draft) {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(f.Data) {
				t.Errorf("%s: %s: %v", kind, name, err)
			}
		}
	}
}

// TestDraftFolder: a draft stands where the configuration lets its sheet judge, and says so where that is nowhere.
func TestDraftFolder(t *testing.T) {
	for _, c := range []struct {
		rules []config.RunRule
		want  string
	}{
		{[]config.RunRule{{Path: "runs/**/run.json", Sheets: []string{"*"}}}, "runs/"},
		{[]config.RunRule{{Path: "runs/**/run.json", Sheets: []string{"*"}, Lane: "agent"},
			{Path: "ops/*/run.json", Sheets: []string{"incident-rogue-agent@^1"}, Lane: "incident"}}, "ops/"},
		{[]config.RunRule{{Path: "runs/**/run.json", Sheets: []string{"other"}},
			{Path: "runs/*/run.json", Sheets: []string{"*"}}}, ""},
		{[]config.RunRule{{Path: "deals/*/final/run.json", Sheets: []string{"*"}}}, ""},
	} {
		cfg := config.Default()
		cfg.Runs = c.rules
		d := &incidentDrafter{cfg: cfg, at: gatetest.Nine, agent: "a"}
		draft := d.draftSilent(&config.AgentProfile{Name: "a"}, gatetest.Nine, "agent")
		said := strings.Contains(draft, "No entry of runs in "+config.Path+" lets the sheet incident-rogue-agent judge")
		if want := c.want; said != (want == "") || !strings.Contains(draft, "+++ b/"+want) ||
			want == "" && !strings.Contains(draft, "+++ b/incidents/dark-a-") {
			t.Errorf("%+v: %s", c.rules, draft)
		}
	}
}

// TestDraftOfManyRuns: older pieces of work are one line, and the sum stays what it is. A cap of nothing is still a
// draft that audits.
func TestDraftOfManyRuns(t *testing.T) {
	for _, limit := range []string{"0", "9.99"} {
		cfg := config.Default()
		cfg.Governance.SpendCapUSD = limit
		audits := []audit.AuditedRun{pendingRun("a", "now", "s", "0.000001")}
		h := NewHistory(cfg, 0, audits)
		for i := range 1000 {
			if err := h.Add(agentEntry(ledger.Approved, "a", fmt.Sprintf("run-%d", i), fmt.Sprint(i), "0.01")); err != nil {
				t.Fatal(err)
			}
		}
		got := CheckLimits(audits, cfg, h, gatetest.Nine)
		if len(got) != 1 {
			t.Fatalf("%+v", got)
		}
		w := incidentWork(t, applyPatch(t, got[0].Draft))
		if len(w.Report.Findings) != 0 || len(got[0].Draft) > 16<<10 ||
			!strings.Contains(got[0].Draft, "+982 earlier runs,9820000,0\n") ||
			!strings.Contains(got[0].Draft, "+claimed_spend,10.000001\n") {
			t.Errorf("%+v\n%s", w.Report.Findings, got[0].Draft)
		}
	}
}

// TestLockAtOne: one audit is no recurrence for the sheet; the draft says so and leaves it to a person.
func TestLockAtOne(t *testing.T) {
	cfg := config.Default()
	cfg.Governance.MaxRecurringCritical = 1
	audits := []audit.AuditedRun{pendingRun("a", "now", "s", "")}
	got := CheckLimits(
		audits,
		cfg,
		historyOf(t, cfg, 0, audits, agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("dscr"))),
		gatetest.Nine,
	)
	w := incidentWork(t, applyPatch(t, got[0].Draft))
	if f := w.Report.Findings; len(f) != 1 || f[0].Tier != referee.Mid || f[0].RuleIDs[0] != "recurrence" {
		t.Errorf("%+v", f)
	}
}

// TestUnlock: the draft, signed off as resolved, lifts the lock; signed off as it is, it does not.
func TestUnlock(t *testing.T) {
	store, all := violationKinds(t, `"stranger"`)
	for _, c := range []struct {
		edits []string
		want  int
	}{
		{nil, 1},
		{[]string{`"status": "open"`, `"status": "resolved"`}, 1},
		{[]string{`"status": "open"`, `"status": "resolved"`, "      \"lane_locked\",\n", ""}, 0},
	} {
		tree := applyPatch(t, all["recurring_flag"].Draft)
		for name, f := range tree {
			if strings.HasSuffix(name, "/submission.json") {
				f.Data = []byte(strings.NewReplacer(c.edits...).Replace(string(f.Data)))
			}
		}
		w := incidentWork(t, tree)
		gatetest.MintNew(
			t,
			store,
			w,
			receipt.Local{Name: "ann", At: gatetest.Nine.Add(time.Duration(300+c.want+len(c.edits)) * time.Hour),
				Answers: []ledger.Answer{
					{ID: "oncall_acknowledged", Answer: "satisfied"},
					{ID: "client_notified", Answer: "satisfied"},
				}},
		)
		cfg := config.Default()
		audits := []audit.AuditedRun{pendingRun("underwriter", "now", "s", "")}
		if got := CheckLimits(audits, cfg, historyOf(t, cfg, 0, audits, inOrder(t, store)...), gatetest.Nine); len(
			got,
		) != c.want {
			t.Errorf("%q: %+v", c.edits, got)
		}
	}
}

// inOrder are the entries of a ledger, oldest first.
func inOrder(t *testing.T, store ledger.Store) []*ledger.Entry {
	t.Helper()
	at, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []*ledger.Entry
	for e, err := range ledger.Backwards(t.Context(), store, at) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

// TestLockOutOfOrder: minted_at may be out of order; the lock is dated by the last flag and its window by the first.
func TestLockOutOfOrder(t *testing.T) {
	cfg := config.Default()
	audits := []audit.AuditedRun{pendingRun("a", "now", "s", "")}
	late := agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("x"), mintedAt("2026-11-20T09:00:00Z"))
	early := agentEntry(ledger.Rejected, "a", "r2", "s2", "", highDefects("y"), mintedAt("2026-11-17T23:00:00Z"))
	draft := CheckLimits(audits, cfg, historyOf(t, cfg, 0, audits, late, early), gatetest.Nine)[0].Draft
	w := incidentWork(t, applyPatch(t, draft))
	if len(w.Report.Findings) != 0 || !strings.Contains(draft, "+window_days,3\n") ||
		!strings.Contains(draft, "+last_flag,2026-11-20T09:00:00\n") {
		t.Errorf("%+v\n%s", w.Report.Findings, draft)
	}
}

// TestDarkMinutes: the silence is stated to the second.
func TestDarkMinutes(t *testing.T) {
	cfg := config.Default()
	cfg.Governance.Agents, cfg.Governance.HeartbeatMinutes = []config.AgentProfile{{Name: "a"}}, 1
	h := historyOf(t, cfg, 0, nil, agentEntry(ledger.Approved, "a", "r", "s", "", mintedAt("2026-11-20T08:58:15Z")))
	draft := SilentAgents(cfg, h, gatetest.Nine)[0].Draft
	w := incidentWork(t, applyPatch(t, draft))
	if len(w.Report.Findings) != 0 || !strings.Contains(draft, `"result": 1.750000,`) {
		t.Errorf("%+v\n%s", w.Report.Findings, draft)
	}
}

// TestLockCounts: the sheet counts the flags of each audit in the draft's files, also where two audits are of one run,
// a receipt lists a rule twice or none, and a name has what a table cannot hold.
func TestLockCounts(t *testing.T) {
	cfg := config.Default()
	cfg.Governance.MaxRecurringCritical = 4
	audits := []audit.AuditedRun{pendingRun("a", "now", "s", "")}
	unlisted := func(r *ledger.Receipt) { r.Verdict.Risk.High = 7 }
	draft := CheckLimits(audits, cfg, historyOf(t, cfg, 0, audits, agentEntry(ledger.Rejected, "a", "r1", "s1", "",
		inPull(1), highDefects("x", "y", "x")),
		agentEntry(ledger.Rejected, "a", "r1", "s2", "", inPull(2), highDefects("x")), agentEntry(ledger.Rejected, "a", "r2",
			"s3",
			"", unlisted),
		agentEntry(ledger.Rejected, "a", "r,\"3", "s4", "", highDefects("x"))), gatetest.Nine)[0].Draft
	w := incidentWork(t, applyPatch(t, draft))
	if len(w.Report.Findings) != 0 {
		t.Errorf("%+v\n%s", w.Report.Findings, draft)
	}
	for _, line := range []string{"+r1,x,high,2026-11-20T09:00:00\n+r1,y,high,", "+r2,a rule that the receipt " +
		"does not list,high,", "+r_3,x,high,", "run r1: high work-defects 3\n", "run r2: high work-defects 7\n"} {
		if !strings.Contains(draft, line) {
			t.Errorf("%q is not in\n%s", line, draft)
		}
	}
	if strings.Count(draft, "+r1 in the receipt ") != 3 { // its day, its rule, and that it had some
		t.Errorf("the second audit of r1:\n%s", draft)
	}
}

// TestProfilesApart: two profiles that differ only in what a table cannot hold are two profiles in the draft, and the
// same in all its files.
func TestProfilesApart(t *testing.T) {
	for _, c := range [][2]string{{"m/70b", "m,70b"}, {"m\n70b", "m 70b"}, {"\U0001d532", "\U0001d533"},
		{"m_70b", "m/70b"}, {"=m", "\"m"}} {
		cfg := config.Default()
		d := &incidentDrafter{cfg: cfg, at: gatetest.Nine, agent: "a"}
		tools := []string{"a,b", "=c", " d ", "\u202e", "e\"f"}
		draft := d.draftMismatch(
			&receipt.Work{
				Run: &referee.Run{ID: "r", Lane: "agent", Agent: referee.Agent{Name: "a", Model: c[1], Tools: tools}},
			},
			&referee.Agent{Name: "a", Model: c[0], Tools: tools},
		)
		// The sheet's alert_label holds a rogue alert only where the two profiles differ.
		if got := incidentWork(t, applyPatch(t, draft)).Report.Findings; len(got) > 0 ||
			!strings.Contains(draft, `"alert": "rogue"`) {
			t.Errorf("%q: %+v\n%s", c, got, draft)
		}
	}
}
