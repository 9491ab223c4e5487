package referee

//go:generate go test . -run ^TestGoldenDigest$ -update

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/golden"
)

// goldenDir holds inputs, <name>.sheet.json with <name>.submission.json and perhaps evidence in <name>.evidence.txt,
// and digests.json.
const goldenDir = "testdata/golden"

// goldenCase reads one committed input.
func goldenCase(t *testing.T, name string) (*Sheet, string, []option) {
	t.Helper()
	read := func(suffix string) string {
		b, err := os.ReadFile(filepath.Join(goldenDir, name+suffix))
		if err != nil && suffix != ".evidence.txt" {
			t.Fatal(err)
		}
		return string(b)
	}
	options := []option{withAgent(Agent{Model: "golden", ParamsB: "8", Tools: []string{"calculator"},
		ToolsKnown: true})}
	if text := read(".evidence.txt"); text != "" {
		options = append(options, withEvidence("source.txt", text))
	}
	return mustLoad(t, read(".sheet.json")), read(".submission.json"), options
}

func goldenNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(goldenDir + "/*.sheet.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d inputs in %s: %v", len(files), goldenDir, err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".sheet.json")
	}
	return files
}

// TestGoldenDigest: the committed inputs give the committed digests (S52), on this architecture as on every other:
// .ci/run runs it with GOARCH=386 and GOAMD64=v3 too. A digest changes when a rule, a message or the registry does;
// -update writes the new ones.
func TestGoldenDigest(t *testing.T) {
	got := map[string]string{}
	for _, name := range goldenNames(t) {
		sheet, submission, options := goldenCase(t, name)
		got[name] = auditText(sheet, submission, options...).Digest
	}
	file := filepath.Join(goldenDir, "digests.json")
	if golden.Updating() {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	for name, digest := range got {
		if want[name] != digest {
			t.Errorf("%s: digest %s, want %s", name, digest, want[name])
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d digests of %d inputs", len(want), len(got))
	}
}

// TestSameBytesFiftyTimes: an audit depends on no map's order: fifty reports are one, byte by byte.
func TestSameBytesFiftyTimes(t *testing.T) {
	for _, name := range goldenNames(t) {
		var first []byte
		for i := range 50 {
			sheet, submission, options := goldenCase(t, name)
			b, err := canonical.MarshalUnbounded(auditText(sheet, submission,
				append(options, func(c *Case) { c.AllAtoms = true })...))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = b
			}
			if !bytes.Equal(b, first) {
				t.Fatalf("%s: report %d differs:\n%s\n%s", name, i, first, b)
			}
		}
	}
}

// TestManyAtOnce: one sheet serves many audits at once and gives each its own digest, as --jobs does.
func TestManyAtOnce(t *testing.T) {
	for _, name := range goldenNames(t) {
		sheet, submission, options := goldenCase(t, name)
		want := auditText(sheet, submission, options...).Digest
		digests := make([]string, 16)
		var all sync.WaitGroup
		for i := range digests {
			_, _, own := goldenCase(t, name) // a set of evidence serves one audit at a time
			all.Go(func() { digests[i] = auditText(sheet, submission, own...).Digest })
		}
		all.Wait()
		for i, d := range digests {
			if d != want {
				t.Errorf("%s: audit %d gives %s, alone it gives %s", name, i, d, want)
			}
		}
	}
}

// TestDigestLeavesOut: what a release or a caller's folder changes is outside the digest; what decides is inside.
func TestDigestLeavesOut(t *testing.T) {
	sheet, good := mustSheet(t, ratioSheet), ratioSubmission("130", "100", "noi / debt", "1.3")
	base := auditText(sheet, good)
	for name, o := range map[string]option{"location": func(c *Case) { c.Location = "/somewhere/else.json" },
		"atoms": func(c *Case) { c.AllAtoms = true }, "proof": func(c *Case) { c.Explain = true }} {
		if auditText(sheet, good, o).Digest != base.Digest {
			t.Errorf("the digest depends on the %s", name)
		}
	}
	was := EngineVersion
	EngineVersion = "v9.9.9"
	defer func() { EngineVersion = was }()
	if auditText(sheet, good).Digest != base.Digest {
		t.Error("the digest depends on the release")
	}
	other := mustSheet(t, strings.Replace(ratioSheet, "1.20", "1.21", 1))
	for name, rep := range map[string]*Report{"sheet": auditText(other, good),
		"white space of the submission": auditText(sheet, good+" "), "agent": auditText(sheet, good,
			withAgent(Agent{Model: "m"})), "evidence": auditText(sheet, good, withEvidence("a.txt", "abc"))} {
		if rep.Digest == base.Digest {
			t.Errorf("the digest does not depend on the %s", name)
		}
	}
}
