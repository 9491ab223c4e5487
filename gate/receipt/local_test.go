package receipt_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

var oneAnswer = gatetest.BothTrue[:1]

// annAtNine is the number of the first sign-off below: the first 13 digits of what sha256sum gives of
// 25:referee.local-sign-off/v13:ann20:2026-11-20T09:00:00Z70:/satisfied appraisal_within_12_months<LF>/satisfied
// borrower_name_matches, as an odd number.
const annAtNine = 701284998771251

// TestSignOffOnce: the same word of the same person about the same bytes is one receipt, in whatever order it is said
// and whenever.
func TestSignOffOnce(t *testing.T) {
	store, w := &ledger.MemStore{}, gatetest.AuditSample(t, gatetest.Samples(nil), "oak-street", nil)
	first := gatetest.MintNew(t, store, w, receipt.Local{Name: "ann", At: gatetest.Nine, Answers: gatetest.BothTrue})
	if r := first.Receipt; r.Verdict.Severity != "honey" || r.Approval.Review.ID != annAtNine ||
		r.MintedAt != "2026-11-20T09:00:00Z" ||
		len(r.Checklist) != 2 {
		t.Errorf("the receipt: %+v", r)
	}
	swapped := []ledger.Answer{gatetest.BothTrue[1], gatetest.BothTrue[0]}
	for _, l := range []receipt.Local{{Name: "ann", At: gatetest.Nine, Answers: gatetest.BothTrue},
		{Name: "ann", At: gatetest.Nine.Add(time.Hour), Answers: swapped}} {
		e, again, err := l.SignOff(t.Context(), store, w, gatetest.Here, gatetest.Strict, nil)
		if err != nil || !again || e.Hash != first.Hash {
			t.Errorf("at %v: again %v, %v", l.At, again, err)
		}
	}
	bea := gatetest.MintNew(
		t,
		store,
		w,
		receipt.Local{Name: "bea", At: gatetest.Nine, Answers: gatetest.BothTrue},
	) // in the same second
	if bea.Receipt.Seq != 1 || bea.Receipt.IdempotencyKey == first.Receipt.IdempotencyKey {
		t.Errorf("another person in the same second: %d", bea.Receipt.Seq)
	}
	no := gatetest.MintNew(
		t,
		store,
		w,
		receipt.Local{Name: "ann", At: gatetest.Nine.Add(time.Second), Reject: "on second thought"},
	)
	yes := gatetest.MintNew(
		t,
		store,
		w,
		receipt.Local{Name: "ann", At: gatetest.Nine.Add(2 * time.Second), Answers: gatetest.BothTrue},
	) // the newest word was another
	if no.Receipt.Kind != ledger.Rejected || yes.Receipt.Seq != 3 {
		t.Errorf("a no and a yes after it: %s, %d", no.Receipt.Kind, yes.Receipt.Seq)
	}
}

// TestSignOffRefuses: what the rules refuse writes nothing.
func TestSignOffRefuses(t *testing.T) {
	in := gatetest.Samples(nil)
	operated := gatetest.Samples(nil)
	operated["runs/oak-street/run.json"] = &fstest.MapFile{
		Data: bytes.Replace(
			in["runs/oak-street/run.json"].Data,
			[]byte(`"cost_usd"`),
			[]byte(`"operator": "Ann", "cost_usd"`),
			1,
		),
	}
	waive := func(rule string) []ledger.Waiver {
		return []ledger.Waiver{{RuleID: rule, Reason: "the client insists"}}
	}
	for _, c := range []struct {
		what string
		in   fs.FS
		run  string
		l    receipt.Local
		want string
	}{
		{"an open question", in, "oak-street", receipt.Local{Answers: oneAnswer}, "unanswered checklist items: " +
			"borrower_name_matches"},
		{"an answer to nothing", in, "oak-street",
			receipt.Local{Answers: []ledger.Answer{{ID: "dscr_gate", Answer: "satisfied"}}}, "is not open"},
		{"a flag without a reason", in, "oak-street",
			receipt.Local{Answers: []ledger.Answer{oneAnswer[0], {ID: "borrower_name_matches", Answer: "flag"}}},
			"flagged without a note"},
		{"a deal-finding", in, "river-lofts", receipt.Local{Answers: gatetest.BothTrue},
			"high finding policy.dscr_gate (deal-finding)"},
		{"a work-defect", in, "elm-plaza", receipt.Local{Answers: gatetest.BothTrue, Waivers: append(waive("math.dscr"),
			waive("dscr_gate")...)}, "a work-defect cannot be accepted"},
		{"the operator", operated, "oak-street", receipt.Local{Answers: gatetest.BothTrue}, "ran the agent"},
	} {
		store := &ledger.MemStore{}
		c.l.Name, c.l.At = "ann", gatetest.Nine
		_, _, err := c.l.SignOff(
			t.Context(),
			store,
			gatetest.AuditSample(t, c.in, c.run, nil),
			gatetest.Here,
			gatetest.Strict,
			nil,
		)
		var no *receipt.NotSignable
		if !errors.As(err, &no) || !strings.Contains(no.Reason, c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if at, _ := store.Head(t.Context()); at.ID != "" {
			t.Errorf("%s: the ledger has %d entries", c.what, at.Head.Count)
		}
	}
	gatetest.MintNew(
		t,
		&ledger.MemStore{},
		gatetest.AuditSample(t, in, "river-lofts", nil),
		receipt.Local{Name: "ann", At: gatetest.Nine, Answers: gatetest.BothTrue, Waivers: waive("dscr_gate")},
	)
	gatetest.MintNew(
		t,
		&ledger.MemStore{},
		gatetest.AuditSample(t, operated, "oak-street", nil),
		receipt.Local{Name: "ann", At: gatetest.Nine, Reject: "mine, and wrong"},
	)
}

// TestOperations takes a cook and three incidents from audit to receipt, and back by audit. The lift is worked out by
// hand: oak-street-tuned has 34 of 34 rules satisfied, 100; oak-street-base 33 of 34, 97.06 cut to 97; 100 - 97 = 3.
func TestOperations(t *testing.T) {
	store, in, hashes := gatetest.SampleLedger(t)
	for _, c := range []struct{ run, schema string }{
		{"cook-with-lift", ledger.CookSchema}, {"lane-lock", ledger.IncidentSchema},
		{"spend-breach", ledger.IncidentSchema}, {"rogue-agent", ledger.IncidentSchema},
	} {
		at, err := store.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w := gatetest.AuditSample(t, in, c.run, receipt.Prior(t.Context(), store, at))
		l := receipt.Local{Name: "ann", At: gatetest.Nine.Add(2 * time.Hour), Answers: gatetest.AnswerAll(t, w)}
		e := gatetest.MintNew(t, store, w, l)
		if e.Receipt.Schema != c.schema {
			t.Errorf("%s: schema %s", c.run, e.Receipt.Schema)
		}
		if c.run == "cook-with-lift" && (e.Receipt.Cook.Before != hashes["oak-street-base"] || e.Receipt.Cook.Lift != "3") {
			t.Errorf("the cook: %+v", e.Receipt.Cook)
		}
		replayReceipt(t, store, in, w.Sheet, e)
	}
}

// replayReceipt derives a receipt again from the tree, by the state of the ledger before it.
func replayReceipt(t *testing.T, store ledger.Store, in fs.FS, sheet *referee.Sheet, e *ledger.Entry) {
	t.Helper()
	now, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder, where, err := receipt.FindRun(in, e.Receipt)
	if err != nil || where != "runs/"+e.Receipt.Run.ID {
		t.Fatalf("finding %s: %q, %v", e.Receipt.Run.ID, where, err)
	}
	out, err := audit.Rerun(
		e.Receipt,
		sheet,
		folder,
		audit.Ground{Dir: where},
		receipt.Prior(t.Context(), store, receipt.Before(now, e.Receipt)),
	)
	if err != nil || !out.Same || out.Got != e.Receipt.ReportDigest {
		t.Errorf("replaying %s: %+v, %v", e.Receipt.Run.ID, out, err)
	}
}

// TestCookWithoutLift: the sheet refuses the claim, and the ledger refuses the receipt even where nothing is claimed.
func TestCookWithoutLift(t *testing.T) {
	store, in, _ := gatetest.SampleLedger(t)
	at, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := gatetest.AuditSample(t, in, "cook-without-lift", receipt.Prior(t.Context(), store, at))
	_, _, err = receipt.Local{
		Name:    "ann",
		At:      gatetest.Nine,
		Answers: gatetest.AnswerAll(t, w),
	}.SignOff(
		t.Context(),
		store,
		w,
		gatetest.Here,
		gatetest.Strict,
		nil,
	)
	var no *receipt.NotSignable
	if !errors.As(err, &no) || !strings.Contains(no.Reason, "lift_positive") {
		t.Errorf("a claimed lift: %v", err)
	}
	name := "runs/cook-without-lift/submission.json"
	in[name] = &fstest.MapFile{
		Data: bytes.Replace(in[name].Data, []byte(`"claim": "lift"`), []byte(`"claim": "no_lift"`), 1),
	}
	name = "runs/cook-without-lift/evidence/pairs.csv"
	in[name] = &fstest.MapFile{Data: bytes.Replace(in[name].Data, []byte("claim,lift"), []byte("claim,no_lift"), 1)}
	w = gatetest.AuditSample(t, in, "cook-without-lift", receipt.Prior(t.Context(), store, at))
	_, _, err = receipt.Local{
		Name:    "ann",
		At:      gatetest.Nine,
		Answers: gatetest.AnswerAll(t, w),
	}.SignOff(
		t.Context(),
		store,
		w,
		gatetest.Here,
		gatetest.Strict,
		nil,
	)
	var refused *ledger.Refusal
	if !errors.As(err, &refused) || refused.Code != ledger.RefuseLift {
		t.Errorf("no claim of a lift: %v", err)
	}
}

// TestTakenBack: a receipt that a later entry revokes is nothing to stand on from then on, and was something before.
func TestTakenBack(t *testing.T) {
	store, in, hashes := gatetest.SampleLedger(t)
	before, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cook := gatetest.MintNew(
		t,
		store,
		gatetest.AuditSample(t, in, "cook-with-lift", receipt.Prior(t.Context(), store, before)),
		receipt.Local{Name: "ann", At: gatetest.Nine,
			Answers: []ledger.Answer{
				{ID: "seeds_in_manifest", Answer: "satisfied"},
				{ID: "rollback_named", Answer: "satisfied"},
			}},
	)
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
	if _, err := receipt.Mint(t.Context(), store, []ledger.Receipt{revoked}, nil, nil); err != nil {
		t.Fatal(err)
	}
	now, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.Prior(t.Context(), store, now)(oak.Hash, "/verdict/score"); err == nil ||
		!strings.Contains(err.Error(), "was taken back by a later entry") {
		t.Errorf("after the revocation: %v", err)
	}
	if _, err := receipt.Prior(t.Context(), store, receipt.Before(now, cook.Receipt))(oak.Hash,
		"/verdict/score"); err != nil {
		t.Errorf("before it: %v", err)
	}
	replayReceipt(t, store, in, gatetest.AuditSample(t, in, "cook-with-lift", nil).Sheet, cook)
	// The word that was taken back no longer stands: signing again is a new receipt.
	again := gatetest.MintNew(
		t,
		store,
		gatetest.AuditSample(t, in, "oak-street", nil),
		receipt.Local{Name: "ann", At: gatetest.Nine.Add(time.Hour), Answers: gatetest.BothTrue},
	)
	if again.Receipt.Seq != now.Head.Count {
		t.Errorf("signed again at %d", again.Receipt.Seq)
	}
}

// TestFindRun: by its bytes, wherever it lies; never by its name alone.
func TestFindRun(t *testing.T) {
	store, in := &ledger.MemStore{}, gatetest.Samples(nil)
	e := gatetest.MintNew(
		t,
		store,
		gatetest.AuditSample(t, in, "oak-street", nil),
		receipt.Local{Name: "ann", At: gatetest.Nine, Answers: gatetest.BothTrue},
	)
	moved := fstest.MapFS{}
	for name, f := range in {
		moved[strings.Replace(name, "runs/oak-street/", "deep/down/here/", 1)] = f
	}
	if _, where, err := receipt.FindRun(moved, e.Receipt); err != nil || where != "deep/down/here" {
		t.Errorf("moved: %q, %v", where, err)
	}
	edited := gatetest.Samples(nil)
	edited["runs/oak-street/submission.json"] = &fstest.MapFile{
		Data: append([]byte(" "), in["runs/oak-street/submission.json"].Data...),
	}
	if _, _, err := receipt.FindRun(edited, e.Receipt); !errors.Is(err, receipt.ErrNotAtHand) {
		t.Errorf("edited: %v", err)
	}
	at, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := receipt.KeptSheet(t.Context(), store, at, e.Receipt)
	if err != nil || sheet == nil || sheet.SHA256 != e.Receipt.FlightSheet.SHA256 {
		t.Errorf("the ledger's sheet: %v, %v", sheet, err)
	}
	src, _ := flightsheets.Read("cre-multifamily-agency")
	own := fstest.MapFS{"flight_sheets/cre-multifamily-agency.json": {Data: src}}
	if s := receipt.TreeSheet(own, "flight_sheets", e.Receipt, true); s == nil || !s.Shadows ||
		s.Origin != "repository" {
		t.Errorf("the repository's sheet: %+v", s)
	}
	own["flight_sheets/cre-multifamily-agency.json"] = &fstest.MapFile{
		Data: bytes.Replace(src, []byte("1.0.0"), []byte("1.0.1"), 1),
	}
	if s := receipt.TreeSheet(own, "flight_sheets", e.Receipt, true); s != nil {
		t.Errorf("another version: %s", s.Version)
	}
}
