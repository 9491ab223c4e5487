package main

import (
	"bytes"
	"testing"

	"github.com/defendableos/referee/referee"
)

// FuzzDeclareEvidence: whatever the manifest says, what was in it stays, byte for byte, around the new entry; and what
// is written is a manifest that declares it last.
func FuzzDeclareEvidence(f *testing.F) {
	const head = `{"schema":"referee.run/v1","id":"a","lane":"agent","flight_sheet":"math-steps"`
	for _, seed := range []string{head + `}`, head + `,"evidence":[]}`, head + `,"evidence":[ ],"cost_usd":"1"}`,
		head + `,"evidence":[{"id":"b","path":"b.csv"}]}` + "\n", head + `,"evidence":null}`, `{}`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	const entry = `{"id": "new", "path": "evidence/new.csv", "kind": "file"}`
	f.Fuzz(func(t *testing.T, manifest []byte) {
		edited, err := declareEvidence(manifest, entry)
		if err != nil {
			if edited != nil {
				t.Errorf("an error, and bytes: %q", edited)
			}
			return
		}
		before, err := referee.ParseRun(manifest, "run.json")
		if err != nil {
			return // it became whole by the entry; ParseRun has read the result
		}
		after, err := referee.ParseRun(edited, "run.json")
		if err != nil {
			t.Fatal(err)
		}
		n := len(after.Evidence)
		if n != len(before.Evidence)+1 || after.Evidence[n-1].ID != "new" || after.ID != before.ID ||
			after.Sheet != before.Sheet || after.CostUSD != before.CostUSD {
			t.Errorf("%q became %q", manifest, edited)
		}
		same := 0
		for same < len(manifest) && manifest[same] == edited[same] {
			same++
		}
		if !bytes.HasSuffix(edited, manifest[same:]) {
			t.Errorf("what follows the entry changed: %q, %q", manifest, edited)
		}
	})
}
