package gatetest

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/testdata"
)

// SampleDeal is a sample run as a tree, with edits of its files: name → from, to.
func SampleDeal(t *testing.T, name string, edits ...[3]string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for path, b := range testdata.Runs() {
		if strings.HasPrefix(path, "runs/"+name+"/") {
			out[path] = &fstest.MapFile{Data: b}
		}
	}
	for _, e := range edits {
		f := out["runs/"+name+"/"+e[0]]
		changed := strings.Replace(string(f.Data), e[1], e[2], 1)
		if changed == string(f.Data) {
			t.Fatalf("%s does not hold %q", e[0], e[1])
		}
		f.Data = []byte(changed)
	}
	return out
}

// Library holds the embedded sheets.
func Library() *referee.Library { return referee.NewLibrary(flightsheets.FS(), nil, "") }

// Samples is a repository with the sample runs.
func Samples(extra map[string][]byte) fstest.MapFS {
	out := fstest.MapFS{}
	for _, files := range []map[string][]byte{testdata.Runs(), extra} {
		for name, b := range files {
			out[name] = &fstest.MapFile{Data: b}
		}
	}
	return out
}

// AuditSample audits a run of a tree.
func AuditSample(t *testing.T, in fs.FS, name string, prior referee.PriorFunc) receipt.Work {
	t.Helper()
	dir, err := fs.Sub(in, "runs/"+name)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := referee.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := referee.NewLibrary(flightsheets.FS(), nil, "").Find(folder.Run.Sheet)
	if err != nil {
		t.Fatal(err)
	}
	return receipt.Judge(folder, withStatedLimits(t, sheet, folder.Bytes), "runs/"+name, prior)
}

// withStatedLimits is the sheet with the limits that the configuration of these tests sets, which an incident restates.
func withStatedLimits(t *testing.T, sheet *referee.Sheet, submission []byte) *referee.Sheet {
	t.Helper()
	doc, err := strictjson.Parse(submission, strictjson.SubmissionLimits)
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]*strictjson.Value{}
	for _, name := range []string{"cap", "limit", "heartbeat_min"} {
		if _, err := sheet.Param(name); err == nil {
			limits[name] = doc.At("/inputs/" + name)
		}
	}
	sheet, err = sheet.WithParams(limits)
	if err != nil {
		t.Fatal(err)
	}
	return sheet
}

// What the tests of sign-offs share.
var (
	Nine     = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	Noon     = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	Here     = receipt.Place{Repository: ledger.Repository{Name: "here"}}
	Strict   = receipt.Policy{FailOn: referee.FailOnHigh, Accept: "deal-finding"}
	BothTrue = []ledger.Answer{
		{ID: "appraisal_within_12_months", Answer: "satisfied"},
		{ID: "borrower_name_matches", Answer: "satisfied"},
	}
)

// MintNew signs off and wants it to be new.
func MintNew(t *testing.T, store ledger.Store, w receipt.Work, l receipt.Local) *ledger.Entry {
	t.Helper()
	e, again, err := l.SignOff(t.Context(), store, w, Here, Strict, nil)
	if err != nil || again {
		t.Fatalf("signing %s off: again %v, %v", w.Run.ID, again, err)
	}
	return e
}

// Tree is a tree of files, each NAME=CONTENT.
func Tree(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		out[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

// HashOf is a hash of one digit.
func HashOf(digit string) string { return strings.Repeat(digit, 64) }

// Entry is an entry of a ledger with nothing but its place.
func Entry(seq int64, digit string) ledger.Entry {
	return ledger.Entry{Hash: HashOf(digit), Receipt: &ledger.Receipt{Seq: seq}}
}

// SampleLedger signs the sample runs off and gives the store and a tree whose operations name those receipts.
func SampleLedger(t *testing.T) (*ledger.MemStore, fstest.MapFS, map[string]string) {
	t.Helper()
	store, in, hashes := &ledger.MemStore{}, Samples(nil), map[string]string{}
	for _, run := range []string{"oak-street", "maple-court"} {
		hashes[run] = MintNew(
			t,
			store,
			AuditSample(t, in, run, nil),
			receipt.Local{Name: "ann", At: Nine, Answers: BothTrue},
		).Hash
	}
	for _, run := range []string{"river-lofts", "elm-plaza"} {
		hashes[run] = MintNew(
			t,
			store,
			AuditSample(t, in, run, nil),
			receipt.Local{Name: "ann", At: Nine, Reject: "no"},
		).Hash
	}
	in = Samples(testdata.OnLedger(hashes))
	for _, run := range []string{"oak-street-base", "oak-street-tuned"} {
		hashes[run] = MintNew(
			t,
			store,
			AuditSample(t, in, run, nil),
			receipt.Local{Name: "ann", At: Nine, Answers: BothTrue},
		).Hash
	}
	return store, Samples(testdata.OnLedger(hashes)), hashes
}

// AnswerAll answers every open question of a work.
func AnswerAll(t *testing.T, w receipt.Work) []ledger.Answer {
	t.Helper()
	open, err := w.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []ledger.Answer
	for _, q := range open {
		out = append(out, ledger.Answer{ID: q.ID, Answer: "satisfied"})
	}
	return out
}
