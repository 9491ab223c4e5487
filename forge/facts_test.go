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

// The property of S14: a gate reads the submission's inputs and the evidence. Whatever else a submission says, no word
// of it turns a failing high gate into pass.

// factsTime bounds the search over the whole library. Every failing gate is attacked at least once; in .ci/run, what
// time is left makes more rounds.
const factsTime = 5 * time.Second

// attacksAtOnce is how often a submission is attacked in a round.
const attacksAtOnce = 2

// TestNoGateOpensOnTheAgentsWord attacks every failing high gate of every example and trip of the library.
func TestNoGateOpensOnTheAgentsWord(t *testing.T) {
	var targets []*target
	sheets, outside := 0, map[string]bool{}
	for _, slug := range flightsheets.Names() {
		found := targetsOf(librarySheet(t, slug), outside)
		if len(found) > 0 {
			sheets++
		}
		targets = append(targets, found...)
	}
	attacks, begun := 0, time.Now()
	for round := range 8 {
		for i, target := range targets {
			if round > 0 && (!everyRound || time.Since(begun) > factsTime) {
				break
			}
			dice := rand.New(rand.NewPCG(uint64(round), uint64(i)))
			for range attacksAtOnce {
				attacks++
				if id, how := target.attack(dice); id != "" {
					t.Errorf("%s: %s: the failing gate %q passes after: %s", target.sheet.Slug, target.name, id,
						strings.Join(how, "; "))
				}
			}
		}
	}
	t.Logf("%d attacks on %d submissions of %d sheets in %v; %d high gates read more than inputs and evidence", attacks,
		len(targets), sheets, time.Since(begun), len(outside))
	if sheets < 40 || len(targets) < 200 || attacks < attacksAtOnce*len(targets) {
		t.Errorf("only %d sheets with %d submissions were attacked %d times: the library has more failing gates",
			sheets, len(targets), attacks)
	}
}

// TestFactsCanFail: where a gate reads the claim the same attacks do open it, so the search finds what there is.
func TestFactsCanFail(t *testing.T) {
	const sheet = `{"slug":"claimed","name":"Claimed","version":"1.0.0","lane":"dataset",
		"required_inputs":[{"name":"noi","type":"number"},{"name":"debt","type":"number"}],
		"eval_spec":{"math_checks":[{"formula_id":"dscr","formula":"noi / debt","units":"ratio"}],"rules":[{"id":"gate",
		"tier":"high","expr":{"op":">=","left":{"calc":"dscr"VIEW},"right":1.25}}]},
		"examples":[{"name":"low","submission":{"inputs":{"noi":110,"debt":100},"calculations":[{"name":"dscr",
		"formula":"noi / debt","inputs":{"noi":110,"debt":100},"result":1.1,"units":"ratio"}]}}]}`
	opened := func(view string) (string, bool) {
		s, err := referee.LoadSheet([]byte(strings.Replace(sheet, "VIEW", view, 1)), "claimed.json", "library")
		if err != nil {
			t.Fatal(err)
		}
		work, err := workedExample(s, &s.Examples()[0])
		if err != nil {
			t.Fatal(err)
		}
		report, err := work.auditWork()
		if err != nil {
			t.Fatal(err)
		}
		target := &target{sheet: s, name: "low", work: work, gates: failing(report, []string{"gate"})}
		if len(target.gates) != 1 {
			t.Fatalf("the gate does not fail: %+v", report.Checks)
		}
		dice := rand.New(rand.NewPCG(1, 2))
		for range 400 {
			if id, how := target.attack(dice); id != "" {
				return strings.Join(how, "; "), true
			}
		}
		return "", false
	}
	if _, ok := opened(`,"view":"claimed"`); !ok {
		t.Error("400 attacks do not open a gate that reads the claim: they could find nothing")
	}
	if how, ok := opened(""); ok {
		t.Errorf("the gate opens after: %s", how)
	}
}

// target is a submission with high gates that fail by its inputs and evidence.
type target struct {
	sheet *referee.Sheet
	name  string
	work  *worked
	gates []string
}

// targetsOf audits every example and trip. Gates that read more of the submission than its inputs (the work product
// itself, a claim, other findings) are no gates of facts alone, and are counted in outside.
func targetsOf(sheet *referee.Sheet, outside map[string]bool) []*target {
	var gates []string
	for _, r := range sheet.Rules {
		switch {
		case r.Stage != referee.StagePolicy || r.Tier != referee.High || r.Expr() == nil:
		case readsFactsAlone(r):
			gates = append(gates, r.ID)
		default:
			outside[sheet.Slug+" "+r.ID] = true
		}
	}
	var out []*target
	covered := map[string]int{}
	try := func(name string, w *worked, err error) {
		if err != nil {
			return
		}
		if report, err := w.auditWork(); err == nil {
			if fails := failing(report, gates); len(fails) > 0 {
				out = append(out, &target{sheet: sheet, name: name, work: w, gates: fails})
			}
		}
	}
	for _, ex := range sheet.Examples() {
		base, err := workedExample(sheet, &ex)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(ex.Expect, func(e referee.ExampleStatus) bool {
			return e.Status == referee.Flag &&
				slices.Contains(gates, e.Rule)
		}) {
			try(ex.Name, base, nil)
		}
		for k := range ex.Trips {
			i := slices.IndexFunc(ex.Trips[k].Flags, func(id string) bool {
				return slices.Contains(gates, id) &&
					covered[id] < tripsOfAGate
			})
			if i < 0 {
				continue
			}
			covered[ex.Trips[k].Flags[i]]++
			w, err := base.applyTrip(&ex.Trips[k])
			try(ex.Name+": "+ex.Trips[k].Change, w, err)
		}
	}
	return out
}

// tripsOfAGate is how many trips of one gate are attacked: a gate fails by the same operands in each.
const tripsOfAGate = 2

// readsFactsAlone: no field of the submission beside its inputs, no claim, none of the engine's name spaces.
func readsFactsAlone(r *referee.Rule) bool {
	for _, key := range []string{"expr", "each", "over", "where", "applies_if", "left", "right", "tier_by"} {
		v := r.Value().Get(key)
		if v == nil {
			continue
		}
		said := string(v.Encode())
		for _, word := range []string{"field(", `"field"`, "claimed", "$"} {
			if strings.Contains(said, word) {
				return false
			}
		}
	}
	return true
}

// failing are those of the gates that a report flags.
func failing(report *referee.Report, gates []string) []string {
	var out []string
	for _, c := range report.Checks {
		if c.Status == referee.Flag && slices.Contains(gates, c.ID) {
			out = append(out, c.ID)
		}
	}
	return out
}

// attack changes the submission in up to four places and names a gate that failed before and passes now.
func (x *target) attack(dice *rand.Rand) (opened string, how []string) {
	w := x.work.cloneWork()
	for range 1 + dice.IntN(4) {
		how = append(how, x.change(w, dice))
	}
	report, err := w.auditWork()
	if err != nil {
		return "", nil
	}
	for _, c := range report.Checks {
		if c.Status == referee.Pass && slices.Contains(x.gates, c.ID) {
			return c.ID, how
		}
	}
	return "", nil
}

// factors nudge below the tolerance, cross gates, and leave the range of what is plausible.
var factors = []string{"1.0099", "0.9901", "1.05", "0.95", "1.3", "0.7", "2", "0.5", "1000", "0.001", "-1", "0"}

// otherFormulas replace an agent's formula.
var otherFormulas = []string{"1e9", "0", "-1", "noi", "1/0", "as agreed", "2*x"}

// change makes one change that leaves inputs and evidence as they are, and says which.
func (x *target) change(w *worked, dice *rand.Rand) string {
	calcs := w.calculationItems()
	if len(calcs) == 0 || dice.IntN(6) == 0 {
		return x.changeTop(w, dice)
	}
	c := calcs[dice.IntN(len(calcs))]
	name := calculationName(c)
	switch dice.IntN(9) {
	case 0:
		factor := factors[dice.IntN(len(factors))]
		scaleAll(c.Get("inputs"), factor)
		return "inputs of " + name + " times " + factor
	case 1:
		factor := factors[dice.IntN(len(factors))]
		for _, c := range calcs { // every restatement and every claim alike: nudges are stacked
			scaleAll(c.Get("inputs"), factor)
			scaleMember(c, "result", factor)
		}
		return "all restatements and claims times " + factor
	case 2:
		if own := c.Get("inputs"); own != nil && len(own.Members) > 0 {
			m := own.Members[dice.IntN(len(own.Members))]
			factor := factors[dice.IntN(len(factors))]
			scaleMember(own, m.Key, factor)
			return "input " + m.Key + " of " + name + " times " + factor
		}
	case 3:
		factor := factors[dice.IntN(len(factors))]
		scaleMember(c, "result", factor)
		return "result of " + name + " times " + factor
	case 4:
		c.Set("formula", jsonString(otherFormulas[dice.IntN(len(otherFormulas))]))
		return "another formula of " + name
	case 5:
		c.Set("units", jsonString([]string{"percent", "bps", "USD", "x", ""}[dice.IntN(5)]))
		return "other units of " + name
	case 6:
		twin := c.Clone()
		scaleAll(twin.Get("inputs"), factors[dice.IntN(len(factors))])
		list := w.submission.Get("calculations")
		list.Items = slices.Insert(list.Items, dice.IntN(len(list.Items)+1), twin)
		return "a second " + name
	case 7:
		list := w.submission.Get("calculations")
		list.Items = slices.Delete(list.Items, 0, 1)
		return "the first calculation dropped"
	}
	return x.addInput(c, name, dice)
}

// addInput states a name of the sheet in a calculation that had it not.
func (x *target) addInput(c *strictjson.Value, name string, dice *rand.Rand) string {
	own := c.Get("inputs")
	if own == nil || own.Kind != strictjson.Object || len(x.sheet.Inputs) == 0 {
		return "nothing"
	}
	in := x.sheet.Inputs[dice.IntN(len(x.sheet.Inputs))].Name
	own.Set(in, jsonNumber([]string{"0", "1", "1e12", "-5"}[dice.IntN(4)]))
	return "input " + in + " stated in " + name
}

// changeTop changes or takes away a member beside inputs.
func (x *target) changeTop(w *worked, dice *rand.Rand) string {
	var keys []string
	for _, m := range w.submission.Members {
		if m.Key != "inputs" {
			keys = append(keys, m.Key)
		}
	}
	if len(keys) == 0 {
		return "nothing"
	}
	key := keys[dice.IntN(len(keys))]
	switch dice.IntN(3) {
	case 0:
		w.submission.Remove(key)
		return key + " taken away"
	case 1:
		w.submission.Set(key, jsonArray())
		return key + " emptied"
	}
	w.submission.Set("missing_inputs", jsonStrings([]string{"noi", key}))
	return "missing_inputs"
}

// scaleAll scales every number and every list of an object.
func scaleAll(object *strictjson.Value, factor string) {
	if object == nil {
		return
	}
	for _, m := range slices.Clone(object.Members) {
		scaleMember(object, m.Key, factor)
	}
}

func scaleMember(object *strictjson.Value, key, factor string) {
	v := object.Get(key)
	if v == nil {
		return
	}
	if v.Kind == strictjson.Array {
		list := v.Clone()
		for i, item := range list.Items {
			list.Items[i] = scaled(item, factor)
		}
		object.Set(key, list)
		return
	}
	object.Set(key, scaled(v, factor))
}

func scaled(v *strictjson.Value, factor string) *strictjson.Value {
	n := v.Decimal()
	if n == nil {
		return v
	}
	p, err := decimal.Mul(n, decimal.MustParse(factor))
	if err != nil {
		return v
	}
	return jsonNumber(p.String())
}
