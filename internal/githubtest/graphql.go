package githubtest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// schema are the fields of GitHub's public GraphQL schema that the gate asks for, each with its type
// ("PullRequest.state": "PullRequestState!"), and the members of unions and values of enumerations ("PullRequestState
// OPEN": "value").
var schema = sync.OnceValues(func() (map[string]string, error) {
	f, err := os.Open(filepath.Join(folder(), "graphql.txt"))
	if err != nil {
		return nil, fmt.Errorf("GitHub's GraphQL schema: %w", err)
	}
	defer f.Close()
	fields := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, of, ok := strings.Cut(lines.Text(), ": "); ok {
			fields[name] = of
		}
	}
	return fields, lines.Err()
})

var token = regexp.MustCompile(`[{}]|\.\.\.|\([^)]*\)|[A-Za-z_]\w*:?`) // an alias ends with a colon

// constant is a value of an enumeration among arguments.
var constant = regexp.MustCompile(`\b[A-Z][A-Z_]+\b`)

// conforms holds a query and its answer against the schema: every field that is asked for is one of its type, and the
// answer has it, of the form that the type has.
func conforms(query string, data any) error {
	fields, err := schema()
	if err != nil {
		return err
	}
	_, body, ok := strings.Cut(query, "{")
	if !ok {
		return fmt.Errorf("no selection in %q", query)
	}
	tokens := token.FindAllString(body, -1)
	w := &walker{fields: fields, tokens: tokens}
	return w.selection("Query", data)
}

type walker struct {
	fields map[string]string
	tokens []string
}

func (w *walker) next() string {
	if len(w.tokens) == 0 {
		return ""
	}
	t := w.tokens[0]
	w.tokens = w.tokens[1:]
	return t
}

// selection reads the fields up to the closing brace. data is nil where the answer is null.
func (w *walker) selection(of string, data any) error {
	have, _ := data.(map[string]any)
	for {
		name := w.next()
		switch {
		case name == "}":
			return nil
		case name == "":
			return fmt.Errorf("the query ends within %s", of)
		case strings.HasPrefix(name, "("):
			return fmt.Errorf("arguments of no field in %s", of)
		case name == "...":
			if err := w.fragment(of, have); err != nil {
				return err
			}
			continue
		}
		key, alias := strings.CutSuffix(name, ":")
		if alias {
			name = w.next()
		}
		typed, ok := w.fields[of+"."+name]
		if name == "__typename" { // every type has it
			typed, ok = "String!", true
		}
		if !ok {
			return fmt.Errorf("GitHub's schema, as far as it is held, has no field %s.%s", of, name)
		}
		value, there := have[key]
		if have != nil && !there {
			return fmt.Errorf("the answer has no %s.%s", of, name)
		}
		if have != nil && value == nil && strings.HasSuffix(typed, "!") {
			return fmt.Errorf("%s.%s is null, and is %s", of, name, typed)
		}
		if len(w.tokens) > 0 && strings.HasPrefix(w.tokens[0], "(") {
			if err := w.constants(w.next()); err != nil {
				return err
			}
		}
		if err := w.value(of+"."+name, typed, value); err != nil {
			return err
		}
	}
}

// fragment reads "... on Type {…}" of a union; the fields are held to the answer where it is of that type.
func (w *walker) fragment(of string, have map[string]any) error {
	on, member, brace := w.next(), w.next(), w.next()
	if on != "on" || brace != "{" {
		return fmt.Errorf("a fragment of %s is no inline fragment with a type", of)
	}
	if w.fields[of+" "+member] == "" {
		return fmt.Errorf("GitHub's schema, as far as it is held, has no %s in %s", member, of)
	}
	if have == nil {
		return w.selection(member, nil)
	}
	is, _ := have["__typename"].(string)
	if w.fields[of+" "+is] == "" {
		return fmt.Errorf("the answer has a %q in %s", is, of)
	}
	if is != member {
		return w.selection(member, nil)
	}
	return w.selection(member, have)
}

// constants holds the values of enumerations among arguments to the schema.
func (w *walker) constants(arguments string) error {
	for _, value := range constant.FindAllString(arguments, -1) {
		known := false
		for name, what := range w.fields {
			known = known || what == "value" && strings.HasSuffix(name, " "+value)
		}
		if !known {
			return fmt.Errorf("GitHub's schema, as far as it is held, has no value %s", value)
		}
	}
	return nil
}

// value holds one value to its type: an object or a list of objects where a selection follows, and a scalar otherwise.
func (w *walker) value(name, typed string, value any) error {
	bare := strings.Trim(typed, "[]!")
	if len(w.tokens) == 0 || w.tokens[0] != "{" {
		if value != nil && !scalar(bare, value) {
			return fmt.Errorf("%s is %v, and is %s", name, value, typed)
		}
		return nil
	}
	w.next()
	list, isList := value.([]any)
	if isList != strings.HasPrefix(typed, "[") && value != nil {
		return fmt.Errorf("%s is %T, and is %s", name, value, typed)
	}
	if !isList {
		return w.selection(bare, value)
	}
	again := w.tokens
	for _, item := range list {
		w.tokens = again
		if err := w.selection(bare, item); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return w.selection(bare, nil)
	}
	return nil
}

// scalar reports whether a value has the form of its type. Ids, times and big numbers are texts.
func scalar(typed string, value any) (is bool) {
	switch typed {
	case "Boolean":
		_, is = value.(bool)
	case "Int":
		_, is = value.(float64)
	default:
		_, is = value.(string)
	}
	return is
}
