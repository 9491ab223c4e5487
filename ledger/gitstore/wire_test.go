package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
)

// serveAnswers serves fixed answers: to the greeting, and to each command by its name.
func serveAnswers(t *testing.T, hello string, commands map[string]string) *wire {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Git-Protocol") != "version=2" {
			t.Error("the version is not asked for")
		}
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, hello)
			return
		}
		body, _ := io.ReadAll(r.Body)
		for name, answer := range commands {
			if bytes.Contains(body, []byte("command="+name+"\n")) {
				_, _ = io.WriteString(w, answer)
			}
		}
	}))
	t.Cleanup(server.Close)
	return &wire{http: server.Client(), url: server.URL + "/x", auth: func(*http.Request) {},
		keep: func(gitobject.Object) {}}
}

// joinPackets joins lines in git's packets; "0000" and "0001" stand for themselves.
func joinPackets(lines ...string) string {
	var b bytes.Buffer
	for _, l := range lines {
		if l == "0000" || l == "0001" {
			b.WriteString(l)
		} else {
			writePacket(&b, l)
		}
	}
	return b.String()
}

func TestHello(t *testing.T) {
	good := joinPackets("version 2\n", "agent=git/2\n", "ls-refs\n", "fetch=shallow filter\n", "0000")
	for name, c := range map[string]struct {
		answer string
		want   error
	}{
		"version 2":     {good, nil},
		"service first": {joinPackets("# service=git-upload-pack\n", "0000") + good, nil},
		"no filter":     {joinPackets("version 2\n", "fetch=shallow\n", "0000"), errOldServer},
		"version 1": {joinPackets("# service=git-upload-pack\n", "0000",
			strings.Repeat("0", 40)+" HEAD\x00agent\n", "0000"), errOldServer},
		"nothing":              {"", errOldServer},
		"a page":               {"<html>", errOldServer},
		"cut off":              {good[:20], errOldServer},
		"service without more": {joinPackets("# service=git-upload-pack\n"), errOldServer},
	} {
		if err := serveAnswers(t, c.answer, nil).greetServer(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	sha256 := joinPackets("version 2\n", "fetch=filter\n", "object-format=sha256\n", "0000")
	if err := serveAnswers(t, sha256, nil).greetServer(t.Context()); err == nil || errors.Is(err, errOldServer) ||
		!strings.Contains(err.Error(), "sha256") {
		t.Errorf("%v; want that sha256 is not known", err)
	}
}

func TestAnswers(t *testing.T) {
	id := strings.Repeat("ab", 20)
	w := serveAnswers(t, "", map[string]string{"ls-refs": joinPackets(id+" refs/heads/ledger2\n",
		id+" refs/heads/ledger symref-target:x\n", "0000")})
	if tip, err := w.tip(t.Context(), "refs/heads/ledger"); err != nil || tip != id {
		t.Errorf("%s, %v", tip, err)
	}
	if tip, err := w.tip(t.Context(), "refs/heads/none"); err != nil || tip != "" {
		t.Errorf("%s, %v; want that there is no branch", tip, err)
	}
	var pack bytes.Buffer
	blob := gitobject.New(gitobject.Blob, []byte("x"))
	if err := gitobject.WritePack(&pack, []gitobject.Object{blob}); err != nil {
		t.Fatal(err)
	}
	whole := joinPackets("shallow-info\n", "0001", "packfile\n", "\x02progress", "\x01"+pack.String()[:10],
		"\x01"+pack.String()[10:], "0000")
	w = serveAnswers(t, "", map[string]string{"fetch": whole})
	if got, err := w.read(t.Context(), 10, []string{blob.ID}); err != nil || len(got) != 1 ||
		string(got[0].Data) != "x" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := w.read(t.Context(), 10, []string{id}); !errors.Is(err, ErrMissing) {
		t.Errorf("%v; want that the object was not sent", err)
	}
	for name, answer := range map[string]string{
		"error":         joinPackets("ERR no such object\n"),
		"error in band": joinPackets("packfile\n", "\x03out of memory", "0000"),
		"no pack":       joinPackets("shallow-info\n", "0000"),
		"half a pack":   joinPackets("packfile\n", "\x01"+pack.String()[:10], "0000"),
		"cut off":       whole[:len(whole)-8],
		"no packets":    "zzzz",
	} {
		w := serveAnswers(t, "", map[string]string{"fetch": answer})
		if got, err := w.read(t.Context(), 10, []string{blob.ID}); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestToken holds that a token goes to the server in its header, and into no message.
func TestToken(t *testing.T) {
	seen := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, seen, _ = r.BasicAuth()
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()
	s, err := Open(server.URL+"/x", Options{Password: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Head(t.Context())
	if seen != "s3cret" || err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("sent %q, said %v", seen, err)
	}
	if got := basicHeader("u", "p"); got != "Authorization: Basic dTpw" { // base64 of u:p
		t.Error(got)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(joinPackets("packfile\n", "\x01PACK", "0000")))
	f.Add([]byte(joinPackets("version 2\n", "fetch=filter\n", "0000")))
	f.Fuzz(func(t *testing.T, b []byte) {
		pack, err := skipToPackfile(bufio.NewReader(bytes.NewReader(b)))
		if err == nil {
			n, _ := io.Copy(io.Discard, pack)
			if n > int64(len(b)) {
				t.Fatal("more came out than went in")
			}
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add("blob 12\n")
	f.Add("0123 missing\n")
	f.Fuzz(func(t *testing.T, line string) {
		kind, size, err := readHeader(bufio.NewReader(strings.NewReader(line)))
		if err != nil && (kind != "" || size != 0) || err == nil && size < -1 {
			t.Fatalf("%q: %q, %d, %v", line, kind, size, err)
		}
	})
}

// TestRemoteCancelled holds that a remote that hangs is given up with the context.
func TestRemoteCancelled(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer server.Close()
	defer close(stop)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Open(server.URL+"/x", Options{Now: fixedClock})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := ledger.Append(ctx, s, ledger.Retry{}, draftSample(0))
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want that it was cancelled", err)
	}
}
