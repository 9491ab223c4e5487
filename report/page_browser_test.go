package report

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"golang.org/x/mod/sumdb/tlog"
)

// papersDir is where pictures of the pages of the tests are left to be looked at.
var papersDir = flag.String("papers", "", "write pictures of the tests' pages into this directory")

// everyDocument has each case open the page anew, in a tab of its test, and takes the long chains: .ci/run does.
// Without it the tests share a tab and a server, and a case after the first is opened in the document that is there, by
// the part of its address behind the #, as a reader does.
var everyDocument = os.Getenv("REFEREE_CI") == "1"

// The browser, and the tab and the server that tests share, are started once, and ended by TestMain.
var (
	browserOnce sync.Once
	browserCtx  context.Context
	browserEnd  = func() {}
	browserErr  error

	sharedTab    context.Context
	published    atomic.Pointer[branch]
	publishedURL = sync.OnceValue(func() string {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			published.Load().answer(w, r)
		})).URL
	})
)

func TestMain(m *testing.M) {
	code := m.Run()
	browserEnd()
	os.Exit(code)
}

// startBrowser starts a headless Chromium that asks nobody for anything.
func startBrowser() {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		browserErr = fmt.Errorf("chromium is not installed: the page is not tested in a browser")
		return
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		browserErr = err
		return
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.UserDataDir(profile), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("in-process-gpu", true),
		// one renderer shows one document after the other: a process for each is most of what a visit costs
		chromedp.Flag("disable-features",
			"Translate,BackForwardCache,ProactivelySwapBrowsingInstance,RenderDocument"),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WindowSize(1100, 1400))
	alloc, endAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(alloc)
	browserEnd = func() {
		endBrowser()
		endAlloc()
		_ = os.RemoveAll(profile)
	}
	browserCtx, browserErr = ctx, chromedp.Do(ctx)
}

// tab is a tab that notes violations of the page's policy and errors of its script.
func tab(t *testing.T) context.Context {
	t.Helper()
	browserOnce.Do(startBrowser)
	if browserErr != nil {
		t.Skip(browserErr)
	}
	ctx := sharedTab
	if ctx == nil {
		ctx = newTab(t)
	}
	ctx, stop := context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(stop)
	return ctx
}

// newTab opens a tab, which is kept for the tests that follow where they may share one.
func newTab(t *testing.T) context.Context {
	t.Helper()
	ctx, end := chromedp.NewContext(browserCtx)
	if everyDocument || *papersDir != "" {
		t.Cleanup(end)
	} else {
		sharedTab = ctx
	}
	watch := `window.violations = []; window.pwned = 0; window.alert = () => { window.pwned++; };
		document.addEventListener('securitypolicyviolation', (e) =>
			window.violations.push(e.violatedDirective + ' ' + e.blockedURI));
		window.addEventListener('error', (e) => window.violations.push(e.message));
		window.addEventListener('unhandledrejection', (e) => window.violations.push(String(e.reason)));`
	do(t, ctx)
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: watch}); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// await waits until an expression is true in the page.
func await(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	for !ask[bool](t, ctx, expression) {
		time.Sleep(20 * time.Millisecond)
	}
}

// press clicks an element of the page.
func press(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	do(t, ctx, chromedp.Click(chromedp.CSS(selector)))
}

// paste puts a text into a field as a paste does: one event, where keys would be one for each letter.
func paste(t *testing.T, ctx context.Context, selector, text string) {
	t.Helper()
	do(t, ctx, chromedp.Focus(chromedp.CSS(selector)))
	if _, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		t.Fatal(err)
	}
}

// visit opens an address. Where the document is there already, a change behind the # alone would not load it again.
func visit(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	document, fragment, _ := strings.Cut(address, "#")
	if ask[string](t, ctx, `location.href.split('#')[0]`) == document {
		if !everyDocument {
			reopen(t, ctx, fragment)
			return
		}
		do(t, ctx, chromedp.Navigate("about:blank"))
	}
	do(t, ctx, chromedp.Navigate(address))
}

// reopen empties the page with its own function, and opens what is behind the #.
func reopen(t *testing.T, ctx context.Context, fragment string) {
	t.Helper()
	ask[bool](t, ctx, `(() => {
		begin();
		state('idle');
		$('outcome').className = '';
		for (const id of ['files', 'folder', 'hash']) $(id).value = '';
		history.replaceState(null, '', location.href.split('#')[0]);
		if (`+quote(fragment)+` !== '') location.hash = `+quote(fragment)+`;
		return true;
	})()`)
}

// settled waits for the page to conclude and gives its state and the codes of its problems, sorted and each once.
func settled(t *testing.T, ctx context.Context) (state string, codes []string) {
	t.Helper()
	await(t, ctx, `['good', 'bad'].includes(document.body.dataset.state)`)
	codes = ask[[]string](t, ctx, `[...new Set([...document.querySelectorAll('[data-code]')].map((e) => `+
		`e.dataset.code))].sort()`)
	if v := ask[[]string](t, ctx, `window.violations`); len(v) > 0 {
		t.Errorf("the page's policy was violated, or its script failed: %q", v)
	}
	return ask[string](t, ctx, `document.body.dataset.state`), codes
}

// branch is the files of a ledger's branch by path.
type branch map[string][]byte

// chain mints n receipts.
func chain(t testing.TB, n int, of func(int64) ledger.Receipt) [][]byte {
	t.Helper()
	head := ledger.NewHead()
	var all [][]byte
	for i := range n {
		b, err := ledger.Mint(head, of(int64(i)))
		if err != nil {
			t.Fatal(err)
		}
		if head, err = head.Append(b); err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// lay puts entries on a branch, whatever they are: what no honest writer writes as well.
func lay(t testing.TB, entries [][]byte) branch {
	t.Helper()
	files := branch{".gitattributes": []byte(ledger.Attributes), "README.md": []byte(ledger.Readme),
		"verify.html": VerifyPage()}
	for seq, b := range entries {
		var pull int64
		var r struct {
			PullRequest struct{ Number int64 } `json:"pull_request"`
		}
		if json.Unmarshal(b, &r) == nil {
			pull = r.PullRequest.Number
		}
		for _, p := range ledger.Places(int64(seq), canonical.SHA256Hex(b), pull) {
			files[p.String()] = b
		}
	}
	files["HEAD.json"] = headOf(t, entries)
	if len(entries) > 0 {
		info, err := ledger.Info{Format: ledger.InfoFormat, Genesis: canonical.SHA256Hex(entries[0]),
			Repository: storetest.Sample(0).Repository}.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		files["LEDGER.json"] = info
	}
	return files
}

// headOf computes HEAD.json over any bytes with the hashes of golang.org/x/mod/sumdb/tlog.
func headOf(t testing.TB, entries [][]byte) []byte {
	t.Helper()
	head := ledger.NewHead()
	leaves := new(ledger.Leaves)
	for _, b := range entries {
		if err := leaves.Add(tlog.RecordHash(b)); err != nil {
			t.Fatal(err)
		}
		head.Tip = canonical.SHA256Hex(b)
	}
	n := int64(len(entries))
	var err error
	if head.Root, err = leaves.Root(n); err != nil {
		t.Fatal(err)
	}
	for level, begin := bits.Len64(uint64(n))-1, int64(0); level >= 0; level-- {
		if n>>level&1 == 1 {
			h, err := leaves.ReadHashes([]int64{tlog.StoredHashIndex(level, begin>>level)})
			if err != nil {
				t.Fatal(err)
			}
			head.Edge = append(head.Edge, hex.EncodeToString(h[0][:]))
			begin += 1 << level
		}
	}
	head.Count = n
	b, err := head.Format()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serve publishes a branch as a static server does.
func (files branch) serve(t testing.TB) string {
	t.Helper()
	if !everyDocument {
		published.Store(&files)
		return publishedURL() + "/verify.html"
	}
	server := httptest.NewServer(http.HandlerFunc(files.answer))
	t.Cleanup(server.Close)
	return server.URL + "/verify.html"
}

func (files branch) answer(w http.ResponseWriter, r *http.Request) {
	b, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, ".html") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	_, _ = w.Write(b)
}

// write puts a branch into a directory.
func (files branch) write(t testing.TB, dir string) {
	t.Helper()
	for path, b := range files {
		to := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// edit changes a receipt as text and puts it into canonical form again.
func edit(t testing.TB, b []byte, change func(map[string]any)) []byte {
	t.Helper()
	out, err := storetest.Edit(b, change)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shot leaves a screenshot to be looked at.
func shot(t *testing.T, ctx context.Context, name string, width, height int64, dark bool) {
	t.Helper()
	if *papersDir == "" {
		return
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	do(t, ctx, chromedp.EmulateViewport(width, height))
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		t.Fatal(err)
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*papersDir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}
