package rulebook

import (
	"bytes"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/ledger/gitstore"
)

// objectStore is a git repository that is written object by object, with what no work tree would hold.
type objectStore struct {
	t        *testing.T
	git, dir string
}

func (r objectStore) runGit(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(
		r.t.Context(),
		r.git,
		append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, failed.String())
	}
	return strings.TrimSpace(string(out))
}

// commitSheets makes a commit whose folder flight_sheets has these entries: mode, name and content, or the id of a
// submodule's commit.
func (r objectStore) commitSheets(entries ...[3]string) fs.FS {
	r.t.Helper()
	var list strings.Builder
	for _, e := range entries {
		kind, id := "blob", e[2]
		if e[0] == "160000" {
			kind = "commit"
		} else {
			id = r.runGit(e[2], "hash-object", "-w", "--stdin")
		}
		fmt.Fprintf(&list, "%s %s %s\t%s\x00", e[0], kind, id, e[1])
	}
	sheets := r.runGit(list.String(), "mktree", "-z", "--missing")
	root := r.runGit("040000 tree "+sheets+"\tflight_sheets\x00", "mktree", "-z")
	repo, err := gitstore.OpenRepo(r.dir, r.git)
	if err != nil {
		r.t.Fatal(err)
	}
	tree, err := repo.TreeFS(r.t.Context(), r.runGit("", "commit-tree", "-m", "x", root))
	if err != nil {
		r.t.Fatal(err)
	}
	return tree
}

// TestRulebookGit: what a pull request's own git objects can hold under the name of a sheet.
func TestRulebookGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	r := objectStore{t, git, t.TempDir()}
	r.runGit("", "init", "-q", "--bare")
	same := [3]string{"100644", agency + ".json", sheetText(t, agency)}
	old, odd := [3]string{"120000", "old.json", "kept as it was"}, [3]string{"100644", "odd\xff.json", "judges nothing"}
	base := r.commitSheets(same, old, odd)
	head := r.commitSheets(
		same,
		old,
		odd,
		[3]string{"120000", "link.json", "../.git/config"},
		[3]string{"160000", "module.json", strings.Repeat("1", 40)},
		[3]string{
			"100644",
			"bad\xffname.json",
			"{}",
		},
		[3]string{
			"100755",
			"doc-synthesis.json",
			sheetText(t, "doc-synthesis", `"version": "1.1.0"`, `"version": "9.0.0"`),
		},
		[3]string{
			"100644",
			"huge.json",
			strings.Repeat(" ", 5<<20+1),
		},
		[3]string{"100644", "notes.txt", "x"},
		[3]string{"100644", "\xff.txt", "x"},
	)
	want := map[string]string{
		"flight_sheets/link.json":          "link.json is a symlink",
		"flight_sheets/module.json":        "module.json is a submodule",
		"flight_sheets/bad\ufffdname.json": "is not UTF-8",
		"flight_sheets/doc-synthesis.json": "",
		"flight_sheets/huge.json":          "at most 5242880",
	}
	got := Changes(base, head, config.Default(), flightsheets.FS(), forgeTools(), nil)
	for _, c := range got {
		problem, known := want[c.Path]
		if !known || problem == "" && len(c.Problems) > 0 || problem != "" && !anyContains(c.Problems, problem) {
			t.Errorf("%+v", c)
		}
		if problem == "" && (c.Sheet != "doc-synthesis@9.0.0" || c.Tested == "") {
			t.Errorf("the good sheet: %+v", c)
		}
	}
	if len(got) != len(want) ||
		!slices.IsSortedFunc(got, func(a, b Change) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("%d changes, want %d: %+v", len(got), len(want), got)
	}
}
