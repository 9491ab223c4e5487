package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
)

// whole is the configuration of formats.md, every key said.
const wholeConfig = `version: 1
branches: [main, release]
runs:
  - {path: "runs/**/run.json", sheets: ["*"], lane: agent}
  - path: deals/*/run.json
    sheets: [cre-multifamily-agency@^1.2, lend-atr-qm]
flight_sheets: rules/sheets
ledger: {branch: ledger, repository: org/ledger,
  genesis: 7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730}
fail_on: mid
accept: none
evidence: base_only
approval:
  minimum_permission: maintain
  count: 2
  teams: [org/credit]
  allow_author: false
  allow_committers: true
  digest_required: true
  self_sign: true
carry_on_rebase: true
comments: {inline: true, annotations: 50}
governance:
  max_recurring_critical: 3
  spend_cap_usd: "50.00"
  heartbeat_minutes: 30
  agents:
    - {name: underwriter, emails: [bot@example.com], model: m-70b, capability_tier: frontier, params_b: 70,
       tools: [calculator], vram_gb: 80}
`

func TestConfig(t *testing.T) {
	c, err := Parse([]byte(wholeConfig), "referee.yml")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Branches, []string{"main", "release"}) || c.FailOn != referee.FailOnMid ||
		c.Accept != "none" ||
		c.Evidence != "base_only" ||
		!c.Carry ||
		c.Sheets != "rules/sheets" {
		t.Errorf("%+v", c)
	}
	if want := []RunRule{{Path: "runs/**/run.json", Sheets: []string{"*"}, Lane: "agent"},
		{Path: "deals/*/run.json", Sheets: []string{"cre-multifamily-agency@^1.2",
			"lend-atr-qm"}}}; !reflect.DeepEqual(c.Runs, want) {
		t.Errorf("runs %+v", c.Runs)
	}
	if want := (Approval{MinimumPermission: "maintain", Count: 2, Teams: []string{"org/credit"}, AllowCommitters: true,
		DigestRequired: true, SelfSign: true}); !reflect.DeepEqual(
		c.Approval,
		want,
	) {
		t.Errorf("approval %+v", c.Approval)
	}
	if want := (Ledger{"ledger", "org/ledger",
		"7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"}); c.Ledger != want {
		t.Errorf("ledger %+v", c.Ledger)
	}
	a := c.Governance.Agents[0]
	if a.Profile.ParamsB != "70" || !a.Profile.Pinned || !a.Profile.ToolsKnown || c.Governance.SpendCapUSD != "50.00" {
		t.Errorf("agent %+v", a)
	}
	for _, empty := range []string{"", "# nothing\n", "version: 1\n"} {
		if c, err := Parse([]byte(empty), "f"); err != nil || !reflect.DeepEqual(c, Default()) {
			t.Errorf("%q: %+v %v", empty, c, err)
		}
	}
}

// TestGenesisForms: a hash stays the text that it is where YAML would read a number.
func TestGenesisForms(t *testing.T) {
	for _, hash := range []string{strings.Repeat("1", 64), strings.Repeat("0", 64), "0" + strings.Repeat("7", 63),
		"1e" + strings.Repeat("5", 62), "0b" + strings.Repeat("1", 62)} {
		for _, form := range []string{"ledger: {genesis: %s}", "ledger:\n  genesis: %s # the first\n",
			"ledger: {genesis: \"%s\"}"} {
			if c, err := Parse(fmt.Appendf(nil, form, hash), "f"); err != nil || c.Ledger.Genesis != hash {
				t.Errorf(form+": %v, %v", hash, c, err)
			}
		}
	}
}

func TestConfigRefusals(t *testing.T) {
	for _, c := range []struct{ src, at, says string }{
		{"version: 2\n", "1:10", "version must be 1"},
		{"versoin: 1\n", "1:1", `did you mean "version"?`},
		{"fail_on: hihg\n", "1:10", "must be one of high, mid, low, never"},
		{"fail_on: high\nfail_on: never\n", "2:1", "already defined"},
		{"branches: main\n", "1:11", "must be a list"},
		{"approval: {count: 0}\n", "1:19", "nothing mints without a human"},
		{"approval: {count: \"1\"}\n", "1:19", "whole number"},
		{"approval:\n  minimum_permission: read\n", "2:23", "write, maintain, admin"},
		{"approval: {teams: [credit]}\n", "1:19", "org/team"},
		{"approval: {allow_author: yes}\n", "1:26", "true or false"},
		{"runs: []\n", "1:7", "nothing would be gated"},
		{"runs: [{path: /etc/run.json, sheets: [\"*\"]}]\n", "1:15", "relative pattern"},
		{"runs: [{path: ../run.json, sheets: [\"*\"]}]\n", "1:15", "relative pattern"},
		{"runs: [{path: runs/run.json}]\n", "1:", "needs path and sheets"},
		{"ledger: {repository: ledger}\n", "1:22", "owner/name"},
		{"ledger: {branch: ../x}\n", "1:18", "plain relative name"},
		{"ledger: {genesis: " + strings.Repeat("A", 64) + "}\n", "1:19", "64 lower-case hex digits"},
		{"ledger: {genesis: " + strings.Repeat("a", 63) + "}\n", "1:19", "64 lower-case hex digits"},
		{"ledger: {genesis: [a]}\n", "1:19", "plain value"},
		{"governance: {spend_cap_usd: a lot}\n", "1:29", "plain decimal"},
		{"governance: {agents: [{model: m}]}\n", "1:", "needs a name"},
		{"governance: {agents: [{name: a}, {name: a}]}\n", "1:", "listed twice"},
		{"governance: {agents: [{name: a, emails: [agent]}]}\n", "1:", "emails lists e-mail addresses such as"},
		{"governance: {agents: [{name: a, operators: [\"a b\"]}]}\n", "1:", "operators lists logins such as"},
		{"governance: {agents: [{name: a, operators: rosa}]}\n", "1:", "operators must be a list"},
		{"governance: {agent_trailers: [\"Agent <a@b>\"]}\n", "1:", "agent_trailers lists e-mail addresses such as"},
		{"governance: {agent_trailer: []}\n", "1:", "did you mean \"agent_trailers\"?"},
		{"comments: {annotations: -1}\n", "1:25", "between 0 and 1000"},
		{"a: &x 1\n", "1:1", "unknown key"},
		{"fail_on: &x high\n", "1:", "plain value"},
		{"- 1\n", "1:", "must be a mapping"},
		{"a: b: c\n", "1:", "cannot be read"},
		{"version: 1\n---\nversion: 1\n", "1:1", "must be a single YAML document"},
		{strings.Repeat("#", 257<<10), "1:1", "larger than 256 KiB"},
	} {
		got, err := Parse([]byte(c.src), "referee.yml")
		var refused *Error
		if got != nil || !errors.As(err, &refused) {
			t.Errorf("%.40q: %v, %v", c.src, got, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "referee.yml:"+c.at) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q\n got %v\n want %s … %s", c.src, err, c.at, c.says)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(wholeConfig)
	f.Add("a: *b\n")
	f.Add("? - :\n")
	f.Fuzz(func(t *testing.T, src string) {
		if c, err := Parse([]byte(src), "f"); (c == nil) == (err == nil) {
			t.Errorf("%v, %v", c, err)
		}
	})
}
