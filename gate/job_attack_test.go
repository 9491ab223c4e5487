package gate_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
)

// editFile is a run's files, one of them changed.
func editFile(files map[string]string, name, old, now string) map[string]string {
	out := maps.Clone(files)
	out[name] = strings.Replace(out[name], old, now, 1)
	if out[name] == files[name] {
		panic("nothing changed in " + name)
	}
	return out
}

// TestPullRequestChoosesNothing: what a pull request says of its own rules is not believed.
func TestPullRequestChoosesNothing(t *testing.T) {
	t.Parallel()
	oak := sampleFiles(t, "oak-street")
	manifest := "runs/oak-street/run.json"
	settings := "runs: [{path: \"runs/**/run.json\", sheets: [cre-multifamily-agency], lane: agent}]\n"
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"another sheet": {editFile(oak, manifest, "cre-multifamily-agency", "repair-triage"),
			`cannot be used|lets \[cre`},
		"an inactive version": {editFile(oak, manifest, "cre-multifamily-agency", "cre-multifamily-agency@0.9.0"),
			`active version|cannot be used`},
		"another lane": {editFile(oak, manifest, `"lane": "agent"`, `"lane": "dataset"`), `lane`},
		"its own configuration": {editFile(editFile(oak, manifest, "cre-multifamily-agency", "repair-triage"), manifest,
			`"oak-street"`, `"oak-street"`+"\n "), `cannot be used|lets \[cre`},
	} {
		w := newWorld(t)
		w.commitConfig(settings)
		files := maps.Clone(c.files)
		if name == "its own configuration" {
			files[config.Path] = "version: 1\nfail_on: never\nruns: [{path: \"runs/**/run.json\", sheets: [\"*\"]}]\n"
			files[".github/workflows/referee.yml"] = "on: push"
		}
		pull := w.proposeFiles("x", files)
		if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
			t.Errorf("%s: passes", name)
		}
		w.wantConclusions(pull, "failure", "action_required")
		w.wantMatch(w.gateReview(pull), c.says)
		if r, err := w.approvePull(pull, "rosa", answers); err != nil || !r.Failed {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		w.wantKinds("")
	}
}

// TestLaxerSheet: a sheet that the pull request edits judges nothing in it; what it would mean is said.
func TestLaxerSheet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := sampleFiles(t, "elm-plaza")
	files["flight_sheets/cre-multifamily-agency.json"] = "{}"
	pull := w.proposeFiles("x", files)
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("passes")
	}
	w.wantMatch(w.gateReview(pull), `flight_sheets/cre-multifamily-agency\.json`)
	w.wantConclusions(pull, "failure", "action_required")
}

// TestRetarget: a pull request against a base that nobody gates gets the default branch's rules, and a sign-off there
// is void once it is retargeted.
func TestRetarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.Commit("loose", githubtest.Change{Files: map[string]string{config.Path: "version: 1\nfail_on: never\n"}})
	w.s.Commit("x", githubtest.Change{Files: sampleFiles(t, "elm-plaza"), Author: "agent"})
	pull := w.s.Open(githubtest.Pull{Head: "x", Base: "loose", Author: "agent"})
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("the pull request's own base decides")
	}

	// TakeBase: GitHub does it by itself
	for name, retarget := range map[string]func(pull int64, base string){"y": w.s.Retarget, "z": w.s.TakeBase} {
		w.s.Commit(name, githubtest.Change{Files: sampleFiles(t, "oak-street"), Author: "agent"})
		pull = w.s.Open(githubtest.Pull{Head: name, Base: "loose", Author: "agent"})
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultSigned {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		retarget(pull, "main")
		w.mustJob(w.s.PullEvent(pull, "edited", true))
		w.wantConclusions(pull, "success", "action_required")
	}
}

// TestForgedCheck: a check of another app, or one that an agent's workflow made with the same name, is neither taken
// for ours nor updated.
func TestForgedCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("elm", "elm-plaza")
	w.s.ForgeCheck("evil", w.s.Head(pull), comment.AuditCheck, "success")
	w.s.ForgeCheck("github-actions", w.s.Head(pull), comment.SignOffCheck, "success")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.wantConclusions(pull, "failure", "action_required")
}

// TestForgedEntry: an entry appended with the workflow's token is not confirmed by the next one: the gate refuses to
// write behind it.
func TestForgedEntry(t *testing.T) {
	t.Parallel()
	w, _ := signedWorld(t, "")
	w.forgeEntry()
	pull := w.proposeRuns("maple", "maple-court")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	_, err := w.approvePull(pull, "rosa", answers)
	var b *gate.Broken
	if !errors.As(err, &b) || !strings.Contains(err.Error(), "failed verification") {
		t.Errorf("%v", err)
	}
	if c := w.newestCheck(w.s.Head(pull), comment.AuditCheck); c.Conclusion != "failure" {
		t.Errorf("%+v", c)
	}
}

// TestWhoSigns: the hands that made the work do not sign it off.
func TestWhoSigns(t *testing.T) {
	t.Parallel()
	oak := sampleFiles(t, "oak-street")
	for name, c := range map[string]struct {
		change githubtest.Change
		who    string
		author string
		says   string
	}{
		"the author": {githubtest.Change{Files: oak, Author: "agent"}, "agent", "agent", "opened the pull " +
			"request"},
		"a committer": {githubtest.Change{Files: oak, Author: "rosa"}, "rosa", "agent", "author of commit"},
		"a co-author": {githubtest.Change{Files: oak, Author: "agent", Message: "x\n\nCo-authored-by: Rosa " +
			"<7+rosa@users.noreply.github.com>\n"}, "rosa", "agent", "co-author"},
		"a bot": {githubtest.Change{Files: oak, Author: "agent"}, "helper[bot]", "agent",
			"do not count"},
		"too low":    {githubtest.Change{Files: oak, Author: "agent"}, "tria", "agent", "below write"},
		"a stranger": {githubtest.Change{Files: oak, Author: "agent"}, "mallory", "agent", "below write"},
		"the operator": {githubtest.Change{Files: editFile(oak, "runs/oak-street/run.json", `"cost_usd"`,
			`"operator": "rosa", "cost_usd"`), Author: "agent"}, "rosa", "agent", "declared operator"},
		"an unknown hand": {githubtest.Change{Files: oak, Author: "Someone <x@nowhere.example>"}, "rosa", "agent",
			"no GitHub account"},
		"without answers":  {githubtest.Change{Files: oak, Author: "agent"}, "rosa", "agent", "checklist"},
		"a broken command": {githubtest.Change{Files: oak, Author: "agent"}, "rosa", "agent", "unknown command"},
	} {
		w := newWorld(t)
		w.s.Commit("x", c.change)
		pull := w.s.Open(githubtest.Pull{Head: "x", Author: c.author})
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		body := map[string]string{"without answers": "", "a broken command": answers + "/satsified x"}
		text, special := body[name]
		if !special {
			text = answers
		}
		r, err := w.approvePull(pull, c.who, text)
		if err != nil || r.Word != outcome.ResultAwaiting {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		w.wantKinds("")
		w.wantConclusions(pull, "success", "action_required")
		if !strings.Contains(w.gateReview(pull), c.says) {
			t.Errorf("%s: nothing says %q:\n%s", name, c.says, w.gateReview(pull))
		}
	}
}

// TestPusher: who pushed the agent's commits does not sign them, although no commit names them.
func TestPusher(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("oak", "oak-street")
	w.mustJob(withSender(t, w.s.PullEvent(pull, "opened", true), "rosa"))
	if r, err := w.approvePull(pull, "rosa", answers); err != nil || r.Word != outcome.ResultAwaiting {
		t.Errorf("%+v, %v", r, err)
	}
	w.wantMatch(w.gateReview(pull), "pushed to the pull request")
	if r, err := w.approvePull(pull, "wim", answers); err != nil || r.Word != outcome.ResultSigned {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestApproveThenPush: an approval is of the bytes that were reviewed. A force-push voids it, also where GitHub
// re-points the review to the new head.
func TestApproveThenPush(t *testing.T) {
	t.Parallel()
	for _, repoint := range []bool{false, true} {
		w := newWorld(t)
		pull := w.proposeRuns("oak", "oak-street")
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		w.s.Review(pull, "rosa", "APPROVED", answers)
		w.s.ForcePush(pull, githubtest.Change{Files: sampleFiles(t, "maple-court"), Author: "agent"}, repoint)
		w.mustJob(w.s.PullEvent(pull, "synchronize", true))
		w.mustReview(pull)
		w.wantConclusions(pull, "success", "action_required")
		w.wantKinds("")
	}
}

// TestHostileTree: what is not plain files under the runs root is refused by name.
func TestHostileTree(t *testing.T) {
	t.Parallel()
	oak := sampleFiles(t, "oak-street")
	for name, c := range map[string]struct {
		change githubtest.Change
		says   string
	}{
		"a symlink as submission": {githubtest.Change{Files: editFile(oak, "runs/oak-street/submission.json",
			oak["runs/oak-street/submission.json"], "../../README.md"),
			Modes: map[string]string{"runs/oak-street/submission.json": "120000"}}, "symlink|plain files"},
		"a submodule as run": {githubtest.Change{Files: map[string]string{"runs/evil": strings.Repeat("1", 40)},
			Modes: map[string]string{"runs/evil": "160000"}}, "belongs to no run|submodule"},
		"a pointer of a large-file storage": {githubtest.Change{Files: editFile(oak, "runs/oak-street/submission.json",
			oak["runs/oak-street/submission.json"],
			"version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("a", 64)+"\nsize 12345\n")},
			"submission.json is a Git LFS pointer"},
		"a pointer as evidence": {githubtest.Change{Files: editFile(oak, "runs/oak-street/evidence/t12.csv",
			oak["runs/oak-street/evidence/t12.csv"],
			"version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("a", 64)+"\nsize 12345\n")},
			"t12.csv is a Git LFS pointer"},
		"no manifest": {githubtest.Change{Files: map[string]string{"runs/x/submission.json": "{}"}},
			"belongs to no run"},
		"a broken manifest": {githubtest.Change{Files: map[string]string{"runs/x/run.json": "{"}},
			"run.json.*line 1"},
		"no submission": {githubtest.Change{Files: map[string]string{
			"runs/oak-street/run.json": oak["runs/oak-street/run.json"]}}, "missing"},
		"another folder name": {githubtest.Change{Files: map[string]string{"runs/x/run.json": oak["runs/oak-street/run.json"],
			"runs/x/submission.json": "{}"}}, "must be the same"},
	} {
		w := newWorld(t)
		c.change.Author = "agent"
		w.s.Commit("x", c.change)
		pull := w.s.Open(githubtest.Pull{Head: "x", Author: "agent"})
		r, err := w.runJob(w.s.PullEvent(pull, "opened", true))
		if err != nil || !r.Failed {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		w.wantConclusions(pull, "failure", "action_required")
		w.Run(name, func(t *testing.T) { (&world{T: t, s: w.s}).wantMatch(w.gateReview(pull), c.says) })
	}
}

// TestManyFiles: 3,001 changed files outside the runs root change nothing; a run among them is still found, although
// GitHub's list would end.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := sampleFiles(t, "elm-plaza")
	for i := range 3001 {
		files[fmt.Sprintf("a/%04d.txt", i)] = "x"
	}
	pull := w.proposeFiles("x", files)
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("the run among the files is not seen")
	}
}

// TestLargeFile: a file of 100 MB is never read into memory, and never a pass.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("100 MB")
	}
	w := newWorld(t)
	files := sampleFiles(t, "oak-street")
	files["runs/oak-street/evidence/t12.csv"] = strings.Repeat("x", 100<<20)
	pull := w.proposeFiles("x", files)
	r := w.mustJob(w.s.PullEvent(pull, "opened", true))
	if !r.Failed {
		t.Errorf("%+v", r)
	}
	w.wantConclusions(pull, "failure", "action_required")
}

// TestManyLargeSubmissions: submissions that would not fit into memory together are refused, as a failure that says
// what to do.
func TestManyLargeSubmissions(t *testing.T) {
	t.Parallel()
	if os.Getenv("REFEREE_CI") != "1" {
		t.Skip("300 MB take half a minute: .ci/run reads them")
	}
	w := newWorld(t)
	files := map[string]string{}
	manifest := sampleFiles(t, "oak-street")["runs/oak-street/run.json"]
	large := `{"text": "` + strings.Repeat("x", 5<<20-100) + `"}`
	for i := range 55 {
		id := fmt.Sprintf("r%02d", i)
		files["runs/"+id+"/run.json"] = strings.Replace(manifest, `"id": "oak-street"`, `"id": "`+id+`"`, 1)
		files["runs/"+id+"/submission.json"] = large
	}
	pull := w.proposeFiles("x", files)
	_, err := w.runJob(w.s.PullEvent(pull, "opened", true))
	var b *gate.Broken
	if !errors.As(err, &b) || !strings.Contains(err.Error(), "256 MiB") {
		t.Errorf("%v", err)
	}
	if c := w.newestCheck(w.s.Head(pull), comment.AuditCheck); c.Conclusion != "failure" {
		t.Errorf("%+v", c)
	}
}

// TestForeignEvidence: evidence that the pull request brings itself is said to be the agent's, and refused where the
// configuration takes none.
func TestForeignEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig("evidence: base_only\n")
	pull := w.proposeRuns("oak", "oak-street")
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("the agent's own evidence passes")
	}
	w.wantMatch(w.gateReview(pull), "base_only")
}

// TestMisstatedProfile: a profile that run.json misstates fails where the configuration pins another.
func TestMisstatedProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commitConfig(
		"governance: {agents: [{name: underwriter, emails: [], model: another-model, capability_tier: small}]}\n",
	)
	pull := w.proposeRuns("oak", "oak-street")
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Error("a misstated profile passes")
	}
	w.wantMatch(w.gateReview(pull), "policy_violation|another profile")
}
