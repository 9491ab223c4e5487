package referee

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/referee/evidence"
)

// sheetText wraps the members that a test is about into a flight sheet with its own shape of submission (baseline
// none).
func sheetText(members string) string {
	return `{"slug":"test-sheet","name":"Test","version":"1.0.0","lane":"dataset",` + members + `}`
}

// mustLoad loads a sheet that must load.
func mustLoad(t testing.TB, src string) *Sheet {
	t.Helper()
	s, err := LoadSheet([]byte(src), "test.json", "repository")
	if err != nil {
		t.Fatalf("the sheet is refused: %v\n%s", err, src)
	}
	return s
}

// mustSheet loads a sheet of these members.
func mustSheet(t testing.TB, members string) *Sheet {
	t.Helper()
	return mustLoad(t, sheetText(members))
}

// refusals are the problems for which a sheet is refused; none where it loads.
func refusals(t testing.TB, src string) []Problem {
	t.Helper()
	_, err := LoadSheet([]byte(src), "test.json", "repository")
	if err == nil {
		return nil
	}
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("refused for another reason than its words: %v", err)
	}
	return refused.Problems
}

// wantRefusal expects a refusal by this rule of the format whose text holds every word.
func wantRefusal(t *testing.T, src, rule string, words ...string) {
	t.Helper()
	problems := refusals(t, src)
	for _, p := range problems {
		if p.Rule == rule && !slices.ContainsFunc(words,
			func(w string) bool { return !strings.Contains(p.String(), w) }) {
			if p.Line == 0 || p.Column == 0 || p.File != "test.json" {
				t.Errorf("the refusal has no place: %s", p)
			}
			return
		}
	}
	t.Errorf("no refusal [%s] with %q among:\n%v\n%s", rule, words, problems, src)
}

// option changes the case of an audit.
type option func(*Case)

// withEvidence declares files: id, text, id, text …; each is kept as evidence/<id>.
func withEvidence(pairs ...string) option {
	tree, items := fstest.MapFS{}, []evidence.Item{}
	for i := 0; i+1 < len(pairs); i += 2 {
		path := "evidence/" + pairs[i]
		id, _, _ := strings.Cut(pairs[i], ".")
		tree[path] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		items = append(items, evidence.Item{ID: id, Path: path, Kind: "file"})
	}
	return withSet(evidence.Open(tree, items, evidence.Limits{}))
}

func withSet(set *evidence.Set) option {
	return func(c *Case) {
		c.Evidence = set
		if c.Run == nil {
			c.Run = &Run{ID: "test", Lane: "dataset"}
		}
	}
}

func withAgent(a Agent) option { return func(c *Case) { c.Agent = &a } }

// auditText runs one audit of a submission given as text.
func auditText(sheet *Sheet, submission string, options ...option) *Report {
	c := Case{Sheet: sheet, Path: "submission.json", Bytes: []byte(submission)}
	for _, o := range options {
		o(&c)
	}
	return Audit(c)
}

// checkNamed is the check of a rule; it must be there.
func checkNamed(t testing.TB, rep *Report, id string) Check {
	t.Helper()
	for _, ch := range rep.Checks {
		if ch.ID == id {
			return ch
		}
	}
	t.Fatalf("no rule %q among %v", id, statusesOf(rep))
	return Check{}
}

// statusesOf is what became of every rule.
func statusesOf(rep *Report) map[string]Status {
	out := map[string]Status{}
	for _, ch := range rep.Checks {
		out[ch.ID] = ch.Status
	}
	return out
}

// wantStatus expects the statuses of some rules: id, status, id, status …
func wantStatus(t testing.TB, rep *Report, pairs ...string) {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if ch := checkNamed(t, rep, pairs[i]); string(ch.Status) != pairs[i+1] {
			t.Errorf("rule %s is %s (%s), want %s; findings %v", pairs[i], ch.Status, ch.Reason, pairs[i+1], codes(rep))
		}
	}
}

// codes are the findings as "code tier pointer", in rank order.
func codes(rep *Report) []string {
	out := make([]string, len(rep.Findings))
	for i, f := range rep.Findings {
		out[i] = f.Code + " " + string(f.Tier) + " " + f.Pointer
	}
	return out
}

// wantCodes expects exactly these findings, each "code tier pointer", in any order.
func wantCodes(t testing.TB, rep *Report, want ...string) {
	t.Helper()
	got := codes(rep)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("findings\n got %v\nwant %v", got, want)
	}
}

// findingOf is the first finding with this code; it must be there.
func findingOf(t testing.TB, rep *Report, code string) Finding {
	t.Helper()
	i := slices.IndexFunc(rep.Findings, func(f Finding) bool { return f.Code == code })
	if i < 0 {
		t.Fatalf("no finding %q among %v", code, codes(rep))
	}
	return rep.Findings[i]
}

// wantWords expects every word in a text.
func wantWords(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in:\n%s", w, text)
		}
	}
}

// sortedKeys are the keys of a map in order, so that a test runs its cases alike every time.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// ratioSheet has one gate over one calculation of two inputs: the smallest sheet in which all stages have something to
// say.
const ratioSheet = `"required_inputs":[{"name":"noi","type":"number"},{"name":"debt","type":"number"}],
	"eval_spec":{"math_checks":[{"formula_id":"dscr","formula":"noi / debt","units":"ratio"}],
		"rules":[{"id":"dscr_gate","expr":"dscr >= 1.20","tier":"high"}]}`

// ratioSubmission states that calculation.
func ratioSubmission(noi, debt, formula, result string) string {
	return `{"inputs":{"noi":` + noi + `,"debt":` + debt + `},"calculations":[{"name":"dscr","formula":"` + formula +
		`","inputs":{"noi":` + noi + `,"debt":` + debt + `},"result":` + result + `,"units":"ratio"}]}`
}

// linkTree makes a folder with a file, a link to a file outside and a linked folder, opened as a run's tree is.
func linkTree(t *testing.T, dir string) fs.FS {
	t.Helper()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("tree/real/file.txt", "inside")
	write("outside/secret.txt", "outside")
	for from, to := range map[string]string{"tree/link.txt": "real/file.txt", "tree/linked": "../outside"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip("no symlinks here: ", err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root.FS()
}

// ruleCase is one submission to a sheet, and what becomes of some rules and of all findings.
type ruleCase struct {
	name       string
	members    string // of the sheet
	submission string
	statuses   string   // "id status id status …"
	codes      []string // "code tier pointer", all of them
	options    []option
}

// runRuleCases audits every case.
func runRuleCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rep := auditText(mustSheet(t, c.members), c.submission, c.options...)
			wantStatus(t, rep, strings.Fields(c.statuses)...)
			wantCodes(t, rep, c.codes...)
		})
	}
}

// oneCheck is a sheet with one deterministic check.
func oneCheck(check string) string { return `"eval_spec":{"deterministic_checks":[` + check + `]}` }

// oneRule is a sheet with these inputs, undeclared as to type, and one rule.
func oneRule(inputs, rule string) string {
	var names []string
	for name := range strings.FieldsSeq(inputs) {
		names = append(names, `{"name":"`+name+`"}`)
	}
	return `"required_inputs":[` + strings.Join(names, ",") + `],"eval_spec":{"rules":[` + rule + `]}`
}
