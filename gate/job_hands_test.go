package gate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
)

// proposeInCommit opens a pull request of the agent with a sample run, in one commit.
func (w *world) proposeInCommit(c githubtest.Change) int64 {
	w.Helper()
	c.Files = sampleFiles(w, "oak-street")
	w.s.Commit("x", c)
	pull := w.s.Open(githubtest.Pull{Head: "x", Author: "agent"})
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	return pull
}

// wantSignOff reports whether a person's review signs the pull request off; if not, the gate's review says why.
func (w *world) wantSignOff(pull int64, who, says string) {
	w.Helper()
	r, err := w.approvePull(pull, who, answers)
	switch {
	case err != nil:
		w.Errorf("%s: %v", who, err)
	case (r.Word == outcome.ResultSigned) != (says == ""):
		w.Errorf("%s: %s, want %q", who, r.Word, says)
	default:
		w.wantMatch(w.gateReview(pull), says)
	}
}

// TestUnknownIdentity: an author or a committer whom GitHub links to no account is an unknown hand, under an address of
// GitHub's own and of a known agent too, and an address that holds a login is that login's hand.
func TestUnknownIdentity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change githubtest.Change
		who    string
		says   string
	}{
		"another number before the login": {githubtest.Change{Author: "Rosa <999999+rosa@users.noreply.github.com>"},
			"rosa", "is the author of commit"},
		"and nobody else signs": {githubtest.Change{Author: "Rosa <999999+rosa@users.noreply.github.com>"},
			"wim", "author <999999\\+rosa.at.users.noreply.github.com> of commit [0-9a-f]{7} has no GitHub account"},
		"the address of a known agent": {githubtest.Change{Author: "Claude <noreply@anthropic.com>"}, "rosa",
			"author <noreply.at.anthropic.com> of commit"},
		"GitHub as author": {githubtest.Change{Author: "GitHub <noreply@github.com>"}, "rosa",
			"author <noreply.at.github.com>"},
		"an app that GitHub links": {githubtest.Change{Author: "helper[bot]"}, "rosa", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.wantSignOff(w.proposeInCommit(c.change), c.who, c.says)
		})
	}
	t.Run("listed for a governed agent", func(t *testing.T) {
		w := newWorld(t)
		w.commitConfig(strings.Replace(agents, "operators:", "emails: [Noreply@anthropic.com], operators:", 1))
		w.wantSignOff(w.proposeInCommit(githubtest.Change{Author: "Claude <noreply@anthropic.com>"}), "rosa", "")
	})
}

// TestUnknownIdentityTrailers: a Co-authored-by that GitHub resolves is that person, one of a known agent is nobody,
// and any other is unknown.
func TestUnknownIdentityTrailers(t *testing.T) {
	t.Parallel()
	private := githubtest.User{Login: "rosa", ID: 7, Role: "maintain", Emails: []string{"rosa@home.example"}}
	for name, c := range map[string]struct {
		trailer, config, who, says string
	}{
		"a person's private address": {"Rosa <rosa@home.example>", "", "rosa", "is a co-author of commit"},
		"and somebody else signs":    {"Rosa <rosa@home.example>", "", "wim", ""},
		"which stays unknown": {"Rosa <999999+rosa@users.noreply.github.com>", "", "wim",
			"co-author <999999\\+rosa.at..* governance.agent_trailers"},
		"nobody's address": {"Y <y@z.example>", "", "rosa", "co-author <y.at.z.example> of commit"},
		"Claude":           {"Claude <noreply@anthropic.com>", "", "rosa", ""},
		"an app": {"d <158243242+devin-ai-integration[bot]@users.noreply.github.com>", "", "rosa",
			""},
		"one that is configured": {"Own <agent@corp.example>", "governance: {agent_trailers: " +
			"[agent@corp.example]}\n", "rosa", ""},
		"one that is not any more": {"Claude <noreply@anthropic.com>", "governance: {agent_trailers: []}\n", "rosa",
			"co-author <noreply.at.anthropic.com>"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.s.AddUser(private)
			w.commitConfig(c.config)
			w.wantSignOff(
				w.proposeInCommit(githubtest.Change{Author: "agent", Message: "Change\n\nCo-authored-by: " + c.trailer + "\n"}),
				c.who,
				c.says,
			)
		})
	}
}

// gatesReview is the id of the gate's review.
func (w *world) gatesReview(pull int64) int64 {
	w.Helper()
	ids := w.s.ReviewsBy(pull, "github-actions[bot]")
	if len(ids) == 0 {
		w.Fatal("no review of the gate")
	}
	return ids[0]
}

// TestPushersRemembered: who pushed is remembered from the gate's own review only, whatever looks like it.
func TestPushersRemembered(t *testing.T) {
	t.Parallel()
	t.Run("an older review of another bot looks like ours", func(t *testing.T) {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		like := fmt.Sprintf(
			"<!-- referee:review/v1 pull=%d head=%s digest=%064d run=1 attempt=1 -->\n\ntext",
			pull,
			w.s.Head(pull),
			0,
		)
		forged := w.s.Review(pull, "helper[bot]", "COMMENTED", like)
		w.mustJob(withSender(t, w.s.PullEvent(pull, "opened", true), "rosa"))
		w.s.Push(pull, githubtest.Change{Files: map[string]string{"a.txt": "1"}, Author: "agent"})
		w.mustJob(withSender(t, w.s.PullEvent(pull, "synchronize", true), "agent"))
		w.wantSignOff(pull, "rosa", "pushed to the pull request")
		if body, _ := w.s.ReviewBody(pull, forged); body != like {
			t.Errorf("the other bot's review was written: %s", body)
		}
		w.wantSignOff(pull, "wim", "")
	})
	t.Run("a later job forgets nobody", func(t *testing.T) {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		for i, who := range []string{"agent", "rosa", "agent", "agent"} {
			w.s.Push(pull, githubtest.Change{Files: map[string]string{"a.txt": fmt.Sprint(i)}, Author: "agent"})
			w.mustJob(withSender(t, w.s.PullEvent(pull, "synchronize", true), who))
		}
		w.wantSignOff(pull, "rosa", "pushed to the pull request")
	})
	t.Run("a slow job", func(t *testing.T) {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		w.s.Push(pull, githubtest.Change{Files: map[string]string{"a.txt": "1"}, Author: "agent"})
		slow := withSender(t, w.s.PullEvent(pull, "synchronize", true), "rosa")
		w.s.Push(pull, githubtest.Change{Files: map[string]string{"a.txt": "2"}, Author: "agent"})
		w.mustJob(slow) // finds the head of the push after its own
		w.mustJob(withSender(t, w.s.PullEvent(pull, "synchronize", true), "agent"))
		w.wantSignOff(pull, "rosa", "pushed to the pull request")
	})
	t.Run("more than are kept", func(t *testing.T) {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		body := w.gateReview(pull)
		marker, rest, _ := strings.Cut(body, "\n")
		names := make([]string, 100)
		for i := range names {
			names[i] = fmt.Sprintf("p%d", i)
		}
		w.s.EditReview(
			pull,
			w.gatesReview(pull),
			marker+"\n<!-- referee:pushers "+strings.Join(names, " ")+" -->\n"+rest,
		) // as the gate itself
		w.mustJob(withSender(t, w.s.PullEvent(pull, "synchronize", true), "rosa"))
		w.wantSignOff(pull, "rosa", "more than 100 accounts pushed")
	})
}

// TestPushersRememberedAfterEdit: once somebody else has edited the gate's review, what it keeps is not believed,
// nobody's review counts, and that stays so when the gate has written its review anew; a new pull request begins
// afresh.
func TestPushersRememberedAfterEdit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by   string
		edit func(body string) string
		says string
	}{
		"a name is taken out": {"rosa", func(b string) string { return strings.Replace(b, "rosa", "mallory", 1) },
			"edited by rosa"},
		"the marker is taken out": {"rosa", func(b string) string { _, rest, _ := strings.Cut(b, "\n"); return rest },
			"edited by rosa"},
		"a later run's number": {"rosa", func(b string) string {
			return strings.Replace(b, "run=2 ", "run=99999 ",
				1)
		}, "edited by rosa"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pull := w.proposeRuns("oak", "oak-street")
			w.mustJob(w.s.PullEvent(pull, "opened", true))
			w.mustJob(withSender(t, w.s.PullEvent(pull, "synchronize", true), "rosa"))
			id := w.gatesReview(pull)
			body, _ := w.s.ReviewBody(pull, id)
			edited := c.edit(body)
			if edited == body {
				t.Fatalf("nothing is edited in\n%s", body)
			}
			w.s.EditReviewBy(pull, id, c.by, edited)
			for _, who := range []string{"wim", "rosa"} {
				r, err := w.approvePull(pull, who, answers)
				if err != nil || r.Word != outcome.ResultAwaiting {
					t.Errorf("%s: %+v, %v", who, r, err)
				}
			}
			w.wantKinds("")
			ids := w.s.ReviewsBy(pull, "github-actions[bot]")
			text, _ := w.s.ReviewBody(pull, ids[len(ids)-1])
			w.wantMatch(text, c.says+".*open a new pull request")
			again := w.s.Open(githubtest.Pull{Head: "oak", Author: "agent", Base: "main"})
			w.s.Close(pull, "agent")
			w.mustJob(w.s.PullEvent(again, "opened", true))
			w.wantSignOff(again, "wim", "")
		})
	}
}

// TestRevisionLoopAfterEdit: whoever edits the gate's review does not begin the revisions anew: a human decides, and
// goes on deciding.
func TestRevisionLoopAfterEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("elm", "elm-plaza")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.s.EditReviewBy(pull, w.gatesReview(pull), "agent", "nothing failed here")
	text := sampleFiles(t, "elm-plaza")["runs/elm-plaza/submission.json"]
	for i := range 2 {
		text += "\n"
		w.s.Push(
			pull,
			githubtest.Change{Files: map[string]string{"runs/elm-plaza/submission.json": text}, Author: "agent"},
		)
		if r := w.mustJob(w.s.PullEvent(pull, "synchronize", true)); r.Outcome.RecommendedAction() != "review" ||
			r.Outcome.Audits[0].Failed < 2 {
			t.Errorf("head %d: %s, %d", i, r.Outcome.RecommendedAction(), r.Outcome.Audits[0].Failed)
		}
	}
}

// TestTooManyCommits: who made the commits that GitHub does not list cannot be told: a failure that says what to do.
// Where no run is touched it does not matter.
func TestTooManyCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.Commit("long", githubtest.Change{Files: sampleFiles(t, "oak-street"), Author: "agent"})
	w.s.Commit("other", githubtest.Change{Files: map[string]string{"a.txt": "1"}, Author: "agent"})
	w.s.CommitMany("long", 249, "agent")
	w.s.CommitMany("other", 249, "agent")
	pull := w.s.Open(githubtest.Pull{Head: "long", Author: "agent"})
	_, err := w.runJob(w.s.PullEvent(pull, "opened", true))
	var b *gate.Broken
	if !errors.As(err, &b) || !strings.Contains(err.Error(), "250 commits") ||
		!strings.Contains(err.Error(), "squash them, or split the pull request") {
		t.Errorf("%v", err)
	}
	if c := w.newestCheck(w.s.Head(pull), comment.AuditCheck); c.Conclusion != "failure" ||
		!strings.Contains(c.Summary, "squash them") {
		t.Errorf("%+v", c)
	}
	other := w.s.Open(githubtest.Pull{Head: "other", Author: "agent"})
	w.s.Review(other, "rosa", "APPROVED", "")
	if r := w.mustJob(w.s.PullEvent(other, "opened", true)); r.Word != outcome.ResultNoRuns {
		t.Errorf("%+v", r)
	}
}
