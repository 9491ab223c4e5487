package config

import (
	"reflect"
	"strings"
	"testing"
)

// TestParamsOfConfig: limits are read as JSON, each form as it is written (S71).
func TestParamsOfConfig(t *testing.T) {
	src := `runs:
  - path: runs/**/run.json
    sheets: [compute-llm-serving]
    params: {slo_ttft_ms: 300, slo_tpot_ms: 2.50, words: [MIT, "Apache-2.0", 7], strict: true, date: "2026-11-30",
      table: {b: 2, a: "x"}}
`
	c, err := Parse([]byte(src), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := Params{
		"slo_ttft_ms": "300",
		"slo_tpot_ms": "2.5",
		"words":       `["MIT","Apache-2.0",7]`,
		"strict":      "true",
		"date":        `"2026-11-30"`,
		"table":       `{"a":"x","b":2}`,
	}
	if got := c.Runs[0].Params; !reflect.DeepEqual(got, want) {
		t.Errorf("params are %v, want %v", got, want)
	}
}

// TestParamsRefused: what is no plain value is refused at its line.
func TestParamsRefused(t *testing.T) {
	for src, words := range map[string]string{
		"params: [1]":            "params must be a mapping",
		"params: {a: {b: [1]}}":  "a.b must be a plain value",
		"params: {a: [[1]]}":     "an entry of a must be a plain value",
		"params: {a: .inf}":      "must be a plain value",
		"params: {a: 1, a: 2}":   "already defined",
		"params: {a: {x: null}}": "must be a plain value",
	} {
		_, err := Parse([]byte("runs:\n  - {path: runs/run.json, sheets: ['*'], "+src+"}\n"), "f")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", src, err, words)
		}
	}
}
