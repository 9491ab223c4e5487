package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/schema"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

func TestNewRefuses(t *testing.T) {
	if _, err := New("yaml", io.Discard, Options{}); err == nil ||
		!strings.Contains(err.Error(), `unknown format "yaml"; known are table, json, markdown, sarif, junit, github`) {
		t.Errorf("format: %v", err)
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain — text, Ünïcode, 日本語, [x]", "plain — text, Ünïcode, 日本語, [x]"},
		{"a\u202eb", "a<U+202E>b"},
		{"a\x1b[31mb\x7f", "a<U+001B>[31mb<U+007F>"},
		{"a\u009bb\u0085", "a<U+009B>b<U+0085>"},
		{"a\nb\tc\r", "a<U+000A>b<U+0009>c<U+000D>"},
		{"a\u2028b\u2029", "a<U+2028>b<U+2029>"},
		{"a\u200b\u200d\ufeff\u00ad\u2060\ufe0f\u034f\u3164",
			"a<U+200B><U+200D><U+FEFF><U+00AD><U+2060><U+FE0F><U+034F><U+3164>"},
		{"\U000e0041\U000f0000\ufffe\ue000", "<U+E0041><U+F0000><U+FFFE><U+E000>"},
		{"a\u00a0b\u3000c", "a b c"},
		{"a\xffb", "a<0xFF>b"},
		{"##[error]x", "##<U+005B>error]x"},
		{"e" + strings.Repeat("\u0301", 6), "e\u0301\u0301\u0301\u0301<U+0301><U+0301>"},
	}
	for _, test := range tests {
		got := Clean(test.in)
		if got != test.want {
			t.Errorf("Clean(%q) = %q, want %q", test.in, got, test.want)
		}
		if Clean(got) != got {
			t.Errorf("Clean(%q) is not clean", test.in)
		}
	}
}

// FuzzClean states that clean text has no hidden character, is one line of UTF-8, and stays as it is.
func FuzzClean(f *testing.F) {
	for _, attack := range attacks {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		if !utf8.ValidString(c) || strings.ContainsFunc(c, isHiddenRune) || strings.Contains(c, "##[") || Clean(c) != c {
			t.Errorf("Clean(%q) = %q", s, c)
		}
		if span := codeSpan(s, 50); len([]rune(span)) > 50*len("<U+10FFFF>")+200 || dropSpans(t, span) != "§" {
			t.Errorf("code(%q) = %q", s, span)
		}
		for _, n := range []int{1, 7, 40} {
			for _, line := range wrapText(c, n) {
				if textColumns(line) > max(n, 2) {
					t.Errorf("wrap(%q, %d) has %q", c, n, line)
				}
			}
		}
	})
}

func TestClip(t *testing.T) {
	if got := CleanStart("äöüß", 3); got != "äöü… (1 more)" {
		t.Errorf("%q", got)
	}
	if got := CleanStart("äöü", 3); got != "äöü" {
		t.Errorf("%q", got)
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want []string
	}{
		{"", 5, []string{""}},
		{"a bc def", 4, []string{"a bc", "def"}},
		{"abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"/calculations/0/result", 16, []string{"/calculations/0/", "result"}},
		{"日本語", 4, []string{"日本", "語"}}, // two columns each
	}
	for _, test := range tests {
		if got := wrapText(test.text, test.n); !slices.Equal(got, test.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}

func TestLocate(t *testing.T) {
	tests := []struct{ name, location, run, submission, file, want string }{
		{"a run folder", "testdata/runs/a", "a", "submission.json", "submission.json",
			"testdata/runs/a/submission.json"},
		{"a run folder's evidence", "testdata/runs/a/", "a", "submission.json", "evidence/t.csv",
			"testdata/runs/a/evidence/t.csv"},
		{"a run by its submission", "runs/a/submission.json", "a", "submission.json", "evidence/t.csv",
			"runs/a/evidence/t.csv"},
		{"the folder itself", ".", "a", "submission.json", "submission.json", "submission.json"},
		{"a bare file", "data/x.jsonl", "", "x.jsonl", "x.jsonl", "data/x.jsonl"},
		{"an absolute file", "/data/x.json", "", "x.json", "x.json", "/data/x.json"},
		{"an absolute run", "/runs/a/submission.json", "a", "submission.json", "evidence/t.csv",
			"/runs/a/evidence/t.csv"},
		{"standard input", "-", "", "-", "-", "stdin"},
		{"nowhere", "", "", "x.json", "x.json", "x.json"},
		{"a folder called like the file", "runs/submission.json", "a", "submission.json", "submission.json",
			"runs/submission.json"},
	}
	for _, test := range tests {
		r := &referee.Report{Location: test.location, Run: referee.RunRef{ID: test.run},
			Submission: referee.SubmissionRef{Path: test.submission}}
		if got := locateFile(r, test.file); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestFingerprint holds values of a Python script: hashlib.sha256 over the prefix and each part as "length:part,".
func TestFingerprint(t *testing.T) {
	elm, line := elmPlaza(), lineOf(9)
	for _, test := range []struct {
		r    *referee.Report
		want string
	}{
		{elm, "0506aca25b4f6ef8210b831cb3f3fc4108a0e971c55b9bc9bc70e808ebb5a9cb"},
		{line, "05febd3aa0c30f1f9baf52cf0c7626e7eb4846800e0134c42d3390ae8ba25052"},
	} {
		if got := fingerprintOf(test.r, &test.r.Findings[0]); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	moved := elm.Findings[0]
	moved.Line, moved.EndLine, moved.Message = 99, 99, "other words"
	if fingerprintOf(elm, &moved) != fingerprintOf(elm, &elm.Findings[0]) {
		t.Error("a moved finding has another name")
	}
}

// sarifSchemaFile is the published schema; testdata/README.md says where it is from.
const sarifSchemaFile = "testdata/sarif-2.1.0-rtm.5.json"

var compiledSARIF *schema.Schema

func checkSARIF(t *testing.T, text string) {
	t.Helper()
	if compiledSARIF == nil {
		b, err := os.ReadFile(sarifSchemaFile)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := strictjson.Parse(b, strictjson.DocumentLimits)
		if err != nil {
			t.Fatal(err)
		}
		if compiledSARIF, err = schema.Compile(sarifSchemaFile, doc); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := strictjson.Parse([]byte(text), strictjson.DocumentLimits)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range compiledSARIF.Validate(doc) {
		t.Errorf("%s %s", l.Pointer, l.Message)
	}
}

func TestSARIF(t *testing.T) {
	text := write(t, "sarif", Options{Version: "0.1.0"}, oakStreet(), mapleCourt(), elmPlaza(), unreadable())
	checkSARIF(t, text)
	checkSARIF(t, write(t, "sarif", Options{}))
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine, StartColumn, EndLine, EndColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	var levels []string
	for _, r := range results {
		levels = append(levels, r.Level)
		if rule := log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID; rule != r.RuleID {
			t.Errorf("index %d is %s, not %s", r.RuleIndex, rule, r.RuleID)
		}
	}
	// maple: mid; elm: high, high, low and an undecided high rule; the unreadable one: high and two undecided.
	if want := []string{"warning", "error", "error", "note", "none", "error", "none", "none"}; !slices.Equal(levels,
		want) {
		t.Errorf("levels %v, want %v", levels, want)
	}
	if got := results[5].Locations[0].PhysicalLocation.ArtifactLocation.URI; got != "inbox/answer,%20final.json" {
		t.Errorf("uri %q", got)
	}
	if region := *results[1].Locations[0].PhysicalLocation.Region; region.StartLine != 22 || region.StartColumn != 17 ||
		region.EndLine != 22 || region.EndColumn != 21 {
		t.Errorf("region %+v", region)
	}
}

// TestJUnitShape reads the paper back as JUnit's readers do: the counts are those of the cases, and a case has one
// outcome.
func TestJUnitShape(t *testing.T) {
	type testcase struct {
		Name      string     `xml:"name,attr"`
		Classname string     `xml:"classname,attr"`
		Time      string     `xml:"time,attr"`
		Failure   []struct{} `xml:"failure"`
		Error     []struct{} `xml:"error"`
		Skipped   []struct{} `xml:"skipped"`
	}
	var suites struct {
		XMLName xml.Name
		Suites  []struct {
			Name     string     `xml:"name,attr"`
			Tests    int        `xml:"tests,attr"`
			Failures int        `xml:"failures,attr"`
			Errors   int        `xml:"errors,attr"`
			Skipped  int        `xml:"skipped,attr"`
			Cases    []testcase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	reports := []*referee.Report{oakStreet(), mapleCourt(), elmPlaza(), unreadable(), {}}
	if err := xml.Unmarshal([]byte(write(t, "junit", Options{}, reports...)), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.XMLName.Local != "testsuites" || len(suites.Suites) != len(reports) {
		t.Fatalf("%d suites", len(suites.Suites))
	}
	// Counted by hand from samples_test.go: tests, failures, errors, skipped.
	want := [][4]int{{7, 0, 0, 0}, {8, 1, 0, 1}, {9, 3, 1, 1}, {7, 1, 2, 4}, {1, 0, 1, 0}}
	for i, s := range suites.Suites {
		var got [4]int
		for _, c := range s.Cases {
			got[0]++
			got[1] += len(c.Failure)
			got[2] += len(c.Error)
			got[3] += len(c.Skipped)
			if c.Name == "" || c.Classname == "" || c.Time == "" || len(c.Failure)+len(c.Error)+len(c.Skipped) > 1 {
				t.Errorf("case %+v", c)
			}
		}
		if got != want[i] || got != [4]int{s.Tests, s.Failures, s.Errors, s.Skipped} {
			t.Errorf("%s: cases %v, attributes %v, want %v", s.Name, got, [4]int{s.Tests, s.Failures, s.Errors,
				s.Skipped}, want[i])
		}
	}
}

// TestJUnitNothingIsLost: a finding makes a failure of a check that says it passed.
func TestJUnitNothingIsLost(t *testing.T) {
	r := riverLofts()
	r.Checks[5].Status = referee.Pass
	if got := write(t, "junit", Options{}, r); !strings.Contains(got, `failures="1"`) {
		t.Error(got)
	}
}

func TestGitHubLimits(t *testing.T) {
	var reports []*referee.Report
	for range 12 {
		reports = append(reports, elmPlaza(), mapleCourt()) // 2 high, 1 undecided, 1 low; 1 mid
	}
	text := write(t, "github", Options{}, reports...)
	checkCommands(t, text)
	// 36 errors, 12 warnings and 12 notices were found; ten of each may stand, and the last notice is about the rest.
	for command, want := range map[string]int{"::error ": 10, "::warning ": 10, "::notice ": 10} {
		if got := strings.Count(text, command); got != want {
			t.Errorf("%d of %q, want %d", got, command, want)
		}
	}
	if !strings.HasSuffix(text, "Not shown here: 26 errors, 2 warnings, 3 notices. The report holds all of them.\n") {
		t.Errorf("last line of %s", text)
	}
	over := elmPlaza()
	over.Findings = over.Findings[:1]
	over.Findings[0].EndLine = 23
	if got := write(t, "github", Options{}, over); !strings.Contains(got, ",line=22,endLine=23,title=") {
		t.Errorf("columns over two lines: %s", got)
	}
}

func TestGitHubNoRule(t *testing.T) {
	if got := write(t, "github", Options{}, &referee.Report{}); !strings.Contains(got, "no rule was evaluated") {
		t.Errorf("%q", got)
	}
}

// TestMarkdownLimit: a page never grows beyond its limit and says what it leaves out.
func TestMarkdownLimit(t *testing.T) {
	r := elmPlaza()
	r.Findings = slices.Repeat(r.Findings, 400)
	full := Markdown(r, Options{}, 1<<30)
	if strings.Contains(full, "left out") {
		t.Error("a page without limit leaves something out")
	}
	for _, limit := range []int{2000, 60_000} {
		page := Markdown(r, Options{}, limit)
		if len(page) > limit || !strings.Contains(page, "left out: this page is full") {
			t.Errorf("%d bytes of %d, ends %q", len(page), limit, page[len(page)-100:])
		}
		shown, _, _ := strings.Cut(page, "\n_")
		if !strings.HasPrefix(full, shown) {
			t.Error("the page is no beginning of the whole")
		}
	}
}

func TestCitedAtoms(t *testing.T) {
	for atoms, want := range map[bool][]string{false: {"EVID_001"}, true: {"EVID_001", "EVID_002"}} {
		var r referee.Report
		if err := json.Unmarshal([]byte(write(t, "json", Options{Atoms: atoms}, elmPlaza())), &r); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range r.Atoms {
			got = append(got, a.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v", atoms, got)
		}
	}
}

// failing takes some bytes and then fails.
type failing struct{ left int }

var errFull = errors.New("disk full")

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriteErrors: a paper that could not be written is an error, wherever the disk was full.
func TestWriteErrors(t *testing.T) {
	for _, format := range Formats() {
		size := len(write(t, format, Options{}, elmPlaza()))
		for _, left := range []int{0, size / 2, size - 1} {
			w, err := New(format, &failing{left: left}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Add(elmPlaza()), w.Close()); !errors.Is(err, errFull) {
				t.Errorf("%s after %d bytes: %v", format, left, err)
			}
		}
	}
}

// TestMemory: ten thousand reports more do not make a paper's memory grow.
func TestMemory(t *testing.T) {
	for _, format := range Formats() {
		w, err := New(format, io.Discard, Options{})
		if err != nil {
			t.Fatal(err)
		}
		add := func(from, to int) {
			for i := from; i < to; i++ {
				if err := w.Add(lineOf(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		add(1, 1000)
		before := heap()
		add(1000, 11_000)
		if grown := heap() - before; grown > 256<<10 {
			t.Errorf("%s: %d KiB more", format, grown>>10)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkWriters(b *testing.B) {
	r := elmPlaza()
	for _, format := range Formats() {
		b.Run(format, func(b *testing.B) {
			w, err := New(format, io.Discard, Options{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := w.Add(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
