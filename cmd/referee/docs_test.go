package main

//go:generate go test . -run ^(TestRulesDocument|TestCommandReference)$ -update

import (
	"bytes"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/golden"
	"github.com/defendableos/referee/internal/strictjson"
)

func parseJSON(t *testing.T, src []byte) *strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// docs/rules.md is what `referee rules --format markdown` prints.
func TestRulesDocument(t *testing.T) {
	golden.Compare(t, "../../docs/rules.md", []byte(rulesMarkdown(registryEntries())))
}

// docs/commands.md is what `referee docs commands` prints.
func TestCommandReference(t *testing.T) {
	golden.Compare(t, "../../docs/commands.md", []byte(commandReference(allCommands())))
}

// Every command has a short line, help of at most 80 columns, and an example that begins with its own name.
func TestEveryCommandHelps(t *testing.T) {
	for _, c := range allCommands() {
		var out bytes.Buffer
		a := &app{stdout: &out}
		if err := a.printHelp(c); err != nil {
			t.Fatal(err)
		}
		if c.short == "" || strings.HasSuffix(c.short, ".") {
			t.Errorf("%s: the short line %q", c.name, c.short)
		}
		if !strings.Contains(strings.Join(c.examples, "\n"), "referee "+c.name) {
			t.Errorf("%s has no example of itself", c.name)
		}
		for line := range strings.Lines(out.String()) {
			example := strings.HasPrefix(line, "  referee ") || strings.HasPrefix(line, "  cat ")
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && !example {
				t.Errorf("%s: %d columns: %s", c.name, n, line)
			}
		}
		if group, _, ok := strings.Cut(c.name, " "); ok && groups[group] == "" {
			t.Errorf("the group %s of %s has no line in groups", group, c.name)
		}
	}
}
