package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// page stands for verify.html, with a policy of its own.
var page = []byte(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-x'">
<title>Verify a receipt</title>`)

// shelf is a ledger in memory as a Source.
type shelf struct {
	files    map[string][]byte
	broken   error
	verified atomic.Int64
}

func (s *shelf) Entry(_ context.Context, hash string) ([]byte, error) {
	return s.files[ledger.Place{Class: ledger.HashAlias, Hash: hash}.String()], s.broken
}

func (s *shelf) Verify(ctx context.Context) (*ledger.Verification, error) {
	s.verified.Add(1)
	if s.broken != nil {
		return nil, s.broken
	}
	var tree ledger.FileTree
	for path, data := range s.files {
		tree = append(tree, ledger.File{Path: path, Data: data})
	}
	return ledger.Verify(ctx, tree, ledger.Options{})
}

// minted are the entries of a ledger of n receipts.
func minted(t testing.TB, n int, of func(int64) ledger.Receipt) [][]byte {
	t.Helper()
	entries, err := storetest.Mint(n, of)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// filesOf are the files of a ledger with these entries.
func filesOf(t testing.TB, entries [][]byte) map[string][]byte {
	t.Helper()
	files, err := storetest.Files(entries)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// get asks a handler and gives the answer, its body read.
func get(t testing.TB, h http.Handler, method, target string) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	request := httptest.NewRequest(method, target, nil)
	request.Host = "127.0.0.1:8321"
	h.ServeHTTP(w, request)
	r := w.Result()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(b)
}

func TestShare(t *testing.T) {
	entries := minted(t, 5, storetest.Sample)
	hash, parent := canonical.SHA256Hex(entries[3]), canonical.SHA256Hex(entries[2])
	h := Handler(&shelf{files: filesOf(t, entries)}, page)
	r, body := get(t, h, "GET", "/share/"+hash)
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Fatalf("%d %s: %s", r.StatusCode, r.Header, body)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"receipt_id": `"DCR-000003-` + parsedBack(t, entries[3]).Submission.SHA256[:8] + `"`,
		"seq": "3", "parent_hash": `"` + parent + `"`,
		"receipt_sha256": `"` + hash + `"`, "verified": "true", "payload": string(entries[3])}
	for k, v := range want {
		if string(got[k]) != v {
			t.Errorf("%s is %s, want %s", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d members, want %d", len(got), len(want))
	}
}

func parsedBack(t testing.TB, b []byte) *ledger.Receipt {
	t.Helper()
	r, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestShareAnswers(t *testing.T) {
	entries := minted(t, 4, storetest.Sample)
	hash := canonical.SHA256Hex(entries[1])
	good := filesOf(t, entries)
	edited := filesOf(t, entries) // under its hash an entry lies that is another one's bytes
	edited[ledger.Place{Class: ledger.HashAlias, Hash: hash}.String()] = bytes.Replace(entries[1], []byte("2.4 %"),
		[]byte("0.4 %"), 1)
	dropped := filesOf(t, entries)
	for _, p := range ledger.Places(2, canonical.SHA256Hex(entries[2]), 3) {
		delete(dropped, p.String())
	}
	odd := []byte("{}")
	foreign := filesOf(t, entries)
	foreign[ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(odd)}.String()] = odd
	for _, c := range []struct {
		name, method, path string
		src                *shelf
		status             int
		says               string
	}{
		{"page", "GET", "/r/" + hash, &shelf{files: good}, 200, "<title>Verify a receipt</title>"},
		{"ledger", "GET", "/ledger/verify", &shelf{files: good}, 200,
			`{"ok":true,"level":"L1","receipts_checked":4,"errors":[]}`},
		{"head", "GET", "/HEAD.json", &shelf{files: good}, 200, string(good["HEAD.json"])},
		{"info", "GET", "/LEDGER.json", &shelf{files: good}, 200, string(good["LEDGER.json"])},
		{"file", "GET", "/hash/" + hash[:2] + "/" + hash[2:4] + "/" + hash + ".json", &shelf{files: good}, 200,
			string(entries[1])},
		{"no head yet", "GET", "/LEDGER.json", &shelf{files: nil}, 404, "no such file"},
		{"unknown", "GET", "/share/" + strings.Repeat("a", 64), &shelf{files: good}, 404, "has no receipt"},
		{"unknown page", "GET", "/r/" + strings.Repeat("a", 64), &shelf{files: good}, 404, "has no receipt"},
		{"no hash", "GET", "/share/DCR-000001-a5b5d50c", &shelf{files: good}, 400, "is not a SHA-256"},
		{"upper case", "GET", "/share/" + strings.ToUpper(hash), &shelf{files: good}, 400, "is not a SHA-256"},
		{"markup", "GET", "/share/%3Cscript%3E%E2%80%AE", &shelf{files: good}, 400, `is not a SHA-256`},
		{"up", "GET", "/hash/ab/cd/..%2f..%2fHEAD.json", &shelf{files: good}, 404, "not a path of a ledger"},
		{"wrong folder", "GET", "/hash/00/00/" + hash + ".json", &shelf{files: good}, 404, "not a path of a ledger"},
		{"elsewhere", "GET", "/etc/passwd", &shelf{files: good}, 404, "not found"},
		{"no page of the list", "GET", "/index.html", &shelf{files: good}, 404, "not found"},
		{"post", "POST", "/share/" + hash, &shelf{files: good}, 405, "read-only"},
		{"delete", "DELETE", "/ledger/verify", &shelf{files: good}, 405, "read-only"},
		{"options", "OPTIONS", "/share/" + hash, &shelf{files: good}, 405, "read-only"},
		{"edited", "GET", "/share/" + hash, &shelf{files: edited}, 500, "other bytes under the hash"},
		{"edited page", "GET", "/r/" + hash, &shelf{files: edited}, 500, "other bytes under the hash"},
		{"no receipt", "GET", "/share/" + canonical.SHA256Hex(odd), &shelf{files: foreign}, 500, "is not a receipt"},
		{"of a broken ledger", "GET", "/share/" + hash, &shelf{files: dropped}, 200, `"verified":false`},
		{"a broken ledger", "GET", "/ledger/verify", &shelf{files: dropped}, 200,
			`{"ok":false,"level":"none","receipts_checked":3,"errors":["LDG-201`},
		{"no disk", "GET", "/share/" + hash, &shelf{broken: errors.New("disk \u202e gone")}, 500,
			"the ledger cannot be read: disk \\u003cU+202E\\u003e gone"},
		{"no disk, ledger", "GET", "/ledger/verify", &shelf{broken: errors.New("disk gone")}, 500,
			"cannot be verified: disk gone"},
		{"no disk, head", "GET", "/HEAD.json", &shelf{broken: errors.New("disk gone")}, 500,
			"cannot be verified: disk gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, body := get(t, Handler(c.src, page), c.method, c.path)
			if r.StatusCode != c.status || !strings.Contains(body, c.says) {
				t.Errorf("%d, want %d with %q: %s", r.StatusCode, c.status, c.says, legible.Clip(body, 300))
			}
			for key, want := range map[string]string{"X-Content-Type-Options": "nosniff",
				"Referrer-Policy": "no-referrer"} {
				if r.Header.Get(key) != want {
					t.Errorf("%s is %q, want %q", key, r.Header.Get(key), want)
				}
			}
			policy := r.Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none';") ||
				!strings.Contains(policy, "frame-ancestors 'none'") ||
				strings.Contains(policy, "script-src") != (c.name == "page") {
				t.Errorf("the policy is %q", policy)
			}
			if c.status == 405 && r.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow is %q", r.Header.Get("Allow"))
			}
			if cache := r.Header.Get("Cache-Control"); strings.Contains(cache, "immutable") != (c.name == "file") ||
				c.status >= 400 && cache != "no-store" {
				t.Errorf("Cache-Control is %q", cache)
			}
			if c.status >= 400 && !json.Valid([]byte(body)) {
				t.Errorf("the refusal is no JSON: %s", body)
			}
		})
	}
}

// TestShareFresh holds that a crowd makes one verification, and a later visitor another.
func TestShareFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &shelf{files: filesOf(t, minted(t, 2, storetest.Sample))}
		h := Handler(src, page)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { get(t, h, "GET", "/ledger/verify") })
		}
		wg.Wait()
		if n := src.verified.Load(); n != 1 {
			t.Errorf("%d verifications for 20 visitors at once", n)
		}
		time.Sleep(verificationFreshFor + time.Second)
		get(t, h, "GET", "/ledger/verify")
		if n := src.verified.Load(); n != 2 {
			t.Errorf("%d verifications after %v, want 2", n, verificationFreshFor)
		}
	})
}

// TestRun holds that an answer under way is finished when the server ends, and that HEAD has no body.
func TestRun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	under, free := make(chan bool), make(chan bool)
	entries := minted(t, 1, storetest.Sample)
	share := Handler(&shelf{files: filesOf(t, entries)}, page)
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				under <- true
				<-free
			}
			share.ServeHTTP(w, r)
		}))
	}()
	r, err := http.Head("http://" + l.Addr().String() + "/share/" + canonical.SHA256Hex(entries[0]))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 200 || r.ContentLength == 0 {
		t.Errorf("HEAD: %d, %d bytes announced", r.StatusCode, r.ContentLength)
	}
	slow := make(chan int, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String() + "/slow")
		if err != nil {
			slow <- 0
			return
		}
		r.Body.Close()
		slow <- r.StatusCode
	}()
	<-under
	cancel()
	close(free)
	if status := <-slow; status != 404 {
		t.Errorf("the answer under way is %d, want 404", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if _, err := http.Get("http://" + l.Addr().String() + "/"); err == nil {
		t.Error("the server still answers")
	}
}

// TestShareHostile serves receipts with markup in every string as data, never as a page.
func TestShareHostile(t *testing.T) {
	for _, text := range append([]string{"<script>alert(1)</script>", "</body>"}, storetest.HostileTexts()...) {
		r := storetest.Sample(0)
		storetest.Spoil(&r, text)
		r.Assignment.SHA256 = canonical.SHA256Hex([]byte(text))
		entries := minted(t, 1, func(int64) ledger.Receipt { return storetest.Key(r) })
		answer, body := get(t, Handler(&shelf{files: filesOf(t, entries)}, page), "GET",
			"/share/"+canonical.SHA256Hex(entries[0]))
		if answer.StatusCode != 200 || !json.Valid([]byte(body)) ||
			!strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%q: %d %s", text, answer.StatusCode, legible.Clip(body, 200))
		}
	}
}

// TestForeignHosts: a name that is not the server's is refused before anything is read, whatever it resolves to (DNS
// rebinding); addresses, localhost and the names that it was started with are answered.
func TestForeignHosts(t *testing.T) {
	h := Handler(&shelf{files: nil}, page, "ledger.example", "")
	for host, want := range map[string]int{
		"127.0.0.1:8321": http.StatusNotFound, "[::1]:8321": http.StatusNotFound, "localhost:8321": http.StatusNotFound,
		"LOCALHOST": http.StatusNotFound, "localhost.": http.StatusNotFound,
		"ledger.example": http.StatusNotFound, "ledger.example:443": http.StatusNotFound,
		"10.1.2.3":     http.StatusNotFound,
		"evil.example": http.StatusMisdirectedRequest, "evil.example:8321": http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest,
		"localhost.evil.example": http.StatusMisdirectedRequest,
		"ledger.example.evil":    http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/nothing", nil)
		r.Host = host
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q: %d %s, want %d", host, w.Code, w.Body, want)
		}
	}
}
