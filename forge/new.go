package forge

import (
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// Spec is what New needs to know of a sheet.
type Spec struct {
	Slug, Name, Version, Lane, Domain string
	Summary, Purpose, Instructions    string
	Baseline                          string // canonical or none; "" is the lane's default
	Inputs                            []SpecInput
	Calcs                             []SpecCalc
	Gates                             []SpecGate
	Checks                            []string // registry keys
	Questions                         []SpecQuestion
	Notes                             []string
}

// SpecInput is a declared input. Value, as JSON, is what the worked example states; an example is written where every
// input has one.
type SpecInput struct{ Name, Type, Unit, Description, Value string }

// SpecCalc is a calculation.
type SpecCalc struct{ ID, Formula, Units, Why, Fix string }

// SpecGate is a policy rule.
type SpecGate struct{ ID, Tier, Expr, Label, Why, Fix, Source string }

// SpecQuestion is a question to a person.
type SpecQuestion struct{ Key, Text, Why string }

// ParseInput reads name:type[:unit][=value].
func ParseInput(s string) (SpecInput, error) {
	head, value, _ := strings.Cut(s, "=")
	parts := strings.SplitN(head, ":", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return SpecInput{}, fmt.Errorf("an input is written name:type, name:type:unit or name:type:unit=value, as "+
			"in noi:number:USD/yr=920000, not %q", s)
	}
	in := SpecInput{Name: parts[0], Type: parts[1], Value: value}
	if len(parts) == 3 {
		in.Unit = parts[2]
	}
	if value != "" {
		if _, err := strictjson.Parse([]byte(value), strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 64}); err != nil {
			if in.Value = string(jsonString(value).Encode()); in.Type == "number" || in.Type == "integer" ||
				in.Type == "boolean" {
				return SpecInput{}, fmt.Errorf("the value of %s must be a %s, not %q", in.Name, in.Type, value)
			}
		}
	}
	return in, nil
}

// calcText is id[:units]=formula.
var calcText = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(?::([^=]*))?=(.+)$`) })

// ParseCalc reads id=formula or id:units=formula.
func ParseCalc(s string) (SpecCalc, error) {
	m := calcText().FindStringSubmatch(s)
	if m == nil {
		return SpecCalc{}, fmt.Errorf("a calculation is written id=formula or id:units=formula, as in "+
			"dscr:ratio=noi / debt_service, not %q", s)
	}
	return SpecCalc{ID: m[1], Units: m[2], Formula: strings.TrimSpace(m[3])}, nil
}

// ParseGate reads id:tier:expression.
func ParseGate(s string) (SpecGate, error) {
	parts := strings.SplitN(s, ":", 3)
	if len(parts) != 3 || parts[0] == "" || parts[2] == "" {
		return SpecGate{}, fmt.Errorf("a gate is written id:tier:expression, as in dscr_gate:high:dscr >= 1.25, not %q",
			s)
	}
	return SpecGate{ID: parts[0], Tier: parts[1], Expr: strings.TrimSpace(parts[2])}, nil
}

// ExampleError says which rules the values of the worked example do not pass.
type ExampleError struct{ Failures []Failure }

// Error lists the rules.
func (e *ExampleError) Error() string {
	lines := []string{"the values of the worked example do not pass the sheet's own rules"}
	for _, f := range e.Failures {
		lines = append(lines, f.textWithoutPlace())
	}
	return strings.Join(lines, "\n")
}

// New writes a sheet. What it returns loads, and its example, where every input has a value, passes its own rules, with
// a trip for every gate that one input can turn. The error is the loader's (*referee.RefusedError) or *ExampleError.
func New(spec Spec) ([]byte, error) {
	doc := spec.sheetDocument()
	sheet, err := loadFormatted(doc)
	if err != nil {
		return nil, err
	}
	if spec.hasExample() {
		example, err := spec.workedExample(sheet)
		if err != nil {
			return nil, err
		}
		doc.Set("examples", jsonArray(example))
		if sheet, err = loadFormatted(doc); err != nil {
			return nil, err
		}
		if r := Test(sheet); !r.OK() {
			return nil, &ExampleError{r.Failures}
		}
		example.Set("trips", tripsOf(sheet))
	}
	return Format(doc.Encode())
}

func loadFormatted(doc *strictjson.Value) (*referee.Sheet, error) {
	src, err := Format(doc.Encode())
	if err != nil {
		return nil, err
	}
	return referee.LoadSheet(src, doc.TextOf("slug")+".json", "repository")
}

// optionalText is nil for what was not said, so that it is left out.
func optionalText(s string) *strictjson.Value {
	if s == "" {
		return nil
	}
	return jsonString(s)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// sheetDocument is the sheet without its example.
func (s *Spec) sheetDocument() *strictjson.Value {
	inputs, math, rules, questions := jsonArray(), jsonArray(), jsonArray(), jsonArray()
	for _, in := range s.Inputs {
		inputs.Items = append(inputs.Items, in.inputDocument())
	}
	for _, c := range s.Calcs {
		math.Items = append(math.Items, jsonObject("formula_id", jsonString(c.ID), "formula", jsonString(c.Formula),
			"units", optionalText(c.Units), "why", optionalText(c.Why), "fix", optionalText(c.Fix)))
	}
	for _, g := range s.Gates {
		var source *strictjson.Value
		if g.Source != "" {
			source = jsonObject("text", jsonString(g.Source), "status", jsonString("policy"))
		}
		rules.Items = append(rules.Items, jsonObject("id", jsonString(g.ID), "expr", jsonString(g.Expr), "label",
			optionalText(g.Label), "tier", jsonString(g.Tier), "why", optionalText(g.Why), "fix", optionalText(g.Fix),
			"source", source))
	}
	for _, q := range s.Questions {
		questions.Items = append(questions.Items, jsonObject("key", jsonString(q.Key), "label", jsonString(q.Text),
			"kind", jsonString("checklist"), "why", optionalText(q.Why)))
	}
	doc := jsonObject("schema", jsonString(referee.SheetSchema), "slug", jsonString(s.Slug), "name",
		jsonString(orElse(s.Name, s.Slug)), "version", jsonString(orElse(s.Version, "0.1.0")),
		"lane", jsonString(s.Lane), "domain", optionalText(s.Domain), "summary", optionalText(s.Summary), "purpose",
		optionalText(s.Purpose), "assignment_instructions", optionalText(s.Instructions),
		"baseline", optionalText(s.Baseline), "required_inputs", inputs, "audit_checks", questions,
		"eval_spec", jsonObject("deterministic_checks", jsonStrings(s.Checks), "math_checks", math, "rules", rules))
	if len(s.Notes) > 0 {
		doc.Set("notes", jsonStrings(s.Notes))
	}
	doc.Set("evidence", s.declaredEvidence())
	for _, key := range []string{"required_inputs", "evidence", "audit_checks"} {
		if len(doc.Get(key).Items) == 0 {
			doc.Remove(key)
		}
	}
	return doc
}

// given is the file that a new sheet holds its inputs to: a table with a row for each. Its author names better places.
const given = "given"

// mustSayHeld reports whether the sheet has to say how the input is held (S70): a number, a date, a yes or no. A text
// or a list need not.
func (in *SpecInput) mustSayHeld() bool {
	return slices.Contains([]string{"number", "integer", "date", "datetime", "boolean"}, in.Type)
}

// inputDocument is the input as the sheet declares it, held by its row of the file of what was given.
func (in *SpecInput) inputDocument() *strictjson.Value {
	out := jsonObject("name", jsonString(in.Name), "type", jsonString(in.Type), "unit", optionalText(in.Unit))
	if in.mustSayHeld() {
		out.Set("held", jsonString(referee.HeldCell))
		out.Set("from", jsonArray(jsonObject("evidence", jsonString(given))))
	}
	if in.Description != "" {
		out.Set("description", jsonString(in.Description))
	}
	return out
}

// declaredEvidence is the file that holds the inputs, where one is to be held.
func (s *Spec) declaredEvidence() *strictjson.Value {
	if !slices.ContainsFunc(s.Inputs, func(in SpecInput) bool { return in.mustSayHeld() }) {
		return jsonArray()
	}
	return jsonArray(jsonObject("id", jsonString(given), "title",
		jsonString("what was given, as CSV: item, value; a row for each input under its name"), "kind",
		jsonString("table"),
		"columns", jsonArray(jsonObject("name", jsonString("item"), "type", jsonString("text")),
			jsonObject("name", jsonString("value"), "type", jsonString("text"))), "key", jsonString("item")))
}

// givenFile is that file with the values of the worked example.
func (s *Spec) givenFile() (referee.ExampleFile, error) {
	var text strings.Builder
	rows := csv.NewWriter(&text)
	err := rows.Write([]string{"item", "value"})
	for _, in := range s.Inputs {
		v, bad := strictjson.Parse([]byte(in.Value), strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 64})
		cell := in.Value
		if bad == nil && v.Kind == strictjson.String {
			cell = v.Text
		}
		err = errors.Join(err, rows.Write([]string{in.Name, cell}))
	}
	rows.Flush()
	return referee.ExampleFile{ID: given, Path: "evidence/given.csv", Text: text.String()},
		errors.Join(err, rows.Error())
}

// hasExample reports whether an example can be written.
func (s *Spec) hasExample() bool {
	return len(s.Inputs) > 0 && !slices.ContainsFunc(s.Inputs, func(in SpecInput) bool { return in.Value == "" })
}

// workedExample is a submission of the values, with every calculation worked out.
func (s *Spec) workedExample(sheet *referee.Sheet) (*strictjson.Value, error) {
	inputs, calcs := jsonObject(), jsonArray()
	for _, in := range s.Inputs {
		v, err := strictjson.Parse([]byte(in.Value), strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 64})
		if err != nil {
			return nil, fmt.Errorf("the value of the input %s: %w", in.Name, err)
		}
		inputs.Set(in.Name, v)
	}
	for _, m := range sheet.Math {
		own := jsonObject()
		for _, name := range m.Inputs {
			if v := inputs.Get(name); v != nil {
				own.Set(name, v)
			} else if sheet.Rule("math."+name) != nil {
				own.Set(name, jsonNumber("0"))
			}
		}
		calcs.Items = append(calcs.Items, jsonObject("name", jsonString(m.ID), "formula", jsonString(m.Text), "inputs",
			own, "result", jsonNumber("0"), "units", jsonString(orElse(m.Units, "number"))))
	}
	w := &worked{sheet: sheet, submission: jsonObject("inputs", inputs, "calculations", calcs)}
	file, err := s.givenFile()
	if err != nil {
		return nil, fmt.Errorf("the file of what was given: %w", err)
	}
	if sheet.Baseline == "canonical" {
		s.addCanonical(w)
	}
	if sheet.Baseline == "canonical" || len(sheet.Evidence) > 0 {
		w.files = []referee.ExampleFile{file}
	}
	if err := w.settleCalculations(); err != nil {
		return nil, err
	}
	evidence := jsonObject()
	for _, f := range w.files {
		evidence.Set(f.ID, jsonObject("path", jsonString(f.Path), "text", jsonString(f.Text)))
	}
	return jsonObject("name", jsonString("worked example"), "submission", w.submission, "evidence", evidence), nil
}

// addCanonical adds the members that "baseline": "canonical" asks for, over the file that holds what was given.
func (s *Spec) addCanonical(w *worked) {
	claim := jsonObject("claim", jsonString("The inputs are those that were given."), "evidence_reference",
		jsonString(given))
	yes := jsonBool(true)
	for _, m := range []struct {
		key string
		v   *strictjson.Value
	}{
		{"assignment_id", jsonString(s.Slug)}, {"agent_summary", jsonString("A worked example.")},
		{"inputs_used", jsonStrings([]string{"given"})}, {"missing_inputs", jsonArray()},
		{"claims", jsonArray(claim)}, {"risks", jsonArray()}, {"assumptions", jsonArray()},
		{"open_questions", jsonArray()}, {"final_output", jsonString("PASS")},
		{"self_check", jsonObject("all_numbers_have_sources", yes, "all_required_sections_completed", yes,
			"assumptions_labeled", yes, "missing_inputs_disclosed", yes)},
	} {
		w.submission.Set(m.key, m.v)
	}
}

// settleCalculations states every calculation, those first that others need.
func (w *worked) settleCalculations() error {
	for range len(w.calculationItems()) + 1 {
		results, err := w.recomputedResults()
		if err != nil {
			return err
		}
		for i, c := range w.calculationItems() {
			if i < len(results) && results[i] != "" {
				c.Set("result", jsonNumber(results[i]))
			}
			for j, m := range c.Get("inputs").Members {
				for _, other := range w.calculationItems() {
					if other.TextOf("name") == m.Key {
						c.Get("inputs").Members[j].Value = other.Get("result")
					}
				}
			}
		}
	}
	return nil
}

// tripsOf are the changes that turn each gate: the boundary nearest to the example at which it flags.
func tripsOf(sheet *referee.Sheet) *strictjson.Value {
	out := jsonArray()
	trials := suiteOf(sheet)
	for _, r := range gates(sheet) {
		for _, e := range gateEdges(sheet, r, trials) {
			if e.Got != referee.Flag || e.Value == "" {
				continue
			}
			report, err := e.trial.work.auditWork()
			if err != nil {
				continue
			}
			var flags []string
			for _, c := range report.Checks {
				if c.Status == referee.Flag {
					flags = append(flags, c.ID)
				}
			}
			out.Items = append(out.Items,
				jsonObject("change", jsonString(fmt.Sprintf("%s is %s, %s the bound", e.Input, e.Value, e.Side)),
					"inputs", jsonObject(e.Input, jsonNumber(e.Value)), "flags", jsonStrings(flags)))
			break
		}
	}
	return out
}
