package forge

import (
	"fmt"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// lintHeldInputs holds a sheet of the library to S70, S72 and S73: whoever relies on it did not write it, so it must
// say of every number, date and word that decides something how it is held and what it may be. Elsewhere the loader's
// defaults hold.
func (l *linter) lintHeldInputs() {
	if l.sheet.Origin != "library" {
		return
	}
	for i := range l.sheet.Inputs {
		in := &l.sheet.Inputs[i]
		v := in.Value()
		if in.Decides() && v.Get("held") == nil {
			l.refuse(v, "held", "say how it is held: cell, recount, attested, param, or stated with a reason",
				"the input %q does not say how it is held (S70)", in.Name)
		}
		if (in.Type == "number" || in.Type == "integer") && in.Min == nil && in.Max == nil && !in.Signed {
			l.refuse(v, "domain", "add min or max, or \"signed\": true", "the number %q has no domain (S72)", in.Name)
		}
		if in.Held == referee.HeldRecount && len(l.sheet.Counted(in.Name)) == 0 {
			l.refuse(v, "held", "add a rule that compares it with the evidence, or hold it otherwise",
				"the input %q is held by a recount, but no rule recounts it (S70)", in.Name)
		}
	}
}

// refuse adds a refusal that no explanation replaces.
func (l *linter) refuse(at *strictjson.Value, code, hint, format string, args ...any) {
	p := l.problem(at, code, fmt.Sprintf(format, args...))
	p.Hint = hint
	l.problems = append(l.problems, p)
}
