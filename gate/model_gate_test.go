package gate

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

var modelSeed = flag.Uint64("model.seed", 0, "play the history of this seed alone, step by step")

// ModelFiles are the files of a run of the model, below its folder, and the folder.
func ModelFiles(t testing.TB, work string) (dir string, files map[string]string) {
	t.Helper()
	dir = map[string]string{"river": "river-lofts", "elm": "elm-plaza"}[work]
	if dir == "" {
		dir = "oak-street"
	}
	files = map[string]string{}
	root := filepath.Join("..", "testdata", "runs", dir)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		b, err := os.ReadFile(file)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	run := files["run.json"]
	switch work {
	case "oak2":
		run = strings.Replace(run, `"cost_usd": "1.84"`, `"cost_usd": "1.85"`, 1)
	case "owned":
		run = strings.Replace(run, `"cost_usd"`, `"operator": "owner", "cost_usd"`, 1)
	}
	if changed := run != files["run.json"]; changed != (work == "oak2" || work == "owned") {
		t.Fatalf("%s: run.json is not as this test expects it", work)
	}
	files["run.json"] = run
	return dir, files
}

// modelAudits are the audited runs of the model, by their names.
func modelAudits(t testing.TB) map[string]audit.AuditedRun {
	t.Helper()
	library := referee.NewLibrary(flightsheets.FS(), fstest.MapFS{}, "flight_sheets")
	out := map[string]audit.AuditedRun{}
	for work := range modelWorks {
		dir, files := ModelFiles(t, work)
		tree := fstest.MapFS{}
		for name, text := range files {
			tree["runs/"+dir+"/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		a := audit.Examine(
			tree,
			audit.PlannedRun{Dir: "runs/" + dir, Rule: config.RunRule{Sheets: []string{"*"}}},
			library,
			config.Default(),
			nil,
		)
		if a.Work == nil {
			t.Fatal(a.Refused)
		}
		a.Work.Evidence = receipt.EvidenceOf(
			a.Work.Report,
			func(string) (string, string) { return "pull_request", "agent" },
		)
		out[work] = a
	}
	return out
}

// modelGate is the same pull request as the API would give it, and the gate's own decision of it, without a network:
// what is announced is what it has written.
type modelGate struct {
	t       testing.TB
	audits  map[string]audit.AuditedRun
	configs map[string]*config.Config

	cfg      *config.Config
	pr       githubapi.PullRequest
	work     string
	commits  []githubapi.Commit
	reviews  []githubapi.Review
	edited   map[int64]bool
	timeline []githubapi.TimelineEvent
	roles    map[string]string
	pushers  memory.Pushers
	entries  []ledger.Entry
	now      time.Time
	minted   int64
}

var modelIDs = map[string]int64{"owner": 1, "rosa": 7, "wim": 8, "tria": 9, "agent": 20, modelBot: 30, "mallory": 66}

func newModelGate(
	t testing.TB,
	audits map[string]audit.AuditedRun,
	configs map[string]*config.Config,
	h ModelHistory,
) *modelGate {
	g := &modelGate{
		t:       t,
		audits:  audits,
		configs: configs,
		roles:   maps.Clone(modelRoles),
		edited:  map[int64]bool{},
		now:     gatetest.Noon,
	}
	g.pr = githubapi.PullRequest{
		Number:  3,
		Author:  h.Author,
		State:   "open",
		BaseRef: "main",
		BaseSHA: "base",
		HeadSHA: modelSHA(0),
	}
	g.parseConfig(h.Config)
	return g
}

func modelSHA(n int) string { return fmt.Sprintf("%040x", n) }

func (g *modelGate) parseConfig(c ModelConfig) {
	text := c.YAML()
	if g.configs[text] == nil {
		cfg, err := config.Parse([]byte(text), config.Path)
		if err != nil {
			g.t.Fatal(err)
		}
		g.configs[text] = cfg
	}
	g.cfg = g.configs[text]
}

// identityOf is somebody as GitHub resolves an address.
func identityOf(who string) githubapi.Identity {
	if name, rest, ok := strings.Cut(who, " <"); ok {
		out := githubapi.Identity{Name: name, Email: strings.TrimSuffix(rest, ">")}
		if who == modelSite {
			out.Login = "web-flow"
		}
		return out
	}
	return githubapi.Identity{Login: who, Name: who, Email: noReplyOf(who), Bot: who == modelBot}
}

// noReplyOf is the address under which GitHub hides an account.
func noReplyOf(who string) string {
	return fmt.Sprintf("%d+%s@users.noreply.github.com", modelIDs[who], who)
}

// ModelMessage is a commit's message with its trailers.
func ModelMessage(trailers []string) string {
	out := "Change\n"
	for _, who := range trailers {
		if !strings.Contains(who, "<") {
			who = fmt.Sprintf("%s <%s>", who, noReplyOf(who))
		}
		out += "\nCo-authored-by: " + who
	}
	return out + "\n"
}

func (g *modelGate) addTimeline(name, who string) {
	g.timeline = append(g.timeline, githubapi.TimelineEvent{Event: name, Actor: who, At: g.now})
}

// applyToAPI is what a step does to what the API gives.
func (g *modelGate) applyToAPI(s ModelStep) {
	g.now = g.now.Add(time.Minute)
	switch s.What {
	case "push", "force", "repoint":
		g.pushCommit(s)
	case "review":
		id := int64(len(g.reviews) + 1)
		digest := (&outcome.Outcome{Head: g.pr.HeadSHA, Audits: []audit.AuditedRun{g.audits[g.work]}}).Digest()
		kind := map[bool]string{true: "Bot", false: "User"}[s.Who == modelBot]
		g.reviews = append(
			g.reviews,
			githubapi.Review{
				ID:          id,
				User:        s.Who,
				UserID:      modelIDs[s.Who],
				UserType:    kind,
				State:       s.State,
				CommitSHA:   g.pr.HeadSHA,
				SubmittedAt: g.now,
				Body:        strings.ReplaceAll(s.Words.Body(), ModelDigest, digest[:8]),
			},
		)
	case "edit":
		g.reviews[s.Review].Body += "\nAnd more."
		g.edited[int64(s.Review+1)] = true
	case "restore":
		g.edited[int64(s.Review+1)] = true
	case "dismiss":
		if r := &g.reviews[s.Review]; r.State != "COMMENTED" {
			r.State = "DISMISSED"
			g.addTimeline("review_dismissed", s.Who)
		}
	case "retarget":
		g.pr.BaseRef = map[string]string{"main": "dev", "dev": "main"}[g.pr.BaseRef]
		g.addTimeline("base_ref_changed", s.Who)
	case "draft", "ready":
		g.pr.Draft = s.What == "draft"
	case "permission":
		g.roles[s.Who] = s.Value
	case "close", "merge":
		g.pr.State, g.pr.Merged = "closed", s.What == "merge"
	case "reopen":
		g.pr.State = "open"
		g.pushers = g.pushers.With(s.Who)
	case "configure":
		g.parseConfig(s.Config)
	}
}

func (g *modelGate) pushCommit(s ModelStep) {
	g.pushers, g.work = g.pushers.With(s.Who), cmp.Or(s.Work, g.work)
	before := g.pr.HeadSHA
	g.minted++
	g.pr.HeadSHA = modelSHA(int(g.minted))
	author := identityOf(s.Author)
	c := githubapi.Commit{
		SHA:       g.pr.HeadSHA,
		Author:    author,
		Committer: identityOf(s.Committer),
		Message:   ModelMessage(s.Trailers),
		Authors:   []githubapi.Identity{author},
	}
	for _, who := range s.Trailers {
		c.Authors = append(c.Authors, identityOf(who))
	}
	g.commits = append(g.commits, c)
	if s.What == "push" {
		return
	}
	g.commits = []githubapi.Commit{c}
	g.addTimeline("head_ref_force_pushed", s.Who)
	for i := range g.reviews {
		if s.What == "repoint" && g.reviews[i].CommitSHA == before {
			g.reviews[i].CommitSHA = g.pr.HeadSHA
		}
	}
}

// decideJob decides as a job does: the reviews, what becomes of earlier sign-offs, the receipts. err is where the job
// would end without a verdict.
func (g *modelGate) decideJob() (out *outcome.Outcome, err error) {
	facts := pullFacts{
		job:   &Job{Event: &Event{RepositoryID: 1}, Runner: Runner{Repository: "acme/underwriting"}},
		pr:    g.pr,
		rules: &Rules{Config: g.cfg, Commit: "base"},
	}
	audited := facts.beginAudit()
	audited.held.entries = g.entries
	audited.out.Audits = []audit.AuditedRun{g.audits[g.work]}
	p := g.buildRecord(audited).withJudgements()
	if g.pr.State != "open" {
		for _, e := range p.held.liveSignOffs() {
			if r, _ := p.draftEnding(e); r != nil {
				g.mintReceipt(&p, *r)
			}
		}
		return &p.out, nil
	}
	ended := p.draftLifecycle()
	p.out.Drift = append(p.out.Drift, ended.drift...)
	signing, blocked := p.draftReceipts()
	p.out.Blocked = blocked
	for _, r := range slices.Concat(ended.drafts, signing) {
		if e := p.held.entryOf(r); e != nil {
			if err := p.held.recogniseEntry(r, e); err != nil {
				return &p.out, err
			}
			continue
		}
		g.mintReceipt(&p, r)
	}
	for _, r := range signing {
		p.out.Receipts = append(p.out.Receipts, *p.held.entryOf(r))
	}
	return &p.out, nil
}

func (g *modelGate) mintReceipt(p *judgedPull, r ledger.Receipt) {
	r.Seq = int64(len(g.entries) + 1)
	g.entries = append(g.entries, ledger.Entry{Hash: fmt.Sprintf("%064x", r.Seq), Receipt: &r})
	p.held.entries = g.entries
}

// buildRecord is what the gate reads, as readRecord reads it.
func (g *modelGate) buildRecord(a auditedPull) judgedPull {
	work := g.audits[g.work].Work
	rec := &signoff.Record{
		Pull:        g.pr,
		Reviews:     slices.Clone(g.reviews),
		Digest:      a.out.Digest(),
		HeadNow:     g.pr.HeadSHA,
		Permissions: map[string]string{},
		TeamMembers: map[string]bool{},
		Timeline: slices.Clone(
			g.timeline,
		),
		Commits: g.commits,
		Edited:  maps.Clone(g.edited),
		Pushers: g.pushers,
		Agents:  []string{work.Run.Agent.Name},
	}
	if work.Run.Operator != "" {
		rec.Operators = []string{work.Run.Operator}
	}
	for _, login := range whoDecides(rec.Reviews) {
		rec.Permissions[login] = g.roles[login]
	}
	for _, e := range g.entries {
		a.held.vouched[e.Hash] = true
	}
	p := judgedPull{auditedPull: a, record: rec}
	rec.Carried = p.carriedReviews()
	return p
}

// firstDisagreement plays a history through the model and the gate, and says where they first differ; "" where they
// never do.
func firstDisagreement(
	t testing.TB,
	audits map[string]audit.AuditedRun,
	configs map[string]*config.Config,
	h ModelHistory,
	tell *bytes.Buffer,
) string {
	g := newModelGate(t, audits, configs, h)
	for i, v := range ModelRun(h) {
		g.applyToAPI(h.Steps[i])
		if !v.Job {
			continue
		}
		o, err := g.decideJob()
		if tell != nil {
			fmt.Fprintf(tell, "%3d  %s: %s\n", i, h.Steps[i], g.describeBothSides(v, o, err))
		}
		if !v.Open {
			continue
		}
		if signed := err == nil && o.Signed(); signed != v.Signed {
			return fmt.Sprintf(
				"after step %d: signed is %v, the model says %v (%s)\n%s",
				i,
				signed,
				v.Signed,
				v.Why,
				g.describeBothSides(v, o, err),
			)
		}
		counted := map[int64]bool{}
		for _, j := range o.CountedReviews() {
			counted[j.Review.ID] = true
		}
		for n, why := range v.Counts {
			if counted[int64(n+1)] != (why == "") {
				return fmt.Sprintf(
					"after step %d: review %d counts is %v\n%s",
					i,
					n,
					counted[int64(n+1)],
					g.describeBothSides(v, o, err),
				)
			}
		}
	}
	return ""
}

// describeBothSides is both sides' view, for people.
func (g *modelGate) describeBothSides(v ModelVerdict, o *outcome.Outcome, err error) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"gate: signed %v, blocked %q, objections %q, unknown %q, drift %q, error %v\n",
		o.Signed(),
		o.Blocked,
		o.Objections,
		o.Unknown,
		o.Drift,
		err,
	)
	for i, j := range o.Judged {
		fmt.Fprintf(
			&b,
			"       review %d of %s: gate %v %q, model %q\n",
			i,
			j.Review.User,
			j.Counted,
			j.Because,
			v.Counts[i],
		)
	}
	return b.String()
}

// TestModel holds the gate's decision to the model's on generated histories: on 10,000 with REFEREE_CI=1, and on the
// first 2,500 of them otherwise.
func TestModel(t *testing.T) {
	t.Parallel()
	audits, configs := modelAudits(t), map[string]*config.Config{}
	if *modelSeed != 0 {
		var tell bytes.Buffer
		h := NewModelHistory(*modelSeed, 16)
		why := firstDisagreement(t, audits, configs, h, &tell)
		t.Fatalf("%s\n%s\n%s", h, tell.String(), why)
	}
	histories := uint64(2_500)
	if os.Getenv("REFEREE_CI") == "1" {
		histories = 10_000
	}
	signed, green, jobs, failed := uint64(0), 0, 0, 0
	for seed := range histories {
		h := NewModelHistory(seed+1, 16)
		why := firstDisagreement(t, audits, configs, h, nil)
		verdicts := ModelRun(h)
		for _, v := range verdicts {
			if v.Job {
				jobs++
			}
			if v.Signed {
				green++
			}
		}
		if slices.ContainsFunc(verdicts, func(v ModelVerdict) bool { return v.Signed }) {
			signed++
		}
		if why == "" {
			continue
		}
		small, why := shrinkHistory(h, func(h ModelHistory) string { return firstDisagreement(t, audits, configs, h, nil) })
		t.Errorf("seed %d: %s\n%s", seed+1, why, small)
		if failed++; failed == 6 {
			t.FailNow()
		}
	}
	t.Logf("%d jobs, %d of them green, in %d histories; %d were signed off at some time", jobs, green, histories, signed)
	if signed < histories/5 {
		t.Error("too few histories are ever signed off: they would prove little")
	}
}
