package referee

import (
	"fmt"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/defendableos/referee/referee/evidence"
)

// costSheet asks of a submission and its evidence what sheets ask: rows, calculations, claims, quotes, recounts.
const costSheet = `"required_inputs":[{"name":"rows","type":"array"}],
	"eval_spec":{"required_output_schema":{"type":"object","properties":{"claims":{"type":"array",
	"items":{"type":"object","required":["claim"]}}}},
	"deterministic_checks":["json_valid",{"check":"required","id":"all_given","paths":["inputs.rows[*].v"]}],
	"evidence_checks":["all_claims_cited","evidence_references_resolve","quotes_verbatim","inputs_match_evidence",
	"inputs_consistent","assumptions_labeled"],
	"rules":[
		{"id":"each","check":"for_each","over":"rows","each":"v >= 0","tier":"high"},
		{"id":"each_flagged","check":"for_each","over":"rows","each":"v >= 0","tier":"high","emit":"per_row"},
		{"id":"differ","expr":"unique(rows)","tier":"mid"},
		{"id":"count","expr":"data(\"d\", \"rows\") >= 0 and data(\"d\", \"sum\", \"a\") >= 0 and ` +
	`data(\"d\", \"regex_hits\", \"a\", r\"\\d{3}-\\d{4}\") >= 0","tier":"high"},
		{"id":"limits","check":"range","over":"inputs.rows","limits":{"v":[0,1],"w":[0,1]},"tier":"high"},
		{"id":"told","expr":"len(extract(field(\"final_output\"), r\"(a|b|ab)*c\")) >= 0","tier":"high"}]}`

// repeatToLength is text written so often that it has about n bytes, with commas between.
func repeatToLength(text string, n int) string {
	return strings.TrimSuffix(strings.Repeat(text+",", n/(len(text)+1)), ",")
}

// repeatNumbered writes a format n times with its number, with commas between.
func repeatNumbered(format string, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
	}
	return strings.Join(out, ",")
}

// costly are pull requests of at most 10 MB that took minutes or gigabytes, or would have. blocks is a rule that must
// not pass.
var costly = []struct {
	name, submission, file, data string
	blocks                       string
}{
	{"3,000 empty rows", `{"inputs":{"rows":[` + repeatToLength("{}", 9000) + `]}}`, "d.csv", "a\n1\n", "each"},
	{"80,000 rows of nothing", `{"inputs":{"rows":[` + repeatToLength("0", 160_000) + `]}}`, "d.csv", "a\n1\n", "each"},
	{"53,000 empty claims", `{"inputs":{"rows":[]},"claims":[` + repeatToLength("{}", 160_000) + `]}`, "d.csv", "a\n1\n",
		"all_claims_cited"},
	{"512 calculations of irr", `{"inputs":{"rows":[]},"calculations":[` +
		repeatNumbered(`{"name":"c#","formula":"irr(cf)","inputs":{"cf":[-1000,`+repeatToLength("4.#",
			1000)+`]},"result":1,"units":"ratio"}`, 512) + `]}`, "d.csv", "a\n1\n", "math.rederivation"},
	{"512 calculations of npv", `{"inputs":{"rows":[]},"calculations":[` +
		repeatNumbered(`{"name":"c#","formula":"`+strings.TrimSuffix(strings.Repeat("npv(r,cf)+", 60),
			"+")+`","inputs":{"r":0.1,"cf":[`+repeatToLength("1", 800)+`]},"result":1,"units":"ratio"}`, 512) + `]}`,
		"d.csv", "a\n1\n", "math.rederivation"},
	{"120,000 names of one normal form", `{"inputs":{"rows":[]},"calculations":[{"name":"c","formula":"a","inputs":{` +
		dotted(120_000) + `},"result":1,"units":"ratio"}]}`, "d.csv", "a\n1\n", "math.rederivation"},
	{"a name of a thousand words", `{"inputs":{"rows":[]},"calculations":[` +
		repeatNumbered(`{"name":"c#","formula":"`+strings.Repeat("a ", 900)+`","inputs":{"`+strings.Repeat("b ",
			1000)+`":1},"result":1,"units":"ratio"}`, 300) + `]}`, "d.csv", "a\n1\n", "math.rederivation"},
	{"9.9 MB of commas", `{"inputs":{"rows":[]}}`, "d.csv", strings.Repeat(",", 9_900_000), "count"},
	{"9.9 MB of line ends", `{"inputs":{"rows":[]}}`, "d.csv", "a" + strings.Repeat("\n", 9_900_000), "count"},
	{"numbers as JSON", `{"inputs":{"rows":[]},"claims":[{"claim":"c","evidence_reference":"d#/0"}]}`, "d.json",
		"[" + repeatToLength("1", 9_800_000) + "]", "count"},
	{"a submission of numbers", `{"inputs":{"rows":[]},"x":[` + repeatToLength("0", 5_000_000) + `]}`, "d.csv", "a\n1\n",
		"structure"},
	{"one long name above many values", `{"inputs":{"rows":[]},"` + strings.Repeat("k", 2_500_000) + `":[` +
		repeatToLength("0", 400_000) + `]}`, "d.csv", "a\n1\n", "structure"},
	{"quotes by a long document", `{"inputs":{"rows":[]},"claims":[` +
		repeatNumbered(`{"claim":"c","evidence_reference":"d","quote":"aaaaaaaaaaaaaaab#"}`, 20_000) + `]}`, "d.txt",
		strings.Repeat("aaaaaaaaaaaaaaaa\n", 500_000), "quotes_verbatim"},
	{"references into a long text", `{"inputs":{"rows":[]},"claims":[` +
		repeatNumbered(`{"claim":"c","evidence_reference":"d#text=ab#"}`, 20_000) + `]}`, "d.txt",
		strings.Repeat("aaaaaaaaaaaaaaaa\n", 500_000), "evidence_references_resolve"},
	{"references into a wide object", `{"inputs":{"rows":[]},"claims":[` +
		repeatNumbered(`{"claim":"c","evidence_reference":"d#/z#"}`, 20_000) + `]}`, "d.json",
		"{" + repeatNumbered(`"k#":1`, 200_000) + "}", "evidence_references_resolve"},
	{"one cell of nine megabytes", `{"inputs":{"rows":[]},"claims":[` +
		repeatNumbered(`{"claim":"c","evidence_reference":"d#cell=2,#"}`, 10_000) + `]}`, "d.csv",
		"a,b\n" + strings.Repeat("1", 9_000_000) + ",2\n", "evidence_references_resolve"},
	{"a long subject of a pattern", `{"inputs":{"rows":[]},"final_output":"` + strings.Repeat("ab", 2_400_000) + `"}`,
		"d.csv", "a\n1\n", ""},
	{"five megabytes that hide", `{"inputs":{"rows":[]},"claims":[` +
		repeatToLength(`{"claim":"\u200bx","evidence_reference":"d"}`, 2_000_000) + `]}`, "d.csv", "a\n1\n", "structure"},
}

// dotted are n members whose names have one normal form.
func dotted(n int) string {
	out := make([]string, n)
	for i := range out {
		tail := make([]byte, 0, 12)
		for k := i; k > 0; k /= 3 {
			tail = append(tail, ".- "[k%3])
		}
		out[i] = `"a` + string(tail) + `":1`
	}
	return strings.Join(out, ",")
}

// TestCost: whatever a pull request holds, an audit takes no more work than it may (S81), lists no more than it may,
// and what it could not look at is not passed. Work is counted; the clock and the heap are looked at with a wide
// margin, because they depend on the machine.
func TestCost(t *testing.T) {
	sheet := mustSheet(t, costSheet)
	for _, c := range costly {
		t.Run(c.name, func(t *testing.T) {
			if n := len(c.submission) + len(c.data); n > 10<<20 {
				t.Fatalf("the pull request has %d bytes", n)
			}
			tree := fstest.MapFS{c.file: &fstest.MapFile{Data: []byte(c.data)}}
			a := newAudit(Case{Sheet: sheet, Path: "submission.json", Bytes: []byte(c.submission),
				Run: &Run{ID: "test"},
				Evidence: evidence.Open(tree, []evidence.Item{{ID: "d", Path: c.file, Kind: "file"}},
					evidence.Limits{})})
			peak, begun := watchHeap(t), time.Now()
			rep := a.judgeAll()
			if most, took := peak(), time.Since(begun); took > time.Minute || most > 400<<20 {
				t.Errorf("took %v and %d MiB", took, most>>20)
			}
			if a.work.Spent > 2*maxAuditWork+2 || len(a.atoms) > maxAtoms+maxFailing*len(rep.Checks) {
				t.Errorf("%d steps, %d facts", a.work.Spent, len(a.atoms))
			}
			kinds := map[string]int{}
			for _, f := range rep.Findings {
				if kinds[f.Code+string(f.Tier)]++; kinds[f.Code+string(f.Tier)] > maxListed*len(f.RuleIDs)+maxListed {
					t.Fatalf("more than %d findings %s", kinds[f.Code+string(f.Tier)], f.Code)
				}
			}
			if !rep.Fails(FailOnHigh) {
				t.Errorf("passes: %v", statusesOf(rep))
			}
			if c.blocks != "" && checkNamed(t, rep, c.blocks).Status == Pass {
				t.Errorf("%s passes", c.blocks)
			}
		})
	}
}

// watchHeap looks at the heap until the function it returns is called, which gives the most that was seen beyond what
// there was.
func watchHeap(t *testing.T) func() uint64 {
	t.Helper()
	read := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	first, most := read(), uint64(0)
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			if now := read(); now > first {
				most = max(most, now-first)
			}
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return most
	}
}

// TestListsAreCounted: what is not listed is counted, in the last finding that is and in the notes, and a heavier
// finding is never left out for lighter ones before it.
func TestListsAreCounted(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"rows","type":"array"}],"eval_spec":{"rules":[
		{"id":"limits","check":"range","over":"inputs.rows","limits":{"v":[0,10]},"ratio":2,"tier":"high"},
		{"id":"each","check":"for_each","over":"rows","each":"v <= 10","emit":"per_row","tier":"mid"}]}`)
	rows := strings.Repeat(`{"v":11},`, 150)
	rep := auditText(sheet, `{"inputs":{"rows":[`+rows+`{"v":99}]}}`)
	wantStatus(t, rep, "limits", "flag", "each", "flag")
	counts, high := map[string]int{}, 0
	for _, f := range rep.Findings {
		counts[f.Code]++
		if f.Code == "math.out_of_range" && f.Tier == High {
			high++
		}
	}
	if counts["math.out_of_range"] != maxListed+1 || high != 1 || counts["policy.each"] != maxListed {
		t.Errorf("findings %v, %d of them high", counts, high)
	}
	said := 0
	for _, f := range rep.Findings {
		if strings.Contains(f.Message, "and 50 more findings of this kind") {
			said++
		}
	}
	notes := strings.Join(append(checkNamed(t, rep, "limits").Notes, checkNamed(t, rep, "each").Notes...), "\n")
	wantWords(t, notes, "50 more findings math.out_of_range (mid) are not listed",
		"51 more rows fail and are not listed")
	if said != 1 {
		t.Errorf("%d findings say how many more there are", said)
	}
}

// TestSpentIsUndecided: a rule that the audit has no work left for is undecided with the reason, a high one blocks, and
// so does one of any tier.
func TestSpentIsUndecided(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"rows","type":"array"}],"eval_spec":{"rules":[
		{"id":"square","expr":"agg(\"all\", rows, \"agg('any', rows, 'v == outer.v')\")","tier":"low"},{"id":"after",
		"expr":"len(rows) >= 1","tier":"high"},{"id":"late","expr":"len(rows) >= 1","tier":"low"}]}`)
	rep := auditText(sheet, `{"inputs":{"rows":[`+repeatNumbered(`{"v":#}`, 8000)+`]}}`)
	wantStatus(t, rep, "square", "skip", "after", "skip", "late", "skip")
	wantWords(t, checkNamed(t, rep, "after").Reason, "more than 20000000 steps")
	f := findingOf(t, rep, "math.too_complex")
	if f.Tier != High || !rep.Fails(FailOnHigh) || rep.Verdict.ClientReady ||
		rep.Verdict.RecommendedAction != "resubmit" {
		t.Errorf("%+v, %+v", f, rep.Verdict)
	}
	if small := auditText(sheet, `{"inputs":{"rows":[`+repeatNumbered(`{"v":#}`, 200)+`]}}`); len(small.Findings) > 0 {
		t.Errorf("200 rows: %v", codes(small))
	}
}

// TestAdviceLeavesNothingUndecided: working out where a gate would hold may take long, and takes from nothing that
// decides.
func TestAdviceLeavesNothingUndecided(t *testing.T) {
	sheet := mustSheet(
		t, `"required_inputs":[{"name":"cf","type":"array"},{"name":"a","type":"number"},{"name":"b","type":"number"}],
			"eval_spec":{
		"rules":[{"id":"gate","expr":"irr(cf) * a / (b * b + 1) >= 900 + a","tier":"high"},{"id":"after","expr":"a >= 1",
		"tier":"high"}]}`)
	a := newAudit(Case{Sheet: sheet, Path: "s.json", Bytes: []byte(`{"inputs":{"a":2,"b":3,"cf":[-1000,` +
		repeatToLength("7.5", 4000) + `]}}`)})
	rep := a.judgeAll()
	wantStatus(t, rep, "gate", "flag", "after", "pass")
	if a.work.Exhausted() || a.advice.Spent == 0 {
		t.Errorf("%d steps, %d for advice", a.work.Spent, a.advice.Spent)
	}
}
