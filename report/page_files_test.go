package report

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// TestPageFiles gives files to the page, which itself is opened from a file: one receipt, several, a folder, a proof.
func TestPageFiles(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 9, storetest.Sample)
	b := lay(t, entries)
	dir := t.TempDir()
	b.write(t, dir)
	leaves := new(ledger.Leaves)
	for _, e := range entries {
		if err := leaves.Add(ledger.LeafHash(e)); err != nil {
			t.Fatal(err)
		}
	}
	proof, err := leaves.Inclusion(5, 9)
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := proof.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Replace(good, []byte(proof.Path[0]), []byte(proof.Path[1]), 1)
	at := func(seq int) string {
		return filepath.Join(dir, filepath.FromSlash(ledger.Place{Class: ledger.EntryFile, Seq: int64(seq),
			Hash: canonical.SHA256Hex(entries[seq])}.String()))
	}
	var every []string
	for i := range entries {
		every = append(every, at(i))
	}
	head := filepath.Join(dir, "HEAD.json")
	forged := edit(t, entries[4], func(v map[string]any) { v["parent_hash"] = canonical.SHA256Hex(entries[1]) })
	for _, c := range []struct {
		name  string
		files []string
		state string
		codes []string
		says  string
	}{
		{"one", []string{at(5)}, "good", nil, "agrees with itself"},
		{"one under a name of its own", []string{add("receipt.json", entries[5])}, "good", nil, "agrees with itself"},
		{"one edited", []string{add(filepath.Base(at(5)), bytes.Replace(entries[5], []byte("2.4 %"), []byte("0.4 %"),
			1))}, "bad", []string{"LDG-105"}, "One thing is wrong"},
		{"one with white space", []string{add("receipt.json", append([]byte(" "), entries[5]...))}, "bad",
			[]string{"LDG-104"}, "not canonical at byte 0"},
		{"all", append(slices.Clone(every), head), "good", nil, "9 receipts agree"},
		{"in any order", []string{at(2), at(0), at(1)}, "good", nil, "3 receipts agree"},
		{"from the middle", []string{at(4), at(5), at(6)}, "good", nil, "the entries before the first were not given"},
		{"without the middle", append(slices.Clone(every[:3]), every[4:]...), "bad", []string{"LDG-201"},
			"one entry is missing before it"},
		{"another parent", []string{at(3), add("forged.json", forged), at(5)}, "bad", []string{"LDG-203"},
			"the entry before is"},
		{"two at one place", []string{at(3), at(4), add("forged.json", forged)}, "bad", []string{"LDG-202"},
			"another entry has this seq"},
		{"the head of fewer", append(slices.Clone(every[:8]), head), "bad", []string{"LDG-302"},
			"HEAD.json says 9 entries"},
		{"with a proof", []string{at(5), add("proof.json", good)}, "good", nil, "stands in a tree of 9 entries"},
		{"with a proof and the head", []string{at(5), add("proof.json", good), head}, "good", nil,
			"stands in a tree of 9 entries"},
		{"with a proof of another", []string{at(4), add("proof.json", good)}, "bad", []string{"LDG-204"},
			"the entry that it is about was not given"},
		{"with a broken proof", []string{at(5), add("proof.json", bad)}, "bad", []string{"LDG-204"},
			"it leads to another root"},
		{"no receipt", []string{filepath.Join(dir, "README.md")}, "bad", nil, "No receipt is among these files"},
		{"no JSON", []string{add("x.json", []byte("hello"))}, "bad", []string{"LDG-104"},
			"does not begin with an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			visit(t, ctx, "file://"+filepath.Join(dir, "verify.html"))
			do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), c.files))
			state, codes := settled(t, ctx)
			text := ask[string](t, ctx, `document.body.innerText`)
			if state != c.state || !slices.Equal(codes, c.codes) || !strings.Contains(text, c.says) {
				t.Errorf("%s, %q, want %s, %q and %q:\n%s", state, codes, c.state, c.codes, c.says,
					CleanStart(text, 700))
			}
			if c.name == "one" {
				shot(t, ctx, "page-file", 1100, 1300, false)
			}
		})
	}
}

// sheetPath is where a rulebook of that hash is kept.
func sheetPath(hash string) string { return ledger.Place{Class: ledger.SheetFile, Hash: hash}.String() }

// TestPageFolder gives the page a whole ledger's folder, where the world is closed.
func TestPageFolder(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 4, storetest.Sample)
	sheet := []byte("{}")
	page := "" // of the first case's folder, where the document is kept
	for _, c := range []struct {
		name   string
		change func(branch)
		want   []string
	}{
		{"as it is", func(branch) {}, nil},
		{"a file more", func(b branch) { b["receipts/extra.txt"] = []byte("x") }, []string{"LDG-101"}},
		{"an alias less", func(b branch) {
			delete(b, ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(entries[2])}.String())
		}, []string{"LDG-109"}},
		{"an alias more", func(b branch) {
			b[ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex([]byte("{}"))}.String()] = []byte("{}")
		}, []string{"LDG-111"}},
		{"an alias of other bytes", func(b branch) {
			b[ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(entries[2])}.String()] = entries[1]
		}, []string{"LDG-110"}},
		{"other attributes", func(b branch) { b[".gitattributes"] = []byte("* text\n") }, []string{"LDG-114"}},
		{"a rulebook that nobody names", func(b branch) { b[sheetPath(canonical.SHA256Hex(sheet))] = sheet },
			[]string{"LDG-116"}},
		{"a rulebook under another name", func(b branch) { b[sheetPath(canonical.SHA256Hex([]byte("sheet")))] = sheet },
			[]string{"LDG-115"}},
		{"a rulebook in another's directory",
			func(b branch) { b["sheets/00/"+canonical.SHA256Hex(sheet)+".json"] = sheet }, []string{"LDG-101"}},
		{"a rulebook of the first layout", func(b branch) { b["sheets/"+canonical.SHA256Hex(sheet)+".json"] = sheet },
			[]string{"LDG-101"}},
		{"a pull request of the first layout", func(b branch) {
			b["pr/000/00001/000000000-"+canonical.SHA256Hex(entries[0])+".json"] = entries[0]
		}, []string{"LDG-101"}},
		{"an entry of the first layout", func(b branch) {
			b["receipts/000/000/000000000-"+canonical.SHA256Hex(entries[0])+".json"] = entries[0]
		}, []string{"LDG-101"}},
		{"LEDGER.json of the first layout", func(b branch) {
			b["LEDGER.json"] = bytes.Replace(b["LEDGER.json"], []byte(ledger.InfoFormat),
				[]byte(ledger.FirstInfoFormat), 1)
		}, []string{"LDG-303"}},
		{"the first entry less", func(b branch) {
			for _, p := range ledger.Places(0, canonical.SHA256Hex(entries[0]), 1) {
				delete(b, p.String())
			}
		}, []string{"LDG-201", "LDG-302", "LDG-304"}},
		{"no LEDGER.json", func(b branch) { delete(b, "LEDGER.json") }, []string{"LDG-303"}},
		{"LEDGER.json in disorder", func(b branch) { b["LEDGER.json"] = []byte("{}") }, []string{"LDG-303"}},
		{"HEAD.json in disorder", func(b branch) { b["HEAD.json"] = []byte("{}") }, []string{"LDG-301"}},
		{"a huge file", func(b branch) { b[sheetPath(strings.Repeat("c", 64))] = make([]byte, 5<<20+1) },
			[]string{"LDG-103"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ledger")
			b := lay(t, entries)
			c.change(b)
			b.write(t, dir)
			if page == "" || everyDocument {
				page = "file://" + filepath.Join(dir, "verify.html")
			}
			visit(t, ctx, page)
			do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#folder"), []string{dir}))
			state, codes := settled(t, ctx)
			if (state == "good") != (c.want == nil) || !slices.Equal(codes, c.want) {
				t.Errorf("%s, %q, want %q: %s", state, codes, c.want,
					CleanStart(ask[string](t, ctx, `document.body.innerText`), 900))
			}
		})
	}
}

// TestPageDrop drops a file on the page.
func TestPageDrop(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 1, storetest.Sample)
	visit(t, ctx, lay(t, entries).serve(t))
	ask[bool](t, ctx, `(() => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([`+quote(string(entries[0]))+`], 'receipt.json'));
		document.getElementById('drop').dispatchEvent(
			new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
		return true;
	})()`)
	if state, codes := settled(t, ctx); state != "good" {
		t.Errorf("%s, %q", state, codes)
	}
}
