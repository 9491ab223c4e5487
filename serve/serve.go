// Package serve shows a ledger over HTTP, for reading only: receipts by hash, whether they are verified, the page
// that checks one in the browser, and the files that this page reads. It decides nothing: bytes
// come from a Source, verdicts from ledger.Verify. Whoever asks is foreign: TestForeignHosts, TestShareHostile and
// TestShareAnswers hold what a visitor, a page of another name and a hostile ledger get to see.
package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// Source is the ledger that a share server shows. Both methods may be called at the same time.
type Source interface {
	// Entry gives the bytes of the entry with the hash, nil if the ledger has none.
	Entry(ctx context.Context, hash string) ([]byte, error)
	// Verify verifies the newest state of the ledger as a whole.
	Verify(ctx context.Context) (*ledger.Verification, error)
}

// Handler serves a ledger for reading; page is what report.VerifyPage returns:
//
//	GET /                the list of runs with their verdicts and receipts, newest first; ?before=N for older ones
//	GET /share/{hash}    {payload, receipt_id, seq, parent_hash, receipt_sha256, verified}
//	GET /r/{hash}        verify.html, which shows that receipt and checks it in the browser
//	GET /ledger/verify   {ok, level, receipts_checked, errors[]}
//	GET /hash/ab/cd/{hash}.json, /HEAD.json, /LEDGER.json   what the page reads, at the paths of the branch
//
// verified says that the bytes have the hash and are a valid receipt, and that the whole ledger verifies and holds it
// at its place; what is not verified is false, never left out. The payload is the receipt's bytes as they are, so
// that its hash can be checked. Whatever is refused is {error}. A verification is shared by all who ask within
// verificationFreshFor.
//
// It answers to addresses, to localhost and to the names in hosts. A request for any other name is refused: a page of
// that name, whose author lets it stand for this machine, could otherwise read the ledger through a visitor's
// browser.
func Handler(src Source, page []byte, hosts ...string) http.Handler {
	s := &shareServer{src: src, verifyPage: page}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"/{$}":                 s.serveIndex,
		"/share/{hash}":        s.serveShare,
		"/r/{hash}":            s.servePage,
		"/ledger/verify":       s.serveVerification,
		"/hash/{a}/{b}/{file}": s.serveEntryFile,
		"/HEAD.json":           s.serveHead,
		"/LEDGER.json":         s.serveInfo,
		"/":                    refuseUnknownPath,
	} {
		mux.HandleFunc(pattern, handle)
	}
	return guardRequests(mux, hosts)
}

// verificationFreshFor is how long a share server takes a verification for the newest.
const verificationFreshFor = 10 * time.Second

// shareServer is the state of a share server: the last verification.
type shareServer struct {
	src        Source
	verifyPage []byte
	mu         sync.Mutex
	last       *ledger.Verification
	at         time.Time
}

// guardRequests answers nothing but GET and HEAD, and sets the headers that every answer has.
func guardRequests(next http.Handler, hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-cache")
		if !isOwnHost(r.Host, hosts) {
			writeRefusal(w, http.StatusMisdirectedRequest,
				"this server does not answer to the name %q: use its address, or start it with --host", r.Host)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			writeRefusal(w, http.StatusMethodNotAllowed, "the server is read-only: GET and HEAD")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnHost reports whether a Host header names this server: an address, localhost, or one of its names.
func isOwnHost(host string, names []string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	isOwn := func(own string) bool { return own != "" && strings.EqualFold(own, name) }
	return net.ParseIP(name) != nil || name == "localhost" || slices.ContainsFunc(names, isOwn)
}

func refuseUnknownPath(w http.ResponseWriter, _ *http.Request) {
	writeRefusal(w, http.StatusNotFound, "not found")
}

// immutableCache is for what has its own hash in its address.
const immutableCache = "public, max-age=31536000, immutable"

// writeJSON answers with JSON.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone is told nothing
}

// visible shows characters that are not seen as themselves as the ledger's canonical form does: <U+202E>.
func visible(text string) string {
	text, _ = canonical.Sanitize(text)
	return text
}

// writeRefusal answers with a status and what is wrong.
func writeRefusal(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Cache-Control", "no-store")
	body, err := json.Marshal(map[string]string{"error": visible(fmt.Sprintf(format, args...))})
	if err != nil {
		body = []byte(`{"error":"internal error"}`)
	}
	writeJSON(w, status, body)
}

// readEntry reads the entry that the address names, or answers why not. The bytes have the hash.
func (s *shareServer) readEntry(w http.ResponseWriter, r *http.Request, hash string) []byte {
	if err := canonical.CheckHash(hash); err != nil {
		writeRefusal(w, http.StatusBadRequest, "not the address of a receipt: %v", err)
		return nil
	}
	b, err := s.src.Entry(r.Context(), hash)
	switch {
	case err != nil:
		writeRefusal(w, http.StatusInternalServerError, "the ledger cannot be read: %v", err)
	case b == nil:
		writeRefusal(w, http.StatusNotFound, "the ledger has no receipt %s", hash)
	case canonical.SHA256Hex(b) != hash:
		writeRefusal(w, http.StatusInternalServerError, "the ledger has other bytes under the hash %s", hash)
	default:
		return b
	}
	return nil
}

func (s *shareServer) serveShare(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("hash")
	b := s.readEntry(w, r, hash)
	if b == nil {
		return
	}
	receipt, err := ledger.Parse(b)
	if err != nil {
		writeRefusal(w, http.StatusInternalServerError, "the ledger contains something that is not a receipt: %v", err)
		return
	}
	v, err := s.freshVerification(r.Context())
	if err != nil {
		writeRefusal(w, http.StatusInternalServerError, "the ledger cannot be verified: %v", err)
		return
	}
	verified := v.OK() && receipt.Seq < int64(len(v.Hashes)) && v.Hashes[receipt.Seq] == hash
	rest, err := json.Marshal(struct {
		ID       string `json:"receipt_id"`
		Seq      int64  `json:"seq"`
		Parent   string `json:"parent_hash"`
		Hash     string `json:"receipt_sha256"`
		Verified bool   `json:"verified"`
	}{receipt.ID, receipt.Seq, receipt.ParentHash, hash, verified})
	if err != nil {
		writeRefusal(w, http.StatusInternalServerError, "%v", err)
		return
	}
	writeJSON(w, http.StatusOK, bytes.Join([][]byte{[]byte(`{"payload":`), b, []byte(","), rest[1:]}, nil))
}

// servePage serves verify.html under its own policy.
func (s *shareServer) servePage(w http.ResponseWriter, r *http.Request) {
	if s.readEntry(w, r, r.PathValue("hash")) == nil {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policyOf(s.verifyPage)+"; frame-ancestors 'none'")
	_, _ = w.Write(s.verifyPage)
}

// policyOf is the policy that a page states itself.
func policyOf(page []byte) string {
	_, rest, _ := strings.Cut(string(page), `http-equiv="Content-Security-Policy" content="`)
	policy, _, _ := strings.Cut(rest, `"`)
	return policy
}

// freshVerification returns the last verification while it is fresh, and makes one otherwise; who asks meanwhile
// waits for that one. It does not end with the request that began it, since others may wait for it.
func (s *shareServer) freshVerification(ctx context.Context) (*ledger.Verification, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && time.Since(s.at) < verificationFreshFor {
		return s.last, nil
	}
	v, err := s.src.Verify(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	s.last, s.at = v, time.Now()
	return v, nil
}

// serveVerification says what Verify found. A ledger that does not verify is an answer like any other; ok says it.
func (s *shareServer) serveVerification(w http.ResponseWriter, r *http.Request) {
	v, err := s.freshVerification(r.Context())
	if err != nil {
		writeRefusal(w, http.StatusInternalServerError, "the ledger cannot be verified: %v", err)
		return
	}
	level := "none"
	if v.OK() {
		level = v.Level.String()
	}
	problems := []string{}
	for _, p := range v.Problems {
		problems = append(problems, visible(p.String()))
	}
	body, err := json.Marshal(struct {
		OK      bool     `json:"ok"`
		Level   string   `json:"level"`
		Checked int      `json:"receipts_checked"`
		Errors  []string `json:"errors"`
	}{v.OK(), level, len(v.Hashes), problems})
	if err != nil {
		writeRefusal(w, http.StatusInternalServerError, "%v", err)
		return
	}
	writeJSON(w, http.StatusOK, body)
}

// serveEntryFile serves an entry at its path by hash.
func (s *shareServer) serveEntryFile(w http.ResponseWriter, r *http.Request) {
	place, err := ledger.ParsePath(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		writeRefusal(w, http.StatusNotFound, "%v", err)
		return
	}
	if b := s.readEntry(w, r, place.Hash); b != nil {
		w.Header().Set("Cache-Control", immutableCache)
		writeJSON(w, http.StatusOK, b)
	}
}

// serveHead and serveInfo serve the two small files as the entries make them.
func (s *shareServer) serveHead(w http.ResponseWriter, r *http.Request) {
	s.serveDerived(w, r, func(v *ledger.Verification) ([]byte, error) { return v.Head.Format() })
}

func (s *shareServer) serveInfo(w http.ResponseWriter, r *http.Request) {
	s.serveDerived(w, r, func(v *ledger.Verification) ([]byte, error) {
		if v.Info == nil {
			return nil, nil
		}
		return v.Info.Marshal()
	})
}

func (s *shareServer) serveDerived(
	w http.ResponseWriter, r *http.Request, of func(*ledger.Verification) ([]byte, error),
) {
	v, err := s.freshVerification(r.Context())
	var b []byte
	if err == nil {
		b, err = of(v)
	}
	switch {
	case err != nil:
		writeRefusal(w, http.StatusInternalServerError, "the ledger cannot be verified: %v", err)
	case b == nil:
		writeRefusal(w, http.StatusNotFound, "no such file in the ledger yet")
	default:
		writeJSON(w, http.StatusOK, b)
	}
}

// The bounds of a share server: slow clients do not hold it.
const (
	readTime  = 10 * time.Second
	writeTime = 2 * time.Minute // a long ledger is verified within it
	endTime   = 5 * time.Second // for answers under way when it ends
)

// Run answers on l until ctx ends, then lets the answers under way finish. It closes l.
func Run(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: readTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: writeTime,
		MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}
