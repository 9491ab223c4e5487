package forge

import (
	"bytes"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

func TestFormat(t *testing.T) {
	const src = `{"name":"N","x-note":1,"slug":"s","lane":"dataset", "version":"1.0.0",
	"consts":{"B":{"source":"t","value":0.80},"A":{"status":"general","value":1,"source":"t"}},
	"eval_spec":{"rules":[{"why":"w","expr":{"right":1,"op":">=","left":{"literal":2}},"warn":3,"id":"r"},"json_valid"],
	"deterministic_checks":[]},"examples":[{"submission":{"z":1,"a":"\u00e9\n"}}]}`
	// Ordered by hand after sheetRecord: constants and submissions keep their author's order, a check its id before its
	// condition.
	const want = `{
  "slug": "s",
  "name": "N",
  "version": "1.0.0",
  "lane": "dataset",
  "eval_spec": {
    "deterministic_checks": [],
    "rules": [
      {"id": "r", "expr": {"right": 1, "op": ">=", "left": {"literal": 2}}, "warn": 3, "why": "w"},
      "json_valid"
    ]
  },
  "consts": {"B": {"value": 0.80, "source": "t"}, "A": {"value": 1, "source": "t", "status": "general"}},
  "examples": [{"submission": {"z": 1, "a": "é\n"}}],
  "x-note": 1
}
`
	got, err := Format([]byte(src))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := Format([]byte(`{"a":1,"a":2}`)); err == nil {
		t.Error("a duplicate key is formatted")
	}
}

// TestFormatWidth: a line of 120 bytes is kept, one of 121 is spread.
func TestFormatWidth(t *testing.T) {
	for _, c := range []struct{ pad, lines int }{{120 - len(`  "k": ["", 1]`), 3}, {121 - len(`  "k": ["", 1]`), 6}} {
		got, err := Format([]byte(`{"k":["` + strings.Repeat("x", c.pad) + `",1]}`))
		if err != nil || bytes.Count(got, []byte("\n")) != c.lines {
			t.Errorf("%v\n%s\nwant %d lines", err, got, c.lines)
		}
	}
}

// FuzzFormat: formatting is idempotent, and a sheet keeps its canonical bytes (S54).
func FuzzFormat(f *testing.F) {
	f.Add([]byte(`{"b":[],"a":{"":[1,{}]},"eval_spec":{"rules":[null,[1]]}}`))
	f.Add([]byte(`{"consts":[1],"examples":{"x":{"trips":{"a":1}}}}`))
	for _, slug := range []string{"math-steps", "cre-multifamily-agency"} {
		src, _ := flightsheets.Read(slug)
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		once, err := Format(src)
		if err != nil {
			return
		}
		twice, err := Format(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not idempotent (%v):\n%s\n%s", err, once, twice)
		}
		before, err := referee.LoadSheet(src, "a", "library")
		if err != nil {
			return
		}
		after, err := referee.LoadSheet(once, "a", "library")
		if err != nil || before.SHA256 != after.SHA256 {
			t.Fatalf("another sheet: %v", err)
		}
	})
}
