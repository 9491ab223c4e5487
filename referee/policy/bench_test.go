package policy

import "testing"

// BenchmarkGate is the commonest rule; a submission has half a dozen.
func BenchmarkGate(b *testing.B) {
	e, env := mustParse(b, "dscr >= 1.25 and ltv <= 0.8", exampleNames(b)), exampleEnv(b)
	b.ReportAllocs()
	for b.Loop() {
		e.Eval(env)
	}
}

// BenchmarkRows aggregates 10,000 rows of an input.
func BenchmarkRows(b *testing.B) {
	doc := `{"inputs": {"rows": [`
	for range 9999 {
		doc += `{"rent": 1200.50, "tenant": "x"},`
	}
	root := jsonOf(b, doc+`{"rent": 1, "tenant": ""}]}}`)
	e := mustParse(b, `agg("sum", rows, "rent * 12", where="tenant != ''") > 0`, exampleNames(b))
	env := &Env{Root: root, InputsRoot: root.Get("inputs")}
	b.ReportAllocs()
	for b.Loop() {
		e.Eval(env)
	}
}
