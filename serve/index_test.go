package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// TestIndexLists: every entry is on the list once, newest first, linked to its page and under its run; older ones are
// behind a link; and the policy allows the page's own style, whose hash is taken from what is sent.
func TestIndexLists(t *testing.T) {
	const n = indexLength + 7
	entries := minted(t, n, storetest.Sample)
	h := Handler(&shelf{files: filesOf(t, entries)}, page)
	r, body := get(t, h, "GET", "/")
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %v: %s", r.StatusCode, r.Header, body)
	}
	if !strings.Contains(body, fmt.Sprintf("%d entries, verified to level L1", n)) {
		t.Error("it does not say how far it is verified")
	}
	_, older := get(t, h, "GET", "/?before=7")
	for i, e := range entries {
		link := `<a href="/r/` + canonical.SHA256Hex(e) + `">`
		first, second := strings.Count(body, link), strings.Count(older, link)
		if i < 7 && (first != 0 || second != 1) || i >= 7 && (first != 1 || second != 0) {
			t.Errorf("entry %d is %d times on the first page, %d times on the second", i, first, second)
		}
		run := parsedBack(t, e).Run
		if i >= 7 && !strings.Contains(body, "<h2>"+run.ID+" · "+run.Lane) {
			t.Errorf("the run %s has no heading", run.ID)
		}
	}
	if !strings.Contains(body, `href="/?before=7"`) || strings.Contains(older, "?before=") {
		t.Error("the link to older entries is wrong")
	}
	_, style, _ := strings.Cut(body, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("the policy %s does not allow the style %q", policy, style)
	}
	for _, before := range []string{"0", "-1", "x", fmt.Sprint(n + 1), "1e2", "../7"} {
		if r, body := get(t, h, "GET", "/?before="+before); r.StatusCode != 400 ||
			!strings.Contains(body, "must be the number of an entry") {
			t.Errorf("before=%s: %d %s", before, r.StatusCode, body)
		}
	}
}

// TestIndexEscapes: what a run is called cannot become part of the page, and what is not seen as itself is shown.
func TestIndexEscapes(t *testing.T) {
	harmless, plain := get(t, Handler(&shelf{files: filesOf(t, minted(t, 1, storetest.Sample))}, page), "GET", "/")
	tags := strings.Count(plain, "<")
	for _, text := range append([]string{"<script>alert(1)</script>", "</table>", "\"><b>", "\u202e"},
		storetest.HostileTexts()...) {
		r := storetest.Sample(0)
		storetest.Spoil(&r, text)
		r.Assignment.SHA256 = canonical.SHA256Hex([]byte(text))
		entries := minted(t, 1, func(int64) ledger.Receipt { return storetest.Key(r) })
		answer, body := get(t, Handler(&shelf{files: filesOf(t, entries)}, page), "GET", "/")
		if answer.StatusCode != harmless.StatusCode || strings.Count(body, "<") != tags ||
			strings.ContainsFunc(body, func(c rune) bool { return c == 0x202e || c == 0x200b || c < ' ' && c != '\n' }) {
			t.Errorf("%q: %d %s", text, answer.StatusCode, body)
		}
	}
}

// TestIndexOfATamperedLedger: the list says that nothing on it can be relied on.
func TestIndexOfATamperedLedger(t *testing.T) {
	entries := minted(t, 3, storetest.Sample)
	files := filesOf(t, entries)
	files["stranger.txt"] = []byte("not of the ledger")
	_, body := get(t, Handler(&shelf{files: files}, page), "GET", "/")
	if !strings.Contains(body, "This ledger does not verify. Rely on nothing below.") ||
		!strings.Contains(body, "stranger.txt") || strings.Contains(body, "verified to level") {
		t.Errorf("%s", body)
	}
	empty, body := get(t, Handler(&shelf{files: filesOf(t, nil)}, page), "GET", "/")
	if empty.StatusCode == 200 && !strings.Contains(body, "no entry yet") {
		t.Errorf("%d %s", empty.StatusCode, body)
	}
}
