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
	f, err := os.Open(filepath.Join(contractFolder(), "graphql.txt"))
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

// conformsToSchema holds a query and its answer against the schema: every field that is asked for is one of its type,
// and the answer has it, of the form that the type has.
func conformsToSchema(query string, data any) error {
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
	return w.checkSelection("Query", data)
}

type walker struct {
	fields map[string]string
	tokens []string
}

func (w *walker) nextToken() string {
	if len(w.tokens) == 0 {
		return ""
	}
	t := w.tokens[0]
	w.tokens = w.tokens[1:]
	return t
}

// checkSelection reads the fields up to the closing brace. data is nil where the answer is null.
func (w *walker) checkSelection(of string, data any) error {
	have, _ := data.(map[string]any)
	for {
		name := w.nextToken()
		switch {
		case name == "}":
			return nil
		case name == "":
			return fmt.Errorf("the query ends within %s", of)
		case strings.HasPrefix(name, "("):
			return fmt.Errorf("arguments of no field in %s", of)
		case name == "...":
			if err := w.checkFragment(of, have); err != nil {
				return err
			}
			continue
		}
		key, alias := strings.CutSuffix(name, ":")
		if alias {
			name = w.nextToken()
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
			if err := w.checkConstants(w.nextToken()); err != nil {
				return err
			}
		}
		if err := w.checkValue(of+"."+name, typed, value); err != nil {
			return err
		}
	}
}

// checkFragment reads "... on Type {…}" of a union; the fields are held to the answer where it is of that type.
func (w *walker) checkFragment(of string, have map[string]any) error {
	on, member, brace := w.nextToken(), w.nextToken(), w.nextToken()
	if on != "on" || brace != "{" {
		return fmt.Errorf("a fragment of %s is no inline fragment with a type", of)
	}
	if w.fields[of+" "+member] == "" {
		return fmt.Errorf("GitHub's schema, as far as it is held, has no %s in %s", member, of)
	}
	if have == nil {
		return w.checkSelection(member, nil)
	}
	is, _ := have["__typename"].(string)
	if w.fields[of+" "+is] == "" {
		return fmt.Errorf("the answer has a %q in %s", is, of)
	}
	if is != member {
		return w.checkSelection(member, nil)
	}
	return w.checkSelection(member, have)
}

// checkConstants holds the values of enumerations among arguments to the schema.
func (w *walker) checkConstants(arguments string) error {
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

// checkValue holds one value to its type: an object or a list of objects where a selection follows, and a scalar
// otherwise.
func (w *walker) checkValue(name, typed string, value any) error {
	bare := strings.Trim(typed, "[]!")
	if len(w.tokens) == 0 || w.tokens[0] != "{" {
		if value != nil && !isScalarOf(bare, value) {
			return fmt.Errorf("%s is %v, and is %s", name, value, typed)
		}
		return nil
	}
	w.nextToken()
	list, isList := value.([]any)
	if isList != strings.HasPrefix(typed, "[") && value != nil {
		return fmt.Errorf("%s is %T, and is %s", name, value, typed)
	}
	if !isList {
		return w.checkSelection(bare, value)
	}
	again := w.tokens
	for _, item := range list {
		w.tokens = again
		if err := w.checkSelection(bare, item); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return w.checkSelection(bare, nil)
	}
	return nil
}

// isScalarOf reports whether a value has the form of its type. Ids, times and big numbers are texts.
func isScalarOf(typed string, value any) (is bool) {
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
