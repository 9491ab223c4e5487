package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/defendableos/referee/ledger"
)

// Breaker is a Store that can be made to die inside its next Append, as if killed before the given step, counted from
// 0. Break reports false if there is no such step. A Store without inner steps need not be one.
type Breaker interface{ Break(step int) bool }

// Viewer is a Store whose states can be verified as a whole; those of every store of this project can.
type Viewer interface {
	Tree(at ledger.Snapshot) (ledger.Tree, error)
}

// Full says that every case is to be run in full length, whatever it costs: .ci/run sets REFEREE_CI=1.
func Full() bool { return os.Getenv("REFEREE_CI") == "1" }

// size is how much a case does.
type size struct {
	writers, each int // at once, and how often each of them appends
	deliveries    int // of one event at once
	stride        int // between the steps at which a process is killed
}

// TestStore holds a store to what Append relies on. open makes a ledger that does not exist yet, and gives a function
// that connects to it anew each time, as another process would.
func TestStore(t *testing.T, open func(t *testing.T) func() ledger.Store) {
	testStore(t, size{writers: 8, each: 3, deliveries: 5, stride: 1}, open)
}

// TestTransport is TestStore for a store that another one's test has held to it in full length, reached in another way
// each of whose requests costs processes: the same cases and the same assertions, with fewer writers, and a death at
// every third step. Where Full says so it is TestStore.
func TestTransport(t *testing.T, open func(t *testing.T) func() ledger.Store) {
	if Full() {
		TestStore(t, open)
		return
	}
	testStore(t, size{writers: 3, each: 1, deliveries: 2, stride: 3}, open)
}

func testStore(t *testing.T, n size, open func(t *testing.T) func() ledger.Store) {
	for name, test := range map[string]func(*testing.T, func() ledger.Store){
		"Empty": testEmpty, "Sequence": testSequence, "Begin": testBegin, "Writers": n.testWriters, "Stale": testStale,
		"LostReply": testLostReply, "LostRequest": testLostRequest, "Duplicates": n.testDuplicates,
		"Killed": n.testKilled, "Broken": testBroken, "Refused": testRefused, "NoEdit": testNoEdit,
		"Local": testLocal, "Cancelled": testCancelled,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// quick makes the waits between tries short: what is tested is what happens, not how long it takes.
var quick = ledger.Retry{Tries: 60, Pick: func(time.Duration) time.Duration { return 0 }}

// appendReceipts appends drafts and fails the test if that fails.
func appendReceipts(t *testing.T, s ledger.Store, receipts ...ledger.Receipt) ledger.Result {
	t.Helper()
	result, err := ledger.Append(t.Context(), s, quick, draftOf(receipts...))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func draftOf(receipts ...ledger.Receipt) func(ledger.Snapshot) (ledger.Draft, error) {
	return func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: slices.Clone(receipts)}, nil
	}
}

// wantVerified holds the ledger to count entries and to its own rules.
func wantVerified(t *testing.T, s ledger.Store, count int64) ledger.Snapshot {
	t.Helper()
	at, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if at.Head.Count != count {
		t.Errorf("%d entries, want %d", at.Head.Count, count)
	}
	since, err := ledger.VerifySince(t.Context(), s, at, ledger.NewHead())
	if err != nil || !since.OK() || since.Head.Root != at.Head.Root {
		t.Errorf("from the first entry on: %v, %v", err, since.Problems)
	}
	viewer, ok := s.(Viewer)
	if !ok {
		return at
	}
	tree, err := viewer.Tree(at)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := ledger.Verify(t.Context(), tree, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range whole.Problems {
		t.Error(p)
	}
	if whole.Head.Count != count {
		t.Errorf("the tree holds %d entries, want %d", whole.Head.Count, count)
	}
	return at
}

func testEmpty(t *testing.T, connect func() ledger.Store) {
	s := connect()
	at, err := s.Head(t.Context())
	if err != nil || at.ID != "" || at.Info != nil || at.Head.Count != 0 || at.Head.Root != ledger.EmptyRoot {
		t.Errorf("%+v, %v; want no ledger", at, err)
	}
	if files, err := s.Read(t.Context(), at, ledger.HeadPath); err != nil || len(files) != 0 {
		t.Errorf("%v, %v; want no file", files, err)
	}
}

func testSequence(t *testing.T, connect func() ledger.Store) {
	s := connect()
	first := appendReceipts(t, s, Sample(0))
	appendReceipts(t, s, Sample(1), Sample(2))
	appendReceipts(t, connect(), Observed(Sample(0), ledger.Merged, first.Added[0].Hash))
	at := wantVerified(t, s, 4)
	if at.Info == nil || at.Info.Genesis != first.Added[0].Hash || at.Info.Repository.ID != 4242 {
		t.Errorf("LEDGER.json: %+v", at.Info)
	}
	e, err := ledger.Lookup(t.Context(), s, at, first.Added[0].Hash)
	if err != nil || e == nil || string(e.Bytes) != string(first.Added[0].Bytes) {
		t.Errorf("by hash: %v, %v", e, err)
	}
	files, err := s.Read(t.Context(), at, ledger.PullDir(1))
	if err != nil || len(files) != 2 {
		t.Fatalf("by pull request: %d files, %v; want the receipt and the merged entry", len(files), err)
	}
	if files, err = s.Read(t.Context(), at, ledger.EntryDir(0)); err != nil || len(files) != 4 {
		t.Errorf("by seq: %d files, %v", len(files), err)
	}
	if files, err = s.Read(t.Context(), at, "receipts"); err != nil || len(files) != 0 {
		t.Errorf("a directory of directories: %d files, %v", len(files), err)
	}
	if e, err = ledger.Lookup(t.Context(), s, at, ledger.NoParent); err != nil || e != nil {
		t.Errorf("an unknown hash: %v, %v", e, err)
	}
}

// testBegin begins a ledger without an entry, and then appends the first.
func testBegin(t *testing.T, connect func() ledger.Store) {
	s := connect()
	sheet := []byte(`{"slug":"x"}`)
	page := ledger.File{Path: ledger.PagePath, Data: []byte("<!doctype html>")}
	if _, err := ledger.Append(t.Context(), s, quick, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Papers: []ledger.File{page}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	at := wantVerified(t, s, 0)
	if at.ID == "" || at.Info != nil {
		t.Errorf("%+v; want a ledger without an entry", at)
	}
	r := Sample(0)
	r.FlightSheet.SHA256 = ledger.SheetHash(sheet)
	for range 2 { // the second draft finds the sheet there
		if _, err := ledger.Append(t.Context(), s, quick, func(ledger.Snapshot) (ledger.Draft, error) {
			return ledger.Draft{Receipts: []ledger.Receipt{Key(r)}, Sheets: [][]byte{sheet}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		r.Run.ID += "b"
	}
	at = wantVerified(t, s, 2)
	for path, want := range map[string]string{
		ledger.PagePath: string(page.Data), ledger.ReadmePath: ledger.Readme, ledger.AttributesPath: ledger.Attributes,
		"sheets/" + ledger.SheetHash(sheet)[:2] + "/" + ledger.SheetHash(sheet) + ".json": string(sheet),
	} {
		files, err := s.Read(t.Context(), at, path)
		if err != nil || len(files) != 1 || string(files[0].Data) != want {
			t.Errorf("%s: %v, %v", path, files, err)
		}
	}
}

// testWriters lets writers append several times each, all at once.
func (n size) testWriters(t *testing.T, connect func() ledger.Store) {
	var group sync.WaitGroup
	for w := range n.writers {
		group.Go(func() {
			s := connect()
			for i := range n.each {
				if _, err := ledger.Append(t.Context(), s, quick, draftOf(Sample(int64(w*n.each+i)))); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	group.Wait()
	wantVerified(t, connect(), int64(n.writers*n.each))
}

func testStale(t *testing.T, connect func() ledger.Store) {
	s := connect()
	for n := range int64(2) { // on a ledger that does not exist yet, and on one that does
		old, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var batch ledger.Batch
		if _, err := ledger.Append(t.Context(), spy{s, &batch}, quick, draftOf(Sample(n))); err != nil {
			t.Fatal(err)
		}
		if err := connect().Append(t.Context(), old, batch); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("on an old head: %v, want ErrStale", err)
		}
		wantVerified(t, s, n+1)
	}
}

// spy remembers the last batch.
type spy struct {
	ledger.Store
	last *ledger.Batch
}

func (s spy) Append(ctx context.Context, at ledger.Snapshot, b ledger.Batch) error {
	*s.last = b
	return s.Store.Append(ctx, at, b)
}

// flaky loses replies: the first n appends end in ErrAmbiguous, with the effect if done is true.
type flaky struct {
	ledger.Store
	n    *int
	done bool
}

func (f flaky) Append(ctx context.Context, at ledger.Snapshot, b ledger.Batch) error {
	if *f.n == 0 {
		return f.Store.Append(ctx, at, b)
	}
	*f.n--
	if f.done {
		if err := f.Store.Append(ctx, at, b); err != nil {
			return err
		}
	}
	return fmt.Errorf("connection reset: %w", ledger.ErrAmbiguous)
}

func testLostReply(t *testing.T, connect func() ledger.Store) {
	n := 2
	result := appendReceipts(t, flaky{connect(), &n, true}, Sample(0))
	if len(result.Added) != 1 || len(result.Found) != 0 || result.Tries != 2 {
		t.Errorf("%d added, %d found, %d tries; want the one added, at the second try", len(result.Added),
			len(result.Found), result.Tries)
	}
	wantVerified(t, connect(), 1)
}

func testLostRequest(t *testing.T, connect func() ledger.Store) {
	n := 2
	result := appendReceipts(t, flaky{connect(), &n, false}, Sample(0), Sample(1))
	if len(result.Added) != 2 || result.Tries != 3 {
		t.Errorf("%d added in %d tries, want 2 in 3", len(result.Added), result.Tries)
	}
	wantVerified(t, connect(), 2)
}

// testDuplicates delivers one event several times at once, and once more later.
func (n size) testDuplicates(t *testing.T, connect func() ledger.Store) {
	var group sync.WaitGroup
	for range n.deliveries {
		group.Go(func() {
			if _, err := ledger.Append(t.Context(), connect(), quick, draftOf(Sample(0))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	wantVerified(t, connect(), 1)
	result := appendReceipts(t, connect(), Sample(0), Sample(1))
	if len(result.Found) != 1 || len(result.Added) != 1 || result.Added[0].Receipt.Seq != 1 {
		t.Errorf("%d found, %d added; want one of each", len(result.Found), len(result.Added))
	}
	wantVerified(t, connect(), 2)
}

// errKilled stands for the end of the process.
var errKilled = errors.New("killed")

// mortal dies at the n-th of its steps: before and after each call.
type mortal struct {
	ledger.Store
	left *int
}

func (m mortal) step() error {
	if *m.left == 0 {
		return errKilled
	}
	*m.left--
	return nil
}

func (m mortal) Head(ctx context.Context) (ledger.Snapshot, error) {
	if err := m.step(); err != nil {
		return ledger.Snapshot{}, err
	}
	at, err := m.Store.Head(ctx)
	return at, errors.Join(err, m.step())
}

func (m mortal) Read(ctx context.Context, at ledger.Snapshot, path string) ([]ledger.File, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	files, err := m.Store.Read(ctx, at, path)
	return files, errors.Join(err, m.step())
}

func (m mortal) Append(ctx context.Context, at ledger.Snapshot, b ledger.Batch) error {
	if err := m.step(); err != nil {
		return err
	}
	return errors.Join(m.Store.Append(ctx, at, b), m.step())
}

// testKilled kills the process between any two steps; the next run finishes the work, once.
func (n size) testKilled(t *testing.T, connect func() ledger.Store) {
	for step, count := 0, int64(0); ; step, count = step+n.stride, count+1 {
		left := step
		_, err := ledger.Append(t.Context(), mortal{connect(), &left}, quick, draftOf(Sample(count)))
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		appendReceipts(t, connect(), Sample(count))
		wantVerified(t, connect(), count+1)
		if err == nil {
			if step < 5 {
				t.Errorf("only %d steps", step)
			}
			return
		}
	}
}

// testBroken kills the process inside the store's Append.
func testBroken(t *testing.T, connect func() ledger.Store) {
	if _, ok := connect().(Breaker); !ok {
		t.Skip("the store has no inner steps")
	}
	appendReceipts(t, connect(), Sample(0))
	for n := int64(1); ; n++ {
		s := connect()
		if !s.(Breaker).Break(int(n - 1)) {
			return
		}
		if _, err := ledger.Append(t.Context(), s, ledger.Retry{Tries: 1}, draftOf(Sample(n))); err == nil {
			t.Errorf("step %d: not broken", n-1)
		}
		at, err := connect().Head(t.Context())
		if err != nil || at.Head.Count < n || at.Head.Count > n+1 {
			t.Fatalf("step %d: %d entries, %v", n-1, at.Head.Count, err)
		}
		appendReceipts(t, connect(), Sample(n))
		wantVerified(t, connect(), n+1)
	}
}

// testRefused holds that a refusal and an error of the builder write nothing.
func testRefused(t *testing.T, connect func() ledger.Store) {
	s := connect()
	own := errors.New("own")
	if _, err := ledger.Append(t.Context(), s, quick, func(ledger.Snapshot) (ledger.Draft,
		error) {
		return ledger.Draft{}, own
	}); !errors.Is(err, own) {
		t.Errorf("the builder's error: %v", err)
	}
	unsigned := Sample(1)
	unsigned.Approval = nil
	if _, err := ledger.Append(t.Context(), s, quick, draftOf(Sample(0), unsigned)); err == nil {
		t.Error("a receipt without an approval was appended")
	}
	if at, err := s.Head(t.Context()); err != nil || at.ID != "" {
		t.Errorf("%+v, %v; something was written", at, err)
	}
	appendReceipts(t, s, Sample(0))
	other := Sample(1)
	other.Repository.ID++
	bad := Observed(Sample(0), ledger.Merged, ledger.EmptyRoot)
	for name, r := range map[string]ledger.Receipt{"another repository": Key(other), "an unresolved reference": bad} {
		if _, err := ledger.Append(t.Context(), s, quick, draftOf(r)); err == nil {
			t.Errorf("%s: appended", name)
		}
	}
	if _, err := ledger.Append(t.Context(), s, quick, draftOf(Sample(1), Sample(1))); err == nil {
		t.Error("one key twice in a draft: appended")
	}
	if _, err := ledger.Append(t.Context(), s, quick, draftOf()); err == nil {
		t.Error("nothing: appended")
	}
	wantVerified(t, s, 1)
}

// testNoEdit holds that a store adds files and changes none but HEAD.json.
func testNoEdit(t *testing.T, connect func() ledger.Store) {
	s := connect()
	appendReceipts(t, s, Sample(0))
	at := wantVerified(t, s, 1)
	if err := s.Append(t.Context(), at, ledger.Batch{Files: []ledger.File{{Path: ledger.ReadmePath, Data: []byte("x")}},
		Message: "x\n", Head: at.Head}); err == nil {
		t.Error("README.md was changed")
	}
	wantVerified(t, s, 1)
}

func testLocal(t *testing.T, connect func() ledger.Store) {
	s := connect()
	for n := range int64(3) {
		appendReceipts(t, s, Local(Sample(n)))
	}
	result := appendReceipts(t, s, Local(Sample(0)))
	if len(result.Found) != 1 || len(result.Added) != 0 {
		t.Errorf("%d found, %d added; want the first one found", len(result.Found), len(result.Added))
	}
	wantVerified(t, s, 3)
}

func testCancelled(t *testing.T, connect func() ledger.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ledger.Append(ctx, connect(), quick, draftOf(Sample(0))); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	if at, err := connect().Head(t.Context()); err != nil || at.ID != "" {
		t.Errorf("%+v, %v; something was written", at, err)
	}
}

// AtOnce has n writers append at once, the samples from the first on, each by its own connection and as patiently as
// everybody is. It holds the ledger, in which there were first entries, to one chain with an entry of each, and returns
// how long that took.
func AtOnce(t *testing.T, connect func() ledger.Store, first, n int64) time.Duration {
	t.Helper()
	start := time.Now()
	var group sync.WaitGroup
	for i := first; i < first+n; i++ {
		group.Go(func() {
			result, err := ledger.Append(t.Context(), connect(), ledger.Retry{}, draftOf(Sample(i)))
			if err != nil || len(result.Added) != 1 || len(result.Found) > 0 {
				t.Errorf("sign-off %d: %d added, %d found, %v", i, len(result.Added), len(result.Found), err)
			}
		})
	}
	group.Wait()
	took := time.Since(start)
	s := connect()
	at := wantVerified(t, s, first+n)
	for i := range first + n {
		if e, err := ledger.Find(t.Context(), s, at, Sample(i).PullRequest, Sample(i).IdempotencyKey); err != nil ||
			e == nil {
			t.Errorf("sign-off %d is not in the ledger: %v", i, err)
		}
	}
	return took
}
