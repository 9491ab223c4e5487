package report

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// TestPageHoldsVerdict changes a receipt one thing at a time, in all that follows from other members of it, and holds
// the page's code, run without a browser, to what the package ledger says of the same bytes.
func TestPageHoldsVerdict(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the page's code is run by the browser tests only")
	}
	type lie struct {
		from      ledger.Receipt
		old, with string
	}
	mid, clean := storetest.Sample(0), storetest.Clean(storetest.Sample(0))
	at := mid.Checklist[0].At
	said := `"checklist":[{"answer":"satisfied","at":"` + at + `","by":"rosa","id":"site_visited"`
	lies := []lie{{mid, "", ""}, {clean, "", ""}}
	for _, l := range [][2]string{{`"score":"96.4"`, `"score":"-5"`}, {`"score":"96.4"`, `"score":"96.5"`},
		{`"score":"96.4"`, `"score":"96.40"`},
		{`27/28`, `28/28`}, {`"score":"96.4"`, `"score":"96.4","score_decided":"100"`},
		{`"score":"96.4"`, `"coverage":"99.9","score":"96.4"`},
		{`"score_fraction":"27/28"`, `"score_fraction":"27/28","weighted_score":"100.1"`},
		{`"risk_points":2`, `"risk_points":3`},
		{`"severity":"noncritical"`, `"severity":"critical"`}, {`"severity":"jelly"`, `"severity":"propolis"`},
		{`"severity_if_approved":"jelly"`, `"severity_if_approved":"honey"`},
		{`"recommended_action":"resubmit"`, `"recommended_action":"approve"`}, {`"recommended_action":"resubmit"`,
			`"recommended_action":"review"`},
		{`"client_ready":false`, `"client_ready":true`}, {`"rule_ids":["dscr"]`, `"rule_ids":["dscr","ltv"]`},
		{`"bucket":"work-defect"`, `"bucket":"deal-finding"`},
		{`"bucket":"work-defect"`, `"bucket":"stack-fit"`}, {`"stage":"math"`, `"stage":"checklist"`},
		{said, strings.Replace(said, "satisfied", "flag", 1) + `,"note":"no"`},
		{`"flagged":1,"open":0,"satisfied":27`, `"flagged":2,"open":0,"satisfied":26`}} {
		lies = append(lies, lie{mid, l[0], l[1]})
	}
	for _, l := range [][2]string{{said, strings.Replace(said, "satisfied", "flag", 1) + `,"note":"no"`},
		{said, said + `},{"answer":"satisfied","at":"` + at + `","by":"rosa","id":"site_visited"`},
		{`"severity":"honey"`, `"severity":"jelly"`}, {`"client_ready":true`, `"client_ready":false`},
		{`"recommended_action":"approve"`, `"recommended_action":"reject"`},
		{`"score":"100"`, `"score":"100.0"`}} {
		lies = append(lies, lie{clean, l[0], l[1]})
	}
	var texts []string
	for i, l := range lies {
		b, err := ledger.Mint(ledger.NewHead(), l.from)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(b), l.old, l.with, 1)
		if l.old != "" && text == string(b) {
			t.Fatalf("nothing to change: %s in %s", l.old, b)
		}
		if _, err := ledger.Parse([]byte(text)); (err == nil) != (i < 2) {
			t.Errorf("%s for %s: Go says %v", l.with, l.old, err)
		}
		texts = append(texts, text)
	}
	for i, answer := range pageAnswers(t, node, texts) {
		if (answer == "") != (i < 2) {
			t.Errorf("%s for %s: the page says %q", lies[i].with, lies[i].old, answer)
		}
	}
}

// pageAnswers runs the page's code over receipts and gives what it says of each.
func pageAnswers(t *testing.T, node string, texts []string) []string {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	script := pagePart(t, "canonical.js") + pagePart(t, "receipt.js") + fmt.Sprintf(`
(async () => { const out = []; for (const text of %s) out.push(await receiptError(JSON.parse(text)));
console.log(JSON.stringify(out)); })();`, in)
	cmd := exec.CommandContext(t.Context(), node, "-")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(texts) {
		t.Fatalf("%v: %s", err, out)
	}
	return answers
}

// TestPageReadsTemperature: a subject with the temperature of the model is the page's as it is the ledger's.
func TestPageReadsTemperature(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the page's code is run by the browser tests only")
	}
	r := storetest.Sample(0)
	r.Semantics = 2
	agent := *r.Agent
	agent.Temperature, r.Agent = "0.7", &agent
	b, err := ledger.Mint(ledger.NewHead(), storetest.Key(r))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(b), `"temperature":"0.7"`, `"temperature":"0.8"`, 1)
	if other == string(b) {
		t.Fatal("the receipt does not hold the temperature")
	}
	answers := pageAnswers(t, node, []string{string(b), other})
	if answers[0] != "" || answers[1] == "" {
		t.Errorf("the page says %q", answers)
	}
}

// TestPageHoldsShownFindings: a receipt that shows fewer findings than it says there are is refused by the page as by
// the package ledger, unless it is full; and a full one is held to what its own fields still imply.
func TestPageHoldsShownFindings(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the page's code is run by the browser tests only")
	}
	minted := func(high, mid, low, size int) ledger.Receipt {
		r := storetest.Sample(0)
		one := r.Findings[0]
		one.Message, r.Findings = strings.Repeat("ö", size/2), nil
		for _, c := range []struct {
			tier  string
			count int
		}{{"high", high}, {"mid", mid}, {"low", low}} {
			one.Tier = c.tier
			r.Findings = append(r.Findings, slices.Repeat([]ledger.Finding{one}, c.count)...)
		}
		b, err := ledger.Mint(ledger.NewHead(), storetest.Judged(r, 27, 0))
		if err != nil {
			t.Fatal(err)
		}
		back, err := ledger.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		return *back
	}
	full, few := minted(2, 50, 10, 6000), minted(2, 3, 1, 20)
	undecided := func(r *ledger.Receipt) {
		r.Kind, r.Approval.Decision, r.Semantics = ledger.Rejected, ledger.Rejected, 2
		r.Verdict.Counts = ledger.Counts{Declared: 28, Satisfied: 26, Flagged: 1, Skipped: 1}
		r.Verdict.Score, r.Verdict.ScoreFraction, r.Verdict.UndecidedHigh = "92.8", "26/28", []string{"ltv"}
		*r = storetest.Key(*r)
	}
	var texts []string
	var refused []bool
	for i, c := range []struct {
		from ledger.Receipt
		edit func(*ledger.Receipt)
	}{
		{full, func(*ledger.Receipt) {}}, {few, func(*ledger.Receipt) {}}, // these two are right
		{few, func(r *ledger.Receipt) { undecided(r); r.Findings[0].RuleIDs = []string{"ltv"} }}, // and so is this
		{few, func(r *ledger.Receipt) { r.Findings = nil }},
		{few, func(r *ledger.Receipt) { r.Findings = r.Findings[:5] }},
		{few, func(r *ledger.Receipt) { r.Findings = r.Findings[2:] }},
		{few, func(r *ledger.Receipt) { r.Findings[1].Severity = "critical" }},
		{few, func(r *ledger.Receipt) { r.Findings[0].Bucket = "deal-finding" }},
		{few, func(r *ledger.Receipt) { r.Findings[0].Stage = "policy" }},
		{few, func(r *ledger.Receipt) { undecided(r); r.Findings[2].RuleIDs = []string{"ltv"} }},
		{few, func(r *ledger.Receipt) { undecided(r); r.Verdict.Counts.Skipped, r.Verdict.Counts.Satisfied = 0, 27 }},
		{few, func(r *ledger.Receipt) {
			r.Accepted = []ledger.Waiver{{RuleID: "ltv", Reason: "x", By: "rosa", At: r.MintedAt}}
		}},
		{full, func(r *ledger.Receipt) { r.Findings = r.Findings[1:] }},
		{full, func(r *ledger.Receipt) {
			r.Verdict.Risk = ledger.Risk{High: 3, Mid: 50, Low: 9}
			r.Verdict.RiskPoints = 124
		}},
		{full, func(r *ledger.Receipt) {
			r.Verdict.Risk = ledger.Risk{High: 2, Mid: 10, Low: 50}
			r.Verdict.RiskPoints = 80
		}},
		{full, func(r *ledger.Receipt) { r.Verdict.Severity = "jelly" }},
		{full, func(r *ledger.Receipt) { r.Verdict.ClientReady = true }},
		{full, func(r *ledger.Receipt) { r.Verdict.RecommendedAction = "approve" }},
		{full, func(r *ledger.Receipt) { r.Verdict.RecommendedAction = "reject" }},
	} {
		r, v := c.from, *c.from.Verdict
		a := *r.Approval
		r.Findings, r.Verdict, r.Approval = slices.Clone(r.Findings), &v, &a
		c.edit(&r)
		b, err := canonical.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ledger.Parse(b)
		if (err != nil) != (i > 2) {
			t.Errorf("case %d: Go says %v", i, err)
		}
		texts, refused = append(texts, string(b)), append(refused, err != nil)
	}
	for i, answer := range pageAnswers(t, node, texts) {
		if (answer != "") != refused[i] {
			t.Errorf("case %d: the page says %q", i, answer)
		}
	}
}

// TestPageScriptsFitTogether: the page's parts are one script, in which a name declared twice leaves a page that does
// nothing.
func TestPageScriptsFitTogether(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^(?:async )?(?:function|const|let|class) (\w+)`)
	where := map[string]string{}
	for _, part := range []string{"canonical.js", "receipt.js", "chain.js", "view.js", "page.js"} {
		names := declared.FindAllStringSubmatch(pagePart(t, part), -1)
		if len(names) < 5 {
			t.Errorf("%s declares %d names: the search finds nothing", part, len(names))
		}
		for _, m := range names {
			if was := where[m[1]]; was != "" {
				t.Errorf("%s is declared in %s and in %s", m[1], was, part)
			}
			where[m[1]] = part
		}
	}
}
