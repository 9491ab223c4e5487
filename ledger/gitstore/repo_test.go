package gitstore

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/go-git/go-billy/v5/osfs"
)

// writeObjects puts objects into a repository and gives the id of the last.
func writeObjects(t testing.TB, dir string, objects ...gitobject.Object) string {
	t.Helper()
	if err := writeLoose(osfs.New(dir), objects); err != nil {
		t.Fatal(err)
	}
	return objects[len(objects)-1].ID
}

// commitOf writes a commit of files, which are "mode text" by path, on parents.
func commitOf(t testing.TB, dir, message string, files map[string]string, parents ...string) string {
	t.Helper()
	var tree func(files map[string]string) string
	tree = func(files map[string]string) string {
		var entries []gitobject.Entry
		below := map[string]map[string]string{}
		for path, text := range files {
			if top, rest, ok := strings.Cut(path, "/"); ok {
				if below[top] == nil {
					below[top] = map[string]string{}
				}
				below[top][rest] = text
				continue
			}
			mode, data, _ := strings.Cut(text, " ")
			entries = append(entries, gitobject.Entry{Mode: mode, Name: path,
				ID: writeObjects(t, dir, gitobject.New(gitobject.Blob, []byte(data)))})
		}
		for name, files := range below {
			entries = append(entries, gitobject.Entry{Mode: gitobject.ModeTree, Name: name, ID: tree(files)})
		}
		return writeObjects(t, dir, gitobject.New(gitobject.Tree, gitobject.EncodeTree(entries)))
	}
	r := gitobject.Record{Tree: tree(files), Parents: parents, Author: "a <a@b>", By: "a <a@b>", Time: fixedClock().Unix(),
		Message: message}
	return writeObjects(t, dir, gitobject.New(gitobject.Commit, r.Encode()))
}

func repoAt(t testing.TB, dir, git string) *Repo {
	t.Helper()
	r, err := OpenRepo(dir, git)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTreeFS(t *testing.T) {
	dir := initBare(t)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 12345\n"
	commit := commitOf(t, dir, "x\n", map[string]string{
		"a/b/c.txt": "100644 text", "a/run.sh": "100755 #!/bin/sh", "a/link": "120000 ../../etc/passwd",
		"a/sub":   "160000 x",
		"lfs.bin": "100644 " + pointer, "odd": "100664 odd",
	})
	for name, git := range gitReaders(t) {
		tree, err := repoAt(t, dir, git).TreeFS(t.Context(), commit)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := fs.ReadFile(tree, "a/b/c.txt"); err != nil || string(b) != "text" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if b, err := fs.ReadFile(tree, "lfs.bin"); err != nil || string(b) != pointer {
			t.Errorf("%s: a pointer was followed: %q, %v", name, b, err)
		}
		for path, want := range map[string]fs.FileMode{"a": fs.ModeDir | 0o755, "a/run.sh": 0o755,
			"a/link": fs.ModeSymlink | 0o777,
			"a/sub":  fs.ModeIrregular, "odd": fs.ModeIrregular, "a/b/c.txt": 0o644, ".": fs.ModeDir | 0o755} {
			info, err := tree.Lstat(path)
			if err != nil || info.Mode() != want {
				t.Errorf("%s: %s: %v, %v; want %v", name, path, info, err, want)
			}
		}
		info, err := tree.Lstat("a/b/c.txt")
		if err != nil || info.Size() != 4 ||
			info.Sys().(Object) != (Object{"100644", gitobject.ID(gitobject.Blob, []byte("text"))}) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if to, err := tree.ReadLink("a/link"); err != nil || to != "../../etc/passwd" {
			t.Errorf("%s: %q, %v", name, to, err)
		}
		for path, want := range map[string]error{"a/link": ErrLink, "a/sub": ErrLink, "a/link/x": fs.ErrNotExist,
			"none":        fs.ErrNotExist,
			"a/b/c.txt/x": fs.ErrNotExist, "../x": fs.ErrInvalid, "odd": ErrLink} {
			if _, err := tree.Open(path); !errors.Is(err, want) {
				t.Errorf("%s: %s: %v, want %v", name, path, err, want)
			}
		}
		if _, err := tree.ReadLink("a/run.sh"); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: a file is no link: %v", name, err)
		}
		entries, err := tree.ReadDir("a")
		if err != nil || len(entries) != 4 || entries[0].Name() != "b" || !entries[0].IsDir() ||
			entries[1].Type() != fs.ModeSymlink {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
		if _, err := tree.ReadDir("lfs.bin"); err == nil {
			t.Errorf("%s: a file was listed", name)
		}
	}
	plain := commitOf(t, dir, "x\n", map[string]string{"a/b/c.txt": "100644 text", "d.txt": "100644 d"})
	tree, err := repoAt(t, dir, "").TreeFS(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(onlyFS{tree}, "a/b/c.txt", "d.txt"); err != nil {
		t.Error(err)
	}
}

// onlyFS shows nothing but Open and ReadDir, as a directory's own ReadDir is no part of TreeFS.
type onlyFS struct{ *TreeFS }

// Open gives directories a ReadDir.
func (o onlyFS) Open(name string) (fs.File, error) {
	f, err := o.TreeFS.Open(name)
	if err != nil || !f.(*treeFile).IsDir() {
		return f, err
	}
	entries, err := o.TreeFS.ReadDir(name)
	return &listing{File: f, entries: entries}, err
}

type listing struct {
	fs.File
	entries []fs.DirEntry
}

// ReadDir is fs.ReadDirFile's.
func (l *listing) ReadDir(n int) ([]fs.DirEntry, error) {
	return fstestPart(&l.entries, n)
}

func fstestPart(rest *[]fs.DirEntry, n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(*rest)
	} else if len(*rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(*rest))
	part := (*rest)[:n]
	*rest = (*rest)[n:]
	return part, nil
}

// TestNothingRuns has a repository whose configuration would run programs if git read it.
func TestNothingRuns(t *testing.T) {
	git := gitReaders(t)["git"]
	if git == "" {
		t.Skip("no git binary")
	}
	dir := initBare(t)
	s, err := Open(dir, Options{Git: git, Now: fixedClock})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0)); err != nil {
		t.Fatal(err)
	}
	trap := filepath.Join(t.TempDir(), "ran")
	evil := "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tfsmonitor = touch " + trap + "\n\thooksPath = " +
		dir + "\n\tsshCommand = touch " + trap +
		"\n\tpager = touch " + trap + "\n\talternateRefsCommand = touch " + trap +
		"\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = ext::touch " + trap +
		"\n\tpromisor = true\n[protocol \"ext\"]\n\tallow = always\n[include]\n\tpath = /dev/zero\n"
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(evil), 0o644); err != nil {
		t.Fatal(err)
	}
	repo := repoAt(t, dir, git)
	tip, err := repo.Resolve("ledger")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := repo.Verify(t.Context(), tip, VerifyOptions{Full: true}); err != nil || !v.OK() {
		t.Errorf("%v", err)
	}
	if _, err := repo.TreeFS(t.Context(), strings.Repeat("12", 20)); !errors.Is(err, ErrMissing) {
		t.Errorf("%v; want that the object is missing, and not fetched", err)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the repository's was run")
	}
}

// TestCorruptObjectsAreRefused puts the bytes of one object under another's name.
func TestCorruptObjectsAreRefused(t *testing.T) {
	dir := initBare(t)
	good := commitOf(t, dir, "x\n", map[string]string{"f": "100644 text"})
	other := gitobject.New(gitobject.Blob, []byte("other"))
	id := gitobject.ID(gitobject.Blob, []byte("text"))
	if err := os.Remove(filepath.Join(dir, "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	other.ID = id // the file of one object under another's name
	writeObjects(t, dir, other)
	for name, git := range gitReaders(t) {
		tree, err := repoAt(t, dir, git).TreeFS(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := fs.ReadFile(tree, "f"); err == nil {
			t.Errorf("%s: %q was believed", name, b)
		}
	}
}

// TestBombs reads what would fill the memory: a blob of 1 GiB, as a tree and as a file, and a million names.
func TestBombs(t *testing.T) {
	dir := initBare(t)
	var gib bytes.Buffer
	z, err := zlib.NewWriterLevel(&gib, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(z, "blob %d\x00", 1<<30)
	zeros := make([]byte, 1<<20)
	for range 1 << 10 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	huge := strings.Repeat("ab", 20)
	if err := os.MkdirAll(filepath.Join(dir, "objects", "ab"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "objects", "ab", huge[2:]), gib.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	million := make([]gitobject.Entry, 1_000_000)
	blob := writeObjects(t, dir, gitobject.New(gitobject.Blob, []byte("x")))
	for i := range million {
		million[i] = gitobject.Entry{Mode: gitobject.ModeFile, Name: fmt.Sprintf("x%07d", i), ID: blob}
	}
	trees := map[string]string{
		"blob": writeObjects(t, dir, gitobject.New(gitobject.Tree,
			gitobject.EncodeTree([]gitobject.Entry{{Mode: gitobject.ModeFile, Name: "verify.html", ID: huge}}))),
		"tree": writeObjects(t, dir, gitobject.New(gitobject.Tree,
			gitobject.EncodeTree([]gitobject.Entry{{Mode: gitobject.ModeTree, Name: "hash", ID: huge}}))),
		"entries":   writeObjects(t, dir, gitobject.New(gitobject.Tree, gitobject.EncodeTree(million[:400_000]))),
		"a million": writeObjects(t, dir, gitobject.New(gitobject.Tree, gitobject.EncodeTree(million))),
	}
	want := map[string]ledger.Code{"blob": ledger.CodeSize, "tree": ledger.CodeTooMany, "entries": ledger.CodeTooMany,
		"a million": ledger.CodeTooMany}
	for name, git := range gitReaders(t) {
		for kind, tree := range trees {
			commit := writeObjects(t, dir, gitobject.New(gitobject.Commit, gitobject.Record{Tree: tree, Author: "a <a>",
				By: "a <a>", Message: "m\n"}.Encode()))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v, err := repoAt(t, dir, git).Verify(t.Context(), commit, VerifyOptions{})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			if !slices.ContainsFunc(v.Problems, func(p ledger.Problem) bool { return p.Code == want[kind] }) {
				t.Errorf("%s, %s: %v, want %s", name, kind, v.Problems, want[kind])
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 400<<20 {
				t.Errorf("%s, %s: %d MiB were allocated", name, kind, used>>20)
			}
		}
	}
}

func TestPins(t *testing.T) {
	p := Pins{Dir: filepath.Join(t.TempDir(), "pins")}
	if _, ok := p.Load("https://example.org/a/b.git", "ledger"); ok {
		t.Error("a pin out of nothing")
	}
	head := func(n int64) ledger.Head {
		h := ledger.NewHead()
		for i := range n {
			b, err := ledger.Mint(h, storetest.Sample(i))
			if err != nil {
				t.Fatal(err)
			}
			if h, err = h.Append(b); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	if err := p.Save("https://user:secret@example.org/a/b.git", "ledger", head(2)); err != nil {
		t.Fatal(err)
	}
	pin, ok := p.Load("https://example.org/a/b", "ledger")
	if !ok || pin.Level != ledger.L2 || pin.Count != 2 || pin.Tip != head(2).Tip || pin.Root != head(2).Root {
		t.Errorf("%+v", pin)
	}
	for _, other := range [][2]string{{"https://example.org/a/c", "ledger"}, {"https://example.org/a/b", "other"}} {
		if _, ok := p.Load(other[0], other[1]); ok {
			t.Errorf("%v has the pin of another ledger", other)
		}
	}
	if err := p.Save("https://example.org/a/b", "ledger", head(3)); err != nil {
		t.Error(err)
	}
	if err := p.Save("https://example.org/a/b", "ledger", head(1)); err == nil {
		t.Error("a pin was moved back")
	}
	files, err := filepath.Glob(filepath.Join(p.Dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if pin, ok := p.Load("https://example.org/a/b", "ledger"); !ok || pin.Count != -1 {
		t.Errorf("a broken pin: %+v, %v; want one that nothing satisfies", pin, ok)
	}
	if err := p.Save("https://example.org/a/b", "ledger", head(4)); err == nil {
		t.Error("a broken pin was overwritten")
	}
}

// TestComplete holds a base branch against a ledger: a run with a receipt, one without, one that changed, one
// unreadable.
func TestComplete(t *testing.T) {
	dir := initBare(t)
	run := func(n int64) string { // what the sample's receipt binds
		r := storetest.Sample(n)
		b, err := json.Marshal(ledger.MergedRun{ID: r.Run.ID, SubmissionSHA256: r.Submission.SHA256,
			SheetSHA256: r.FlightSheet.SHA256})
		if err != nil {
			t.Fatal(err)
		}
		return "100644 " + string(b)
	}
	files := map[string]string{"README": "100644 x", "runs/old/run.json": run(50)}
	begin := commitOf(t, dir, "before the ledger\n", files)
	at := begin
	add := func(message string, changes map[string]string) string {
		for path, text := range changes {
			files[path] = text
		}
		at = commitOf(t, dir, message, files, at, begin)
		return at
	}
	first := add("Merge pull request #1 from x/y\n", map[string]string{"runs/a/run.json": run(0),
		"runs/a/submission.json": "100644 {}"})
	add("Docs (#2)\n", map[string]string{"README": "100644 y", "elsewhere/run.json": run(60)})
	r := storetest.Observed(storetest.Sample(0), ledger.Merged, "")
	s := openTest(t, dir)
	result, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0))
	if err != nil {
		t.Fatal(err)
	}
	r.RefersTo, r.ObservedBy.SHA = result.Added[0].Hash, first
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Key(r)}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base := func() Base {
		return Base{Commit: at, Until: begin, IsRun: func(p string) bool { return strings.HasPrefix(p, "runs/") },
			Read: func(tree fs.FS, name string) (run ledger.MergedRun, err error) {
				b, err := fs.ReadFile(tree, name)
				if err != nil {
					return run, err
				}
				return run, json.Unmarshal(b, &run)
			}}
	}
	for name, git := range gitReaders(t) {
		problems, err := repoAt(t, dir, git).Complete(t.Context(), head.ID, base())
		if err != nil || len(problems) != 0 {
			t.Errorf("%s: %v, %v; want none", name, problems, err)
		}
	}
	merges, err := repoAt(t, dir, "").Merges(t.Context(), base())
	if err != nil || len(merges) != 1 || merges[0].PullRequest != 1 || merges[0].SHA != first {
		t.Errorf("%+v, %v", merges, err)
	}
	for message, changes := range map[string]map[string]string{
		"Another (#7)\n":  {"runs/b/run.json": run(7)},
		"a direct push\n": {"runs/c/run.json": "100644 nonsense"},
	} {
		add(message, changes)
	}
	for name, git := range gitReaders(t) {
		problems, err := repoAt(t, dir, git).Complete(t.Context(), head.ID, base())
		if err != nil || len(problems) != 2 || problems[0].Code != ledger.CodeUnreceipted ||
			problems[1].Code != ledger.CodeUnreceipted {
			t.Errorf("%s: %v, %v; want two runs without a receipt", name, problems, err)
		}
	}
	all := base()
	all.Until = ""
	if merges, err = repoAt(t, dir, "").Merges(t.Context(), all); err != nil || len(merges) != 4 ||
		merges[0].SHA != begin {
		t.Errorf("from the first commit on: %+v, %v", merges, err)
	}
}

// TestEveryCodeHasAFixture holds that each code is shown by a ledger somebody can look at.
func TestEveryCodeHasAFixture(t *testing.T) {
	shown := map[ledger.Code]bool{
		ledger.CodeSecondRoot:   true, // a walk along parents cannot see it; ledger's own tests do
		ledger.CodeOnlineUnread: true, // a forge that does not answer; ledger's own tests do
	}
	for _, f := range readIndex(t) {
		for _, c := range append(f.Codes, f.Full...) {
			shown[c] = true
		}
	}
	for _, about := range ledger.Codes() {
		if !shown[about.Code] {
			t.Errorf("%s (%s) has no fixture", about.Code, about.Title)
		}
	}
}

func TestOpenRepo(t *testing.T) {
	git := gitReaders(t)["git"]
	if git == "" {
		t.Skip("no git binary")
	}
	work := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-C", work, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main", ".")
	run("commit", "-q", "--allow-empty", "-m", "x")
	run("worktree", "add", "-q", filepath.Join(work, "linked"))
	if err := os.MkdirAll(filepath.Join(work, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{work, filepath.Join(work, ".git"), filepath.Join(work, "a", "b"),
		filepath.Join(work, "linked")} {
		if r := repoAt(t, dir, ""); r.Dir() != filepath.Join(work, ".git") {
			t.Errorf("%s: %s", dir, r.Dir())
		}
	}
	before, err := os.ReadFile(filepath.Join(work, ".git", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	s := openTest(t, work)
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0)); err != nil {
		t.Fatal(err)
	}
	run("pack-refs", "--all")
	run("gc", "-q", "--prune=now")
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(1)); err != nil {
		t.Fatalf("after gc: %v", err)
	}
	wantVerified(t, work, 2)
	after, err := os.ReadFile(filepath.Join(work, ".git", "HEAD"))
	if err != nil || string(after) != string(before) {
		t.Errorf("HEAD was changed: %q, %v", after, err)
	}
	run("fsck", "--strict")
	run("checkout", "-q", "ledger")
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(2)); err == nil ||
		!strings.Contains(err.Error(), "checked out") {
		t.Errorf("%v; want that the branch is checked out", err)
	}
	if _, err := OpenRepo(filepath.Join(work, "none"), ""); err == nil {
		t.Error("a repository that is not there")
	}
	if _, err := OpenRepo("/", ""); err == nil {
		t.Error("a directory that is no repository")
	}
}

func TestRefuses(t *testing.T) {
	for _, bad := range []string{"", "-x", "a..b", "a.lock", "/a", "a/", "a b", "a\u202eb", "a//b", ".a", "a.", "a~1"} {
		if CheckBranch(bad) == nil {
			t.Errorf("%q is a branch", bad)
		}
		if _, err := Open(t.TempDir(), Options{Branch: bad}); bad != "" && err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
	dir := initBare(t)
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0)); err == nil ||
		!strings.Contains(err.Error(), "clock") {
		t.Errorf("%v; want that a clock is missing", err)
	}
	late := storetest.Sample(0)
	late.Approval.Review.SubmittedAt = "2031-01-01T00:00:00Z"
	if _, err := ledger.Append(t.Context(), openTest(t, dir), ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft,
		error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Key(late)}}, nil
	}); err == nil || !strings.Contains(err.Error(), "2031") {
		t.Errorf("%v; want that a sign-off in the future is refused", err)
	}
	commit := commitOf(t, dir, "x\n", map[string]string{"f": "100644 x"})
	if err := os.WriteFile(filepath.Join(dir, "refs", "heads", "ledger"), []byte(commit+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Head(t.Context()); err == nil || !strings.Contains(err.Error(), "holds no ledger") {
		t.Errorf("%v; want that the branch holds no ledger", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "refs", "heads", "ledger"), []byte("ref: refs/heads/main\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Head(t.Context()); err == nil || !strings.Contains(err.Error(), "not an object id") {
		t.Errorf("%v; want that the reference says nothing", err)
	}
}

// TestCommitter holds that a name cannot write lines of its own into a commit.
func TestCommitter(t *testing.T) {
	s := &Store{o: Options{Name: "A <x>\nparent y", Email: "a b@c>\n"}}
	r := s.newRecord(strings.Repeat("0", 40), "", 5, "m\n")
	if back, err := gitobject.ParseCommit(r.Encode()); err != nil || len(back.Parents) != 0 ||
		back.By != "A xparent y <ab@c>" || back.Time != 5 {
		t.Errorf("%+v, %v", back, err)
	}
	if r := (&Store{}).newRecord("x", "y", 0, ""); r.By != "referee <referee@localhost>" || len(r.Parents) != 1 {
		t.Errorf("%+v", r)
	}
}
