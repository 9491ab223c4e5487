package referee

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// hiddenText flags every text and every name of the submission that does not show what it holds (S80). Rules read what
// people see, so nothing is got round by it; that it is there is the finding.
func (a *audit) hiddenText(r *Rule) {
	if a.showsAll() {
		return
	}
	a.doc.Walk(func(v *strictjson.Value) bool {
		if v.Kind == strictjson.String {
			a.flagHidden(r, v, "the text", v.Text)
		}
		for _, m := range v.Members {
			a.flagHidden(r, m.Value, "the name", m.Key)
		}
		return true
	})
}

// showsAll reports whether the submission is plain ASCII without an escape that could stand for anything else: most
// are. It is looked at once.
func (a *audit) showsAll() bool {
	if !a.shownKnown {
		a.shown = legible.ASCII(a.Bytes) && !bytes.Contains(a.Bytes, []byte(`\u`)) &&
			!bytes.Contains(a.Bytes, []byte(`\b`))
		a.shownKnown = true
	}
	return a.shown
}

// flagHidden flags one text, at its value.
func (a *audit) flagHidden(r *Rule, at *strictjson.Value, what, text string) {
	found := legible.Find(text)
	if len(found) == 0 {
		return
	}
	places := make([]string, min(len(found), 3))
	for i := range places {
		places[i] = fmt.Sprintf("%s, at character %d", found[i].What, found[i].Char)
	}
	message := fmt.Sprintf("%s %q holds %s", what, excerptAround(text, found[0].At), strings.Join(places, "; "))
	if more := len(found) - len(places); more > 0 {
		message += fmt.Sprintf("; and %d or more places more", more)
	}
	id := a.addAtom("text.shown", at.Pointer(), false, atomSeverity(Mid), "field", found[0].What)
	a.addFinding(r, Finding{Code: "evidence.hidden_text", Tier: Mid, Stage: StageEvidence, Bucket: WorkDefect,
		Pointer: at.Pointer(), Atoms: []string{id}, Message: message,
		Fix: &Fix{Text: "write the text so that it shows all that it holds"}})
}

// hiddenEvidence flags the evidence that rules have read as text and that does not show what it holds: a cell, a
// quotation or a clause that a reader sees otherwise than the rules do. Who attached it, the agent or the base branch,
// makes no difference. It runs when the rules have read what they read, and the rule structure answers for it as it
// does for the submission.
func (a *audit) hiddenEvidence() {
	i := slices.IndexFunc(a.Sheet.Rules, func(r *Rule) bool { return r.ID == "structure" })
	if a.doc == nil || a.Evidence == nil || i < 0 {
		return
	}
	r, ch := a.Sheet.Rules[i], &a.checks[i]
	for _, c := range a.Evidence.Hidden() {
		what, fix := c.What, "write the evidence so that it shows all that it holds"
		if c.Err != nil {
			what, fix = c.Err.Error(), "attach less, or what the rules read in a file of its own"
		}
		f := Finding{Code: "evidence.hidden_text", Tier: Mid, Stage: StageEvidence, Bucket: WorkDefect, File: c.Path,
			Line: c.Line, Column: c.Column, Fix: &Fix{Text: fix}}
		if f.File == "" {
			f.File = "run.json"
		}
		f.Message = fmt.Sprintf("evidence %q may hide text: %s", clipText(c.ID), what)
		if c.Err == nil {
			f.Message = fmt.Sprintf("evidence %q holds %s, at %s:%d:%d, near %q", clipText(c.ID), what, f.File, c.Line,
				c.Column, c.Near)
		}
		if c.More > 0 {
			f.Message += fmt.Sprintf("; and %d or more places more", c.More)
		}
		id := a.addAtom("text.shown", "", false, atomSeverity(Mid), "sample", c.ID+": "+what)
		f.Atoms = []string{id}
		a.addFinding(r, f)
		ch.Status, ch.Atoms = Flag, withoutBlank(append(ch.Atoms, id))
	}
}

// excerptAround is the part of a text around an offset, for a message.
func excerptAround(text string, at int) string {
	const before, after = 16, 24
	from := []rune(text[max(0, at-4*before-4):at])
	to := []rune(text[at:min(len(text), at+4*after)])
	out := string(from[max(0, len(from)-before):])
	if len(out) < at {
		out = "…" + out
	}
	rest := string(to[:min(len(to), after)])
	if at+len(rest) < len(text) {
		rest += "…"
	}
	return out + rest
}
