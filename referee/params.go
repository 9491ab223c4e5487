package referee

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
)

// Param is a parameter of a sheet: a limit that the base branch's configuration or the command line sets, and never a
// submission (S71).
type Param struct {
	Name, Type, Unit, Title, Source string
	Required                        bool // an audit without it is refused
	Min, Max                        *decimal.Num
	Enum                            []string
	Default                         *strictjson.Value // nil where it is required
	Value                           *strictjson.Value // in force; nil where it is required and not set
}

// ParamValue is a parameter as a report shows and hashes it. Value is canonical JSON.
type ParamValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// ParamError refuses parameters: one that the sheet does not have, of another type, or one that is required and
// missing.
type ParamError struct{ Message, Hint string }

// Error is the refusal and what to do.
func (e *ParamError) Error() string { return e.Message + "; " + e.Hint }

// compiledValue is the value that expressions read; nil where it is not known yet.
func (p *Param) compiledValue() *strictjson.Value { return p.Value }

// Text is the value in force as JSON, "" where there is none.
func (p *Param) Text() string {
	if p.Value == nil {
		return ""
	}
	return string(canonicalJSON(p.Value))
}

// loadParams reads the parameters, with the values that are given for them.
func (l *loader) loadParams() {
	for _, m := range l.sheet.Doc.Get("params").Fields() {
		v := m.Value
		p := Param{Name: m.Key, Type: v.TextOf("type"), Unit: v.TextOf("unit"), Title: v.TextOf("title"),
			Source: v.TextOf("source"), Required: v.Get("required").IsTrue(),
			Min: v.Get("min").Decimal(), Max: v.Get("max").Decimal(), Enum: v.Get("enum").Texts(), Default: v.Get("default")}
		if !isIdentifier(p.Name) {
			l.problems.addProblem(v, "name", "parameter %q must be a plain name: letters, digits and _, not beginning with "+
				"a digit", p.Name)
		}
		if p.Required == (p.Default != nil) {
			l.problems.addProblem(v, "param", "parameter %q needs a default, or \"required\": true, and not both", p.Name)
		}
		if p.Min != nil && p.Max != nil && decimal.Cmp(p.Min, p.Max) > 0 {
			l.problems.addProblem(v.Get("min"), "param", "parameter %q: min %s is greater than max %s", p.Name, p.Min, p.Max)
		}
		if why := p.refusalOf(p.Default); p.Default != nil && why != "" {
			l.problems.addProblem(p.Default, "param", "the default of parameter %q %s", p.Name, why)
		}
		if p.Value = p.Default; l.values[p.Name] != nil {
			p.Value = l.values[p.Name]
		}
		l.sheet.Params = append(l.sheet.Params, p)
	}
}

// refusalOf says why a parameter cannot have a value, "" where it can.
func (p *Param) refusalOf(v *strictjson.Value) string {
	want := map[string]strictjson.Kind{"number": strictjson.Number, "integer": strictjson.Number,
		"string": strictjson.String, "date": strictjson.String,
		"boolean": strictjson.Bool, "list": strictjson.Array, "table": strictjson.Object}[p.Type]
	if v.IsMissing() || v.Kind != want {
		return fmt.Sprintf("must be %s", withArticle(p.Type))
	}
	switch p.Type {
	case "number", "integer":
		return p.outOfBounds(v)
	case "date":
		if _, err := time.Parse(time.DateOnly, v.Text); err != nil {
			return "must be a date such as 2026-11-30"
		}
	case "list", "table":
		if len(v.Items)+len(v.Members) == 0 {
			return "is empty: a rule over it would decide nothing"
		}
	}
	for _, word := range append(v.Texts(), v.Text) {
		if len(p.Enum) > 0 && word != "" && !slices.Contains(p.Enum, word) {
			return fmt.Sprintf("must be one of %s, not %q", joinListed(p.Enum), clipText(word))
		}
	}
	return ""
}

func (p *Param) outOfBounds(v *strictjson.Value) string {
	n := v.Decimal()
	switch {
	case n == nil:
		return "is out of the range of numbers"
	case p.Type == "integer" && !n.IsInt():
		return "must be a whole number"
	case p.Min != nil && decimal.Cmp(n, p.Min) < 0:
		return fmt.Sprintf("must be at least %s, not %s", p.Min, n)
	case p.Max != nil && decimal.Cmp(n, p.Max) > 0:
		return fmt.Sprintf("must be at most %s, not %s", p.Max, n)
	}
	return ""
}

// paramNamed is the parameter of this name, or nil.
func (s *Sheet) paramNamed(name string) *Param {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	return nil
}

func (s *Sheet) paramNames() []string {
	out := make([]string, len(s.Params))
	for i, p := range s.Params {
		out[i] = p.Name
	}
	return out
}

// unsetParam names the first parameter that is required and has no value, nil where all have one.
func (s *Sheet) unsetParam() *Param {
	for i := range s.Params {
		if s.Params[i].Value == nil {
			return &s.Params[i]
		}
	}
	return nil
}

// WithParams is the sheet with these values of its parameters: what an audit is run by. The sheet itself, with its
// defaults, is what it was, and both have one identity (S54): a report holds the values beside it. The error is a
// *ParamError.
func (s *Sheet) WithParams(values map[string]*strictjson.Value) (*Sheet, error) {
	var key []byte
	for _, name := range namesOf(values) {
		p := s.paramNamed(name)
		if p == nil {
			return nil, s.noParam(name)
		}
		if why := p.refusalOf(values[name]); why != "" {
			return nil, &ParamError{fmt.Sprintf("parameter %q of %s %s", name, s.Slug, why), p.aboutText()}
		}
		key = appendText(appendText(key, name), string(canonicalJSON(values[name])))
	}
	for i := range s.Params {
		if p := &s.Params[i]; p.Required && values[p.Name] == nil {
			return nil, p.missingError(s.Slug)
		}
	}
	if len(values) == 0 {
		return s, nil
	}
	var failed error
	out := s.given.get(key, func() *Sheet {
		with, err := loadDocument(s.Doc, s.File, s.Origin, values)
		if failed = err; err == nil {
			with.Shadows = s.Shadows
		}
		return with
	})
	if out == nil && failed == nil { // it was refused before, and the memo kept that
		_, failed = loadDocument(s.Doc, s.File, s.Origin, values)
	}
	if out == nil {
		return nil, &ParamError{fmt.Sprintf("%s does not load with these parameters: %v", s.Slug, failed),
			"change a value, or the sheet"}
	}
	return out, nil
}

func (s *Sheet) noParam(name string) *ParamError {
	e := &ParamError{Message: fmt.Sprintf("%s has no parameter %q", s.Slug, clipText(name)), Hint: "it has none"}
	if near := nearest.Word(name, s.paramNames()); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(s.Params) > 0 {
		e.Hint = "it has " + strings.Join(s.paramNames(), ", ")
	}
	return e
}

func (p *Param) aboutText() string {
	return strings.TrimSpace(fmt.Sprintf("%s is %s: %s", p.Name, strings.TrimSuffix(withArticle(p.Type)+" in "+p.Unit,
		" in "), p.Title))
}

// missingError refuses an audit whose rulebook lacks a limit, with the line to add.
func (p *Param) missingError(slug string) *ParamError {
	sample := map[string]string{"number": "300", "integer": "8", "string": "word", "date": "2026-11-30",
		"boolean": "true", "list": "[a, b]", "table": "{a: 1}"}[p.Type]
	return &ParamError{fmt.Sprintf("%s needs the parameter %q (%s)", slug, p.Name, p.aboutText()),
		fmt.Sprintf("add it to the entry of runs in .github/referee.yml, params: {%s: %s}, or say --param %s=%s",
			p.Name, sample, p.Name, sample)}
}

// ParseParam reads a parameter's value as the command line gives it: JSON, or for a text or a date the bare word, and
// for a list words with commas between them.
func (p *Param) ParseParam(text string) (*strictjson.Value, error) {
	src := text
	switch {
	case (p.Type == "string" || p.Type == "date") && !strings.HasPrefix(text, `"`):
		src = string(appendString(nil, text))
	case p.Type == "list" && !strings.HasPrefix(text, "["):
		src = "[" + strings.Join(listItems(text), ",") + "]"
	}
	doc, err := strictjson.Parse([]byte(`{"value":`+src+`}`), strictjson.DocumentLimits)
	if err != nil || len(doc.Members) != 1 {
		return nil, &ParamError{fmt.Sprintf("parameter %q cannot be read from %q", p.Name, clipText(text)), p.aboutText()}
	}
	v := doc.Get("value")
	if why := p.refusalOf(v); why != "" {
		return nil, &ParamError{fmt.Sprintf("parameter %q %s", p.Name, why), p.aboutText()}
	}
	return v, nil
}

// listItems are the words of a list with commas, as JSON: a number stays one.
func listItems(text string) []string {
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if _, err := decimal.Parse(word); err == nil {
			out = append(out, word)
			continue
		}
		out = append(out, string(appendString(nil, word)))
	}
	return out
}

// Param is the sheet's parameter of this name; the error names the nearest one.
func (s *Sheet) Param(name string) (*Param, error) {
	if p := s.paramNamed(name); p != nil {
		return p, nil
	}
	return nil, s.noParam(name)
}

// paramValues are the values in force, in sheet order.
func (s *Sheet) paramValues() []ParamValue {
	var out []ParamValue
	for _, p := range s.Params {
		if p.Value != nil {
			out = append(out, ParamValue{Name: p.Name, Value: string(canonicalJSON(p.Value)), Unit: p.Unit})
		}
	}
	return out
}

func namesOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
