package verify_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// TestFixtures: each level looks at what is given for it, says so, and sees by exactly the codes that the index names
// what is wrong. What only a forge, a whole history or an altered repository shows is seen in gitstore's test of the
// same ledgers.
func TestFixtures(t *testing.T) {
	seen := map[ledger.Level]int{}
	for _, f := range readIndex(t).Fixtures {
		if f.Forge != nil || len(f.Files)+len(f.Loose) > 0 || !slices.Contains([]string{"good", "good-pinned",
			"tampered-cut", "tampered-edit", "tampered-first-pin", "tampered-new-genesis", "tampered-pin-root",
			"tampered-rewritten", "tampered-split-view", "tampered-truncated"}, f.Name) {
			continue
		}
		o := verify.Options{Pins: f.Pins}
		want := []ledger.Level{ledger.L1}
		for i := range f.Pins {
			f.Pins[i].Level = max(f.Pins[i].Level, ledger.L2)
			want = append(want, f.Pins[i].Level)
		}
		if f.Against != "" {
			other, err := verify.Open(openBundle(f.Against), gitstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o.Against, want = other, append(want, ledger.L5)
		}
		slices.Sort(want)
		r, err := verify.Ledger(t.Context(), openBundle(f.Name), o)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		var codes []ledger.Code
		for _, p := range r.Problems {
			codes = append(codes, p.Code)
		}
		slices.Sort(codes)
		if !slices.Equal(slices.Compact(codes), f.Codes) || r.OK() != (len(f.Codes) == 0) || r.OK() != (r.Level > 0) {
			t.Errorf("%s: level %v, %v, want %v", f.Name, r.Level, r.Problems, f.Codes)
		}
		if !slices.Equal(r.Looked, slices.Compact(want)) || r.Compared != nil || r.Unread() {
			t.Errorf("%s: looked at %v, want %v", f.Name, r.Looked, want)
		}
		seen[slices.Max(want)]++
	}
	if seen[ledger.L1] < 2 || seen[ledger.L2] < 2 || seen[ledger.L5] < 1 {
		t.Errorf("looked at %v", seen)
	}
}

// TestRequire: a level that nobody looked at is no pass, and one that was is.
func TestRequire(t *testing.T) {
	at := openBundle("good")
	pin := ledger.Pin{Count: 1, Tip: firstHash(t, at)}
	for _, c := range []struct {
		o    verify.Options
		pass bool
	}{
		{verify.Options{Require: ledger.L1}, true},
		{verify.Options{Require: ledger.L2}, false},
		{verify.Options{Require: ledger.L2, Pins: []ledger.Pin{pin}}, true},
		{verify.Options{Require: ledger.L4, Pins: []ledger.Pin{pin}}, false},
	} {
		r, err := verify.Ledger(t.Context(), at, c.o)
		if (err == nil) != c.pass || (r != nil) != c.pass || !c.pass && !errors.Is(err, verify.ErrNotLooked) {
			t.Errorf("%v of %v: %v", c.o.Require, c.o.Pins, err)
		}
	}
}

// firstHash is the first entry's hash, as its file's name says it.
func firstHash(t *testing.T, at string) string {
	t.Helper()
	r, err := verify.Ledger(t.Context(), at, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Hashes[0]
}

// TestErrorsDecideNothing: what was not looked at is an error that says whose it is, without a result.
func TestErrorsDecideNothing(t *testing.T) {
	good, empty := openBundle("good"), t.TempDir()
	if err := gitstore.Init(filepath.Join(empty, "none.git"), "main"); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(empty, "none.git")
	other, err := verify.Open(none, gitstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	root := &verify.Root{Count: 1, Root: strings.Repeat("a", 64)}
	for name, c := range map[string]struct {
		at    string
		o     verify.Options
		about verify.Input
	}{
		"no folder":        {filepath.Join(empty, "x"), verify.Options{}, verify.InputRepository},
		"no repository":    {empty, verify.Options{}, verify.InputRepository},
		"no ledger":        {none, verify.Options{}, verify.InputLedger},
		"no branch's name": {good, verify.Options{Open: gitstore.Options{Branch: "a..b"}}, verify.InputBranch},
		"another branch":   {good, verify.Options{Open: gitstore.Options{Branch: "main"}}, verify.InputLedger},
		"no base":          {good, verify.Options{Base: "none"}, verify.InputBase},
		"no other copy":    {good, verify.Options{Against: other}, verify.InputLedger},
		// The copy is not there: a root known of this one says nothing of that one.
		"no other copy, a root": {good, verify.Options{Against: other, Root: root}, verify.InputLedger},
		"no memory":             {good, verify.Options{Remember: true}, verify.InputMemory},
		"since what":            {good, verify.Options{Since: true}, verify.InputMemory},
		"nothing remembered": {good, verify.Options{Since: true, Memory: gitstore.Pins{Dir: empty}},
			verify.InputSince},
		"since and whole": {good, verify.Options{Since: true, Memory: gitstore.Pins{Dir: empty}, Full: true},
			verify.InputSince},
		"since two states": {good, verify.Options{Since: true, Memory: gitstore.Pins{Dir: empty},
			Pins: []ledger.Pin{{Count: 1, Tip: firstHash(t, good)}}}, verify.InputSince},
		"no root":  {good, verify.Options{Root: &verify.Root{Count: 1}}, verify.InputPin},
		"no count": {good, verify.Options{Root: &verify.Root{Root: root.Root}}, verify.InputPin},
		"no level": {good, verify.Options{Require: 6}, verify.InputRequire},
	} {
		r, err := verify.Ledger(t.Context(), c.at, c.o)
		var in *verify.InputError
		if r != nil || !errors.As(err, &in) || in.Input != c.about {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	if _, err := verify.OpenForge(t.Context(), verify.ForgeOptions{Repository: "work"}); err == nil {
		t.Error("a repository without an owner")
	}
}

// TestEmptyPins: a pin that every ledger satisfies is refused, not passed.
func TestEmptyPins(t *testing.T) {
	_, err := verify.Ledger(t.Context(), openBundle("good"), verify.Options{Pins: []ledger.Pin{{}}})
	var in *verify.InputError
	if !errors.As(err, &in) || in.Input != verify.InputPin {
		t.Errorf("%v", err)
	}
}

// TestMemory: what is remembered is held to afterwards, a ledger that is gone was cut off, and one that is wrong is not
// remembered.
func TestMemory(t *testing.T) {
	memory := gitstore.Pins{Dir: filepath.Join(t.TempDir(), "pins")}
	at := filepath.Join(t.TempDir(), "ledger.git")
	copyRepository(t, at, "tampered-edit")
	look := func(o verify.Options) *verify.Result {
		t.Helper()
		o.Memory = memory
		r, err := verify.Ledger(t.Context(), at, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := look(verify.Options{Remember: true}); r.OK() {
		t.Fatal("an edited ledger verifies")
	}
	if _, err := os.Stat(memory.Dir); err == nil {
		t.Error("a ledger that is wrong is remembered")
	}
	copyRepository(t, at, "good")
	if r := look(verify.Options{Remember: true}); r.Level != ledger.L1 {
		t.Errorf("%v, %v", r.Level, r.Problems)
	}
	for _, since := range []bool{false, true} {
		if r := look(verify.Options{Since: since, Require: ledger.L2}); r.Level != ledger.L2 {
			t.Errorf("since %v: %v, %v", since, r.Level, r.Problems)
		}
	}
	copyRepository(t, at, "")
	if r := look(verify.Options{}); r.OK() || r.Level != 0 || r.Problems[0].Code != ledger.CodeTruncated {
		t.Errorf("gone: %v, %v", r.Level, r.Problems)
	}
}

// copyRepository puts another ledger into a place, or none.
func copyRepository(t *testing.T, at, name string) {
	t.Helper()
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	if name == "" {
		if err := gitstore.Init(at, "main"); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.CopyFS(at, os.DirFS(openBundle(name))); err != nil {
		t.Fatal(err)
	}
}
