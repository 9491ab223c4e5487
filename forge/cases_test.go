package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// caseFile is a file of testdata/cheats or testdata/honest: what somebody did to the sheet's first example.
type caseFile struct {
	Sheet string     `json:"sheet"`
	Cases []caseData `json:"cases"`
}

// caseData is one act. Expect is the code of the finding that it must raise, of a cheat; Pointer is where, if that
// matters.
type caseData struct {
	Act     string          `json:"act"`
	Patch   json.RawMessage `json:"patch"`  // RFC 6902 on the submission
	Edits   []evidenceEdit  `json:"edits"`  // on evidence, each text once
	Detach  []string        `json:"detach"` // evidence that is not attached
	Expect  string          `json:"expect"`
	Pointer string          `json:"pointer"`
}

type evidenceEdit struct {
	ID   string `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
}

// readCases reads every file of a folder strictly: a misspelt member cannot pass for a case.
func readCases(t *testing.T, dir string) []caseFile {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "testdata", dir, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", dir, err)
	}
	var out []caseFile
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f caseFile
		d := json.NewDecoder(bytes.NewReader(src))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Sheet != strings.TrimSuffix(filepath.Base(name), ".json") {
			t.Errorf("%s is about %q", name, f.Sheet)
		}
		out = append(out, f)
	}
	return out
}

// done is the example after the act.
func (c *caseData) done(base *worked) (*referee.Report, error) {
	w := base.cloneWork()
	for _, e := range c.Edits {
		i := slices.IndexFunc(w.files, func(f referee.ExampleFile) bool { return f.ID == e.ID })
		if i < 0 || strings.Count(w.files[i].Text, e.From) != 1 {
			return nil, fmt.Errorf("evidence %q does not hold %q once", e.ID, e.From)
		}
		w.rewriteFile(i, strings.Replace(w.files[i].Text, e.From, e.To, 1))
	}
	w.files = slices.DeleteFunc(w.files, func(f referee.ExampleFile) bool { return slices.Contains(c.Detach, f.ID) })
	if c.Patch != nil {
		list, err := strictjson.Parse([]byte(`{"patch":`+string(c.Patch)+`}`), strictjson.DocumentLimits)
		if err != nil {
			return nil, err
		}
		var ops []referee.PatchOp
		for _, op := range list.Get("patch").Items {
			ops = append(ops, referee.PatchOp{Op: op.TextOf("op"), Path: op.TextOf("path"), Value: op.Get("value")})
		}
		if w.submission, err = applyPatch(w.submission, ops); err != nil {
			return nil, err
		}
	}
	return w.auditWork()
}

// eachCase runs the cases of a folder, sheets beside one another, and counts them.
func eachCase(t *testing.T, dir string, judge func(t *testing.T, c *caseData, rep *referee.Report)) (sheets,
	cases int) {
	files := readCases(t, dir)
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for _, f := range files {
			t.Run(f.Sheet, func(t *testing.T) {
				t.Parallel()
				sheet := librarySheet(t, f.Sheet)
				ex := sheet.Examples()[0]
				base, err := workedExample(sheet, &ex)
				if err != nil {
					t.Fatal(err)
				}
				for i := range f.Cases {
					rep, err := f.Cases[i].done(base)
					if err != nil {
						t.Errorf("%s: %v", f.Cases[i].Act, err)
						continue
					}
					judge(t, &f.Cases[i], rep)
				}
				mu.Lock()
				defer mu.Unlock()
				sheets, cases = sheets+1, cases+len(f.Cases)
			})
		}
	})
	return sheets, cases
}

// TestCheats: each careless or dishonest act raises the finding that a careful reader would raise, and is not ready for
// a client.
func TestCheats(t *testing.T) {
	sheets, cases := eachCase(t, "cheats", func(t *testing.T, c *caseData, rep *referee.Report) {
		found := slices.ContainsFunc(rep.Findings, func(f referee.Finding) bool {
			return f.Code == c.Expect && (c.Pointer == "" || f.Pointer == c.Pointer)
		})
		if !found && !raised(c.Expect) {
			t.Logf("WAITS: %s: this engine does not raise %s yet", c.Act, c.Expect)
			return
		}
		if !found {
			t.Errorf("%s: no %s %s; there are %v", c.Act, c.Expect, c.Pointer, codesOf(rep))
		}
	})
	if sheets < 40 || cases < 200 {
		t.Errorf("%d cheats over %d sheets; at least 200 over 40", cases, sheets)
	}
}

// TestHonest: right work in another form has no work-defect.
func TestHonest(t *testing.T) {
	_, cases := eachCase(t, "honest", func(t *testing.T, c *caseData, rep *referee.Report) {
		for _, f := range rep.Findings {
			if f.Bucket == referee.WorkDefect {
				t.Errorf("%s: %s at %s: %s", c.Act, f.Code, f.Pointer, f.Message)
			}
		}
		if len(rep.Verdict.UndecidedHigh) > 0 {
			t.Errorf("%s: undecided %v", c.Act, rep.Verdict.UndecidedHigh)
		}
	})
	if cases < 100 {
		t.Errorf("%d honest variants; at least 100", cases)
	}
}

// raised reports whether the registry lists a finding code.
func raised(code string) bool {
	if strings.HasPrefix(code, "policy.") {
		return true
	}
	for _, k := range referee.ImplicitRules() {
		if slices.Contains(k.Codes, code) {
			return true
		}
	}
	for _, k := range referee.RuleKeys() {
		if slices.Contains(k.Codes, code) {
			return true
		}
	}
	return false
}

func codesOf(rep *referee.Report) []string {
	var out []string
	for _, f := range rep.Findings {
		out = append(out, f.Code+" "+f.Pointer)
	}
	return out
}
