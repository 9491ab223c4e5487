package doctor

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/defendableos/referee/gate/config"
)

// Settings are what a repository's settings and the files of its default branch say, as the API gave them.
type Settings struct {
	Repository       string // owner/name
	Private          bool
	DefaultBranch    string
	LedgerRepository string // owner/name where it is another one
	LedgerBranch     string
	Rules            []BranchRule      // active rules of rulesets on the default branch
	Protection       *BranchProtection // of the default branch, nil where there is none
	LedgerRules      []BranchRule
	LedgerProtection *BranchProtection
	LedgerBypass     map[int64][]BypassActor // whom each ruleset on the ledger's branch lets through, by its id
	ActionsApp       int64                   // id of GitHub Actions on this server, 0 where it does not say
	Environment      *EnvironmentSettings    // of the environment that the gate's job names, nil where there is none
	SecretOutside    bool                    // the secret with the App's key is also one of the repository
	Actions          ActionsSettings
	Workflows        WorkflowSettings
	Files            map[string][]byte // of the default branch: .github, CODEOWNERS, the repository's own sheets
	Local            map[string]bool   // those that the working tree has
	Embedded         fs.FS             // the library's sheets
	Hidden           map[Source]string // what could not be read, and the permission that it needs
}

// Source is a part of the Settings that a token may not be allowed to see.
type Source string

// The sources, named as messages name them.
const (
	FromRules            Source = "the rulesets"
	FromProtection       Source = "the branch's protection"
	FromLedgerRules      Source = "the rulesets of the ledger's branch"
	FromLedgerProtection Source = "the protection of the ledger's branch"
	FromLedgerBypass     Source = "who may bypass the ledger's rulesets"
	FromEnvironment      Source = "the environment of the gate's job"
	FromActions          Source = "the settings of Actions"
	FromWorkflows        Source = "the settings of workflows"
	FromFiles            Source = "the files of the default branch"
)

// BranchRule is one active rule of a ruleset on a branch.
type BranchRule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters"`
	Ruleset    int64           `json:"ruleset_id"`
}

// BypassActor is somebody for whom a ruleset does not hold.
type BypassActor struct {
	ID   int64  `json:"actor_id"`
	Type string `json:"actor_type"` // Integration, RepositoryRole, Team, OrganizationAdmin, DeployKey
	Mode string `json:"bypass_mode"`
}

// EnvironmentSettings say which branches' jobs may use an environment, and with it its secrets.
type EnvironmentSettings struct {
	Every     bool     // all branches
	Protected bool     // those that the older kind of protection protects
	Branches  []string // patterns
}

// BranchProtection is the older kind of protection.
type BranchProtection struct {
	Checks *struct {
		Contexts []string `json:"contexts"`
		Checks   []struct {
			Context string `json:"context"`
			App     *int64 `json:"app_id"`
		} `json:"checks"`
	} `json:"required_status_checks"`
	Reviews *struct {
		Count  int  `json:"required_approving_review_count"`
		Stale  bool `json:"dismiss_stale_reviews"`
		Owners bool `json:"require_code_owner_reviews"`
	} `json:"required_pull_request_reviews"`
	Admins struct {
		Enabled bool `json:"enabled"`
	} `json:"enforce_admins"`
	Pushers *struct {
		Users []struct{} `json:"users"`
		Teams []struct{} `json:"teams"`
		Apps  []struct {
			ID int64 `json:"id"`
		} `json:"apps"`
	} `json:"restrictions"`
	ForcePushes struct {
		Enabled bool `json:"enabled"`
	} `json:"allow_force_pushes"`
	Deletions struct {
		Enabled bool `json:"enabled"`
	} `json:"allow_deletions"`
}

// ActionsSettings say whether workflows run at all.
type ActionsSettings struct {
	Enabled bool `json:"enabled"`
}

// WorkflowSettings say what a workflow's token may do where the workflow does not say.
type WorkflowSettings struct {
	Token   string `json:"default_workflow_permissions"` // read, write
	Approve bool   `json:"can_approve_pull_request_reviews"`
}

// What a check of a repository's settings comes to.
const (
	Fine    = "ok"
	Warning = "warning" // it works, and is weaker than it could be
	Problem = "problem" // the gate can be passed by, or does not run
	Unknown = "unknown" // the token may not look
)

// Diagnosis is what one check found.
type Diagnosis struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	What   string `json:"what"`   // as it is
	Why    string `json:"why"`    // what follows where it is not as it should be
	Remedy string `json:"remedy"` // what to do then
}

// finding is the part of a Diagnosis that a check decides.
type doctorFinding struct{ status, what string }

func finef(format string, args ...any) doctorFinding {
	return doctorFinding{Fine, fmt.Sprintf(format, args...)}
}

func warnf(format string, args ...any) doctorFinding {
	return doctorFinding{Warning, fmt.Sprintf(format, args...)}
}

func problemf(format string, args ...any) doctorFinding {
	return doctorFinding{Problem, fmt.Sprintf(format, args...)}
}

// Diagnose looks at a repository's settings. It is pure: the same settings, the same diagnoses, in the order of
// doctorChecks.
func Diagnose(s *Settings) []Diagnosis {
	p := newCheckup(s)
	out := make([]Diagnosis, len(doctorChecks))
	for i, c := range doctorChecks {
		f := p.whatIsHidden(c.needs)
		if f.status == "" {
			f = c.look(p)
		}
		out[i] = Diagnosis{ID: c.id, Status: f.status, What: f.what, Why: c.why, Remedy: c.remedy}
	}
	return out
}

// whatIsHidden says that a check cannot look, where it needs what the token may not see.
func (p *checkup) whatIsHidden(needs []Source) doctorFinding {
	for _, s := range needs {
		if scope, hidden := p.Hidden[s]; hidden {
			return doctorFinding{Unknown, fmt.Sprintf("the token may not read %s: it needs %s", s, scope)}
		}
	}
	return doctorFinding{}
}

// madeByEither is a demand that a ruleset or the older protection may make: where neither that can be seen does, one
// that cannot be seen may.
func (p *checkup) madeByEither(made bool, good, bad doctorFinding, sources ...Source) doctorFinding {
	if made {
		return good
	}
	for _, s := range sources {
		if scope, hidden := p.Hidden[s]; hidden {
			return doctorFinding{
				Unknown,
				fmt.Sprintf("%s; the token may not read %s, which may say otherwise: it needs %s", bad.what, s, scope),
			}
		}
	}
	return bad
}

// checkup is a repository under examination, with what several checks read.
type checkup struct {
	*Settings
	config    *config.Config
	configErr error
	workflows []*ciWorkflow
	broken    []string    // workflow files that cannot be read
	gate      *ciWorkflow // nil where there is none
	job       *ciJob      // that runs the gate
	step      ciStep
	rules     *branchDemands
	ledger    *branchDemands
}

func newCheckup(s *Settings) *checkup {
	p := &checkup{Settings: s, config: config.Default()}
	if src, there := s.Files[config.Path]; there {
		cfg, err := config.Parse(src, config.Path)
		if p.configErr = err; err == nil {
			p.config = cfg
		}
	}
	p.readWorkflows()
	p.rules = demandsOf(s.Rules, s.Protection)
	p.ledger = demandsOf(s.LedgerRules, s.LedgerProtection)
	return p
}
