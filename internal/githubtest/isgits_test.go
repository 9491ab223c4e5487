package githubtest

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
)

// tangle is a repository with a history that was drawn by lot: branches, merges, files that turn into folders and back,
// commits of the same second.
type tangle struct {
	*Server
	*testing.T
	rng     *rand.Rand
	commits []string
}

// tangledPaths are such that each is in the way of another.
var tangledPaths = []string{"a", "a.b", "a/b", "a/c", "a-b", "d/e/f", "d/e", "d/g.txt", ".gitattributes",
	"runs/x/run.json"}

func newTangle(t *testing.T, seed uint64, n int) *tangle {
	s := New(t)
	g := &tangle{s, t, rand.New(rand.NewPCG(seed, 1)), []string{s.Ref("refs/heads/main")}}
	for range n {
		g.grow()
	}
	return g
}

// pick is a commit, most often one of the newest: so histories get long, and cross.
func (g *tangle) pick() string {
	from := 0
	if g.rng.IntN(3) > 0 {
		from = max(0, len(g.commits)-4)
	}
	return g.commits[from+g.rng.IntN(len(g.commits)-from)]
}

// text is one of few contents, so that some files are each other's.
func (g *tangle) text() string {
	n := g.rng.IntN(12)
	return strings.Repeat(fmt.Sprintf("line %d\n", n), n) + map[bool]string{true: "end", false: ""}[n%3 == 1]
}

// change is a commit by lot.
func (g *tangle) change() Change {
	c := Change{Files: map[string]string{}, Modes: map[string]string{}, Author: "agent", Parent: g.pick(),
		Message: fmt.Sprintf("Change %d\n", g.rng.IntN(1000))}
	for range 1 + g.rng.IntN(3) {
		path := tangledPaths[g.rng.IntN(len(tangledPaths))]
		switch g.rng.IntN(6) {
		case 0:
			c.Delete = append(c.Delete, path)
		case 1:
			c.Files[path], c.Modes[path] = "a/b", "120000"
		case 2:
			c.Files[path], c.Modes[path] = strings.Repeat("1", 40), "160000"
		case 3:
			c.Files[path], c.Modes[path] = g.text(), "100755"
		default:
			c.Files[path] = g.text()
		}
	}
	return c
}

// grow adds a commit, or a merge that takes the tree of one side, and holds what is made to what git makes.
func (g *tangle) grow() {
	g.mu.Lock()
	defer g.mu.Unlock()
	who, other := g.personNamed("agent"), g.personNamed("rosa")
	at := g.now.Unix() + int64(g.rng.IntN(5))
	g.now = g.now.Add(time.Duration(g.rng.IntN(3)) * time.Second)
	if g.rng.IntN(4) == 0 {
		parents := []string{g.pick(), g.pick()}
		id, err := g.git.writeCommit(commitBytes(g.git.resolveName(parents[0]+"^{tree}"), parents, who, other, at, signature,
			"Merge\n"))
		if err != nil {
			g.Fatal(err)
		}
		g.commits = append(g.commits, id)
		return
	}
	c := g.change()
	id, done := g.git.commitFiles(c.Parent, c, who, other, at)
	if want := g.importCommit(g.nextID(), c.Parent, c, who, other, at); !done || id != want {
		g.Fatalf("the commit is %q, git makes %s of %+v", id, want, c)
	}
	g.commits = append(g.commits, id)
}

// same fails where what is known here differs from what git says. An answer that is not known is git's in any case.
func (g *tangle) same(what string, known bool, got, want any, err error) (compared int) {
	g.Helper()
	if !known {
		return 0
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		g.Errorf("%s: %+v, git says %+v (%v)", what, got, want, err)
	}
	return 1
}

// plain leaves out of commits what git's words do not say, and spells times in one way.
func plainCommits(all []commit) (out []commit) {
	for _, c := range all {
		for _, at := range []*string{&c.at, &c.authored} {
			when, _ := time.Parse(time.RFC3339, *at)
			*at = when.UTC().Format(time.RFC3339)
		}
		c.seconds = 0
		c.parents = slices.Clip(append([]string{}, c.parents...))
		out = append(out, c)
	}
	return out
}

// TestRepoIsGits: what is done without git is what git does, on histories drawn by lot, more of them with
// REFEREE_CI=1. Each answer that is not known here is asked of git; so that this proves something, most have to be
// known.
func TestRepoIsGits(t *testing.T) {
	t.Parallel()
	seeds := uint64(1)
	if os.Getenv("REFEREE_CI") == "1" {
		seeds = 12
	}
	counts := map[string]int{}
	for seed := range seeds {
		g := newTangle(t, seed, 25)
		for range 12 {
			g.compareCommits(counts, g.pick(), g.pick())
		}
	}
	t.Logf("answers that are known without git: %v", counts)
	for _, what := range []string{"resolve", "ancestor", "log", "commit", "list", "overlay"} {
		if counts[what] < 12 {
			t.Errorf("%s: %d answers are known without git, too few", what, counts[what])
		}
	}
	for _, what := range []string{"merge base", "changes", "lines", "merge"} {
		if counts[what] < 3 {
			t.Errorf("%s: %d answers are known without git, too few", what, counts[what])
		}
	}
}

func (g *tangle) compareCommits(counts map[string]int, a, b string) {
	r, o := g.git, g.git.objects
	if err := r.putRef("refs/heads/x", a); err != nil || r.resolveByGit("refs/heads/x") != a {
		g.Fatal(err)
	}
	for _, name := range []string{a, "refs/heads/x", "refs/heads/x^{commit}", a + "^{tree}", a + "^1", a + ":a",
		a + ":d/e",
		a + ":a/b", a + ":", "refs/heads/none", "refs/heads/none^{commit}", strings.Repeat("7", 40) + "^{tree}"} {
		got, sure := o.resolveName(name)
		counts["resolve"] += g.same(name, sure, got, r.resolveByGit(name), nil)
	}
	_, err := r.runGit(nil, "merge-base", "--is-ancestor", a, b)
	all, known := o.ancestorsOf(b)
	counts["ancestor"] += g.same("ancestor", known, all[a], err == nil, nil)
	bases, known := o.mergeBases(a, b)
	want, err := r.runGit(nil, "merge-base", "--all", a, b)
	slices.Sort(bases)
	counts["merge base"] += g.same("merge bases", known && len(bases) == 1, bases, strings.Fields(want), err)
	for _, args := range [][]string{{a + ".." + b}, {"--first-parent", a + ".." + b}} {
		list, known := o.commitsBetween(a, b, len(args) == 2)
		byGit, err := r.logByGit(args...)
		counts["log"] += g.same(fmt.Sprint(args), known, plainCommits(list), plainCommits(byGit), err)
	}
	c, known := o.readCommit(a)
	byGit, err := r.commitByGit(a)
	counts["commit"] += g.same("commit", known, plainCommits([]commit{c}), plainCommits([]commit{byGit}), err)
	g.compareTrees(counts, a, b)
}

func (g *tangle) compareTrees(counts map[string]int, a, b string) {
	r, o := g.git, g.git.objects
	for _, whole := range []bool{false, true} {
		tree, _ := o.resolveName(a + "^{tree}")
		list, known := o.listTree(tree, whole, "")
		byGit, err := r.listByGit(a, whole)
		counts["list"] += g.same("list", known, list, byGit, err)
	}
	all, known := o.changesOf(a, b)
	byGit, err := r.changesByGit(a, b)
	counts["changes"] += g.same("changes "+a+"..."+b, known, all, byGit, err)
	for _, path := range tangledPaths {
		spans, known := o.addedLines(a, b, path)
		want, err := r.linesByGit(a, b, path)
		counts["lines"] += g.same("lines of "+path, known, spans, want, err)
	}
	tree, known := o.mergeTrees(a, b)
	want, err := r.runGit(nil, "merge-tree", "--write-tree", a, b)
	counts["merge"] += g.same("merge "+a+" "+b, known, tree, want, err)
	blob, err := r.writeBlob([]byte(g.text()))
	if err != nil {
		g.Fatal(err)
	}
	path, gone := tangledPaths[g.rng.IntN(len(tangledPaths))], tangledPaths[g.rng.IntN(len(tangledPaths))]
	entries := []entry{{mode: "100644", id: blob, path: path}, {path: gone}}
	base, _ := o.resolveName(a + "^{tree}")
	tree, known = o.overlayTree(base, entries)
	want, err = r.overlayByGit(base, entries)
	counts["overlay"] += g.same(fmt.Sprintf("overlay %+v", entries), known, tree, want, err)
}

// TestUnplainIsGits: names and people of which git has an opinion are given to git.
func TestUnplainIsGits(t *testing.T) {
	for _, path := range []string{"", "a//b", "/a", "a/", "../a", "a/.", ".git", ".GIT/config", "a/.git", ".gitmodules",
		"GIT~1",
		"a\\b", "a:b", "a\"b", "ä", "a\nb"} {
		if isPlainPath(path) {
			t.Errorf("the path %q is plain", path)
		}
	}
	for _, ref := range []string{"main", "refs/heads", "refs/heads/", "refs/heads/a..b", "refs/heads/a.lock",
		"refs/heads/.a", "refs/heads/a.", "refs/heads/a b", "refs/heads/a~1", "refs/heads/@{", "refs/../HEAD",
		"refs/heads/a.lock/b", "refs//heads/a"} {
		if isPlainRef(ref) {
			t.Errorf("the reference %q is plain", ref)
		}
	}
	for _, ident := range []string{" a <b> 1 +0000", "a  <b> 1 +0000", "<b> 1 +0000", "a <b>c> 1 +0000", "a <b> -1 +0000",
		"a <b> 1", "a <b> 1 0000", "a <b c> 1 +0000"} {
		if _, _, plain := parseIdent(ident); plain {
			t.Errorf("the person %q is plain", ident)
		}
	}
	s := New(t)
	if _, err := s.git.overlayTree("", []entry{{mode: "100644", id: strings.Repeat("7", 40), path: "a"}}); err == nil {
		t.Error("a tree of an object that is not there")
	}
	if err := s.git.setRef("refs/heads/a", strings.Repeat("7", 40), ""); err == nil {
		t.Error("a reference to an object that is not there")
	}
	if err := s.git.setRef("refs/heads/main", s.Ref("refs/heads/main"), ""); err == nil {
		t.Error("a reference that is there was made anew")
	}
	if err := s.git.setRef("refs/heads/main/sub", s.Ref("refs/heads/main"), ""); err == nil {
		t.Error("a reference below another")
	}
	if _, err := s.git.runGit(nil, "fsck", "--strict"); err != nil {
		t.Error(err)
	}
}

// answered is what a request of git's protocol is answered with, and whether without git.
func (g *tangle) answered(method, path, protocol, body string, byGit bool) (string, http.Header, bool) {
	g.Helper()
	r := httptest.NewRequestWithContext(g.Context(), method, "/"+g.Name+".git/"+path, strings.NewReader(body))
	r.Header.Set("Git-Protocol", protocol)
	if protocol == "" {
		r.Header.Del("Git-Protocol")
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	}
	w := httptest.NewRecorder()
	done := byGit
	if byGit {
		g.toBackend(w, r, g.backend)
	} else {
		done = g.answerUpload(w, r)
	}
	return w.Body.String(), w.Header(), done
}

// request is a request of lines, in packets.
func request(lines ...string) string {
	var b bytes.Buffer
	for _, l := range lines {
		switch l {
		case flush:
			b.WriteString("0000")
		case delim:
			b.WriteString("0001")
		default:
			writePacketLine(&b, l+"\n")
		}
	}
	return b.String()
}

// told is an answer: its lines, sorted where their order means nothing, and the ids of what its pack holds.
func told(t *testing.T, answer string) (lines, ids []string) {
	t.Helper()
	var pack bytes.Buffer
	r := bufio.NewReader(strings.NewReader(answer))
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(r, head); err == io.EOF {
			break
		}
		var n int
		if _, err := fmt.Sscanf(string(head), "%04x", &n); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		line := make([]byte, max(n, 4)-4)
		if _, err := io.ReadFull(r, line); err != nil {
			t.Fatal(err)
		}
		switch {
		case n < 4:
			lines = append(lines, fmt.Sprint("packet ", n))
		case line[0] == 1:
			pack.Write(line[1:])
		case line[0] != 2:
			lines = append(lines, strings.TrimSuffix(string(line), "\n"))
		}
	}
	for i, l := range lines { // the capabilities, without the version of git
		words := strings.Fields(strings.ReplaceAll(l, "\x00", " "))
		words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "agent=") })
		if slices.Sort(words); strings.Contains(l, " HEAD\x00") {
			lines[i] = strings.Join(words, " ")
		}
	}
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return l == "object-info" || strings.HasPrefix(l, "agent=")
	})
	if pack.Len() == 0 {
		return lines, nil
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		if strings.HasPrefix(a, "shallow ") && strings.HasPrefix(b, "shallow ") {
			return cmp.Compare(a, b)
		}
		return 0
	})
	objects, err := gitobject.ReadPack(&pack, gitobject.Limits{Objects: 9999, Size: 1 << 20, Total: 1 << 24},
		func(string) (gitobject.Object, bool) { return gitobject.Object{}, false })
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		ids = append(ids, o.ID)
	}
	slices.Sort(ids)
	return lines, ids
}

// TestUploadIsGits: what a fetch is answered with is what git's own backend answers: the same references, the same
// objects, the same ends of the history.
func TestUploadIsGits(t *testing.T) {
	t.Parallel()
	g := newTangle(t, 7, 30)
	for i, ref := range []string{"refs/heads/main", "refs/heads/work", "refs/pull/1/head", "refs/test/made/1"} {
		g.SetRef(ref, g.commits[len(g.commits)-1-i])
	}
	v2 := func(args ...string) string {
		return request(slices.Concat([]string{"command=fetch", "object-format=sha1", delim, "no-progress"}, args,
			[]string{"done", flush})...)
	}
	for range 3 {
		id := "want " + g.pick()
		tree := "want " + g.git.resolveName(strings.TrimPrefix(id, "want ")+"^{tree}")
		for _, c := range []struct{ method, path, protocol, body string }{
			{"GET", "info/refs?service=git-upload-pack", "version=2", ""},
			{"GET", "info/refs?service=git-upload-pack", "", ""},
			{"POST", "git-upload-pack", "version=2", request("command=ls-refs", "object-format=sha1", delim,
				"ref-prefix refs/heads/w", "ref-prefix refs/pull/", "ref-prefix refs/test/", flush)},
			{"POST", "git-upload-pack", "version=2", v2("deepen 1", "filter blob:limit=40", id)},
			{"POST", "git-upload-pack", "version=2", v2("deepen 1", "filter tree:0", id)},
			{"POST", "git-upload-pack", "version=2", v2("deepen 1", "filter tree:0", tree)},
			{"POST", "git-upload-pack", "version=2", v2("deepen 3", "filter blob:limit=1000", id)},
			{"POST", "git-upload-pack", "version=2", v2("filter blob:limit=1000", id, "want "+g.pick())},
			{"POST", "git-upload-pack", "", request(id+" multi_ack_detailed side-band-64k", flush, "done")},
			{"POST", "git-upload-pack", "", request(id+" side-band-64k", "deepen 2", flush, "done")},
		} {
			got, header, done := g.answered(c.method, c.path, c.protocol, c.body, false)
			want, gitsHeader, _ := g.answered(c.method, c.path, c.protocol, c.body, true)
			lines, ids := told(t, got)
			gitsLines, gitsIDs := told(t, want)
			if !done || !slices.Equal(lines, gitsLines) || !slices.Equal(ids, gitsIDs) || len(lines) == 0 ||
				header.Get("Content-Type") != gitsHeader.Get("Content-Type") {
				t.Errorf("%s %s %q (answered %v):\n%q %v\ngit says\n%q %v", c.method, c.path, c.body, done, lines, ids,
					gitsLines, gitsIDs)
			}
		}
	}
}

// TestUploadLeavesToGit: what is not one of gitstore's questions is git's, with the request as it was.
func TestUploadLeavesToGit(t *testing.T) {
	g := newTangle(t, 8, 3)
	id := g.pick()
	for _, body := range []string{
		request("command=fetch", "object-format=sha1", delim, "want "+strings.Repeat("7", 40), "done", flush),
		request("command=fetch", "object-format=sha1", delim, "want "+id, "have "+id, "done", flush),
		request("command=fetch", "object-format=sha1", delim, "want "+id, flush),
		request("command=fetch", "object-format=sha1", delim, "want "+id, "ofs-delta", "done", flush),
		request("command=fetch", "object-format=sha1", delim, "want "+id, "filter sparse:oid=x", "done", flush),
		request("command=ls-refs", "object-format=sha1", delim, "peel", "ref-prefix refs/heads/", flush),
		request("command=object-info", "object-format=sha1", delim, "size", flush),
		"00zz", "0009don",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/"+g.Name+".git/git-upload-pack",
			strings.NewReader(body))
		r.Header.Set("Git-Protocol", "version=2")
		w := httptest.NewRecorder()
		left, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(left))
		if g.answerUpload(w, r) || w.Body.Len() > 0 {
			t.Errorf("%q is answered: %q", body, w.Body)
		}
		if left, err := io.ReadAll(r.Body); err != nil || string(left) != body {
			t.Errorf("%q: left for git is %q (%v)", body, left, err)
		}
	}
	g.OverGit()
	if _, _, done := g.answered("GET", "info/refs?service=git-upload-pack", "version=2", "", false); done {
		t.Error("git was not asked")
	}
}
