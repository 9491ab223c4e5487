package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// papersDir is where the papers of the tests are left to be looked at.
var papersDir = flag.String("papers", "", "write the PDF papers of the tests into this directory")

const published = "https://example.github.io/ledger/verify.html#0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// minted gives the bytes of a receipt at the beginning of a chain.
func minted(t testing.TB, r ledger.Receipt) (*ledger.Receipt, []byte) {
	t.Helper()
	b, err := ledger.Mint(ledger.NewHead(), storetest.Key(r))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return parsed, b
}

func render(t testing.TB, r ledger.Receipt, at Place) []byte {
	t.Helper()
	parsed, b := minted(t, r)
	var out bytes.Buffer
	if err := PDF(&out, parsed, b, at); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// longFindings gives a receipt n findings of all tiers with everything that a finding can hold.
func longFindings(r ledger.Receipt, n int) ledger.Receipt {
	r.Findings = nil
	for i := range n {
		tier := "low"
		switch {
		case i < n/5:
			tier = "high"
		case i < n/2:
			tier = "mid"
		}
		r.Findings = append(r.Findings, ledger.Finding{
			Code: "math.mismatch", RuleIDs: []string{fmt.Sprintf("rule_%d", i), "debt_service_coverage"}, Tier: tier, Severity: "noncritical",
			Bucket: "work-defect", Stage: "math", Pointer: fmt.Sprintf("/calculations/%d/result", i), File: "submission.json", Line: 10 + i,
			Message: strings.Repeat("The claimed value of the coverage does not follow from its own formula and inputs. ", 1+i%4),
			Why:     "A lender sizes the loan on this number; one that is too high hides that rent does not cover the debt.",
			Spot:    &ledger.Spot{Claimed: "1.334", Recomputed: "1.303", Delta: "0.031", Percent: "2.3791", Band: "mid", Gate: "1.25"},
			Fix: &ledger.Fix{Text: "State 1.303, or correct the input that it is computed from.",
				Moves: []ledger.Move{{Input: "net_operating_income", From: "1200000", To: "1228550.5"}}},
			Atoms: []string{"EVID_001", "CALC_002"}})
	}
	return storetest.Judged(r, 18, 2)
}

// scripts are names that a paper must hold: Latin with marks of every kind, Greek of all times, Cyrillic of many languages.
var scripts = []string{
	"Ștefan Țepeș, Łódź, Þórður, Ørsted, İstanbul, Nguyễn Thị Phương, Dvořák",
	"Αλέξανδρος Παπαδόπουλος, Ἀριστοτέλης ὁ Σταγειρίτης, Ελληνική Τράπεζα",
	"Александра Щербакова, Їжакевич, Ђорђевић, Қазақстан, Ґалаґан, Ӱзбек",
	"e\u0301cole, Nguye\u0302\u0303n, \u03b1\u0313\u0301", // decomposed, as some systems write names
}

func withNames(r ledger.Receipt) ledger.Receipt {
	r.Approval.Approver.Login = scripts[1]
	r.Repository.Name = scripts[0]
	r.Run.ID, r.Run.Project = scripts[2], scripts[3]
	r.Agent.Name = scripts[0]
	r.Checklist[0].Note, r.Checklist[0].By = scripts[1], scripts[2]
	r.Evidence[0].ID, r.Evidence[0].Path, r.Evidence[0].AddedBy = scripts[0], scripts[1], scripts[2]
	r.Findings[0].Message, r.Findings[0].RuleIDs = strings.Join(scripts, "; ")+"; 中文名 ไทย עברית 🐝", slices.Clone(scripts)
	r.Accepted = []ledger.Waiver{{RuleID: scripts[0], Reason: scripts[1], By: scripts[2], At: r.MintedAt}}
	r.Accepted[0].At = r.Approval.Review.SubmittedAt
	return storetest.Judged(r, 27, 0)
}

func cookSample() ledger.Receipt {
	r := storetest.Sample(3)
	r.Schema, r.Run.Lane = ledger.CookSchema, "cook"
	r.Cook = &ledger.Cook{Before: canonical.SHA256Hex([]byte("before")), After: canonical.SHA256Hex([]byte("after")), BaseModel: "example-9b",
		Dataset: "oak-street-pairs", Pairs: 48123, EvalBefore: "71.5", EvalAfter: "83.25", Lift: "11.75", Runner: "rack-3", ComputeUSD: "112.40"}
	return r
}

func incidentSample() ledger.Receipt {
	r := storetest.Sample(4)
	r.Schema, r.Run.Lane = ledger.IncidentSchema, "incident"
	r.Incident = &ledger.Incident{ID: "INC-7", Kind: "spend_breach", Tier: "high", Title: "The agent spent twice its cap",
		Detail: "Cap 50.00 USD, spent 104.12 USD in one run.", Lane: "agent", Response: []string{"lane_locked", "human_approval_required"},
		Status: "open", OpenedAt: "2026-11-02T08:00:00Z", Receipts: []string{canonical.SHA256Hex([]byte("a")), canonical.SHA256Hex([]byte("b"))}}
	return r
}

func selfSigned() ledger.Receipt {
	r := storetest.Sample(5)
	r.SelfSigned = true
	r.Approval.Approver.Permission = "admin"
	r.Findings, r.FindingsTotal = nil, 0
	r.Verdict = &ledger.Verdict{Score: "100", Counts: ledger.Counts{Declared: 28, Satisfied: 28}, Severity: "honey", ClientReady: true, RecommendedAction: "approve"}
	return r
}

func revoked() ledger.Receipt {
	r := storetest.Sample(6)
	r.Kind, r.Approval.Decision = ledger.Revoked, ledger.Revoked
	r.RefersTo = canonical.SHA256Hex([]byte("earlier"))
	return r
}

// samples are the papers that were looked at, page by page.
func samples() map[string]ledger.Receipt {
	all := map[string]ledger.Receipt{
		"short": storetest.Sample(0), "findings-20": longFindings(storetest.Sample(1), 20), "findings-200": longFindings(storetest.Sample(1), 200),
		"names": withNames(storetest.Sample(2)), "cook": cookSample(), "incident": incidentSample(), "self-signed": selfSigned(),
		"revoked": revoked(), "local": storetest.Local(storetest.Sample(7)),
	}
	for _, kind := range []ledger.Kind{ledger.Carried, ledger.Superseded, ledger.Withdrawn, ledger.Merged, ledger.Unreceipted} {
		hash := canonical.SHA256Hex([]byte("earlier"))
		if kind == ledger.Unreceipted {
			hash = ""
		}
		r := storetest.Observed(storetest.Sample(8), kind, hash)
		if kind == ledger.Carried {
			s := storetest.Sample(8)
			r.Semantics, r.Engine, r.Agent, r.Assignment, r.Verdict, r.ReportDigest = s.Semantics, s.Engine, s.Agent, s.Assignment, s.Verdict, s.ReportDigest
			r.Findings, r.FindingsTotal = s.Findings, s.FindingsTotal
		}
		all[string(kind)] = r
	}
	return all
}

func TestPDFSamples(t *testing.T) {
	for what, r := range samples() {
		b := render(t, r, Place{URL: published})
		if *papersDir != "" {
			if err := os.WriteFile(filepath.Join(*papersDir, what+".pdf"), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func BenchmarkPDF(b *testing.B) {
	for _, n := range []int{1, 20, 200} {
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			r, payload := minted(b, longFindings(storetest.Sample(1), n))
			b.ReportAllocs()
			for b.Loop() {
				var out bytes.Buffer
				if err := PDF(&out, r, payload, Place{URL: published}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
