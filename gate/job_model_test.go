package gate_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
)

// modelWorld is a generated history on a GitHub for tests.
type modelWorld struct {
	*world
	pull    int64
	work    string
	base    string
	reviews []int64
	states  []string
}

// newModelWorld opens the pull request of a history.
func newModelWorld(t *testing.T, h gate.ModelHistory) *modelWorld {
	m := &modelWorld{world: newWorld(t), base: "main"}
	m.configureAll(h.Config)
	first := h.Steps[0]
	m.work = first.Work
	m.s.Commit("work", m.changeOf(first, ""))
	m.pull = m.s.Open(githubtest.Pull{Head: "work", Author: h.Author})
	return m
}

// configureAll commits the configuration to both bases. The second one begins with it.
func (m *modelWorld) configureAll(c gate.ModelConfig) {
	for _, branch := range []string{"main", "dev"} {
		m.s.Commit(branch, githubtest.Change{Files: map[string]string{config.Path: "version: 1\n" + c.YAML()}})
	}
}

// changeOf is the commit of a push: the bytes of a run in place of another's.
func (m *modelWorld) changeOf(s gate.ModelStep, before string) githubtest.Change {
	c := githubtest.Change{
		Files:     map[string]string{fmt.Sprintf("notes/%d.txt", m.s.Now().Unix()): "a change beside the runs"},
		Author:    s.Author,
		Committer: s.Committer,
		Pusher:    s.Who,
		Message:   gate.ModelMessage(s.Trailers),
	}
	if before != "" {
		dir, files := gate.ModelFiles(m.T, before)
		for name := range files {
			c.Delete = append(c.Delete, "runs/"+dir+"/"+name)
		}
	}
	dir, files := gate.ModelFiles(m.T, m.work)
	for name, text := range files {
		c.Files["runs/"+dir+"/"+name] = text
	}
	return c
}

// playStep does what a step says; and if a job is to run, the event that starts it.
func (m *modelWorld) playStep(i int, s gate.ModelStep) (event githubtest.Event) {
	switch s.What {
	case "push", "force", "repoint":
		if i == 0 {
			return withSender(m.T, m.s.PullEvent(m.pull, "opened", true), s.Who)
		}
		before := m.work
		if s.Work != "" {
			m.work = s.Work
		}
		if s.What == "push" {
			m.s.Push(m.pull, m.changeOf(s, before))
		} else {
			m.s.ForcePush(m.pull, m.changeOf(s, ""), s.What == "repoint")
		}
		return withSender(m.T, m.s.PullEvent(m.pull, "synchronize", true), s.Who)
	case "review":
		digest := m.newestCheck(m.s.Head(m.pull), comment.AuditCheck).ExternalID
		m.reviews = append(
			m.reviews,
			m.s.Review(
				m.pull,
				s.Who,
				s.State,
				strings.ReplaceAll(s.Words.Body(), gate.ModelDigest, digest[:min(8, len(digest))]),
			),
		)
		m.states = append(m.states, s.State)
	case "edit", "restore":
		body, _ := m.s.ReviewBody(m.pull, m.reviews[s.Review])
		if s.What == "edit" {
			body += "\nAnd more."
		}
		m.s.EditReviewBy(m.pull, m.reviews[s.Review], s.Who, body)
	case "dismiss":
		if m.states[s.Review] != "COMMENTED" {
			m.s.DismissReview(m.pull, m.reviews[s.Review], s.Who)
		}
	case "retarget":
		m.base = map[string]string{"main": "dev", "dev": "main"}[m.base]
		m.s.Retarget(m.pull, m.base)
		return m.s.PullEvent(m.pull, "edited", true)
	case "draft", "ready":
		m.s.SetDraft(m.pull, s.What == "draft")
		if s.Quiet || s.What == "draft" {
			return event
		}
		return m.s.PullEvent(m.pull, "ready_for_review", true)
	case "permission":
		m.setRole(s.Who, s.Value)
	case "configure":
		m.configureAll(s.Config)
	case "close":
		m.s.Close(m.pull, "agent")
		return m.s.PullEvent(m.pull, "closed", true)
	case "reopen":
		m.s.Reopen(m.pull, s.Who)
		return withSender(m.T, m.s.PullEvent(m.pull, "reopened", true), s.Who)
	case "merge":
		m.s.Merge(m.pull, "owner", "squash")
		return m.s.PullEvent(m.pull, "closed", true)
	}
	return m.s.RunEvent(m.s.AddRun(githubtest.Run{Pull: m.pull, Listed: true}))
}

func (m *modelWorld) setRole(login, role string) {
	ids := map[string]int64{"owner": 1, "rosa": 7, "wim": 8, "tria": 9, "agent": 20, "mallory": 66, "helper[bot]": 30}
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	m.s.AddUser(githubtest.User{Login: login, ID: ids[login], Type: kind, Role: role})
}

// TestModelOverTheWire plays generated histories through the whole job, and holds the sign-off check of each open head
// to the model. TestModel plays ten thousand against the decision alone; a handful goes over the wire here, and more of
// them in .ci/run.
func TestModelOverTheWire(t *testing.T) {
	t.Parallel()
	histories := uint64(12)
	if os.Getenv("REFEREE_CI") == "1" {
		histories = 120
	}
	var played, green atomic.Int64
	t.Run("histories", func(t *testing.T) {
		for n := range histories {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				jobs, greens := playOverTheWire(t, gate.NewModelHistory(gate.SignedSeed(n), 10))
				played.Add(jobs)
				green.Add(greens)
			})
		}
	})
	t.Logf("%d jobs, %d times green", played.Load(), green.Load())
	if green.Load() == 0 {
		t.Error("nothing was ever green: this proves nothing")
	}
}

// playOverTheWire plays one history as long as it is not merged, and counts jobs and greens.
func playOverTheWire(t *testing.T, h gate.ModelHistory) (jobs, greens int64) {
	verdicts := gate.ModelRun(h)
	m := newModelWorld(t, h)
	for i, s := range h.Steps {
		event := m.playStep(i, s)
		if !verdicts[i].Job {
			continue
		}
		_, err := m.runJob(event)
		jobs++
		if s.What == "merge" {
			break
		}
		if !verdicts[i].Open {
			continue
		}
		c := m.newestCheck(m.s.Head(m.pull), comment.SignOffCheck)
		green := c.Conclusion == "success"
		if green {
			greens++
		}
		if green != verdicts[i].Signed || err != nil {
			t.Errorf(
				"after step %d: green is %v, the model says %v (%s); %v\n%s\n%s",
				i,
				green,
				verdicts[i].Signed,
				verdicts[i].Why,
				err,
				h,
				c.Summary,
			)
			break
		}
	}
	m.ledgerEntries() // verifies the ledger
	return jobs, greens
}

// TestAnotherSigner: where two sign and one of them is replaced, the other's receipt repeats other answers than before:
// it is a new receipt, and no forgery.
func TestAnotherSigner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("approval: {count: 2}\n")
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	id := w.s.Review(pull, "rosa", "APPROVED", "/satisfied appraisal_within_12_months")
	if r, err := w.approvePull(pull, "wim", "/satisfied borrower_name_matches"); err != nil ||
		r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v", r, err)
	}
	w.s.DismissReview(pull, id, "owner")
	w.mustReview(pull)
	w.wantConclusions(pull, "success", "action_required")
	for range 2 {
		if r, err := w.approvePull(pull, "owner", "/satisfied appraisal_within_12_months"); err != nil ||
			r.Word != outcome.ResultSigned {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	w.wantConclusions(pull, "success", "success")
	if kinds := w.entryKinds(); !strings.HasPrefix(kinds, "approved approved revoked approved approved") {
		t.Errorf("%q", kinds)
	}
}

// TestDismissedRequestStillTakesBack: somebody who requested changes has taken back what they answered before, also if
// that request was dismissed.
func TestDismissedRequestStillTakesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.s.Review(pull, "rosa", "APPROVED", answers)
	id := w.s.Review(pull, "rosa", "CHANGES_REQUESTED", "no")
	w.s.DismissReview(pull, id, "owner")
	if r, err := w.approvePull(pull, "rosa", "again"); err != nil || r.Word == outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantConclusions(pull, "success", "action_required")
}
