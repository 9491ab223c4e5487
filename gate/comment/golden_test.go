package comment

//go:generate go test . -run ^TestGoldenPapers$ -update

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/golden"
	"github.com/defendableos/referee/referee"
)

// postedText is all that is posted of an outcome, as one text. Hashes are cut: TestDigestIsOne compares them.
func postedText(o *outcome.Outcome) string {
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "======== %s\n%s\n", title, text) }
	for _, c := range []githubapi.Check{WriteAuditCheck(o, 10), WriteSignOffCheck(o)} {
		section(fmt.Sprintf("check %s: %s, %s", c.Name, c.Status, c.Conclusion), c.Title)
		section("its summary", c.Summary)
		section("its text", c.Text)
		for _, a := range c.Annotations {
			section(
				fmt.Sprintf(
					"annotation %s %s:%d:%d-%d:%d %s",
					a.Level,
					a.Path,
					a.StartLine,
					a.StartColumn,
					a.EndLine,
					a.EndColumn,
					a.Title,
				),
				a.Message+"\n"+a.Raw,
			)
		}
	}
	section("review", WriteReview(o))
	for _, out := range StepOutputs(o, "referee/report.json") {
		fmt.Fprintf(&b, "%s=%s\n", out.Name, out.Value)
	}
	for _, c := range WriteInline(o, func(string) map[int]bool { return map[int]bool{22: true} }) {
		section(fmt.Sprintf("comment %s:%d", c.Path, c.Line), c.Body)
	}
	section("commands", strings.Join(WorkflowCommands(o, 10), "\n"))
	return regexp.MustCompile(`[0-9a-f]{64}|=[0-9a-f]{16}\b|(/digest |Audit .)[0-9a-f]{8}`).
		ReplaceAllString(b.String(), "${1}HASH")
}

// TestGoldenPapers compares whole papers with files that were read by a person when they were written.
func TestGoldenPapers(t *testing.T) {
	for name, make := range goldenOutcomes() {
		file := filepath.Join("testdata", "papers", name+".txt")
		got := postedText(make())
		golden.Compare(t, file, []byte(got))
	}
}

// TestConclusions states the answers that let a merge happen.
func TestConclusions(t *testing.T) {
	for name, want := range map[string][3]string{ // audit, sign-off, result
		"clean-awaiting":        {"success", "action_required", outcome.ResultAwaiting},
		"clean-signed":          {"success", "success", outcome.ResultSigned},
		"high-flags":            {"failure", "action_required", outcome.ResultFailed},
		"deal-finding-accepted": {"success", "action_required", outcome.ResultAwaiting},
		"refusals":              {"failure", "action_required", outcome.ResultFailed},
		"hundred-runs":          {"failure", "action_required", outcome.ResultFailed},
		"no-runs":               {"success", "success", outcome.ResultNoRuns},
		"two-deals":             {"failure", "action_required", outcome.ResultFailed},
		"carried-sibling":       {"success", "action_required", outcome.ResultAwaiting},
	} {
		o := goldenOutcomes()[name]()
		if got := [3]string{WriteAuditCheck(o, 0).Conclusion, WriteSignOffCheck(o).Conclusion,
			o.Result()}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	broken := outcomeOf()
	broken.Rulebook = []rulebook.Change{{Path: "flight_sheets/x.json", Problems: []string{"no rule"}}}
	if WriteAuditCheck(broken, 0).Conclusion != "failure" || broken.Result() != outcome.ResultFailed {
		t.Error("a broken rulebook passes because no run is changed")
	}
}

// TestDigestIsOne: the check's external_id, the marker and the instructions name one digest.
func TestDigestIsOne(t *testing.T) {
	o := goldenOutcomes()["clean-awaiting"]()
	review := WriteReview(o)
	m, ok := memory.ParseMarker(review)
	if !ok || m != o.Marker() || m.Digest != o.Digest() || WriteAuditCheck(o, 0).ExternalID != m.Digest ||
		WriteSignOffCheck(o).ExternalID != m.Digest ||
		!strings.Contains(review, "\n/digest "+m.Digest[:8]+"\n") {
		t.Errorf("marker %+v of %s", m, o.Digest())
	}
	rec := signoff.Record{
		Digest:      o.Digest(),
		Pull:        githubapi.PullRequest{State: "open"},
		Permissions: map[string]string{"ann": "admin"},
		Reviews: []githubapi.Review{
			{ID: 1, User: "ann", UserID: 1, UserType: "User", State: "APPROVED", Body: "/digest " + m.Digest[:8]},
		},
	}
	if judged := signoff.JudgeReviews(rec, config.Default()); !judged[0].Counted ||
		judged[0].Commands.Digest != m.Digest[:8] {
		t.Errorf("the command that the review gives is not taken: %s", judged[0].Because)
	}
}

// printedBlock is the block of commands that a review prints.
var printedBlock = regexp.MustCompile("(?s)### How to sign off\n\n[^`]*\n\n```\n(.*?)```\n")

// TestInstructionsAreTaken: the block of commands answers what is open when it is pasted, and accepts nothing without a
// reason.
func TestInstructionsAreTaken(t *testing.T) {
	o := goldenOutcomes()["two-deals"]()
	block := printedBlock.FindStringSubmatch(WriteReview(o))
	if block == nil {
		t.Fatal("no commands")
	}
	if want := "/satisfied appraisal_within_12_months\n/satisfied elm:borrower_name_matches\n/satisfied " +
		"site_visit\n/accept oak:dscr_gate\n"; block[1] != want {
		t.Errorf("%q, want %q", block[1], want)
	}
	if c := signoff.ParseCommands(block[1]); len(c.Answers) != 3 || len(c.Problems) != 1 ||
		!strings.Contains(c.Problems[0], "/accept needs a rule and a reason") {
		t.Errorf("pasted as it is: %+v", c)
	}
	c := signoff.ParseCommands(strings.Replace(block[1], "dscr_gate", "dscr_gate the client insists", 1))
	o.Judged = append(o.Judged, countedApproval(6, "bea", ""))
	o.Judged[1].Commands = c
	if rules, _ := o.Hurdles(); len(c.Problems) != 0 || writerOf(o).openQuestions() != 0 || len(rules) != 0 ||
		len(o.UnaskedCommands(o.Judged)) != 0 {
		t.Errorf(
			"with a reason: %+v; open %d, to be accepted %v, unasked %v",
			c,
			writerOf(o).openQuestions(),
			rules,
			o.UnaskedCommands(o.Judged),
		)
	}
}

// TestInstructionsAreBounded: above forty lines one line speaks of all runs; what is left out is counted; a key that
// cannot be written as a command, or that means two things, is named and not printed.
func TestInstructionsAreBounded(t *testing.T) {
	deal := finding("policy.dscr_gate", referee.High, referee.DealFinding, 30)
	o := outcomeOf()
	for i := range 50 {
		o.Audits = append(o.Audits, auditedRun(fmt.Sprintf("runs/r%d", i), deal))
	}
	if block := printedBlock.FindStringSubmatch(WriteReview(o)); block == nil ||
		block[1] != "/satisfied appraisal_within_12_months\n/satisfied borrower_name_matches\n/accept dscr_gate\n" {
		t.Errorf("%q", block)
	}
	o = outcomeOf(auditedRun("runs/a"))
	for i := range 60 {
		o.Audits[0].Work.Report.Checks = append(
			o.Audits[0].Work.Report.Checks,
			referee.Check{ID: fmt.Sprintf("q%d", i), Status: referee.Open},
		)
	}
	review := WriteReview(o)
	if block := printedBlock.FindStringSubmatch(review); block == nil || strings.Count(block[1], "\n") != 40 ||
		!strings.Contains(review, "\n22 lines left out.") {
		t.Errorf("%q", block)
	}
	o = outcomeOf(auditedRun("runs/a"), auditedRun("runs/b"))
	o.Audits[0].Work.Report.Checks = append(
		o.Audits[0].Work.Report.Checks,
		referee.Check{ID: "two words", Status: referee.Open},
		referee.Check{ID: "x@y", Status: referee.Open},
		referee.Check{ID: "b:borrower_name_matches", Status: referee.Open},
	)
	review = WriteReview(o)
	block := printedBlock.FindStringSubmatch(review)
	if block == nil || block[1] != "/satisfied appraisal_within_12_months\n/satisfied borrower_name_matches\n" ||
		strings.Count(review, "cannot be written as a command") != 3 {
		t.Errorf("%q in %s", block, review)
	}
}

// TestSignedSaysSo: after a sign-off nothing speaks of waiting or of what nobody signed, and a hash is short or in a
// marker.
func TestSignedSaysSo(t *testing.T) {
	o := goldenOutcomes()["clean-signed"]()
	for name, paper := range map[string]string{"review": WriteReview(o), "summary": WriteSummary(o),
		"check": WriteSignOffCheck(o).Title + WriteSignOffCheck(o).Summary} {
		_, text, _ := strings.Cut(paper, "-->\n\n")
		if name != "review" {
			text = paper
		}
		if m := regexp.MustCompile(`(?i)unsigned|wait|await|open\b|how to sign|recommended`).FindString(text); m != "" {
			t.Errorf("the %s says %q:\n%s", name, m, text)
		}
		for _, h := range regexp.MustCompile(`[0-9a-f]{16,}`).FindAllString(
			regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(text, ""), -1) {
			t.Errorf("the %s shows the hash %s", name, h)
		}
	}
}

// TestChecksAreShort: what the review says is not said again in the checks; without a review they say all.
func TestChecksAreShort(t *testing.T) {
	for name, make := range goldenOutcomes() {
		o := make()
		o.NoReview, o.ReviewID = false, 77
		for _, c := range []githubapi.Check{WriteAuditCheck(o, 5), WriteSignOffCheck(o)} {
			if len(c.Summary) > 400 || c.Text != "" ||
				!strings.Contains(c.Summary, "(https://github.com/acme/deals/pull/12") ||
				!strings.HasPrefix(c.Title, "#12: ") {
				t.Errorf("%s: %s: %s\n%s", name, c.Title, c.Summary, c.Text)
			}
		}
		if !strings.Contains(WriteSignOffCheck(o).Summary, "#pullrequestreview-77)") {
			t.Errorf("%s: %s", name, WriteSignOffCheck(o).Summary)
		}
		o.NoReview = true
		audit, review := WriteAuditCheck(o, 5), WriteReview(o)
		for _, l := range strings.Split(strings.TrimSpace(review[strings.Index(review, "## Referee"):]), "\n") {
			if !strings.Contains(audit.Summary+audit.Text, l) {
				t.Errorf("%s: without a review the check leaves out %q", name, l)
			}
		}
	}
}

// TestPlaceIsALink: a place is a link to the very commit; a path that an address cannot say is shown without one.
func TestPlaceIsALink(t *testing.T) {
	o := outcomeOf()
	head := "https://github.com/acme/deals/blob/" + o.Head
	for file, want := range map[string]string{
		"runs/a b/s.json":         "[`runs/a b/s.json:3`](" + head + "/runs/a%20b/s.json#L3-L5)",
		"runs/a](x)/s.json":       "[`runs/a](x)/s.json:3`](" + head + "/runs/a%5D%28x%29/s.json#L3-L5)",
		"runs/é#?%/s.json":        "[`runs/é#?%/s.json:3`](" + head + "/runs/%C3%A9%23%3F%25/s.json#L3-L5)",
		"runs/`x`@y/<b>":          "[``runs/`x`(at)y/<b>:3``](" + head + "/runs/%60x%60%40y/%3Cb%3E#L3-L5)",
		"runs/../../evil":         "`runs/../../evil:3`",
		"runs//x":                 "`runs//x:3`",
		strings.Repeat("a", 1000): "",
	} {
		got := writerOf(o).linkToFile(file, 3, 5)
		if want == "" && strings.Contains(got, "](") || want != "" && got != want {
			t.Errorf("%.40q: %s, want %s", file, got, want)
		}
	}
	if got := writerOf(o).linkToFile("a.json", 0, 0); got != "[`a.json`]("+head+"/a.json)" {
		t.Error(got)
	}
	for _, edit := range []func(){func() { o.Head = "main" }, func() { o.ServerURL = "javascript:x" },
		func() { o.ServerURL, o.Repository = "https://x", "" }} {
		o = outcomeOf()
		if edit(); writerOf(o).linkToFile("a.json", 1, 1) != "`a.json:1`" {
			t.Error(writerOf(o).linkToFile("a.json", 1, 1))
		}
	}
}

// TestPapersOfRealRuns holds the papers of audited sample runs to the files that were audited: each annotation is on a
// line that is there, the order of the engine's findings is the order of the papers, and the review names every
// finding.
func TestPapersOfRealRuns(t *testing.T) {
	for _, run := range []string{"oak-street", "maple-court", "river-lofts", "elm-plaza"} {
		tree := gatetest.SampleDeal(t, run)
		o := outcomeOf(
			audit.Examine(
				tree,
				audit.PlannedRun{
					Dir:  "runs/" + run,
					Rule: config.RunRule{Path: "runs/**/run.json", Sheets: []string{"cre-multifamily-agency"}},
				},
				gatetest.Library(),
				config.Default(),
				nil,
			),
		)
		rep := o.Audits[0].Work.Report
		if !slices.IsSortedFunc(rep.Findings, func(x, y referee.Finding) int { return byRank(&x, &y) }) {
			t.Errorf("%s: the engine ranks otherwise", run)
		}
		c, review := WriteAuditCheck(o, 200), WriteReview(o)
		if len(c.Annotations) != len(rep.Findings) || (c.Conclusion == "success") != !rep.Fails(referee.FailOnHigh) {
			t.Errorf("%s: %d annotations, %s", run, len(c.Annotations), c.Conclusion)
		}
		for _, a := range c.Annotations {
			f := tree[a.Path]
			if f == nil || a.EndLine > bytes.Count(f.Data, []byte("\n"))+1 {
				t.Errorf("%s: no line %d in %s", run, a.EndLine, a.Path)
			}
		}
		for _, f := range rep.Findings {
			if !strings.Contains(review, codeName(f.Code)) {
				t.Errorf("%s: the review does not name %s", run, f.Code)
			}
		}
	}
}

// TestDraftCanBeApplied: the incident draft in the review is a patch that git takes, whatever the agent calls itself,
// and gives the files of the draft.
func TestDraftCanBeApplied(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	cfg := config.Default()
	cfg.Governance.Agents = []config.AgentProfile{{Name: "other"}}
	tree := gatetest.SampleDeal(
		t,
		"elm-plaza",
		[3]string{"run.json", `"name": "underwriter"`, `"name": "@a <b> \u202e"`},
	)
	o := outcomeOf(
		audit.Examine(
			tree,
			audit.PlannedRun{
				Dir:  "runs/elm-plaza",
				Rule: config.RunRule{Path: "runs/**/run.json", Sheets: []string{"*"}},
			},
			gatetest.Library(),
			cfg,
			nil,
		),
	)
	o.Governance = governance.CheckLimits(o.Audits, cfg, governance.NewHistory(cfg, o.Pull, o.Audits), gatetest.Noon)
	shown := regexp.MustCompile("(?s)ready to commit</summary>\n\n```\n(.*?)```\n").FindStringSubmatch(WriteReview(o))
	if shown == nil {
		t.Fatal("no draft")
	}
	apply := func(patch string) map[string]string {
		dir, files := t.TempDir(), map[string]string{}
		cmd := exec.Command("git", "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(filepath.Join(dir, name))
			var value any
			if json.Unmarshal(b, &value) == nil {
				b, _ = json.Marshal(value)
			}
			files[name] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if got, want := apply(shown[1]), apply(o.Governance[0].Draft); len(got) < 3 || !maps.Equal(got, want) {
		t.Errorf("the review's draft gives %v, want %v", got, want)
	}
}

func TestSignedOutcome(t *testing.T) {
	o := goldenOutcomes()["clean-signed"]()
	if !o.Signed() {
		t.Fatal("a receipt of these bytes")
	}
	for what, edit := range map[string]func(*outcome.Outcome){
		"another subject": func(o *outcome.Outcome) {
			o.Receipts[0].Receipt.Approval.SubjectDigest = strings.Repeat("0",
				64)
		},
		"another sheet": func(o *outcome.Outcome) { o.Audits[0].Work.Report.Sheet.SHA256 = strings.Repeat("0", 64) },
		"a rejection":   func(o *outcome.Outcome) { o.Receipts[0].Receipt.Kind = "rejected" },
		"another run":   func(o *outcome.Outcome) { o.Audits[0].Work.Run.ID = "x" },
		"taken back": func(o *outcome.Outcome) {
			back := *o.Receipts[0].Receipt
			back.Kind, back.RefersTo = "revoked", o.Receipts[0].Hash
			o.Receipts = append(o.Receipts, o.Receipts[0])
			o.Receipts[1].Hash, o.Receipts[1].Receipt = strings.Repeat("9", 64), &back
		},
	} {
		o := goldenOutcomes()["clean-signed"]()
		if edit(o); o.Signed() || WriteSignOffCheck(o).Conclusion != "action_required" {
			t.Errorf("%s: signed", what)
		}
	}
}
