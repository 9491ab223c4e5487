package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/doctor"
	"github.com/defendableos/referee/internal/githubapi"
)

// settingsReader reads what doctor looks at. What the token may not see is noted; any other failure ends it.
type settingsReader struct {
	ctx   context.Context
	api   *githubapi.Client
	open  func(repository string) (*githubapi.Client, error)
	local fs.FS // the repository's work tree, nil where there is none
	admin bool  // the token is an administrator's, as far as the repository says
	s     *doctor.Settings
}

// The permissions of a fine-grained token, or of an App.
const (
	needContents = "the permission contents: read"
	needMetadata = "the permission metadata: read"
	needAdmin    = "the permission administration: read"
)

// readAll reads everything, the files first: the configuration says where the ledger is.
func (r *settingsReader) readAll() (*doctor.Settings, error) {
	var repo struct {
		Name        string `json:"full_name"`
		Branch      string `json:"default_branch"`
		Private     bool   `json:"private"`
		Permissions struct {
			Admin bool `json:"admin"`
		} `json:"permissions"`
	}
	if _, err := r.api.Get(r.ctx, "", &repo); err != nil {
		return nil, err
	}
	if repo.Name == "" || repo.Branch == "" {
		return nil, errors.New("the answer about the repository lacks its name")
	}
	r.admin = repo.Permissions.Admin
	r.s = &doctor.Settings{Repository: repo.Name, Private: repo.Private, DefaultBranch: repo.Branch,
		Files: map[string][]byte{}, Local: map[string]bool{},
		Embedded: flightsheets.FS(), Hidden: map[doctor.Source]string{}}
	cfg, err := r.readFiles()
	if err != nil {
		return nil, err
	}
	r.s.LedgerBranch, r.s.LedgerRepository = cfg.Ledger.Branch, cfg.Ledger.Repository
	if id, err := r.api.AppID(r.ctx, "github-actions"); err == nil {
		r.s.ActionsApp = id
	}
	return r.s, errors.Join(r.readActions(), r.readBranches(cfg.Ledger), r.readEnvironment())
}

// readActions reads those of Actions.
func (r *settingsReader) readActions() error {
	_, err := r.api.Get(r.ctx, "actions/permissions", &r.s.Actions)
	if err = r.noteHidden(doctor.FromActions, needAdmin, err); err != nil {
		return err
	}
	_, err = r.api.Get(r.ctx, "actions/permissions/workflow", &r.s.Workflows)
	return r.noteHidden(doctor.FromWorkflows, needAdmin, err)
}

// readBranches reads what holds on the default branch and on the ledger's, which may be in another repository.
func (r *settingsReader) readBranches(ledger config.Ledger) error {
	at := r.api
	if ledger.Repository != "" {
		other, err := r.open(ledger.Repository)
		if err != nil {
			return err
		}
		at = other
	}
	var err [4]error
	r.s.Rules, err[0] = r.readRules(r.api, r.s.DefaultBranch, doctor.FromRules)
	r.s.Protection, err[1] = r.readProtection(r.api, r.s.DefaultBranch, doctor.FromProtection)
	r.s.LedgerRules, err[2] = r.readRules(at, ledger.Branch, doctor.FromLedgerRules)
	r.s.LedgerProtection, err[3] = r.readProtection(at, ledger.Branch, doctor.FromLedgerProtection)
	return errors.Join(append(err[:], r.readBypass(at))...)
}

// readBypass reads whom the rulesets let through that hold the ledger's branch. GitHub says it to administrators only.
func (r *settingsReader) readBypass(at *githubapi.Client) error {
	r.s.LedgerBypass = map[int64][]doctor.BypassActor{}
	for _, rule := range r.s.LedgerRules {
		if _, known := r.s.LedgerBypass[rule.Ruleset]; known || rule.Ruleset == 0 {
			continue
		}
		var set struct {
			Actors *[]doctor.BypassActor `json:"bypass_actors"`
		}
		_, err := at.Get(r.ctx, fmt.Sprintf("rulesets/%d", rule.Ruleset), &set)
		if err != nil {
			return r.noteHidden(doctor.FromLedgerBypass, needAdmin, err)
		}
		if set.Actors == nil {
			r.s.Hidden[doctor.FromLedgerBypass] = needAdmin
			return nil
		}
		r.s.LedgerBypass[rule.Ruleset] = *set.Actors
	}
	return nil
}

// readEnvironment reads which branches may use the environment that keeps the App's key, and whether the key is kept
// elsewhere too.
func (r *settingsReader) readEnvironment() error {
	name, secret := r.s.AppKey()
	if name == "" {
		return nil
	}
	at := "environments/" + url.PathEscape(name)
	var e struct {
		Policy *struct {
			Protected bool `json:"protected_branches"`
		} `json:"deployment_branch_policy"`
	}
	if _, err := r.api.Get(r.ctx, at, &e); err != nil {
		if r.admin && githubapi.IsNotFound(err) {
			return nil
		}
		return r.noteHidden(doctor.FromEnvironment, needAdmin, err)
	}
	r.s.Environment = &doctor.EnvironmentSettings{Every: e.Policy == nil}
	if e.Policy != nil {
		r.s.Environment.Protected = e.Policy.Protected
		var list struct {
			Policies []struct {
				Name string `json:"name"`
				Type string `json:"type"` // branch, tag
			} `json:"branch_policies"`
		}
		if _, err := r.api.Get(r.ctx, at+"/deployment-branch-policies?per_page=100", &list); err != nil {
			return r.noteHidden(doctor.FromEnvironment, needAdmin, err)
		}
		for _, p := range list.Policies {
			if p.Type == "tag" {
				p.Name = "the tag " + p.Name
			}
			r.s.Environment.Branches = append(r.s.Environment.Branches, p.Name)
		}
	}
	return r.readOutsideSecret(secret)
}

// readOutsideSecret looks whether the environment's secret is one of the repository too.
func (r *settingsReader) readOutsideSecret(secret string) error {
	if secret == "" {
		return nil
	}
	_, err := r.api.Get(r.ctx, "actions/secrets/"+url.PathEscape(secret), nil)
	if r.admin && githubapi.IsNotFound(err) {
		return nil
	}
	r.s.SecretOutside = err == nil
	return r.noteHidden(doctor.FromEnvironment, "the permission secrets: read", err)
}

// noteHidden notes what the token may not see: that is no failure.
func (r *settingsReader) noteHidden(source doctor.Source, scope string, err error) error {
	if githubapi.IsForbidden(err) || githubapi.IsNotFound(err) || isUnauthorized(err) {
		r.s.Hidden[source] = scope
		return nil
	}
	return err
}

// isUnauthorized: without a token GitHub answers some questions with 401.
func isUnauthorized(err error) bool {
	e, ok := errors.AsType[*githubapi.Error](err)
	return ok && e.Kind == githubapi.Unauthorized
}

// rulesPage is how many rules GitHub gives at once.
const rulesPage = 100

// readRules are the active rules of all rulesets on a branch, the organisation's too. The branch need not be there yet.
func (r *settingsReader) readRules(at *githubapi.Client, branch string, source doctor.Source) ([]doctor.BranchRule,
	error) {
	var all []doctor.BranchRule
	for n := 1; ; n++ {
		var page []doctor.BranchRule
		_, err := at.Get(r.ctx, fmt.Sprintf("rules/branches/%s?per_page=%d&page=%d", url.PathEscape(branch), rulesPage,
			n), &page)
		if notAtAll(err) {
			return nil, nil
		}
		if err != nil {
			return nil, r.noteHidden(source, needMetadata, err)
		}
		if all = append(all, page...); len(page) < rulesPage {
			return all, nil
		}
	}
}

// readProtection is the older kind of protection of a branch, nil where there is none.
func (r *settingsReader) readProtection(at *githubapi.Client, branch string,
	source doctor.Source) (*doctor.BranchProtection, error) {
	var p doctor.BranchProtection
	_, err := at.Get(r.ctx, "branches/"+url.PathEscape(branch)+"/protection", &p)
	switch {
	case err == nil:
		return &p, nil
	case notAtAll(err) || r.admin && at == r.api && githubapi.IsNotFound(err):
		return nil, nil
	}
	return nil, r.noteHidden(source, needAdmin, err)
}

// notAtAll reports whether GitHub says that there is no protection, rather than that the token may not see it: the
// branch has none, or is not there, or the account's plan has none for private repositories.
func notAtAll(err error) bool {
	e, ok := errors.AsType[*githubapi.Error](err)
	return ok && (e.Kind == githubapi.NotFound && strings.HasPrefix(e.Message, "Branch not ") ||
		e.Kind == githubapi.Forbidden && strings.HasPrefix(e.Message, "Upgrade to "))
}

// readFiles reads those of the default branch that doctor looks at, and gives the configuration among them; the
// defaults where none can be read.
func (r *settingsReader) readFiles() (*config.Config, error) {
	cfg := config.Default()
	root, err := r.rootTree()
	if root == "" || err != nil {
		return cfg, r.noteHidden(doctor.FromFiles, needContents, err)
	}
	if err := r.readFolder(root, "", ".github", true, setupFile); err != nil {
		return nil, err
	}
	if src, there := r.s.Files[config.Path]; there {
		if read, err := config.Parse(src, config.Path); err == nil {
			cfg = read
		}
	}
	for _, f := range []struct {
		dir  string
		want func(string) bool
	}{{".", setupFile}, {"docs", setupFile},
		{cfg.Sheets, func(name string) bool { return path.Ext(name) == ".json" }}} {
		if err := r.readFolder(root, "", f.dir, false, f.want); err != nil {
			return nil, err
		}
	}
	if r.local != nil {
		for _, name := range []string{workflowPath, config.Path} {
			_, err := fs.Stat(r.local, name)
			r.s.Local[name] = err == nil
		}
	}
	return cfg, nil
}

// rootTree is the default branch's tree, "" where the repository is empty.
func (r *settingsReader) rootTree() (string, error) {
	commit, err := r.api.Ref(r.ctx, "refs/heads/"+r.s.DefaultBranch)
	if e, ok := errors.AsType[*githubapi.Error](err); ok &&
		(e.Kind == githubapi.Conflict || e.Kind == githubapi.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	tree, _, err := r.api.GitCommit(r.ctx, commit)
	return tree, err
}

// setupFile tells which of the files beside the sheets doctor looks at.
func setupFile(name string) bool {
	return path.Base(name) == "CODEOWNERS" || name == config.Path || path.Dir(name) == ".github/workflows"
}

// readFolder reads the wanted files of a folder below a tree. Links and submodules are none.
func (r *settingsReader) readFolder(tree, above, dir string, whole bool, want func(string) bool) error {
	if dir != "." {
		first, rest, deeper := strings.Cut(dir, "/")
		if !deeper {
			rest = "."
		}
		entries, err := r.api.Tree(r.ctx, tree, false)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Path == first && e.Type == "tree" {
				return r.readFolder(e.SHA, path.Join(above, first), rest, whole, want)
			}
		}
		return nil
	}
	entries, err := r.api.Tree(r.ctx, tree, whole)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(above, e.Path)
		if e.Type != "blob" || e.Mode == "120000" || !want(name) {
			continue
		}
		if r.s.Files[name], err = r.api.Blob(r.ctx, e.SHA); err != nil {
			return err
		}
	}
	return nil
}
