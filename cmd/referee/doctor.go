package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/defendableos/referee/gate/doctor"
	"github.com/defendableos/referee/internal/githubapi"
)

// doctorOptions are the flags of doctor.
type doctorOptions struct{ repo, tokenEnv, api, format string }

const doctorLong = `Looks through the API at what protects the gate: required checks and reviews,
the ledger's branch, who owns the workflows, what other workflows may do,
whether the configuration and the sheets load. Nothing is changed. A token that
may not look leaves a check unknown, with the permission that it needs; an
administrator's sees all. Exit code 1 where there is a problem; a warning is
none.`

func doctorCommand() *command {
	c := newCommand("doctor", "", "check that a repository's settings protect the gate", 0)
	c.long = doctorLong
	c.examples = []string{"referee doctor", "GITHUB_TOKEN=$(gh auth token) referee doctor --repo owner/name",
		"referee doctor --api https://github.example.com/api/v3 --format json"}
	o := doctorOptions{}
	c.flags.StringVar(&o.repo, "repo", "", "`OWNER/NAME` (default: GITHUB_REPOSITORY, else origin)")
	c.flags.StringVar(&o.tokenEnv, "token-env", "GITHUB_TOKEN", "the environment `VARIABLE` that holds the token")
	c.flags.StringVar(&o.api, "api", "", "the API's `URL` (default: GITHUB_API_URL, else github.com's)")
	c.choiceFlag(&o.format, "format", "table", "`FORMAT`", []string{"table", "json"})
	c.run = func(a *app, _ []string) error { return a.runDoctor(o) }
	return c
}

// runDoctor reads the settings and says what they come to.
func (a *app) runDoctor(o doctorOptions) error {
	origin := originOf(".")
	if err := a.doctorTarget(&o, origin); err != nil {
		return err
	}
	token := a.getenv(o.tokenEnv)
	if token == "" {
		a.note("%s is empty: only public settings are checked", o.tokenEnv)
	}
	open := func(repository string) (*githubapi.Client, error) {
		return githubapi.New(githubapi.Options{APIURL: o.api, Token: token, Repository: repository})
	}
	api, err := open(o.repo)
	if err != nil {
		return usagef("%w", err)
	}
	r := &settingsReader{ctx: a.ctx, api: api, open: open}
	if strings.EqualFold(origin.repo, o.repo) {
		r.local = os.DirFS(".")
	}
	s, err := r.readAll()
	if err != nil {
		return toolf("%w", err).withHint("%s was not found: does it exist, and can the token of %s read it?", o.repo,
			o.tokenEnv)
	}
	return a.sayDiagnoses(s, doctor.Diagnose(s), o.format)
}

// doctorTarget finds out which repository is meant, and where its API is. A token goes to no host that only a file of
// the repository names.
func (a *app) doctorTarget(o *doctorOptions, origin remoteName) error {
	if o.api == "" {
		o.api = a.getenv("GITHUB_API_URL")
	}
	if o.repo == "" {
		o.repo = a.getenv("GITHUB_REPOSITORY")
	}
	if o.repo != "" {
		return nil
	}
	if origin.repo == "" {
		return usagef("no repository given, and origin does not name one").withHint("referee doctor --repo OWNER/NAME")
	}
	if o.api == "" && origin.host != "github.com" {
		return usagef("origin is at %s; the API's URL is missing",
			origin.host).withHint("referee doctor --api https://%s/api/v3", origin.host)
	}
	o.repo = origin.repo
	return nil
}

// remoteName is a remote repository's host and owner/name.
type remoteName struct{ host, repo string }

var (
	originURL = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\[remote "origin"\]\s*\n(?:[ \t].*\n)*?[ \t]+url\s*=\s*(\S+)`)
	})
	// one letter is a drive
	scpURL    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[^@/]+@)?([^:/]{2,}):(.+)$`) })
	ownerName = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`) })
)

// originOf is where a work tree's origin is, nothing where it has none.
func originOf(dir string) remoteName {
	_, common := gitFolders(dir)
	text, err := os.ReadFile(filepath.Join(common, "config"))
	m := originURL().FindSubmatch(text)
	if err != nil || m == nil {
		return remoteName{}
	}
	return parseRemote(string(m[1]))
}

// parseRemote reads https://host/owner/name.git, ssh://git@host/owner/name and git@host:owner/name.
func parseRemote(text string) remoteName {
	var host, path string
	if u, err := url.Parse(text); err == nil && u.Scheme != "" && u.Host != "" {
		host, path = u.Hostname(), u.Path
	} else if m := scpURL().FindStringSubmatch(text); m != nil {
		host, path = m[1], m[2]
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || !ownerName().MatchString(path) {
		return remoteName{}
	}
	return remoteName{strings.ToLower(host), path}
}

// diagnosed is what `referee doctor --format json` prints.
type diagnosed struct {
	Schema     string             `json:"schema"`
	Repository string             `json:"repository"`
	Branch     string             `json:"default_branch"`
	Counts     map[string]int     `json:"counts"`
	Checks     []doctor.Diagnosis `json:"checks"`
}

// sayDiagnoses prints them; a problem is exit code 1.
func (a *app) sayDiagnoses(s *doctor.Settings, all []doctor.Diagnosis, format string) error {
	out := diagnosed{"referee.doctor/v1", s.Repository, s.DefaultBranch,
		map[string]int{doctor.Fine: 0, doctor.Warning: 0, doctor.Problem: 0, doctor.Unknown: 0}, all}
	for _, d := range all {
		out.Counts[d.Status]++
	}
	err := a.printDiagnoses(out, format)
	if err == nil && out.Counts[doctor.Problem] > 0 {
		return &failure{code: exitRules}
	}
	return err
}

func (a *app) printDiagnoses(out diagnosed, format string) error {
	if format == "json" {
		return a.printJSON(out)
	}
	p := &page{}
	p.line("%s, default branch %s", out.Repository, out.Branch)
	p.b.WriteString("\n")
	for _, d := range out.Checks {
		p.text(fmt.Sprintf("%-8s %-20s ", d.Status, d.ID), d.What)
		if d.Status == doctor.Problem || d.Status == doctor.Warning {
			p.text("           why: ", d.Why)
			p.text("           do:  ", d.Remedy)
		}
	}
	p.b.WriteString("\n")
	p.line("%d ok, %d warnings, %d problems, %d unknown", out.Counts[doctor.Fine], out.Counts[doctor.Warning],
		out.Counts[doctor.Problem], out.Counts[doctor.Unknown])
	return a.print(p.b.String())
}
