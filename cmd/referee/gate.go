package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/githubstore"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

const gateLong = `The action's entry: reads the event that started the job, audits what it is
about by the rules on base, posts the checks and the review, and writes what a
person has decided to the ledger. Its inputs are the action's (INPUT_…), the
rest is what the runner says (GITHUB_…). --dry-run prints the requests that
would change something and sends none of them.`

func gateCommand() *command {
	c := newCommand("gate", "", "what the GitHub Action runs: an event, from audit to receipt", 0)
	c.long = gateLong
	c.examples = []string{"referee gate", "referee gate --event event.json --name pull_request --dry-run"}
	o := gateOptions{}
	c.flags.StringVar(&o.event, "event", "", "the event's `FILE` (default: GITHUB_EVENT_PATH)")
	c.flags.StringVar(&o.name, "name", "", "the event's `NAME` (default: GITHUB_EVENT_NAME)")
	c.flags.StringVar(&o.repo, "repo", "", "`OWNER/NAME` (default: GITHUB_REPOSITORY, else the event's)")
	c.flags.BoolVar(&o.dry, "dry-run", false, "print what would be written to GitHub, and write nothing")
	c.run = func(a *app, _ []string) error { return a.runGate(o) }
	return c
}

// gateOptions are the command's flags.
type gateOptions struct {
	event, name, repo string
	dry               bool
}

// runGate is one job of the action.
func (a *app) runGate(o gateOptions) error {
	s := newStep(a)
	s.stopCommands()
	in, err := s.readInputs()
	if err != nil {
		return s.endStep(nil, err)
	}
	in.dry = in.dry || o.dry
	event, err := a.readEvent(&o)
	if err != nil {
		return s.endStep(nil, err)
	}
	if !event.Known() {
		return s.endStep(&gate.Result{Word: outcome.ResultIgnored,
			Messages: []string{fmt.Sprintf("the event %q is not one that the gate acts on", event.Name)}}, nil)
	}
	g := &gating{app: a, step: s, in: in, o: o}
	defer g.close()
	job, err := g.newJob(event)
	if err != nil {
		return s.endStep(nil, err)
	}
	result, err := job.Run(a.ctx)
	s.calls = g.api.Calls()
	return s.endStep(result, err)
}

// readEvent reads the payload.
func (a *app) readEvent(o *gateOptions) (*gate.Event, error) {
	if o.event == "" {
		o.event = a.getenv("GITHUB_EVENT_PATH")
	}
	if o.name == "" {
		o.name = a.getenv("GITHUB_EVENT_NAME")
	}
	if o.event == "" || o.name == "" {
		return nil, usagef("no event: GITHUB_EVENT_PATH and GITHUB_EVENT_NAME are not set").withHint(
			"on a machine of your own: referee gate --event FILE --name pull_request --dry-run")
	}
	f, err := os.Open(o.event)
	if err != nil {
		return nil, usagef("the event cannot be read: %w", err)
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, 26<<20))
	if err != nil {
		return nil, toolf("the event cannot be read: %w", err)
	}
	event, err := gate.ParseEvent(o.name, payload)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return event, nil
}

// gating is everything that one job of the gate reaches.
type gating struct {
	*app
	step   *actionStep
	in     gateInputs
	o      gateOptions
	api    *githubapi.Client
	repo   string
	server string
	dir    string // scratch; a container from scratch has none of its own
	close_ []io.Closer
}

func (g *gating) close() {
	for _, c := range g.close_ {
		_ = c.Close() // nothing is lost with what was fetched
	}
	_ = os.RemoveAll(g.dir)
}

// newJob puts the gate's parts together.
func (g *gating) newJob(event *gate.Event) (*gate.Job, error) {
	g.repo = g.o.repo
	for _, name := range []string{g.getenv("GITHUB_REPOSITORY"), event.Repository} {
		if g.repo == "" {
			g.repo = name
		}
	}
	if g.server = strings.TrimSuffix(g.getenv("GITHUB_SERVER_URL"), "/"); g.server == "" {
		g.server = "https://github.com"
	}
	if g.in.token == "" {
		return nil, usagef("no token: the input token is empty").withHint("omit the input to use the job's own token")
	}
	var err error
	if g.api, err = g.newClient(g.repo); err != nil {
		return nil, err
	}
	if err := g.makeScratch(); err != nil {
		return nil, err
	}
	work, err := gitstore.OpenWork(g.server+"/"+g.repo+".git", gitstore.Options{Password: g.in.token, Cache: g.dir,
		MaxWait: g.in.maxWait})
	if err != nil {
		return nil, toolf("%w", err)
	}
	g.close_ = append(g.close_, work)
	if err := g.completeEvent(event); err != nil {
		return nil, err
	}
	return &gate.Job{Event: event, API: g.api, Work: work, Open: g.connectLedger, Clone: g.cloneLedger,
		Embedded: flightsheets.FS(),
		Tools:    rulebookTools(g.now().UTC().Format(time.DateOnly)), Papers: ledgerPapers(),
		Options: gate.Options{Mode: g.in.mode, Pull: g.in.pull, SHA: g.in.sha, Config: g.in.config, FailOn: g.in.failOn,
			Commands: event.Inputs["commands"]},
		Runner: gate.Runner{Repository: g.repo, ServerURL: g.server, Actor: g.getenv("GITHUB_ACTOR"),
			Ref: g.getenv("GITHUB_REF"), WorkflowRef: g.getenv("GITHUB_WORKFLOW_REF"),
			WorkflowSHA: g.getenv("GITHUB_WORKFLOW_SHA"), RunID: runnerNumber(g.getenv("GITHUB_RUN_ID")),
			Attempt: runnerNumber(g.getenv("GITHUB_RUN_ATTEMPT")), Now: g.now()}}, nil
}

// completeEvent asks for what an event does not say: a schedule has no payload to speak of.
func (g *gating) completeEvent(event *gate.Event) error {
	if event.RepositoryID != 0 && event.DefaultBranch != "" {
		return nil
	}
	repository, err := g.api.Repository(g.ctx)
	if err != nil {
		return err
	}
	event.RepositoryID, event.DefaultBranch = repository.ID, repository.DefaultBranch
	return nil
}

// newClient reaches the API of a repository. In a dry run what would write is printed and not sent.
func (g *gating) newClient(repo string) (*githubapi.Client, error) {
	o := githubapi.Options{APIURL: g.getenv("GITHUB_API_URL"), Token: g.in.token, Repository: repo,
		MaxWait: g.in.maxWait, UserAgent: "referee/" + referee.EngineVersion}
	if g.in.dry {
		o.Dry = g.step.printDryRequest
	}
	api, err := githubapi.New(o)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return api, nil
}

// makeScratch makes a folder for what is fetched.
func (g *gating) makeScratch() (err error) {
	if err := os.MkdirAll(os.TempDir(), 0o777); err != nil {
		return toolf("creating a folder for what is fetched: %w", err)
	}
	if g.dir, err = os.MkdirTemp("", "referee-gate-"); err != nil {
		return toolf("creating a folder for what is fetched: %w", err)
	}
	return nil
}

// ledgerURL is where git finds the ledger.
func (g *gating) ledgerURL(at config.Ledger) (repo, url string) {
	if repo = at.Repository; repo == "" {
		repo = g.repo
	}
	return repo, g.server + "/" + repo + ".git"
}

// connectLedger connects to the ledger.
func (g *gating) connectLedger(at config.Ledger) (ledger.Store, error) {
	repo, url := g.ledgerURL(at)
	api := g.api
	if repo != g.repo {
		var err error
		if api, err = g.newClient(repo); err != nil {
			return nil, err
		}
	}
	store, err := githubstore.Open(api, githubstore.Options{URL: url, Token: g.in.token, Branch: at.Branch,
		Cache: g.dir, Notice: g.step.notice, MaxWait: g.in.maxWait})
	if err != nil {
		return nil, err
	}
	g.close_ = append(g.close_, store)
	if g.in.dry {
		return dryStore{store, g.step}, nil
	}
	return store, nil
}

// cloneLedger fetches the whole ledger.
func (g *gating) cloneLedger(ctx context.Context, at config.Ledger) (*gitstore.Repo, string, error) {
	_, url := g.ledgerURL(at)
	o := gitstore.Options{Branch: at.Branch, Password: g.in.token, Cache: g.dir, MaxWait: g.in.maxWait}
	store, err := gitstore.Open(url, o)
	if err != nil {
		return nil, "", err
	}
	head, err := store.Head(ctx)
	if err = errors.Join(err, store.Close()); err != nil || head.ID == "" {
		return nil, "", err
	}
	dir, err := os.MkdirTemp(g.dir, "ledger-") // the schedule looks twice: before it heals and after
	if err != nil {
		return nil, "", err
	}
	repo, err := gitstore.Clone(ctx, url, dir, o)
	return repo, head.ID, err
}

// dryStore is a ledger that nothing is written to.
type dryStore struct {
	ledger.Store
	step *actionStep
}

// Append is ledger.Store's.
func (d dryStore) Append(_ context.Context, _ ledger.Snapshot, b ledger.Batch) error {
	d.step.printLine("would commit to the ledger: %s", report.Clean(strings.SplitN(b.Message, "\n", 2)[0]))
	for _, f := range b.Files {
		d.step.printLine("  %s (%d bytes)", f.Path, len(f.Data))
	}
	return nil
}

// runnerNumber is a number of the runner's, 0 where it says none.
func runnerNumber(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// gateInputs are the action's inputs (formats.md).
type gateInputs struct {
	token, mode, sha, config, failOn string
	pull                             int64
	maxWait                          time.Duration
	summary, dry                     bool
}
