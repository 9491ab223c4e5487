package repo

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
)

// A citation is how a comment names a place in a document. What it names must be in this repository, for a reader to
// follow it.
var (
	citedFile    = regexp.MustCompile(`([A-Za-z0-9_./-]*\b[A-Za-z][A-Za-z-]*\.md)\b`)
	citedSection = regexp.MustCompile(`\b([a-z][a-z-]*\.md),?((?: (?:and )?[0-9]+(?:\.[0-9]+)*\b,?)+)`)
	citedHeading = regexp.MustCompile(`\b([a-z][a-z-]*\.md),? \(?((?:"[^"]+"(?:, )?)+)`)
	citedFact    = regexp.MustCompile(`\b[Ff]acts? ([0-9]+)`)
	citedClause  = regexp.MustCompile(`\bS[0-9]{1,3}[a-z]?\b`)
	sectionWord  = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)*`)
	quotedPhrase = regexp.MustCompile(`"([^"]+)"`)
)

// TestCitationsResolve: every document, numbered section, quoted heading, fact and clause that a Go comment cites is in
// docs/.
func TestCitationsResolve(t *testing.T) {
	d := documents{text: map[string]string{}}
	cited := 0
	for path := range goFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			cited += len(citedClause.FindAllString(text, -1))
			for _, problem := range d.unresolved(path, text) {
				t.Errorf("%s: %s", path, problem)
			}
		}
	}
	if cited < 100 {
		t.Errorf("only %d citations of clauses were found: does the test still read the comments?", cited)
	}
}

// TestUnresolvedCitations: the test above sees a citation that leads nowhere.
func TestUnresolvedCitations(t *testing.T) {
	d := documents{text: map[string]string{}}
	for comment, want := range map[string]int{
		"as rules.md 1.3 and 1.5 say":                        0,
		"as rules.md 9.9 says":                               1,
		"as rules.md 1.3 and 9.9 say":                        1,
		"nosuch.md has the table":                            1,
		`gate.md, "Who may sign off"`:                        0,
		`gate.md, "Who may cook"`:                            1,
		`gate.md ("Who may sign off", "Who may not at all")`: 1,
		"held by its content (fact 3)":                       0,
		"held by its content (fact 12)":                      1,
		"undecided is not pass (S51)":                        0,
		"undecided is not pass (S999)":                       1,
	} {
		if got := d.unresolved("gate/doc.go", comment); len(got) != want {
			t.Errorf("%q: %d problems %v, want %d", comment, len(got), got, want)
		}
	}
}

// documents are the texts of cited files, read once.
type documents struct{ text map[string]string }

// unresolved lists the citations of a comment that lead nowhere.
func (d documents) unresolved(path, comment string) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, m := range citedFile.FindAllStringSubmatch(comment, -1) {
		if d.find(path, m[1]) == "" {
			say("cites %s, which is neither in docs/ nor at that path", m[1])
		}
	}
	for _, m := range citedSection.FindAllStringSubmatch(comment, -1) {
		for _, number := range sectionWord.FindAllString(m[2], -1) {
			if !regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(number) + ` `).MatchString(d.find(path, m[1])) {
				say("cites section %s of %s, which has no heading of that number", number, m[1])
			}
		}
	}
	for _, m := range citedHeading.FindAllStringSubmatch(comment, -1) {
		for _, phrase := range quotedPhrase.FindAllStringSubmatch(m[2], -1) {
			if !strings.Contains(d.find(path, m[1]), phrase[1]) {
				say("cites %q of %s, which does not have these words", phrase[1], m[1])
			}
		}
	}
	for _, m := range citedFact.FindAllStringSubmatch(comment, -1) {
		if !strings.Contains(d.find(path, "gate.md"), "**Fact "+m[1]+":") {
			say("cites fact %s, which docs/gate.md does not have", m[1])
		}
	}
	for _, clause := range citedClause.FindAllString(comment, -1) {
		if !regexp.MustCompile(`(?m)^- \*\*` + clause + `\b`).MatchString(d.find(path, "semantics.md")) {
			say("cites %s, which docs/semantics.md does not have", clause)
		}
	}
	return out
}

// find is the text of a document that a comment in a file names: in docs/, at the root, beside the file, or by its
// path.
func (d documents) find(path, name string) string {
	for _, at := range []string{filepath.Join("docs", name), name, filepath.Join(filepath.Dir(path), name)} {
		text, known := d.text[at]
		if !known {
			src, err := os.ReadFile(at)
			if err != nil {
				src = nil // it is looked for at the next place
			}
			text = string(src)
			d.text[at] = text
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// TestFormatsNamesEveryKey: docs/formats.md has every key of run.json, of a flight sheet and of the configuration, and
// docs/rules.md every modifier of a check. The keys are read from the tables that the loaders themselves read.
func TestFormatsNamesEveryKey(t *testing.T) {
	manifest := keysIn(t, "referee", regexp.MustCompile(`(?s)var agentRecord = .*?\n}}\n`),
		regexp.MustCompile(`\{Name: "([a-z_]+)", Type:`))
	manifest = append(manifest, keysIn(t, "referee", regexp.MustCompile(`(?s)var runRecord = .*?\n}}\n`),
		regexp.MustCompile(`\{Name: "([a-z_]+)", Type:`))...)
	config := keysIn(t, "gate", regexp.MustCompile(`configKey\{"[a-z_]+"`), regexp.MustCompile(`"([a-z_]+)"`))
	var sheet map[string]any
	if err := json.Unmarshal(referee.SheetJSONSchema(), &sheet); err != nil {
		t.Fatal(err)
	}
	checks := sheet["$defs"].(map[string]any)
	delete(sheet, "$defs")
	for doc, keys := range map[string][]string{
		"docs/formats.md": slices.Concat(manifest, config, propertiesOf(sheet)),
		"docs/rules.md":   propertiesOf(checks["gate"]),
	} {
		src, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) < 10 {
			t.Errorf("%s: only %d keys were found in the code", doc, len(keys))
		}
		for _, key := range keys {
			if !strings.Contains(string(src), "`"+key+"`") && !strings.Contains(string(src), "`"+key+": ") {
				t.Errorf("%s does not name the key `%s`", doc, key)
			}
		}
	}
	if len(manifest) < 20 || len(config) < 30 {
		t.Errorf("%d keys of run.json and %d of the configuration were found in the code", len(manifest), len(config))
	}
}

// keysIn finds keys in the parts of a package's sources, and of the packages below it, that match.
func keysIn(t *testing.T, dir string, part, key *regexp.Regexp) []string {
	t.Helper()
	var out []string
	for path := range goFiles(t) {
		if !strings.HasPrefix(path, dir+"/") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range part.FindAllString(string(src), -1) {
			for _, m := range key.FindAllStringSubmatch(found, -1) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// propertiesOf are the names of all properties in a JSON Schema, at any depth.
func propertiesOf(schema any) []string {
	var out []string
	switch v := schema.(type) {
	case []any:
		for _, item := range v {
			out = append(out, propertiesOf(item)...)
		}
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		for name := range properties {
			out = append(out, name)
		}
		for name, item := range v {
			if _, values := item.([]any); !values || name == "anyOf" {
				out = append(out, propertiesOf(item)...)
			}
		}
	}
	return out
}

// TestRecipesAreInTheLibrary: what docs/rules.md 1.4 recommends is an expression of the sheet that it names.
func TestRecipesAreInTheLibrary(t *testing.T) {
	doc, err := os.ReadFile("docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "### 1.4 ")
	recipes, _, _ := strings.Cut(rest, "### 1.5 ")
	rows := regexp.MustCompile("(?m)^\\| [^|]+ \\| `(.+)` \\| `([a-z0-9-]+)` \\|$").FindAllStringSubmatch(recipes, -1)
	if len(rows) < 5 {
		t.Fatalf("only %d recipes were found", len(rows))
	}
	for _, row := range rows {
		sheet, err := os.ReadFile("flight_sheets/" + row[2] + ".json")
		if err != nil {
			t.Fatal(err)
		}
		expr, err := json.Marshal(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if raw := strings.NewReplacer(`\u003e`, ">", `\u003c`, "<", `\u0026`, "&").Replace(strings.Trim(string(expr),
			`"`)); !strings.Contains(string(sheet), raw) {
			t.Errorf("the sheet %s has no expression %s", row[2], row[1])
		}
	}
}

// namedPlace is a file of the architecture page with the names that it declares: `dir/file.go`: `Name`, `Other`.
var (
	namedPlace = regexp.MustCompile("`([a-z_0-9/]+\\.go)`((?:: |, )`[A-Za-z]+`(?:, `[A-Za-z]+`)*)?")
	namedFile  = regexp.MustCompile("`([a-z_0-9]+/[a-z_0-9/]*(?:\\.[a-z.]+)?)`")
	plainName  = regexp.MustCompile("`([A-Za-z]+)`")
)

// TestArchitectureNamesWhatIsThere: each folder, file and name of docs/architecture.md exists, and each package of the
// product has its line there.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	src, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(src)
	for _, m := range namedFile.FindAllStringSubmatch(doc, -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("docs/architecture.md names %s: %v", m[1], err)
		}
	}
	places := namedPlace.FindAllStringSubmatch(doc, -1)
	if len(places) < 30 {
		t.Errorf("only %d places were found in docs/architecture.md", len(places))
	}
	for _, m := range places {
		declared := declaredIn(t, m[1])
		for _, name := range plainName.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(declared, name[1]) {
				t.Errorf("docs/architecture.md looks for %s in %s, which does not declare it", name[1], m[1])
			}
		}
	}
	for _, p := range packages(t) {
		if room := p.ImportPath; room != "" && !under(room, "bench") && !under(room, "testdata") &&
			!strings.Contains(room, "test") &&
			!strings.Contains(doc, "\n| `"+room+"/` |") {
			t.Errorf("docs/architecture.md has no line for the package %s", room)
		}
	}
}

// declaredIn are the functions, methods, types, constants and variables of a file.
func declaredIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Errorf("docs/architecture.md names %s: %v", path, err)
		return nil
	}
	var out []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						out = append(out, name.Name)
					}
				}
			}
		}
	}
	return out
}

var testCommand = regexp.MustCompile(`go test \./([a-z_/]*)([^\n` + "`" + `#]*)`)

// TestContributingCommands: each `go test` of CONTRIBUTING.md names a package, a test of it, and a flag that its tests
// declare.
func TestContributingCommands(t *testing.T) {
	src, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := testCommand.FindAllStringSubmatch(string(src), -1)
	if len(commands) < 10 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	for _, m := range commands {
		tests := testSources(t, m[1])
		if m[1] == "" && strings.HasPrefix(m[2], "...") {
			continue
		}
		for _, named := range regexp.MustCompile(`-(?:run|fuzz) '?([A-Z][A-Za-z]*)`).FindAllStringSubmatch(m[2], -1) {
			if !regexp.MustCompile(`(?m)^func (?:Test|Fuzz)?` + named[1] + `|^func Test[A-Za-z]*` +
				named[1]).MatchString(tests) {
				t.Errorf("CONTRIBUTING.md: no test of ./%s is called %s", m[1], named[1])
			}
		}
		if strings.Contains(m[2], " -update") && !strings.Contains(tests, module+"/internal/golden") {
			t.Errorf("CONTRIBUTING.md: the tests of ./%s have no flag -update", m[1])
		}
	}
}

// testSources are a package's tests, joined.
func testSources(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(src)
	}
	return out.String()
}
