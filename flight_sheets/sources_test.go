package flightsheets_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
)

// TestSourcesInStep holds docs/sources.md to the sheets: every constant, and every parameter that has a default, has
// one row with its value and its source, and says how it was checked; no row speaks of a constant that is none.
func TestSourcesInStep(t *testing.T) {
	src, err := os.ReadFile("../docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(src)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 6 || !strings.HasPrefix(cells[2], "`") {
			continue
		}
		key := strings.TrimSpace(cells[0]) + "." + cells[1]
		if rows[key] != nil {
			t.Errorf("%s has two rows", key)
		}
		rows[key] = cells[2:]
	}
	for _, slug := range flightsheets.Names() {
		for name, c := range constants(t, slug) {
			key := slug + "." + name
			row := rows[key]
			delete(rows, key)
			switch {
			case row == nil:
				t.Errorf("%s: add a row to docs/sources.md, with the source and how it was checked", key)
			case !saysValue(strings.Trim(row[0], "`"), c.Value):
				t.Errorf("%s: docs/sources.md says %s, the sheet %v: check the source again", key, row[0], c.Value)
			case strings.ReplaceAll(row[1], `\|`, "|") != c.Source:
				t.Errorf("%s: docs/sources.md names the source %q, the sheet %q", key, row[1], c.Source)
			case strings.TrimSpace(row[2]) == "" || strings.TrimSpace(row[3]) == "":
				t.Errorf("%s: docs/sources.md does not say how it was checked", key)
			}
		}
	}
	for key := range rows {
		t.Errorf("%s: docs/sources.md has a row, no sheet has the constant or the default", key)
	}
}

type constant struct {
	Value  any
	Source string
}

func constants(t *testing.T, slug string) map[string]constant {
	t.Helper()
	src, _ := flightsheets.Read(slug)
	var sheet struct {
		Consts map[string]constant
		Params map[string]struct {
			Default any
			Source  string
		}
	}
	if err := json.Unmarshal(src, &sheet); err != nil {
		t.Fatalf("%s: %v", slug, err)
	}
	out := map[string]constant{}
	maps.Copy(out, sheet.Consts)
	for name, p := range sheet.Params {
		if p.Default != nil {
			out["param "+name] = constant{p.Default, p.Source}
		}
	}
	return out
}

// saysValue compares a cell with a value: JSON, or the number of its items or members where it is long.
func saysValue(cell string, value any) bool {
	switch v := value.(type) {
	case []any:
		if cell == fmt.Sprintf("%d items", len(v)) {
			return true
		}
	case map[string]any:
		if cell == fmt.Sprintf("%d members", len(v)) {
			return true
		}
	}
	var said any
	return json.Unmarshal([]byte(cell), &said) == nil && reflect.DeepEqual(said, value)
}
