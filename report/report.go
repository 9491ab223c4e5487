// Package report writes reports: one referee.Report, many papers.
//
// New makes a Writer for a format; reports are added in the order in which they are to be read, and Close ends the
// paper. Nothing is decided here: what a paper says stands in the report.
//
//	table     for a terminal: a block for each of up to 20 submissions, one line for each flagged one of more, and a
//	          summary
//	json      one compact report a line: exactly the report
//	markdown  for pull request comments and job summaries
//	sarif     SARIF 2.1.0, one document
//	junit     one test suite a report, one test case a declared rule
//	github    workflow commands, at most ten of a kind
//
// Every string of a report is hostile: a submission writes into messages, names and paths. Three rules hold in every
// format, and TestHostile puts hostile text into every field of a report to prove them:
//
//  1. Control, bidirectional, zero-width and other invisible characters do not reach a paper. They are shown as
//     <U+202E> (Clean), which is also what the ledger's canonical form does; json writes them as escapes, so that the
//     value stays the report's own.
//  2. Text cannot become structure: no further line, workflow command, markdown, HTML, mention, link or XML element.
//  3. Lengths are bounded, and what is cut says so.
//
// Papers are the same bytes for the same reports and options. Memory does not grow with the number of reports.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/defendableos/referee/referee"
)

// Writer is one paper being written.
type Writer interface {
	// Add writes a report, or keeps it until Close; it must not be changed after.
	Add(*referee.Report) error
	// Close writes what comes last. It does not close the underlying writer.
	Close() error
}

// Options are what a caller may choose. The zero value is a paper for a file.
type Options struct {
	Width   int               // columns of the table; 0 is 80
	Color   bool              // colours in the table: the caller knows whether it is a terminal's
	Verbose bool              // table, markdown: every check, derived values, advisory files
	Atoms   bool              // json: all atoms, not only the cited ones
	FailOn  referee.Threshold // the lightest tier that fails
	Explain string            // table: the rule whose proof is printed; "" is every one that the report holds
	Version string            // of the tool, for sarif
}

// maker begins a paper.
type maker struct {
	name string
	make func(io.Writer, Options) Writer
}

var makers = []maker{
	{"table", newTable},
	{"json", newJSON},
	{"markdown", newMarkdown},
	{"sarif", newSARIF},
	{"junit", newJUnit},
	{"github", newGitHub},
}

// Formats lists the formats, the default one first.
func Formats() []string {
	var names []string
	for _, m := range makers {
		names = append(names, m.name)
	}
	return names
}

// New begins a paper on w. An unknown format is refused with those that are known.
func New(format string, w io.Writer, o Options) (Writer, error) {
	for _, m := range makers {
		if m.name == format {
			return m.make(w, o), nil
		}
	}
	return nil, fmt.Errorf("unknown format %q; known are %s", format, strings.Join(Formats(), ", "))
}

// printer writes formatted text and keeps the first error, so that a paper asks once.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	p.print(fmt.Sprintf(format, args...))
}

func (p *printer) print(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}
