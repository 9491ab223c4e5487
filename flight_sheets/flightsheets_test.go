package flightsheets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// example is what a sheet's example holds, as the tests apply it. The sheet itself is loaded by the engine's strict reader.
type example struct {
	Name       string
	Submission map[string]any
	Agent      map[string]any
	Evidence   map[string]struct{ Path, Text string }
	Prior      map[string]map[string]any
	Expect     map[string]string
	Trips      []trip
}

type trip struct {
	Change string
	Inputs map[string]any
	Patch  []struct {
		Op, Path string
		Value    any
	}
	Agent    map[string]any
	Evidence map[string]string
	Flags    []string
	Findings []string
}

func load(t *testing.T, slug string) (*referee.Sheet, []example) {
	t.Helper()
	src, ok := flightsheets.Read(slug)
	if !ok {
		t.Fatalf("no sheet %q", slug)
	}
	sheet, err := referee.LoadSheet(src, slug+".json", "library")
	if err != nil {
		t.Fatalf("the sheet is refused:\n%v", err)
	}
	if sheet.Slug != slug {
		t.Errorf("slug %q in file %s.json", sheet.Slug, slug)
	}
	var doc struct{ Examples []example }
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return sheet, doc.Examples
}

// run is one example, or one trip of it, ready to be audited.
type run struct {
	sheet      *referee.Sheet
	submission map[string]any
	agent      map[string]any
	evidence   map[string]string // id: text
	paths      map[string]string // id: path
	prior      map[string]map[string]any
}

func (ex *example) run(sheet *referee.Sheet) *run {
	r := &run{sheet: sheet, submission: ex.Submission, agent: ex.Agent, evidence: map[string]string{}, paths: map[string]string{}, prior: ex.Prior}
	for id, e := range ex.Evidence {
		r.evidence[id], r.paths[id] = e.Text, e.Path
	}
	return r
}

// apply makes the trip's run of the example's.
func (tr *trip) apply(t *testing.T, base *run) *run {
	t.Helper()
	r := &run{sheet: base.sheet, submission: clone(t, base.submission), agent: maps.Clone(base.agent), evidence: maps.Clone(base.evidence), paths: base.paths, prior: base.prior}
	maps.Copy(r.agent, tr.Agent)
	for id, text := range tr.Evidence {
		if _, ok := r.evidence[id]; !ok {
			t.Fatalf("trip %q changes evidence %q, which the example has not", tr.Change, id)
		}
		r.evidence[id] = text
	}
	if tr.Inputs != nil {
		inputs := r.submission["inputs"].(map[string]any)
		maps.Copy(inputs, tr.Inputs)
		r.rework(t)
	}
	for _, op := range tr.Patch {
		if err := patch(r.submission, op.Op, op.Path, op.Value); err != nil {
			t.Fatalf("trip %q: %v", tr.Change, err)
		}
	}
	return r
}

func clone(t *testing.T, v map[string]any) map[string]any {
	t.Helper()
	src, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// rework states every calculation anew for changed inputs: what an honest agent would have written. Results are the engine's own
// recomputation; that the engine computes right is TestValues' business.
func (r *run) rework(t *testing.T) {
	t.Helper()
	inputs, _ := r.submission["inputs"].(map[string]any)
	calcs, _ := r.submission["calculations"].([]any)
	known := map[string]any{}
	for name, v := range inputs {
		known[name] = v
	}
	for range len(calcs) + 1 {
		for i := range calcs {
			c := calcs[i].(map[string]any)
			own, _ := c["inputs"].(map[string]any)
			for name := range own {
				if v, ok := known[name]; ok {
					own[name] = v
				}
			}
			c["result"] = json.Number("1e290")
		}
		stable := true
		for i, value := range r.recomputed(t) {
			c := calcs[i].(map[string]any)
			name, result := c["name"].(string), json.Number(value)
			stable = stable && known[name] == result
			c["result"], known[name] = result, result
		}
		if stable {
			return
		}
	}
}

// recomputed reads what the engine makes of each calculation from the findings that absurd results raise.
func (r *run) recomputed(t *testing.T) map[int]string {
	t.Helper()
	out := map[int]string{}
	for _, f := range r.audit(t).Findings {
		at, ok := strings.CutPrefix(f.Pointer, "/calculations/")
		if at, ok2 := strings.CutSuffix(at, "/result"); ok && ok2 && f.Code == "math.mismatch" && f.Spot != nil {
			i, err := strconv.Atoi(at)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = f.Spot.Recomputed
		}
	}
	return out
}

func (r *run) audit(t *testing.T) *referee.Report {
	t.Helper()
	manifest := map[string]any{"schema": "referee.run/v1", "id": "example", "lane": r.sheet.Lane, "flight_sheet": r.sheet.Slug, "agent": r.agent}
	tree := fstest.MapFS{}
	var items []any
	for _, id := range slices.Sorted(maps.Keys(r.evidence)) {
		items = append(items, map[string]any{"id": id, "path": r.paths[id], "kind": "file"})
		tree[r.paths[id]] = &fstest.MapFile{Data: []byte(r.evidence[id])}
	}
	manifest["evidence"] = items
	if r.agent == nil {
		delete(manifest, "agent")
	}
	tree["run.json"] = &fstest.MapFile{Data: marshal(t, manifest)}
	tree["submission.json"] = &fstest.MapFile{Data: marshal(t, r.submission)}
	folder, err := referee.OpenRun(tree)
	if err != nil {
		t.Fatalf("opening the run: %v", err)
	}
	c := folder.Case(r.sheet, nil)
	c.Prior = r.receipt(t)
	return referee.Audit(c)
}

// receipt resolves the receipts that the example brings along.
func (r *run) receipt(t *testing.T) referee.PriorFunc {
	return func(sha, pointer string) (policy.Val, error) {
		payload, ok := r.prior[sha]
		if !ok {
			return policy.Absent("no receipt " + sha), fmt.Errorf("no receipt %q", sha)
		}
		doc, err := strictjson.Parse(marshal(t, payload), strictjson.DocumentLimits)
		if err != nil {
			return policy.Val{}, err
		}
		v := doc.At(pointer)
		if v == nil {
			return policy.Absent("nothing at " + pointer), fmt.Errorf("nothing at %s", pointer)
		}
		return policy.FromJSON(v), nil
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// patch applies one operation of RFC 6902 whose place exists.
func patch(doc any, op, path string, value any) error {
	steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
	var set func(v any)
	at := doc
	for i, s := range steps {
		s = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
		last := i == len(steps)-1
		switch v := at.(type) {
		case map[string]any:
			if last {
				if _, ok := v[s]; !ok && op != "add" {
					return fmt.Errorf("no member at %s", path)
				}
				if op == "remove" {
					delete(v, s)
				} else {
					v[s] = value
				}
				return nil
			}
			at, set = v[s], func(x any) { v[s] = x }
		case []any:
			n, err := strconv.Atoi(s)
			if s == "-" {
				n, err = len(v), nil
			}
			if err != nil || n < 0 || n > len(v) || n == len(v) && op != "add" {
				return fmt.Errorf("no item at %s", path)
			}
			if last {
				switch op {
				case "add":
					set(slices.Insert(slices.Clone(v), n, value))
				case "remove":
					set(slices.Delete(slices.Clone(v), n, n+1))
				default:
					v[n] = value
				}
				return nil
			}
			at, set = v[n], func(x any) { v[n] = x }
		default:
			return fmt.Errorf("nothing at %s", path)
		}
	}
	return nil
}

func statuses(rep *referee.Report, s referee.Status) []string {
	var out []string
	for _, c := range rep.Checks {
		if c.Status == s {
			out = append(out, c.ID)
		}
	}
	sort.Strings(out)
	return out
}

func describe(rep *referee.Report) string {
	var b strings.Builder
	for _, f := range rep.Findings {
		fmt.Fprintf(&b, "  %s %s %v %s: %s\n", f.Code, f.Tier, f.RuleIDs, f.Pointer, f.Message)
	}
	for _, c := range rep.Checks {
		if c.Status == referee.Skip {
			fmt.Fprintf(&b, "  skip %s: %s\n", c.ID, c.Reason)
		}
	}
	return b.String()
}

// TestExamples holds every sheet's worked submission to its own rules: no flag, no skip, and nothing open but the questions.
func TestExamples(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			sheet, examples := load(t, slug)
			if len(examples) == 0 {
				t.Fatal("the sheet has no example")
			}
			for _, w := range sheet.Warnings {
				t.Errorf("warning: %v", w)
			}
			for _, ex := range examples {
				rep := ex.run(sheet).audit(t)
				if len(rep.Findings) > 0 {
					t.Errorf("example %q raises findings:\n%s", ex.Name, describe(rep))
				}
				for _, c := range rep.Checks {
					want := referee.Status(ex.Expect[c.ID])
					if want == "" {
						want = referee.Pass
						if c.Kind == "checklist" {
							want = referee.Open
						}
					}
					if c.Status != want {
						t.Errorf("example %q: %s is %s (%s), not %s", ex.Name, c.ID, c.Status, c.Reason, want)
					}
				}
			}
		})
	}
}

// TestTrips applies every trip: exactly the rules that it names are flagged.
func TestTrips(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			sheet, examples := load(t, slug)
			for _, ex := range examples {
				base := ex.run(sheet)
				for _, tr := range ex.Trips {
					rep := tr.apply(t, base).audit(t)
					want := slices.Sorted(slices.Values(tr.Flags))
					if got := statuses(rep, referee.Flag); !slices.Equal(got, want) {
						t.Errorf("trip %q flags %q, not %q:\n%s", tr.Change, got, want, describe(rep))
					}
					for _, code := range tr.Findings {
						if !slices.ContainsFunc(rep.Findings, func(f referee.Finding) bool { return f.Code == code }) {
							t.Errorf("trip %q has no finding %s:\n%s", tr.Change, code, describe(rep))
						}
					}
				}
			}
		})
	}
}

// TestEveryGateTrips: a rule that nothing trips is a rule that nobody has seen work.
func TestEveryGateTrips(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		sheet, examples := load(t, slug)
		tripped := map[string]bool{}
		for _, ex := range examples {
			for _, tr := range ex.Trips {
				for _, id := range tr.Flags {
					tripped[id] = true
				}
			}
		}
		for _, r := range sheet.Rules {
			if r.Stage == referee.StagePolicy && r.Kind != "final_output_consistent" && !tripped[r.ID] {
				t.Errorf("%s: no trip flags the gate %s", slug, r.ID)
			}
		}
	}
}

// TestRulesAreExplained: every gate and calculation of the library says why it exists and what would be right, and a gate where it
// comes from.
func TestRulesAreExplained(t *testing.T) {
	for _, slug := range flightsheets.Names() {
		sheet, _ := load(t, slug)
		if sheet.Summary == "" || sheet.Purpose == "" || sheet.Instructions == "" || len(sheet.Outputs) == 0 || len(sheet.Notes) == 0 {
			t.Errorf("%s: summary, purpose, instructions, expected outputs and notes must all be there", slug)
		}
		for _, r := range sheet.Rules {
			gate := r.Stage == referee.StagePolicy && r.Kind != "final_output_consistent" || strings.HasPrefix(r.ID, "math.") && r.ID != "math.rederivation"
			if gate && (r.Why == "" || r.Fix == "") {
				t.Errorf("%s: %s must say why and fix", slug, r.ID)
			}
			if r.Stage == referee.StagePolicy && r.Kind != "final_output_consistent" && r.Source.Text == "" {
				t.Errorf("%s: %s must say where it comes from", slug, r.ID)
			}
			if r.Stage == referee.StageChecklist && !strings.HasSuffix(r.Question, "?") {
				t.Errorf("%s: %s is no question: %q", slug, r.ID, r.Question)
			}
		}
	}
}

// relativeError is |a − b| / |b|, exactly; |a| where b is 0.
func relativeError(a, b *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(a, b)
	d.Abs(d)
	if b.Sign() != 0 {
		d.Quo(d, new(big.Rat).Abs(b))
	}
	return d
}
