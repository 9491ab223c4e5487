package policy

import (
	"slices"
	"testing"
)

func TestRegistryIsComplete(t *testing.T) {
	names := exampleNames(t)
	listed := map[string]Operation{}
	for _, op := range Registry() {
		if op.Doc == "" || op.Signature == "" || op.Group == "" || op.Result == "" || op.Example == "" {
			t.Errorf("%s: an empty part in %+v", op.Name, op)
		}
		if _, twice := listed[op.Name]; twice {
			t.Errorf("%s is listed twice", op.Name)
		}
		listed[op.Name] = op
		e, err := ParseText(op.Example, names)
		if err != nil {
			t.Errorf("example of %s: %v", op.Name, err)
			continue
		}
		roundTrip(t, e, names)
		if !e.Boolean() {
			t.Errorf("example of %s is no predicate", op.Name)
		}
	}
	for name, f := range byName {
		op, ok := listed[f.name]
		if !ok || name != f.name && !slices.Contains(op.Aliases, name) {
			t.Errorf("the parser knows %s, which the registry does not list", name)
		}
	}
}

// Every function's example names the function or what it is built into, and evaluates to something on the example
// submission, save for those that ask for an evidence file or a ledger.
func TestRegistryExamplesEvaluate(t *testing.T) {
	names, env := exampleNames(t), exampleEnv(t)
	for _, op := range Registry() {
		r := mustParse(t, op.Example, names).Eval(env)
		outside := op.Group == groupOutside || op.Name == "$"
		if (r.Truth == Unknown) != outside {
			t.Errorf("%s: %s is %v %+v %+v", op.Name, op.Example, r.Truth, r.Missing, r.Issues)
		}
		if len(r.Issues) > 0 {
			t.Errorf("%s: %+v", op.Name, r.Issues)
		}
	}
}
