package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// FuzzSamples: whatever a file of samples holds, it is refused, or every line that is not blank is a sample under its
// own id, and the hash is that of the bytes.
func FuzzSamples(f *testing.F) {
	for _, s := range []string{"", "\n", `{"id":"a"}`, "{\"id\":\"a\"}\n\n{\"id\":\"b\"}\n", `{"id":1}`, "{}", "{",
		"{\"id\":\"a\"}\n{\"id\":\"a\"}", "\xff", `{"id":"a","id":"b"}`, "[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseSamples("s.jsonl", bytes.NewReader(b))
		if err != nil {
			if codeOf(err) != exitUsage {
				t.Errorf("refused with code %d: %v", codeOf(err), err)
			}
			return
		}
		lines := 0
		for _, line := range strings.Split(string(b), "\n") {
			if len(bytes.TrimSpace([]byte(line))) > 0 {
				lines++
			}
		}
		if hash := sha256.Sum256(b); lines != len(got.lines) || got.hash != hex.EncodeToString(hash[:]) {
			t.Errorf("%d lines are %d samples, %s", lines, len(got.lines), got.hash)
		}
		for id, line := range got.lines {
			doc, err := strictjson.Parse(line.bytes, strictjson.SubmissionLimits)
			if err != nil {
				t.Fatalf("the sample %q cannot be read: %v", id, err)
			}
			if s, _ := doc.Get("id").Str(); s != id {
				t.Errorf("the sample %q has the id %q", id, s)
			}
		}
	})
}
