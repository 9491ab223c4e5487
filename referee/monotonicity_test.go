package referee

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// FuzzMonotonicity states S51: taking away a required input, a declared calculation or an operand of a gate (the key
// dropped, null, a text for a number, another name, another formula) never raises the score, never makes the work ready
// for a client, never turns another action into approve and never brings honey within reach. The work that is begun
// with may be right or already broken in up to three places; the library's own examples and one sheet with every kind
// of rule are the ground.
func FuzzMonotonicity(f *testing.F) {
	grounds := monotoneGrounds(f)
	for i := range grounds {
		f.Add([]byte{byte(i)})
		for n := range 24 {
			f.Add([]byte{byte(i), byte(n % 4), byte(7 * n), byte(n), byte(11 * n), byte(n / 2), byte(5 * n), byte(n),
				byte(13 * n), byte(n % 5)})
		}
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		p := &choices{program}
		g := grounds[p.pickBelow(len(grounds))]
		doc := cloned(g.submission)
		for range p.pickBelow(4) {
			g.spoilSubmission(doc, p)
		}
		before := encode(doc)
		what, ok := g.remove(doc, p)
		if !ok {
			return
		}
		after := encode(doc)
		x, y := g.audit(before), g.audit(after)
		if broken := notMonotone(x.Verdict, y.Verdict); broken != "" {
			t.Fatalf("%s: %s: %s\nbefore %s %v\nafter  %s %v\nbefore: %s\nafter:  %s", g.sheet.Slug, what, broken,
				x.Verdict.ScoreFraction, changedStatuses(x, y), y.Verdict.ScoreFraction, codes(y), before, after)
		}
	})
}

// notMonotone says what taking something away has improved; "" when nothing.
func notMonotone(x, y Verdict) string {
	before, _ := new(big.Rat).SetString(x.ScoreFraction)
	after, _ := new(big.Rat).SetString(y.ScoreFraction)
	switch {
	case after.Cmp(before) > 0:
		return "the score rises"
	case y.ClientReady && !x.ClientReady:
		return "it becomes ready for a client"
	case y.RecommendedAction == "approve" && x.RecommendedAction != "approve":
		return "the action becomes approve"
	case y.SeverityIfApproved == Honey && x.SeverityIfApproved != Honey:
		return "honey comes within reach"
	}
	return ""
}

// changedStatuses lists the rules whose status differs, "id: before>after".
func changedStatuses(x, y *Report) []string {
	was, is := statusesOf(x), statusesOf(y)
	var out []string
	for _, id := range sortedKeys(was) {
		if was[id] != is[id] {
			out = append(out, id+": "+string(was[id])+">"+string(is[id]))
		}
	}
	return out
}

// choices turns fuzz input into decisions; a used-up input always chooses the first.
type choices struct{ left []byte }

func (c *choices) pickBelow(n int) int {
	if len(c.left) == 0 || n < 2 {
		return 0
	}
	b := int(c.left[0])
	c.left = c.left[1:]
	return b % n
}

// ground is a sheet with a submission that it passes.
type ground struct {
	sheet      *Sheet
	submission map[string]any
	options    []option
	targets    []string // pointers of gate operands that are plain fields
}

func (g *ground) audit(src []byte) *Report { return auditText(g.sheet, string(src), g.options...) }

// monotoneSheets are the sheets of the library that FuzzMonotonicity walks on; new ones go to the end, so that
// committed seeds keep their meaning.
var monotoneSheets = []string{"cre-multifamily-agency", "cre-t12-noi-normalization", "lend-atr-qm",
	"data-tabular-profile", "compute-mlperf-inference", "doc-contract-review",
	"extract-t12", "fin-amortization", "fin-table-arithmetic", "genai-evaluator-gate", "comp-control-evidence",
	"repair-resubmission", "fly-s1-next-second", "math-steps",
	"compute-llm-serving", "lend-sba-7a-small", "compute-training-mfu", "cre-construction-draw"}

// monotoneGrounds are the sheet with every kind of rule, and the first examples of those sheets.
func monotoneGrounds(f *testing.F) []*ground {
	f.Helper()
	out := []*ground{{sheet: mustLoad(f, everyKindSheet), submission: decoded(f, everyKindSubmission)}}
	for _, slug := range monotoneSheets {
		src, err := os.ReadFile("../flight_sheets/" + slug + ".json")
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, libraryGround(f, src))
	}
	for _, g := range out {
		g.findTargets()
		if rep := g.audit(encode(g.submission)); rep.Verdict.Risk.High > 0 {
			f.Fatalf("%s begins with a high flag: %v", g.sheet.Slug, codes(rep))
		}
	}
	return out
}

func libraryGround(f *testing.F, src []byte) *ground {
	f.Helper()
	var doc struct {
		Examples []struct {
			Submission map[string]any
			Evidence   map[string]struct{ Path, Text string }
		}
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		f.Fatal(err)
	}
	ex := doc.Examples[0]
	var pairs []string
	for _, id := range sortedKeys(ex.Evidence) {
		pairs = append(pairs, id+filepath.Ext(ex.Evidence[id].Path), ex.Evidence[id].Text)
	}
	sheet := mustLoad(f, string(src))
	sheet, err := sheet.WithParams(sheet.Examples()[0].Params)
	if err != nil {
		f.Fatal(err)
	}
	return &ground{sheet: sheet, submission: ex.Submission, options: []option{withEvidence(pairs...),
		withAgent(agentOf(firstAgent(src)))}}
}

// firstAgent is the profile that the first example declares.
func firstAgent(src []byte) *strictjson.Value {
	doc, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		panic(err) // the sheet was loaded from the same bytes
	}
	return doc.At("/examples/0/agent")
}

// findTargets gathers what S51 speaks of: inputs that are required, and fields that a gate reads.
func (g *ground) findTargets() {
	for _, in := range g.sheet.Inputs {
		if !in.Optional {
			g.targets = append(g.targets, "/inputs/"+in.Name)
		}
	}
	for _, r := range g.sheet.Rules {
		if r.expr == nil || r.Kind != "expr" {
			continue
		}
		for _, path := range r.expr.Refs().Fields {
			if p, err := parsePath(path); err == nil && !strings.ContainsAny(p, "*$") {
				g.targets = append(g.targets, p)
			}
		}
	}
	if len(g.sheet.Inputs) > 0 {
		g.targets = append(g.targets, "/inputs")
	}
}

// calculations lists the submission's entries that the sheet requires, each stated once: dropping a second statement
// mends something, and what is optional may go.
func (g *ground) calculations(doc map[string]any) []map[string]any {
	list, _ := doc["calculations"].([]any)
	count, known := map[string]int{}, map[string]map[string]any{}
	for _, v := range list {
		entry, _ := v.(map[string]any)
		name, _ := entry["name"].(string)
		id := (&audit{Case: Case{Sheet: g.sheet}}).sheetName(name)
		count[id]++
		if m := g.sheet.mathNamed(id); m != nil && !m.Optional {
			known[id] = entry
		}
	}
	var out []map[string]any
	for _, id := range sortedKeys(known) {
		if count[id] == 1 {
			out = append(out, known[id])
		}
	}
	return out
}

// otherFormulas are what a broken or substituted formula may look like.
var otherFormulas = []any{"1", "as agreed with the lender", "2*x + 1", "1/0", "9**9**9", json.Number("7"), nil}

// spoilSubmission makes the work begin worse than the example: a value moved, a claim moved, a formula broken, a member
// dropped, a second statement of a calculation added.
func (g *ground) spoilSubmission(doc map[string]any, p *choices) {
	inputs, _ := doc["inputs"].(map[string]any)
	calcs := g.calculations(doc)
	switch kind := p.pickBelow(7); {
	case kind == 0 && len(inputs) > 0:
		name := sortedKeys(inputs)[p.pickBelow(len(inputs))]
		inputs[name] = moveValue(inputs[name], p)
	case kind == 1 && len(calcs) > 0:
		c := calcs[p.pickBelow(len(calcs))]
		c["result"] = moveValue(c["result"], p)
	case kind == 2 && len(calcs) > 0:
		calcs[p.pickBelow(len(calcs))]["formula"] = otherFormulas[p.pickBelow(len(otherFormulas))]
	case kind == 3 && len(calcs) > 0:
		c := calcs[p.pickBelow(len(calcs))]
		if own, _ := c["inputs"].(map[string]any); len(own) > 0 {
			name := sortedKeys(own)[p.pickBelow(len(own))]
			own[name] = moveValue(own[name], p)
		}
	case kind == 4 && len(calcs) > 0:
		list := doc["calculations"].([]any)
		doc["calculations"] = append(list, cloned(calcs[p.pickBelow(len(calcs))]))
	case kind == 5:
		g.remove(doc, p)
	default:
		key := sortedKeys(doc)[p.pickBelow(len(doc))]
		doc[key] = moveValue(doc[key], p)
	}
}

// moveValue is another value in the place of v: a number scaled across gates and bands, or something of another type.
func moveValue(v any, p *choices) any {
	n, ok := v.(json.Number)
	if !ok {
		return []any{v, nil, "other", json.Number("3"), []any{}, map[string]any{}, true}[p.pickBelow(7)]
	}
	x, ok := new(big.Rat).SetString(n.String())
	factor, _ := new(big.Rat).SetString([]string{"1.015", "1.05", "0.5", "2", "0.98", "0", "-1", "100"}[p.pickBelow(8)])
	if !ok {
		return v
	}
	text := x.Mul(x, factor).FloatString(6)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

// remove takes one thing away, as S51 lists them, and says what.
func (g *ground) remove(doc map[string]any, p *choices) (what string, ok bool) {
	calcs := g.calculations(doc)
	if len(calcs) > 0 && p.pickBelow(2) == 1 {
		return g.removeOf(doc, calcs[p.pickBelow(len(calcs))], p)
	}
	if len(g.targets) == 0 {
		return "", false
	}
	pointer := g.targets[p.pickBelow(len(g.targets))]
	parent, key, found := locatePointer(doc, pointer)
	if !found || !g.usable(pointer, parent[key]) {
		return "", false
	}
	return pointer + " " + takeAway(parent, key, p), true
}

// usable reports whether the operand is of the type that it has in the example: what is no operand any more cannot be
// taken away.
func (g *ground) usable(pointer string, v any) bool {
	parent, key, found := locatePointer(g.submission, pointer)
	return found && reflect.TypeOf(parent[key]) == reflect.TypeOf(v)
}

// removeOf takes a declared calculation away, or something of it.
func (g *ground) removeOf(doc, c map[string]any, p *choices) (what string, ok bool) {
	name, _ := c["name"].(string)
	own, _ := c["inputs"].(map[string]any)
	switch kind := p.pickBelow(6); {
	case kind == 0:
		doc["calculations"] = slices.DeleteFunc(doc["calculations"].([]any),
			func(v any) bool { m, _ := v.(map[string]any); return m["name"] == name })
		return name + " dropped", true
	case kind == 1:
		c["name"] = []any{"another name", nil, json.Number("1")}[p.pickBelow(3)]
		return name + " renamed", true
	case kind == 2 && g.isRecomputable(doc, c):
		c["formula"] = otherFormulas[p.pickBelow(len(otherFormulas))]
		return name + " by another formula", true
	case kind == 3 && len(own) > 0:
		key := sortedKeys(own)[p.pickBelow(len(own))]
		if own[key] == nil || isText(own[key]) {
			return "", false // it was no operand any more
		}
		return name + " input " + key + " " + takeAway(own, key, p), true
	case kind == 4 && g.needsFormula(name) && isText(c["formula"]):
		return name + " formula " + takeAway(c, "formula", p), true
	case !isNumber(c["result"]):
		return "", false
	}
	return name + " result " + takeAway(c, "result", p), true
}

// needsFormula: where the agent's language cannot say the sheet's formula, the agent's own is optional (S13b) and may
// go.
func (g *ground) needsFormula(name string) bool {
	m := g.sheet.mathNamed((&audit{Case: Case{Sheet: g.sheet}}).sheetName(name))
	return m != nil && m.formula != nil
}

// isRecomputable reports whether the calculation is the sheet's and can be computed: only then is another formula
// something taken away.
func (g *ground) isRecomputable(doc, c map[string]any) bool {
	a := newAudit(Case{Sheet: g.sheet, Bytes: encode(doc)})
	a.readSubmission()
	for _, x := range a.calcs {
		if x.name == c["name"] {
			return x.check != nil && x.own != nil && x.sheet != nil && closeTo(x.own, x.sheet)
		}
	}
	return false
}

// takeAway drops a member, or puts null, a text or another name in its place.
func takeAway(parent map[string]any, key string, p *choices) string {
	was := parent[key]
	switch p.pickBelow(4) {
	case 0:
		delete(parent, key)
		return "dropped"
	case 1:
		parent[key] = nil
		return "null"
	case 2:
		if isNumber(was) {
			parent[key] = was.(json.Number).String()
			return "as text"
		}
		delete(parent, key)
		return "dropped"
	}
	delete(parent, key)
	parent["zz_"+key] = was
	return "renamed"
}

func isText(v any) bool { _, ok := v.(string); return ok }

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }

// locatePointer finds the object that holds the member at a pointer.
func locatePointer(doc map[string]any, pointer string) (parent map[string]any, key string, found bool) {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	parent = doc
	for _, s := range steps[:len(steps)-1] {
		next, isObject := parent[s].(map[string]any)
		if !isObject {
			return nil, "", false
		}
		parent = next
	}
	key = steps[len(steps)-1]
	_, found = parent[key]
	return parent, key, found
}

// cloned copies a JSON object deeply.
func cloned(v map[string]any) map[string]any { return copied(v).(map[string]any) }

func copied(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := maps.Clone(x)
		for k := range out {
			out[k] = copied(out[k])
		}
		return out
	case []any:
		out := slices.Clone(x)
		for i := range out {
			out[i] = copied(out[i])
		}
		return out
	}
	return v
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only maps, lists, texts and numbers of this file
	}
	return b
}

// decoded reads a JSON object and keeps numbers as they are written.
func decoded(t testing.TB, src string) map[string]any {
	t.Helper()
	var out map[string]any
	d := json.NewDecoder(strings.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// everyKindSheet has gates of every kind over inputs, calculations and fields.
const everyKindSheet = `{"slug":"every-kind","name":"Every kind","version":"1.0.0","lane":"agent","baseline":"none",
"required_inputs":[{"name":"noi","type":"number"},{"name":"loan","type":"number"},{"name":"rate","type":"number"},
{"name":"value","type":"number"},
	{"name":"has_debt","type":"boolean"},{"name":"rows","type":"array","fields":["rent","units"]},{"name":"note",
	"type":"string","optional":true}],
"consts":{"FLOOR":{"value":1.2,"source":"test","status":"policy"}},
"eval_spec":{
	"required_output_schema":{"type":"object","required":["total_rent"],"properties":{"total_rent":{"type":"number"}}},
	"deterministic_checks":["inputs_consistent","calculations_present",
		{"check":"recompute","id":"total","path":"total_rent","formula":"agg(\"sum\", rows, \"rent\")"},
		{"check":"agree","id":"rent_agrees","left":"field(\"total_rent\")","right":"noi","metric":"rel","warn":0.5},
		{"check":"range","id":"sane","over":"inputs","limits":{"rate":[0,0.2],"noi":[0,1000]}},
		{"check":"bind","id":"bound","calc":"dscr","input":"noi","to":"inputs.noi"}],
	"math_checks":[{"formula_id":"interest","formula":"loan * rate"},{"formula_id":"dscr","formula":"noi / interest",
	"aliases":{"dscr":["coverage"]}},
		{"formula_id":"ltv","formula":"loan / value","optional":true},{"formula_id":"rent_sum",
		"formula":"agg(\"sum\", rows, \"rent\")"}],
	"rules":[{"id":"floor","expr":"dscr >= FLOOR","tier":"high"},{"id":"lever","expr":"ltv <= 0.8","tier":"mid",
	"applies_if":"has_debt"},
		{"id":"small","expr":"if(dscr < 2, loan <= 10000)","tier":"low"},{"id":"either","expr":"noi >= 50 or value >= 100",
		"tier":"mid","on_missing":"flag"},
		{"id":"near","expr":"approx(claimed(\"rent_sum\"), rent_sum)","tier":"mid"},{"id":"twice",
		"expr":"interest > 0 and dscr > 1","tier":"mid"},
		{"id":"each","check":"for_each","over":"rows","each":"rent > 0"},{"id":"most",
		"expr":"field(\"total_rent\") <= 1000","tier":"mid"}]}}`

// everyKindSubmission passes it: interest 500 × 0.1 = 50; dscr 100 / 50 = 2; ltv 500 / 1000 = 0.5; rent 40 + 60 = 100.
const everyKindSubmission = `{"total_rent":100,"inputs":{"noi":100,"loan":500,"rate":0.1,"value":1000,"has_debt":true,
	"rows":[{"rent":40,"units":1},{"rent":60,"units":2}]},
"calculations":[{"name":"interest","formula":"loan * rate","inputs":{"loan":500,"rate":0.1},"result":50,"units":"USD"},
	{"name":"dscr","formula":"noi / interest","inputs":{"noi":100,"interest":50},"result":2,"units":"x"},
	{"name":"ltv","formula":"loan / value","inputs":{"loan":500,"value":1000},"result":0.5,"units":"ratio"},
	{"name":"rent_sum","formula":"a + b","inputs":{"a":40,"b":60},"result":100,"units":"USD"}]}`
