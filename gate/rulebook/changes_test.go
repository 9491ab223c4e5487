package rulebook

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/forge"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// forgeTools are the forge's, as the command gives them.
func forgeTools() Tools {
	return Tools{
		Lint: func(s *referee.Sheet) (problems, warnings []string) {
			for _, p := range append(slices.Clone(s.Warnings), forge.Lint(s, "")...) {
				switch {
				case p.Rule == "example":
				case p.Warning:
					warnings = append(warnings, p.String())
				default:
					problems = append(problems, p.String())
				}
			}
			return problems, warnings
		},
		Test: func(s *referee.Sheet) (summary string, failures []string) {
			result := forge.Test(s)
			for _, f := range result.Failures {
				failures = append(failures, f.String())
			}
			if result.OK() {
				summary = fmt.Sprintf("%d examples and %d trips hold", result.Examples, result.Trips)
			}
			return summary, failures
		},
		Turned: func(where string, c referee.Case, before, after *referee.Sheet) string {
			if t := forge.Turned(where, c, before, after); t != nil {
				return fmt.Sprintf("%s: was %s, is %s", t.Where, t.Before, t.After)
			}
			return ""
		},
	}
}

const agency = "cre-multifamily-agency"

// sheetText is a sheet of the library with edits: from, to, from, to, ….
func sheetText(t *testing.T, slug string, edits ...string) string {
	t.Helper()
	src, ok := flightsheets.Read(slug)
	if !ok {
		t.Fatalf("no sheet %q", slug)
	}
	out := string(src)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(out, edits[i]) {
			t.Fatalf("%s does not hold %q", slug, edits[i])
		}
		out = strings.ReplaceAll(out, edits[i], edits[i+1])
	}
	return out
}

// storedRuns are the sample runs as receipts that stand on base.
func storedRuns(t *testing.T) []StoredRun {
	t.Helper()
	var out []StoredRun
	in := gatetest.Samples(nil)
	for _, run := range []string{"oak-street", "maple-court"} {
		folder, err := fs.Sub(in, "runs/"+run)
		if err != nil {
			t.Fatal(err)
		}
		out = append(
			out,
			StoredRun{
				Where:  "runs/" + run,
				Folder: folder,
				Receipt: &ledger.Receipt{
					Run:         ledger.Run{ID: run},
					FlightSheet: ledger.FlightSheet{Slug: agency},
					Agent:       &ledger.Agent{Name: "underwriter"},
				},
			},
		)
	}
	return out
}

// onlyChange runs RulebookChanges where one thing changes.
func onlyChange(t *testing.T, base, head fs.FS, cfg *config.Config, stored []StoredRun) Change {
	t.Helper()
	got := Changes(base, head, cfg, flightsheets.FS(), forgeTools(), stored)
	if len(got) != 1 {
		t.Fatalf("%d changes: %+v", len(got), got)
	}
	return got[0]
}

func anyContains(list []string, part string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
}

// TestRulebookSheets: what a new, a changed and a removed sheet would mean.
func TestRulebookSheets(t *testing.T) {
	at := "flight_sheets/" + agency + ".json="
	same, stricter := sheetText(t, agency), sheetText(t, agency, `"value": 1.25`, `"value": 1.6`)
	worded := sheetText(
		t,
		agency,
		`"version": "1.0.0"`,
		`"version": "1.0.1"`,
		"Below 1.25 a conventional",
		"Under 1.25 a conventional",
	)
	bare := `{"schema": "referee.flight-sheet/v1", "slug": "loan", "name": "Loan", "version": "2.0.0", "lane": ` +
		`"agent", "baseline": "none", "required_inputs": [{"name": "noi", "type": "number"}], "eval_spec": {"rules": ` +
		`[{"id": "gate", "expr": "noi >= 1", "tier": "high"}]}}`
	one := config.Default()
	one.Runs[0].Sheets = []string{"loan@^1"}
	for _, c := range []struct {
		what                       string
		base, head                 fs.FS
		cfg                        *config.Config
		sheet, problem, warns, hit string
		tested, clean              bool
	}{
		{what: "a stricter gate over the library's", base: gatetest.Tree(), head: gatetest.Tree(at + stricter),
			sheet: agency + "@1.0.0", problem: "example", warns: "change the version (S54)", hit: "runs/oak-street: was "},
		{what: "before the library's", base: gatetest.Tree(), head: gatetest.Tree(at + worded),
			sheet: agency + "@1.0.1", warns: "replaces the library's sheet", tested: true},
		{what: "a copy of the library's", base: gatetest.Tree(), head: gatetest.Tree(at + same),
			sheet: agency + "@1.0.0", tested: true, clean: true},
		{what: "other words", base: gatetest.Tree(at + same), head: gatetest.Tree(at + worded),
			sheet: agency + "@1.0.1", tested: true},
		{what: "the same version", base: gatetest.Tree(at + worded),
			head:  gatetest.Tree(at + strings.ReplaceAll(worded, "Under 1.25 a", "Beneath 1.25 a")),
			sheet: agency + "@1.0.1", warns: "the version is still 1.0.1", tested: true},
		{what: "removed, and the library's judges", base: gatetest.Tree(at + stricter),
			head: gatetest.Tree("README.md=x"), sheet: agency + "@1.0.0", warns: "the library's sheet " + agency +
				"@1.0.0 judges instead", hit: "runs/maple-court: was "},
		{what: "removed and gone", base: gatetest.Tree("flight_sheets/loan.json=" + bare), head: gatetest.Tree(),
			sheet: "loan@2.0.0", warns: "no sheet has this slug any more"},
		{what: "new", base: gatetest.Tree(), head: gatetest.Tree("flight_sheets/loan.json=" + bare),
			sheet: "loan@2.0.0", warns: "it has no example"},
		{what: "out of the configuration's range", base: gatetest.Tree(),
			head: gatetest.Tree("flight_sheets/loan.json=" + bare), cfg: one, sheet: "loan@2.0.0",
			warns: "lets loan@^1 judge runs/**/run.json; version 2.0.0 does not fit"},
		{what: "broken", base: gatetest.Tree(at + same), head: gatetest.Tree(at + same[:900]),
			problem: "flight_sheets/" + agency + ".json"},
		{what: "broken on base", base: gatetest.Tree(at + "{"), head: gatetest.Tree(at + same),
			sheet: agency + "@1.0.0", warns: "the sheet on base does not load", tested: true},
		{what: "another slug", base: gatetest.Tree(), head: gatetest.Tree("flight_sheets/other.json=" + bare),
			problem: `the slug "loan" is not the file's name`},
		{what: "an expression that nobody knows", base: gatetest.Tree(),
			head:    gatetest.Tree("flight_sheets/loan.json=" + strings.ReplaceAll(bare, "noi >= 1", "noy >= 1")),
			problem: "flight_sheets/loan.json:1:"},
	} {
		cfg := c.cfg
		if cfg == nil {
			cfg = config.Default()
		}
		got := onlyChange(t, c.base, c.head, cfg, storedRuns(t))
		if got.Sheet != c.sheet || (got.Tested != "") != c.tested {
			t.Errorf("%s: sheet %q, tested %q", c.what, got.Sheet, got.Tested)
		}
		for _, list := range []struct {
			name string
			got  []string
			want string
		}{{"problem", got.Problems, c.problem}, {"warning", got.Warnings, c.warns},
			{"turned verdict", got.Turned, c.hit}} {
			if list.want != "" && !anyContains(list.got, list.want) ||
				list.want == "" && len(list.got) > 0 && (list.name != "warning" || c.clean) {
				t.Errorf("%s: %ss %q, want %q", c.what, list.name, list.got, list.want)
			}
		}
	}
}

// TestRulebookTurnedRemoved: a verdict that nothing could judge any more is named, and a stored run that cannot be read
// too.
func TestRulebookTurnedRemoved(t *testing.T) {
	own := sheetText(t, agency, agency, "own-agency")
	stored := storedRuns(t)[:1]
	stored[0].Receipt.FlightSheet.Slug = "own-agency"
	got := onlyChange(t, gatetest.Tree("flight_sheets/own-agency.json="+own), gatetest.Tree(), config.Default(), stored)
	if !slices.Equal(got.Turned, []string{"runs/oak-street: no sheet would judge it"}) {
		t.Errorf("%q", got.Turned)
	}
	stored = storedRuns(t)[:1]
	stored[0].Folder = gatetest.Tree("run.json={}")
	got = onlyChange(
		t,
		gatetest.Tree(),
		gatetest.Tree("flight_sheets/"+agency+".json="+sheetText(t, agency, `"value": 1.25`, `"value": 1.6`)),
		config.Default(),
		stored,
	)
	if !anyContains(got.Turned, "runs/oak-street: cannot be read") {
		t.Errorf("%q", got.Turned)
	}
}

// TestRulebookTurnedBounds: many stored runs are asked up to a bound, and the change says so.
func TestRulebookTurnedBounds(t *testing.T) {
	var stored []StoredRun
	for range maxTurnedAsked + 7 {
		stored = append(stored, storedRuns(t)[0])
	}
	stored[3].Receipt.FlightSheet.Slug = "other"
	stored = append(stored, storedRuns(t)[0])
	stored[4].Receipt.Agent = &ledger.Agent{Name: "underwriter", Model: "pinned-70b", Pinned: true}
	tools, asked, pinned := forgeTools(), 0, 0
	tools.Turned = func(where string, c referee.Case, before, after *referee.Sheet) string {
		if asked++; c.Agent.Model == "pinned-70b" && c.Declared != nil {
			pinned++
		}
		return where
	}
	head := gatetest.Tree("flight_sheets/" + agency + ".json=" + sheetText(t, agency, `"value": 1.25`, `"value": 1.6`))
	got := Changes(gatetest.Tree(), head, config.Default(), flightsheets.FS(), tools, stored)[0]
	if asked != 500 || pinned != 1 || len(got.Turned) != 51 || got.Turned[50] != "and 450 more" ||
		!anyContains(got.Warnings, "500 of 507 stored runs") {
		t.Errorf("%d asked, %d of them pinned, %d named, %q", asked, pinned, len(got.Turned), got.Warnings)
	}
}

// listedTree is a tree whose folder of sheets lists what no other tree would.
type listedTree struct {
	fstest.MapFS
	extra []fs.DirEntry
}

func (l listedTree) ReadDir(name string) ([]fs.DirEntry, error) {
	out, err := l.MapFS.ReadDir(name)
	if name == "flight_sheets" {
		out = append(out, l.extra...)
	}
	return out, err
}

type namedEntry struct {
	fs.DirEntry
	name string
}

func (n namedEntry) Name() string { return n.name }

// sizeless is an entry whose object is missing.
type sizeless struct{ fs.DirEntry }

func (sizeless) Name() string { return "sizeless.json" }

func (sizeless) Info() (fs.FileInfo, error) { return nil, errors.New("the object is missing") }

// TestRulebookHostile: what is no plain sheet is refused by name, and never followed or passed over.
func TestRulebookHostile(t *testing.T) {
	put := func(name string, mode fs.FileMode, data string) fstest.MapFS {
		out := gatetest.Tree("flight_sheets/README.md=x", "flight_sheets/testdata/x.json={")
		out[name] = &fstest.MapFile{Mode: mode, Data: []byte(data)}
		return out
	}
	crowd := fstest.MapFS{}
	for i := range maxRulebookFiles + 1 {
		crowd[fmt.Sprintf("flight_sheets/s%d.txt", i)] = &fstest.MapFile{}
	}
	many := fstest.MapFS{}
	for i := range maxRulebooks { // and one that is removed
		many[fmt.Sprintf("flight_sheets/s%d.json", i)] = &fstest.MapFile{}
	}
	plain := gatetest.Tree("flight_sheets/a.json=x")
	entries, err := plain.ReadDir("flight_sheets")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		head fs.FS
		at   string
		want string
	}{
		{"a symlink", put("flight_sheets/x.json", fs.ModeSymlink|0o777, "../secret.json"), "flight_sheets/x.json",
			"x.json is a symlink"},
		{"a submodule", put("flight_sheets/x.json", fs.ModeIrregular, ""), "flight_sheets/x.json",
			"x.json is a submodule"},
		{"a folder", gatetest.Tree("flight_sheets/x.json/y.json={}"), "flight_sheets/x.json", "x.json is a folder"},
		{"the folder is a symlink", singleEntryTree("flight_sheets", fs.ModeSymlink|0o777), "flight_sheets",
			"flight_sheets " +
				"is a symlink"},
		{"the folder is a submodule", singleEntryTree("flight_sheets", fs.ModeIrregular), "flight_sheets",
			"flight_sheets is " +
				"a submodule"},
		{"the folder is a file", singleEntryTree("flight_sheets", 0), "flight_sheets", "flight_sheets is a file"},
		{"a huge file", put("flight_sheets/x.json", 0, strings.Repeat(" ", 5<<20+1)), "flight_sheets/x.json",
			"a sheet has at most 5242880"},
		{"a name in capitals", gatetest.Tree("flight_sheets/X.JSON={}"), "flight_sheets/X.JSON",
			"is not the name of a sheet"},
		{"a name with markup", gatetest.Tree("flight_sheets/<!--@all.json={}"), "flight_sheets/<!--@all.json",
			"is not the name of a sheet"},
		{"a name that is not UTF-8", listedTree{plain, []fs.DirEntry{namedEntry{entries[0], "b\xff.json"}}},
			"flight_sheets/b\ufffd.json", `the name "b\xff.json" is not UTF-8`},
		{"a file without a size", listedTree{plain, []fs.DirEntry{sizeless{entries[0]}}}, "flight_sheets/sizeless.json",
			"it cannot be read: the object is missing"},
		{"a pointer of a large-file storage", gatetest.Tree("flight_sheets/x.json=version " +
			"https://git-lfs.github.com/spec/v1\n"), "flight_sheets/x.json", "flight_sheets/x.json"},
		{"a crowded folder", crowd, "flight_sheets", "holds 2001 files; at most 2000"},
		{"many sheets", many, "flight_sheets", "201 sheets change; at most 200"},
	} {
		got := Changes(
			gatetest.Tree("flight_sheets/a.json=x"),
			c.head,
			config.Default(),
			flightsheets.FS(),
			forgeTools(),
			nil,
		)
		i := slices.IndexFunc(got, func(r Change) bool { return r.Path == c.at })
		if i < 0 || !anyContains(got[i].Problems, c.want) || got[i].Tested != "" {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// singleEntryTree is a tree of one entry.
func singleEntryTree(name string, mode fs.FileMode) fstest.MapFS {
	return fstest.MapFS{name: &fstest.MapFile{Mode: mode, Data: []byte("elsewhere")}}
}

// TestRulebookBytes: the sheets of one pull request together have a bound, and those beyond it are refused by name.
func TestRulebookBytes(t *testing.T) {
	head := fstest.MapFS{}
	for _, name := range []string{"a", "b", "c"} {
		head["flight_sheets/"+name+".json"] = &fstest.MapFile{Data: []byte(strings.Repeat(" ", 4<<20))}
	}
	got := Changes(gatetest.Tree(), head, config.Default(), flightsheets.FS(), forgeTools(), nil)
	if len(got) != 3 || anyContains(got[1].Problems, "split the pull request") ||
		!anyContains(got[2].Problems, "up to here have 12582912 bytes; at most 8388608") {
		t.Errorf("%+v", got)
	}
}

// TestRulebookNothing: other files of the folder, and sheets that stay, are no change.
func TestRulebookNothing(t *testing.T) {
	at := "flight_sheets/" + agency + ".json=" + sheetText(t, agency)
	got := Changes(
		gatetest.Tree(at),
		gatetest.Tree(at, "flight_sheets/README.md=new", "flight_sheets/sub/x.json={", "docs/a=b"),
		config.Default(),
		flightsheets.FS(),
		forgeTools(),
		nil,
	)
	if len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRulebookMoved: a configuration that moves the folder of the sheets is taken at its word; what lies in the new one
// is looked at.
func TestRulebookMoved(t *testing.T) {
	at := agency + ".json=" + sheetText(t, agency)
	got := Changes(
		gatetest.Tree("flight_sheets/"+at),
		gatetest.Tree("flight_sheets/"+at, config.Path+"=flight_sheets: law\n", "law/"+at, "law/x.json={"),
		config.Default(),
		flightsheets.FS(),
		forgeTools(),
		nil,
	)
	if len(got) != 2 || !anyContains(got[0].Warnings, "flight_sheets moves from flight_sheets to law") ||
		got[1].Path != "law/x.json" ||
		len(got[1].Problems) == 0 {
		t.Errorf("%+v", got)
	}
}

// TestRulebookMovedNowhere: a folder that no tree can have is a problem.
func TestRulebookMovedNowhere(t *testing.T) {
	got := Changes(
		gatetest.Tree("flight_sheets/a.json={"),
		gatetest.Tree(config.Path+"=flight_sheets: law//x\n", "law/x/a.json={"),
		config.Default(),
		flightsheets.FS(),
		forgeTools(),
		nil,
	)
	if len(got) != 2 || got[1].Path != "law//x" || !anyContains(got[1].Problems, `"law//x" is not the path of a folder`) {
		t.Errorf("%+v", got)
	}
}

// TestRulebookConfigRefused: a configuration that cannot be read is a problem, and the sheets are looked at by the one
// in force.
func TestRulebookConfigRefused(t *testing.T) {
	for what, c := range map[string]struct {
		head fs.FS
		want string
	}{
		"an unknown key": {gatetest.Tree(config.Path + "=version: 1\nfail_om: high\n"), config.Path + ":2:1: "},
		"a symlink":      {singleEntryTree(config.Path, fs.ModeSymlink|0o777), "symlink"},
		"a huge file":    {gatetest.Tree(config.Path + "=" + strings.Repeat("#", 300<<10)), "larger than 256 KiB"},
		"a folder":       {gatetest.Tree(config.Path + "/x=1"), "not a regular file"},
	} {
		got := onlyChange(t, gatetest.Tree(), c.head, config.Default(), nil)
		if got.Path != config.Path || !anyContains(got.Problems, c.want) || len(got.Warnings) > 0 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	both := Changes(
		gatetest.Tree(),
		gatetest.Tree(config.Path+"=:", "flight_sheets/x.json={"),
		config.Default(),
		flightsheets.FS(),
		forgeTools(),
		nil,
	)
	if len(both) != 2 || both[0].Path != config.Path || both[1].Path != "flight_sheets/x.json" {
		t.Errorf("%+v", both)
	}
}

// TestRulebookUnreadable: a tree that fails is a problem.
func TestRulebookUnreadable(t *testing.T) {
	got := Changes(gatetest.Tree(), failingTree{}, config.Default(), flightsheets.FS(), forgeTools(), nil)
	if i := slices.IndexFunc(got, func(c Change) bool { return c.Path == "flight_sheets" }); i < 0 ||
		!anyContains(got[i].Problems, "the object is missing") {
		t.Errorf("%+v", got)
	}
}

// failingTree has every folder and can read none.
type failingTree struct{}

func (failingTree) Open(name string) (fs.File, error) {
	return nil, errors.New("the object is missing")
}

func (failingTree) Stat(name string) (fs.FileInfo, error) {
	if path.Ext(name) != "" {
		return nil, fs.ErrNotExist
	}
	return fstest.MapFS{"d": &fstest.MapFile{Mode: fs.ModeDir}}.Stat("d")
}

// TestRulebookTurnedLimits: both versions are asked under the limits of the configuration; a limit that is missing is
// said.
func TestRulebookTurnedLimits(t *testing.T) {
	limit := []string{`"version": "1.0.0",`, `"version": "1.0.0", "params": {"least": {"title": "a limit", "type": ` +
		`"number", "required": true}},`}
	at := "flight_sheets/" + agency + ".json="
	base := gatetest.Tree(at + sheetText(t, agency, limit...))
	head := gatetest.Tree(at + sheetText(t, agency, append(limit, `"value": 1.25`, `"value": 1.6`)...))
	cfg := config.Default()
	got := onlyChange(t, base, head, cfg, storedRuns(t)[:1])
	if !anyContains(got.Turned, "runs/oak-street: cannot be compared") || !anyContains(got.Turned, "least") {
		t.Errorf("without the limit: %q", got.Turned)
	}
	cfg.Runs[0].Params = config.Params{"least": "1.25", "of_another_sheet": "3"}
	got = onlyChange(t, base, head, cfg, storedRuns(t)[:1])
	if !anyContains(got.Turned, "runs/oak-street: was ") {
		t.Errorf("with the limit: %q", got.Turned)
	}
}

// TestRulebookTurnedBudget: the stored runs have one budget. What was not compared within it is a problem, which fails
// the check.
func TestRulebookTurnedBudget(t *testing.T) {
	tools, asked := forgeTools(), 0
	tools.Turned = func(_ string, c referee.Case, _, _ *referee.Sheet) string {
		asked++
		c.Together.Take(maxTurnedWork/2 + 1)
		return ""
	}
	head := gatetest.Tree("flight_sheets/" + agency + ".json=" + sheetText(t, agency, `"value": 1.25`, `"value": 1.6`))
	stored := append(storedRuns(t), storedRuns(t)...)
	got := Changes(gatetest.Tree(), head, config.Default(), flightsheets.FS(), tools, stored)[0]
	if asked != 2 || !anyContains(got.Problems, "runs/maple-court: the stored runs take more than") {
		t.Errorf("%d asked, %q", asked, got.Problems)
	}
}
