package referee

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// FieldError is how far an answer lies from the right one in one field: an error a second, or a row, in the unit of the
// field. An angle is compared by the shortest arc. A value that is no number has no error; a check flags it.
type FieldError struct {
	Field  string   `json:"field"`
	Limit  string   `json:"limit"` // what the sheet declares an error of this field to be held against
	Values []string `json:"values"`
}

// FamilyCount counts the verified facts of one family: those that hold, and those that fail, by severity. A report
// drops facts that hold and that nothing cites; their number stays here, so that reports add up.
type FamilyCount struct {
	Family   string `json:"family"`
	Held     int    `json:"held"`
	Warning  int    `json:"warning"`
	Critical int    `json:"critical"`
}

// errorSpec is what a sheet says about errors: where the answer and the right one are, and what they are held against.
type errorSpec struct {
	predicted, right string
	limits           []limit // high is the limit
	angles           map[string]bool
}

var errorsRecord = &record{Name: "errors", Fields: []field{
	{Name: "predicted", Type: "string", Doc: "JSON pointer to the answer: an object, or a list of them", Required: true},
	{Name: "right", Type: "string", Doc: "JSON pointer into gold", Required: true},
	{Name: "limits", Type: "string", Doc: "the constant that maps each field to its limit", Required: true},
	{Name: "angles", Type: "string", Doc: "the constant that lists the fields in degrees that take the shortest arc"},
}}

// loadErrorSpec reads the sheet's member errors. Limits and angles are constants, which have a source and a date.
func (l *loader) loadErrorSpec() {
	v := l.sheet.Doc.Get("errors")
	if v == nil {
		return
	}
	if l.sheet.Gold == "" {
		l.problems.addProblem(v, "errors", "errors needs gold: the evidence that holds the right answer")
	}
	spec := &errorSpec{predicted: v.TextOf("predicted"), right: v.TextOf("right"), angles: map[string]bool{}}
	for _, key := range []string{"predicted", "right"} {
		// The readers below take a pointer as it is: without the slash it would find nothing, and nothing is no error.
		if text := v.TextOf(key); text == "" || text[0] != '/' {
			l.problems.addProblem(v.Get(key), "errors", "errors: %s is %q; it must be a JSON pointer such as /prediction", key,
				clipText(text))
		}
	}
	limits := l.sheet.consts[v.TextOf("limits")]
	for _, m := range limits.Fields() {
		high := m.Value.Decimal()
		if high == nil || decimal.Cmp(high, decimal.FromInt(0)) <= 0 {
			l.problems.addProblem(m.Value, "errors", "errors: the limit of %q must be a number above 0", clipText(m.Key))
			continue
		}
		spec.limits = append(spec.limits, limit{field: m.Key, high: high})
	}
	if len(limits.Fields()) == 0 {
		l.problems.addProblem(v.Get("limits"), "errors",
			"errors: limits is %q; it must name a constant with a limit for each "+
				"field", clipText(v.TextOf("limits")))
	}
	l.loadErrorAngles(v, spec)
	l.sheet.errors = spec
}

// loadErrorAngles refuses an angle that no limit names: a misspelt one would be compared the long way round.
func (l *loader) loadErrorAngles(v *strictjson.Value, spec *errorSpec) {
	name := v.Get("angles")
	if name == nil {
		return
	}
	list := l.sheet.consts[name.Text]
	if len(list.Elements()) == 0 {
		l.problems.addProblem(name, "errors", "errors: angles is %q; it must name a constant with a list of fields",
			clipText(name.Text))
	}
	for _, field := range list.Texts() {
		if !slices.ContainsFunc(spec.limits, func(x limit) bool { return x.field == field }) {
			l.problems.addProblem(name, "errors", "errors: the angle %q has no limit", clipText(field))
		}
		spec.angles[field] = true
	}
}

// fieldErrors compares the answer with the right one, field by field; nil without a right answer, or where the two have
// not the same number of rows.
func (a *audit) fieldErrors() []FieldError {
	spec := a.Sheet.errors
	if spec == nil || a.doc == nil || a.Evidence == nil {
		return nil
	}
	hit, err := a.evidenceHit(a.Sheet.Gold, spec.right)
	if err != nil || hit.JSON == nil {
		return nil
	}
	predicted, right := stateRows(a.doc.At(spec.predicted)), stateRows(hit.JSON)
	if len(predicted) != len(right) {
		return nil
	}
	var out []FieldError
	for _, lim := range spec.limits {
		one := FieldError{Field: lim.field, Limit: reportNumber(lim.high), Values: []string{}}
		for i := range right {
			x, y := predicted[i].Get(lim.field).Decimal(), right[i].Get(lim.field).Decimal()
			if d := absoluteDifference(x, y, spec.angles[lim.field]); d != nil {
				one.Values = append(one.Values, reportNumber(d))
			}
		}
		if len(one.Values) > 0 {
			out = append(out, one)
		}
	}
	return out
}

// stateRows are the states of an answer: the object, or each of a list.
func stateRows(v *strictjson.Value) []*strictjson.Value {
	switch {
	case v == nil:
		return nil
	case v.Kind == strictjson.Array:
		return v.Elements()
	}
	return []*strictjson.Value{v}
}

// absoluteDifference is |x − y|, by the shortest arc between angles; nil where one of them is no number.
func absoluteDifference(x, y *decimal.Num, angle bool) *decimal.Num {
	if x == nil || y == nil {
		return nil
	}
	d, err := decimal.Sub(x, y)
	if err != nil {
		return nil
	}
	if d = decimal.Abs(d); angle {
		return shortestArc(d)
	}
	return d
}

// countFactsByFamily counts the facts by the families that the sheet's rules name, in the order of the protocol.
func (a *audit) countFactsByFamily() []FamilyCount {
	counts := make([]FamilyCount, len(atomFamilies))
	for _, at := range a.atoms {
		for i, family := range atomFamilies {
			if len(at.Type) <= len(family) || at.Type[len(family)] != '.' || at.Type[:len(family)] != family {
				continue
			}
			switch {
			case at.Pass:
				counts[i].Held++
			case at.Severity == "critical":
				counts[i].Critical++
			default:
				counts[i].Warning++
			}
		}
	}
	var out []FamilyCount
	for i, family := range atomFamilies {
		named := func(r *Rule) bool { return r.Family == family }
		if counts[i].Family = family; slices.ContainsFunc(a.Sheet.Rules, named) {
			out = append(out, counts[i])
		}
	}
	return out
}
