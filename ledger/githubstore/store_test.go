package githubstore_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/githubstore"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/ledger/storetest"
)

// connection is a store whose states can be verified in the server's own repository, and that can be made to die at any
// of its requests.
type connection struct {
	*githubstore.Store
	server *githubtest.Server
	api    *githubapi.Client
}

// Tree is storetest.Viewer's.
func (c connection) Tree(at ledger.Snapshot) (ledger.Tree, error) { return treeOf(c.server, at) }

// treeOf reads a state of the ledger in the server's own repository.
func treeOf(s *githubtest.Server, at ledger.Snapshot) (ledger.Tree, error) {
	local, err := gitstore.Open(s.Dir(), gitstore.Options{})
	if err != nil {
		return nil, err
	}
	return local.Tree(at)
}

// Break is storetest.Breaker's: the step-th request of an append to a ledger that exists is lost, before its effect for
// even steps and after it for odd ones. There are three; after the last one's effect nothing is broken, as the branch
// says so.
func (c connection) Break(step int) bool {
	steps := []githubtest.Fault{githubtest.DropBefore, githubtest.DropAfter}
	requests := [][2]string{{"POST", "git/trees"}, {"POST", "git/commits"}, {"PATCH", "git/refs/**"}}
	if step >= 2*len(requests)-1 {
		return false
	}
	c.server.Inject(steps[step%2].On(requests[step/2][0], requests[step/2][1]))
	return true
}

// connectStore opens a store; without patience nothing is sent twice.
func connectStore(t testing.TB, s *githubtest.Server, wait time.Duration, notice func(string)) connection {
	t.Helper()
	api, err := githubstore.NewClient(githubstore.ClientOptions{APIURL: s.APIURL(), Token: s.Token, Repository: s.Name,
		MaxWait:   wait,
		Transport: s.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	store, err := githubstore.Open(api, githubstore.Options{URL: s.CloneURL(), Token: s.Token, Notice: notice})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return connection{store, s, api}
}

// TestMain has the tests write into memory, and reach the servers of inProcess without a network.
func TestMain(m *testing.M) {
	storetest.TempInMemory()
	http.DefaultTransport = sites{http.DefaultTransport}
	os.Exit(m.Run())
}

// sites are servers that answer in this process. Everything else goes over the network.
type sites struct{ next http.RoundTripper }

// answering are the servers that do, by their hosts.
var answering sync.Map

// RoundTrip is http.RoundTripper's.
func (s sites) RoundTrip(r *http.Request) (*http.Response, error) {
	site, here := answering.Load(r.URL.Host)
	if !here {
		return s.next.RoundTrip(r)
	}
	resp, err := site.(http.RoundTripper).RoundTrip(r)
	if err == nil {
		resp.Request = r
	}
	return resp, err
}

// inProcess has git's requests to a server answered without a network, as those of the API are, and runs a test in a
// time of its own, in which nothing waits.
func inProcess(t *testing.T, s *githubtest.Server, test func(t *testing.T)) {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	answering.Store(at.Host, s.Transport())
	defer answering.Delete(at.Host)
	synctest.Test(t, test)
}

func TestGitHubStore(t *testing.T) {
	t.Parallel()
	storetest.TestStore(t, func(t *testing.T) func() ledger.Store {
		s := githubtest.New(t)
		return func() ledger.Store { return connectStore(t, s, -1, nil) }
	})
}

// quick makes the waits between tries short.
var quick = ledger.Retry{Tries: 100, Pick: func(time.Duration) time.Duration { return 0 }}

func draftOf(receipts ...ledger.Receipt) func(ledger.Snapshot) (ledger.Draft, error) {
	return func(ledger.Snapshot) (ledger.Draft, error) { return ledger.Draft{Receipts: receipts}, nil }
}

func appendReceipts(t *testing.T, s ledger.Store, receipts ...ledger.Receipt) ledger.Result {
	t.Helper()
	result, err := ledger.Append(t.Context(), s, quick, draftOf(receipts...))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// verifyCommitted holds the ledger to count entries, one chain, and commits that GitHub made.
func verifyCommitted(t *testing.T, c connection, count int64) {
	t.Helper()
	at, err := c.Head(t.Context())
	if err != nil || at.Head.Count != count {
		t.Fatalf("%d entries, %v; want %d", at.Head.Count, err, count)
	}
	tree, err := c.Tree(at)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ledger.Verify(t.Context(), tree, ledger.Options{})
	if err != nil || v.Head.Count != count {
		t.Errorf("%d entries in the tree, %v", v.Head.Count, err)
	}
	for _, p := range v.Problems {
		t.Error(p)
	}
}

// An append is three requests, the first one too, behind one entry and behind many. One request more sends a batch of
// more than a megabyte once and not three times.
func TestCalls(t *testing.T) {
	s := githubtest.New(t)
	calls := func(receipts ...ledger.Receipt) int {
		c := connectStore(t, s, -1, nil)
		appendReceipts(t, c, receipts...)
		return c.api.Calls()
	}
	var some, many []ledger.Receipt
	for n := range int64(30) {
		some = append(some, storetest.Sample(n+1))
	}
	for n := range int64(60) {
		r := storetest.Sample(n + 31)
		long := strings.Repeat("x", 10_000)
		r.Assignment = &ledger.Assignment{Text: long, SHA256: canonical.SHA256Hex([]byte(long))}
		many = append(many, storetest.Key(r))
	}
	batches := [][]ledger.Receipt{{storetest.Sample(0)}, some, many, {storetest.Sample(91)},
		{storetest.Sample(92), storetest.Sample(93)}}
	for i, want := range []int{3, 3, 4, 3, 3} {
		if got := calls(batches[i]...); got != want {
			t.Errorf("append %d took %d requests, want %d", i, got, want)
		}
	}
	verifyCommitted(t, connectStore(t, s, -1, nil), 94)
	sent := 0
	for _, r := range s.Requests() {
		if strings.Contains(r.Path, "/git/trees") {
			sent += strings.Count(r.Body, `\"receipt_id\":\"DCR-000031-`)
		}
	}
	if sent != 1 {
		t.Errorf("a receipt of a large batch was sent %d times", sent)
	}
}

// What GitHub has got from a try that lost is not sent again by the next one: rulebooks are large.
func TestSentOnce(t *testing.T) {
	s := githubtest.New(t)
	c := connectStore(t, s, -1, nil)
	appendReceipts(t, c, storetest.Sample(0))
	sheet := []byte(`{"slug":"` + strings.Repeat("x", 1000) + `"}`)
	r := storetest.Sample(1)
	r.FlightSheet.SHA256 = ledger.SheetHash(sheet)
	s.Inject(githubtest.Fault{Method: "POST", Path: "git/commits",
		Do: func() { appendReceipts(t, connectStore(t, s, -1, nil), storetest.Sample(5)) }})
	result, err := ledger.Append(t.Context(), c, quick, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Key(r)}, Sheets: [][]byte{sheet}}, nil
	})
	if err != nil || result.Tries != 2 {
		t.Errorf("%d tries, %v", result.Tries, err)
	}
	sent := 0
	for _, r := range s.Requests() {
		sent += strings.Count(r.Body, "xxxxxxxx"+`\"}`)
	}
	if sent != 1 {
		t.Errorf("the rulebook was sent %d times", sent)
	}
	verifyCommitted(t, connectStore(t, s, -1, nil), 3)
}

// A race that is lost before the commit costs the tree and nothing else, and one that is lost before the tree costs
// nothing.
func TestLostEarly(t *testing.T) {
	s := githubtest.New(t)
	c := connectStore(t, s, -1, nil)
	appendReceipts(t, c, storetest.Sample(0))
	s.Inject(githubtest.Fault{Method: "POST", Path: "git/trees",
		Do: func() { appendReceipts(t, connectStore(t, s, -1, nil), storetest.Sample(5)) }})
	if r := appendReceipts(t, c, storetest.Sample(1)); r.Tries != 2 || c.api.Calls() != 3+1+3 {
		t.Errorf("%d tries, %d requests; want 2, and 7 with those of the first append", r.Tries, c.api.Calls())
	}
	before := c.api.Calls()
	late := true
	result, err := ledger.Append(t.Context(), c, quick, func(ledger.Snapshot) (ledger.Draft, error) {
		if late {
			late = false
			appendReceipts(t, connectStore(t, s, -1, nil), storetest.Sample(6))
		}
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(2)}}, nil
	})
	if err != nil || result.Tries != 2 || c.api.Calls()-before != 3 {
		t.Errorf("%d tries, %d requests, %v; want 2 and 3", result.Tries, c.api.Calls()-before, err)
	}
	verifyCommitted(t, connectStore(t, s, -1, nil), 5)
}

// What a swap that failed means is read from the branch.
func TestSwap(t *testing.T) {
	t.Parallel()
	rule := githubtest.Fault{Status: 422, Body: `{"message":"Repository rule violations found"}`}
	for name, c := range map[string]struct {
		fault githubtest.Fault
		moved bool // another commit comes first
		want  error
		count int64
		text  string
	}{
		"lost after the effect":    {fault: githubtest.DropAfter, count: 2},
		"502 after the effect":     {fault: githubtest.Fault{Status: 502, FailAfter: true}, count: 2},
		"lost before the effect":   {fault: githubtest.DropBefore, want: ledger.ErrAmbiguous, count: 1},
		"another came first":       {moved: true, want: ledger.ErrStale, count: 2},
		"lost, another came first": {fault: githubtest.DropBefore, moved: true, want: ledger.ErrAmbiguous, count: 2},
		"a ruleset": {fault: rule, count: 1,
			text: "Repository rule violations found; if a ruleset forbids it"},
		"no permission": {fault: githubtest.NoAccess, count: 1,
			text: "Resource not accessible by integration"},
	} {
		t.Run(name, func(t *testing.T) {
			s := githubtest.New(t)
			k := connectStore(t, s, -1, nil)
			appendReceipts(t, k, storetest.Sample(0))
			fault := c.fault.On("PATCH", "git/refs/**")
			if c.moved {
				s.Inject(githubtest.Fault{Method: "POST", Path: "git/commits",
					Do: func() { appendReceipts(t, connectStore(t, s, -1, nil), storetest.Sample(5)) }})
				fault.Skip = 1
			}
			if c.fault.Status > 0 || c.fault.DropBefore || c.fault.DropAfter {
				s.Inject(fault)
			}
			_, err := ledger.Append(t.Context(), k, ledger.Retry{Tries: 1}, draftOf(storetest.Sample(1)))
			switch {
			case c.want != nil && !errors.Is(err, c.want):
				t.Errorf("%v, want %v", err, c.want)
			case c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text) ||
				errors.Is(err, ledger.ErrStale)):
				t.Errorf("%v, want %q", err, c.text)
			case c.want == nil && c.text == "" && err != nil:
				t.Error(err)
			}
			verifyCommitted(t, connectStore(t, s, -1, nil), c.count)
		})
	}
}

// A head that the API still gives from before is not asked for; the swap itself would be refused.
func TestStaleReferenceRead(t *testing.T) {
	s := githubtest.New(t)
	appendReceipts(t, connectStore(t, s, -1, nil), storetest.Sample(0))
	s.Inject(githubtest.Fault{Method: "GET", Path: "git/ref/**", Stale: true}.Always())
	for n := range int64(3) {
		if r := appendReceipts(t, connectStore(t, s, -1, nil), storetest.Sample(n+1)); r.Tries != 1 {
			t.Errorf("%d tries", r.Tries)
		}
	}
	verifyCommitted(t, connectStore(t, s, -1, nil), 4)
}

// Rate limits and failing servers cost waits and nothing else.
func TestPatience(t *testing.T) {
	s := githubtest.New(t)
	inProcess(t, s, func(t *testing.T) { appendThroughFaults(t, s) })
}

func appendThroughFaults(t *testing.T, s *githubtest.Server) {
	start := time.Now()
	s.Inject(githubtest.RetryAfter(403, 1).On("POST", "git/trees"))
	s.Inject(githubtest.Unicorn.On("POST", "git/commits"))
	s.Inject(githubtest.RetryAfter(429, 1).On("POST", "git/refs"))
	s.Inject(githubtest.Unicorn.OnGit("GET", "info/refs*"))
	s.Inject(githubtest.RetryAfter(429, 1).OnGit("POST", "git-upload-pack"))
	s.Inject(githubtest.DropAfter.OnGit("POST", "git-upload-pack"))
	if r := appendReceipts(t, connectStore(t, s, time.Minute, nil), storetest.Sample(0)); r.Tries != 1 {
		t.Errorf("%d tries", r.Tries)
	}
	// Each of the six faults is waited for a second; a wait that is random may come on top.
	if took := time.Since(start); took < 6*time.Second || took > 12*time.Second {
		t.Errorf("it took %s", took)
	}
	verifyCommitted(t, connectStore(t, s, -1, nil), 1)
}

// A commit that GitHub did not sign is said, once each, and keeps nobody from a receipt.
func TestUnsigned(t *testing.T) {
	s := githubtest.New(t)
	var notices []string
	c := connectStore(t, s, -1, func(n string) { notices = append(notices, n) })
	appendReceipts(t, c, storetest.Sample(0))
	s.SetUnsigned()
	appendReceipts(t, c, storetest.Sample(1))
	if len(notices) != 1 || !strings.Contains(notices[0], "GitHub did not sign") ||
		!strings.Contains(notices[0], "unsigned") {
		t.Errorf("%q", notices)
	}
	verifyCommitted(t, c, 2)
}

// No path that could have been there before is written, and nothing is sent for such a batch.
func TestRefusedBatches(t *testing.T) {
	s := githubtest.New(t)
	c := connectStore(t, s, -1, nil)
	first := appendReceipts(t, c, storetest.Sample(0)).Added[0]
	at, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head := ledger.File{Path: ledger.HeadPath, Data: []byte("{}")}
	entry := func(seq int64, pull int64) []ledger.File {
		var files []ledger.File
		for _, p := range ledger.Places(seq, first.Hash, pull) {
			files = append(files, ledger.File{Path: p.String(), Data: first.Bytes})
		}
		return files
	}
	sheet := ledger.SheetHash([]byte("{}"))
	before := len(s.Requests())
	for name, files := range map[string][]ledger.File{
		"an entry that is there":    append(entry(0, 1), head),
		"a path of no ledger":       {head, {Path: "x", Data: []byte("x")}},
		"the papers":                {head, {Path: ledger.ReadmePath, Data: []byte("x")}},
		"LEDGER.json":               {head, {Path: ledger.InfoPath, Data: []byte("x")}},
		"another sheet":             {head, {Path: "sheets/" + sheet[:2] + "/" + sheet + ".json", Data: []byte("{ }")}},
		"another entry by its hash": {head, {Path: entry(0, 1)[1].Path, Data: []byte("{}")}},
		"one path twice":            {head, head},
		"no HEAD.json":              entry(1, 1),
	} {
		if err := c.Append(t.Context(), at, ledger.Batch{Files: files, Message: "x\n", Head: at.Head}); err == nil ||
			errors.Is(err, ledger.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent := len(s.Requests()) - before; sent != 0 {
		t.Errorf("%d requests", sent)
	}
	verifyCommitted(t, c, 1)
}

func TestOpenRefuses(t *testing.T) {
	for _, o := range []githubstore.Options{{URL: t.TempDir()}, {URL: "https://example.com/a.git", Branch: "a..b"}} {
		if _, err := githubstore.Open(nil, o); err == nil {
			t.Errorf("%+v was opened", o)
		}
	}
}

// Every commit of the branch has one parent, the message of receipts.md, GitHub as its committer, and its signature.
func TestCommits(t *testing.T) {
	s := githubtest.New(t)
	c := connectStore(t, s, -1, nil)
	first := appendReceipts(t, c, storetest.Sample(0)).Added[0]
	second := appendReceipts(t, c, storetest.Sample(1)).Added[0]
	data, err := s.Read("refs/heads/ledger", ledger.HeadPath)
	if err != nil || !strings.Contains(string(data), second.Hash) {
		t.Errorf("HEAD.json: %s, %v", data, err)
	}
	var posted []string
	for _, r := range s.Requests() {
		if r.Method == "POST" && strings.HasSuffix(r.Path, "/git/commits") {
			posted = append(posted, r.Body)
		}
	}
	want := fmt.Sprintf(`{"message":"receipt 000000001 pr#2 sha256:%s\n\nParent-Receipt: %s\n"`, second.Hash,
		first.Hash)
	if len(posted) != 2 || !strings.HasPrefix(posted[1], want) || strings.Contains(posted[1], "author") ||
		strings.Contains(posted[1], "committer") {
		t.Errorf("%q\nwant %s", posted, want)
	}
}
