package referee

import (
	"strings"
	"testing"
)

const documentSheet = `"required_inputs":[{"name":"text","type":"string"},{"name":"parties","type":"array"},
	{"name":"due","type":"string"}],"eval_spec":{"rules":[
	{"check":"document","id":"refs","text":"text","find":"references"},
	{"check":"document","id":"marks","text":"text","find":"placeholders","fix":"Fill it in."},
	{"check":"document","id":"signed","text":"text","find":"signatures","names":"parties"},
	{"check":"document","id":"same","text":"text","find":"contradictions","stated":{"maturity":"due"}}]}`

// TestDocumentRules: what a text says of itself decides, and what cannot be read is never a pass.
//
// Source: 004 #229, 004 #232, 004 #239.
func TestDocumentRules(t *testing.T) {
	sheet := mustSheet(t, documentSheet)
	const fine = `1. Loan, per Section 2.\n2. The loan matures on 30 November 2031.\nSIGNATURES\nHarbor LLC`
	for _, tt := range []struct{ name, text, parties, due, want string }{
		{"fine", `"` + fine + `"`, `["Harbor LLC"]`, `"2031-11-30"`, "pass pass pass pass"},
		{"a dead reference", `"` + strings.Replace(fine, "Section 2", "Section 7", 1) + `"`, `["Harbor LLC"]`,
			`"2031-11-30"`, "flag pass pass pass"},
		{"letters of full width", `"` + strings.Replace(fine, "Section 2", "Ｓｅｃｔｉｏｎ ７", 1) + `"`,
			`["Harbor LLC"]`, `"2031-11-30"`, "flag pass pass pass"},
		{"a placeholder", `"` + strings.Replace(fine, "Loan,", "Loan of [amount],", 1) + `"`, `["Harbor LLC"]`,
			`"2031-11-30"`, "pass flag pass pass"},
		{"a party that does not sign", `"` + fine + `"`, `["Harbor LLC","First Bank"]`, `"2031-11-30"`,
			"pass pass flag pass"},
		{"another day than stated", `"` + fine + `"`, `["Harbor LLC"]`, `"2030-11-30"`, "pass pass pass flag"},
		{"no text", `null`, `["Harbor LLC"]`, `"2031-11-30"`, "skip skip skip skip"},
		{"an empty text", `" "`, `["Harbor LLC"]`, `"2031-11-30"`, "skip skip flag skip"},
		{"a number for a party", `"` + fine + `"`, `["Harbor LLC",7]`, `"2031-11-30"`, "pass pass skip pass"},
		{"no day", `"` + fine + `"`, `["Harbor LLC"]`, `null`, "pass pass pass skip"},
		{"too long", `"` + strings.Repeat("word ", maxDocument/5+1) + `"`, `["Harbor LLC"]`, `"2031-11-30"`,
			"skip skip skip skip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rep := auditText(sheet, `{"inputs":{"text":`+tt.text+`,"parties":`+tt.parties+`,"due":`+tt.due+`}}`)
			for i, want := range strings.Fields(tt.want) {
				wantStatus(t, rep, []string{"refs", "marks", "signed", "same"}[i], want)
			}
		})
	}
}

// TestDocumentFinding: a finding says what, where and what would be right.
func TestDocumentFinding(t *testing.T) {
	rep := auditText(mustSheet(t, documentSheet), `{"inputs":{"text":"1. Loan\n1.1 See clause 4.\nSIGNATURES\nA",`+
		`"parties":["A"],"due":"2031-11-30"}}`)
	f := findingOf(t, rep, "document.references")
	wantWords(t, f.Message, `"clause 4" (line 2, section 1.1)`, "the text has no section 4")
	if f.Pointer != "/inputs/text" {
		t.Errorf("the finding points to %q", f.Pointer)
	}
}
