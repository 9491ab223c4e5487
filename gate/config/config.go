package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/referee"
)

// Path is where the configuration stands in the base branch, never in the pull request.
const Path = ".github/referee.yml"

// Config is .github/referee.yml, version 1 (formats.md). Everything in it is optional.
type Config struct {
	Branches   []string // bases whose pull requests are gated, with their own configuration and sheets
	Runs       []RunRule
	Sheets     string // folder of the repository's own sheets
	Ledger     Ledger
	FailOn     referee.Threshold
	Accept     string // none, deal-finding
	Evidence   string // any, base_only
	Approval   Approval
	Carry      bool // carry_on_rebase
	Comments   Comments
	Governance Governance
}

// RunRule says which rulebooks may judge which path: the pull request must not choose its own.
type RunRule struct {
	Path   string
	Sheets []string // slugs, slug@range, or "*"
	Lane   string   // "" any
	Params Params   // limits that the sheets leave to the configuration (S71)
}

// Params are limits by name, each as JSON.
type Params map[string]string

// Ledger says where the ledger is kept. Repository is "" for the repository itself. Genesis is the hash of the first
// receipt, "" where it is not pinned: a ledger that begins otherwise is another one (L3).
type Ledger struct{ Branch, Repository, Genesis string }

// Approval says whose approving review is a sign-off.
type Approval struct {
	MinimumPermission string // write, maintain, admin
	Count             int
	Teams             []string
	AllowAuthor       bool
	AllowCommitters   bool
	DigestRequired    bool
	SelfSign          bool
}

// Comments bounds what is posted.
type Comments struct {
	Inline      bool
	Annotations int
}

// Governance are the limits on agents.
type Governance struct {
	MaxRecurringCritical int
	SpendCapUSD          string
	HeartbeatMinutes     int
	Agents               []AgentProfile
	AgentTrailers        []string // addresses that name an agent, and not a person, in a Co-authored-by
}

// AgentProfile is an agent that the configuration vouches for.
type AgentProfile struct {
	Name      string
	Emails    []string // addresses of its commits
	Operators []string // logins whose pull requests are this agent's work
	Profile   referee.Agent
}

// Default is what holds where nothing is said.
func Default() *Config {
	return &Config{
		Branches:   []string{"main"},
		Runs:       []RunRule{{Path: "runs/**/run.json", Sheets: []string{"*"}}},
		Sheets:     "flight_sheets",
		Ledger:     Ledger{Branch: "ledger"},
		FailOn:     referee.FailOnHigh,
		Accept:     "deal-finding",
		Evidence:   "any",
		Approval:   Approval{MinimumPermission: "write", Count: 1},
		Comments:   Comments{Annotations: 200},
		Governance: Governance{MaxRecurringCritical: 2, AgentTrailers: AgentTrailers},
	}
}

// Error refuses a configuration, at its line.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

// Error is file:line:column: message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Parse reads a configuration strictly: one YAML document of plain mappings, lists and scalars; an unknown key, a
// duplicate, an anchor or a tag is refused with its line (*ConfigError).
func Parse(src []byte, file string) (cfg *Config, err error) {
	if len(src) > 256<<10 {
		return nil, &Error{File: file, Line: 1, Column: 1, Message: "the configuration is larger than 256 KiB"}
	}
	defer func() {
		if r := recover(); r != nil {
			refusal, ok := r.(*Error)
			if !ok {
				refusal = &Error{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("the YAML cannot be read: %v", r)}
			}
			refusal.File, cfg, err = file, nil, refusal
		}
	}()
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, yamlError(file, err)
	}
	cfg = Default()
	if len(tree.Docs) > 1 {
		return nil, &Error{File: file, Line: 1, Column: 1, Message: "the configuration must be a single YAML document"}
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return cfg, nil
	}
	readConfig(yamlMap(tree.Docs[0].Body, "the configuration"), cfg)
	return cfg, nil
}

// yamlPlace is how the YAML library begins a message: "[line:column] …".
var yamlPlace = pattern.New(`^\[(\d+):(\d+)\] (.*)`)

// yamlError words what the YAML library refuses, at its place.
func yamlError(file string, err error) *Error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	e := &Error{File: file, Line: 1, Column: 1}
	if m := yamlPlace.FindStringSubmatch(message); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column, _ = strconv.Atoi(m[2])
		message = m[3]
	}
	e.Message = "the YAML cannot be read: " + message
	return e
}

// configKey is one known key and what reads it.
type configKey struct {
	name string
	read func(ast.Node)
}

func readConfig(m *yamlMapping, c *Config) {
	m.readKeys(
		configKey{"version", func(n ast.Node) {
			if yamlInt(n, "version") != 1 {
				refuseAt(n, "version must be 1: this release of referee reads no other version")
			}
		}},
		configKey{"branches", func(n ast.Node) { c.Branches = yamlStrings(n, "branches") }},
		configKey{"runs", func(n ast.Node) { c.Runs = runRules(n) }},
		configKey{"flight_sheets", func(n ast.Node) { c.Sheets = yamlPath(n, "flight_sheets") }},
		configKey{"ledger", func(n ast.Node) { readLedger(yamlMap(n, "ledger"), &c.Ledger) }},
		configKey{"fail_on", func(n ast.Node) { c.FailOn = yamlThreshold(n, "fail_on") }},
		configKey{"accept", func(n ast.Node) { c.Accept = yamlWord(n, "accept", "none", "deal-finding") }},
		configKey{"evidence", func(n ast.Node) { c.Evidence = yamlWord(n, "evidence", "any", "base_only") }},
		configKey{"approval", func(n ast.Node) { readApproval(yamlMap(n, "approval"), &c.Approval) }},
		configKey{"carry_on_rebase", func(n ast.Node) { c.Carry = yamlBool(n, "carry_on_rebase") }},
		configKey{"comments", func(n ast.Node) { readComments(yamlMap(n, "comments"), &c.Comments) }},
		configKey{"governance", func(n ast.Node) { readGovernance(yamlMap(n, "governance"), &c.Governance) }},
	)
}

func readLedger(m *yamlMapping, c *Ledger) {
	m.readKeys(
		configKey{"branch", func(n ast.Node) { c.Branch = yamlPath(n, "branch") }},
		configKey{"repository", func(n ast.Node) {
			if c.Repository = yamlString(n, "repository"); !repositoryName.MatchString(c.Repository) {
				refuseAt(n, "repository must be owner/name, not %q", c.Repository)
			}
		}},
		configKey{"genesis", func(n ast.Node) {
			if c.Genesis = yamlScalar(n, "genesis"); canonical.CheckHash(c.Genesis) != nil {
				refuseAt(
					n,
					"genesis must be the hash of the ledger's first receipt, 64 lower-case hex digits as `referee "+
						"ledger log` and LEDGER.json give it, not %q",
					c.Genesis,
				)
			}
		}},
	)
}

var (
	repositoryName = pattern.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)
	teamName       = pattern.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)
)

func readApproval(m *yamlMapping, c *Approval) {
	m.readKeys(
		configKey{"minimum_permission", func(n ast.Node) {
			c.MinimumPermission = yamlWord(n, "minimum_permission", "write", "maintain", "admin")
		}},
		configKey{"count", func(n ast.Node) {
			if c.Count = yamlInt(n, "count"); c.Count < 1 || c.Count > 10 {
				refuseAt(n, "count must be between 1 and 10: nothing mints without a human")
			}
		}},
		configKey{"teams", func(n ast.Node) {
			for _, t := range yamlStrings(n, "teams") {
				if !teamName.MatchString(t) {
					refuseAt(n, "a team is written org/team, not %q", t)
				}
				c.Teams = append(c.Teams, t)
			}
		}},
		configKey{"allow_author", func(n ast.Node) { c.AllowAuthor = yamlBool(n, "allow_author") }},
		configKey{"allow_committers", func(n ast.Node) { c.AllowCommitters = yamlBool(n, "allow_committers") }},
		configKey{"digest_required", func(n ast.Node) { c.DigestRequired = yamlBool(n, "digest_required") }},
		configKey{"self_sign", func(n ast.Node) { c.SelfSign = yamlBool(n, "self_sign") }},
	)
}

func readComments(m *yamlMapping, c *Comments) {
	m.readKeys(
		configKey{"inline", func(n ast.Node) { c.Inline = yamlBool(n, "inline") }},
		configKey{"annotations", func(n ast.Node) {
			if c.Annotations = yamlInt(n, "annotations"); c.Annotations < 0 || c.Annotations > 1000 {
				refuseAt(n, "annotations must be between 0 and 1000")
			}
		}},
	)
}

func readGovernance(m *yamlMapping, c *Governance) {
	m.readKeys(
		configKey{"max_recurring_critical", func(n ast.Node) {
			if c.MaxRecurringCritical = yamlInt(n, "max_recurring_critical"); c.MaxRecurringCritical < 1 {
				refuseAt(n, "max_recurring_critical must be at least 1")
			}
		}},
		configKey{"spend_cap_usd", func(n ast.Node) {
			if c.SpendCapUSD = yamlScalar(n, "spend_cap_usd"); !dollars.MatchString(c.SpendCapUSD) {
				refuseAt(n, "spend_cap_usd must be a plain decimal such as \"50.00\", not %q", c.SpendCapUSD)
			}
		}},
		configKey{"heartbeat_minutes", func(n ast.Node) {
			if c.HeartbeatMinutes = yamlInt(n, "heartbeat_minutes"); c.HeartbeatMinutes < 0 {
				refuseAt(n, "heartbeat_minutes must not be negative")
			}
		}},
		configKey{"agents", func(n ast.Node) { c.Agents = agentProfiles(n) }},
		configKey{"agent_trailers", func(n ast.Node) { c.AgentTrailers = yamlEmails(n, "agent_trailers") }},
	)
}

var address = pattern.New(`^[^@<>\s]+@[^@<>\s]+$`)

// yamlEmails are e-mail addresses, as commits have them.
func yamlEmails(n ast.Node, what string) []string {
	out := yamlStrings(n, what)
	for _, e := range out {
		if !address.MatchString(e) {
			refuseAt(n, "%s lists e-mail addresses such as \"agent@example.com\", not %q", what, e)
		}
	}
	return out
}

// yamlLogins are accounts of the forge.
func yamlLogins(n ast.Node, what string) []string {
	out := yamlStrings(n, what)
	for _, login := range out {
		if !IsLogin(login) {
			refuseAt(n, "%s lists logins such as \"octocat\" or \"my-agent[bot]\", not %q", what, login)
		}
	}
	return out
}

var dollars = pattern.New(`^(0|[1-9][0-9]{0,11})(\.[0-9]{1,6})?$`)

func agentProfiles(n ast.Node) []AgentProfile {
	var out []AgentProfile
	for _, item := range yamlList(n, "agents") {
		p := AgentProfile{Profile: referee.Agent{Pinned: true}}
		yamlMap(item, "an agent").readKeys(
			configKey{"name", func(n ast.Node) { p.Name = yamlString(n, "name") }},
			configKey{"emails", func(n ast.Node) { p.Emails = yamlEmails(n, "emails") }},
			configKey{"operators", func(n ast.Node) { p.Operators = yamlLogins(n, "operators") }},
			configKey{"model", func(n ast.Node) { p.Profile.Model = yamlString(n, "model") }},
			configKey{"capability_tier", func(n ast.Node) {
				p.Profile.CapabilityTier = yamlWord(n, "capability_tier", "edge", "small", "mid", "frontier")
			}},
			configKey{"params_b", func(n ast.Node) { p.Profile.ParamsB = yamlDecimal(n, "params_b") }},
			configKey{"vram_gb", func(n ast.Node) { p.Profile.VRAMGB = yamlDecimal(n, "vram_gb") }},
			configKey{
				"tools",
				func(n ast.Node) { p.Profile.Tools, p.Profile.ToolsKnown = yamlStrings(n, "tools"), true },
			},
			// Beyond formats.md: what else a lane may require (S42). A pinned profile is read whole, so it must be able
			// to say all of it.
			configKey{
				"context_tokens",
				func(n ast.Node) { p.Profile.ContextTokens = yamlDecimal(n, "context_tokens") },
			},
			configKey{"runtime", func(n ast.Node) { p.Profile.Runtime = yamlString(n, "runtime") }},
			configKey{"modalities", func(n ast.Node) {
				p.Profile.Modalities, p.Profile.ModalitiesKnown = yamlStrings(n, "modalities"), true
			}},
		)
		if p.Name == "" {
			refuseAt(item, "an agent needs a name")
		}
		if slices.ContainsFunc(out, func(o AgentProfile) bool { return o.Name == p.Name }) {
			refuseAt(item, "the agent %q is listed twice", p.Name)
		}
		p.Profile.Name = p.Name
		out = append(out, p)
	}
	return out
}

func runRules(n ast.Node) []RunRule {
	var out []RunRule
	for _, item := range yamlList(n, "runs") {
		r := RunRule{}
		yamlMap(item, "an entry of runs").readKeys(
			configKey{"path", func(n ast.Node) { r.Path = yamlGlob(n) }},
			configKey{"sheets", func(n ast.Node) { r.Sheets = yamlStrings(n, "sheets") }},
			configKey{
				"lane",
				func(n ast.Node) { r.Lane = yamlWord(n, "lane", "agent", "dataset", "compute", "cook", "incident") },
			},
			configKey{"params", func(n ast.Node) { r.Params = yamlParams(n) }},
		)
		if r.Path == "" || len(r.Sheets) == 0 {
			refuseAt(item, "an entry of runs needs path and sheets")
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		refuseAt(n, "runs is empty: nothing would be gated")
	}
	return out
}

// yamlGlob is a path with * and **, that ends in run.json.
func yamlGlob(n ast.Node) string {
	s := yamlString(n, "path")
	if strings.HasPrefix(s, "/") || strings.Contains(s, "..") || strings.ContainsAny(s, "\\\x00") ||
		!strings.HasSuffix(s, "run.json") {
		refuseAt(n, "path must be a relative pattern that ends in run.json, such as %q, not %q", "runs/**/run.json", s)
	}
	return s
}
