package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// papers are what an audit writes: the chosen format on standard output, or in the file of --out with the table on
// standard output.
type papers struct {
	list []paper
	file *os.File // of --out, under a temporary name until it is complete
	out  string
}

// paper is one result being written.
type paper struct {
	report.Writer
	format string
	to     *bufio.Writer
}

// newPapers begins the papers.
func (o *auditOptions) newPapers(a *app, clear func()) (*papers, error) {
	p := &papers{out: o.out}
	onScreen := o.format
	if o.out != "" {
		onScreen = "table"
		if err := p.openFile(o); err != nil {
			return nil, err
		}
	}
	look := a.lookAt(a.stdout)
	return p, p.beginPapers(onScreen, aside{a.stdout, clear}, o.reportOptions(look))
}

// aside takes the progress bar away before a result is written where it may stand.
type aside struct {
	w     io.Writer
	clear func()
}

// Write clears the bar, then writes.
func (s aside) Write(b []byte) (int, error) {
	s.clear()
	return s.w.Write(b)
}

func (o *auditOptions) reportOptions(l look) report.Options {
	return report.Options{Width: l.width, Color: l.color, Verbose: o.verbose, Atoms: o.atoms, FailOn: o.limit,
		Explain: o.explain, Version: referee.EngineVersion}
}

// openFile begins the paper in the file of --out: under a temporary name beside it, so that no half of a result ever
// bears its name.
func (p *papers) openFile(o *auditOptions) error {
	if info, err := os.Stat(o.out); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(o.out, os.O_WRONLY, 0) // a device or a pipe is written to as it is
		if err != nil {
			return usagef("--out cannot be written: %w", err)
		}
		p.file, p.out = f, ""
		return p.beginPapers(o.format, f, o.reportOptions(look{}))
	}
	f, err := os.CreateTemp(filepath.Dir(o.out), "."+filepath.Base(o.out)+".*")
	if err != nil {
		return usagef("--out cannot be written: %w", err)
	}
	p.file = f
	return p.beginPapers(o.format, f, o.reportOptions(look{}))
}

func (p *papers) beginPapers(format string, w io.Writer, o report.Options) error {
	to := bufio.NewWriterSize(w, 32<<10)
	writer, err := report.New(format, to, o)
	if err != nil {
		p.abandonPapers()
		return usagef("%w", err)
	}
	p.list = append(p.list, paper{writer, format, to})
	return nil
}

// addReport puts a report on every paper.
func (p *papers) addReport(r *referee.Report) error {
	for _, one := range p.list {
		if err := one.Add(r); err != nil {
			return toolf("writing the result: %w", err)
		}
	}
	return nil
}

// closePapers ends the papers and gives the file of --out its name.
func (p *papers) closePapers() error {
	for _, one := range p.list {
		if err := one.Close(); err != nil {
			return toolf("writing the result: %w", err)
		}
		if err := one.to.Flush(); err != nil {
			return toolf("writing the result: %w", err)
		}
	}
	if p.file == nil {
		return nil
	}
	file := p.file
	p.file = nil
	return p.keepFile(file)
}

// keepFile gives the finished file its name.
func (p *papers) keepFile(file *os.File) error {
	temporary := file.Name()
	err := file.Close()
	if p.out == "" {
		return asTool(err)
	}
	if err == nil {
		err = os.Chmod(temporary, 0o644)
	}
	if err == nil {
		err = os.Rename(temporary, p.out)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return asTool(err)
}

func asTool(err error) error {
	if err == nil {
		return nil
	}
	return toolf("writing the result: %w", err)
}

// cutPapers ends the papers of an audit that was interrupted. Lines of json are each whole and are kept; a table or a
// page says that it is a part; a sarif or junit document is left open, so that no reader takes it for a whole one. The
// file of --out is not written.
func (p *papers) cutPapers(audited int) {
	for _, one := range p.list {
		if one.format == "table" || one.format == "markdown" {
			// The interruption is what is reported; an error of writing its mark would add nothing.
			_ = one.Close()
			fmt.Fprintf(one.to, "\nINTERRUPTED: only the first %s above, the others were not audited.\n",
				countWord(audited, "submission"))
		}
		_ = one.to.Flush()
	}
	p.abandonPapers()
}

// abandonPapers removes the file of --out that was not finished.
func (p *papers) abandonPapers() {
	if p.file == nil {
		return
	}
	p.file.Close()
	if p.out != "" {
		os.Remove(p.file.Name())
	}
	p.file = nil
}
