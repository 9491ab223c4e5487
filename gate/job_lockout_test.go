package gate_test

import (
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/githubtest"
)

// handIn proposes a sample run in pull requests of its own, from a fork where one is named.
func (w *world) handIn(run, author, fork string, times int) []int64 {
	w.Helper()
	var out []int64
	for i := range times {
		branch := author + run + string(rune('a'+i))
		change := githubtest.Change{Files: sampleFiles(w, run), Author: author, Parent: w.s.Ref("refs/heads/main")}
		if fork == "" {
			w.s.Commit(branch, change)
		} else {
			w.s.CommitFork(fork, branch, change)
		}
		pull := w.s.Open(githubtest.Pull{Head: branch, Author: author, Fork: fork})
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		out = append(out, pull)
	}
	return out
}

func (w *world) rejectPulls(pulls []int64) {
	w.Helper()
	for _, pull := range pulls {
		w.s.Review(pull, "wim", "CHANGES_REQUESTED", "no")
		w.mustReview(pull)
	}
}

func (w *world) withdrawPulls(pulls []int64, by string) {
	w.Helper()
	for _, pull := range pulls {
		w.s.Close(pull, by)
		w.mustJob(w.s.PullEvent(pull, "closed", true))
	}
}

// isLaneLocked reports whether the lane is locked for the agent of the sample runs.
func (w *world) isLaneLocked() bool {
	w.Helper()
	pull := w.proposeRuns("next", "oak-street")
	r := w.mustJob(w.s.PullEvent(pull, "opened", true))
	locked := strings.Contains(w.gateReview(pull), "recurring_flag")
	if r.Failed != locked {
		w.Errorf("failed %v, locked %v", r.Failed, locked)
	}
	return locked
}

// agents is a configuration that knows who operates the agent of the sample runs.
const agents = "governance: {agents: [{name: underwriter, operators: [Agent], model: example-70b-instruct, " +
	"capability_tier: frontier, params_b: 70, context_tokens: 128000, runtime: cloud, tools: [calculator, " +
	"document_reader]}]}\n"

// TestLaneLockInPull: rejected work with critical flags is remembered, and locks the agent out of its lane.
func TestLaneLockInPull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rejectPulls(w.handIn("elm-plaza", "agent", "", 2))
	w.wantKinds("rejected rejected")
	if !w.isLaneLocked() {
		t.Error("the lane is not locked")
	}
}

// TestLockOutByStranger: bad work that a stranger hands in under an agent's name, and whoever closes it, locks nobody
// out; what the agent's operator withdraws does.
func TestLockOutByStranger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, config, author, fork, closedBy string
		locked                               bool
	}{
		{"a stranger's, closed by the stranger", agents, "mallory", "mallory/work", "mallory", false},
		{"a stranger's, closed by the operator", agents, "mallory", "mallory/work", "agent", false},
		{"the operator's, closed by a maintainer", agents, "agent", "", "wim", true},
	} {
		w := newWorld(t)
		w.commitConfig(c.config)
		w.withdrawPulls(w.handIn("elm-plaza", c.author, c.fork, 2), c.closedBy)
		w.wantKinds("withdrawn withdrawn")
		if w.isLaneLocked() != c.locked {
			t.Errorf("%s: locked %v, want %v", c.what, !c.locked, c.locked)
		}
	}
}

// TestLockOutByOperatorsHand: evidence on base names no author, and the operator who closes a stranger's pull request
// is not taken for its author.
func TestLockOutByOperatorsHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig(agents)
	evidence := map[string]string{}
	for name, text := range sampleFiles(t, "elm-plaza") {
		if strings.Contains(name, "/evidence/") {
			evidence[name] = text
		}
	}
	w.s.Commit("main", githubtest.Change{Files: evidence})
	w.withdrawPulls(w.handIn("elm-plaza", "mallory", "mallory/work", 2), "agent")
	w.wantKinds("withdrawn withdrawn")
	for _, e := range w.ledgerEntries() {
		if e.Receipt.Audited() {
			t.Errorf("entry %d holds an audit that reads as the agent's", e.Receipt.Seq)
		}
	}
	if w.isLaneLocked() {
		t.Error("locked")
	}
}

// TestLockOutByDeals: right analyses of bad deals are no flags, however often a person says no to the deal.
func TestLockOutByDeals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig(agents)
	w.rejectPulls(w.handIn("river-lofts", "agent", "", 3))
	w.wantKinds("rejected rejected rejected")
	for _, e := range w.ledgerEntries() {
		if e.Receipt.Verdict.Risk.High == 0 {
			t.Error("the sample has no high finding any more")
		}
	}
	if w.isLaneLocked() {
		t.Error("right work locks its agent out")
	}
}
