package report

import (
	"io"
	"strings"

	"github.com/defendableos/referee/referee"
)

// The published schema and version of SARIF.
const (
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0-rtm.5.json"
	sarifVersion = "2.1.0"
	toolURI      = "https://github.com/defendableos/referee"
)

// undecidedRule is the rule of a high rule that could not be decided: SARIF's result of kind "open".
const undecidedRule = "referee.undecided"

// sarif writes one document with one run. Results are written as they come; the list of rules, which grows with the
// kinds of findings and not with their number, is written behind them.
type sarif struct {
	p     printer
	o     Options
	index map[string]int
	rules []sarifRule
	begun bool
}

func newSARIF(w io.Writer, o Options) Writer {
	return &sarif{p: printer{w: w}, o: o, index: map[string]int{}}
}

type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Full    *sarifText  `json:"fullDescription,omitempty"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Kind         string            `json:"kind,omitempty"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   sarifProperties   `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifProperties struct {
		Run        string        `json:"run,omitempty"`
		Sheet      string        `json:"flightSheet"`
		Submission string        `json:"submissionSha256,omitempty"`
		Rules      []string      `json:"rules"`
		Tier       string        `json:"tier"`
		Severity   string        `json:"severity,omitempty"`
		Bucket     string        `json:"bucket,omitempty"`
		Stage      string        `json:"stage,omitempty"`
		Spot       *referee.Spot `json:"spot,omitempty"`
		Fix        []string      `json:"fix,omitempty"`
	}
)

// Add writes the report's results: its findings, and its undecided high rules, which are none and fail it all the same
// (S39a).
func (s *sarif) Add(r *referee.Report) error {
	for i := range r.Findings {
		s.writeResult(findingResult(r, &r.Findings[i]), r.Findings[i].Why)
	}
	for _, c := range undecidedHigh(r) {
		s.writeResult(undecidedResult(r, c), "A rule that could not be decided is neither passed nor broken.")
	}
	return s.p.err
}

func (s *sarif) writeResult(result sarifResult, why string) {
	result.RuleIndex = s.ruleIndex(result, why)
	b, err := compactJSON(result)
	if err != nil && s.p.err == nil {
		s.p.err = err
	}
	if s.begun {
		s.p.print(",\n")
	} else {
		s.beginRun()
	}
	s.p.print(string(b))
}

func (s *sarif) beginRun() {
	s.begun = true
	s.p.printf("{\"$schema\":%q,\"version\":%q,\"runs\":[{\"columnKind\":\"unicodeCodePoints\",\"results\":[\n",
		sarifSchema, sarifVersion)
}

// ruleIndex is the index of the result's rule, which is listed when it first occurs.
func (s *sarif) ruleIndex(result sarifResult, why string) int {
	if i, ok := s.index[result.RuleID]; ok {
		return i
	}
	rule := sarifRule{ID: result.RuleID, Short: sarifText{result.RuleID}, Default: sarifConfig{result.Level}}
	if why != "" {
		rule.Full = &sarifText{noLinks(why)}
	}
	s.index[result.RuleID] = len(s.rules)
	s.rules = append(s.rules, rule)
	return len(s.rules) - 1
}

// Close writes the tool with the rules that occurred.
func (s *sarif) Close() error {
	if !s.begun {
		s.beginRun()
	}
	driver := struct {
		Name    string      `json:"name"`
		URI     string      `json:"informationUri"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}{"referee", toolURI, CleanName(s.o.Version), append([]sarifRule{}, s.rules...)}
	b, err := compactJSON(driver)
	if err != nil {
		return err
	}
	s.p.printf("\n],\"tool\":{\"driver\":%s}}]}\n", b)
	return s.p.err
}

func sarifLevel(t referee.Tier) string {
	switch t {
	case referee.Mid:
		return "warning"
	case referee.Low:
		return "note"
	}
	return "error" // a tier that this version does not know is not made lighter
}

func findingResult(r *referee.Report, f *referee.Finding) sarifResult {
	result := sarifResult{RuleID: CleanName(f.Code), Level: sarifLevel(f.Tier),
		Message: sarifText{noLinks(sarifMessage(f))}}
	result.Locations = []sarifLocation{fileLocation(findingFile(r, f), findingRegion(f), f.Pointer)}
	result.Fingerprints = map[string]string{"referee/v1": fingerprintOf(r, f)}
	result.Properties = resultProperties(r, f.RuleIDs)
	p := &result.Properties
	p.Tier, p.Severity, p.Bucket, p.Stage = CleanName(string(f.Tier)), CleanName(f.Severity),
		CleanName(string(f.Bucket)), CleanName(string(f.Stage))
	p.Spot, p.Fix = cleanSpot(f.Spot), fixLines(f)
	return result
}

// sarifMessage is what is wrong and, as a second paragraph, what would be right: viewers show the message only.
func sarifMessage(f *referee.Finding) string {
	text := CleanMessage(f.Message)
	if f.Fix != nil && f.Fix.Text != "" {
		text += "\n\nFix: " + CleanMessage(f.Fix.Text)
	}
	return text
}

func undecidedResult(r *referee.Report, c referee.Check) sarifResult {
	f := &referee.Finding{Code: undecidedRule, RuleIDs: []string{c.ID}}
	result := sarifResult{RuleID: undecidedRule, Kind: "open", Level: "none"}
	result.Message = sarifText{noLinks("The high rule " + CleanName(c.ID) + " could not be decided: " +
		undecidedReason(c))}
	result.Locations = []sarifLocation{fileLocation(locateFile(r, r.Submission.Path), nil, "")}
	result.Fingerprints = map[string]string{"referee/v1": fingerprintOf(r, f)}
	result.Properties = resultProperties(r, f.RuleIDs)
	result.Properties.Tier = string(referee.High)
	return result
}

func resultProperties(r *referee.Report, rules []string) sarifProperties {
	p := sarifProperties{Run: CleanName(r.Run.ID), Sheet: sheetWithVersion(r),
		Submission: CleanName(r.Submission.SHA256),
		Rules:      []string{}}
	for _, id := range rules {
		p.Rules = append(p.Rules, CleanName(id))
	}
	return p
}

// cleanSpot is a clean copy of the numbers.
func cleanSpot(s *referee.Spot) *referee.Spot {
	if s == nil {
		return nil
	}
	return &referee.Spot{Claimed: CleanName(s.Claimed), Recomputed: CleanName(s.Recomputed), Delta: CleanName(s.Delta),
		Percent: CleanName(s.Percent),
		Band:    CleanName(s.Band), Gate: CleanMessage(s.Gate), Distance: CleanName(s.Distance)}
}

func fileLocation(file string, region *sarifRegion, pointer string) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{URI: pathURI(file), Base: "%SRCROOT%"},
		Region: region}}
	if file == "" || file[0] == '/' {
		l.Physical.Artifact.Base = ""
	}
	if pointer != "" {
		l.Logical = []sarifLogical{{Name: CleanName(pointer), Kind: "value"}}
	}
	return l
}

// findingRegion is the finding's place; SARIF's end column, like the report's, is the one after the last.
func findingRegion(f *referee.Finding) *sarifRegion {
	if f.Line <= 0 {
		return nil
	}
	region := &sarifRegion{StartLine: f.Line, StartColumn: max(0, f.Column)}
	if f.EndLine >= f.Line && f.EndCol > 0 && f.Column > 0 {
		region.EndLine, region.EndColumn = f.EndLine, f.EndCol
	}
	return region
}

// noLinks breaks "[text](target)": SARIF's plain text knows embedded links, and a submission must not write one.
func noLinks(s string) string { return strings.ReplaceAll(s, "](", "] (") }
