package comment

import (
	"fmt"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/governance"
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/rulebook"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// The outcomes of this file are written by hand, so that no change of a rulebook changes a paper.

// finding is one at a line of the submission.
func finding(code string, tier referee.Tier, bucket referee.Bucket, line int) referee.Finding {
	severity := "noncritical"
	if tier == referee.High {
		severity = "critical"
	}
	stage := referee.StageMath
	if bucket == referee.DealFinding {
		stage = referee.StagePolicy
	}
	_, rule, _ := strings.Cut(code, ".")
	return referee.Finding{
		Code:     code,
		RuleIDs:  []string{rule},
		Tier:     tier,
		Severity: severity,
		Bucket:   bucket,
		Stage:    stage,
		Pointer:  fmt.Sprintf("/calculations/%d/result", line),
		File:     "submission.json",
		Line:     line,
		Column:   17,
		EndLine:  line,
		EndCol:   21,
		Message:  "claims 1.30; its own formula gives 1.0217",
		Why:      "A coverage that is not there pays no debt.",
		Spot: &referee.Spot{
			Claimed:    "1.3",
			Recomputed: "1.0217",
			Gate:       "dscr >= 1.25",
			Distance:   "0.2283",
		},
		Fix: &referee.Fix{Text: "state 1.0217, or correct the inputs"},
	}
}

// auditedRun is a run with these findings and two questions for a person.
func auditedRun(dir string, findings ...referee.Finding) audit.AuditedRun {
	rep := &referee.Report{
		Schema:   referee.ReportSchema,
		Location: dir,
		Run:      referee.RunRef{ID: dir[strings.LastIndex(dir, "/")+1:], Lane: "agent"},
		Lane:     "agent",
		Sheet: referee.SheetRef{
			Slug:    "cre-multifamily-agency",
			Version: "1.0.0",
			SHA256:  strings.Repeat("5e", 32),
		},
		Semantics: 1,
		Submission: referee.SubmissionRef{
			Path:   "submission.json",
			SHA256: fmt.Sprintf("%064x", len(dir)),
		},
		Findings: findings,
		Digest:   strings.Repeat("d1", 32),
		Checks: []referee.Check{{ID: "dscr", Kind: "recompute", Tier: referee.High, Status: referee.Pass},
			{ID: "appraisal_within_12_months", Kind: "checklist", Tier: referee.Mid, Status: referee.Open},
			{
				ID:     "borrower_name_matches",
				Kind:   "checklist",
				Tier:   referee.Mid,
				Status: referee.Open,
				Label:  "Is the borrower's name the same everywhere?",
			}},
		Checklist: []referee.Question{
			{
				ID:   "appraisal_within_12_months",
				Text: "Is the appraisal within twelve months?",
				Why:  "An old value is no value.",
			},
		},
		Protocol: referee.Protocol{Parsed: true},
		Gating:   referee.Gating{Passed: true},
		Verdict: referee.Verdict{
			Score:              "88.8",
			ScoreFraction:      "8/9",
			Severity:           referee.Unsigned,
			SeverityIfApproved: referee.Honey,
			RecommendedAction:  "review",
			Counts:             referee.Counts{Declared: 9, Satisfied: 7, Open: 2},
		},
	}
	v := &rep.Verdict
	for _, f := range findings {
		switch f.Tier {
		case referee.High:
			v.Risk.High++
			v.Severity, v.RecommendedAction = referee.Propolis,
				map[referee.Bucket]string{referee.WorkDefect: "resubmit", referee.DealFinding: "reject"}[findings[0].Bucket]
		case referee.Mid:
			v.Risk.Mid++
		default:
			v.Risk.Low++
		}
		if v.Severity == referee.Unsigned {
			v.Severity = referee.Jelly
		}
	}
	return audit.AuditedRun{
		Dir:  dir,
		Work: &receipt.Work{Report: rep, Sheet: &referee.Sheet{}, Run: &referee.Run{ID: rep.Run.ID}},
	}
}

func outcomeOf(audits ...audit.AuditedRun) *outcome.Outcome {
	return &outcome.Outcome{
		Repository: "acme/deals",
		ServerURL:  "https://github.com",
		Ledger:     config.Ledger{Branch: "ledger"},
		RunID:      7001,
		Attempt:    1,
		Pull:       12,
		Head:       strings.Repeat("a1", 20),
		Base:       strings.Repeat("b2", 20),
		FailOn:     referee.FailOnHigh,
		Accept:     "deal-finding",
		Audits:     audits,
		Need:       1,
	}
}

// countedApproval is one approval that counts.
func countedApproval(id int64, user, body string) signoff.Judged {
	return signoff.Judged{
		Review: githubapi.Review{
			ID:          id,
			User:        user,
			UserID:      id,
			UserType:    "User",
			State:       "APPROVED",
			CommitSHA:   strings.Repeat("a1", 20),
			Body:        body,
			SubmittedAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		},
		Commands: signoff.ParseCommands(body),
		Counted:  true,
	}
}

// withReceipts gives the outcome a receipt for each run.
func withReceipts(o *outcome.Outcome) *outcome.Outcome {
	for i, a := range o.Audits {
		r := &ledger.Receipt{
			Kind: ledger.Approved,
			Seq:  int64(40 + i),
			ID:   ledger.ReceiptID(int64(40+i), a.Work.Report.Submission.SHA256),
			Run:  ledger.Run{ID: a.Work.Run.ID},
			Approval: &ledger.Approval{
				Approver:      ledger.Approver{Login: "ann"},
				SubjectDigest: a.Work.Subject(),
			},
			Verdict: receipt.VerdictOf(a.Work.Report.Verdict),
		}
		if len(a.Work.Report.Findings) == 0 {
			r.Verdict.Severity, r.Verdict.Score, r.Verdict.ClientReady, r.Verdict.RecommendedAction = "honey", "100",
				true, "approve"
			r.Verdict.Counts.Satisfied, r.Verdict.Counts.Open = 9, 0
		}
		o.Receipts = append(o.Receipts, ledger.Entry{Hash: fmt.Sprintf("%064x", 1000+i), Receipt: r})
	}
	o.LedgerHead = o.Receipts[len(o.Receipts)-1].Hash
	return o
}

const bothAnswers = "Read it all.\n/satisfied appraisal_within_12_months\n/satisfied borrower_name_matches\n"

// goldenOutcomes are the outcomes whose papers are kept as files.
func goldenOutcomes() map[string]func() *outcome.Outcome {
	defect := finding("math.dscr", referee.High, referee.WorkDefect, 22)
	dealHigh := finding("policy.dscr_gate", referee.High, referee.DealFinding, 30)
	return map[string]func() *outcome.Outcome{
		"clean-awaiting": func() *outcome.Outcome {
			o := outcomeOf(auditedRun("runs/oak-street"))
			o.Judged = []signoff.Judged{
				{
					Review: githubapi.Review{
						User:      "agent-runner",
						UserType:  "User",
						State:     "APPROVED",
						CommitSHA: o.Head,
					},
					Because: "opened the pull request",
				},
			}
			o.DigestRequired = true
			return o
		},
		"clean-signed": func() *outcome.Outcome {
			o := outcomeOf(auditedRun("runs/oak-street"))
			o.Judged = []signoff.Judged{countedApproval(5, "ann", bothAnswers)}
			return withReceipts(o)
		},
		"high-flags": func() *outcome.Outcome {
			low := finding("style.words", referee.Low, referee.WorkDefect, 0)
			o := outcomeOf(
				auditedRun("runs/maple-court", low),
				auditedRun("runs/elm-plaza", defect, dealHigh, finding("math.ltv", referee.Mid, referee.WorkDefect, 40)),
			)
			o.Audits[1].Failed, o.Audits[1].Chosen, o.Direct = 2, true, true
			o.Objections, o.Unknown = []string{
				"bea requests changes",
			}, []string{
				"author <x@laptop> of commit 0123456 has no GitHub account",
			}
			o.Judged = []signoff.Judged{countedApproval(5, "ann", bothAnswers)}
			o.Rulebook = []rulebook.Change{
				{
					Path:     "flight_sheets/own.json",
					Sheet:    "own@2.0.0",
					Tested:   "12 examples and trips hold",
					Warnings: []string{"no source on a high gate"},
					Turned:   []string{"runs/oak-street: honey becomes jelly"},
				},
				{Path: ".github/referee.yml", Problems: []string{"line 3: unknown key"}},
			}
			o.Governance = []governance.Violation{
				{
					Agent:  "underwriter",
					Kind:   "spend_breach",
					Reason: "has spent 61.20 USD",
					Draft:  "--- /dev/null\n+++ b/runs/x/run.json\n@@ -0,0 +1,1 @@\n+{\"agent\": \"a@b\"}\n",
				},
			}
			o.Drift, o.Notices, o.NotPosted = []string{
				"receipt DCR-000039-0a1b2c3d is superseded",
			}, []string{
				"the token is read-only",
			}, []string{
				"the check: 403",
			}
			o.Removed = []string{"runs/old"}
			return o
		},
		"deal-finding-accepted": func() *outcome.Outcome {
			o := outcomeOf(auditedRun("runs/river-lofts", dealHigh))
			o.Judged = []signoff.Judged{countedApproval(5, "ann", bothAnswers+"/accept dscr_gate the client takes the risk\n")}
			o.Blocked = []string{"the ledger could not be read"}
			return o
		},
		"refusals": func() *outcome.Outcome {
			o := outcomeOf(
				auditedRun("runs/oak-street"),
				audit.AuditedRun{Dir: "runs/broken", Refused: "run.json is refused: unknown member \"projekt\""},
			)
			o.Refusals = []audit.Refusal{
				{
					Path:   "runs/stray.txt",
					Reason: "it stands under runs and belongs to no run: a run is a folder with a run.json",
				},
			}
			return o
		},
		"hundred-runs": func() *outcome.Outcome {
			o := outcomeOf()
			for i := range 100 {
				a := auditedRun(fmt.Sprintf("runs/deal-%03d", i))
				if i%50 == 3 {
					a = auditedRun(
						fmt.Sprintf("runs/deal-%03d", i),
						finding("math.ltv", referee.Mid, referee.WorkDefect, 40),
					)
				}
				if i == 98 {
					a = auditedRun("runs/deal-098", defect)
				}
				o.Audits = append(o.Audits, a)
			}
			return o
		},
		"no-runs": func() *outcome.Outcome {
			o := outcomeOf()
			o.NoReview = true
			return o
		},
		// runs that differ in what they ask, and one of which has an answer of its own
		"two-deals": func() *outcome.Outcome {
			deal := finding("policy.dscr_gate", referee.High, referee.DealFinding, 30)
			o := outcomeOf(auditedRun("runs/elm", deal), auditedRun("runs/oak", deal))
			o.Audits[1].Work.Report.Checks[1].ID, o.Audits[1].Work.Report.Checks[1].Label = "site_visit",
				"Did somebody see the site?"
			o.Judged = []signoff.Judged{
				countedApproval(5, "ann", "/satisfied oak:borrower_name_matches\n/accept elm:dscr_gate the sponsor pays"),
			}
			o.Need = 2
			return o
		},
		"carried-sibling": func() *outcome.Outcome {
			o := outcomeOf(auditedRun("runs/oak-street"))
			o.Judged = []signoff.Judged{countedApproval(5, "ann", bothAnswers)}
			o = withReceipts(o)
			o.Receipts[0].Receipt.Kind, o.ReviewID = ledger.Carried, 900
			o.Siblings = []outcome.Sibling{
				{Pull: 14, Passes: true, Why: "waiting for 1 approval"},
				{Pull: 15, Passes: true, Signed: true},
			}
			return o
		},
	}
}
