package main

//go:generate go run . -fixtures ../../testdata/ledgers

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/defendableos/referee/ledger"
)

const committed = "../../testdata/ledgers"

// TestFixturesAreThePrograms holds that the fixtures are what this program writes. A pack's bytes may change with the
// compressor, so bundles are compared by their first lines, whose commit id stands for everything below.
func TestFixturesAreThePrograms(t *testing.T) {
	dir := t.TempDir()
	if err := writeFixtures(dir); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(committed, "*"))
	if err != nil || len(names) < 70 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(made) != len(names) {
		t.Errorf("%d files are committed, %d are written: %v", len(names), len(made), err)
	}
	for _, name := range names {
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if filepath.Ext(name) == ".bundle" {
			have, _, _ = bytes.Cut(have, []byte("\n\n"))
			want, _, _ = bytes.Cut(want, []byte("\n\n"))
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is another one than the program writes", name)
		}
	}
}

// TestStream holds that the stream for a large ledger names every receipt three times and counts them in HEAD.json.
func TestStream(t *testing.T) {
	var b bytes.Buffer
	if err := writeStream(&b, shape{receipts: 25, per: 10, findings: 11, together: 1}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"\ncommit refs/heads/ledger\n": 3, "\nM 100644 :": 75,
		"\nM 100644 inline HEAD.json\n": 3, `{"count":25,`: 1} {
		if got := bytes.Count(b.Bytes(), []byte(text)); got != want {
			t.Errorf("%q stands there %d times, want %d", text, got, want)
		}
	}
	r := wideReceipt(3, 1, 11, seededRand())
	text, err := ledger.Mint(ledger.NewHead(), r)
	if err != nil || len(text) < 7<<10 || len(text) > 9<<10 {
		t.Errorf("a receipt of %d bytes, %v; want about 8 KB", len(text), err)
	}
}
