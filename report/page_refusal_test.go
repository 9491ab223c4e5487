package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// forgery is a receipt that was changed, under the name that it is given.
type forgery struct {
	name, file string
	bytes      []byte
	from       []byte // the honest one
	says       string // in the refusal
}

// forgeries are what somebody does to a clean receipt of entry 0, so that it says more than was decided.
func forgeries(t testing.TB) []forgery {
	honest := chain(t, 1, func(n int64) ledger.Receipt { return storetest.Clean(storetest.Sample(n)) })[0]
	jelly := chain(t, 1, storetest.Sample)[0]
	name := func(b []byte) string { return "000000000-" + canonical.SHA256Hex(b) + ".json" }
	bit := bytes.Clone(honest)
	bit[bytes.Index(bit, []byte(`"rosa"`))+1] ^= 1
	verdict := func(key string, value any) []byte {
		return edit(t, jelly, func(v map[string]any) { v["verdict"].(map[string]any)[key] = value })
	}
	score, severity := verdict("score", "100"), verdict("severity", "honey")
	approval := edit(t, jelly, func(v map[string]any) { v["approval"].(map[string]any)["decision"] = "rejected" })
	digest := edit(t, jelly, func(v map[string]any) {
		v["approval"].(map[string]any)["subject_digest"] = canonical.SHA256Hex(nil)
	})
	spaced := append(bytes.Clone(honest), '\n')
	return []forgery{
		{"one bit, the name kept", name(honest), bit, honest, "the name says"},
		{"the score, the name kept", name(jelly), score, jelly, "the name says"},
		{"the score, the digest made anew", name(score), score, jelly, "the score is not what the counts make"},
		{"the severity, the digest made anew", name(severity), severity, jelly, "findings"},
		{"the decision, the digest made anew", name(approval), approval, jelly, "the approval decides something else"},
		{"the subject, the digest made anew", name(digest), digest, jelly, "something else was signed"},
		{"a line feed", name(spaced), spaced, honest, "not canonical"},
		{"another seq in the name", strings.Replace(name(honest), "000000000-", "000000007-", 1), honest, honest,
			"the receipt says seq 0"},
	}
}

// refused holds the page to showing why, and nothing that looks like an approval: no card, no green, no honey, nobody's
// name.
func refused(t *testing.T, ctx context.Context, says string) {
	t.Helper()
	if state, _ := settled(t, ctx); state != "bad" {
		t.Errorf("the page is %s", state)
	}
	main := ask[string](t, ctx, `document.querySelector('main').textContent`)
	if !strings.Contains(main, says) {
		t.Errorf("the reason %q is missing: %s", says, CleanStart(main, 500))
	}
	for _, never := range []string{"rosa", "Approved", "signed them off"} {
		if strings.Contains(main, never) {
			t.Errorf("%q is on the page", never)
		}
	}
	if n := ask[int](t, ctx, `document.querySelectorAll('.good, .honey, .verdict, #receipt:not([hidden]), `+
		`#entries:not([hidden])').length`); n > 0 {
		t.Errorf("%d elements look like an approval", n)
	}
	green := `[...document.querySelectorAll('main *')].filter((e) =>
		[getComputedStyle(e).backgroundColor, getComputedStyle(e).borderTopColor, getComputedStyle(e).color]
		.some((c) => ['rgb(28, 107, 71)', 'rgb(201, 143, 18)'].includes(c))).length`
	if n := ask[int](t, ctx, green); n > 0 {
		t.Errorf("%d elements are green or gold", n)
	}
}

// TestPageRefusesFiles gives each forgery to the page as a file, in a folder and by a drop, after an honest one was
// shown.
func TestPageRefusesFiles(t *testing.T) {
	ctx := tab(t)
	honest := chain(t, 1, func(n int64) ledger.Receipt { return storetest.Clean(storetest.Sample(n)) })
	address := lay(t, honest).serve(t)
	for _, f := range forgeries(t) {
		t.Run(f.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "given")
			branch{f.file: f.bytes}.write(t, dir)
			visit(t, ctx, address+"#"+canonical.SHA256Hex(honest[0]))
			if state, _ := settled(t, ctx); state != "good" ||
				!ask[bool](t, ctx, `document.getElementById('receipt').textContent.includes('rosa')`) {
				t.Fatal("the honest receipt is not shown")
			}
			do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{filepath.Join(dir, f.file)}))
			await(t, ctx, `document.querySelector('#outcome.bad') !== null`)
			refused(t, ctx, f.says)
			visit(t, ctx, address)
			do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#folder"), []string{dir}))
			refused(t, ctx, f.says)
			visit(t, ctx, address)
			ask[bool](t, ctx, fmt.Sprintf(`(() => {
				const transfer = new DataTransfer();
				transfer.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
				document.getElementById('drop').dispatchEvent(
					new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
				return true;
			})()`, base64.StdEncoding.EncodeToString(f.bytes), f.file))
			refused(t, ctx, f.says)
		})
	}
}

// TestPageRefusesPublished publishes each forgery in a ledger and opens it by the address, by the form, in the list of
// the whole ledger, and on a share server's page.
func TestPageRefusesPublished(t *testing.T) {
	ctx := tab(t)
	for _, f := range forgeries(t) {
		hash := strings.TrimSuffix(f.file[10:], ".json")
		t.Run(f.name, func(t *testing.T) {
			b := lay(t, [][]byte{f.bytes})
			switch {
			case f.file[:10] != "000000000-":
				// an honest entry 0, and the forgery after it
				b = lay(t, [][]byte{chain(t, 1, storetest.Sample)[0], f.bytes})
			case hash != canonical.SHA256Hex(f.bytes): // in all the places of the honest one
				b = lay(t, [][]byte{f.from})
				for _, p := range ledger.Places(0, hash, 1) {
					b[p.String()] = f.bytes
				}
			}
			address := b.serve(t)
			visit(t, ctx, address+"#"+hash)
			refused(t, ctx, "")
			visit(t, ctx, address)
			paste(t, ctx, "#hash", hash)
			press(t, ctx, "#lookup button")
			refused(t, ctx, "")
			visit(t, ctx, address+"#all")
			refused(t, ctx, "")
			visit(t, ctx, b.share(t)+"/r/"+hash)
			await(t, ctx, `document.body !== null`)
			// the server refuses other bytes under a hash itself
			if ask[bool](t, ctx, `document.getElementById('receipt') !== null`) {
				refused(t, ctx, "")
			}
		})
	}
}

// TestPageListChanged changes a file after the ledger was verified and before its entry is opened.
func TestPageListChanged(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 2, storetest.Sample)
	b := lay(t, entries)
	visit(t, ctx, b.serve(t)+"#all")
	if state, codes := settled(t, ctx); state != "good" {
		t.Fatal(state, codes)
	}
	path := ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(entries[0])}.String()
	b[path] = bytes.Replace(entries[0], []byte("rosa"), []byte("rosb"), 1)
	press(t, ctx, `#entries li:last-child button`)
	await(t, ctx, `document.querySelector('#outcome.bad') !== null`)
	refused(t, ctx, "The file has changed since it was checked")
}

// TestPageUnchecked: files without their ledger are shown, and not as approved ones: somebody else may have written
// them, approver and all.
func TestPageUnchecked(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 2, func(n int64) ledger.Receipt { return storetest.Clean(storetest.Sample(n)) })
	mallory := bytes.ReplaceAll(entries[0], []byte(`"rosa"`), []byte(`"mallory"`))
	dir := t.TempDir()
	branch{"a.json": mallory, "b.json": entries[0], "c.json": entries[1]}.write(t, dir)
	visit(t, ctx, lay(t, entries).serve(t))
	for _, files := range [][]string{{"a.json"}, {"b.json", "c.json"}} {
		var paths []string
		for _, f := range files {
			paths = append(paths, filepath.Join(dir, f))
		}
		visit(t, ctx, "about:blank")
		visit(t, ctx, lay(t, entries).serve(t))
		do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), paths))
		if state, codes := settled(t, ctx); state != "good" {
			t.Fatal(files, state, codes)
		}
		if len(files) > 1 {
			press(t, ctx, `#entries li:last-child button`)
			await(t, ctx, `!document.getElementById('receipt').hidden`)
		}
		text := ask[string](t, ctx, `document.getElementById('receipt').innerText`)
		for _, want := range []string{"Not checked against a ledger", "SAYS: APPROVED", "SAYS HONEY",
			"Decision that the file states, not confirmed"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q: the page does not say %q", files, want)
			}
		}
		if n := ask[int](t, ctx, `document.querySelectorAll('.card.good, .honey').length`); n > 0 {
			t.Errorf("%q: %d elements look like an approval", files, n)
		}
	}
}

// strangers are JSON files that are no receipts, by what they must be called. The words are stated here by hand.
func strangers(t testing.TB) map[string]struct {
	b    []byte
	says string
} {
	t.Helper()
	read := func(path string) []byte {
		b, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := lay(t, chain(t, 2, storetest.Sample))
	future := bytes.Replace(chain(t, 1, storetest.Sample)[0], []byte(ledger.EvalSchema),
		[]byte("defendablecloud.eval-receipt/v2"), 1)
	return map[string]struct {
		b    []byte
		says string
	}{
		"run.json": {read("../testdata/runs/oak-street/run.json"), "run.json is a run manifest, not a receipt"},
		"submission.json": {read("../testdata/runs/oak-street/submission.json"),
			"submission.json is an agent's submission, not a receipt"},
		"sheet.json": {read("../flight_sheets/cre-multifamily-agency.json"),
			"sheet.json is a flight sheet, not a receipt"},
		"report.json": {[]byte(`{"schema":"referee.report/v1"}` + "\n" + `{"schema":"referee.report/v1"}` + "\n"),
			"report.json is the report of an audit, not a receipt"},
		"head.json":   {b["HEAD.json"], "head.json is the ledger's HEAD.json, not a receipt"},
		"info.json":   {b["LEDGER.json"], "info.json is the ledger's LEDGER.json, not a receipt"},
		"empty.json":  {[]byte("{}"), "empty.json is an empty object, not a receipt"},
		"list.json":   {[]byte("[]\n"), "list.json is JSON, but not an object: not a receipt"},
		"null.json":   {[]byte("null"), "null.json is JSON, but not an object: not a receipt"},
		"other.json":  {[]byte(`{"a":1}`), "other.json is a JSON object without a schema, not a receipt"},
		"schema.json": {[]byte(`{"schema":"x/v1"}`), `schema.json is a file of the schema "x/v1", not a receipt`},
		"future.json": {future, `future.json is an entry of the schema "defendablecloud.eval-receipt/v2", which ` +
			`this version does not know`},
		"pretty.json": {append([]byte("\n "), future...),
			`pretty.json is an entry of the schema "defendablecloud.eval-receipt/v2"`},
	}
}

// TestNotReceipt names what is no receipt, and does not take a broken receipt for another kind of file.
func TestNotReceipt(t *testing.T) {
	for name, s := range strangers(t) {
		if got := name + " is " + NotReceipt(s.b); !strings.HasPrefix(got, s.says) {
			t.Errorf("%q, want %q", got, s.says)
		}
	}
	receipt := chain(t, 1, storetest.Sample)[0]
	for _, b := range [][]byte{receipt, append([]byte(" "), receipt...), receipt[:50], nil, []byte("hello"),
		[]byte(`{"schema":"` + ledger.CookSchema + `"}`)} {
		if got := NotReceipt(b); got != "" {
			t.Errorf("%.60q is %q", b, got)
		}
	}
}

// TestPageNamesStrangers: the page has the same words, and shows no card.
func TestPageNamesStrangers(t *testing.T) {
	ctx := tab(t)
	address := lay(t, nil).serve(t)
	for name, s := range strangers(t) {
		dir := t.TempDir()
		branch{name: s.b}.write(t, dir)
		visit(t, ctx, address)
		do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{filepath.Join(dir, name)}))
		refused(t, ctx, s.says)
	}
	dir := t.TempDir()
	lay(t, chain(t, 1, storetest.Sample)).write(t, dir)
	for _, name := range []string{"HEAD.json", "LEDGER.json"} {
		visit(t, ctx, address)
		do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{filepath.Join(dir, name)}))
		refused(t, ctx, name+" is the ledger's "+name+", not a receipt.")
	}
}

// FuzzNotReceipt: no text ends it, and the page's own reader, where it can be run, has the same words.
func FuzzNotReceipt(f *testing.F) {
	for _, s := range strangers(f) {
		f.Add(s.b)
	}
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Add([]byte(`{"schema":1,"format":"defendablecloud.ledger/v1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ledger.Parse(b); err == nil && NotReceipt(b) != "" {
			t.Errorf("a receipt is %q", NotReceipt(b))
		}
	})
}

// TestNotReceiptInPage runs the page's code without a browser.
func TestNotReceiptInPage(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: TestPageNamesStrangers holds the same in a browser")
	}
	var texts, want []string
	for _, s := range strangers(t) {
		texts, want = append(texts, string(s.b)), append(want, NotReceipt(s.b))
	}
	for _, s := range []string{"", "hello", "\ufeff{}", "{}\n{", `{"format":"defendablecloud.ledger/v1","schema":7}`,
		`{"count":1,"edge":[],"root":"","tip":""}`, "7", `"x"`} {
		texts, want = append(texts, s), append(want, NotReceipt([]byte(s)))
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	script := "const FACTS = " + facts(t) + ";\n" + pagePart(t, "canonical.js") + pagePart(t, "receipt.js") +
		fmt.Sprintf("\nconsole.log(JSON.stringify(%s.map((s) => notReceipt(new TextEncoder().encode(s)))));", in)
	cmd := exec.CommandContext(t.Context(), node, "-")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(want) {
		t.Fatalf("%v: %s", err, out)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%.60q: the page says %q, want %q", texts[i], got[i], want[i])
		}
	}
}
