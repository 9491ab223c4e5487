package rulebook

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
)

// strictConfig is as strict as a configuration can be.
const strictConfig = `version: 1
branches: [main, release]
runs:
  - {path: "deals/**/run.json", sheets: [loan@^1, lease], lane: agent}
  - {path: "ops/*/run.json", sheets: ["*"], lane: incident}
flight_sheets: law
ledger: {branch: ledger}
fail_on: low
accept: none
evidence: base_only
approval: {minimum_permission: admin, count: 2, teams: [org/risk], digest_required: true}
governance:
  max_recurring_critical: 2
  spend_cap_usd: "50.00"
  heartbeat_minutes: 60
  agents:
    - {name: a, emails: [a@b], operators: [bot-a], model: m, tools: [t]}
    - {name: b}
  agent_trailers: [c@d]
`

// TestLoosened: each way to let more through is said, and its opposite is not.
func TestLoosened(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"[main, release]", "[main]", "branches: release is no longer gated with rules of its own"},
		{"[main, release]", "[main, release, wild]", "branches: wild brings its own configuration and sheets now: " +
			"protect it"},
		{"ops/*/", "ops/**/", "runs: ops/*/run.json is no longer gated by a rule of its own"},
		{"[loan@^1, lease]", "[loan@^1, lease, lax]", "runs: lax may now judge deals/**/run.json"},
		{"[loan@^1, lease]", "[loan, lease]", "runs: loan may now judge deals/**/run.json"},
		{"[loan@^1, lease]", `["*"]`, "runs: the pull request chooses the sheet for deals/**/run.json"},
		{", lane: agent}", "}", "runs: deals/**/run.json accepted only the lane agent and now accepts any"},
		{", lane: incident}", ", lane: cook}", "runs: ops/*/run.json accepted only the lane incident and now accepts the " +
			"lane cook"},
		{"runs:\n", "runs:\n  - {path: \"deals/x/run.json\", sheets: [lease]}\n", "runs: the new pattern " +
			"deals/x/run.json comes before older ones and may take over their folders"},
		{"flight_sheets: law", "flight_sheets: lax", "flight_sheets moves from law to lax"},
		{"{branch: ledger}", "{branch: fresh}", "ledger moves from ledger to fresh: earlier receipts stay behind"},
		{"{branch: ledger}", "{branch: ledger, repository: o/r}", "ledger moves from ledger to o/r:ledger: " +
			"earlier receipts stay behind"},
		{"fail_on: low", "fail_on: mid", "fail_on goes from low to mid"},
		{"fail_on: low", "fail_on: never", "fail_on goes from low to never"},
		{"accept: none", "accept: deal-finding", "accept goes from none to deal-finding"},
		{"evidence: base_only", "evidence: any", "evidence goes from base_only to any"},
		{"admin,", "maintain,", "approval.minimum_permission goes from admin to maintain"},
		{"count: 2", "count: 1", "approval.count goes from 2 to 1"},
		{"[org/risk]", "[]", "approval.teams is empty: anybody with the permission approves"},
		{"[org/risk]", "[org/risk, org/all]", "approval.teams: org/all may approve now"},
		{"digest_required: true", "digest_required: false", "approval.digest_required is turned off"},
		{"digest_required: true", "digest_required: true, allow_author: true", "approval.allow_author is turned on"},
		{"digest_required: true", "digest_required: true, allow_committers: true", "approval.allow_committers is " +
			"turned on"},
		{"digest_required: true", "digest_required: true, self_sign: true", "approval.self_sign is turned on"},
		{"fail_on: low", "fail_on: low\ncarry_on_rebase: true", "carry_on_rebase is turned on"},
		{"critical: 2", "critical: 3", "governance.max_recurring_critical goes from 2 to 3"},
		{`"50.00"`, `"50.01"`, "governance.spend_cap_usd goes from 50.00 to 50.01"},
		{"  spend_cap_usd: \"50.00\"\n", "", "governance.spend_cap_usd is removed: it was 50.00"},
		{"minutes: 60", "minutes: 61", "governance.heartbeat_minutes goes from 60 to 61"},
		{"minutes: 60", "minutes: 0", "governance.heartbeat_minutes is turned off: it was 60"},
		{"    - {name: b}\n", "", `governance.agents: "b" is removed, and its profile is no longer pinned`},
		{"    - {name: b}\n", "    - {name: b}\n    - {name: c}\n", `governance.agents: "c" may work now`},
		{"model: m", "model: n", `governance.agents: the profile of "a" was model m; 1 tools t and is model n; 1 ` +
			`tools t`},
		{"[c@d]", "[c@d, x@y]", "governance.agent_trailers: x@y now names an agent in a Co-authored-by, not " +
			"an unknown person"},
		{"[bot-a]", "[]", `governance.agents: bot-a no longer operates "a", and may sign its work`},
		{"[a@b]", "[a@b, x@y]", `governance.agents: commits of x@y count as those of "a", not of an unknown person`},
	} {
		head := strings.Replace(strictConfig, c.from, c.to, 1)
		was, is := parseConfig(t, strictConfig), parseConfig(t, head)
		if got := listLoosened(was, is); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q → %q: %q, want %q", c.from, c.to, got, c.want)
		}
		back := listLoosened(is, was)
		twoWays := []string{
			"runs: deals",
			"flight_sheets",
			"ledger",
			"runs: ops",
			"branches",
			"governance.agents",
			"runs: loan",
			"runs: lax",
			"runs: lease",
			"approval.teams: org/risk",
		}
		if i := slices.IndexFunc(back, func(s string) bool {
			return !slices.ContainsFunc(twoWays, func(p string) bool { return strings.HasPrefix(s, p) })
		}); i >= 0 && !strings.Contains(c.from, "runs:") {
			t.Errorf("%q → %q: stricter, and it says %q", c.to, c.from, back[i])
		}
	}
}

func parseConfig(t *testing.T, src string) *config.Config {
	t.Helper()
	cfg, err := config.Parse([]byte(src), "referee.yml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestLoosenedWhole: what is said of a configuration that is taken away, reordered or emptied.
func TestLoosenedWhole(t *testing.T) {
	cfg := parseConfig(t, strictConfig)
	got := onlyChange(t, gatetest.Tree(config.Path+"="+strictConfig), gatetest.Tree(), cfg, nil)
	for _, want := range []string{"removed: the defaults apply", "fail_on goes from low to high",
		"governance.agents is empty: any agent may work here", "governance.spend_cap_usd is removed: it was 50.00",
		"runs: ops/*/run.json is no longer gated by a rule of its own", "approval.teams is empty: anybody with " +
			"the permission approves"} {
		if !slices.Contains(got.Warnings, want) {
			t.Errorf("%q is not among %q", want, got.Warnings)
		}
	}
	swapped := *cfg
	swapped.Runs = []config.RunRule{cfg.Runs[1], cfg.Runs[0]}
	if got := listLoosened(cfg, &swapped); !slices.Equal(
		got,
		[]string{"runs: ops/*/run.json now comes before patterns that it came after"},
	) {
		t.Errorf("%q", got)
	}
	if got := listLoosened(cfg, parseConfig(t, strictConfig)); got != nil {
		t.Errorf("the same configuration: %q", got)
	}
	if !isAbove("x", "1") {
		t.Error("an amount that cannot be read is not above all")
	}
}

// TestParamsLoosened: another limit in the configuration is said to who reviews it.
func TestParamsLoosened(t *testing.T) {
	rule := func(p config.Params) *config.Config {
		c := config.Default()
		c.Runs[0].Params = p
		return c
	}
	for _, c := range []struct {
		was, is config.Params
		words   string
	}{
		{config.Params{"cap": "500"}, config.Params{"cap": "5000"}, "params.cap goes from 500 to 5000"},
		{config.Params{"cap": "500"}, nil, "params.cap was 500"},
		{nil, config.Params{"cap": "500"}, "params.cap is set to 500"},
	} {
		if out := listLoosened(rule(c.was), rule(c.is)); len(out) != 1 || !strings.Contains(out[0], c.words) {
			t.Errorf("%v to %v: %q", c.was, c.is, out)
		}
	}
	if out := listLoosened(rule(config.Params{"cap": "5"}), rule(config.Params{"cap": "5"})); out != nil {
		t.Errorf("the same limits: %q", out)
	}
}
