package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/defendableos/referee/gate"
	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/report"
)

// actionStep is the step of a workflow that this process is: its inputs, its log, its outputs and its summary. Outside
// a runner the log is all there is.
type actionStep struct {
	*app
	action  *githubactions.Action
	runner  bool   // a runner reads what is printed
	mute    string // the word that ends the time in which the runner obeys nothing
	summary bool
	calls   int
}

func newStep(a *app) *actionStep {
	action := githubactions.New(githubactions.WithWriter(a.stdout), githubactions.WithGetenv(a.getenv))
	return &actionStep{app: a, action: action, runner: a.getenv("GITHUB_ACTIONS") == "true", summary: true}
}

// stopCommands makes the runner obey nothing of what is printed, for the log may hold a submission's words.
func (s *actionStep) stopCommands() {
	if !s.runner {
		return
	}
	word := make([]byte, 16)
	_, _ = rand.Read(word) // it never fails
	s.mute = hex.EncodeToString(word)
	fmt.Fprintf(s.stdout, "::stop-commands::%s\n", s.mute)
}

// resumeCommands lets the runner obey again.
func (s *actionStep) resumeCommands() {
	if s.mute != "" {
		fmt.Fprintf(s.stdout, "::%s::\n", s.mute)
		s.mute = ""
	}
}

// printLine prints a line to the log.
func (s *actionStep) printLine(format string, args ...any) {
	fmt.Fprintln(s.stdout, report.Clean(fmt.Sprintf(format, args...)))
}

func (s *actionStep) notice(text string) { s.printLine("notice: %s", text) }

// printDryRequest prints a request of a dry run; one that reads is sent.
func (s *actionStep) printDryRequest(method, path string, body []byte) {
	if method == "GET" || strings.HasSuffix(path, "/graphql") {
		s.printLine("%s %s", method, path)
		return
	}
	s.printLine("%s %s (not sent)", method, path)
	for line := range bytes.Lines(body) {
		s.printLine("  %s", strings.TrimRight(string(line), "\n"))
	}
}

// readInputs reads and checks the action's inputs.
func (s *actionStep) readInputs() (in gateInputs, err error) {
	get := func(name string) string { return strings.TrimSpace(s.action.GetInput(name)) }
	in = gateInputs{token: get("token"), mode: get("mode"), sha: get("sha"), config: get("config"),
		failOn: get("fail-on"), summary: true}
	if in.token == "" {
		in.token = s.getenv("GITHUB_TOKEN")
	}
	if s.runner && in.token != "" {
		s.resumeCommands()
		s.action.AddMask(in.token)
		s.stopCommands()
	}
	if in.mode != "" && !slices.Contains(gate.Modes, in.mode) {
		return in, usagef("the input mode is %q; it must be one of %s", in.mode, strings.Join(gate.Modes, ", "))
	}
	in.dry = in.mode == "dry-run"
	if in.pull, err = inputNumber("pull-request", get("pull-request")); err != nil {
		return in, err
	}
	seconds, err := inputNumber("max-wait", get("max-wait"))
	if err != nil {
		return in, err
	}
	in.maxWait = time.Duration(seconds) * time.Second
	switch text := get("summary"); text {
	case "", "true":
	case "false":
		in.summary, s.summary = false, false
	default:
		return in, usagef("the input summary is %q; it must be true or false", text)
	}
	return in, nil
}

// inputNumber is an input that counts something; empty is 0.
func inputNumber(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > 1<<31 {
		return 0, usagef("the input %s is %q; it must be a whole number above 0", name, text)
	}
	return n, nil
}

// endStep says how the job came out: in the log, the outputs, the summary, the report file, and the exit code.
func (s *actionStep) endStep(r *gate.Result, err error) error {
	defer s.resumeCommands()
	if err != nil {
		return s.explainFailure(err)
	}
	for _, m := range r.Messages {
		s.printLine("%s", m)
	}
	outputs := []comment.Output{{Name: "result", Value: r.Word}}
	if o := r.Outcome; o != nil && o.Base != "" {
		path, err := s.writeReports(o)
		if err != nil {
			return s.explainFailure(err)
		}
		outputs = comment.StepOutputs(o, path)
		outputs[0].Value = r.Word
		s.printOutcome(o)
	}
	s.writeDrafts(r.Drafts)
	s.setOutputs(outputs)
	if s.calls > 0 {
		s.printLine("%d requests of the API", s.calls)
	}
	if r.Failed {
		return &failure{code: exitRules}
	}
	return nil
}

// printOutcome prints the summary, and what could not be posted as annotations of the log.
func (s *actionStep) printOutcome(o *outcome.Outcome) {
	s.printTable(o)
	for _, line := range o.NotPosted {
		s.printLine("not posted: %s", line)
	}
	s.appendSummary("GITHUB_STEP_SUMMARY", comment.WriteSummary(o))
	if len(o.NotPosted) == 0 || !s.runner {
		return
	}
	s.resumeCommands()
	for _, c := range comment.WorkflowCommands(o, 10) {
		fmt.Fprintln(s.stdout, c)
	}
	s.stopCommands()
}

// printTable prints what was found, as `referee audit` does.
func (s *actionStep) printTable(o *outcome.Outcome) {
	w, err := report.New("table", s.stdout, report.Options{FailOn: o.FailOn})
	if err != nil {
		return
	}
	for _, a := range o.Audits {
		if a.Work != nil {
			_ = w.Add(a.Work.Report) // a log that cannot be written is no failure of the audit
		} else {
			s.printLine("%s could not be audited: %s", a.Dir, a.Refused)
		}
	}
	for _, r := range o.Refusals {
		s.printLine("%s: %s", r.Path, r.Reason)
	}
	_ = w.Close()
}

// writeDrafts puts the incidents of a scheduled look into the summary.
func (s *actionStep) writeDrafts(list []governance.Violation) {
	for _, v := range list {
		s.appendSummary("GITHUB_STEP_SUMMARY", "### "+report.Code(v.Kind+": "+v.Agent, 200)+"\n\n"+report.Code(v.Reason,
			1000)+"\n\n"+report.FencedSource(v.Draft)+"\n")
	}
}

// appendSummary adds to the job's summary, where there is one.
func (s *actionStep) appendSummary(variable, text string) {
	if !s.summary || s.getenv(variable) == "" {
		return
	}
	s.action.AddStepSummary(text)
}

// setOutputs sets the step's outputs. The library ends the process where the runner has said no file for them.
func (s *actionStep) setOutputs(list []comment.Output) {
	for _, o := range list {
		s.printLine("%s=%s", o.Name, o.Value)
		if s.getenv("GITHUB_OUTPUT") != "" {
			s.action.SetOutput(o.Name, o.Value)
		}
	}
}

// reportFile is the name of the report, in the job's workspace: what a later step may keep.
const reportFile = "referee-report.jsonl"

// writeReports writes every report, one a line.
func (s *actionStep) writeReports(o *outcome.Outcome) (string, error) {
	dir := s.getenv("GITHUB_WORKSPACE")
	if dir == "" {
		return "", nil
	}
	f, err := os.Create(filepath.Join(dir, reportFile))
	if err != nil {
		s.printLine("the report file cannot be written: %v", err)
		return "", nil
	}
	w, err := report.New("json", f, report.Options{})
	if err == nil {
		for _, a := range o.Audits {
			if a.Work != nil {
				err = errors.Join(err, w.Add(a.Work.Report))
			}
		}
		err = errors.Join(err, w.Close())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", toolf("writing %s: %w", reportFile, err)
	}
	return reportFile, nil
}

// explainFailure says why the job could not do its work. It is never a pass.
func (s *actionStep) explainFailure(err error) error {
	var b *gate.Broken
	var f *failure
	var e *githubapi.Error
	switch {
	case errors.As(err, &f):
	case errors.As(err, &b):
		err = usagef("%w", err)
	case errors.As(err, &e) && (e.Kind == githubapi.Unauthorized || e.Kind == githubapi.Forbidden):
		err = toolf("%w", err).withHint("give the job the permissions that `referee init` writes, or a token that has them")
	default:
		err = toolf("%w", err)
	}
	if s.runner {
		s.resumeCommands()
		s.action.Errorf("%s", annotationText(err.Error()))
	}
	s.setOutputs([]comment.Output{{Name: "result", Value: "broken"}})
	return err
}

// mostAnnotation is how many characters of an error an annotation shows.
const mostAnnotation = 1000

// annotationText is an error's text for an annotation: one line, nothing invisible.
func annotationText(text string) string {
	text, _ = canonical.Sanitize(strings.Join(strings.Fields(text), " "))
	return legible.Clip(text, mostAnnotation)
}
