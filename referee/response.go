package referee

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// This file reads a model's raw answer: a sheet whose submission is the record of a call ({id, question, response,
// model, timestamp}) says in "response" which member holds the text and what the parsed answer is called. The answer is
// then read like any other member of the submission, so that one set of rules judges the raw record and the answer as
// such.

// responseSpec is what a sheet says of the raw answer.
type responseSpec struct {
	pointer string   // of the member with the text
	as      string   // the member that the parsed answer becomes
	fields  []string // the numbers that each state of the answer has
	steps   int64    // states of a series; 0: the answer is one state
}

var responseRecord = &record{Name: "response", Fields: []field{
	{Name: "path", Type: "string", Doc: "path of the member that holds the model's raw answer as text", Required: true},
	{Name: "as", Type: "string", Doc: "name under which the rules read the parsed answer; a submission may state " +
		"that member itself instead", Required: true},
	{Name: "fields", Type: "strings", Doc: "members of the answer, each a number: completeness and types are " +
		"counted over them", Required: true},
	{Name: "steps", Type: "number", Doc: "the answer is a series of so many states: an array of so many numbers a " +
		"field, or so many objects under the name of `as`"},
}}

// maxSteps bounds a series: more is no answer that a rule would look at.
const maxSteps = 1000

func (l *loader) loadResponse() {
	v := l.sheet.Doc.Get("response")
	if v == nil {
		return
	}
	spec := &responseSpec{as: v.TextOf("as"), fields: v.Get("fields").Texts()}
	pointer, err := parsePath(v.TextOf("path"))
	switch {
	case err != nil:
		l.problems.addProblem(v.Get("path"), "path", "response: %v", err)
	case pointer == "" || pointer[0] != '/' || strings.Contains(pointer+"/", "/*/"):
		l.problems.addProblem(v.Get("path"), "path", "response: path %q must name one member of the submission",
			v.TextOf("path"))
	}
	spec.pointer = pointer
	reserved := slices.ContainsFunc(canonicalKeys,
		func(k struct{ name, kind string }) bool { return k.name == spec.as })
	if !isIdentifier(spec.as) || reserved || spec.as == "inputs" || strings.HasPrefix(pointer+"/", "/"+spec.as+"/") {
		l.problems.addProblem(v.Get("as"), "response", "as %q must be a plain name of its own, not one of the canonical "+
			"submission and not that of the raw answer", spec.as)
	}
	if len(spec.fields) == 0 {
		l.problems.addProblem(v.Get("fields"), "missing_key", "response needs fields: an answer of nothing would be complete")
	}
	if n := v.Get("steps"); n != nil {
		steps, ok := n.Int()
		if spec.steps = steps; !ok || steps < 2 || steps > maxSteps {
			l.problems.addProblem(n, "response", "steps must be a whole number from 2 to %d", maxSteps)
		}
	}
	l.sheet.response = spec
	l.addImplicit("response", "The raw answer is one JSON object with every field", StageStructure, runResponse)
}

// rawAnswer is what became of the raw answer of one submission.
type rawAnswer struct {
	at      *strictjson.Value // the member that holds it; nil: the submission has none
	grafted int               // offset from which values of the document come out of it; 0: none does
	notes   []string
	shapes  []string // members of a series that are no array of values
	err     error    // why it cannot be read
}

// readResponse parses the raw answer and reads the document anew with it as its last member. What cannot be read is
// left out: rules over it skip, and the rule "response" says why.
func (a *audit) readResponse() {
	spec := a.Sheet.response
	if spec == nil || a.doc == nil {
		return
	}
	if a.answer.at = a.doc.At(spec.pointer); a.answer.at == nil {
		return
	}
	raw, ok := a.answer.at.Str()
	switch {
	case !ok:
		a.answer.err = errors.New("the raw answer must be a text, as the model wrote it")
	case a.doc.Get(spec.as) != nil:
		a.answer.err = fmt.Errorf("the submission states %q beside the raw answer: which of them did the model say?",
			spec.as)
	default:
		var answer parsedAnswer
		if answer, a.answer.err = spec.parseAnswer(raw, a.Sheet.Slug); a.answer.err == nil {
			a.answer.notes, a.answer.shapes = answer.notes, answer.shapes
			a.answer.err = a.graftMember(spec.as, answer.text)
		}
	}
}

// graftMember reads the document with one more member at its end.
func (a *audit) graftMember(name, value string) error {
	end := a.doc.End - 1
	src := string(a.Bytes[:end]) + "," + string(appendString(nil, name)) + ":" + value + "}"
	lim := strictjson.SubmissionLimits
	lim.MaxBytes *= 3 // the answer stands in it twice
	doc, err := strictjson.Parse([]byte(src), lim)
	if err != nil {
		return fmt.Errorf("the raw answer cannot be read within the submission: %w", err)
	}
	a.doc, a.answer.grafted = doc, end
	a.answer.at = doc.At(a.Sheet.response.pointer)
	return nil
}

// parsedAnswer is a raw answer that can be read.
type parsedAnswer struct {
	text   string   // the JSON text of the member `as`
	notes  []string // how it was written
	shapes []string // members of a series that are no array of values
}

// parseAnswer reads the raw answer strictly and returns it as the JSON text of the member `as`. One fence around the
// whole answer may stand; prose may not, because whoever cuts it off chooses what the model has said.
func (spec *responseSpec) parseAnswer(raw, slug string) (out parsedAnswer, err error) {
	body, start, fenced, err := stripCodeFence(raw)
	if err != nil {
		return out, err
	}
	lim := strictjson.SubmissionLimits
	lim.MaxDepth--
	root, err := strictjson.Parse([]byte(body), lim)
	if err != nil {
		return out, inResponse(raw, start, err)
	}
	if out, err = spec.answerMember(root, body, slug); fenced {
		out.notes = []string{"the raw answer stood in a code fence"}
	}
	return out, err
}

// stripCodeFence finds the JSON within the raw answer: all of it, or what one ``` or ```json fence around all of it
// holds.
func stripCodeFence(raw string) (body string, start int, fenced bool, err error) {
	trimmed := strings.TrimLeft(raw, " \t\r\n")
	start = len(raw) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, " \t\r\n")
	if !strings.HasPrefix(trimmed, "```") {
		return trimmed, start, false, proseBefore(raw, trimmed, start)
	}
	head, rest, _ := strings.Cut(trimmed, "\n")
	if lang := strings.TrimSpace(head[3:]); lang != "" && !strings.EqualFold(lang, "json") {
		return "", 0, false, fmt.Errorf("%s of the raw answer: the code fence is marked %q; only json may stand there",
			placeIn(raw, start), clipText(lang))
	}
	body, ok := strings.CutSuffix(rest, "```")
	if !ok {
		return "", 0, false, fmt.Errorf("%s of the raw answer: the code fence is not closed at the end of the answer",
			placeIn(raw, start))
	}
	return body, start + len(head) + 1, true, nil
}

// proseBefore refuses words before the object, which the JSON reader would call a wrong letter.
func proseBefore(raw, body string, start int) error {
	if i := strings.IndexByte(body, '{'); i > 0 && body[0] != '[' && body[0] != '"' {
		return fmt.Errorf("%s of the raw answer: prose stands before the JSON object: %q", placeIn(raw, start),
			clipText(strings.TrimSpace(body[:i])))
	}
	return nil
}

// inResponse says where in the raw answer its reader stopped.
func inResponse(raw string, start int, err error) error {
	var refused *strictjson.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("the raw answer cannot be read: %w", err)
	}
	what := refused.Message
	if refused.Code == "trailing_data" {
		what = "something stands after the JSON object (" + what + ")"
	}
	return fmt.Errorf("%s of the raw answer: %s", placeIn(raw, start+refused.Pos.Offset), what)
}

// placeIn counts lines and columns from 1, columns in code points.
func placeIn(src string, offset int) string {
	before := src[:min(offset, len(src))]
	line := strings.Count(before, "\n") + 1
	col := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return fmt.Sprintf("line %d, column %d", line, col)
}

// answerMember is the member `as` as JSON: the object itself, the member of that name where the model wrapped its
// answer as the submission does, or the states of a series that is written as one array a field.
func (spec *responseSpec) answerMember(root *strictjson.Value, body, slug string) (out parsedAnswer, err error) {
	inner := root.Get(spec.as)
	if inner == nil {
		if spec.steps > 0 {
			return spec.statesOf(root, body)
		}
		return parsedAnswer{text: body}, nil
	}
	for _, m := range root.Members {
		if m.Key != spec.as && m.Key != "assignment_id" && m.Key != "sample_id" {
			return out, fmt.Errorf("the raw answer has the member %q beside %q", clipText(m.Key), spec.as)
		}
	}
	if id := root.Get("assignment_id"); id != nil && id.Text != slug {
		return out, fmt.Errorf("the raw answer is to the assignment %q; this sheet is %q", clipText(id.Text), slug)
	}
	return parsedAnswer{text: string(inner.Source([]byte(body)))}, nil
}

// statesOf turns one array a field into one object a step. Arrays of another length than asked for are read as far as
// they go: a second that is missing, or one too many, is a fault of the answer and not of its JSON (fidelity 003 #140).
func (spec *responseSpec) statesOf(root *strictjson.Value, body string) (out parsedAnswer, err error) {
	var rows []*strings.Builder
	for _, m := range root.Members {
		if m.Value.Kind != strictjson.Array {
			out.shapes = append(out.shapes, m.Key)
			continue
		}
		if len(m.Value.Items) > maxSteps {
			return out, fmt.Errorf("the raw answer's %q has %d values; at most %d are read", clipText(m.Key),
				len(m.Value.Items), maxSteps)
		}
		for step, v := range m.Value.Items {
			if step == len(rows) {
				rows = append(rows, &strings.Builder{})
			}
			if rows[step].Len() > 0 {
				rows[step].WriteByte(',')
			}
			rows[step].Write(appendString(nil, m.Key))
			rows[step].WriteByte(':')
			rows[step].Write(v.Source([]byte(body)))
		}
	}
	states := make([]string, len(rows))
	for i, row := range rows {
		states[i] = "{" + row.String() + "}"
	}
	out.text = "[" + strings.Join(states, ",") + "]"
	return out, nil
}

// runResponse: the raw answer can be read, has every field, and every field is a number.
func runResponse(a *audit, r *Rule) outcome {
	spec, before := a.Sheet.response, a.raised
	if a.answer.err == nil && a.answer.at == nil && a.doc.Get(spec.as) == nil {
		a.answer.err = fmt.Errorf("the submission has neither a raw answer at %s nor the member %q", spec.pointer,
			spec.as)
	}
	if err := a.answer.err; err != nil {
		id := a.addAtom("protocol.parsed", "", false, "critical", "sample", err.Error())
		a.addFinding(r, Finding{Code: "protocol.response_unreadable", Pointer: spec.pointer, Atoms: []string{id},
			Message: err.Error(),
			Fix:     &Fix{Text: "answer with one JSON object and nothing around it"}})
		return flagged
	}
	a.addAtom("protocol.parsed", "", true, "info", "sample", "one JSON object")
	c := a.countFields()
	id := a.addAtom("protocol.field_completeness", "", c.absent == nil, "critical", "sample", c.completenessText())
	for _, pointer := range c.absent[:min(len(c.absent), 10)] {
		a.addFinding(r, Finding{Code: "structure.missing", Pointer: pointer, Atoms: []string{id}, Message: pointer +
			" is missing or empty", Fix: &Fix{Text: "state it as a JSON number"}})
	}
	id = a.addAtom("protocol.type_validation", "", c.mistyped == nil, "critical", "sample",
		strconv.Itoa(len(c.mistyped))+" fields that are no number")
	for _, v := range c.mistyped[:min(len(c.mistyped), 10)] {
		a.addFinding(r, Finding{Code: "math.not_a_number", Pointer: v.Pointer(), Atoms: []string{id},
			Message: notNumberText(v), Fix: &Fix{Text: "state it as a JSON number"}})
	}
	a.flagSeries(r)
	out := flaggedSince(a, before)
	out.notes = append(out.notes, a.answer.notes...)
	return out
}

// flagSeries flags a series of another length than asked for, and members of it that are no array.
func (a *audit) flagSeries(r *Rule) {
	spec := a.Sheet.response
	if spec.steps == 0 {
		return
	}
	pointer := "/" + spec.as
	if n := len(a.doc.Get(spec.as).Elements()); n != int(spec.steps) {
		text := fmt.Sprintf("the answer has %s; %d are asked for", legible.Count(n, "state"), spec.steps)
		id := a.addAtom("protocol.answer_length", "", false, "critical", "sample", text)
		a.addFinding(r, Finding{Code: "protocol.answer_length", Pointer: pointer, Atoms: []string{id}, Message: text,
			Fix: &Fix{Text: fmt.Sprintf("state %d values a field, one a step", spec.steps)}})
	}
	for _, name := range a.answer.shapes[:min(len(a.answer.shapes), 10)] {
		text := fmt.Sprintf("%q of the raw answer is one value; it must be an array of %d, one a step", clipText(name),
			spec.steps)
		id := a.addAtom("protocol.type_validation", name, false, "critical", "field", text)
		a.addFinding(r, Finding{Code: "protocol.answer_shape", Pointer: pointer, Atoms: []string{id}, Message: text,
			Fix: &Fix{Text: "write the values of the field as an array"}})
	}
}

// notNumberText says what stands where a number should.
func notNumberText(v *strictjson.Value) string {
	return fmt.Sprintf("%s is not a number: %s", v.Name(), clipText(string(canonicalJSON(v))))
}

// fieldCount is how many of the answer's fields are there and are numbers.
type fieldCount struct {
	need     int
	absent   []string // pointers
	mistyped []*strictjson.Value
	noObject bool // a state is there and is no object, so that it can have no fields
}

func (c fieldCount) completenessText() string {
	return strconv.Itoa(c.need-len(c.absent)) + "/" + strconv.Itoa(c.need)
}

// countFields looks for every declared field in every state.
func (a *audit) countFields() fieldCount {
	spec := a.Sheet.response
	var c fieldCount
	if spec.steps == 0 {
		c.countState(a.doc.Get(spec.as), "/"+spec.as, spec.fields)
		return c
	}
	states := a.doc.Get(spec.as).Elements()
	// what is beyond the series that was asked for is complete or not on nobody's account: flagSeries flags it
	for i := range int(spec.steps) {
		var state *strictjson.Value
		if i < len(states) {
			state = states[i]
		}
		c.countState(state, strictjson.JoinIndex("/"+spec.as, i), spec.fields)
	}
	return c
}

func (c *fieldCount) countState(state *strictjson.Value, pointer string, fields []string) {
	c.noObject = c.noObject || state != nil && state.Kind != strictjson.Object
	for _, name := range fields {
		v := state.Get(name)
		c.need++
		switch {
		case v == nil || v.Kind == strictjson.Null:
			c.absent = append(c.absent, strictjson.JoinPointer(pointer, name))
		case v.Decimal() == nil:
			c.mistyped = append(c.mistyped, v)
		}
	}
}
