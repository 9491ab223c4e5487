package forge

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// The second half of the property of S14: where the evidence holds an input, no other value of that input turns a
// failing high gate into work that passes, however well all the rest of the submission agrees with it.

// TestNoGateOpensAgainstEvidence restates each input of the library that evidence holds and a high gate rests on, in
// failing submissions, works everything anew over the wrong value as a careful cheat would, and leaves the evidence as
// it is. A gate may then pass, but never the audit. But for .ci/run the search ends at the first restatement of an
// input that opens a gate.
func TestNoGateOpensAgainstEvidence(t *testing.T) {
	inputs, tries, sheets, begun := 0, 0, map[string]bool{}, time.Now()
	opened := map[string]int{}
	for _, slug := range flightsheets.Names() {
		sheet, tried := librarySheet(t, slug), map[string]bool{}
		for i, x := range targetsOf(sheet, map[string]bool{}) {
			for _, name := range heldByEvidence(x) {
				if tried[name] {
					continue
				}
				tried[name] = true
				inputs++
				c := contradiction{x, name}
				for n, factor := range []string{"2", "0.5", "1.05", "0.95", "1000", "0"} {
					if !c.turns(factor) {
						continue
					}
					tries++
					sheets[slug] = true
					gate, report, how := c.try(factor, rand.New(rand.NewPCG(uint64(i), uint64(n))))
					if gate == "" {
						continue
					}
					opened[slug]++
					if !report.Fails(referee.FailOnHigh) {
						t.Errorf("%s: %s: the gate %q opens and the audit passes after: %s", slug, x.name, gate,
							strings.Join(how, "; "))
					}
					if !everyRound {
						break
					}
				}
			}
		}
	}
	n := 0
	for _, times := range opened {
		n += times
	}
	t.Logf("%d inputs; %d restatements of %d sheets turn a gate, %d of them over work done anew, in %v", inputs, tries,
		len(sheets), n, time.Since(begun))
	if least := map[bool]int{true: 80, false: 60}[everyRound]; len(sheets) < 20 || n < least || len(opened) < 20 {
		t.Errorf("%d restatements opened a gate, on %d sheets: too few to show anything", n, len(opened))
	}
}

// turns reports whether a gate would pass over the input times the factor, which needs no more than the inputs.
func (c contradiction) turns(factor string) bool {
	w := c.target.work.cloneWork()
	scaleMember(w.submission.Get("inputs"), c.input, factor)
	report, err := w.auditWork()
	return err == nil && slices.ContainsFunc(report.Checks, func(check referee.Check) bool {
		return check.Status != referee.Flag && slices.Contains(c.target.gates, check.ID)
	})
}

// contradiction is an input of a failing submission that evidence holds.
type contradiction struct {
	target *target
	input  string
}

// heldByEvidence are the numbers of a submission that a cell holds, and that a high gate rests on.
func heldByEvidence(x *target) []string {
	var out []string
	inputs := x.work.submission.Get("inputs")
	for _, in := range x.sheet.Inputs {
		if in.Held == referee.HeldCell && in.Gate() == referee.High && inputs.Get(in.Name).Decimal() != nil {
			out = append(out, in.Name)
		}
	}
	return out
}

// try multiplies the input, works the rest anew, and may change what else the agent says; it names a gate that failed
// and passes now.
func (c contradiction) try(factor string, dice *rand.Rand) (gate string, report *referee.Report, how []string) {
	value, err := decimal.Mul(c.target.work.submission.Get("inputs").Get(c.input).Decimal(), decimal.MustParse(factor))
	if err != nil {
		return "", nil, nil
	}
	w := c.target.work.cloneWork()
	before, err := w.recomputedResults()
	if err != nil {
		return "", nil, nil
	}
	if err := w.reworkInputs([]strictjson.Member{{Key: c.input, Value: jsonNumber(value.String())}}, before); err != nil {
		return "", nil, nil
	}
	w.files = slices.Clone(c.target.work.files)
	if hashes := c.target.work.submission.Get("evidence_sha256"); hashes != nil {
		w.submission.Set("evidence_sha256", hashes.Clone())
	}
	how = []string{c.input + " times " + factor}
	for range dice.IntN(3) {
		how = append(how, c.target.change(w, dice))
	}
	if report, err = w.auditWork(); err != nil {
		return "", nil, nil
	}
	for _, check := range report.Checks {
		if check.Status == referee.Pass && slices.Contains(c.target.gates, check.ID) {
			return check.ID, report, how
		}
	}
	return "", report, how
}

// TestContradictionCanPass: where a sheet holds the input by nothing the same search does find a clean pass.
func TestContradictionCanPass(t *testing.T) {
	const sheet = `{"slug":"loose","name":"Loose","version":"1.0.0","lane":"dataset","required_inputs":[{"name":"noi",
		"type":"number","held":"stated","reason":"x"},{"name":"debt","type":"number","held":"stated","reason":"x"}],
		"eval_spec":{"math_checks":[{"formula_id":"dscr","formula":"noi / debt","units":"ratio"}],"rules":[{"id":"gate",
		"tier":"high","expr":"dscr >= 1.25"}]},
		"examples":[{"name":"low","submission":{"inputs":{"noi":110,"debt":100},"calculations":[{"name":"dscr",
		"formula":"noi / debt","inputs":{"noi":110,"debt":100},"result":1.1,"units":"ratio"}]}}]}`
	s, err := referee.LoadSheet([]byte(sheet), "loose.json", "library")
	if err != nil {
		t.Fatal(err)
	}
	work, err := workedExample(s, &s.Examples()[0])
	if err != nil {
		t.Fatal(err)
	}
	c := contradiction{&target{sheet: s, name: "low", work: work, gates: []string{"gate"}}, "noi"}
	for i, factor := range factors {
		if gate, report, _ := c.try(factor, rand.New(rand.NewPCG(1, uint64(i)))); gate != "" &&
			!report.Fails(referee.FailOnHigh) {
			return
		}
	}
	t.Error("no factor opens a gate over an input that nothing holds: the search could find nothing")
}
