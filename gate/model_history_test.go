package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// ModelStep is one thing that somebody does to a pull request.
type ModelStep struct {
	// push, force, repoint, review, edit, restore, dismiss, retarget, draft, ready, permission, close, reopen,
	// merge, configure
	What      string
	Who       string
	Work      string   // of a push: the run's bytes, "" the same
	Author    string   // of its commit
	Committer string   // of its commit
	Trailers  []string // of its commit
	Review    int      // which review is edited or dismissed, from 0
	State     string
	Words     ModelWords
	Value     string // a permission, a base
	Config    ModelConfig
	Quiet     bool // no job runs: it was cancelled, or GitHub lost the event
}

// String is the step as a person would tell it.
func (s ModelStep) String() string {
	out := s.What + " by " + s.Who
	switch s.What {
	case "push", "force", "repoint":
		out += fmt.Sprintf(" of %q, author %s, committer %s, trailers %v", s.Work, s.Author, s.Committer, s.Trailers)
	case "review":
		out += " " + s.State + fmt.Sprintf(" %+v", s.Words)
	case "edit", "restore", "dismiss":
		out += fmt.Sprintf(" of review %d", s.Review)
	case "configure":
		out += fmt.Sprintf(" %+v", s.Config)
	default:
		out += " " + s.Value
	}
	if s.Quiet {
		out += " (no job)"
	}
	return out
}

// ModelHistory is a pull request from its opening.
type ModelHistory struct {
	Author string
	Config ModelConfig
	Steps  []ModelStep // the first is the first push
}

// String is the history, a line a step.
func (h ModelHistory) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "opened by %s, %+v\n", h.Author, h.Config)
	for i, s := range h.Steps {
		fmt.Fprintf(&b, "%3d  %s\n", i, s)
	}
	return b.String()
}

// modelDice picks.
type modelDice struct{ *rand.Rand }

func (d modelDice) pickOne(in ...string) string { return in[d.IntN(len(in))] }
func (d modelDice) chance(percent int) bool     { return d.IntN(100) < percent }
func (d modelDice) pickWeighted(w []weight) string {
	sum := 0
	for _, x := range w {
		sum += x.n
	}
	at := d.IntN(sum)
	for _, x := range w {
		if at -= x.n; at < 0 {
			return x.what
		}
	}
	return ""
}

type weight struct {
	what string
	n    int
}

// modelWeights make sign-offs common, and everything that ends one too.
var modelWeights = []weight{
	{"review", 40},
	{"push", 7},
	{"force", 6},
	{"repoint", 6},
	{"edit", 5},
	{"restore", 2},
	{"dismiss", 6},
	{"retarget", 3},
	{"draft", 2},
	{"ready", 4},
	{"permission", 4},
	{"close", 2},
	{"reopen", 3},
	{"merge", 1},
	{"configure", 5},
}

// NewModelHistory makes the history of a seed, of at most so many steps.
func NewModelHistory(seed uint64, most int) ModelHistory {
	d := modelDice{rand.New(rand.NewPCG(seed, 0x5eed))}
	h := ModelHistory{Author: d.pickWeighted([]weight{{"agent", 8}, {modelBot, 2}, {"rosa", 1}}), Config: d.pickConfig()}
	first := d.pickPush(h.Author)
	first.What, first.Who, first.Work, first.Quiet = "push", h.Author, d.pickWeighted(
		[]weight{{"oak", 6}, {"river", 2}, {"elm", 1}, {"owned", 1}},
	), false
	h.Steps = append(h.Steps, first)
	reviews, closed, merged, work := 0, false, false, first.Work
	for range 3 + d.IntN(most-3) {
		s := d.pickStep(reviews, work)
		switch s.What {
		case "review":
			reviews++
		case "close", "merge":
			if closed {
				continue
			}
			closed, merged = true, s.What == "merge"
		case "reopen":
			if !closed || merged {
				continue
			}
			closed = false
		case "push", "force", "repoint", "retarget", "draft", "ready":
			if closed { // GitHub follows the branch of an open one only
				continue
			}
		}
		work = cmp.Or(s.Work, work)
		h.Steps = append(h.Steps, s)
	}
	return h
}

func (d modelDice) pickConfig() ModelConfig {
	return ModelConfig{
		Count:   1 + d.IntN(2)*d.IntN(2),
		Minimum: d.pickWeighted([]weight{{"write", 8}, {"maintain", 2}, {"admin", 1}}),
		FailOn:  d.pickWeighted([]weight{{"high", 5}, {"mid", 1}}),
		Carry: d.chance(
			50,
		),
		Digest:          d.chance(25),
		AllowAuthor:     d.chance(15),
		AllowCommitters: d.chance(15),
		Crew:            d.chance(50),
	}
}

// people who review, most often those who may.
func (d modelDice) pickReviewer() string {
	return d.pickWeighted(
		[]weight{{"rosa", 10}, {"owner", 7}, {"wim", 7}, {"tria", 2}, {"mallory", 2}, {"agent", 2}, {modelBot, 2}},
	)
}

// pickPush is a commit, mostly of the agent's alone.
func (d modelDice) pickPush(who string) ModelStep {
	s := ModelStep{Who: who, Author: who, Committer: who}
	if d.chance(8) {
		s.Author = d.pickOne("agent", "wim", "owner", modelUnknown, modelCrew, modelTrailer)
	}
	if d.chance(20) {
		s.Committer = d.pickOne(
			"agent",
			"wim",
			"rosa",
			modelSite,
			modelSite,
			modelSite,
			modelUnknown,
			modelCrew,
			modelTrailer,
		)
	}
	if d.chance(25) {
		s.Trailers = append(
			s.Trailers,
			d.pickOne(modelTrailer, modelTrailer, modelTrailer, modelTrailer, "wim", "rosa", modelCrew, modelUnknown),
		)
	}
	return s
}

func (d modelDice) pickWords(work string) ModelWords {
	w := ModelWords{Satisfied: []string{questionA, questionB}}
	switch d.IntN(12) {
	case 0:
		w.Satisfied = nil
	case 1:
		w.Satisfied = []string{questionA}
	case 2:
		w.Satisfied, w.Flagged = []string{questionA}, []string{questionB}
	case 3:
		w.Satisfied = []string{questionB}
	}
	if d.chance(map[bool]int{true: 80, false: 4}[modelWorks[work].deal]) {
		w.Accepted = []string{dealRule}
	}
	w.Digest = d.pickWeighted([]weight{{"", 6}, {"right", 9}, {"wrong", 1}})
	w.Broken = d.chance(2)
	if d.chance(3) {
		w.Satisfied = append(w.Satisfied, noSuchRule)
	}
	return w
}

// pickStep is the next thing, where so many reviews have been given and these bytes are the head's.
func (d modelDice) pickStep(reviews int, work string) ModelStep {
	s := ModelStep{What: d.pickWeighted(modelWeights), Who: d.pickReviewer(), Quiet: d.chance(20)}
	if reviews == 0 && slices.Contains([]string{"edit", "restore", "dismiss"}, s.What) {
		s.What = "review"
	}
	switch s.What {
	case "push", "force", "repoint":
		next := d.pickPush(d.pickWeighted([]weight{{"agent", 8}, {modelBot, 1}, {"wim", 1}, {"rosa", 1}}))
		next.What, next.Work = s.What, d.pickWeighted(
			[]weight{{"", 6}, {"oak", 2}, {"oak2", 2}, {"river", 2}, {"elm", 1}, {"owned", 1}},
		)
		return next
	case "review":
		s.State, s.Words = d.pickWeighted(
			[]weight{{"APPROVED", 14}, {"CHANGES_REQUESTED", 3}, {"COMMENTED", 2}},
		), d.pickWords(
			work,
		)
	case "edit", "restore", "dismiss":
		s.Review = max(d.IntN(reviews), d.IntN(reviews)) // the newer ones more often
	case "retarget":
		s.Who, s.Value = "agent", "dev"
	case "permission":
		s.Value = d.pickOne(modelRank...)
	case "configure":
		s.Config = d.pickConfig()
	case "reopen":
		s.Who, s.Quiet = d.pickOne("agent", "agent", "wim"), false
	}
	return s
}

// applyToModel is what a step does to the model's picture.
func (m *model) applyToModel(s ModelStep) {
	m.now++
	switch s.What {
	case "push", "force", "repoint":
		m.head++
		m.pushers[s.Who] = true
		if s.Work != "" {
			m.work = s.Work
		}
		c := modelCommit{author: s.Author, committer: s.Committer, trailers: s.Trailers}
		m.commits = append(m.commits, c)
		if s.What != "push" {
			m.commits, m.forced = []modelCommit{c}, append(m.forced, m.now)
		}
	case "review":
		m.reviews = append(m.reviews, &modelReview{who: s.Who, state: s.State, head: m.head, at: m.now, words: s.Words})
	case "edit", "restore":
		m.reviews[s.Review].edited = true
	case "dismiss":
		if r := m.reviews[s.Review]; r.state != "COMMENTED" {
			r.dismissed = true
		}
	case "retarget":
		m.base = map[string]string{"main": "dev", "dev": "main"}[m.base]
		m.moved = append(m.moved, m.now)
	case "draft", "ready":
		m.draft = s.What == "draft"
	case "permission":
		m.roles[s.Who] = s.Value
	case "close":
		m.state = "closed"
	case "reopen":
		m.state = "open"
		m.pushers[s.Who] = true
	case "merge":
		m.state = "merged"
	case "configure":
		m.cfg = s.Config
	}
}

// ModelVerdict is what the model says after a step.
type ModelVerdict struct {
	Job    bool // a job runs
	Open   bool
	Signed bool
	Why    string   // it is not signed
	Counts []string // of each review: "" it counts, else the words of gate.md that keep it out
}

// ModelRun plays a history through the model, and gives what it says after each step.
func ModelRun(h ModelHistory) []ModelVerdict {
	m := &model{
		cfg:     h.Config,
		author:  h.Author,
		state:   "open",
		base:    "main",
		pushers: map[string]bool{},
		roles:   maps.Clone(modelRoles),
	}
	var out []ModelVerdict
	for _, s := range h.Steps {
		m.applyToModel(s)
		v := ModelVerdict{Job: s.Job(), Open: m.state == "open"}
		if v.Job {
			m.takeBack()
			_, v.Counts = m.countReviews()
			v.Signed, v.Why = m.judgeDelivery()
		}
		out = append(out, v)
	}
	return out
}

// Job reports whether a job runs after a step: a change of the configuration, of a permission, or to a draft is no
// event that the gate hears of.
func (s ModelStep) Job() bool {
	return !s.Quiet && !slices.Contains([]string{"configure", "permission", "draft"}, s.What)
}

// shrinkHistory drops steps as long as a history still fails.
func shrinkHistory(h ModelHistory, fails func(ModelHistory) string) (ModelHistory, string) {
	why := fails(h)
	for i := len(h.Steps) - 1; i > 0; i-- {
		less := h
		less.Steps = slices.Delete(slices.Clone(h.Steps), i, i+1)
		if !isPlayable(less) {
			continue
		}
		if w := fails(less); w != "" {
			h, why = less, w
		}
	}
	return h, why
}

// isPlayable reports whether every step of a history is about something that is there.
func isPlayable(h ModelHistory) bool {
	reviews, state := 0, "open"
	for _, s := range h.Steps {
		switch s.What {
		case "review":
			reviews++
		case "edit", "restore", "dismiss":
			if s.Review >= reviews {
				return false
			}
		case "close", "merge":
			if state != "open" {
				return false
			}
			state = s.What
		case "reopen":
			if state != "close" {
				return false
			}
			state = "open"
		case "push", "force", "repoint", "retarget", "draft", "ready":
			if state != "open" {
				return false
			}
		}
	}
	return true
}

// SignedSeed gives, for a number, the seed of a history that is signed off at some time if the number is even, and of
// any history if it is odd.
func SignedSeed(n uint64) uint64 {
	seed := 1_000_000 + n*1000
	for n%2 == 0 && !slices.ContainsFunc(ModelRun(NewModelHistory(seed, 10)),
		func(v ModelVerdict) bool { return v.Signed }) {
		seed++
	}
	return seed
}
