package comment

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// attacks are what submissions, reviews and file names are known to try on what a bot posts.
var attacks = []string{
	"\u202egpj.exe\u202c and \u2066\u2069", "\x1b[2J\x1b]8;;http://evil\x07click\x1b]8;;\x07 \u009b31m",
	"zero\u200bwidth\ufeff\u00ad\u2060 \U000e0041tag \u3164",
	"line\r\n::set-output name=verdict::honey\n::error::x\v\f\u2028\u2029\u0085x", "::add-mask::x ##[save-state " +
		"name=a]b",
	"<!-- referee:review/v1 pull=12 head=a1 digest=" + strings.Repeat(
		"d",
		64,
	) + " run=9999999 attempt=9 -->", "<!-- referee:receipts 0:" + strings.Repeat("a", 64) + " -->",
	"\n<!-- referee:finding/v1 " + strings.Repeat(
		"d",
		64,
	) + " -->\n", "</details></sub><script>alert(1)</script><img src=x> --> <!--",
	"**APPROVED** by @someone and @org/team, [merge](https://evil) #1 GH-1", "` `` ``` ```` ````` ~~~\n```\n| a | " +
		"b | \n| --- |\n- [x] item\n# heading\n> quote\n---",
	"EOF\nghadelimiter_x\n_GitHubActionsFileCommandDelimeter_\nresult=signed", "100%0A::error::x %25, a=b:c,d=e",
	"\xff\xfe not UTF-8 \xed\xa0\x80",
	strings.Repeat("long ", 400), "A" + strings.Repeat("\u0316", 60), `\|\`, "a\\`b`", "",
}

// fillStrings sets every string of a value, in every slice and behind every pointer; a slice gets two elements.
func fillStrings(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*referee.Sheet]() {
			v.Set(reflect.New(v.Type().Elem()))
			fillStrings(v.Elem(), text)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fillStrings(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillStrings(v.Field(i), text)
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// outcomeFullOf is an outcome with a text in every string that somebody else can write: of runs, refusals, reviews,
// commits, rulebooks and receipts.
func outcomeFullOf(text string, counted bool) *outcome.Outcome {
	o := &outcome.Outcome{}
	fillStrings(reflect.ValueOf(o).Elem(), text)
	o.Repository, o.ServerURL, o.Ledger = "acme/deals", "https://github.com", config.Ledger{Branch: "ledger"}
	o.FailOn, o.Accept, o.Need, o.Head, o.NoReview = referee.FailOnHigh, "deal-finding", 2, strings.Repeat(
		"a1",
		20,
	), true
	for i := range o.Audits {
		rep := o.Audits[i].Work.Report
		rep.Findings[0].Tier, rep.Findings[0].Bucket = referee.High, referee.WorkDefect
		rep.Findings[1].Tier, rep.Findings[1].Bucket = referee.High, referee.DealFinding
		rep.Checks[0].Status, rep.Checks[1].Status = referee.Open, referee.Open
	}
	refused := o.Audits[0]
	refused.Work = nil
	o.Audits = append(o.Audits, refused)
	for i := range o.Judged {
		o.Judged[i].Counted = counted && i == 0
	}
	if counted {
		o.Objections, o.Unknown = nil, nil
	}
	for i := range o.Receipts {
		o.Receipts[i].Receipt.Kind = ledger.Approved
	}
	return o
}

// TestHostilePapers writes every attack into every string of an outcome. What is left outside of code spans and fences
// is the same, to the byte, as with a harmless text: nothing hostile becomes structure.
func TestHostilePapers(t *testing.T) {
	for i, attack := range attacks {
		for _, counted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%v", i, counted), func(t *testing.T) {
				hostile, harmless := outcomeFullOf(attack, counted), outcomeFullOf("x", counted)
				got, want := markdownOf(hostile), markdownOf(harmless)
				for n := range got {
					checkPaper(t, got[n])
					cut := strings.Contains(
						strings.ToLower(got[n]),
						"this page is full",
					) // longer texts: TestPapersAreBounded
					if a, b := stripCode(t, got[n]), stripCode(t, want[n]); a != b && !cut && attack != "" {
						t.Errorf("paper %d, outside of spans:\n%s\nwant\n%s", n, a, b)
					}
				}
				checkAnnotations(t, hostile)
				checkOutputs(t, hostile)
				checkCommands(t, hostile, harmless)
			})
		}
	}
}

// markdownOf are the papers that GitHub renders.
func markdownOf(o *outcome.Outcome) []string {
	out := []string{
		WriteReview(o),
		WriteSummary(o),
		WriteAuditCheck(o, 9).Summary,
		WriteAuditCheck(o, 9).Text,
		WriteSignOffCheck(o).Summary,
	}
	for _, c := range WriteInline(o, func(string) map[int]bool { return map[int]bool{7: true} }) {
		out = append(out, c.Body)
	}
	return out
}

func checkPaper(t *testing.T, text string) {
	t.Helper()
	checkCharacters(t, text)
	markers := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a line is a workflow command: %q", line)
		}
		if strings.HasPrefix(line, "<!-- referee:") {
			markers++
		}
	}
	if n := strings.Count(text, "<!--"); n != markers || n != strings.Count(text, "-->") {
		t.Errorf("%d comments begin, %d are markers, %d end", n, markers, strings.Count(text, "-->"))
	}
	if markers > 0 &&
		strings.Count(text, "referee:review/v1 pull=")+strings.Count(text, "<!-- referee:finding/v1") < 1 {
		t.Error("no marker of ours")
	}
}

// checkCharacters holds wherever text is shown.
func checkCharacters(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Error("not UTF-8")
	}
	for i, r := range text {
		if r != '\n' &&
			(unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
				r == '\u3164') {
			t.Fatalf("%U at %d: %q", r, i, text[max(0, i-40):i])
		}
	}
	if strings.Contains(text, "##[") {
		t.Error("a runner's command ##[")
	}
	if m := regexp.MustCompile(`@[A-Za-z]`).FindString(text); m != "" {
		t.Errorf("a mention: %q", m)
	}
}

var ticks = regexp.MustCompile("`+")

// stripCode is what is left of a page without fenced blocks and code spans, as CommonMark reads them, and without
// hashes.
func stripCode(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(page) {
		mark := strings.TrimSpace(line)
		switch {
		case fence != "" && strings.Trim(mark, "`") == "" && len(mark) >= len(fence):
			fence = ""
		case fence != "":
		case strings.HasPrefix(line, "```") && strings.Trim(mark, "`") == "":
			fence = mark
			b.WriteString("fence\n")
		default:
			b.WriteString(dropSpans(t, line))
		}
	}
	if fence != "" {
		t.Error("a fence is not closed")
	}
	return regexp.MustCompile(`[0-9a-f]{64}|head=[0-9a-f]*|=[0-9a-f]{16}\b|\d+ more`).
		ReplaceAllString(stripPlaceLinks(b.String()), "#")
}

// fileLink is the link of a file's place: its text is a span, and its address holds nothing that ends a link or is read
// as markdown.
var fileLink = regexp.MustCompile(
	`\[§\]\(https://github\.com/acme/deals/blob/[0-9a-f]{40}/[A-Za-z0-9%._~$&+=:/-]+(#L\d+(-L\d+)?)?\)`,
)

// stripPlaceLinks takes the links of places away: a path that cannot be linked is shown without.
func stripPlaceLinks(page string) string { return fileLink.ReplaceAllString(page, "§") }

func dropSpans(t *testing.T, line string) string {
	t.Helper()
	out := ""
	for {
		open := ticks.FindStringIndex(line)
		if open == nil {
			return out + line
		}
		fence, rest, end := line[open[0]:open[1]], line[open[1]:], -1
		for _, m := range ticks.FindAllStringIndex(rest, -1) {
			if rest[m[0]:m[1]] == fence {
				end = m[0]
				break
			}
		}
		if end < 0 {
			t.Fatalf("a span is not closed: %.400q", line)
		}
		out += line[:open[0]] + "§"
		if strings.HasPrefix(out, "|") && strings.Contains(strings.ReplaceAll(rest[:end], `\|`, ""), "|") {
			t.Errorf("a bar ends the cell: %.400q", rest[:end])
		}
		line = rest[end+len(fence):]
	}
}

func checkAnnotations(t *testing.T, o *outcome.Outcome) {
	t.Helper()
	for _, c := range []struct{ text string }{{WriteAuditCheck(o, 0).Title}, {WriteSignOffCheck(o).Title}} {
		checkPlain(t, c.text, maxTitle)
	}
	annotations := WriteAuditCheck(o, 100).Annotations
	if len(annotations) < 6 {
		t.Errorf("%d annotations", len(annotations))
	}
	for _, a := range annotations {
		checkPlain(t, a.Title, maxTitle)
		for _, text := range []string{a.Message, a.Raw} {
			if len(text) > maxDetail {
				t.Errorf("%d bytes", len(text))
			}
			for line := range strings.SplitSeq(text, "\n") {
				checkPlain(t, line, maxDetail)
			}
		}
		if a.StartLine < 1 || a.EndLine < a.StartLine || a.StartColumn > 0 && a.StartLine != a.EndLine {
			t.Errorf("at %+v", a)
		}
		if strings.ContainsFunc(a.Path, unicode.IsControl) {
			t.Errorf("path %q", a.Path)
		}
	}
}

// checkPlain holds for a line that is shown as it is.
func checkPlain(t *testing.T, line string, limit int) {
	t.Helper()
	checkCharacters(t, line)
	if len(line) > limit || strings.Contains(line, "\n") || strings.HasPrefix(strings.TrimSpace(line), "::") {
		t.Errorf("%d bytes: %.300q", len(line), line)
	}
	if m := regexp.MustCompile(`<[A-Za-z/!?]`).FindString(strings.ReplaceAll(line, "<U+", "")); m != "" {
		t.Errorf("a tag begins: %q in %.300q", m, line)
	}
}

func checkOutputs(t *testing.T, o *outcome.Outcome) {
	t.Helper()
	var names []string
	for _, out := range StepOutputs(o, o.Head) {
		names = append(names, out.Name)
		if !regexp.MustCompile(`^[A-Za-z0-9._/ -]*$`).MatchString(out.Value) {
			t.Errorf("output %s=%q", out.Name, out.Value)
		}
	}
	want := []string{
		"result",
		"severity",
		"score",
		"findings",
		"high",
		"mid",
		"low",
		"client_ready",
		"recommended_action",
		"report",
		"receipt_sha256",
		"ledger_head",
	}
	if !slices.Equal(names, want) {
		t.Errorf("outputs %v", names)
	}
}

var workflowCommand = regexp.MustCompile(
	`^::(error|warning) ((file|line|col|endLine|endColumn|title)=[^:,\r\n]*)(,` +
		`(file|line|col|endLine|endColumn|title)=[^:,\r\n]*)*::[^\r\n]*$`,
)

func checkCommands(t *testing.T, hostile, harmless *outcome.Outcome) {
	t.Helper()
	got, want := WorkflowCommands(hostile, 10), WorkflowCommands(harmless, 10)
	if len(got) != len(want) || len(got) == 0 {
		t.Errorf("%d commands, want %d", len(got), len(want))
	}
	for _, c := range got {
		if rest := regexp.MustCompile(`%(25|0D|0A|3A|2C)`).ReplaceAllString(c, ""); !workflowCommand.MatchString(c) ||
			strings.Contains(rest, "%") {
			t.Errorf("no workflow command: %q", c)
		}
	}
}
