package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// WithFindings is a receipt with n findings of all tiers, in rank order, with everything that a finding can hold: the
// longest papers and the largest receipts are made of it.
func WithFindings(r ledger.Receipt, n int) ledger.Receipt {
	r.Findings = nil
	for i := range n {
		tier := "low"
		switch {
		// A fifth high, three tenths mid, half low: the order is that of S43.
		case i < n/5:
			tier = "high"
		case i < n/2:
			tier = "mid"
		}
		r.Findings = append(r.Findings, ledger.Finding{
			Code: "math.mismatch", RuleIDs: []string{fmt.Sprintf("rule_%d", i), "debt_service_coverage"},
			Tier: tier, Severity: "noncritical",
			Bucket: "work-defect", Stage: "math", Pointer: fmt.Sprintf("/calculations/%d/result", i),
			File: "submission.json", Line: 10 + i,
			Message: strings.Repeat(
				"The claimed value of the coverage does not follow from its own formula and inputs. ",
				1+i%4,
			),
			Why: "A lender sizes the loan on this number; one that is too high hides that rent does not cover " +
				"the debt.",
			Spot: &ledger.Spot{
				Claimed:    "1.334",
				Recomputed: "1.303",
				Delta:      "0.031",
				Percent:    "2.3791",
				Band:       "mid",
				Gate:       "1.25",
			},
			Fix: &ledger.Fix{Text: "State 1.303, or correct the input that it is computed from.",
				Moves: []ledger.Move{{Input: "net_operating_income", From: "1200000", To: "1228550.5"}}},
			Atoms: []string{"EVID_001", "CALC_002"}})
	}
	return Judged(r, 18, 2)
}

// ForeignNames are names that a paper must hold: Latin with marks of every kind, Greek of all times, Cyrillic of many
// languages. The last has marks after their letters, which fonts and comparisons get wrong first.
func ForeignNames() []string {
	return []string{
		"Ștefan Țepeș, Łódź, Þórður, Ørsted, İstanbul, Nguyễn Thị Phương, Dvořák",
		"Αλέξανδρος Παπαδόπουλος, Ἀριστοτέλης ὁ Σταγειρίτης, Ελληνική Τράπεζα",
		"Александра Щербакова, Їжакевич, Ђорђевић, Қазақстан, Ґалаґан, Ӱзбек",
		"e\u0301cole, Nguye\u0302\u0303n, \u03b1\u0313\u0301", // decomposed, as some systems write names
	}
}

// WithForeignNames writes names in many alphabets into every field of a receipt that holds one. The finding's message
// also has scripts that the papers' own fonts lack, so that a paper must show what it cannot draw.
func WithForeignNames(r ledger.Receipt) ledger.Receipt {
	names := ForeignNames()
	r.Approval.Approver.Login = names[1]
	r.Repository.Name = names[0]
	r.Run.ID, r.Run.Project = names[2], names[3]
	r.Agent.Name = names[0]
	r.Checklist[0].Note, r.Checklist[0].By = names[1], names[2]
	r.Evidence[0].ID, r.Evidence[0].Path, r.Evidence[0].AddedBy = names[0], names[1], names[2]
	r.Findings[0].Message, r.Findings[0].RuleIDs = strings.Join(names, "; ")+"; 中文名 ไทย עברית 🐝", slices.Clone(names)
	r.Accepted = []ledger.Waiver{{RuleID: names[0], Reason: names[1], By: names[2], At: r.MintedAt}}
	// A sample has no minted_at yet, and a waiver needs a time.
	r.Accepted[0].At = r.Approval.Review.SubmittedAt
	return Judged(r, 27, 0)
}

// CookSample is a receipt of a training run. The two receipts that it names are in no ledger: it is for papers and
// forms, and Resolve refuses it.
func CookSample() ledger.Receipt {
	r := Sample(3)
	r.Schema, r.Run.Lane = ledger.CookSchema, "cook"
	r.Cook = &ledger.Cook{
		Before:     canonical.SHA256Hex([]byte("before")),
		After:      canonical.SHA256Hex([]byte("after")),
		BaseModel:  "example-9b",
		TunedModel: "example-9b-underwriting",
		Dataset:    "oak-street-pairs",
		Pairs:      48123,
		EvalBefore: "71.5",
		EvalAfter:  "83.25",
		Lift:       "11.75",
		Runner:     "rack-3",
		ComputeUSD: "112.40",
	}
	return r
}

// IncidentSample is a receipt of an incident. Its receipts are in no ledger either.
func IncidentSample() ledger.Receipt {
	r := Sample(4)
	r.Schema, r.Run.Lane = ledger.IncidentSchema, "incident"
	r.Incident = &ledger.Incident{ID: "INC-7", Kind: "spend_breach", Tier: "high",
		Title:  "The agent spent twice its cap",
		Detail: "Cap 50.00 USD, spent 104.12 USD in one run.", Lane: "agent",
		Response: []string{"lane_locked", "human_approval_required"},
		Status:   "open", OpenedAt: "2026-11-02T08:00:00Z",
		Receipts: []string{canonical.SHA256Hex([]byte("a")), canonical.SHA256Hex([]byte("b"))}}
	return r
}

// SelfSigned is a receipt whose approver signed their own work. Only an admin may, so the permission is set too.
func SelfSigned() ledger.Receipt {
	r := Sample(5)
	r.SelfSigned = true
	r.Approval.Approver.Permission = "admin"
	r.Findings, r.FindingsTotal = nil, 0
	r.Verdict = &ledger.Verdict{
		Score:             "100",
		Counts:            ledger.Counts{Declared: 28, Satisfied: 28},
		Severity:          "honey",
		ClientReady:       true,
		RecommendedAction: "approve",
	}
	return r
}

// RevokedSample takes an earlier receipt back. Unlike TakenBack it still has its audit, which a life-cycle entry may
// have.
func RevokedSample() ledger.Receipt {
	r := Sample(6)
	r.Kind, r.Approval.Decision = ledger.Revoked, ledger.Revoked
	r.RefersTo = canonical.SHA256Hex([]byte("earlier"))
	return r
}

// Samples are receipts of every kind, by what is special about them. Every kind and every schema is among them, so that
// a format that lacks one fails a test and not a reader. Their references lead nowhere, so they are for formats and not
// for chains.
func Samples() map[string]ledger.Receipt {
	all := map[string]ledger.Receipt{
		"short": Sample(0), "findings-20": WithFindings(Sample(1), 20), "findings-200": WithFindings(Sample(1), 200),
		"names": WithForeignNames(Sample(2)), "cook": CookSample(), "incident": IncidentSample(),
		"self-signed": SelfSigned(),
		"revoked":     RevokedSample(), "local": Local(Sample(7)),
	}
	observed := []ledger.Kind{ledger.Carried, ledger.Superseded, ledger.Withdrawn, ledger.Merged, ledger.Unreceipted}
	for _, kind := range observed {
		hash := canonical.SHA256Hex([]byte("earlier"))
		// It refers to no entry: it says that the run has none.
		if kind == ledger.Unreceipted {
			hash = ""
		}
		r := Observed(Sample(8), kind, hash)
		// A carried entry is live, so it needs the whole audit (S38 and S74 hold for it too).
		if kind == ledger.Carried {
			s := Sample(8)
			r.Semantics, r.Engine, r.Agent, r.Assignment = s.Semantics, s.Engine, s.Agent, s.Assignment
			r.Verdict, r.ReportDigest = s.Verdict, s.ReportDigest
			r.Findings, r.FindingsTotal = s.Findings, s.FindingsTotal
		}
		all[string(kind)] = r
	}
	return all
}

// Minted is a receipt at the beginning of a chain, and its bytes. The bytes are parsed again, as any reader would.
func Minted(r ledger.Receipt) (*ledger.Receipt, []byte, error) {
	b, err := ledger.Mint(ledger.NewHead(), Key(r))
	if err != nil {
		return nil, nil, err
	}
	parsed, err := ledger.Parse(b)
	return parsed, b, err
}
