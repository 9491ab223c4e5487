package document

import (
	"strings"
	"testing"
)

const sound = `LOAN AGREEMENT

This Loan Agreement is made by Harbor LLC (the "Borrower") and First Bank (the "Lender").

1. Definitions. The form of note is Exhibit A.
2. Loan. The Borrower shall repay $2,400,000 to the Lender per Section 3.
3. Repayment.
3.1 Maturity. The loan matures on November 30, 2031.
3.2 Prepayment. The Borrower may prepay on thirty (30) days' prior written notice, subject to Section 3.1(a) of the
Mortgage and 11 U.S.C. Section 365.
4. Governing Law. The Borrower shall pay a late fee of $500, and an origination fee of $12,000.

IN WITNESS WHEREOF, the parties sign.
Harbor LLC   By: ____   First Bank   By: ____

EXHIBIT A
Form of Note
`

func all(d *Document) (out []Problem) {
	parties := []string{"Harbor LLC", "First Bank"}
	for _, list := range [][]Problem{d.References(), d.Numbering(), d.Attachments(nil), d.Placeholders(), d.Figures(),
		d.Contradictions([]Stated{{"maturity", "2031-11-30"}}), d.Names(parties), d.Signatures(parties), d.Undefined()} {
		out = append(out, list...)
	}
	return out
}

func TestSoundAgreement(t *testing.T) {
	if got := all(Read(sound)); len(got) > 0 {
		t.Errorf("problems of a sound agreement: %v", got)
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"per Section 3.", "per Section 9.", `"Section 9" (line 6, section 2)`},
		{"per Section 3.", "per clause 3.7.", `no section 3.7`},
		{"per Section 3.", "per Sections 3 and 12.", `no section 12`},
		{"per Section 3.", "per ARTICLE VII.", `no section 7`},
		{"Exhibit A.", "Exhibit B.", `Exhibit B is not attached`},
		{"Exhibit A.", "Schedule 9.", `Schedule 9 is not attached`},
		{"3.2 Prepayment", "3.3 Prepayment", `3.2 is missing`},
		{"3.2 Prepayment", "3.1 Prepayment", `comes twice`},
		{"4. Governing", "5. Governing", `4 is missing`},
		{"thirty (30)", "thirty (60)", `the words say 30`},
		{"November 30, 2031", "30 November 2030", `maturity is stated as 2031-11-30`},
		{"$12,000.", "$12,000. The origination fee is $15,000.", `origination fee is line`},
		{"shall repay", "shall repay [Date]", `"[Date]"`},
		{"shall repay", "shall repay [insert name]", `"[insert name]"`},
		{"shall repay", "shall repay tbd", `"tbd"`},
		{"shall repay", "shall repay TBC", `"TBC"`},
		{"shall repay", "shall repay ${name}", `"${name}"`},
		{"shall repay", "shall repay <<NAME>>", `"<<NAME>>"`},
		{"shall repay", "shall repay [●]", `"[●]"`},
		{"shall repay", "shall repay on ____", `"____"`},
		{"shall repay", "shall repay on XX/XX/XXXX", `"XX/XX/XXXX"`},
		{"made by Harbor LLC", "made by Harbour LLC", `the party is "Harbor LLC"`},
		{"to the Lender per", "to the Debtor per", `"Debtor"`},
		{"First Bank   By", "Second Bank   By", `signature block`},
		{"First Bank   By", "First Bankers   By", `signature block`},
		{"First Bank   By: ____\n\nEXHIBIT A\n", "\n\nEXHIBIT A\nFirst Bank keeps this form.\n", `signature block`},
	} {
		got := all(Read(strings.Replace(sound, tt.old, tt.new, 1)))
		if len(got) == 0 || !strings.Contains(got[0].String(), tt.want) {
			t.Errorf("%q for %q: got %v, want %s", tt.new, tt.old, got, tt.want)
		}
	}
}
