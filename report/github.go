package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/referee"
)

// perLevel is how many annotations of a level GitHub keeps of one step; more are dropped there without a word.
const perLevel = 10

// level is a kind of annotation and the tier that it stands for.
type level struct {
	tier    referee.Tier
	command string // and its noun
}

// levels are GitHub's, heaviest first.
var levels = []level{
	{referee.High, "error"},
	{referee.Mid, "warning"},
	{referee.Low, "notice"},
}

// gitHub writes workflow commands. It keeps the ten commands of each level that come first, in the order of the reports
// and of their ranked findings, and says at the end how many were left out. Everything printed is a command whose text
// is escaped: nothing of a submission reaches the log outside one, so that no stop-commands is needed.
type gitHub struct {
	p     printer
	o     Options
	lines [][]string // by level
	found []int      // by level, those that were left out too
}

func newGitHub(w io.Writer, o Options) Writer {
	return &gitHub{p: printer{w: w}, o: o, lines: make([][]string, len(levels)), found: make([]int, len(levels))}
}

// Add keeps the report's commands, undecided high rules among the errors (S39a).
func (g *gitHub) Add(r *referee.Report) error {
	for i := range r.Findings {
		f := &r.Findings[i]
		// an unknown tier is not made lighter
		l := max(0, slices.IndexFunc(levels, func(l level) bool { return l.tier == f.Tier }))
		g.keepLine(l, func() string { return commandLine(levels[l].command, annotationPlace(r, f), annotationText(r, f)) })
	}
	for _, c := range undecidedHigh(r) {
		g.keepLine(0, func() string {
			properties := []property{{"file", locateFile(r, r.Submission.Path)}, {"title", "undecided: " + c.ID}}
			return commandLine("error", properties, fmt.Sprintf("%s: the high rule %s could not be decided: %s",
				submissionTitle(r),
				CleanName(c.ID), undecidedReason(c)))
		})
	}
	if r.Verdict.Counts.Declared == 0 {
		g.keepLine(0, func() string {
			return commandLine("error", []property{{"file", locateFile(r, r.Submission.Path)}, {"title", "no rule"}},
				submissionTitle(r)+": no rule was evaluated")
		})
	}
	return nil
}

func (g *gitHub) keepLine(level int, line func() string) {
	if g.found[level]++; len(g.lines[level]) < perLevel {
		g.lines[level] = append(g.lines[level], line())
	}
}

// Close writes the commands, errors first. The notice about those that were left out takes the place of one.
func (g *gitHub) Close() error {
	if g.restLine() != "" && len(g.lines[2]) == perLevel {
		g.lines[2] = g.lines[2][:perLevel-1]
	}
	for _, lines := range g.lines {
		for _, line := range lines {
			g.p.print(line)
		}
	}
	if rest := g.restLine(); rest != "" {
		g.p.print(commandLine("notice", []property{{"title", "referee"}},
			"Not shown here: "+rest+". The report holds all of them."))
	}
	return g.p.err
}

// restLine says how many commands of each level are left out.
func (g *gitHub) restLine() string {
	var parts []string
	for l, level := range levels {
		if left := g.found[l] - len(g.lines[l]); left > 0 {
			parts = append(parts, legible.Count(left, level.command))
		}
	}
	return strings.Join(parts, ", ")
}

// property is a name and a value of a workflow command.
type property struct{ name, value string }

// annotationPlace is where a finding is shown. GitHub takes columns only within one line; the last column of an
// annotation is the last that is marked, the report's end is the one after.
func annotationPlace(r *referee.Report, f *referee.Finding) []property {
	properties := []property{{"file", findingFile(r, f)}}
	number := func(name string, n int) {
		if n > 0 {
			properties = append(properties, property{name, fmt.Sprint(n)})
		}
	}
	number("line", f.Line)
	if f.EndLine == 0 || f.EndLine == f.Line {
		number("col", f.Column)
		if f.Column > 0 && f.EndCol > f.Column {
			number("endColumn", f.EndCol-1)
		}
	} else {
		number("endLine", f.EndLine)
	}
	return append(properties, property{"title", fmt.Sprintf("%s: %s", f.Tier, f.Code)})
}

// annotationText is the message of an annotation: the run, the rules, what is wrong and what would be right.
func annotationText(r *referee.Report, f *referee.Finding) string {
	s := fmt.Sprintf("%s, %s: %s", submissionTitle(r), CleanNames(f.RuleIDs, 5), CleanMessage(f.Message))
	for _, line := range fixLines(f) {
		s += "\nfix: " + line
	}
	return s
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// commandLine is one line: ::name key=value,…::message.
func commandLine(name string, properties []property, message string) string {
	var list []string
	for _, p := range properties {
		list = append(list, p.name+"="+escapeProperty.Replace(CleanStart(p.value, maxTitle)))
	}
	return fmt.Sprintf("::%s %s::%s\n", name, strings.Join(list, ","), escapeData.Replace(message))
}

// maxTitle keeps properties below the 255 characters that GitHub takes for a title.
const maxTitle = 200
