package gate_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubtest"
)

// printedCommands is the block of commands in the gate's review, as a person copies it.
func (w *world) printedCommands(pull int64) string {
	w.Helper()
	m := regexp.MustCompile("(?s)### How to sign off\n\n[^`]*\n\n```\n(.*?)```\n").FindStringSubmatch(w.gateReview(pull))
	if m == nil {
		w.Fatalf("no block of commands in:\n%s", w.gateReview(pull))
	}
	return m[1]
}

// withReasons writes a reason behind each /accept, which is all that a person has to add.
func withReasons(block string) string {
	return regexp.MustCompile(`(?m)^/accept \S+$`).ReplaceAllString(block, "$0 the sponsor guarantees the shortfall")
}

// secondSheet puts a sheet onto base that asks another question than the library's, and gives the run of a sample by
// it.
func (w *world) secondSheet(run string) map[string]string {
	w.Helper()
	src, err := os.ReadFile("../flight_sheets/cre-multifamily-agency.json")
	if err != nil {
		w.Fatal(err)
	}
	own := strings.NewReplacer(
		"cre-multifamily-agency",
		"house-multifamily",
		"borrower_name_matches",
		"site_visit",
		"Is the borrower's name on the memo the same as on the term sheet?",
		"Did somebody see the site this year?",
	)
	w.s.Commit(
		"main",
		githubtest.Change{Files: map[string]string{"flight_sheets/house-multifamily.json": own.Replace(string(src))}},
	)
	files := sampleFiles(w, run)
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "cre-multifamily-agency", "house-multifamily")
	}
	return files
}

// TestPrintedBlocks: what a person is told to paste is complete for the head of now, and signs when it is pasted with
// the reasons; without them nothing is signed.
func TestPrintedBlocks(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(w *world) int64{
		"clean":        func(w *world) int64 { return w.proposeRuns("oak", "oak-street") },
		"deal-finding": func(w *world) int64 { return w.proposeRuns("river", "river-lofts") },
		"two runs":     func(w *world) int64 { return w.proposeRuns("two", "oak-street", "river-lofts") },
		"two sheets": func(w *world) int64 {
			files := w.secondSheet("maple-court")
			for k, v := range sampleFiles(w, "river-lofts") {
				files[k] = v
			}
			return w.proposeFiles("sheets", files)
		},
		"digest required": func(w *world) int64 {
			w.commitConfig("approval: {digest_required: true}\n")
			return w.proposeRuns("oak", "oak-street")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pull := open(w)
			w.mustJob(w.s.PullEvent(pull, "opened", true))
			block := w.printedCommands(pull)
			if strings.Contains(block, "/digest") != (name == "digest required") {
				t.Errorf("the digest is asked for where it is required: %s", block)
			}
			filled := withReasons(block)
			if filled != block { // as it is printed, it accepts nothing
				if r, err := w.approvePull(pull, "wim", block); err != nil || r.Word == outcome.ResultSigned {
					t.Fatalf("without a reason: %+v, %v", r, err)
				}
				w.wantKinds("")
				if again := w.printedCommands(pull); again != block {
					t.Errorf("after a review that does not count the block is %q, was %q", again, block)
				}
			}
			if r, err := w.approvePull(pull, "rosa", filled); err != nil || r.Word != outcome.ResultSigned {
				t.Fatalf("%+v, %v\n%s\n%s", r, err, filled, w.gateReview(pull))
			}
			w.wantConclusions(pull, "success", "success")
			_, text, _ := strings.Cut(w.gateReview(pull), "-->\n\n")
			if m := regexp.MustCompile(`(?i)unsigned|waiting|awaits|still waits|How to sign`).FindString(
				text); m != "" {
				t.Errorf("after the sign-off the review says %q", m)
			}
			w.wantMatch(text, "^## Referee: signed off by `rosa`\n")
		})
	}
}

// TestNoBlockBeforeAFix: where the agent has to push first, nothing is printed that could be pasted in vain.
func TestNoBlockBeforeAFix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("elm", "elm-plaza")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if text := w.gateReview(pull); strings.Contains(text, "\n/satisfied") || strings.Contains(text, "\n/accept") {
		t.Error(text)
	}
	w.wantMatch(w.gateReview(pull), "^(<!--.*-->\n)+\n## Referee: waiting for the agent to fix 2 findings\n")
}

// TestAnswersPerRun: runs in one pull request are answered and accepted one by one; what is said of one concerns no
// other.
func TestAnswersPerRun(t *testing.T) {
	t.Parallel()
	both := func() (*world, int64) {
		w := newWorld(t)
		files := w.secondSheet("maple-court")
		for k, v := range sampleFiles(t, "river-lofts") {
			files[k] = v
		}
		pull := w.proposeFiles("both", files)
		w.mustJob(w.s.PullEvent(pull, "opened", true))
		return w, pull
	}
	common := "/satisfied river-lofts:appraisal_within_12_months\n/satisfied borrower_name_matches\n/flag " +
		"maple-court:site_visit nobody was there\n"
	const second = "/satisfied maple-court:appraisal_within_12_months\n/accept maple-court:dscr_gate x y"
	for text, says := range map[string]string{
		common + "/accept dscr_gate the sponsor pays": "unanswered checklist items",
		common + second: "flags nothing",
		common + "/satisfied oak-street:appraisal_within_12_months\n/accept dscr_gate x y": "no run asks",
	} {
		w, pull := both()
		if r, err := w.approvePull(pull, "rosa", text); err != nil || r.Word == outcome.ResultSigned {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
		w.wantMatch(w.gateReview(pull), says)
		w.wantKinds("")
	}
	w, pull := both()
	body := common + "/satisfied maple-court:appraisal_within_12_months\n/accept river-lofts:dscr_gate the sponsor pays"
	if r, err := w.approvePull(pull, "rosa", body); err != nil || r.Word != outcome.ResultSigned {
		t.Fatalf("%+v, %v\n%s", r, err, w.gateReview(pull))
	}
	for _, e := range w.ledgerEntries() {
		flagged, accepted := false, len(e.Receipt.Accepted)
		for _, a := range e.Receipt.Checklist {
			flagged = flagged || a.ID == "site_visit" && a.Answer == "flag" && a.By == "rosa"
		}
		if id := e.Receipt.Run.ID; flagged != (id == "maple-court") || (accepted == 1) != (id == "river-lofts") {
			t.Errorf("%s: flagged %v, %d accepted", id, flagged, accepted)
		}
	}
}

// TestReviewRefused: where the review cannot be written, the checks carry what it would have said.
func TestReviewRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("river", "river-lofts")
	w.s.Inject(githubtest.NoAccess.On("POST", "pulls/*/reviews").Always())
	if r := w.mustJob(w.s.PullEvent(pull, "opened", true)); !r.Failed {
		t.Errorf("%+v", r)
	}
	c := w.newestCheck(w.s.Head(pull), comment.AuditCheck)
	w.wantMatch(c.Summary,
		"\n/satisfied appraisal_within_12_months\n/satisfied borrower_name_matches\n/accept dscr_gate\n")
	w.wantMatch(c.Summary, "Not posted: `the review")
	w.wantMatch(c.Text, "#### Findings")
	if n := len(c.Annotations); n == 0 || n > 20 {
		t.Errorf("%d annotations", n)
	}
	w.s.ClearFaults()
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	if c = w.newestCheck(w.s.Head(pull), comment.AuditCheck); len(c.Summary) > 400 || c.Text != "" {
		t.Errorf("with the review there, the check still says all: %s", c.Summary)
	}
}

// TestReviewLinks: places of findings are links to the very commit.
func TestReviewLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.proposeRuns("river", "river-lofts")
	w.mustJob(w.s.PullEvent(pull, "opened", true))
	w.wantMatch(
		w.gateReview(pull),
		"\\[`runs/river-lofts/submission\\.json:\\d+`\\]\\("+regexp.QuoteMeta(
			w.s.URL+"/acme/underwriting/blob/"+w.s.Head(pull),
		)+"/runs/river-lofts/submission\\.json#L\\d+\\)",
	)
}
