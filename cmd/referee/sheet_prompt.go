package main

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/referee"
)

func sheetPromptCommand() *command {
	c := newCommand("sheet prompt", "SLUG", "print what to give an agent", 1)
	c.long = "The prompt is markdown: the sheet's instructions, its inputs with their units,\nits calculations with " +
		"their formulas, the gates that the work must pass,\nthe evidence rules, and the JSON Schema of the submission."
	c.examples = []string{"referee sheet prompt cre-multifamily-agency > prompt.md"}
	dir := sheetsFlag(c.flags)
	c.run = func(a *app, args []string) error {
		s, err := a.oneSheet(*dir, args, c)
		if err != nil {
			return err
		}
		return a.print(promptOf(s))
	}
	return c
}

// promptOf is the assignment as markdown.
func promptOf(s *referee.Sheet) string {
	p := &page{}
	p.line("# %s", s.Name)
	p.line("")
	p.line("Assignment `%s`, version %s.", s.Slug, s.Version)
	if s.Instructions != "" {
		p.line("")
		p.text("", s.Instructions)
	}
	p.promptInputs(s)
	p.promptEvidence(s)
	p.promptParams(s)
	p.promptCalculations(s)
	p.promptGates(s)
	p.promptHandIn(s)
	p.beginSection("## JSON Schema of the submission")
	p.b.WriteString("\n```json\n" + string(s.SubmissionSchema()) + "```\n")
	return p.b.String()
}

func (p *page) promptInputs(s *referee.Sheet) {
	promptNamed(p, "## Inputs", s.Inputs, func(in referee.Input) (string, string) { return in.Name, inputText(in) })
}

// promptNamed is a section that lists things by name; without any it is left out.
func promptNamed[T any](p *page, heading string, list []T, describe func(T) (name, text string)) {
	if len(list) == 0 {
		return
	}
	p.beginSection(heading)
	p.line("")
	for _, item := range list {
		name, text := describe(item)
		p.text("- ", fmt.Sprintf("`%s`: %s", name, text))
	}
}

// promptEvidence names the files that hold the inputs.
func (p *page) promptEvidence(s *referee.Sheet) {
	promptNamed(p, "## Evidence files", s.Evidence, func(e referee.EvidenceItem) (string, string) {
		return e.ID, evidenceText(e)
	})
}

// promptParams says which limits apply; the answer cannot set them.
func (p *page) promptParams(s *referee.Sheet) {
	if len(s.Params) == 0 {
		return
	}
	p.beginSection("## Limits that apply")
	p.line("")
	p.text("", "They are set by the repository, not by your answer.")
	p.line("")
	for _, param := range s.Params {
		p.text("- ", fmt.Sprintf("`%s`: %s", param.Name, limitText(param)))
	}
}

func (p *page) promptCalculations(s *referee.Sheet) {
	if len(s.Math) == 0 {
		return
	}
	p.beginSection("## Calculations")
	p.line("")
	p.text("", "One entry each in `calculations`. The result is derived again from your inputs: at most 1 % off "+
		"passes, 2 % is flagged, 10 % is a defect.")
	p.line("")
	for _, m := range s.Math {
		p.text("- ", fmt.Sprintf("`%s` = `%s`%s", m.ID, m.Text, unitText(m)))
	}
}

func (p *page) promptGates(s *referee.Sheet) {
	var gates []*referee.Rule
	for _, r := range s.Rules {
		if r.Stage == referee.StagePolicy {
			gates = append(gates, r)
		}
	}
	if len(gates) == 0 {
		return
	}
	p.beginSection("## What the result is held against")
	p.line("")
	for _, r := range gates {
		text := fmt.Sprintf("`%s` (%s): %s", r.ID, r.Tier, r.Label)
		if r.Text != "" {
			text += ": `" + r.Text + "`"
		}
		p.text("- ", text)
	}
}

// handIn is what every assignment says about the answer.
const handIn = `Hand in one JSON object: UTF-8, no duplicate keys, nothing before or after it.
- Numbers are JSON numbers with all the digits that you have; a string is not a number.
- What you were not given goes into ` + "`missing_inputs`" + ` by name. Never invent it.
- A calculation has ` + "`name`, `formula`, `inputs`, `result`, `units`" + `. ` +
	`The formula is arithmetic over the names in its inputs: ` +
	`+ - * / // % **, parentheses, abs min max sum avg round sqrt exp ln log10 floor ceil pow, pmt npv irr. ` +
	`No prose, no thousands commas, no % or $ signs, ** and not ^.`

// evidenceRules are added where claims cite evidence.
const evidenceRules = `Evidence rules:
- A claim has an ` + "`evidence_reference`" + `: the id of an evidence item in run.json, ` +
	`with a selector where it helps: ` + "`t12#row=6`, `t12#cell=6,2`, `quote#/rate`, `memo#line=10,12`" + `.
- A ` + "`quote`" + ` must occur word for word in the evidence that its claim cites.
- An input is in the evidence as its description says. Where that is left to you, ` +
	"`sources`" + ` of the submission cites the cell: ` + "`{\"noi\": \"t12#cell=6,2\"}`" + `.
- A calculation's ` + "`sources`" + ` say where each input is: ` + "`{\"noi\": \"t12#cell=6,2\"}`" +
	`. The value there must equal the input.
- An assumption is an object with the label "assumption", and its basis.
- ` + "`self_check` and `final_output`" + ` are claims too: they are held against what is found.`

func (p *page) promptHandIn(s *referee.Sheet) {
	p.beginSection("## What to hand in")
	p.line("")
	p.writeBulleted(handIn)
	if s.Baseline == "canonical" {
		p.line("")
		p.writeBulleted(evidenceRules)
	}
	if len(s.Outputs) > 0 {
		p.line("")
		p.text("", "Deliver: "+strings.Join(s.Outputs, "; ")+".")
	}
}

// writeBulleted wraps lines that begin with a dash under themselves.
func (p *page) writeBulleted(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "- "); ok {
			p.text("- ", rest)
			continue
		}
		p.text("", line)
		p.line("")
	}
}
