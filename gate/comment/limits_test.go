package comment

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/referee"
)

// floodedOutcome is an outcome in which everything is too much: runs, findings, reviews, questions, and long strings in
// all of them.
func floodedOutcome(runs, findings int, text string) *outcome.Outcome {
	o := outcomeOf()
	for r := range runs {
		var list []referee.Finding
		for i := range findings {
			f := finding(
				fmt.Sprintf("math.%04d%s", i, text),
				[]referee.Tier{referee.High, referee.Mid, referee.Low}[i%3],
				referee.WorkDefect,
				i+1,
			)
			f.Message, f.Why, f.Fix.Text, f.Pointer = f.Message+text, f.Why+text, f.Fix.Text+text, f.Pointer+text
			list = append(list, f)
		}
		slices.SortStableFunc(list, func(x, y referee.Finding) int { return byRank(&x, &y) })
		a := auditedRun(fmt.Sprintf("runs/r%04d", r), list...)
		a.Failed, a.Chosen, a.Notices = 3, true, []string{text}
		for i := range 20 {
			id := fmt.Sprintf("q%d_%d%s", r%7, i, text)
			a.Work.Report.Checks = append(a.Work.Report.Checks, referee.Check{ID: id, Status: referee.Open})
			a.Work.Report.Checklist = append(
				a.Work.Report.Checklist,
				referee.Question{ID: id, Text: text + "?", Why: text},
			)
		}
		o.Audits = append(o.Audits, a)
	}
	for i := range runs {
		o.Refusals = append(o.Refusals, audit.Refusal{Path: fmt.Sprintf("runs/x%d%s", i, text), Reason: text})
		o.Judged = append(o.Judged, countedApproval(int64(i), "user"+text, "/satisfied x"))
		o.Governance = append(
			o.Governance,
			governance.Violation{Agent: text, Kind: "rogue", Reason: text, Draft: strings.Repeat("+"+text+"\n", 20)},
		)
		o.Rulebook = append(
			o.Rulebook,
			rulebook.Change{
				Path:     text,
				Sheet:    text,
				Tested:   text,
				Problems: slices.Repeat([]string{text}, 50),
				Warnings: slices.Repeat([]string{text}, 50),
				Turned:   slices.Repeat([]string{text}, 50),
			},
		)
		o.Objections, o.Unknown, o.Blocked = append(
			o.Objections,
			text,
		), append(
			o.Unknown,
			text,
		), append(
			o.Blocked,
			text,
		)
		o.Drift, o.Notices, o.NotPosted, o.Removed = append(
			o.Drift,
			text,
		), append(
			o.Notices,
			text,
		), append(
			o.NotPosted,
			text,
		), append(
			o.Removed,
			text,
		)
	}
	for i := range o.Audits {
		o.Audits[i].Work.Run.ID += text
	}
	return withReceipts(o)
}

// TestPapersAreBounded: what GitHub would refuse, or lose, is never sent, and what is cut says so.
func TestPapersAreBounded(t *testing.T) {
	for _, c := range []struct {
		what           string
		runs, findings int
		text           string
	}{
		{"one run of 2,000 findings", 1, 2000, ""}, {"long strings", 2, 20, strings.Repeat("long é ", 3000)},
		{"hidden characters", 3, 40, strings.Repeat("\u202e", 900)},
		{"20 runs of 2,000 findings", 20, 2000, " more"}, {"100 runs", 100, 30, ""}, {"600 runs", 600, 2, "@x `` <b>"},
		{"backticks", 3, 10, strings.Repeat("`", 2000)},
	} {
		o := floodedOutcome(c.runs, c.findings, c.text)
		o.NoReview = true // the checks say all: the longest that they can be
		begun := time.Now()
		audit, signOff := WriteAuditCheck(o, 200), WriteSignOffCheck(o)
		for _, p := range []struct {
			name, text string
			limit      int
			cut        bool
		}{
			{"review", WriteReview(o), 60_000, true}, {"summary", WriteSummary(o), 921_600, false},
			{"audit summary", audit.Summary, 65_535, false},
			{"audit text", audit.Text, 65_535, false}, {"sign-off summary", signOff.Summary, 65_535, false},
			{"title", audit.Title, 255, false}, {"sign-off title", signOff.Title, 255, false},
		} {
			if len(p.text) > p.limit || p.text == "" || !utf8.ValidString(p.text) {
				t.Errorf("%s: the %s has %d bytes", c.what, p.name, len(p.text))
			}
			if strings.Contains(p.name, "title") {
				continue
			}
			stripCode(t, p.text) // no span and no fence is cut through
			if full := strings.Contains(strings.ToLower(p.text), "this page is full"); p.cut && !full {
				t.Errorf("%s: the %s does not say what is left out", c.what, p.name)
			}
			if open, closed := strings.Count(p.text, "<details>"), strings.Count(p.text, "</details>"); open != closed {
				t.Errorf("%s: %d details begin, %d end", c.what, open, closed)
			}
		}
		if len(audit.Annotations) != min(200, len(writerOf(o).itemsByRank())) || len(WorkflowCommands(o, 99)) > 20 ||
			len(WriteInline(o, func(string) map[int]bool { return map[int]bool{1: true, 2: true} })) > 30 {
			t.Errorf("%s: %d annotations, %d commands", c.what, len(audit.Annotations), len(WorkflowCommands(o, 99)))
		}
		for _, a := range audit.Annotations {
			if len(a.Message) > 65_536 || len(a.Raw) > 65_536 || len(a.Title) > 255 || a.Message == "" {
				t.Errorf("%s: an annotation of %d, %d, %d bytes", c.what, len(a.Message), len(a.Raw), len(a.Title))
			}
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s took %v", c.what, took)
		}
	}
}

// TestEverySectionIsThere: however full the page is, the verdict, the runs and the way to sign off stand in it.
func TestEverySectionIsThere(t *testing.T) {
	o := floodedOutcome(40, 100, strings.Repeat("word ", 100))
	o.Receipts = o.Receipts[:30]
	review := WriteReview(o)
	for _, want := range []string{"## Referee: waiting for the agent to fix what could not be audited",
		"#### Findings\n", "\n| run | audit |", "### What could not be audited", "### Rulebook changes",
		"### Agents beyond", "### Questions for a person", "### Reviews", "### Receipts",
		"### What is in the way", "### How to sign off", "### Notices"} {
		if !strings.Contains(review, want) {
			t.Errorf("the review has no %q", want)
		}
	}
}

// TestAnnotationRank: high first over all runs, whatever run they are of.
func TestAnnotationRank(t *testing.T) {
	mid, low := finding(
		"math.a",
		referee.Mid,
		referee.WorkDefect,
		3,
	), finding(
		"math.b",
		referee.Low,
		referee.WorkDefect,
		4,
	)
	high, deal := finding(
		"math.c",
		referee.High,
		referee.WorkDefect,
		5,
	), finding(
		"policy.d",
		referee.High,
		referee.DealFinding,
		6,
	)
	long := finding("math.e", referee.Mid, referee.WorkDefect, 7)
	long.EndLine, long.EndCol = 9, 2
	o := outcomeOf(auditedRun("runs/a", mid, low), auditedRun("runs/b", deal, long), auditedRun("runs/c", high))
	c := WriteAuditCheck(o, 4)
	var got []string
	for _, a := range c.Annotations {
		got = append(
			got,
			fmt.Sprintf("%s %s:%d:%d-%d:%d", a.Level, a.Path, a.StartLine, a.StartColumn, a.EndLine, a.EndColumn),
		)
	}
	want := []string{
		"failure runs/c/submission.json:5:17-5:20",
		"failure runs/b/submission.json:6:17-6:20",
		"warning runs/a/submission.json:3:17-3:20",
		"warning runs/b/submission.json:7:0-9:0",
	}
	if !slices.Equal(got, want) ||
		c.Title != "#12: failed, 2 high, 2 mid and 1 low findings (4 of 5 shown on the lines)" {
		t.Errorf("%q: %q", c.Title, got)
	}
	if all := WriteAuditCheck(o, 50); len(all.Annotations) != 5 ||
		all.Title != "#12: failed, 2 high, 2 mid and 1 low findings" {
		t.Errorf("%q with %d", all.Title, len(all.Annotations))
	}
}

func TestCommandsAreBounded(t *testing.T) {
	o := floodedOutcome(1, 90, "")
	o.Refusals = o.Refusals[:0]
	errors, warnings := 0, 0
	for _, c := range WorkflowCommands(o, 50) {
		if strings.HasPrefix(c, "::error ") {
			errors++
		} else if strings.HasPrefix(c, "::warning ") {
			warnings++
		}
	}
	if last := WorkflowCommands(o, 50)[19]; errors != 10 || warnings != 10 ||
		last != "::warning title=referee::19 of 90 findings are shown here; the job summary holds all" {
		t.Errorf("%d errors, %d warnings, last %q", errors, warnings, last)
	}
	if got := WorkflowCommands(o, 0); len(got) != 0 {
		t.Errorf("none asked for: %q", got)
	}
}

// TestInline: only lines of the diff, the fingerprint first, at most thirty, one for each finding; it stays when lines
// move and changes with what was found.
func TestInline(t *testing.T) {
	o := floodedOutcome(1, 90, "")
	even := func(string) map[int]bool {
		out := map[int]bool{}
		for i := 2; i <= 90; i += 2 {
			out[i] = true
		}
		return out
	}
	all := WriteInline(o, even)
	seen := map[string]bool{}
	for _, c := range all {
		if c.Line%2 != 0 || ParseFingerprint(c.Body) != c.Fingerprint || seen[c.Fingerprint] ||
			c.Path != "runs/r0000/submission.json" {
			t.Errorf("%+v", c)
		}
		seen[c.Fingerprint] = true
	}
	if len(all) != 30 || WriteInline(o, func(string) map[int]bool { return nil }) != nil {
		t.Errorf("%d comments", len(all))
	}
	f := &o.Audits[0].Work.Report.Findings[0]
	was := problemItem{run: &o.Audits[0], finding: f}.findingFingerprint()
	if f.Line, f.EndLine = 70, 70; (problemItem{run: &o.Audits[0], finding: f}).findingFingerprint() != was {
		t.Error("a line that moves changes the fingerprint")
	}
	if f.Spot.Claimed = "1.4"; (problemItem{run: &o.Audits[0], finding: f}).findingFingerprint() == was {
		t.Error("another claim is the same finding")
	}
	for _, body := range []string{"", "x\n" + all[0].Body, " " + all[0].Body, strings.ToUpper(all[0].Body)} {
		if got := ParseFingerprint(body); got != "" {
			t.Errorf("%.40q: %s", body, got)
		}
	}
	if ParseFingerprint(strings.ReplaceAll(all[0].Body, "\n", "\r\n")) != all[0].Fingerprint {
		t.Error("GitHub's line breaks")
	}
}

func TestMarker(t *testing.T) {
	m := memory.Marker{
		Pull:    12,
		Head:    strings.Repeat("a1", 20),
		Digest:  strings.Repeat("d", 64),
		RunID:   7001,
		Attempt: 2,
	}
	line := "<!-- referee:review/v1 pull=12 head=" + m.Head + " digest=" + m.Digest + " run=7001 attempt=2 -->"
	for body, want := range map[string]bool{line: true, line + "\n\nx": true, line + "\r\nx": true, "x\n" + line: false,
		" " + line: false, line + "x": false, "": false,
		strings.Replace(line, "7001", "07001", 1): false, strings.Replace(line, "7001", "-7", 1): false,
		strings.Replace(line, "7001", "9999999999999999999", 1): false, strings.Replace(line, "v1", "v2", 1): false} {
		if got, ok := memory.ParseMarker(body); ok != want || ok && (got != m || got.String() != line) ||
			!ok && got != (memory.Marker{}) {
			t.Errorf("%q: %+v, %v", body, got, ok)
		}
	}
	for _, c := range []struct {
		a, b memory.Marker
		want bool
	}{{memory.Marker{RunID: 2}, memory.Marker{RunID: 1, Attempt: 9}, true}, {memory.Marker{RunID: 1, Attempt: 2},
		memory.Marker{RunID: 1, Attempt: 1}, true}, {m, m, false}, {memory.Marker{}, m, false}} {
		if c.a.Newer(c.b) != c.want {
			t.Errorf("%+v newer than %+v", c.a, c.b)
		}
	}
}

// TestOutputs: the worst of all runs, and no pass by accident.
func TestOutputs(t *testing.T) {
	get := func(o *outcome.Outcome) map[string]string {
		out := map[string]string{}
		for _, p := range StepOutputs(o, "r.json") {
			out[p.Name] = p.Value
		}
		return out
	}
	with := func(severity, score, action string, ready bool) audit.AuditedRun {
		a := auditedRun("runs/" + severity)
		v := &a.Work.Report.Verdict
		v.Severity, v.Score, v.RecommendedAction, v.ClientReady = referee.Severity(severity), score, action, ready
		return a
	}
	jelly, clean := with("jelly", "75", "review", true), with("unsigned", "100", "approve", true)
	worn := with("propolis", "9.5", "resubmit", false)
	worn.Failed, worn.Work.Report.Findings = 2, []referee.Finding{
		finding("math.x", referee.High, referee.WorkDefect, 1),
	}
	for _, c := range []struct {
		o                              *outcome.Outcome
		severity, score, action, ready string
	}{
		{outcomeOf(clean, jelly), "jelly", "75.0", "review", "true"},
		{outcomeOf(worn, clean), "propolis", "9.5", "review", "false"},
		{outcomeOf(clean, audit.AuditedRun{Dir: "x", Refused: "no"}), "unsigned", "100.0", "resubmit", "false"},
		{outcomeOf(clean, audit.AuditedRun{Dir: "x", Refused: "no", Failed: 2}), "unsigned", "100.0", "review",
			"false"},
		{outcomeOf(clean, with("odd", "1e9", "odd", true)), "propolis", "", "resubmit", "true"},
		{&outcome.Outcome{Refusals: []audit.Refusal{{Path: "x", Reason: "y"}}}, "none", "", "resubmit", "false"},
		{outcomeOf(), "none", "", "none", "false"},
		{outcomeOf(with("jelly", "80", "reject", true), with("jelly", "80", "review", true)), "jelly", "80.0", "reject",
			"true"},
	} {
		got := get(c.o)
		if got["severity"] != c.severity || got["score"] != c.score || got["recommended_action"] != c.action ||
			got["client_ready"] != c.ready {
			b, _ := json.Marshal(got)
			t.Errorf("%s, want %s %s %s %s", b, c.severity, c.score, c.action, c.ready)
		}
	}
}

func TestFair(t *testing.T) {
	for _, c := range []struct {
		needs  []int
		budget int
		want   []int
	}{{[]int{10, 10}, 100, []int{10, 10}}, {[]int{90, 10, 90}, 100, []int{45, 10, 45}},
		{[]int{50, 50}, 60, []int{30, 30}}, {nil, 5, []int{}}} {
		if got := fairShares(c.needs, c.budget); !slices.Equal(got, c.want) {
			t.Errorf("%v in %d: %v, want %v", c.needs, c.budget, got, c.want)
		}
	}
}

// FuzzParseMarker: no crash; what is read is what is written, to the byte, and nothing else is read.
func FuzzParseMarker(f *testing.F) {
	f.Add(memory.Marker{Pull: 1, Head: "ab", Digest: strings.Repeat("0", 64), RunID: 3, Attempt: 1}.String() + "\nx")
	f.Add("<!-- referee:finding/v1 " + strings.Repeat("0", 64) + " -->")
	f.Fuzz(func(t *testing.T, body string) {
		line, _, _ := strings.Cut(body, "\n")
		line = strings.TrimSuffix(line, "\r")
		m, ok := memory.ParseMarker(body)
		if ok && m.String() != line || !ok && m != (memory.Marker{}) {
			t.Errorf("%q: %+v", line, m)
		}
		if id := ParseFingerprint(body); id != "" && line != "<!-- referee:finding/v1 "+id+" -->" {
			t.Errorf("%q: %s", line, id)
		}
	})
}

// FuzzDiffLines: no crash; a line that is shown is there, and every line that the old side does not hold at all is
// shown.
func FuzzDiffLines(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nc\nb"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if len(before)+len(after) > 1<<12 {
			return
		}
		old := map[string]bool{}
		for line := range strings.Lines(string(before)) {
			old[line] = true
		}
		shown, n := DiffLines(before, after), 0
		for line := range strings.Lines(string(after)) {
			if n++; !old[line] && !shown[n] {
				t.Errorf("line %d is new and is not shown", n)
			}
		}
		for line := range shown {
			if line < 1 || line > n {
				t.Errorf("line %d of %d is shown", line, n)
			}
		}
	})
}

// TestMemoryFits: the longest block of lines leaves the review within what GitHub takes.
func TestMemoryFits(t *testing.T) {
	var p memory.Pushers
	for i := range 150 {
		p = p.With(fmt.Sprintf("%050d", i))
	}
	if n := len(memory.Memory{Pushers: p, Lost: strings.Repeat("x", 50)}.MarkerLines()); maxReview+n > 65_536 {
		t.Errorf("%d bytes beside a review of %d", n, maxReview)
	}
}
