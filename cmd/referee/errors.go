package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/defendableos/referee/report"
)

// The exit codes of every command.
const (
	exitClean = 0 // nothing to say
	exitRules = 1 // the rules, or the chain, say no
	exitUsage = 2 // bad usage, configuration or sheet
	exitTool  = 3 // the tool failed: I/O, network, a bug
)

// failure is an error that knows its exit code and what the reader could do about it. A failure without err is silent:
// what is wrong stands in the results.
type failure struct {
	code  int
	err   error
	hints []string
}

// Error is the error's text.
func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.code)
	}
	return f.err.Error()
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// withHint adds a line that says what to do.
func (f *failure) withHint(format string, args ...any) *failure {
	f.hints = append(f.hints, fmt.Sprintf(format, args...))
	return f
}

// usagef refuses usage, configuration or a sheet.
func usagef(format string, args ...any) *failure {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// rulesf says no.
func rulesf(format string, args ...any) *failure {
	return &failure{code: exitRules, err: fmt.Errorf(format, args...)}
}

// toolf reports that the tool itself could not do its work.
func toolf(format string, args ...any) *failure {
	return &failure{code: exitTool, err: fmt.Errorf(format, args...)}
}

// codeOf is the exit code of an error; one that does not say is the tool's own.
func codeOf(err error) int {
	var f *failure
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &f):
		return f.code
	}
	return exitTool
}

// printError prints an error and its hints. Foreign text in them cannot move the cursor, turn the writing direction or
// begin a line.
func printError(w io.Writer, err error) {
	var f *failure
	if errors.As(err, &f) && f.err == nil {
		return
	}
	for i, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		lead := "referee: error: "
		if i > 0 {
			lead = "  "
		}
		fmt.Fprintln(w, lead+report.Clean(line))
	}
	if f == nil {
		return
	}
	for _, h := range f.hints {
		fmt.Fprintln(w, "hint: "+report.Clean(h))
	}
}

// note tells the reader something that is no error.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.stderr, "referee: note: "+report.Clean(fmt.Sprintf(format, args...)))
}

// prefixPlace puts the place before an error's text.
func prefixPlace(place string, err error) error { return fmt.Errorf("%s: %w", place, err) }

// lineName names a line of a file.
func lineName(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }
