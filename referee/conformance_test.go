package referee

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
)

// conformanceDir holds the vectors; its README.md is the specification of what is read here.
const conformanceDir = "../testdata/conformance"

// vectorCase is one case of a vector file. Members that a case leaves out are the file's own.
type vectorCase struct {
	Clause string          `json:"clause"`
	About  string          `json:"about"`
	Sheet  json.RawMessage `json:"sheet"`

	SheetText        *string         `json:"sheet_text"`
	Submission       json.RawMessage `json:"submission"`
	SubmissionText   *string         `json:"submission_text"`
	SubmissionBase64 *string         `json:"submission_base64"`
	SubmissionRepeat []repeated      `json:"submission_repeat"`
	Run              json.RawMessage `json:"run"`
	Pinned           json.RawMessage `json:"pinned_agent"`
	Evidence         map[string]struct {
		Path string `json:"path"`
		Text string `json:"text"`
	} `json:"evidence"`

	Formula string                     `json:"formula"`
	Inputs  map[string]json.RawMessage `json:"inputs"`
	Expr    json.RawMessage            `json:"expr"`
	Doc     json.RawMessage            `json:"document"`
	Consts  json.RawMessage            `json:"consts"`

	Expect expectation  `json:"expect"`
	Cases  []vectorCase `json:"cases"`
}

// repeated is text written out n times, for submissions that are too large to be a file.
type repeated struct {
	Text  string `json:"text"`
	Times int    `json:"times"`
}

// expectation is what a case must give; what it leaves out may be anything.
type expectation struct {
	Statuses   map[string]string  `json:"statuses"`
	BlockedBy  map[string]string  `json:"blocked_by"`
	Vacuous    map[string]bool    `json:"vacuous"`
	Notes      map[string]string  `json:"notes"`
	Reasons    map[string]string  `json:"reasons"`
	Findings   []expectedFinding  `json:"findings"`
	Ordered    []string           `json:"findings_in_order"`
	NoFindings bool               `json:"no_findings"`
	Absent     []string           `json:"absent_codes"`
	Verdict    map[string]any     `json:"verdict"`
	Fails      map[string]bool    `json:"fails"`
	Derived    map[string]string  `json:"derived"`
	Semantics  int                `json:"semantics"`
	Refused    []expectedRefusal  `json:"refused"`
	Loads      bool               `json:"loads"`
	SameSheet  json.RawMessage    `json:"same_sha256_as"`
	OtherSheet json.RawMessage    `json:"other_sha256_than"`
	Evidence   []expectedEvidence `json:"evidence"`
	Moves      []Move             `json:"moves"`
	Value      string             `json:"value"`
	Truth      string             `json:"truth"`
	Error      string             `json:"error"`
	Column     int                `json:"column"`
	Hint       string             `json:"hint"`
	Canonical  string             `json:"canonical"`
	Normalised []string           `json:"notes_contain"`
}

type expectedFinding struct {
	Code     string   `json:"code"`
	Tier     string   `json:"tier"`
	Severity string   `json:"severity"`
	Bucket   string   `json:"bucket"`
	Stage    string   `json:"stage"`
	Pointer  *string  `json:"pointer"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	RuleIDs  []string `json:"rule_ids"`
	Message  string   `json:"message_contains"`
	Spot     struct {
		Claimed, Recomputed, Delta, Percent, Band string
	} `json:"spot"`
}

type expectedRefusal struct {
	Rule     string `json:"rule"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Contains string `json:"contains"`
}

type expectedEvidence struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
	Status string `json:"status"`
}

// readVectors reads every vector file; unknown members are refused, so that a misspelt expectation cannot pass.
func readVectors(t *testing.T) map[string]vectorCase {
	t.Helper()
	files, err := filepath.Glob(conformanceDir + "/S*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in %s: %v", conformanceDir, err)
	}
	out := map[string]vectorCase{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v vectorCase
		d := json.NewDecoder(bytes.NewReader(src))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = v
	}
	return out
}

// TestConformance runs every vector.
//
// Source: 000 #3, 000 #13, 000 #18, 002 #125, 002 #127.
func TestConformance(t *testing.T) {
	for name, v := range readVectors(t) {
		for i, c := range v.cases() {
			t.Run(fmt.Sprintf("%s/%d", name, i+1), func(t *testing.T) {
				defer func() {
					if t.Failed() {
						t.Logf("%s: %s: %s", c.Clause, v.About, c.About)
					}
				}()
				c.run(t)
			})
		}
	}
}

// TestConformanceCoversSemantics: every clause of docs/semantics.md has a vector, or the README says which test shows
// it elsewhere; every vector's file is named by its clause.
func TestConformanceCoversSemantics(t *testing.T) {
	page, err := os.ReadFile("../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(conformanceDir + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for name, v := range readVectors(t) {
		if short, _, _ := strings.Cut(name, "-"); short != v.Clause {
			t.Errorf("%s.json is about clause %s", name, v.Clause)
		}
		seen[v.Clause] = true
	}
	headings := regexp.MustCompile(`(?m)^- \*\*(S\d+[a-z]?)\b`).FindAllStringSubmatch(string(page), -1)
	if len(headings) < 65 {
		t.Fatalf("only %d clauses found in docs/semantics.md", len(headings))
	}
	for _, h := range headings {
		if elsewhere := strings.Contains(string(readme), "| "+h[1]+" |"); !seen[h[1]] && !elsewhere {
			t.Errorf("clause %s has neither a vector nor an entry in the README", h[1])
		}
		delete(seen, h[1])
	}
	if len(seen) > 0 {
		t.Errorf("vectors for clauses that docs/semantics.md does not have: %v", sortedKeys(seen))
	}
}

// cases are the file's cases with what they leave out taken from the file; a file without cases is its own only case.
func (v vectorCase) cases() []vectorCase {
	if v.Cases == nil {
		return []vectorCase{v}
	}
	out := slices.Clone(v.Cases)
	for i := range out {
		out[i].inheritFields(v)
	}
	return out
}

func (v *vectorCase) inheritFields(from vectorCase) {
	v.Clause = from.Clause
	if v.Sheet == nil && v.SheetText == nil {
		v.Sheet, v.SheetText = from.Sheet, from.SheetText
	}
	if v.Submission == nil && v.SubmissionText == nil && v.SubmissionBase64 == nil && v.SubmissionRepeat == nil {
		v.Submission = from.Submission
	}
	if v.Run == nil {
		v.Run = from.Run
	}
	if v.Evidence == nil {
		v.Evidence = from.Evidence
	}
	if v.Inputs == nil {
		v.Inputs = from.Inputs
	}
	if v.Consts == nil {
		v.Consts = from.Consts
	}
	if v.Doc == nil {
		v.Doc = from.Doc
	}
}

// run runs a case by what it holds: a formula, an expression, or a sheet with or without a submission.
func (v vectorCase) run(t *testing.T) {
	switch {
	case v.Formula != "":
		v.runFormula(t)
	case v.Expr != nil:
		v.runExpr(t)
	case v.Expect.Refused != nil || v.Expect.Loads:
		v.runLoad(t)
	default:
		v.runAudit(t)
	}
}

func (v vectorCase) sheetBytes() string {
	if v.SheetText != nil {
		return *v.SheetText
	}
	return string(v.Sheet)
}

func (v vectorCase) submissionBytes(t *testing.T) []byte {
	switch {
	case v.SubmissionText != nil:
		return []byte(*v.SubmissionText)
	case v.SubmissionBase64 != nil:
		b, err := base64.StdEncoding.DecodeString(*v.SubmissionBase64)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var b bytes.Buffer
	for _, r := range v.SubmissionRepeat {
		b.WriteString(strings.Repeat(r.Text, r.Times))
	}
	b.Write(v.Submission)
	return b.Bytes()
}

func (v vectorCase) runLoad(t *testing.T) {
	if v.Expect.Refused == nil {
		sheet := mustLoad(t, v.sheetBytes())
		if same := v.Expect.SameSheet; same != nil && mustLoad(t, string(same)).SHA256 != sheet.SHA256 {
			t.Errorf("another SHA-256 than the same sheet written otherwise")
		}
		if other := v.Expect.OtherSheet; other != nil && mustLoad(t, string(other)).SHA256 == sheet.SHA256 {
			t.Errorf("the same SHA-256 as another sheet")
		}
		return
	}
	_, err := LoadSheet([]byte(v.sheetBytes()), "test.json", "repository")
	if err == nil {
		t.Fatal("the sheet loads")
	}
	for _, want := range v.Expect.Refused {
		if !want.matchesRefusal(err) {
			t.Errorf("not refused with %+v, but:\n%v", want, err)
		}
	}
}

// matchesRefusal reports whether one of the refusals is the expected one.
func (want expectedRefusal) matchesRefusal(err error) bool {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		return want.Rule == "json" && strings.Contains(err.Error(), want.Contains)
	}
	return slices.ContainsFunc(refused.Problems, func(p Problem) bool {
		return p.Rule == want.Rule && (want.Line == 0 || p.Line == want.Line) &&
			(want.Column == 0 || p.Column == want.Column) && strings.Contains(p.String(), want.Contains)
	})
}

func (v vectorCase) runFormula(t *testing.T) {
	in := formula.Inputs{}
	for name, raw := range v.Inputs {
		in[name] = formulaInput(mustParse(t, raw))
	}
	f, err := formula.Parse(v.Formula, slices.Sorted(maps.Keys(in)))
	var n *decimal.Num
	if err == nil {
		n, err = f.Eval(in)
	}
	if got := formulaErrorKind(err); got != v.Expect.Error {
		t.Fatalf("%s gives %v and error %q (%v), want error %q", v.Formula, n, got, err, v.Expect.Error)
	}
	var syntax *formula.SyntaxError
	if errors.As(err, &syntax) {
		if v.Expect.Column > 0 && syntax.Col != v.Expect.Column {
			t.Errorf("column %d, want %d: %v", syntax.Col, v.Expect.Column, err)
		}
		wantWords(t, syntax.Hint, v.Expect.Hint)
	}
	if err != nil {
		return
	}
	if v.Expect.Value != "" && n.String() != v.Expect.Value {
		t.Errorf("%s = %s, want %s", v.Formula, n, v.Expect.Value)
	}
	if v.Expect.Canonical != "" && f.Canonical() != v.Expect.Canonical {
		t.Errorf("canonical %q, want %q", f.Canonical(), v.Expect.Canonical)
	}
	wantWords(t, strings.Join(f.Notes(), "\n"), v.Expect.Normalised...)
}

// formulaErrorKind names what went wrong as the README lists it.
func formulaErrorKind(err error) string {
	var syntax *formula.SyntaxError
	var limit *formula.LimitError
	var missing *formula.MissingError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &syntax):
		return "syntax"
	case errors.As(err, &limit):
		return "limit"
	case errors.As(err, &missing):
		return "missing"
	case errors.Is(err, decimal.ErrTooLarge):
		return "too_large"
	case errors.Is(err, decimal.ErrAmbiguous):
		return "ambiguous"
	}
	return "undefined"
}

// mustParse reads any JSON value; the strict reader takes documents, which are objects.
func mustParse(t *testing.T, src []byte) *strictjson.Value {
	t.Helper()
	doc, err := strictjson.Parse(slices.Concat([]byte(`{"v":`), src, []byte("}")), strictjson.DocumentLimits)
	if err != nil {
		t.Fatalf("%v in %s", err, src)
	}
	return doc.Get("v")
}

// runExpr evaluates an expression by the sheet that the README describes: the inputs declared, the expression as rule
// "it", or as the derived value "it" where a value is expected.
func (v vectorCase) runExpr(t *testing.T) {
	var declared []string
	for _, name := range sortedKeys(v.Inputs) {
		declared = append(declared, `{"name":`+string(appendString(nil, name))+`}`)
	}
	members := `"required_inputs":[` + strings.Join(declared, ",") + `],`
	if v.Consts != nil {
		members += `"consts":` + string(v.Consts) + `,`
	}
	rule := `"rules":[{"id":"it","expr":` + string(v.Expr) + `}]`
	if v.Expect.Value != "" {
		members += `"derive":[{"id":"it","expr":` + string(v.Expr) + `}],`
		rule = `"rules":[{"id":"it","expr":"1 == 1"}]`
	}
	src := sheetText(members + `"eval_spec":{` + rule + `}`)
	if v.Expect.Error != "" {
		wantRefusal(t, src, "expression", v.Expect.Error)
		return
	}
	doc := string(v.Doc)
	if doc == "" {
		given := map[string]json.RawMessage{}
		for name, raw := range v.Inputs {
			if string(raw) != `"absent"` {
				given[name] = raw
			}
		}
		doc = `{"inputs":` + string(encode(given)) + `}`
	}
	rep := auditText(mustLoad(t, src), doc)
	if v.Expect.Value != "" {
		if got := rep.Derived[0]; got.Value != v.Expect.Value {
			t.Errorf("%s = %q (%s), want %q", v.Expr, got.Value, got.Reason, v.Expect.Value)
		}
		return
	}
	truth := map[Status]string{Pass: "true", Flag: "false", Skip: "unknown"}[checkNamed(t, rep, "it").Status]
	if truth != v.Expect.Truth {
		t.Errorf("%s is %s, want %s; findings %v", v.Expr, truth, v.Expect.Truth, codes(rep))
	}
	v.Expect.ofReport(t, rep)
}

func (v vectorCase) runAudit(t *testing.T) {
	v.Expect.ofReport(t, Audit(v.auditCase(t)))
}

// auditCase builds the audit's input: a bare submission, or a run folder where the case has a run or evidence.
func (v vectorCase) auditCase(t *testing.T) Case {
	sheet := mustLoad(t, v.sheetBytes())
	src := v.submissionBytes(t)
	if v.Run == nil && v.Evidence == nil {
		return Case{Sheet: sheet, Path: "submission.json", Bytes: src}
	}
	manifest := map[string]any{"schema": RunSchema, "id": "vector", "lane": sheet.Lane, "flight_sheet": sheet.Slug}
	if v.Run != nil {
		maps.Copy(manifest, decoded(t, string(v.Run)))
	}
	tree := fstest.MapFS{"submission.json": {Data: src}}
	var items []any
	for _, id := range sortedKeys(v.Evidence) {
		e := v.Evidence[id]
		tree[e.Path] = &fstest.MapFile{Data: []byte(e.Text)}
		items = append(items, map[string]any{"id": id, "path": e.Path, "kind": "file"})
	}
	if manifest["evidence"] == nil && items != nil {
		manifest["evidence"] = items
	}
	tree["run.json"] = &fstest.MapFile{Data: encode(manifest)}
	folder, err := OpenRun(tree)
	if err != nil {
		t.Fatal(err)
	}
	if v.Pinned == nil {
		return folder.Case(sheet, nil)
	}
	pinned := agentOf(mustParse(t, v.Pinned))
	pinned.Pinned = true
	return folder.Case(sheet, &pinned)
}

// ofReport holds a report against the expectation.
func (e expectation) ofReport(t *testing.T, rep *Report) {
	e.ofChecks(t, rep)
	e.ofFindings(t, rep)
	e.ofVerdict(t, rep)
	if e.Semantics != 0 && rep.Semantics != e.Semantics {
		t.Errorf("semantics %d, want %d", rep.Semantics, e.Semantics)
	}
	for _, want := range e.Evidence {
		if !slices.ContainsFunc(rep.Evidence, func(r EvidenceRef) bool {
			return r.ID == want.ID && (want.SHA256 == "" || r.SHA256 == want.SHA256) &&
				(want.Status == "" || r.Status == want.Status)
		}) {
			t.Errorf("evidence %+v, want %+v", rep.Evidence, want)
		}
	}
}

func (e expectation) ofChecks(t *testing.T, rep *Report) {
	for _, id := range sortedKeys(e.Statuses) {
		wantStatus(t, rep, id, e.Statuses[id])
	}
	for id, want := range e.BlockedBy {
		if got := checkNamed(t, rep, id).BlockedBy; got != want {
			t.Errorf("rule %s is blocked by %q, want %q", id, got, want)
		}
	}
	for id, want := range e.Vacuous {
		if got := checkNamed(t, rep, id).Vacuous; got != want {
			t.Errorf("rule %s: vacuous %t, want %t", id, got, want)
		}
	}
	for id, want := range e.Notes {
		wantWords(t, strings.Join(checkNamed(t, rep, id).Notes, "\n"), want)
	}
	for id, want := range e.Reasons {
		wantWords(t, checkNamed(t, rep, id).Reason, want)
	}
	for id, want := range e.Derived {
		i := slices.IndexFunc(rep.Derived, func(d Derived) bool { return d.ID == id })
		if i < 0 || rep.Derived[i].Value != want {
			t.Errorf("derived %s is %+v, want %s", id, rep.Derived, want)
		}
	}
}

func (e expectation) ofFindings(t *testing.T, rep *Report) {
	if e.NoFindings && len(rep.Findings) > 0 {
		t.Errorf("findings %v, want none", codes(rep))
	}
	for _, want := range e.Findings {
		if !slices.ContainsFunc(rep.Findings, want.matchesFinding) {
			t.Errorf("no finding %s among %v\n%+v", encode(want), codes(rep), rep.Findings)
		}
	}
	for _, code := range e.Absent {
		if slices.ContainsFunc(rep.Findings, func(f Finding) bool { return f.Code == code }) {
			t.Errorf("there is a finding %s: %v", code, codes(rep))
		}
	}
	if e.Ordered != nil {
		got := make([]string, len(rep.Findings))
		for i, f := range rep.Findings {
			got[i] = f.Code + " " + f.Pointer
		}
		if !slices.Equal(got, e.Ordered) {
			t.Errorf("findings in order\n got %q\nwant %q", got, e.Ordered)
		}
	}
	for _, want := range e.Moves {
		if !slices.ContainsFunc(rep.Findings, func(f Finding) bool {
			return f.Fix != nil &&
				slices.Contains(f.Fix.Moves, want)
		}) {
			t.Errorf("no move %+v", want)
		}
	}
}

// matchesFinding reports whether a finding is the expected one, in every member that is stated.
func (want expectedFinding) matchesFinding(f Finding) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	spot := Spot{}
	if f.Spot != nil {
		spot = *f.Spot
	}
	return same(want.Code, f.Code) && same(want.Tier, string(f.Tier)) && same(want.Severity, f.Severity) &&
		same(want.Bucket, string(f.Bucket)) && same(want.Stage, string(f.Stage)) &&
		(want.Pointer == nil || *want.Pointer == f.Pointer) && (want.Line == 0 || want.Line == f.Line) &&
		(want.Column == 0 || want.Column == f.Column) &&
		(want.RuleIDs == nil || slices.Equal(want.RuleIDs, f.RuleIDs)) && strings.Contains(f.Message, want.Message) &&
		same(want.Spot.Claimed, spot.Claimed) &&
		same(want.Spot.Recomputed, spot.Recomputed) && same(want.Spot.Delta, spot.Delta) &&
		same(want.Spot.Percent, spot.Percent) && same(want.Spot.Band, spot.Band)
}

// ofVerdict compares the verdict's members as the report writes them.
func (e expectation) ofVerdict(t *testing.T, rep *Report) {
	got := decoded(t, string(encode(rep.Verdict)))
	for _, key := range sortedKeys(e.Verdict) {
		if want := e.Verdict[key]; string(encode(want)) != string(encode(got[key])) {
			t.Errorf("verdict.%s is %s, want %s; checks %v; findings %v", key, encode(got[key]), encode(want),
				statusesOf(rep), codes(rep))
		}
	}
	for word, want := range e.Fails {
		limit, err := ParseThreshold(word)
		if err != nil || rep.Fails(limit) != want {
			t.Errorf("fails at %q: %t, %v; want %t; %v", word, rep.Fails(limit), err, want, codes(rep))
		}
	}
}

// TestReadmeSaysTheHonestLimit: S65 is a sentence that a user must read, with the figure it rests on.
func TestReadmeSaysTheHonestLimit(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, string(readme), "5,225", "1.1 %", "set-up")
}
