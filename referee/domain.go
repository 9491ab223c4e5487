package referee

import (
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// outOfEnum is a word of the submission that the enum of its input does not have.
type outOfEnum struct {
	in   *Input
	word string
	at   *strictjson.Value
}

// readEnums writes each word of an enum as the sheet does, so that every rule compares one spelling (S73). A word that
// the enum does not have counts as missing, so that no gate can take it for "does not apply", and is flagged by
// inDomain.
func (a *audit) readEnums() {
	for i := range a.Sheet.Inputs {
		in := &a.Sheet.Inputs[i]
		v := a.inputValue(in.Name)
		if len(in.Enum) == 0 || v == nil {
			continue
		}
		words := []*strictjson.Value{v}
		if v.Kind == strictjson.Array {
			if words = v.Items; len(words) == 0 {
				a.strange = append(a.strange, outOfEnum{in, "[]", v}) // nothing applies: S73 asks for the words
			}
		}
		for _, w := range words {
			if w.Kind != strictjson.String {
				continue // the schema says so
			}
			if word, known := in.enumWord(w.Text); known {
				w.Text = word
				continue
			}
			a.strange = append(a.strange, outOfEnum{in, w.Text, w})
			w.Kind, w.Text = strictjson.Null, ""
		}
	}
}

// enumWord is the sheet's spelling of a word of the enum.
func (in *Input) enumWord(s string) (string, bool) {
	form := enumForm(s)
	for _, word := range in.Enum {
		if enumForm(word) == form {
			return word, true
		}
	}
	return "", false
}

// inDomain flags what lies outside of its input's domain (S72, S73), and a parameter that the submission sets (S71).
func (a *audit) inDomain(r *Rule) {
	for _, s := range a.strange {
		a.flagDomain(r, s.at.Pointer(), fmt.Sprintf("input %q is %q; it is one of %s", s.in.Name, clipText(s.word),
			joinListed(s.in.Enum)), "use a word of the list, as the document has it")
	}
	for i := range a.Sheet.Inputs {
		in := &a.Sheet.Inputs[i]
		v := a.inputValue(in.Name)
		if v == nil || in.Min == nil && in.Max == nil {
			continue
		}
		a.inBounds(r, in, v)
	}
	a.paramsUnset(r)
}

// paramsUnset flags every way in which a submission tries to set a parameter (S71). Its member `params` decides
// nothing: the attempt is named, high where it contradicts a parameter of the sheet and low where the sheet has no such
// one.
func (a *audit) paramsUnset(r *Rule) {
	for _, m := range slices.Concat(a.doc.Get("inputs").Fields(), a.doc.Get("params").Fields()) {
		p := a.Sheet.paramNamed(a.sheetName(m.Key))
		if p == nil || p.Value == nil || m.Value.IsMissing() || sameValue(m.Value, p.Value) {
			continue
		}
		a.addFinding(r, Finding{Code: "schema.param_set", Pointer: m.Value.Pointer(), Bucket: WorkDefect,
			Message: fmt.Sprintf("the submission sets %s; it is a parameter of the sheet, %s here, and no "+
				"submission can set it (S71)", p.Name, clipText(string(canonicalJSON(p.Value)))),
			Fix: &Fix{Text: "leave it out: the base branch's configuration, or --param, sets it"}})
	}
	set := a.doc.Get("params")
	if set.IsMissing() || a.Sheet.Doc.At("/eval_spec/required_output_schema/properties/params") != nil {
		return // absent, or a member that the sheet asks for
	}
	var strange []string
	for _, m := range set.Fields() {
		if a.Sheet.paramNamed(a.sheetName(m.Key)) == nil {
			strange = append(strange, m.Key)
		}
	}
	what := "sets " + joinListed(strange)
	switch {
	case set.Kind != strictjson.Object:
		what = "has a member params that is no object"
	case len(strange) == 0:
		return
	}
	a.addFinding(r, Finding{Code: "schema.param_set", Tier: Low, Pointer: set.Pointer(), Bucket: WorkDefect,
		Message: "the submission " + what + " under params; the sheet has no such parameter, and nothing in " +
			"a submission's params is used (S71)",
		Fix: &Fix{Text: "leave params out, or state what describes the agent under agent"}})
}

func (a *audit) inBounds(r *Rule, in *Input, v *strictjson.Value) {
	numbers := []*strictjson.Value{v}
	if v.Kind == strictjson.Array {
		numbers = v.Items
	}
	for _, x := range numbers {
		n := x.Decimal()
		switch {
		case n == nil:
		case in.Min != nil && decimal.Cmp(n, in.Min) < 0:
			a.flagDomain(r, x.Pointer(), fmt.Sprintf("input %q is %s; it is at least %s", in.Name, shownNumber(n),
				shownNumber(in.Min)), "state it with the sign and unit that the sheet asks for")
		case in.Max != nil && decimal.Cmp(n, in.Max) > 0:
			a.flagDomain(r, x.Pointer(), fmt.Sprintf("input %q is %s; it is at most %s", in.Name, shownNumber(n),
				shownNumber(in.Max)), "state it in the unit that the sheet asks for")
		}
	}
}

func (a *audit) flagDomain(r *Rule, pointer, message, fix string) {
	id := a.addAtom("schema.out_of_domain", pointer, false, "critical", "field", message)
	a.addFinding(r, Finding{Code: "schema.out_of_domain", Tier: High, Bucket: WorkDefect, Pointer: pointer,
		Atoms: []string{id}, Message: message, Fix: &Fix{Text: fix}})
}

// strangeWord reports whether the input has a word that its enum does not know: it counts as missing, and is flagged as
// what it is.
func (a *audit) strangeWord(name string) bool {
	for _, s := range a.strange {
		if s.in.Name == name {
			return true
		}
	}
	return false
}
