package referee_test

import (
	"io/fs"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/schema"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// compiled is a schema that the product prints, held by the library that a user's editor would use.
func compiled(t *testing.T, src []byte) *schema.Schema {
	t.Helper()
	s, err := schema.Compile("schema", parsed(t, src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parsed(t *testing.T, src []byte) *strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The editor's schema accepts what the loader accepts: every sheet of the library.
func TestSheetSchemaAcceptsLibrary(t *testing.T) {
	s := compiled(t, referee.SheetJSONSchema())
	names, err := fs.Glob(flightsheets.FS(), "*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no sheet in the library: %v", err)
	}
	for _, name := range names {
		src, err := fs.ReadFile(flightsheets.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, leaf := range s.Validate(parsed(t, src)) {
			t.Errorf("%s%s: %s", name, leaf.Pointer, leaf.Message)
		}
	}
}

// The editor's schema refuses what the loader refuses as misspelt, one word at a time.
func TestSheetSchemaRefusesMisspelt(t *testing.T) {
	const good = `{"slug":"a-sheet","name":"A","version":"1.0.0","lane":"agent","consts":{"C":{"value":1,"source":"s",
		"status":"policy"}},
		"eval_spec":{"math_checks":[{"formula_id":"x","formula":"1+1"}],"deterministic_checks":["json_valid",
		{"check":"required","paths":["a"]}],
		"rules":[{"id":"r","expr":"x >= 1","tier":"high"},{"check":"for_each","id":"f","over":"rows","each":"x > 0"}]}}`
	s := compiled(t, referee.SheetJSONSchema())
	if leaves := s.Validate(parsed(t, []byte(good))); len(leaves) > 0 {
		t.Fatalf("the well-spelt sheet is refused: %+v", leaves)
	}
	for _, c := range []struct{ right, wrong string }{
		{`"eval_spec"`, `"eval_specs"`}, {`"version"`, `"versoin"`}, {`"lane":"agent"`, `"lane":"agents"`},
		{`"formula_id"`, `"formulaid"`},
		{`"json_valid"`, `"json_vaild"`}, {`"check":"required"`, `"check":"requird"`}, {`"paths"`, `"path"`},
		{`"expr"`, `"exp"`},
		{`"tier":"high"`, `"tier":"hihg"`}, {`"each"`, `"eech"`}, {`"status":"policy"`, `"status":"polcy"`},
		{`"math_checks"`, `"mathchecks"`},
	} {
		if bad := strings.Replace(good, c.right, c.wrong, 1); len(s.Validate(parsed(t, []byte(bad)))) == 0 {
			t.Errorf("%s for %s is accepted", c.wrong, c.right)
		}
	}
}

// What an agent is told to hand in accepts the sheet's own worked example and refuses a string for a number.
func TestSubmissionSchema(t *testing.T) {
	sheet, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find("cre-multifamily-agency")
	if err != nil {
		t.Fatal(err)
	}
	s := compiled(t, sheet.SubmissionSchema())
	example := sheet.Doc.At("/examples/0/submission")
	if leaves := s.Validate(example); len(leaves) > 0 {
		t.Errorf("the worked example is refused: %+v", leaves)
	}
	for _, bad := range []string{`{}`, `{"inputs":{"noi":"920000"}}`} {
		if len(s.Validate(parsed(t, []byte(bad)))) == 0 {
			t.Errorf("%s is accepted", bad)
		}
	}
}
