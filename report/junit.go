package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/referee"
)

// junit writes one test suite a report and one test case a declared rule: a flag is a failure, a rule that nobody
// decided is skipped, and a high one among them an error, since it fails the report (S39a). Times are 0: a report knows
// no clock (S52).
type junit struct {
	p     printer
	begun bool
	id    int
}

func newJUnit(w io.Writer, _ Options) Writer { return &junit{p: printer{w: w}} }

type (
	junitSuite struct {
		XMLName    xml.Name        `xml:"testsuite"`
		ID         int             `xml:"id,attr"`
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitOutcome `xml:"skipped"`
		Error   *junitOutcome `xml:"error"`
		Failure *junitOutcome `xml:"failure"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"`
	}
)

// Add writes the report's suite.
func (j *junit) Add(r *referee.Report) error {
	if !j.begun {
		j.beginSuites()
	}
	suite := j.suiteOf(r)
	b, err := xml.MarshalIndent(suite, "  ", "  ")
	if err != nil {
		return err
	}
	j.p.printf("%s\n", b)
	return j.p.err
}

func (j *junit) beginSuites() {
	j.begun = true
	j.p.print(xml.Header + "<testsuites name=\"referee\">\n")
}

// Close ends the document.
func (j *junit) Close() error {
	if !j.begun {
		j.beginSuites()
	}
	j.p.print("</testsuites>\n")
	return j.p.err
}

func (j *junit) suiteOf(r *referee.Report) junitSuite {
	s := junitSuite{ID: j.id, Name: submissionTitle(r), Time: "0"}
	j.id++
	s.Properties = []junitProperty{
		{"submission", CleanName(submissionPath(r))}, {"flight_sheet", sheetWithVersion(r)},
		{"severity", CleanName(string(r.Verdict.Severity))},
		{"score", CleanName(r.Verdict.Score)}, {"recommended_action", CleanName(r.Verdict.RecommendedAction)},
		{"digest", CleanName(r.Digest)},
	}
	for _, c := range testCases(r) {
		s.addCase(c)
	}
	if len(s.Cases) == 0 { // zero rules are no success
		s.addCase(junitCase{Name: "rules", Class: sheetWithVersion(r),
			Error: &junitOutcome{Message: "no rule was evaluated",
				Type: "referee.no_rule"}})
	}
	return s
}

func (s *junitSuite) addCase(c junitCase) {
	c.Time = "0"
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// testCases is one test case a check, and one for each finding that no check of the report owns, so that none is lost.
func testCases(r *referee.Report) []junitCase {
	var out []junitCase
	owned := make([]bool, len(r.Findings))
	for _, c := range r.Checks {
		var mine []*referee.Finding
		for i := range r.Findings {
			if slices.Contains(r.Findings[i].RuleIDs, c.ID) {
				mine, owned[i] = append(mine, &r.Findings[i]), true
			}
		}
		out = append(out, checkCase(r, c, mine))
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; !owned[i] {
			out = append(out, junitCase{Name: CleanName(f.Code), Class: className(r, string(f.Stage)),
				Failure: heaviestFailure(r, []*referee.Finding{f})})
		}
	}
	return out
}

// checkCase is a check's outcome. A finding makes it a failure whatever the status says.
func checkCase(r *referee.Report, c referee.Check, findings []*referee.Finding) junitCase {
	out := junitCase{Name: CleanName(c.ID), Class: className(r, c.Category)}
	switch {
	case len(findings) > 0:
		out.Failure = heaviestFailure(r, findings)
	case c.Status == referee.Pass:
	case c.Status == referee.Flag:
		out.Failure = &junitOutcome{Message: undecidedReason(c), Type: "referee.flag"}
	case slices.Contains(r.Verdict.UndecidedHigh, c.ID):
		out.Error = &junitOutcome{Message: undecidedReason(c), Type: undecidedRule}
	default:
		out.Skipped = &junitOutcome{Message: CleanName(string(c.Status)) + ": " + undecidedReason(c)}
	}
	return out
}

func className(r *referee.Report, category string) string {
	return CleanName(r.Sheet.Slug) + "." + CleanName(category)
}

// heaviestFailure says the heaviest finding in its message and all of them, ranked, in its text.
func heaviestFailure(r *referee.Report, findings []*referee.Finding) *junitOutcome {
	first := findings[0]
	out := &junitOutcome{Message: CleanMessage(first.Message), Type: CleanName(first.Code)}
	const shown = 50
	var b strings.Builder
	for i, f := range findings {
		if i == shown {
			fmt.Fprintf(&b, "… and %s\n", legible.Count(len(findings)-shown, "other finding"))
			break
		}
		fmt.Fprintf(&b, "found: %s %s %s\n  what: %s\n", CleanName(string(f.Tier)), CleanName(f.Code),
			CleanName(absolutePlace(r, f)), CleanMessage(f.Message))
		for _, line := range fixLines(f) {
			fmt.Fprintf(&b, "  fix:  %s\n", line)
		}
	}
	out.Text = b.String()
	return out
}
