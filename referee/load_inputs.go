package referee

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// What vouches for an input (S70).
const (
	HeldCell     = "cell"     // a cell of the evidence holds it
	HeldRecount  = "recount"  // a rule counts it again from the evidence
	HeldAttested = "attested" // attested evidence holds it
	HeldParam    = "param"    // it restates a parameter
	HeldStated   = "stated"   // nothing but the agent does: a person is asked
)

// Input is a declared input of a sheet.
type Input struct {
	Name, Type, Unit, Description string
	Optional                      bool
	Aliases, Enum, Fields         []string

	Held   string       // how it is held (S70); "" where the sheet need not say: a text, a list
	Reason string       // why nothing but the agent states it
	From   []Place      // where a cell holds it; none: the submission cites one
	Param  string       // the parameter that it restates
	Min    *decimal.Num // the least value that it may have, nil for any (S72)
	Max    *decimal.Num
	Signed bool // it may be below 0

	gate Tier // of the heaviest gate that rests on it, "" where none does
	v    *strictjson.Value
}

// Place is where declared evidence holds an input.
type Place struct{ Evidence, Row, Column, Pointer string }

// EvidenceItem is evidence that a sheet declares: what a run must bring.
type EvidenceItem struct {
	ID, Title, Kind, Key string
	Columns              []EvidenceColumn
}

// EvidenceColumn is a column of a declared table.
type EvidenceColumn struct{ Name, Type, Unit string }

// Value is where the sheet declares the input.
func (in *Input) Value() *strictjson.Value { return in.v }

// Gate is the tier of the heaviest gate that rests on the input, "" where none does.
func (in *Input) Gate() Tier { return in.gate }

// Decides says whether the value of an input is one that S70 asks about: a number, a date, or a word that decides what
// applies.
func (in *Input) Decides() bool {
	switch in.Type {
	case "", "number", "integer", "date", "datetime", "boolean":
		return true // of no type: where its value is a number or a date
	}
	return len(in.Enum) > 0
}

// loadEvidence reads the declaration of evidence.
func (l *loader) loadEvidence() {
	for _, v := range l.sheet.Doc.Get("evidence").Elements() {
		e := EvidenceItem{ID: v.TextOf("id"), Title: v.TextOf("title"), Kind: v.TextOf("kind"), Key: v.TextOf("key")}
		if l.sheet.evidenceItem(e.ID) != nil {
			l.problems.addProblem(v, "duplicate", "evidence %q is declared twice", e.ID)
		}
		for _, c := range v.Get("columns").Elements() {
			col := EvidenceColumn{Name: c.TextOf("name"), Type: c.TextOf("type"), Unit: c.TextOf("unit")}
			if e.hasColumn(col.Name) {
				l.problems.addProblem(c, "duplicate", "the column %q of evidence %q is declared twice", col.Name, e.ID)
			}
			e.Columns = append(e.Columns, col)
		}
		if e.Kind != "table" && e.Kind != "workbook" && (len(e.Columns) > 0 || e.Key != "") {
			l.problems.addProblem(v, "columns", "evidence %q has kind %s: only a table has columns and a key", e.ID, e.Kind)
		}
		if e.Key != "" && !e.hasColumn(e.Key) {
			l.problems.addNear(v.Get("key"), "unknown_name", e.Key, e.columnNames(),
				"evidence %q has no column %[2]q, which its key names", e.ID, e.Key)
		}
		l.sheet.Evidence = append(l.sheet.Evidence, e)
	}
}

func (e *EvidenceItem) hasColumn(name string) bool { return slices.Contains(e.columnNames(), name) }

func (e *EvidenceItem) columnNames() []string {
	out := make([]string, len(e.Columns))
	for i, c := range e.Columns {
		out[i] = c.Name
	}
	return out
}

// evidenceItem is the declared evidence with this id, or nil.
func (s *Sheet) evidenceItem(id string) *EvidenceItem {
	for i := range s.Evidence {
		if s.Evidence[i].ID == id {
			return &s.Evidence[i]
		}
	}
	return nil
}

func (l *loader) loadInputs() {
	seen := map[string]bool{}
	for _, v := range l.sheet.Doc.Get("required_inputs").Elements() {
		if v.Kind == strictjson.String {
			continue // the source documents' prose: "T-12"
		}
		in := Input{Name: v.TextOf("name"), Type: v.TextOf("type"), Unit: v.TextOf("unit"),
			Description: v.TextOf("description"), Optional: v.Get("optional").IsTrue(),
			Aliases: v.Get("aliases").Texts(), Enum: v.Get("enum").Texts(), Fields: v.Get("fields").Texts(),
			Min:    v.Get("min").Decimal(),
			Max:    v.Get("max").Decimal(),
			Signed: v.Get("signed").IsTrue(), v: v}
		if !isIdentifier(in.Name) {
			l.problems.addProblem(v.Get("name"), "name", "input %q must be a plain name: letters, digits and _, not "+
				"beginning with a digit", in.Name)
		}
		if n := normalName(in.Name); seen[n] {
			l.problems.addProblem(v, "duplicate", "input %q is declared twice (names are compared as %q)", in.Name, n)
		} else {
			seen[n] = true
		}
		l.loadDomain(&in)
		l.loadHolding(&in)
		l.sheet.Inputs = append(l.sheet.Inputs, in)
	}
}

// loadDomain refuses bounds that nothing can meet, or that are about nothing (S72, S73).
func (l *loader) loadDomain(in *Input) {
	numeric := in.Type == "" || in.Type == "number" || in.Type == "integer" || in.Type == "array"
	if !numeric && (in.Min != nil || in.Max != nil || in.Signed) {
		l.problems.addProblem(in.v, "domain", "input %q is a %s: only numbers, and lists of them, have min, max and signed",
			in.Name, in.Type)
	}
	if in.Min != nil && in.Max != nil && decimal.Cmp(in.Min, in.Max) > 0 {
		l.problems.addProblem(in.v.Get("min"), "domain", "input %q: min %s is greater than max %s", in.Name, in.Min, in.Max)
	}
	if in.Signed && in.Min != nil && !in.Min.IsNeg() {
		l.problems.addProblem(in.v.Get("signed"), "domain", "input %q is signed, and its min is %s: one of the two is wrong",
			in.Name, in.Min)
	}
	if in.v.Get("enum") == nil {
		return
	}
	if in.Type != "" && in.Type != "string" && in.Type != "array" {
		l.problems.addProblem(in.v.Get("enum"), "domain", "input %q is a %s: only texts, and lists of them, have an enum",
			in.Name, in.Type)
	}
	if len(in.Enum) == 0 {
		l.problems.addProblem(in.v.Get("enum"), "domain", "the enum of input %q is empty: list at least one value", in.Name)
	}
	forms := map[string]string{}
	for _, word := range in.Enum {
		if was, taken := forms[enumForm(word)]; taken || enumForm(word) == "" {
			l.problems.addProblem(in.v.Get("enum"), "domain", "the enum of input %q lists %q and %q, which compare as equal",
				in.Name, was, word)
		}
		forms[enumForm(word)] = word
	}
}

// enumForm is the form in which words of an enum are compared: without case, white space, hyphens and the like (S73).
func enumForm(s string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(" \t\r\n-_./'", c) {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// loadHolding reads how an input is held, and refuses what cannot be meant.
func (l *loader) loadHolding(in *Input) {
	v := in.v
	in.Held, in.Reason, in.Param = v.TextOf("held"), v.TextOf("reason"), v.TextOf("param")
	for _, p := range v.Get("from").Elements() {
		in.From = append(in.From, l.loadPlace(in, p))
	}
	if in.Held == "" && in.Decides() {
		if in.Held = HeldStated; len(l.sheet.Evidence) > 0 {
			in.Held = HeldCell
		}
	} else if in.Held == HeldStated && strings.TrimSpace(in.Reason) == "" {
		l.problems.addProblem(v, "held", "input %q is stated without a reason: say why no evidence holds it (S70)", in.Name)
	}
	switch {
	case in.Reason != "" && in.Held != HeldStated:
		l.problems.addProblem(v.Get("reason"), "held", "input %q has a reason: only a stated input takes one", in.Name)
	case len(in.From) > 0 && in.Held != HeldCell:
		l.problems.addProblem(v.Get("from"), "held", "input %q has both from and a held that is not cell: remove one",
			in.Name)
	case (in.Held == HeldCell || in.Held == HeldAttested) && (in.Type == "array" || in.Type == "object"):
		l.problems.addProblem(v.Get("held"), "held", "input %q is an %s, which no cell can hold: use held: recount, and a "+
			"rule that recounts it", in.Name, in.Type)
	case (in.Held == HeldParam) != (in.Param != ""):
		l.problems.addProblem(v, "held", "input %q: held: param and the member param require each other", in.Name)
	case in.Param != "" && l.sheet.paramNamed(in.Param) == nil:
		l.problems.addNear(v.Get("param"), "unknown_name", in.Param, l.sheet.paramNames(),
			"input %q restates the parameter %q, which the sheet does not declare", in.Name, in.Param)
	}
}

// loadPlace reads one place of evidence, and refuses one that the declared evidence does not have.
func (l *loader) loadPlace(in *Input, v *strictjson.Value) Place {
	p := Place{Evidence: v.TextOf("evidence"), Row: v.TextOf("row"), Column: v.TextOf("column"),
		Pointer: v.TextOf("pointer")}
	e := l.sheet.evidenceItem(p.Evidence)
	if e == nil {
		var known []string
		for _, have := range l.sheet.Evidence {
			known = append(known, have.ID)
		}
		l.problems.addNear(v.Get("evidence"), "unknown_name", p.Evidence, known,
			"input %q is from evidence %q, which the sheet does not declare", in.Name, p.Evidence)
		return p
	}
	switch table := e.Kind == "table"; {
	case table && e.Key == "":
		l.problems.addProblem(v, "place", "evidence %q has no key: without one, no row can be named", e.ID)
	case table && p.Column != "" && !e.hasColumn(p.Column):
		l.problems.addNear(v.Get("column"), "unknown_name", p.Column, e.columnNames(), "evidence %q has no column %q",
			e.ID, p.Column)
	case !table && (p.Row != "" || p.Column != ""):
		l.problems.addProblem(v, "place", "evidence %q has kind %s: only a table has rows and columns", e.ID, e.Kind)
	case !table && e.Kind != "json" && p.Pointer == "": // the submission cites where in it
	case e.Kind != "json" && p.Pointer != "":
		l.problems.addProblem(v.Get("pointer"), "place", "evidence %q has kind %s: only json has pointers", e.ID, e.Kind)
	}
	if table := e.Kind == "table"; table && p.Column == "" {
		for _, c := range e.Columns {
			if c.Name != e.Key && p.Column == "" {
				p.Column = c.Name
			}
		}
	}
	return p
}

// gatesOnInputs gives, for each input and calculation that a gate reads, directly or through calculations, the heaviest
// such gate's tier. Rules that count an input again, and those about the calculations themselves, are no gates.
func (s *Sheet) gatesOnInputs() map[string]Tier {
	out := map[string]Tier{}
	for _, r := range s.Rules {
		if r.v == nil || r.Kind == "implicit" || r.math != nil || r.Stage == StageLane || r.Stage == StageChecklist ||
			keyNamed(r.Kind) != nil || r.isRecount() {
			continue
		}
		for _, name := range s.inputsUnder(r) {
			if was, seen := out[name]; !seen || r.Tier.Rank() < was.Rank() {
				out[name] = r.Tier
			}
		}
	}
	return out
}

// isRecount reports whether a rule holds the submission to its evidence: it is about the work, and it reads a file.
func (r *Rule) isRecount() bool { return r.Bucket == WorkDefect && r.readsEvidence() }

func (r *Rule) readsEvidence() bool {
	if r.Kind == "evidence" {
		return true
	}
	for _, e := range r.ruleExprs() {
		if e != nil && len(e.Refs().Evidence) > 0 {
			return true
		}
	}
	found := false
	eachParameter(r.v, func(s string) {
		found = found || strings.Contains(s, "data(") || strings.Contains(s, "evidence(")
	})
	return found
}
