package gate

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/testdata"
)

// samples is a repository with the sample runs.
func samples(extra map[string][]byte) fstest.MapFS {
	out := fstest.MapFS{}
	for _, files := range []map[string][]byte{testdata.Runs(), extra} {
		for name, b := range files {
			out[name] = &fstest.MapFile{Data: b}
		}
	}
	return out
}

// workIn audits a run of a tree.
func workIn(t *testing.T, in fs.FS, name string, prior referee.PriorFunc) Work {
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
	return Judge(folder, withStatedLimits(t, sheet, folder.Bytes), "runs/"+name, prior)
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

var (
	nine      = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	here      = Place{Repository: ledger.Repository{Name: "here"}}
	strict    = Policy{FailOn: referee.FailOnHigh, Accept: "deal-finding"}
	bothTrue  = []ledger.Answer{{ID: "appraisal_within_12_months", Answer: "satisfied"}, {ID: "borrower_name_matches", Answer: "satisfied"}}
	oneAnswer = bothTrue[:1]
)

// mint signs off and wants it to be new.
func mint(t *testing.T, store ledger.Store, w Work, l Local) *ledger.Entry {
	t.Helper()
	e, again, err := l.SignOff(t.Context(), store, w, here, strict, nil)
	if err != nil || again {
		t.Fatalf("signing %s off: again %v, %v", w.Run.ID, again, err)
	}
	return e
}

// annAtNine is the number of the first sign-off below: the first 13 digits of what sha256sum gives of
// 25:referee.local-sign-off/v13:ann20:2026-11-20T09:00:00Z70:/satisfied appraisal_within_12_months<LF>/satisfied borrower_name_matches, as an odd number.
const annAtNine = 701284998771251

// TestSignOffOnce: the same word of the same person about the same bytes is one receipt, in whatever order it is said and whenever.
func TestSignOffOnce(t *testing.T) {
	store, w := &ledger.MemStore{}, workIn(t, samples(nil), "oak-street", nil)
	first := mint(t, store, w, Local{Name: "ann", At: nine, Answers: bothTrue})
	if r := first.Receipt; r.Verdict.Severity != "honey" || r.Approval.Review.ID != annAtNine || r.MintedAt != "2026-11-20T09:00:00Z" || len(r.Checklist) != 2 {
		t.Errorf("the receipt: %+v", r)
	}
	swapped := []ledger.Answer{bothTrue[1], bothTrue[0]}
	for _, l := range []Local{{Name: "ann", At: nine, Answers: bothTrue}, {Name: "ann", At: nine.Add(time.Hour), Answers: swapped}} {
		e, again, err := l.SignOff(t.Context(), store, w, here, strict, nil)
		if err != nil || !again || e.Hash != first.Hash {
			t.Errorf("at %v: again %v, %v", l.At, again, err)
		}
	}
	bea := mint(t, store, w, Local{Name: "bea", At: nine, Answers: bothTrue}) // in the same second
	if bea.Receipt.Seq != 1 || bea.Receipt.IdempotencyKey == first.Receipt.IdempotencyKey {
		t.Errorf("another person in the same second: %d", bea.Receipt.Seq)
	}
	no := mint(t, store, w, Local{Name: "ann", At: nine.Add(time.Second), Reject: "on second thought"})
	yes := mint(t, store, w, Local{Name: "ann", At: nine.Add(2 * time.Second), Answers: bothTrue}) // the newest word was another
	if no.Receipt.Kind != ledger.Rejected || yes.Receipt.Seq != 3 {
		t.Errorf("a no and a yes after it: %s, %d", no.Receipt.Kind, yes.Receipt.Seq)
	}
}

// TestSignOffRefuses: what the rules refuse writes nothing.
func TestSignOffRefuses(t *testing.T) {
	in := samples(nil)
	operated := samples(nil)
	operated["runs/oak-street/run.json"] = &fstest.MapFile{Data: bytes.Replace(in["runs/oak-street/run.json"].Data, []byte(`"cost_usd"`), []byte(`"operator": "Ann", "cost_usd"`), 1)}
	waive := func(rule string) []ledger.Waiver {
		return []ledger.Waiver{{RuleID: rule, Reason: "the client insists"}}
	}
	for _, c := range []struct {
		what string
		in   fs.FS
		run  string
		l    Local
		want string
	}{
		{"an open question", in, "oak-street", Local{Answers: oneAnswer}, "the checklist is open: borrower_name_matches"},
		{"an answer to nothing", in, "oak-street", Local{Answers: []ledger.Answer{{ID: "dscr_gate", Answer: "satisfied"}}}, "is not open"},
		{"a flag without a reason", in, "oak-street", Local{Answers: []ledger.Answer{oneAnswer[0], {ID: "borrower_name_matches", Answer: "flag"}}}, "flagged without a note"},
		{"a deal-finding", in, "river-lofts", Local{Answers: bothTrue}, "high finding policy.dscr_gate (deal-finding)"},
		{"a work-defect", in, "elm-plaza", Local{Answers: bothTrue, Waivers: append(waive("math.dscr"), waive("dscr_gate")...)}, "a work-defect cannot be accepted"},
		{"the operator", operated, "oak-street", Local{Answers: bothTrue}, "ran the agent"},
	} {
		store := &ledger.MemStore{}
		c.l.Name, c.l.At = "ann", nine
		_, _, err := c.l.SignOff(t.Context(), store, workIn(t, c.in, c.run, nil), here, strict, nil)
		var no *NotSignable
		if !errors.As(err, &no) || !strings.Contains(no.Reason, c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if at, _ := store.Head(t.Context()); at.ID != "" {
			t.Errorf("%s: the ledger has %d entries", c.what, at.Head.Count)
		}
	}
	mint(t, &ledger.MemStore{}, workIn(t, in, "river-lofts", nil), Local{Name: "ann", At: nine, Answers: bothTrue, Waivers: waive("dscr_gate")})
	mint(t, &ledger.MemStore{}, workIn(t, operated, "oak-street", nil), Local{Name: "ann", At: nine, Reject: "mine, and wrong"})
}

// onLedger signs the sample runs off and gives the store and a tree whose operations name those receipts.
func onLedger(t *testing.T) (*ledger.MemStore, fstest.MapFS, map[string]string) {
	t.Helper()
	store, in, hashes := &ledger.MemStore{}, samples(nil), map[string]string{}
	for _, run := range []string{"oak-street", "maple-court"} {
		hashes[run] = mint(t, store, workIn(t, in, run, nil), Local{Name: "ann", At: nine, Answers: bothTrue}).Hash
	}
	for _, run := range []string{"river-lofts", "elm-plaza"} {
		hashes[run] = mint(t, store, workIn(t, in, run, nil), Local{Name: "ann", At: nine, Reject: "no"}).Hash
	}
	return store, samples(testdata.OnLedger(hashes)), hashes
}

// answered answers every open question of a work.
func answered(t *testing.T, w Work) []ledger.Answer {
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

// TestOperations takes a cook and three incidents from audit to receipt, and back by replay. The lift is worked out by hand: oak-street has
// 34 of 34 rules satisfied, 100; maple-court 33 of 34, 97.06 cut to 97; 100 - 97 = 3.
func TestOperations(t *testing.T) {
	store, in, hashes := onLedger(t)
	for _, c := range []struct{ run, schema string }{
		{"cook-with-lift", ledger.CookSchema}, {"lane-lock", ledger.IncidentSchema}, {"spend-breach", ledger.IncidentSchema}, {"rogue-agent", ledger.IncidentSchema},
	} {
		at, err := store.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w := workIn(t, in, c.run, Prior(t.Context(), store, at))
		l := Local{Name: "ann", At: nine, Answers: answered(t, w)}
		if c.run == "rogue-agent" {
			l.Waivers = []ledger.Waiver{{RuleID: "tools", Reason: "contained"}}
		}
		e := mint(t, store, w, l)
		if e.Receipt.Schema != c.schema {
			t.Errorf("%s: schema %s", c.run, e.Receipt.Schema)
		}
		if c.run == "cook-with-lift" && (e.Receipt.Cook.Before != hashes["maple-court"] || e.Receipt.Cook.Lift != "3") {
			t.Errorf("the cook: %+v", e.Receipt.Cook)
		}
		replayed(t, store, in, w.Sheet, e)
	}
}

// replayed derives a receipt again from the tree, by the state of the ledger before it.
func replayed(t *testing.T, store ledger.Store, in fs.FS, sheet *referee.Sheet, e *ledger.Entry) {
	t.Helper()
	now, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder, where, err := FindRun(in, e.Receipt)
	if err != nil || where != "runs/"+e.Receipt.Run.ID {
		t.Fatalf("finding %s: %q, %v", e.Receipt.Run.ID, where, err)
	}
	out, err := Rerun(e.Receipt, sheet, folder, Ground{Dir: where}, Prior(t.Context(), store, Before(now, e.Receipt)))
	if err != nil || !out.Same || out.Got != e.Receipt.ReportDigest {
		t.Errorf("replaying %s: %+v, %v", e.Receipt.Run.ID, out, err)
	}
}

// TestCookWithoutLift: the sheet refuses the claim, and the ledger refuses the receipt even where nothing is claimed.
func TestCookWithoutLift(t *testing.T) {
	store, in, _ := onLedger(t)
	at, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := workIn(t, in, "cook-without-lift", Prior(t.Context(), store, at))
	_, _, err = Local{Name: "ann", At: nine, Answers: answered(t, w)}.SignOff(t.Context(), store, w, here, strict, nil)
	var no *NotSignable
	if !errors.As(err, &no) || !strings.Contains(no.Reason, "lift_positive") {
		t.Errorf("a claimed lift: %v", err)
	}
	name := "runs/cook-without-lift/submission.json"
	in[name] = &fstest.MapFile{Data: bytes.Replace(in[name].Data, []byte(`"claim": "lift"`), []byte(`"claim": "no_lift"`), 1)}
	name = "runs/cook-without-lift/evidence/pairs.csv"
	in[name] = &fstest.MapFile{Data: bytes.Replace(in[name].Data, []byte("claim,lift"), []byte("claim,no_lift"), 1)}
	w = workIn(t, in, "cook-without-lift", Prior(t.Context(), store, at))
	_, _, err = Local{Name: "ann", At: nine, Answers: answered(t, w)}.SignOff(t.Context(), store, w, here, strict, nil)
	var refused *ledger.Refusal
	if !errors.As(err, &refused) || refused.Code != ledger.RefuseLift {
		t.Errorf("no claim of a lift: %v", err)
	}
}

// TestTakenBack: a receipt that a later entry revokes is nothing to stand on from then on, and was something before.
func TestTakenBack(t *testing.T) {
	store, in, hashes := onLedger(t)
	before, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cook := mint(t, store, workIn(t, in, "cook-with-lift", Prior(t.Context(), store, before)), Local{Name: "ann", At: nine,
		Answers: []ledger.Answer{{ID: "seeds_in_manifest", Answer: "satisfied"}, {ID: "rollback_named", Answer: "satisfied"}}})
	oak, err := ledger.Lookup(t.Context(), store, before, hashes["oak-street"])
	if err != nil {
		t.Fatal(err)
	}
	revoked := *oak.Receipt
	revoked.Kind, revoked.RefersTo, revoked.IdempotencyKey = ledger.Revoked, oak.Hash, strings.Repeat("1", 64)
	approval := *revoked.Approval
	approval.Decision, revoked.Approval = ledger.Revoked, &approval
	verdict := *revoked.Verdict
	verdict.Severity, revoked.Verdict = "unsigned", &verdict
	if _, err := Mint(t.Context(), store, []ledger.Receipt{revoked}, nil, nil); err != nil {
		t.Fatal(err)
	}
	now, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Prior(t.Context(), store, now)(oak.Hash, "/verdict/score"); err == nil || !strings.Contains(err.Error(), "was taken back by a later entry") {
		t.Errorf("after the revocation: %v", err)
	}
	if _, err := Prior(t.Context(), store, Before(now, cook.Receipt))(oak.Hash, "/verdict/score"); err != nil {
		t.Errorf("before it: %v", err)
	}
	replayed(t, store, in, workIn(t, in, "cook-with-lift", nil).Sheet, cook)
	// The word that was taken back no longer stands: signing again is a new receipt.
	again := mint(t, store, workIn(t, in, "oak-street", nil), Local{Name: "ann", At: nine.Add(time.Hour), Answers: bothTrue})
	if again.Receipt.Seq != now.Head.Count {
		t.Errorf("signed again at %d", again.Receipt.Seq)
	}
}

// TestFindRun: by its bytes, wherever it lies; never by its name alone.
func TestFindRun(t *testing.T) {
	store, in := &ledger.MemStore{}, samples(nil)
	e := mint(t, store, workIn(t, in, "oak-street", nil), Local{Name: "ann", At: nine, Answers: bothTrue})
	moved := fstest.MapFS{}
	for name, f := range in {
		moved[strings.Replace(name, "runs/oak-street/", "deep/down/here/", 1)] = f
	}
	if _, where, err := FindRun(moved, e.Receipt); err != nil || where != "deep/down/here" {
		t.Errorf("moved: %q, %v", where, err)
	}
	edited := samples(nil)
	edited["runs/oak-street/submission.json"] = &fstest.MapFile{Data: append([]byte(" "), in["runs/oak-street/submission.json"].Data...)}
	if _, _, err := FindRun(edited, e.Receipt); !errors.Is(err, ErrNotAtHand) {
		t.Errorf("edited: %v", err)
	}
	at, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := KeptSheet(t.Context(), store, at, e.Receipt)
	if err != nil || sheet == nil || sheet.SHA256 != e.Receipt.FlightSheet.SHA256 {
		t.Errorf("the ledger's sheet: %v, %v", sheet, err)
	}
	src, _ := flightsheets.Read("cre-multifamily-agency")
	own := fstest.MapFS{"flight_sheets/cre-multifamily-agency.json": {Data: src}}
	if s := TreeSheet(own, "flight_sheets", e.Receipt, true); s == nil || !s.Shadows || s.Origin != "repository" {
		t.Errorf("the repository's sheet: %+v", s)
	}
	own["flight_sheets/cre-multifamily-agency.json"] = &fstest.MapFile{Data: bytes.Replace(src, []byte("1.0.0"), []byte("1.0.1"), 1)}
	if s := TreeSheet(own, "flight_sheets", e.Receipt, true); s != nil {
		t.Errorf("another version: %s", s.Version)
	}
}
