package ledger_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

const (
	hashA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hashB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// firstReceipt is Sample(0) at seq 0.
func firstReceipt() ledger.Receipt {
	r := storetest.Sample(0)
	r.ParentHash, r.Log = ledger.NoParent, ledger.NewHead().Log()
	r.ID = ledger.ReceiptID(0, r.Submission.SHA256)
	r.MintedAt = r.Approval.Review.SubmittedAt
	return r
}

func cookReceipt() ledger.Receipt {
	r := storetest.Sample(9)
	r.Schema, r.Run.Lane = ledger.CookSchema, "cook"
	r.Cook = &ledger.Cook{Before: hashA, After: hashB, BaseModel: "example-7b", Dataset: "pairs-1", Pairs: 500,
		EvalBefore: "71.5", EvalAfter: "80.25", Lift: "8.75", Runner: "local", ComputeUSD: "12.40"}
	return storetest.Key(r)
}

func incidentReceipt() ledger.Receipt {
	r := storetest.Sample(8)
	r.Schema, r.Run.Lane = ledger.IncidentSchema, "incident"
	r.Incident = &ledger.Incident{ID: "inc-1", Kind: "recurring_flag", Tier: "high", Title: "third propolis",
		Lane:     "agent",
		Response: []string{"lane_locked"}, Status: "open", OpenedAt: "2026-11-02T09:00:00Z", Receipts: []string{hashA}}
	return storetest.Key(r)
}

func TestFormatIsCanonical(t *testing.T) {
	for name, r := range map[string]ledger.Receipt{"eval": storetest.Sample(0), "cook": cookReceipt(),
		"incident": incidentReceipt(),
		"observed": storetest.Observed(storetest.Sample(0), ledger.Merged, hashA),
		"local":    storetest.Local(storetest.Sample(3))} {
		b, err := ledger.Mint(ledger.NewHead(), r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := canonical.Check(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		back, err := ledger.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := ledger.Format(*back)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: comes back as\n%s\n%v", name, again, err)
		}
	}
}

// TestSanitized holds that a replaced text is replaced visibly and said to be.
func TestSanitized(t *testing.T) {
	r := storetest.Sample(0)
	r.Findings[0].Message = "left\u202eright"
	r.Assignment = &ledger.Assignment{Text: "a\u2028b", SHA256: canonical.SHA256Hex([]byte("a\u2028b"))}
	b, err := ledger.Mint(ledger.NewHead(), r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/assignment/text", "/findings/0/message"}; !slices.Equal(back.Sanitized, want) {
		t.Errorf("sanitized %q, want %q", back.Sanitized, want)
	}
	if back.Findings[0].Message != "left<U+202E>right" || back.Assignment.Text != "a<U+2028>b" {
		t.Errorf("%q, %q", back.Findings[0].Message, back.Assignment.Text)
	}
	if again, err := ledger.Format(*back); err != nil || !bytes.Equal(again, b) {
		t.Errorf("comes back differently: %v", err)
	}
}

// TestRefusals has a case for every reason to refuse an entry; all but the one thing named is right.
func TestRefusals(t *testing.T) {
	seen := map[string]bool{}
	for name, c := range map[string]struct {
		code string
		edit func(*ledger.Receipt)
	}{
		"no approval": {ledger.RefuseApproval, func(r *ledger.Receipt) { r.Approval = nil }},
		"approved by an event": {ledger.RefuseApproval, func(r *ledger.Receipt) {
			r.Approval = nil
			r.ObservedBy = &ledger.ObservedBy{Event: "x", At: r.MintedAt}
		}},
		"approval where none is": {ledger.RefuseApproval,
			func(r *ledger.Receipt) { r.Kind = ledger.Superseded; r.RefersTo = hashA }},
		"approval and event": {ledger.RefuseObserved,
			func(r *ledger.Receipt) { r.ObservedBy = &ledger.ObservedBy{Event: "x", At: r.MintedAt} }},
		"merged without SHA": {ledger.RefuseObserved,
			func(r *ledger.Receipt) { *r = observedEvent(*r, ledger.Merged); r.ObservedBy.SHA = "" }},
		"decided otherwise": {ledger.RefuseDecision,
			func(r *ledger.Receipt) { r.Approval.Decision = ledger.Rejected }},
		"minted at another time": {ledger.RefuseTime,
			func(r *ledger.Receipt) { r.MintedAt = "2026-11-02T09:30:01Z" }},
		"observed at another time": {ledger.RefuseTime,
			func(r *ledger.Receipt) { *r = observedEvent(*r, ledger.Merged); r.MintedAt = "2026-11-02T09:30:01Z" }},
		"self-signed, no admin": {ledger.RefuseSelfSigned, func(r *ledger.Receipt) { r.SelfSigned = true }},
		"waiver without approval": {ledger.RefuseWaiver, func(r *ledger.Receipt) {
			*r = observedEvent(*r, ledger.Merged)
			r.Accepted = []ledger.Waiver{{"a", "b", "c", r.MintedAt}}
		}},
		"open question": {ledger.RefuseChecklist,
			func(r *ledger.Receipt) { r.Checklist[0] = ledger.Answer{ID: "a", Answer: "open"} }},
		"open check": {ledger.RefuseChecklist, func(r *ledger.Receipt) {
			r.Verdict.Counts.Open,
				r.Verdict.Counts.Satisfied = 1, 26
		}},
		"answer of nobody":    {ledger.RefuseChecklist, func(r *ledger.Receipt) { r.Checklist[0].By = "" }},
		"answer without time": {ledger.RefuseChecklist, func(r *ledger.Receipt) { r.Checklist[0].At = "" }},
		"flag without note":   {ledger.RefuseChecklist, func(r *ledger.Receipt) { r.Checklist[0].Answer = "flag" }},
		"undecided high rule": {ledger.RefuseUndecided,
			func(r *ledger.Receipt) { r.Verdict.UndecidedHigh = []string{"dscr_gate"} }},
		"unsigned":             {ledger.RefuseSeverity, func(r *ledger.Receipt) { r.Verdict.Severity = "unsigned" }},
		"honey with a finding": {ledger.RefuseSeverity, func(r *ledger.Receipt) { r.Verdict.Severity = "honey" }},
		"honey, rejected": {ledger.RefuseSeverity, func(r *ledger.Receipt) {
			removeFinding(r)
			r.Kind,
				r.Approval.Decision = ledger.Rejected, ledger.Rejected
		}},
		"jelly with a high one": {ledger.RefuseSeverity,
			func(r *ledger.Receipt) { r.Findings[0].Tier = "high"; r.Verdict.Risk = ledger.Risk{High: 1} }},
		"counts":           {ledger.RefuseCounts, func(r *ledger.Receipt) { r.Verdict.Counts.Declared++ }},
		"nothing declared": {ledger.RefuseCounts, func(r *ledger.Receipt) { r.Verdict.Counts = ledger.Counts{} }},
		"risk and total":   {ledger.RefuseCounts, func(r *ledger.Receipt) { r.Verdict.Risk.Low = 1 }},
		"risk and findings": {ledger.RefuseCounts,
			func(r *ledger.Receipt) { r.Verdict.Risk = ledger.Risk{Low: 1} }},
		"too many findings": {ledger.RefuseFindings, func(r *ledger.Receipt) {
			r.Findings = slices.Repeat(r.Findings, 201)
			r.FindingsTotal, r.Verdict.Risk.Mid = 201, 201
		}},
		"more than in all": {ledger.RefuseFindings, func(r *ledger.Receipt) {
			r.FindingsTotal, r.Verdict.Risk.Mid = 0,
				0
		}},
		"out of rank": {ledger.RefuseFindings, func(r *ledger.Receipt) {
			r.Findings = append(slices.Clone(r.Findings), r.Findings[0])
			r.Findings[0].Tier, r.FindingsTotal, r.Verdict.Risk = "low", 2, ledger.Risk{Mid: 1, Low: 1}
		}},
		"score below zero":      {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.Score = "-5" }},
		"score rounded up":      {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.Score = "96.5" }},
		"another spelling":      {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.Score = "96.40" }},
		"another fraction":      {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.ScoreFraction = "28/28" }},
		"another decided score": {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.ScoreDecided = "100" }},
		"another coverage":      {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.Coverage = "99.9" }},
		"weighted above all":    {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.WeightedScore = "100.1" }},
		"risk points":           {ledger.RefuseScore, func(r *ledger.Receipt) { r.Verdict.RiskPoints = 0 }},
		"critical in jelly": {ledger.RefuseSeverity,
			func(r *ledger.Receipt) { r.Findings[0].Severity = "critical" }},
		"propolis over a mid": {ledger.RefuseSeverity, func(r *ledger.Receipt) { r.Verdict.Severity = "propolis" }},
		"jelly without any": {ledger.RefuseSeverity,
			func(r *ledger.Receipt) { removeFinding(r); r.Verdict.Severity = "jelly" }},
		"another if approved": {ledger.RefuseSeverity,
			func(r *ledger.Receipt) { r.Verdict.SeverityIfApproved = "honey" }},
		"honey over a no": {ledger.RefuseChecklist, func(r *ledger.Receipt) {
			removeFinding(r)
			r.Checklist[0].Answer, r.Checklist[0].Note = "flag", "it was not visited"
		}},
		"two answers": {ledger.RefuseChecklist,
			func(r *ledger.Receipt) { r.Checklist = append(r.Checklist, r.Checklist[0]) }},
		"findings of more rules": {ledger.RefuseCounts,
			func(r *ledger.Receipt) { r.Findings[0].RuleIDs = []string{"dscr", "ltv"} }},
		"a rule flagged in vain": {ledger.RefuseCounts, func(r *ledger.Receipt) {
			r.Verdict.Counts.Satisfied,
				r.Verdict.Counts.Flagged = 26, 2
		}},
		"a count out of reach": {ledger.RefuseCounts,
			func(r *ledger.Receipt) { r.Verdict.Counts.Declared = 1 << 52 }},
		"ready over a defect": {ledger.RefuseReady, func(r *ledger.Receipt) { r.Verdict.ClientReady = true }},
		"unready for nothing": {ledger.RefuseReady,
			func(r *ledger.Receipt) { removeFinding(r); r.Verdict.ClientReady = false }},
		"approve over a defect": {ledger.RefuseAction,
			func(r *ledger.Receipt) { r.Verdict.RecommendedAction = "approve" }},
		"resubmit for nothing": {ledger.RefuseAction,
			func(r *ledger.Receipt) { removeFinding(r); r.Verdict.RecommendedAction = "resubmit" }},
		"another subject": {ledger.RefuseSubject, func(r *ledger.Receipt) { r.Approval.SubjectDigest = hashA }},
		"another sheet":   {ledger.RefuseSubject, func(r *ledger.Receipt) { r.FlightSheet.SHA256 = hashA }},
		"another submission": {ledger.RefuseSubject,
			func(r *ledger.Receipt) { r.Submission.SHA256 = hashA; *r = placeFirst(*r) }},
		"other evidence":         {ledger.RefuseSubject, func(r *ledger.Receipt) { r.Evidence[0].SHA256 = hashA }},
		"evidence of another id": {ledger.RefuseSubject, func(r *ledger.Receipt) { r.Evidence[0].ID = "t13" }},
		"evidence more": {ledger.RefuseSubject,
			func(r *ledger.Receipt) { r.Evidence = append(r.Evidence, r.Evidence[0]) }},
		"evidence less": {ledger.RefuseSubject, func(r *ledger.Receipt) { r.Evidence = nil }},
		"evidence no longer held": {ledger.RefuseSubject, func(r *ledger.Receipt) {
			r.Evidence[0].SHA256, r.Evidence[0].Status = "", "missing"
		}},
		"held without hash": {ledger.RefuseEvidence, func(r *ledger.Receipt) { r.Evidence[0].SHA256 = "" }},
		"missing with hash": {ledger.RefuseEvidence, func(r *ledger.Receipt) { r.Evidence[0].Status = "missing" }},
		"added by nobody":   {ledger.RefuseEvidence, func(r *ledger.Receipt) { r.Evidence[0].AddedBy = "" }},
		"another assignment": {ledger.RefuseAssignment,
			func(r *ledger.Receipt) { r.Assignment.Text = "Underwrite it again." }},
		"no engine":  {ledger.RefuseAudit, func(r *ledger.Receipt) { r.Engine = nil }},
		"no verdict": {ledger.RefuseAudit, func(r *ledger.Receipt) { r.Verdict = nil }},
		"no digest":  {ledger.RefuseAudit, func(r *ledger.Receipt) { r.ReportDigest = "" }},
		"half an audit, merged": {ledger.RefuseAudit,
			func(r *ledger.Receipt) {
				d := r.ReportDigest
				*r = observedEvent(*r, ledger.Merged)
				r.ReportDigest = d
			}},
		"findings, no verdict": {ledger.RefuseAudit,
			func(r *ledger.Receipt) { f := r.Findings; *r = observedEvent(*r, ledger.Merged); r.Findings = f }},
		"another receipt_id": {ledger.RefuseID,
			func(r *ledger.Receipt) { r.ID = "DCR-000001-" + r.Submission.SHA256[:8] }},
		"id of other bytes":      {ledger.RefuseID, func(r *ledger.Receipt) { r.ID = "DCR-000000-00000000" }},
		"seq too large":          {ledger.RefuseSeq, func(r *ledger.Receipt) { r.Seq = ledger.MaxSeq + 1 }},
		"log of another size":    {ledger.RefuseSeq, func(r *ledger.Receipt) { r.Log.Count = 1 }},
		"parent at genesis":      {ledger.RefuseSeq, func(r *ledger.Receipt) { r.ParentHash = hashA }},
		"root at genesis":        {ledger.RefuseSeq, func(r *ledger.Receipt) { r.Log.Root = hashA }},
		"pull request 0":         {ledger.RefusePull, func(r *ledger.Receipt) { r.PullRequest.Number = 0 }},
		"pull request too large": {ledger.RefusePull, func(r *ledger.Receipt) { r.PullRequest.Number = 100_000_000 }},
		"lane's schema":          {ledger.RefuseSchema, func(r *ledger.Receipt) { r.Run.Lane = "cook" }},
		"cook in an eval":        {ledger.RefuseCook, func(r *ledger.Receipt) { r.Cook = cookReceipt().Cook }},
		"cook without cook": {ledger.RefuseCook,
			func(r *ledger.Receipt) { *r = placeFirst(cookReceipt()); r.Cook = nil }},
		"no lift": {ledger.RefuseLift, func(r *ledger.Receipt) {
			*r = placeFirst(cookReceipt())
			r.Cook.EvalAfter,
				r.Cook.Lift = "71.50", "0"
		}},
		"a fall": {ledger.RefuseLift, func(r *ledger.Receipt) {
			*r = placeFirst(cookReceipt())
			r.Cook.EvalAfter,
				r.Cook.Lift = "70", "-1.5"
		}},
		"another lift": {ledger.RefuseLift,
			func(r *ledger.Receipt) { *r = placeFirst(cookReceipt()); r.Cook.Lift = "8.8" }},
		"one receipt": {ledger.RefuseLift,
			func(r *ledger.Receipt) { *r = placeFirst(cookReceipt()); r.Cook.After = hashA }},
		"incident in an eval": {ledger.RefuseIncident, func(r *ledger.Receipt) { r.Incident = incidentReceipt().Incident }},
		"no incident": {ledger.RefuseIncident,
			func(r *ledger.Receipt) { *r = placeFirst(incidentReceipt()); r.Incident = nil }},
		"recurring without one": {ledger.RefuseIncident,
			func(r *ledger.Receipt) { *r = placeFirst(incidentReceipt()); r.Incident.Receipts = []string{} }},
		"approved refers": {ledger.RefuseRefers, func(r *ledger.Receipt) { r.RefersTo = hashA }},
		"revoked refers to none": {ledger.RefuseRefers,
			func(r *ledger.Receipt) { r.Kind, r.Approval.Decision = ledger.Revoked, ledger.Revoked }},
		"unreceipted refers": {ledger.RefuseRefers,
			func(r *ledger.Receipt) { *r = observedEvent(*r, ledger.Unreceipted) }},
	} {
		r := firstReceipt()
		c.edit(&r)
		_, err := ledger.Format(r)
		var refusal *ledger.Refusal
		if !errors.As(err, &refusal) || refusal.Code != c.code {
			t.Errorf("%s: %v, want the refusal %q", name, err, c.code)
		}
		seen[c.code] = true
	}
	// The rest needs other entries: TestResolve, TestVerifyAttacks and TestParseRefuses.
	for _, code := range []string{ledger.RefuseSheet, ledger.RefuseUnresolved} {
		seen[code] = true
	}
	if len(seen) != 28 {
		t.Errorf("%d reasons are tested, there are 28", len(seen))
	}
}

// observedEvent is r's event entry of the kind, at r's place.
func observedEvent(r ledger.Receipt, kind ledger.Kind) ledger.Receipt {
	return placeFirst(storetest.Observed(r, kind, hashA))
}

// placeFirst puts r at seq 0.
func placeFirst(r ledger.Receipt) ledger.Receipt {
	r.Seq, r.ParentHash, r.Log = 0, ledger.NoParent, ledger.NewHead().Log()
	r.ID = ledger.ReceiptID(0, r.Submission.SHA256)
	if r.Approval != nil {
		r.MintedAt = r.Approval.Review.SubmittedAt
	} else {
		r.MintedAt = r.ObservedBy.At
	}
	return r
}

// removeFinding takes the finding out of r and makes it honey.
func removeFinding(r *ledger.Receipt) { *r = storetest.Clean(*r) }

// TestParseRefuses edits the bytes of a good receipt, as a forger would.
func TestParseRefuses(t *testing.T) {
	good, err := ledger.Format(firstReceipt())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, with, want string }{
		{`{"agent"`, `{"agemt":1,"agent"`, `unknown key "agemt"; did you mean "agent"?`},
		{`{"agent"`, `{"a":1,"agent"`, `unknown key "a"`},
		{`"kind":"approved"`, `"kind":"aproved"`, `did you mean "approved"`},
		{`eval-receipt/v1`, `eval-receipt/v2`, `the schema "defendablecloud.eval-receipt/v2" is unknown to this ` +
			`version; known are defendablecloud.eval-receipt/v1`},
		{`"seq":0`, `"seq":-1`, "a negative number"},
		{`"line":12`, `"line":-12`, "a negative number"},
		{`"seq":0`, `"seq":"0"`, "an integer is expected"},
		{`"seq":0`, `"seq": 0`, "white space"},
		{`,"seq":0`, ``, `the member "seq" is missing`},
		{`"type":"User"`, `"type":"Bot"`, "not one of User"},
		{`"permission":"maintain"`, `"permission":"read"`, "not one of admin, maintain, write, local"},
		{`"tier":"mid"`, `"tier":"medium"`, "not one of high, mid, low"},
		{`"lane":"agent"`, `"lane":"agents"`, `did you mean "agent"`},
		{`"minted_at":"2026-11-02T09:30:00Z"`, `"minted_at":"2026-11-02T09:30:00.0Z"`, "is not a time"},
		{`"params_b":"70"`, `"params_b":"70b"`, "is not a decimal"},
		{`"client_ready":false`, `"client_ready":null`, "null"},
		{`"score":"96.4"`, `"score":96.4`, "a fraction"},
		{`"parent_hash":"0`, `"parent_hash":"G`, "is not a SHA-256"},
		{`"head_sha":"`, `"head_sha":"00`, "is not a git object name"},
		{`"receipt_id":"DCR-`, `"receipt_id":"DCX-`, "is not a receipt id"},
	} {
		bad := strings.Replace(string(good), c.old, c.with, 1)
		if bad == string(good) {
			t.Fatalf("%s does not occur", c.old)
		}
		r, err := ledger.Parse([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), c.want) || r != nil {
			t.Errorf("%s for %s: %v, %v; want %q and nothing", c.with, c.old, r, err, c.want)
		}
	}
	for _, text := range []string{"", "{}", "null", "[]", `{"schema":"x"}`} {
		if r, err := ledger.Parse([]byte(text)); err == nil || r != nil {
			t.Errorf("%q: %v", text, r)
		}
	}
}

func TestResolve(t *testing.T) {
	prior := func(hash string, seq int64, edit func(*ledger.Prior)) ledger.Prior {
		p := ledger.PriorOf(new(storetest.Sample(seq)), hash)
		p.Seq = seq
		if edit != nil {
			edit(&p)
		}
		return p
	}
	life := func(kind ledger.Kind) ledger.Receipt {
		r := storetest.Observed(storetest.Sample(0), kind, hashA)
		r.Seq = 5
		return r
	}
	cooked, reported := cookReceipt(), incidentReceipt()
	carried, revoked := storetest.Carried(storetest.Sample(0), hashA), storetest.TakenBack(storetest.Sample(0),
		ledger.Revoked, hashA)
	cooked.Seq, reported.Seq, carried.Seq, revoked.Seq = 5, 5, 5, 5
	score := func(s string) func(*ledger.Prior) { return func(p *ledger.Prior) { p.Score = s } }
	for name, c := range map[string]struct {
		r    ledger.Receipt
		a, b ledger.Prior
		want string // refusal; "" if it resolves
	}{
		"merged":            {life(ledger.Merged), prior(hashA, 0, nil), ledger.Prior{}, ""},
		"refers to nothing": {life(ledger.Merged), ledger.Prior{}, ledger.Prior{}, ledger.RefuseRefers},
		"refers to a later": {life(ledger.Merged), prior(hashA, 5, nil), ledger.Prior{}, ledger.RefuseRefers},
		"another run": {life(ledger.Merged), prior(hashA, 0, func(p *ledger.Prior) { p.Run.ID = "x" }),
			ledger.Prior{}, ledger.RefuseRefers},
		"other bytes": {life(ledger.Superseded),
			prior(hashA, 0, func(p *ledger.Prior) { p.Bytes = hashB }), ledger.Prior{}, ledger.RefuseRefers},
		"another rulebook": {life(ledger.Superseded),
			prior(hashA, 0, func(p *ledger.Prior) { p.Sheet.Version = "2.0.0" }), ledger.Prior{}, ledger.RefuseRefers},
		"carrying a rejected": {life(ledger.Carried),
			prior(hashA, 0, func(p *ledger.Prior) { p.Kind = ledger.Rejected }), ledger.Prior{}, ledger.RefuseRefers},
		"carried": {carried, prior(hashA, 0, nil), ledger.Prior{}, ""},
		"carried, other evidence": {carried, prior(hashA, 0, func(p *ledger.Prior) { p.Subject = hashB }),
			ledger.Prior{}, ledger.RefuseSubject},
		"revoked": {revoked, prior(hashA, 0, nil), ledger.Prior{}, ""},
		"revoked, another subject": {revoked, prior(hashA, 0, func(p *ledger.Prior) { p.Subject = hashB }),
			ledger.Prior{}, ledger.RefuseSubject},
		"revoked, of no subject": {revoked, prior(hashA, 0, func(p *ledger.Prior) {
			p.Kind, p.Subject = ledger.Merged,
				""
		}), ledger.Prior{}, ledger.RefuseSubject},
		"incident":          {reported, prior(hashA, 1, nil), ledger.Prior{}, ""},
		"incident, no such": {reported, ledger.Prior{}, ledger.Prior{}, ledger.RefuseUnresolved},
		"incident, later":   {reported, prior(hashA, 7, nil), ledger.Prior{}, ledger.RefuseUnresolved},
		"cook":              {cooked, prior(hashA, 1, score("71.50")), prior(hashB, 2, score("80.25")), ""},
		"cook, no before":   {cooked, ledger.Prior{}, prior(hashB, 2, score("80.25")), ledger.RefuseUnresolved},
		"cook, no after":    {cooked, prior(hashA, 1, score("71.5")), ledger.Prior{}, ledger.RefuseUnresolved},
		"cook, revoked": {cooked, prior(hashA, 1, func(p *ledger.Prior) { p.Kind = ledger.Revoked }),
			prior(hashB, 2, score("80.25")), ledger.RefuseUnresolved},
		"cook, not audited": {cooked, prior(hashA, 1, score("")), prior(hashB, 2, score("80.25")),
			ledger.RefuseUnresolved},
		"cook, other score": {cooked, prior(hashA, 1, score("79")), prior(hashB, 2, score("80.25")),
			ledger.RefuseLift},
		"cook, other sheets": {cooked, prior(hashA, 1, score("71.5")),
			prior(hashB, 2, func(p *ledger.Prior) { p.Score, p.Sheet.Version = "80.25", "1.3.0" }),
			ledger.RefuseSheet},
		"cook, same version, other text": {cooked, prior(hashA, 1, score("71.5")),
			prior(hashB, 2, func(p *ledger.Prior) { p.Score, p.Sheet.SHA256 = "80.25", hashA }),
			ledger.RefuseSheet},
	} {
		err := c.r.Resolve(func(hash string) (ledger.Prior, bool) {
			for _, p := range []ledger.Prior{c.a, c.b} {
				if p.Hash == hash {
					return p, true
				}
			}
			return ledger.Prior{}, false
		})
		var refusal *ledger.Refusal
		if got := errors.As(err, &refusal); got != (c.want != "") || got && refusal.Code != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestMintCuts holds that a receipt takes the first findings in rank order and says how many there are.
func TestMintCuts(t *testing.T) {
	r := storetest.Sample(0)
	r.Findings = slices.Repeat(r.Findings, 312)
	r.FindingsTotal, r.Verdict.Risk.Mid, r.Verdict.RiskPoints = 312, 312, 624
	for message, want := range map[string]int{"short": ledger.MaxFindings, strings.Repeat("x", 4000): 63} {
		for i := range r.Findings {
			r.Findings[i].Message = message
		}
		b, err := ledger.Mint(ledger.NewHead(), r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ledger.Parse(b)
		if err != nil || back.FindingsTotal != 312 || len(back.Findings) > want || len(back.Findings) < want/2 ||
			len(b) > 256<<10 {
			t.Errorf("%d of %d findings in %d bytes, %v; want at most %d", len(back.Findings), back.FindingsTotal,
				len(b), err, want)
		}
	}
	r.Findings, r.Assignment.Text = nil, strings.Repeat("x", 300_000)
	r.Assignment.SHA256 = canonical.SHA256Hex([]byte(r.Assignment.Text))
	if b, err := ledger.Mint(ledger.NewHead(), r); err == nil || b != nil {
		t.Error("a receipt that cannot be cut to 256 KiB was minted")
	}
}

// TestDigests holds the two digests to values made with Python's hashlib:
//
//	def d(*parts): return hashlib.sha256("".join("%d:%s" % (len(p), p) for p in parts).encode()).hexdigest()
//	d("referee.subject/v1", "a"*64, "b"*64, "t12", "a"*64)
//	d("referee.idempotency-key/v1", "4242", "7", "1000", "run-1", "approved", "a"*64)
func TestDigests(t *testing.T) {
	s := ledger.Subject{SheetSHA256: hashA, SubmissionSHA256: hashB,
		Evidence: []ledger.Evidence{{ID: "t12", SHA256: hashA}}}
	if got, want := s.Digest(), "2c1e46a21b14bea98b5795d0cd6402aba67ed8bde5244c9637394e33785e22e2"; got != want {
		t.Errorf("subject %s, want %s", got, want)
	}
	// d("referee.subject/v1", "a"*64, "b"*64, "t12<U+202E>", "a"*64, "Größe", ""), each length that of the text in
	// UTF-8
	s.Evidence = []ledger.Evidence{{ID: "t12\u202e", SHA256: hashA}, {ID: "Größe"}}
	if got, want := s.Digest(), "ae7e274315b9416572e47eb00f5214f4aa3cf20708c21dcd2224aa6d70d2c8e4"; got != want {
		t.Errorf("subject with an id that a receipt cannot hold %s, want %s", got, want)
	}
	// d("referee.subject/v2", "a"*64, "b"*64, "r", "agent", "", "a"*64, "agent", "underwriter", "m", "", "", "",
	// "frontier", "", "", "", "", "", "true", "2",
	//   "calculator", "reader", "0", "t12", "a"*64), and with "no agent" in a project "p"
	s.Evidence = []ledger.Evidence{{ID: "t12", SHA256: hashA}}
	s.Manifest = &ledger.Manifest{Run: ledger.Run{ID: "r", Lane: "agent"}, AssignmentSHA256: hashA,
		Agent: &ledger.Agent{Name: "underwriter", Model: "m", CapabilityTier: "frontier", Pinned: true,
			Tools: []string{"calculator", "reader"}}}
	if got, want := s.Digest(), "1032c21e7ba1147f2678f68ffc8d57f704b527263eff2d74ff738febf9ada6dc"; got != want {
		t.Errorf("subject with an agent %s, want %s", got, want)
	}
	s.Manifest = &ledger.Manifest{Run: ledger.Run{ID: "r", Lane: "agent", Project: "p"}, AssignmentSHA256: hashA}
	if got, want := s.Digest(), "d16a0e9d113bc84541cb13aaf4ca18f7201e85336d503488d2c0e480cb248132"; got != want {
		t.Errorf("subject without an agent %s, want %s", got, want)
	}
	k := ledger.Key{Repository: 4242, PullRequest: 7, Review: 1000, Run: "run-1", Kind: ledger.Approved, Subject: hashA}
	if got, want := k.Digest(), "343d02ae542a2cff0f587c5f64c1d1afec443d1b4f2f01a996df4cd0d28d7bfd"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	seen := map[string]bool{k.Digest(): true}
	for _, other := range []ledger.Key{
		{4243, 7, 1000, "run-1", ledger.Approved, hashA}, {4242, 8, 1000, "run-1", ledger.Approved, hashA},
		{4242, 7, 1001, "run-1", ledger.Approved, hashA}, {4242, 7, 1000, "run-2", ledger.Approved, hashA},
		{4242, 7, 1000, "run-1", ledger.Revoked, hashA}, {4242, 7, 1000, "run-1", ledger.Approved, hashB},
		{424, 27, 1000, "run-1", ledger.Approved, hashA},
	} {
		if seen[other.Digest()] {
			t.Errorf("%+v shares its key", other)
		}
		seen[other.Digest()] = true
	}
}

// TestFieldsMirrorThemselves holds that no field of a receipt is without a json tag, so that nothing is lost silently.
func TestFieldsMirrorThemselves(t *testing.T) {
	b, err := json.Marshal(firstReceipt())
	if err != nil {
		t.Fatal(err)
	}
	var back ledger.Receipt
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, firstReceipt()) {
		t.Errorf("%v", err)
	}
}

// FuzzParse holds that a text that parses is the one that Format gives, and that nothing is given with an error.
func FuzzParse(f *testing.F) {
	for _, r := range []ledger.Receipt{storetest.Sample(0), cookReceipt(), incidentReceipt(),
		storetest.Observed(storetest.Sample(0),
			ledger.Merged, hashA), storetest.Local(storetest.Sample(1))} {
		b, err := ledger.Mint(ledger.NewHead(), r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ledger.Parse(b)
		if err != nil {
			if r != nil {
				t.Error("a receipt with an error")
			}
			return
		}
		if again, err := ledger.Format(*r); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s\ncomes back as\n%s\n%v", b, again, err)
		}
	})
}
