package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/report"
)

// newOptions are the flags of sheet new.
type newOptions struct {
	spec                               forge.Spec
	inputs, calcs, gates, checks, asks []string
	why, fix, source                   []string
	out                                string
}

func sheetNewCommand() *command {
	c := newCommand("sheet new", "[FILE]", "begin a flight sheet", 1)
	c.long = `Writes FILE (default flight_sheets/SLUG.json), a sheet that loads; what is
there already is never overwritten. On a terminal it asks for what the flags
leave out. Where every input has a value it also writes a worked example, with
every calculation worked out and, for each gate that one input can turn, a
trip.`
	c.examples = []string{`referee sheet new --slug my-loan --name "My loan" --lane agent --input ` +
		`noi:number:USD/yr=920000 --input loan:number:USD=8000000 --calc "debt_yield:ratio=noi / loan" --gate ` +
		`"dy_gate:high:debt_yield >= 0.07" --why "dy_gate=It must pay." --source "dy_gate=credit policy 4.2"`}
	o := &newOptions{}
	f := c.flags
	f.StringVar(&o.spec.Slug, "slug", "", "lower-case words joined by dashes")
	f.StringVar(&o.spec.Name, "name", "", "title")
	f.StringVar(&o.spec.Lane, "lane", "", "`LANE`: agent, dataset, compute, cook, incident")
	f.StringVar(&o.spec.Domain, "domain", "", "field of work")
	f.StringVar(&o.spec.Summary, "summary", "", "one sentence")
	f.StringVar(&o.spec.Instructions, "instructions", "", "what to give an agent")
	f.StringVar(&o.spec.Baseline, "baseline", "", "`BASELINE`: canonical, none (default: the lane's)")
	f.StringArrayVar(&o.inputs, "input", nil, "`NAME:TYPE[:UNIT][=VALUE]`, any number of times")
	f.StringArrayVar(&o.calcs, "calc", nil, "`ID[:UNITS]=FORMULA`, any number of times")
	f.StringArrayVar(&o.gates, "gate", nil, "`ID:TIER:EXPRESSION`, any number of times")
	f.StringArrayVar(&o.checks, "check", nil, "registry `KEY` (referee rules), any number of times")
	f.StringArrayVar(&o.asks, "question", nil, "`KEY=QUESTION` to a person, any number of times")
	f.StringArrayVar(&o.why, "why", nil, "`ID=TEXT`: why a gate or calculation exists")
	f.StringArrayVar(&o.fix, "fix", nil, "`ID=TEXT`: what would be right")
	f.StringArrayVar(&o.source, "source", nil, "`ID=TEXT`: where a gate comes from")
	c.run = func(a *app, args []string) error {
		if len(args) == 1 {
			o.out = args[0]
		}
		return a.newSheet(o)
	}
	return c
}

// newSheet asks what is left to ask, and writes the sheet.
func (a *app) newSheet(o *newOptions) error {
	if isTerminal(a.stdin) {
		a.askSheet(o)
	}
	if o.spec.Slug == "" || o.spec.Lane == "" {
		return usagef("sheet new needs --slug and --lane").withHint("`referee sheet new --help` shows all flags; on a " +
			"terminal it asks")
	}
	if err := o.readFlags(); err != nil {
		return usagef("%w", err)
	}
	src, err := forge.New(o.spec)
	var example *forge.ExampleError
	switch {
	case errors.As(err, &example):
		return usagef("%w", err).withHint("change the values of --input, or the gate")
	case err != nil:
		return sheetError(err)
	}
	file := o.out
	if file == "" {
		file = filepath.Join(sheetsDir, o.spec.Slug+".json")
	}
	if err := writeFresh(file, src); err != nil {
		return err
	}
	return a.print(fmt.Sprintf("%s\n", report.Clean(filepath.ToSlash(file))))
}

// writeFresh writes a file that is not there yet.
func writeFresh(file string, src []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return toolf("writing the sheet: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usagef("%s already exists", file).withHint("name another FILE")
	}
	if err != nil {
		return toolf("writing the sheet: %w", err)
	}
	if _, err := f.Write(src); err != nil {
		f.Close()
		return toolf("writing the sheet: %w", err)
	}
	if err := f.Close(); err != nil {
		return toolf("writing the sheet: %w", err)
	}
	return nil
}

// readFlags turns the flags into the specification.
func (o *newOptions) readFlags() error {
	for _, s := range o.inputs {
		in, err := forge.ParseInput(s)
		if err != nil {
			return err
		}
		o.spec.Inputs = append(o.spec.Inputs, in)
	}
	for _, s := range o.calcs {
		calc, err := forge.ParseCalc(s)
		if err != nil {
			return err
		}
		calc.Why, calc.Fix = textFor(o.why, calc.ID), textFor(o.fix, calc.ID)
		o.spec.Calcs = append(o.spec.Calcs, calc)
	}
	for _, s := range o.gates {
		g, err := forge.ParseGate(s)
		if err != nil {
			return err
		}
		g.Why, g.Fix, g.Source = textFor(o.why, g.ID), textFor(o.fix, g.ID), textFor(o.source, g.ID)
		o.spec.Gates = append(o.spec.Gates, g)
	}
	for _, s := range o.asks {
		key, question, found := strings.Cut(s, "=")
		if !found || key == "" {
			return fmt.Errorf("a question is written key=question, not %q", s)
		}
		o.spec.Questions = append(o.spec.Questions, forge.SpecQuestion{Key: key, Text: question})
	}
	o.spec.Checks = append(o.spec.Checks, o.checks...)
	return nil
}

// textFor finds the text of ID=TEXT.
func textFor(list []string, id string) string {
	for _, s := range list {
		if key, text, _ := strings.Cut(s, "="); key == id {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// askSheet asks for what the flags leave out; an empty answer ends a list, and the end of input ends all questions.
func (a *app) askSheet(o *newOptions) {
	in := bufio.NewScanner(io.LimitReader(a.stdin, 1<<20))
	ask := func(question string) string {
		fmt.Fprint(a.stderr, question+": ")
		if !in.Scan() {
			return ""
		}
		return strings.TrimSpace(in.Text())
	}
	one := func(to *string, question string) {
		if *to == "" {
			*to = ask(question)
		}
	}
	many := func(to *[]string, question string, each func(string)) {
		if len(*to) > 0 {
			return // the flags have said it
		}
		for answer := ask(question); answer != ""; answer = ask(question) {
			*to = append(*to, answer)
			each(answer)
		}
	}
	nothing := func(string) {}
	one(&o.spec.Slug, "slug, lower-case words joined by dashes")
	one(&o.spec.Name, "name")
	one(&o.spec.Lane, "lane: agent, dataset, compute, cook or incident")
	one(&o.spec.Summary, "summary, one sentence")
	one(&o.spec.Instructions, "instructions, what to give an agent")
	many(&o.inputs, "input, NAME:TYPE[:UNIT][=VALUE]; empty ends", nothing)
	many(&o.calcs, "calculation, ID[:UNITS]=FORMULA; empty ends", nothing)
	many(&o.gates, "gate, ID:TIER:EXPRESSION; empty ends", func(gate string) {
		id, _, _ := strings.Cut(gate, ":")
		o.why = append(o.why, id+"="+ask("  why does "+id+" exist"))
		o.fix = append(o.fix, id+"="+ask("  what would be right"))
		o.source = append(o.source, id+"="+ask("  where does it come from"))
	})
	many(&o.checks, "check, a KEY that `referee rules` lists; empty ends", nothing)
	many(&o.asks, "question to a person, KEY=QUESTION; empty ends", nothing)
}
