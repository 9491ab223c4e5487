package report

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// TestPageHoldsVerdict changes a receipt one thing at a time, in all that follows from other members of it, and holds the page's code, run without a
// browser, to what the package ledger says of the same bytes.
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
	for _, l := range [][2]string{{`"score":"96.4"`, `"score":"-5"`}, {`"score":"96.4"`, `"score":"96.5"`}, {`"score":"96.4"`, `"score":"96.40"`},
		{`27/28`, `28/28`}, {`"score":"96.4"`, `"score":"96.4","score_decided":"100"`}, {`"score":"96.4"`, `"coverage":"99.9","score":"96.4"`},
		{`"score_fraction":"27/28"`, `"score_fraction":"27/28","weighted_score":"100.1"`}, {`"risk_points":2`, `"risk_points":3`},
		{`"severity":"noncritical"`, `"severity":"critical"`}, {`"severity":"jelly"`, `"severity":"propolis"`}, {`"severity_if_approved":"jelly"`, `"severity_if_approved":"honey"`},
		{`"recommended_action":"resubmit"`, `"recommended_action":"approve"`}, {`"recommended_action":"resubmit"`, `"recommended_action":"review"`},
		{`"client_ready":false`, `"client_ready":true`}, {`"rule_ids":["dscr"]`, `"rule_ids":["dscr","ltv"]`}, {`"bucket":"work-defect"`, `"bucket":"deal-finding"`},
		{`"bucket":"work-defect"`, `"bucket":"stack-fit"`}, {`"stage":"math"`, `"stage":"checklist"`}, {said, strings.Replace(said, "satisfied", "flag", 1) + `,"note":"no"`},
		{`"flagged":1,"open":0,"satisfied":27`, `"flagged":2,"open":0,"satisfied":26`}} {
		lies = append(lies, lie{mid, l[0], l[1]})
	}
	for _, l := range [][2]string{{said, strings.Replace(said, "satisfied", "flag", 1) + `,"note":"no"`}, {said, said + `},{"answer":"satisfied","at":"` + at + `","by":"rosa","id":"site_visited"`},
		{`"severity":"honey"`, `"severity":"jelly"`}, {`"client_ready":true`, `"client_ready":false`}, {`"recommended_action":"approve"`, `"recommended_action":"reject"`},
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
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	script := pagePart(t, "canonical.js") + pagePart(t, "receipt.js") + fmt.Sprintf(`
(async () => { const out = []; for (const text of %s) out.push(await receiptError(JSON.parse(text))); console.log(JSON.stringify(out)); })();`, in)
	cmd := exec.CommandContext(t.Context(), node, "-")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(lies) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, l := range lies {
		if (answers[i] == "") != (i < 2) {
			t.Errorf("%s for %s: the page says %q", l.with, l.old, answers[i])
		}
	}
}
