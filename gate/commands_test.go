package gate

import (
	"reflect"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
)

func TestParseCommands(t *testing.T) {
	body := "Looks right.\r\n/satisfied appraisal_date\r\n/flag borrower_name  the term sheet names another LLC \n/accept dscr_gate the client takes it\n/digest 0a1b2c3d\n" +
		"> /satisfied quoted\n  /satisfied indented\n```\n/accept everything in code\n```\n/ not a command\nsee /satisfied here"
	got := ParseCommands(body)
	want := Commands{Answers: []ledger.Answer{{ID: "appraisal_date", Answer: "satisfied"}, {ID: "borrower_name", Answer: "flag", Note: "the term sheet names another LLC"}},
		Accepts: []ledger.Waiver{{RuleID: "dscr_gate", Reason: "the client takes it"}}, Digest: "0a1b2c3d"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\n want %+v", got, want)
	}
}

func TestParseCommandProblems(t *testing.T) {
	for body, says := range map[string]string{
		"/satisfied":                           "needs the key",
		"/flag key":                            "needs a reason",
		"/accept rule":                         "/accept <rule> <why>",
		"/digest 0A1B2C3D":                     "lower-case hex",
		"/digest 0a1":                          "lower-case hex",
		"/approve":                             "unknown command /approve",
		"/satisfied a\n/flag a no":             "two commands about the same thing",
		"/flag a " + strings.Repeat("x", 2001): "longer than 2000 bytes",
	} {
		if got := ParseCommands(body); len(got.Problems) != 1 || !strings.Contains(got.Problems[0], says) {
			t.Errorf("%.30q: %q, want %q", body, got.Problems, says)
		}
	}
}

func FuzzParseCommands(f *testing.F) {
	f.Add("/satisfied a\n/flag b why\n/accept c why\n/digest 00000000")
	f.Fuzz(func(t *testing.T, body string) {
		c := ParseCommands(body)
		for _, a := range c.Answers {
			if a.ID == "" || a.Answer == "flag" && a.Note == "" {
				t.Errorf("%+v", a)
			}
		}
	})
}
