package main

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

func sheetShowCommand() *command {
	c := newCommand("sheet show", "SLUG", "print a flight sheet", 1)
	c.long = "With --format json it prints the canonical bytes, whose SHA-256 binds the sheet\nin reports and receipts."
	c.examples = []string{"referee sheet show cre-multifamily-agency",
		"referee sheet show math-steps --format json | sha256sum"}
	format := c.formatFlag("text", "json")
	dir := sheetsFlag(c.flags)
	c.run = func(a *app, args []string) error {
		s, err := a.oneSheet(*dir, args, c)
		if err != nil {
			return err
		}
		if *format == "json" {
			return a.print(string(s.Canonical))
		}
		return a.print(sheetText(s))
	}
	return c
}

// oneSheet finds the sheet that the only argument names: a slug, or a file.
func (a *app) oneSheet(dir string, args []string, c *command) (*referee.Sheet, error) {
	if len(args) == 0 {
		return nil, usagef("%s needs a SLUG", c.name).withHint("`referee sheet list` lists them")
	}
	if isFile(args[0]) {
		return a.sheetFile(args[0])
	}
	library, err := a.openLibrary(dir)
	if err != nil {
		return nil, err
	}
	s, err := library.Find(args[0])
	if err != nil {
		return nil, sheetError(err)
	}
	return s, nil
}

// sheetText is the whole sheet for a person to read.
func sheetText(s *referee.Sheet) string {
	p := &page{}
	p.line("%s %s", s.Slug, s.Version)
	p.text("", s.Name)
	p.line("Lane %s, domain %s, from the %s. SHA-256:", s.Lane, orDash(s.Domain), s.Origin)
	p.line("%s", s.SHA256)
	for _, text := range []string{s.Summary, s.Purpose} {
		if text != "" {
			p.line("")
			p.text("", text)
		}
	}
	p.writeInputs(s)
	p.writeEvidence(s)
	p.writeParams(s)
	p.writeConstants(s)
	p.writeCalculations(s)
	p.writeGates(s)
	p.otherChecks(s)
	p.writeQuestions(s)
	p.writeExamples(s)
	if len(s.Notes) > 0 {
		p.beginSection("Notes")
		for _, n := range s.Notes {
			p.text("  - ", n)
		}
	}
	return p.b.String()
}

// wide is the column in which texts begin beside names.
const wide = 24

func (p *page) writeInputs(s *referee.Sheet) {
	showNamed(p, "Inputs", s.Inputs, func(in referee.Input) (string, string) { return in.Name, inputText(in) })
}

// showNamed is a section that lists things by name; without any it is left out.
func showNamed[T any](p *page, heading string, list []T, describe func(T) (name, text string)) {
	if len(list) == 0 {
		return
	}
	p.beginSection(heading)
	for _, item := range list {
		name, text := describe(item)
		p.writeEntry(name, wide, text)
	}
}

// inputText is an input's type, unit and meaning.
func inputText(in referee.Input) string {
	var about []string
	for _, t := range []string{in.Type, in.Unit} {
		if t != "" {
			about = append(about, t)
		}
	}
	if len(in.Enum) > 0 {
		about = append(about, "one of "+strings.Join(in.Enum, ", "))
	}
	if len(in.Fields) > 0 {
		about = append(about, "rows with "+strings.Join(in.Fields, ", "))
	}
	if bounds := boundsText(in); bounds != "" {
		about = append(about, bounds)
	}
	if in.Optional {
		about = append(about, "optional")
	}
	text := strings.Join(about, "; ")
	if in.Description != "" && text != "" {
		text += ". "
	}
	text += in.Description
	if held := heldText(in); held != "" {
		text = strings.TrimSuffix(text, ".") + ". " + held
	}
	return text
}

// boundsText is an input's domain (S72).
func boundsText(in referee.Input) string {
	switch {
	case in.Min != nil && in.Max != nil:
		return fmt.Sprintf("%s to %s", in.Min, in.Max)
	case in.Min != nil:
		return fmt.Sprintf("at least %s", in.Min)
	case in.Max != nil:
		return fmt.Sprintf("at most %s", in.Max)
	}
	return ""
}

// heldText says what vouches for an input (S70).
func heldText(in referee.Input) string {
	switch in.Held {
	case referee.HeldCell:
		if len(in.From) == 0 {
			return "Held: cite its cell in sources."
		}
		var places []string
		for _, p := range in.From {
			places = append(places, placeText(in, p))
		}
		return "Held by " + strings.Join(places, ", and by ") + "."
	case referee.HeldRecount:
		return "Held: counted again from the evidence."
	case referee.HeldAttested:
		return "Held: by attested evidence."
	case referee.HeldParam:
		return "Held: the parameter " + in.Param + "."
	case referee.HeldStated:
		if in.Reason != "" {
			return "Stated, and confirmed by a person: " + in.Reason + "."
		}
		return "Stated, and confirmed by a person."
	}
	return ""
}

// placeText is where evidence holds an input.
func placeText(in referee.Input, p referee.Place) string {
	row := p.Row
	if row == "" {
		row = in.Name
	}
	if p.Column != "" {
		return fmt.Sprintf("the row %q of %s, column %s", row, p.Evidence, p.Column)
	}
	if p.Pointer != "" {
		return p.Evidence + "#" + p.Pointer
	}
	return p.Evidence + "#/" + in.Name
}

// writeEvidence are the files that a run must bring.
func (p *page) writeEvidence(s *referee.Sheet) {
	showNamed(p, "Evidence", s.Evidence, func(e referee.EvidenceItem) (string, string) {
		return e.ID, evidenceText(e)
	})
}

// evidenceText is a declared file: its kind, its columns, what it is.
func evidenceText(e referee.EvidenceItem) string {
	text := e.Kind
	var columns []string
	for _, c := range e.Columns {
		about := c.Type
		if c.Unit != "" {
			about = strings.TrimSpace(about + " in " + c.Unit)
		}
		if c.Name == e.Key {
			about = strings.TrimPrefix(about+", the key", ", ")
		}
		if about != "" {
			about = " (" + about + ")"
		}
		columns = append(columns, c.Name+about)
	}
	if len(columns) > 0 {
		text += " with the columns " + strings.Join(columns, ", ")
	}
	if e.Title != "" {
		text += ". " + e.Title
	}
	return text
}

// writeParams are the limits that the configuration sets (S71).
func (p *page) writeParams(s *referee.Sheet) {
	if len(s.Params) == 0 {
		return
	}
	p.beginSection("Parameters, which the configuration or --param sets and no submission")
	for _, param := range s.Params {
		p.writeEntry(param.Name, wide, limitText(param))
	}
}

// limitText is a parameter's value, unit and meaning.
func limitText(p referee.Param) string {
	text := "required"
	if p.Value != nil {
		text = constText(p.Value)
		if p.Unit != "" {
			text += " " + p.Unit
		}
		text += ", unless set otherwise"
	} else if p.Unit != "" {
		text += ", in " + p.Unit
	}
	text += ". " + p.Title
	if p.Source != "" {
		text += " (" + p.Source + ")"
	}
	return text
}

// writeConstants are the thresholds that the gates name.
func (p *page) writeConstants(s *referee.Sheet) {
	consts := s.Doc.Get("consts")
	if consts == nil || len(consts.Members) == 0 {
		return
	}
	p.beginSection("Constants")
	for _, m := range consts.Members {
		text := constText(m.Value.Get("value"))
		if unit := m.Value.TextOf("unit"); unit != "" {
			text += " " + unit
		}
		p.writeEntry(m.Key, wide, text+"; "+sourceText(referee.Source{Text: m.Value.TextOf("source"),
			Status: m.Value.TextOf("status"), AsOf: m.Value.TextOf("as_of")}))
	}
}

// constText is a constant's value in words: a number as written, a table as key: value.
func constText(v *strictjson.Value) string {
	switch v.Kind {
	case strictjson.Object:
		var out []string
		for _, m := range v.Members {
			out = append(out, m.Key+": "+constText(m.Value))
		}
		return "{" + strings.Join(out, ", ") + "}"
	case strictjson.Array:
		var out []string
		for _, item := range v.Items {
			out = append(out, constText(item))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	return v.Text
}

func (p *page) writeCalculations(s *referee.Sheet) {
	if len(s.Math) == 0 {
		return
	}
	p.beginSection("Calculations, each re-derived from the submission's own inputs")
	for _, m := range s.Math {
		p.text("  "+m.ID+" = ", m.Text+unitText(m))
		p.writeLabelled(4, "Why:", m.Why)
	}
}

func unitText(m *referee.MathCheck) string {
	var about []string
	if m.Units != "" {
		about = append(about, m.Units)
	}
	if m.Optional {
		about = append(about, "optional")
	}
	if len(about) == 0 {
		return ""
	}
	return "  (" + strings.Join(about, ", ") + ")"
}

// writeGates are the rules that the sheet's author wrote, with their reasons.
func (p *page) writeGates(s *referee.Sheet) {
	titled := false
	for _, r := range s.Rules {
		if r.Stage == referee.StageChecklist || r.Kind == "recompute" && strings.HasPrefix(r.ID, "math.") ||
			!hasOwnWords(r) {
			continue
		}
		if !titled {
			p.beginSection("Gates")
			titled = true
		}
		p.writeGate(r)
	}
}

// written: the author of the sheet said what must hold; registry keys and implicit rules bring their own words.
func hasOwnWords(r *referee.Rule) bool { return r.Text != "" }

func (p *page) writeGate(r *referee.Rule) {
	p.text(fmt.Sprintf("  %-4s  %s: ", r.Tier, r.ID), r.Label)
	if !strings.Contains(r.Label, r.Text) {
		p.text("        ", r.Text)
	}
	p.writeLabelled(8, "Why:", r.Why)
	p.writeLabelled(8, "Fix:", r.Fix)
	p.writeLabelled(8, "Source:", sourceText(r.Source))
}

func sourceText(s referee.Source) string {
	text := s.Text
	if s.URL != "" && !strings.Contains(text, s.URL) {
		text = strings.TrimPrefix(text+", "+s.URL, ", ")
	}
	var about []string
	if s.Status != "" {
		about = append(about, s.Status)
	}
	if s.AsOf != "" {
		about = append(about, "as of "+s.AsOf)
	}
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	return strings.TrimSpace(text)
}

// otherChecks are those that need no expression: the registry's keys and what every sheet has.
func (p *page) otherChecks(s *referee.Sheet) {
	p.beginSection("Always checked")
	for _, r := range s.Rules {
		if r.Stage != referee.StageChecklist && !hasOwnWords(r) {
			p.text(fmt.Sprintf("  %-4s  %s: ", r.Tier, r.ID), r.Label)
		}
	}
}

func (p *page) writeQuestions(s *referee.Sheet) {
	titled := false
	for _, r := range s.Rules {
		if r.Question == "" {
			continue
		}
		if !titled {
			p.beginSection("Questions that a person answers with yes or no")
			titled = true
		}
		p.text("  "+r.ID+": ", r.Question)
		p.writeLabelled(4, "Why:", r.Why)
	}
}

// writeExamples sums up the worked submissions and what must flag when they change.
func (p *page) writeExamples(s *referee.Sheet) {
	list := s.Doc.Get("examples")
	if list == nil || len(list.Items) == 0 {
		return
	}
	p.beginSection("Worked examples, run by `referee sheet test`")
	for i, e := range list.Items {
		p.text("  ", fmt.Sprintf("%s: passes%s", orDash(e.TextOf("name")), exampleExceptions(e)))
		trips := e.Get("trips")
		if trips == nil {
			continue
		}
		for _, t := range trips.Items {
			p.text("    ", t.TextOf("change")+" -> "+strings.Join(t.Get("flags").Texts(), ", "))
		}
		if i < len(list.Items)-1 {
			p.line("")
		}
	}
}

// exampleExceptions are the rules that an example does not pass.
func exampleExceptions(e *strictjson.Value) string {
	expect := e.Get("expect")
	if expect == nil || len(expect.Members) == 0 {
		return ""
	}
	var out []string
	for _, m := range expect.Members {
		out = append(out, m.Key+" "+m.Value.Text)
	}
	return ", but for " + strings.Join(out, ", ")
}
