package forge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// Result is what running a sheet's examples and trips gave.
type Result struct {
	Sheet    *referee.Sheet
	Examples int
	Trips    int
	Failures []Failure
	Spent    bool // the budget ended before the examples did: a failure says where
}

// OK reports whether everything came out as the sheet says. A sheet without an example has shown nothing.
func (r *Result) OK() bool { return r.Examples > 0 && len(r.Failures) == 0 }

// Failure is one thing that did not come out as the sheet says.
type Failure struct {
	Example  string // its name
	Trip     string // the trip's change; "" for the example itself
	Rule     string // "" where no single rule is to blame
	Expected string
	Got      string
	Message  string // why, in the words of the audit

	File         string
	Line, Column int
	Pointer      string
}

// String is the failure on one line, with its place.
func (f Failure) String() string {
	where := fmt.Sprintf("%s:%d:%d: example %q", f.File, f.Line, f.Column, f.Example)
	if f.Trip != "" {
		where += fmt.Sprintf(", trip %q", f.Trip)
	}
	if f.Rule != "" {
		where += fmt.Sprintf(": %s must be %s and is %s", f.Rule, f.Expected, f.Got)
	}
	if f.Message != "" {
		where += ": " + f.Message
	}
	return where
}

// Test runs the sheet's examples and trips. Of an example every rule must pass, questions stay open, and what it
// expects otherwise it must say; a trip flags exactly the rules that it names.
func Test(sheet *referee.Sheet) Result {
	return TestWithin(sheet, &decimal.Meter{Most: MaxExampleWork})
}

// MaxExampleWork is what the examples and trips of one sheet file may take together, in units of decimal.Meter: about
// 10 s (S81).
const MaxExampleWork = 40_000_000

// TestWithin is Test within a budget, which several sheets may have together. Where it is spent, the result has a
// failure that says so, and what was left is not run: a sheet whose examples nobody has seen through has not shown that
// it judges as it says.
func TestWithin(sheet *referee.Sheet, work *decimal.Meter) Result {
	t := &tester{sheet: sheet, work: work, size: len(sheet.Doc.Encode()), result: Result{Sheet: sheet}}
	for _, ex := range sheet.Examples() {
		if t.testExample(&ex); t.result.Spent {
			break
		}
	}
	return t.result
}

// reportSpent reports, once, that the budget ends at an example or a trip.
func (t *tester) reportSpent(at *strictjson.Value) bool {
	if t.result.Spent || !t.work.Exhausted() {
		return t.result.Spent
	}
	t.result.Spent = true
	t.addFailure(at, "", "", "", "the examples and trips take more than %d steps together, and none from here on was run "+
		"to the end: make them fewer or smaller", t.work.Most)
	return true
}

// auditCounted counts what changing the submission takes, and audits it.
func (t *tester) auditCounted(w *worked) (*referee.Report, error) {
	if !t.work.Take(len(w.submission.Encode())) {
		return nil, errSpent
	}
	report, err := w.auditWork()
	if t.work.Exhausted() {
		return nil, errSpent // it may have been cut short
	}
	return report, err
}

var errSpent = errors.New("the budget of the sheet's examples is spent")

// reportFailed reports what could not be built or audited.
func (t *tester) reportFailed(at *strictjson.Value, err error) {
	if !t.reportSpent(at) {
		t.addFailure(at, "", "", "", "%v", err)
	}
}

// countLoad counts the sheet's being compiled again for values of its parameters.
func (t *tester) countLoad(params map[string]*strictjson.Value) {
	if len(params) > 0 {
		t.work.Take(unitsPerSheetByte * t.size)
	}
}

// unitsPerSheetByte is what compiling a sheet takes.
const unitsPerSheetByte = 2

// tester is one run over a sheet.
type tester struct {
	sheet  *referee.Sheet
	work   *decimal.Meter
	size   int // of the sheet, in bytes
	result Result
	name   string // of the example
	trip   string
}

func (t *tester) addFailure(at *strictjson.Value, rule, expected, got, format string, args ...any) {
	t.result.Failures = append(t.result.Failures, Failure{Example: t.name, Trip: t.trip, Rule: rule, Expected: expected,
		Got: got, Message: fmt.Sprintf(format, args...),
		File: t.sheet.File, Line: at.Pos.Line, Column: at.Pos.Col, Pointer: at.Pointer()})
}

func (t *tester) testExample(ex *referee.Example) {
	t.result.Examples++
	if t.name, t.trip = ex.Name, ""; t.name == "" {
		t.name = fmt.Sprintf("number %d", t.result.Examples)
	}
	if t.countLoad(ex.Params); t.reportSpent(ex.At) {
		return
	}
	base, err := workedExample(t.sheet, ex)
	if err != nil {
		t.reportFailed(ex.At, err)
		return
	}
	base.work = t.work
	report, err := t.auditCounted(base)
	if err != nil {
		t.reportFailed(ex.At, err)
		return
	}
	t.checkStatuses(ex, report)
	for i := range ex.Trips {
		if t.runTrip(base, &ex.Trips[i]); t.result.Spent {
			return
		}
	}
}

// checkStatuses holds every rule to what the example expects of it.
func (t *tester) checkStatuses(ex *referee.Example, report *referee.Report) {
	expected := map[string]referee.ExampleStatus{}
	for _, e := range ex.Expect {
		if t.sheet.Rule(e.Rule) == nil {
			t.addFailure(e.At, e.Rule, string(e.Status), "unknown", "the sheet has no such rule%s", t.nearestHint(e.Rule))
		}
		expected[e.Rule] = e
	}
	for _, c := range report.Checks {
		want, at := referee.Pass, ex.At
		if c.Kind == "checklist" && !c.Vacuous { // a question that has nothing to ask about is not asked
			want = referee.Open
		}
		if e, ok := expected[c.ID]; ok {
			want, at = e.Status, e.At
		}
		if c.Status != want {
			t.addFailure(at, c.ID, string(want), string(c.Status), "%s", whyStatus(report, c.ID))
		}
	}
}

func (t *tester) nearestHint(id string) string {
	var known []string
	for _, r := range t.sheet.Rules {
		known = append(known, r.ID)
	}
	if near := nearest.Word(id, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// whyStatus says why a rule has the status that it has: its findings, or the reason of a skip.
func whyStatus(report *referee.Report, id string) string {
	var words []string
	for _, f := range report.Findings {
		if slices.Contains(f.RuleIDs, id) {
			words = append(words, f.Code+" at "+placeText(f.Pointer)+": "+f.Message)
		}
	}
	for _, c := range report.Checks {
		if c.ID == id && c.Reason != "" {
			words = append(words, c.Reason)
		}
	}
	return strings.Join(words, "; ")
}

func placeText(pointer string) string {
	if pointer == "" {
		return "the whole submission"
	}
	return pointer
}

// runTrip applies a trip: exactly the rules that it names are flagged.
func (t *tester) runTrip(base *worked, trip *referee.Trip) {
	t.result.Trips++
	t.trip = trip.Change
	defer func() { t.trip = "" }()
	t.countLoad(trip.Params)
	if t.work.Take(2 * len(base.submission.Encode())); t.reportSpent(trip.At) { // copied, and its calculations worked anew
		return
	}
	w, err := base.applyTrip(trip)
	if err != nil {
		t.reportFailed(trip.At, err)
		return
	}
	report, err := t.auditCounted(w)
	if err != nil {
		t.reportFailed(trip.At, err)
		return
	}
	for _, id := range trip.Flags {
		if t.sheet.Rule(id) == nil {
			t.addFailure(trip.At.Get("flags"), id, "flag", "unknown", "the sheet has no such rule%s", t.nearestHint(id))
		}
	}
	for _, c := range report.Checks {
		named := slices.Contains(trip.Flags, c.ID)
		switch {
		case named && c.Status != referee.Flag:
			t.addFailure(trip.At.Get("flags"), c.ID, "flag", string(c.Status), "%s", whyStatus(report, c.ID))
		case !named && c.Status == referee.Flag:
			t.addFailure(trip.At.Get("flags"), c.ID, "no flag", "flag", "%s", whyStatus(report, c.ID))
		}
	}
	t.checkCodes(trip, report)
}

// checkCodes holds the findings to the codes that the trip names.
func (t *tester) checkCodes(trip *referee.Trip, report *referee.Report) {
	for i, code := range trip.Findings {
		if slices.ContainsFunc(report.Findings, func(f referee.Finding) bool { return f.Code == code }) {
			continue
		}
		var have []string
		for _, f := range report.Findings {
			if !slices.Contains(have, f.Code) {
				have = append(have, f.Code)
			}
		}
		t.addFailure(trip.At.Get("findings").Items[i], "", "", "", "finding %s is missing; found: %s", code,
			strings.Join(have, ", "))
	}
}
