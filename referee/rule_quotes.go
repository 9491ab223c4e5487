package referee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

// runQuotesVerbatim: a claim's quote stands in the evidence it cites (S63).
func runQuotesVerbatim(a *audit, r *Rule) outcome {
	if !slices.ContainsFunc(a.doc.Get("claims").Elements(),
		func(claim *strictjson.Value) bool { return !isBlank(claim.Get("quote")) }) {
		return outcome{status: Pass, vacuous: true}
	}
	if a.Evidence == nil {
		return skipOutcome("no_manifest: a bare submission declares no evidence")
	}
	before, open := a.raised, 0
	for _, claim := range a.doc.Get("claims").Elements() {
		quote, ok := claim.Get("quote").Str()
		if !ok || legible.Blank(quote) {
			continue
		}
		word, _ := claimReference(claim).Str()
		open += a.quoteStands(r, claim.Get("quote"), quote, word, 0)
		a.quoteValue(r, quote, claim.Get("value"))
	}
	out := flaggedSince(a, before)
	if out.status == Pass && open > 0 {
		return outcome{status: Open, reason: fmt.Sprintf("%d quotes are from documents that are left to the human",
			open)}
	}
	return out
}

// quoteStands looks a quote up in the whole text of the evidence that a reference names.
func (a *audit) quoteStands(r *Rule, at *strictjson.Value, quote, ref string, minLen int) int {
	id, _, _ := strings.Cut(ref, "#")
	found, hit, err := a.Evidence.Quoted(id, quote, minLen)
	if err == nil && hit.Open {
		return 1
	}
	atom := a.addAtom("evidence.quote", at.Pointer(), found, "critical", "field", clipText(quote))
	if found {
		return 0
	}
	message := fmt.Sprintf("the quote %q is not in evidence %q", clipText(quote), clipText(id))
	if err != nil {
		message = fmt.Sprintf("the quote %q cannot be looked up: %v", clipText(quote), err)
	}
	a.addFinding(r, Finding{Code: "evidence.quote_not_found", Tier: High, Pointer: at.Pointer(), Atoms: []string{atom},
		Message: message, Fix: &Fix{Text: "quote the evidence word for word, and cite where it stands"}})
	return 0
}

// quoteValue holds the value beside a quote to what the quote says (S62): where it holds numbers, or dates, the value
// is one of them.
func (a *audit) quoteValue(r *Rule, quote string, value *strictjson.Value) {
	said := a.saidOtherwise(quote, value)
	if said == "" {
		return
	}
	atom := a.addAtom("evidence.quote_value", value.Pointer(), false, "critical", "field", said)
	a.addFinding(r, Finding{Code: "evidence.quote_value", Tier: High, Bucket: WorkDefect, Pointer: value.Pointer(),
		Atoms:   []string{atom},
		Message: fmt.Sprintf("value is %s; the quote %q says %s", clipText(value.Text), clipText(quote), clipText(said)),
		Fix:     &Fix{Text: "state the value that the quote holds, or quote the place of this one"}})
}

// saidOtherwise is what a quote says in place of a value; "" where it says the value, or nothing of its kind.
func (a *audit) saidOtherwise(quote string, value *strictjson.Value) string {
	if value == nil {
		return ""
	}
	x, written := value.Decimal(), value.Text
	if text, ok := value.Str(); ok {
		if dates := evidence.Dates(text); len(dates) > 0 && dates[0] == strings.TrimSpace(text) {
			if in := evidence.Dates(quote); len(in) > 0 && !slices.Contains(in, dates[0]) {
				return strings.Join(in, ", ")
			}
			return ""
		}
		if n, ok := evidence.NumberIn(text); ok {
			x, written = hitNumber(n), n.Text
		}
	}
	if x == nil {
		return ""
	}
	var numbers []string
	for _, n := range evidence.Spoken(quote) {
		for _, y := range quotedReadings(n) {
			if decimal.Cmp(x, y) == 0 || honestlyRounded(x, y, written, one) {
				return ""
			}
		}
		numbers = append(numbers, n.String())
	}
	return strings.Join(numbers, ", ")
}

// quotedReadings are the values that a number may be stated as: 12 % is 0.12, and 12 where the value is in percent.
func quotedReadings(n evidence.Number) []*decimal.Num {
	var out []*decimal.Num
	if d, err := n.Canonical(); err == nil {
		out = append(out, d)
	}
	if d, err := n.Decimal(); err == nil && n.Percent {
		out = append(out, d)
	}
	return out
}
