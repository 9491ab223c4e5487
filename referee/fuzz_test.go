package referee

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
)

// FuzzLoadSheet: no bytes panic the loader; a refusal has its place and no sheet; what loads is the same sheet when it
// is read again from its canonical bytes (S54).
func FuzzLoadSheet(f *testing.F) {
	for _, c := range refusalCases {
		f.Add([]byte(sheetText(c.members)))
	}
	for _, src := range []string{everyKindSheet, sheetText(ratioSheet), sheetText(loanSheet), "", "{}", "[]",
		`{"slug":1}`} {
		f.Add([]byte(src))
	}
	for _, slug := range []string{"cre-multifamily-agency", "fly-s1-next-second", "comp-control-evidence"} {
		src, err := os.ReadFile("../flight_sheets/" + slug + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		sheet, err := LoadSheet(src, "fuzz.json", "repository")
		if err != nil {
			refusedWhole(t, sheet == nil, err)
			return
		}
		again, err := LoadSheet(sheet.Canonical, "fuzz.json", "repository")
		if err != nil {
			t.Fatalf("the canonical bytes are refused: %v\n%s", err, sheet.Canonical)
		}
		if again.SHA256 != sheet.SHA256 || !bytes.Equal(again.Canonical, sheet.Canonical) {
			t.Fatalf("canonical bytes change when they are read again:\n%s\n%s", sheet.Canonical, again.Canonical)
		}
		auditText(sheet, `{"inputs":{},"calculations":[{"name":"x"}]}`)
	})
}

// refusedWhole holds a refusal to its shape: nothing is returned beside it, and every problem has a place and a
// message.
func refusedWhole(t *testing.T, nothing bool, err error) {
	t.Helper()
	if !nothing {
		t.Fatalf("a value and an error: %v", err)
	}
	var refused *RefusedError
	if !errors.As(err, &refused) {
		if _, ok := errors.AsType[*strictjson.Error](err); !ok {
			t.Fatalf("an error of another kind: %v", err)
		}
		return
	}
	for _, p := range refused.Problems {
		if p.Line < 1 || p.Column < 1 || p.Message == "" || p.Rule == "" {
			t.Fatalf("a problem without place or words: %+v", p)
		}
	}
}

// FuzzParseRun: no bytes panic the reader of run.json; a refusal has its place; what is read stays inside the run
// folder.
func FuzzParseRun(f *testing.F) {
	for _, c := range runRefusals {
		f.Add([]byte(runText(c.members)))
	}
	f.Add([]byte(runText("")))
	f.Add([]byte(runText(fullRun)))
	f.Fuzz(func(t *testing.T, src []byte) {
		run, err := ParseRun(src, "run.json")
		if err != nil {
			refusedWhole(t, run == nil, err)
			return
		}
		if err := insideRun(run.Submission); err != nil {
			t.Fatalf("the submission leads out: %v", err)
		}
		if run.Schema != RunSchema || run.ID == "" || run.Sheet == "" {
			t.Fatalf("accepted without what it needs: %+v", run)
		}
	})
}

// FuzzAudit: no submission panics an audit, by a sheet with every kind of rule and by one of the library; the same
// bytes give the same digest twice; what cannot be read is for resubmission.
func FuzzAudit(f *testing.F) {
	sheets := []*Sheet{mustLoad(f, everyKindSheet), mustSheet(f, loanSheet)}
	f.Add([]byte(everyKindSubmission))
	f.Add([]byte(loanSubmission("700000", "9000000", "0.0675", "360", "10000000")))
	for _, src := range []string{"", "{", "[]", `{"calculations":5}`, `{"calculations":[5,null,"x",[],{}]}`,
		`{"inputs":[],"calculations":{}}`, `{"claims":"x","missing_inputs":[1],"self_check":[],` +
			`"final_output":{"status":"PASS"}}`,
		`{"inputs":{"rows":[1,{"rent":"x"},null,[]],"has_debt":"yes","noi":1e400},"calculations":[{"name":"dscr",` +
			`"formula":"((((","inputs":{"noi":[1,"x"]},"result":"2","units":5}]}`,
		ratioSubmission("1e300", "1e-300", "noi / debt * noi", "1e300")} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, sheet := range sheets {
			x, y := auditText(sheet, string(src), withAgent(Agent{Model: "m"})),
				auditText(sheet, string(src), withAgent(Agent{Model: "m"}))
			if x.Digest != y.Digest {
				t.Fatalf("two digests of the same bytes: %s %s", x.Digest, y.Digest)
			}
			if len(x.Checks) != len(sheet.Rules) {
				t.Fatalf("%d checks of %d rules", len(x.Checks), len(sheet.Rules))
			}
			if !x.Protocol.Parsed && (x.Verdict.RecommendedAction != "resubmit" || !x.Fails(FailOnHigh)) {
				t.Fatalf("unreadable and %+v", x.Verdict)
			}
			for _, f := range x.Findings {
				if f.Message == "" || len(f.RuleIDs) == 0 || !f.Tier.Known() || bucketRank(f.Bucket) < 0 ||
					stageRank(f.Stage) < 0 {
					t.Fatalf("an incomplete finding: %+v", f)
				}
			}
		}
	})
}
