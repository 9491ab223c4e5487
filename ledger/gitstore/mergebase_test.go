package gitstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/githubtest"
)

// importCommits makes commits, each with the parents that are named by their places in the list, dated in any order,
// and gives their ids.
func importCommits(t *testing.T, dir string, random *rand.Rand, commits [][]int) []string {
	t.Helper()
	var b bytes.Buffer
	for i, parents := range commits {
		fmt.Fprintf(&b, "commit refs/heads/c%d\nmark :%d\ncommitter x <x@example.com> %d +0000\ndata 1\nx\n", i, i+1,
			1_000_000+random.IntN(1_000_000))
		for n, p := range parents {
			fmt.Fprintf(&b, "%s :%d\n", []string{"from", "merge"}[min(n, 1)], p+1)
		}
	}
	marks := filepath.Join(t.TempDir(), "marks")
	runBareGit(t, dir, b.Bytes(), "fast-import", "--quiet", "--force", "--export-marks="+marks)
	out, err := os.ReadFile(marks)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(commits))
	for line := range strings.Lines(string(out)) {
		var mark int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &id); err != nil {
			t.Fatal(err)
		}
		ids[mark-1] = id
	}
	return ids
}

// extendLine adds n commits to a history, the first of them behind a commit, and gives the newest.
func extendLine(commits [][]int, behind, n int) ([][]int, int) {
	for range n {
		commits = append(commits, []int{behind})
		behind = len(commits) - 1
	}
	return commits, behind
}

// TestMergeBase: the merge base of histories of each shape, as git merge-base has it, and "not ok" where what came does
// not prove it.
func TestMergeBase(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	deep, tip := extendLine([][]int{{}, {0}}, 0, 260)
	shortcut, far := extendLine([][]int{{}, {0}}, 1, 260) // 1 is the commit that base has by a long way only …
	shortcut = append(shortcut, []int{0, far}, []int{1})  // … and 0 the one that it has by a short one
	for name, c := range map[string]struct {
		commits    [][]int
		base, head int
		want       int // -1: not proved
	}{
		"the same":                       {[][]int{{}, {0}}, 1, 1, 1},
		"linear":                         {[][]int{{}, {0}, {1}, {2}}, 1, 3, 1},
		"head is behind base":            {[][]int{{}, {0}, {1}, {2}}, 3, 1, 1},
		"both went on":                   {[][]int{{}, {0}, {1}, {1}, {3}}, 2, 4, 1},
		"main merged into the branch":    {[][]int{{}, {0}, {0}, {2, 1}, {1}}, 4, 3, 1},
		"the branch was merged, went on": {[][]int{{}, {0}, {0}, {1, 2}, {2}}, 3, 4, 2},
		"older branch merged into main":  {[][]int{{}, {0}, {0}, {1, 2}, {1}}, 3, 4, 1},
		"three parents":                  {[][]int{{}, {0}, {0}, {0}, {1, 2, 3}, {2}}, 4, 5, 2},
		"criss-cross":                    {[][]int{{}, {0}, {0}, {1, 2}, {2, 1}}, 3, 4, -1},
		"nothing in common":              {[][]int{{}, {}, {0}, {1}}, 2, 3, -1},
		"another root merged in":         {[][]int{{}, {}, {0, 1}, {0}}, 3, 2, 0},
		"deeper than what comes":         {deep, 1, tip, -1},
		"base deeper than what comes":    {deep, tip, 1, -1},
		"a long way beside a short one":  {shortcut, len(shortcut) - 2, len(shortcut) - 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			url := serveBare(t, true)
			dir := serverDir(t, url)
			runBareGit(t, dir, nil, "config", "uploadpack.allowAnySHA1InWant", "true")
			ids := importCommits(t, dir, random, c.commits)
			w, err := OpenWork(url, Options{Cache: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			got, ok, err := w.MergeBase(t.Context(), ids[c.base], ids[c.head])
			if err != nil || ok != (c.want >= 0) || ok && got != ids[c.want] {
				t.Errorf("%q, %v, %v", got, ok, err)
			}
			if ok {
				if other := runBareGit(t, dir, nil, "merge-base", "--all", ids[c.base], ids[c.head]); other != got {
					t.Errorf("git says %q", other)
				}
			}
		})
	}
}

// TestMergeBaseServers: a server that cannot leave trees out is not asked, one that refuses is an error, and names are
// no ids.
func TestMergeBaseServers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	url := serveBare(t, false)
	ids := importCommits(t, serverDir(t, url), random, [][]int{{}, {0}})
	w, err := OpenWork(url, Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if got, ok, err := w.MergeBase(t.Context(), ids[0], ids[1]); got != "" || ok || err != nil {
		t.Errorf("%q, %v, %v", got, ok, err)
	}
	if _, ok, err := w.MergeBase(t.Context(), "main", ids[1]); ok || err == nil {
		t.Errorf("a name was taken for an id: %v", err)
	}

	s := githubtest.New(t)
	fork := s.Ref("refs/heads/main")
	head := s.CommitFork("mallory/work", "feature", githubtest.Change{Parent: fork, Files: map[string]string{"a": "1"},
		Author: "mallory"})
	base := s.Commit("main", githubtest.Change{Files: map[string]string{"b": "1"}})
	if w, err = OpenWork(s.CloneURL(), Options{Password: s.Token, Cache: t.TempDir(), MaxWait: -1}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if got, ok, err := w.MergeBase(t.Context(), base, head); got != fork || !ok || err != nil {
		t.Errorf("a fork's head: %q, %v, %v", got, ok, err)
	}
	if got, ok, err := w.MergeBase(t.Context(), base, strings.Repeat("1", 40)); got != "" || ok || err == nil {
		t.Errorf("a commit that does not exist: %q, %v, %v", got, ok, err)
	}
}

// TestMergeBaseProof holds the proof to git merge-base over tangled histories of which all or a part came: what is ok
// is git's only answer, and where all came and git has only one answer, it is ok.
func TestMergeBaseProof(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	proved, unproved := 0, 0
	for range 6 {
		dir := initBare(t)
		commits := [][]int{{}, {}}
		for i := 2; i < 60; i++ {
			parents := []int{max(0, i-1-random.IntN(6))}
			for range random.IntN(3) {
				if p := max(0, i-1-random.IntN(12)); p != parents[0] && p != parents[len(parents)-1] {
					parents = append(parents, p)
				}
			}
			commits = append(commits, parents)
		}
		ids := importCommits(t, dir, random, commits)
		for range 15 {
			base, head := random.IntN(len(ids)), random.IntN(len(ids))
			all := gitMergeBases(dir, ids[base], ids[head])
			for _, depth := range []int{2, 3, 5, 8, 100} {
				l := lineage{}
				for _, tip := range []int{base, head} {
					deepenTo(l, commits, ids, tip, depth)
				}
				got, ok := l.mergeBase(ids[base], ids[head])
				if ok && (len(all) != 1 || all[0] != got) || !ok && depth == 100 && len(all) == 1 {
					t.Fatalf("%d and %d of %v, %d deep: %q, %v; git says %q", base, head, commits, depth, got, ok, all)
				}
				if ok && depth < 100 {
					proved++
				} else if depth < 100 && len(all) == 1 {
					unproved++
				}
			}
		}
	}
	if proved < 50 || unproved < 50 {
		t.Errorf("%d proved, %d not: the histories are too much alike", proved, unproved)
	}
}

// gitMergeBases are all best common ancestors, as git has them.
func gitMergeBases(dir, a, b string) []string {
	// it exits 1 where there is none
	out, _ := exec.Command("git", "--git-dir="+dir, "merge-base", "--all", a, b).Output()
	return strings.Fields(string(out))
}

// deepenTo adds the commits that are at most depth-1 steps behind a tip.
func deepenTo(l lineage, commits [][]int, ids []string, tip, depth int) {
	row := map[int]bool{tip: true}
	for range depth {
		next := map[int]bool{}
		for i := range row {
			l[ids[i]] = nil
			for _, p := range commits[i] {
				l[ids[i]] = append(l[ids[i]], ids[p])
				next[p] = true
			}
		}
		row = next
	}
}

// TestMergeBaseOfRepo: of what a repository holds, the merge base is git's only answer, however deep; and a shallow
// history proves nothing.
func TestMergeBaseOfRepo(t *testing.T) {
	deep, tip := extendLine([][]int{{}, {0}}, 0, 260)
	for name, c := range map[string]struct {
		commits          [][]int
		base, head, want int
	}{
		"the same":            {[][]int{{}, {0}}, 1, 1, 1},
		"both went on":        {[][]int{{}, {0}, {1}, {1}, {3}}, 2, 4, 1},
		"main merged in":      {[][]int{{}, {0}, {0}, {2, 1}, {1}}, 4, 3, 1},
		"criss-cross":         {[][]int{{}, {0}, {0}, {1, 2}, {2, 1}}, 3, 4, -1},
		"nothing in common":   {[][]int{{}, {}, {0}, {1}}, 2, 3, -1},
		"a long way":          {deep, 1, tip, 0},
		"a long way backward": {deep, tip, 1, 0},
	} {
		dir := filepath.Join(t.TempDir(), "r.git")
		runBareGit(t, ".", nil, "init", "-q", "--bare", dir)
		ids := importCommits(t, dir, rand.New(rand.NewPCG(1, 2)), c.commits)
		r, err := OpenRepo(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.want >= 0 {
			want = ids[c.want]
		}
		if id, ok, err := r.MergeBase(t.Context(), ids[c.base], ids[c.head]); err != nil || ok != (want != "") || ok &&
			id != want {
			t.Errorf("%s: %s, %v, %v; want %s", name, id, ok, err, want)
		}
		if id, ok, err := r.MergeBase(t.Context(), ids[c.base], strings.Repeat("1", 40)); ok || err != nil {
			t.Errorf("%s: %s with a commit that is not there, %v", name, id, err)
		}
	}
}
