package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/summary"
)

// hostileSummary is a summary in which every text that a run, a report or a sheet chooses is the given one.
func hostileSummary(text string) summary.Summary {
	report := func(model, value string) *referee.Report {
		return &referee.Report{Sheet: referee.SheetRef{Slug: text, Version: "1.0.0"}, Lane: "agent",
			Agent:    &referee.Agent{Name: text, Model: model, Confidence: text},
			Protocol: referee.Protocol{Parsed: true, FieldCompleteness: "1/1"},
			Gold:     &referee.Gold{Available: true}, Adjudication: referee.Adjudication{Eligible: true},
			Scores:     &referee.Scores{Total: value, ConstraintSatisfaction: "97.5"},
			Compliance: []referee.FamilyCount{{Family: text, Held: 3, Warning: 1}},
			Errors:     []referee.FieldError{{Field: text, Limit: "2", Values: []string{value, "0.00025"}}},
			Findings:   []referee.Finding{{Code: text, Atoms: []string{"EVID_001"}}},
			Derived:    []referee.Derived{{ID: text, Value: value}},
			Verdict:    referee.Verdict{Score: "90", Severity: "jelly", RecommendedAction: "review"}}
	}
	samples := []summary.Sample{summary.FromReport(report("a", "1")), summary.FromReport(report("b", "90"))}
	for i := range samples {
		samples[i].Prior = summary.Prior{S1: text, Source: text, Version: text}
	}
	return summary.Of(samples)
}

// TestSummaryHostile: names with control characters, bars, markup or thousands of letters change no structure: the same
// rows, the same cells, the same elements as with a harmless name.
func TestSummaryHostile(t *testing.T) {
	long := strings.Repeat("a very long name of a model ", 200)
	for i, attack := range append([]string{long, "a|b", "<script>alert(1)</script>", "\x1b[31mred\x07", "a\nb"},
		attacks...) {
		for _, format := range []string{"table", "markdown", "html"} {
			t.Run(fmt.Sprintf("%s/%d", format, i), func(t *testing.T) {
				for _, write := range []func(string, *bytes.Buffer, summary.Summary) error{
					func(f string, b *bytes.Buffer, s summary.Summary) error { return Summary(f, b, s, Options{}) },
					func(f string, b *bytes.Buffer, s summary.Summary) error { return Profile(f, b, s, Options{}) },
				} {
					var got, want bytes.Buffer
					if err := write(format, &got, hostileSummary(attack)); err != nil {
						t.Fatal(err)
					}
					if err := write(format, &want, hostileSummary("x")); err != nil {
						t.Fatal(err)
					}
					checkText(t, format, got.String())
					sameStructure(t, format, got.String(), want.String())
				}
			})
		}
	}
}

// sameStructure compares what a name must not change.
func sameStructure(t *testing.T, format, got, want string) {
	t.Helper()
	switch format {
	case "table":
		for line := range strings.Lines(got) {
			if wide := textColumns(strings.TrimRight(line, "\n")); wide > 80 && strings.Contains(line, "  ") {
				t.Errorf("a line is %d columns wide: %q", wide, line)
			}
		}
	case "html":
		for _, mark := range []string{"<", "<tr", "<td", "<section", "<svg", "<script", "</"} {
			if x, y := strings.Count(got, mark), strings.Count(want, mark); x != y {
				t.Errorf("%d of %q, %d with a harmless name", x, mark, y)
			}
		}
	case "markdown":
		if x, y := cellCounts(got), cellCounts(want); x != y {
			t.Errorf("the tables are\n%s\nwith a harmless name\n%s", x, y)
		}
	}
}

// cellCounts is the number of unescaped bars of each line of a table.
func cellCounts(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			fmt.Fprintln(&b, strings.Count(line, "|")-strings.Count(line, `\|`))
		}
	}
	return b.String()
}

// TestBoardWithoutScores: a sheet without scores ranks by the verdict's score, and shows no figure of predictions.
func TestBoardWithoutScores(t *testing.T) {
	sample := func(agent, score string) summary.Sample {
		return summary.Sample{Sheet: "s", Version: "1.0.0", Agent: agent, Score: score, Readable: true, Eligible: true}
	}
	var b bytes.Buffer
	if err := Summary("markdown", &b, summary.Of([]summary.Sample{sample("second", "80"), sample("first", "99.999")}),
		Options{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	first := strings.Index(text, "| `first` | `1` | `1` | `100` | `100` | `99.99` |")
	second := strings.Index(text, "| `second` | `2` |")
	if first < 0 || second < first {
		t.Errorf("%d, %d in\n%s", first, second, text)
	}
	for _, not := range []string{"failure mode", "conditional", "right answers", "errors over"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is shown of a sheet that judges no predictions", not)
		}
	}
}
