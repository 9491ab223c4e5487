package main

import (
	"runtime"

	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/referee"
)

// testOptions are the flags of sheet test.
type testOptions struct {
	dir              string
	coverage, mutate bool
	all              bool
	minScore         float64
	jobs             int
}

func sheetTestCommand() *command {
	c := newCommand("sheet test", "[FILE|SLUG…]", "run the examples and trips of flight sheets", -1)
	c.long = `Without arguments every active sheet is tested: its examples pass its own
rules, each trip flags exactly the rules it names, and every gate of one
comparison does what its operator says just below, on and just above its bound
and without an operand. --coverage lists what no example reaches. --mutate
changes every gate in small ways and lists what no example and no trip would
notice, each with a submission that does. The score is the share of changes
that an example, a trip or such a submission tells from the gate. A change that
makes no difference is explained on its rule: "equivalent": [{"change", "why"}].`
	c.examples = []string{"referee sheet test", "referee sheet test flight_sheets/my-sheet.json --coverage",
		"referee sheet test cre-multifamily-agency --mutate --min-score 95"}
	o := &testOptions{}
	c.flags.BoolVar(&o.coverage, "coverage", false, "list the outcomes, bands and branches that nothing reaches")
	c.flags.BoolVar(&o.mutate, "mutate", false, "change every gate and list what would notice")
	c.flags.BoolVar(&o.all, "survivors", false, "with --mutate: also list what only a worked-out submission notices")
	c.flags.Float64Var(&o.minScore, "min-score", 0,
		"with --mutate: exit 1 if all sheets together score less, in per cent")
	c.flags.IntVar(&o.jobs, "jobs", 0, "test `N` sheets at a time (default: one per processor)")
	dir := sheetsFlag(c.flags)
	c.run = func(a *app, args []string) error {
		switch o.dir = *dir; {
		case o.minScore != 0 && !o.mutate, o.all && !o.mutate:
			return usagef("--min-score and --survivors go with --mutate")
		case o.minScore < 0 || o.minScore > 100:
			return usagef("--min-score must be between 0 and 100")
		case o.jobs < 0 || o.jobs > maxJobs:
			return usagef("--jobs must be between 1 and %d, not %d", maxJobs, o.jobs)
		}
		return a.testSheets(o, args)
	}
	return c
}

// tested is what testing one sheet gave.
type tested struct {
	name       string
	err        error
	result     forge.Result
	boundaries []forge.Boundary
	coverage   *forge.CoverageResult
	mutation   *forge.MutationResult
}

// testSheets tests the sheets and prints what did not come out, in the order of the arguments.
func (a *app) testSheets(o *testOptions, names []string) error {
	library, err := a.openLibrary(o.dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = library.Slugs()
	}
	jobs := o.jobs
	if jobs == 0 {
		jobs = min(runtime.GOMAXPROCS(0), maxJobs)
	}
	t := &testRun{options: o, page: &page{}}
	err = runOrdered(a.ctx, jobs, func(emit func(string) bool) error {
		for _, name := range names {
			if !emit(name) {
				break
			}
		}
		return nil
	}, func(name string) *tested { return a.testSheet(library, name, o) }, t.takeSheet)
	if err != nil {
		return err
	}
	t.printSums()
	if err := a.print(t.page.b.String()); err != nil {
		return err
	}
	if t.refused > 0 {
		return &failure{code: exitUsage}
	}
	total := forge.MutationResult{Mutants: t.mutants, Killed: t.killed}
	if t.failed > 0 || total.Below(o.minScore) {
		return &failure{code: exitRules}
	}
	return nil
}

func (a *app) testSheet(library *referee.Library, name string, o *testOptions) *tested {
	out := &tested{name: name}
	sheet, err := a.anySheet(library, name)
	if err != nil {
		out.err = err
		return out
	}
	if out.result = forge.Test(sheet); out.result.Spent {
		return out // what else asks the examples would take as long again
	}
	out.boundaries = forge.Boundaries(sheet)
	if o.coverage {
		c := forge.Coverage(sheet)
		out.coverage = &c
	}
	if o.mutate {
		m := forge.Mutate(sheet)
		out.mutation = &m
	}
	return out
}

// testRun adds up what the sheets gave.
type testRun struct {
	options                            *testOptions
	page                               *page
	sheets, refused, failed            int
	examples, trips, boundaries        int
	reached, possible, mutants, killed int
	unexplained                        int // changes that nothing notices and no sheet explains
}

// takeSheet prints one sheet's failures and counts it.
func (t *testRun) takeSheet(s *tested) error {
	t.sheets++
	if s.err != nil {
		if codeOf(s.err) != exitUsage {
			return s.err
		}
		t.refused++
		t.page.writeRefusal(s.err)
		return nil
	}
	bad := !s.result.OK()
	if s.result.Examples == 0 {
		t.page.line("%s: no example to test", s.name)
	}
	for _, f := range s.result.Failures {
		t.page.line("%s", f)
	}
	for _, b := range s.boundaries {
		if !b.OK() {
			bad = true
			t.page.line("%s: %s", s.name, b)
		}
	}
	t.examples, t.trips, t.boundaries = t.examples+s.result.Examples, t.trips+s.result.Trips,
		t.boundaries+len(s.boundaries)
	t.printMeasured(s)
	if bad {
		t.failed++
	}
	return nil
}

// printMeasured prints what --coverage and --mutate found.
func (t *testRun) printMeasured(s *tested) {
	if s.coverage != nil {
		reached, possible := s.coverage.Totals()
		t.reached, t.possible = t.reached+reached, t.possible+possible
		t.page.line("%s: %d of %d outcomes and branches reached", s.name, reached, possible)
		for _, r := range s.coverage.Rules {
			for _, missed := range r.Missed() {
				t.page.line("  %s: never %s", r.Rule.ID, missed)
			}
		}
	}
	if s.mutation == nil {
		return
	}
	m := s.mutation
	t.mutants, t.killed = t.mutants+m.Mutants, t.killed+m.Killed
	t.page.line("%s: %s per cent, %d of %d changes of gates noticed, %d of them by its examples and trips", s.name,
		m.Score(), m.Killed, m.Mutants, m.Written)
	for _, v := range m.Survivors {
		if v.Witness != "" && !t.options.all {
			continue
		}
		t.page.line("  %s: %s", v.Rule, v.What)
		switch {
		case v.Why != "":
			t.page.line("    makes no difference: %s", v.Why)
		case v.Witness == "":
			t.page.line("    no submission was found that notices")
		default:
			t.page.line("    noticed by %s", v.Witness)
		}
		if v.Patch != "" {
			t.page.line("    %s", v.Patch)
		}
	}
	for _, idle := range m.Idle {
		t.page.line("  %s: explains %q, which is noticed or which nobody makes", idle.Rule, idle.What)
	}
	t.unexplained += len(m.Open())
}

func (t *testRun) printSums() {
	t.page.line("%s: %s and %s run, %s held, %d sheets failed, %d refused", countWord(t.sheets, "sheet"),
		countWord(t.examples, "example"), countWord(t.trips, "trip"), countWord(t.boundaries, "boundary"),
		t.failed, t.refused)
	if t.possible > 0 {
		t.page.line("coverage: %d of %d outcomes and branches", t.reached, t.possible)
	}
	if t.mutants > 0 {
		m := forge.MutationResult{Mutants: t.mutants, Killed: t.killed}
		t.page.line("mutation: %s per cent, %d of %d changes noticed, %d of the others unexplained", m.Score(),
			t.killed, t.mutants, t.unexplained)
	}
}
