package referee

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/strictjson"
)

// pathStep is one part of a dotted path with its subscripts: claims[0], rows[*].
var pathStep = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^.\[\]]+)((?:\[(?:\d+|\*)\])*)$`) })

// parsePath turns a dotted path or a JSON Pointer into a JSON Pointer (S28). A path with [*] gives a pointer with "*"
// tokens, which selectPath understands.
func parsePath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if strings.HasPrefix(path, "/") {
		return path, nil
	}
	if strings.HasPrefix(path, "$evidence.") {
		return path, nil
	}
	var b strings.Builder
	for step := range strings.SplitSeq(path, ".") {
		m := pathStep().FindStringSubmatch(step)
		if m == nil {
			return "", fmt.Errorf("path %q: %q is not a name with subscripts such as claims[0] or rows[*]", path, step)
		}
		b.WriteString(strictjson.JoinPointer("", m[1]))
		for sub := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return r == '[' || r == ']' }) {
			b.WriteString("/" + sub)
		}
	}
	return b.String(), nil
}

// selected is one place that a path names. Value is nil where nothing stands.
type selected struct {
	Pointer string
	Value   *strictjson.Value
}

// selectPath lists the places that a path names: one, or one for every item where it holds [*]. A path through
// something that is absent names the place where it breaks off, so that what is missing can be said.
func selectPath(root *strictjson.Value, path string) []selected {
	pointer, err := parsePath(path)
	if err != nil {
		return nil
	}
	places := []selected{{"", root}}
	if pointer == "" {
		return places
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		var next []selected
		for _, p := range places {
			next = append(next, p.stepInto(token)...)
		}
		places = next
	}
	return places
}

func (p selected) stepInto(token string) []selected {
	if token != "*" {
		pointer := p.Pointer + "/" + token
		return []selected{{pointer, p.Value.Step(token)}}
	}
	if p.Value == nil || p.Value.Kind != strictjson.Array {
		return []selected{{p.Pointer + "/*", nil}}
	}
	out := make([]selected, len(p.Value.Items))
	for i, item := range p.Value.Items {
		out[i] = selected{strictjson.JoinIndex(p.Pointer, i), item}
	}
	return out
}
