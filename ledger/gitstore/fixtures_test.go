package gitstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/go-git/go-billy/v5/osfs"
)

// fixtures is where bench/genledger writes the attacks.
const fixtures = "../../testdata/ledgers"

// fixture is one line of index.json.
type fixture struct {
	Name  string
	Level ledger.Level
	Codes []ledger.Code
	Full  []ledger.Code
	Pins  []struct {
		Level  ledger.Level
		Source string
		Count  int64
		Tip    string
		Root   string
	}
	Files   map[string]string
	Loose   map[string][]byte
	Against string
	Forge   *struct {
		Reviews map[int64][]ledger.ReviewRecord
		Merges  []ledger.MergeRecord
	}
}

func readIndex(t *testing.T) []fixture {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Fixtures []fixture }
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	return index.Fixtures
}

// openBundle makes a bare repository of a bundle and gives its path and the commit.
func openBundle(t *testing.T, f fixture) (dir, tip string) {
	t.Helper()
	dir = initBare(t)
	b, err := os.ReadFile(filepath.Join(fixtures, f.Name+".bundle"))
	if err != nil {
		t.Fatal(err)
	}
	head, pack, ok := bytes.Cut(b, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !ok || len(lines) != 2 || lines[0] != "# v2 git bundle" {
		t.Fatalf("%s: no bundle of one branch", f.Name)
	}
	tip, ref, _ := strings.Cut(lines[1], " ")
	none := func(string) (gitobject.Object, bool) { return gitobject.Object{}, false }
	objects, err := gitobject.ReadPack(bytes.NewReader(pack), gitobject.Limits{Objects: 10_000, Size: 1 << 24,
		Total: 1 << 26}, none)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeLoose(osfs.New(dir), objects); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{ref: tip + "\n"}
	for name, text := range f.Files {
		files[name] = text
	}
	for id, data := range f.Loose {
		files["objects/"+id[:2]+"/"+id[2:]] = string(data)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, tip
}

// TestFixtures holds that every attack is seen, by exactly the codes that the index names, with git and without. A
// reading in full reads all that another one reads, so git, whose processes cost the most, reads in full alone unless
// the codes differ.
func TestFixtures(t *testing.T) {
	index := readIndex(t)
	if len(index) < 70 {
		t.Fatalf("%d fixtures", len(index))
	}
	for _, f := range index {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			dir, tip := openBundle(t, f)
			other := ""
			if f.Against != "" {
				other, _ = openBundle(t, fixture{Name: f.Against})
			}
			said := map[string]string{}
			for name, git := range gitReaders(t) {
				for _, whole := range []bool{true, false} {
					if !whole && git != "" && f.Full == nil && !isFullRun() {
						continue
					}
					got, text := verifyFixture(t, f, dir, tip, other, git, whole)
					want := f.Codes
					if whole && f.Full != nil {
						want = f.Full
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s, full=%v: %v, want %v\n%s", name, whole, got, want, text)
					}
					key := fmt.Sprint(whole)
					if before, ok := said[key]; ok && before != text {
						t.Errorf("full=%v: git and go-git do not say the same:\n%s\n%s", whole, before, text)
					}
					said[key] = text
				}
			}
		})
	}
}

// verifyFixture verifies a fixture as its index line asks for, and gives the codes, each once and sorted, and all that
// was said.
func verifyFixture(t *testing.T, f fixture, dir, tip, other, git string, full bool) ([]ledger.Code, string) {
	t.Helper()
	repo, err := OpenRepo(dir, git)
	if err != nil {
		t.Fatal(err)
	}
	o := VerifyOptions{Full: full}
	for _, p := range f.Pins {
		o.Pins = append(o.Pins, ledger.Pin{Level: p.Level, Source: p.Source, Count: p.Count, Tip: p.Tip, Root: p.Root})
	}
	v, err := repo.Verify(t.Context(), tip, o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Forge != nil {
		more, err := ledger.VerifyOnline(t.Context(), repo.Tree(t.Context(), tip).Receipts(), forge{f})
		if err != nil {
			t.Fatal(err)
		}
		v.Problems = append(v.Problems, more...)
	}
	if other != "" {
		theirs, err := OpenRepo(other, git)
		if err != nil {
			t.Fatal(err)
		}
		at, err := theirs.Resolve("ledger")
		if err != nil {
			t.Fatal(err)
		}
		w, err := theirs.Verify(t.Context(), at, VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v.Problems = append(v.Problems, ledger.Compare(v, w)...)
	}
	codes := []ledger.Code{}
	level := ledger.L5
	var text strings.Builder
	for _, p := range v.Problems {
		codes = append(codes, p.Code)
		level = min(level, p.Level)
		fmt.Fprintln(&text, p.Level, p)
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if len(codes) > 0 && len(f.Codes) > 0 && level != f.Level {
		t.Errorf("seen at %s, want %s\n%s", level, f.Level, &text)
	}
	if len(codes) == 0 && f.Forge == nil && v.Level != f.Level {
		t.Errorf("reached %s, want %s", v.Level, f.Level)
	}
	return codes, text.String()
}

// forge is a recorded forge.
type forge struct{ f fixture }

// Reviews is ledger.Online's.
func (f forge) Reviews(_ context.Context, pull int64) ([]ledger.ReviewRecord, error) {
	reviews, ok := f.f.Forge.Reviews[pull]
	if !ok {
		return nil, ledger.ErrNoPull
	}
	return reviews, nil
}

// Merges is ledger.Online's.
func (f forge) Merges(context.Context) ([]ledger.MergeRecord, error) { return f.f.Forge.Merges, nil }
