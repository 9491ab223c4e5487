package document

import (
	"strings"
	"testing"
	"time"
)

// TestSeededFaults puts one fault at a time into a sound agreement. Each line of faults.txt says by hand where, what
// stands there, what the fault makes of it, which check must see it, and words of the finding.
//
// Source: 004 #229, 004 #230, 004 #231, 004 #232, 004 #233, 004 #234, 004 #235, 004 #236, 004 #237, 004 #239.
func TestSeededFaults(t *testing.T) {
	skipUnderRace(t)
	agreements := map[string]agreement{}
	for _, a := range corpus(t) {
		agreements[a.name[:2]] = a
	}
	count, places := map[string]int{}, map[string]map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(readTestdata(t, "faults.txt")), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		f := strings.Split(strings.ReplaceAll(line, `\n`, "\n"), " | ")
		if len(f) != 5 {
			t.Fatalf("%q: got %d columns, want 5", line, len(f))
		}
		a, ok := agreements[f[1]]
		text := a.text()
		if !ok || !strings.Contains(text, f[2]) {
			t.Errorf("%s: no %q to put a fault at", f[1], f[2])
			continue
		}
		count[f[0]]++
		if places[f[0]] == nil {
			places[f[0]] = map[string]bool{}
		}
		places[f[0]][f[1]] = true
		found := problemsByKind(strings.Replace(text, f[2], f[3], 1), a.parties[:])[kindOfFault[f[0]]]
		if !mentions(found, f[4]) {
			t.Errorf("%s in %s: %q for %q: got %v, want %s", f[0], a.name, f[3], f[2], found, f[4])
		}
	}
	for kind := range kindOfFault {
		if count[kind] < 10 || len(places[kind]) < 5 {
			t.Errorf("%s: %d faults in %d agreements, want 10 in 5", kind, count[kind], len(places[kind]))
		}
	}
}

// kindOfFault names the check that must see each kind of fault.
var kindOfFault = map[string]string{"reference": "references", "attachment": "attachments", "gap": "numbering",
	"date": "contradictions", "notice": "contradictions", "amount": "contradictions", "share": "contradictions",
	"figures": "figures", "name": "names", "placeholder": "placeholders", "signature": "signatures",
	"undefined": "undefined"}

func mentions(problems []Problem, words string) bool {
	for _, p := range problems {
		if strings.Contains(p.String(), words) {
			return true
		}
	}
	return false
}

// FuzzDocument runs every check on any text.
func FuzzDocument(f *testing.F) {
	for _, seed := range append(hostilePieces, sound,
		"EXHIBIT A\n1. A\nSection 1(a", "99999999999999999999. X", "§ 0.0.0") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for kind, problems := range problemsByKind(text, []string{"Harbor LLC", "", text}) {
			for _, p := range problems {
				if p.Line < 1 || p.String() == "" {
					t.Errorf("%s: %+v has no line", kind, p)
				}
			}
		}
		d := Read(text)
		d.Unused()
		d.Attachments([]string{text})
		d.Contradictions([]Stated{{"maturity", text}})
	})
}

// hostilePieces are repeated to 200 kB: each is aimed at one loop.
var hostilePieces = []string{"Section 1(a) ", "[", "_", "____ ", "1. A\nSection 1(a)\n", "1.\n", "1.1 A\n", "(b) 3(b)",
	"\"Term\" means x. ", "the \"A\" ", "Harbour LLC ", "Exhibit A\n1. A\n", "EXHIBIT A\n", "the Borrower ", "twenty ",
	"one (1) ", "thirty (60) days' notice to terminate, ", "the late fee is $5. ", "January 5, 2031 ", "Sections 1, ",
	"A ", "\n", "[Date] ", "TBD ", "Section 2(b)\n2. A\n", "section 7, ", "x 5% ", "{{", "<<", "\"A B\"\n"}

// TestHostileText holds every check to time in proportion to the text: four times as much may take ten times as long,
// where a loop over a loop takes sixteen. A busy machine is asked again, and what takes no time is not compared.
func TestHostileText(t *testing.T) {
	skipUnderRace(t)
	const size, most, unseen = 40_000, 10, 100 * time.Millisecond
	for _, piece := range append(hostilePieces, numberedLines()) {
		text := strings.Repeat(piece, size/len(piece)+1)[:size]
		var quarter, whole time.Duration
		for range 3 {
			quarter, whole = timeOfChecks(text[:size/4]), timeOfChecks(text)
			if whole < unseen || whole < most*quarter {
				break
			}
		}
		if whole >= unseen && whole >= most*quarter {
			t.Errorf("%q: %v for %d bytes, %v for a quarter of them", piece[:min(40, len(piece))], whole, size, quarter)
		}
	}
}

// underRace says that the race detector runs. This package starts no goroutine, and patterns are thirty times slower
// under it: the corpus is read there, and what reads it a hundred times over is not.
var underRace bool

func skipUnderRace(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("no goroutine to watch; the plain run has this test")
	}
}

func timeOfChecks(text string) time.Duration {
	start := time.Now()
	problemsByKind(text, []string{"Harbor LLC", "First Bank"})
	Read(text).Unused()
	return time.Since(start)
}

// numberedLines are distinct headings, each with a reference into the first: every reference asks for a body.
func numberedLines() string {
	var b strings.Builder
	for n := 1; n < 900; n++ {
		for _, part := range []string{". Heading\nsee Section 1(z) and Section ", "(zz)\n"} {
			b.WriteString(keyOf([]int{n}) + part)
		}
	}
	return b.String()
}
