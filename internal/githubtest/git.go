package githubtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/defendableos/referee/internal/gitobject"
)

// repo is the bare repository. What is plain is done in this process (objects.go, names.go, history.go, trees.go): a
// test asks some hundred times, and a process takes longer than the rest of the test. Everything else, and all that is
// refused, is git's own plumbing, named …ByGit; TestRepoIsGits holds the one to the other.
type repo struct {
	dir     string
	temps   *atomic.Int64
	objects *objects
	diffs   map[compared][]change // that git was asked for
}

// gitConfig is what GitHub's servers allow: filters, any object as a want, pushes. What comes in is kept as loose
// objects, which this package reads.
const gitConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	logAllRefUpdates = false
	fsync = none
[http]
	receivepack = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[transfer]
	hideRefs = refs/test
	unpackLimit = 1000000
[fastimport]
	unpackLimit = 1000000
[receive]
	autogc = false
[gc]
	auto = 0
`

// newRepo makes what `git init --bare` makes.
func newRepo(dir string) (*repo, error) {
	r := &repo{dir: dir, temps: new(atomic.Int64), diffs: map[compared][]change{},
		objects: newObjects(dir)}
	var err error
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o755))
	}
	return r, errors.Join(err, os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "config"), []byte(gitConfig), 0o644))
}

// gitTools is where git keeps the programs that are part of it.
var gitTools = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	return strings.TrimSpace(string(out)), err
})

// gitEnvironment leaves nothing of the machine's own settings in.
func gitEnvironment(extra ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "TZ=UTC"}, extra...)
}

// runGit runs a command in the repository and gives what it prints, without the last line end.
func (r *repo) runGit(stdin []byte, args ...string) (string, error) {
	return r.gitEnv(nil, stdin, args...)
}

func (r *repo) gitEnv(env []string, stdin []byte, args ...string) (string, error) {
	if err := r.objects.flushPending(); err != nil {
		return "", err
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, gitEnvironment(env...), bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

func (r *repo) resolveByGit(name string) string {
	id, err := r.runGit(nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if err != nil {
		return ""
	}
	return id
}

// objectKind gives an object's type, "" if there is no such object.
func (r *repo) objectKind(id string) string {
	if !isID(id) {
		return ""
	}
	if object, known := r.objects.getObject(id); known {
		return string(object.Kind)
	}
	if _, sure := r.objects.hasObject(id); sure {
		return ""
	}
	kind, err := r.runGit(nil, "cat-file", "-t", id)
	if err != nil {
		return ""
	}
	return kind
}

// objectKinds gives the types of several objects.
func (r *repo) objectKinds(ids []string) map[string]string {
	kinds := map[string]string{}
	for _, id := range ids {
		if kind := r.objectKind(id); kind != "" {
			kinds[id] = kind
		}
	}
	return kinds
}

func isID(s string) bool { return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "" }

func (r *repo) readBlob(id string) ([]byte, error) {
	if object, known := r.objects.ofKind(id, gitobject.Blob); known {
		return object.Data, nil
	}
	out, err := r.runGit(nil, "cat-file", "blob", id+"^{}")
	if err != nil {
		return nil, err
	}
	size, err := r.runGit(nil, "cat-file", "-s", id)
	if err != nil {
		return nil, err
	}
	if fmt.Sprint(len(out)) != size { // the line end that git() took was the blob's own
		out += "\n"
	}
	return []byte(out), nil
}

// writeCommit stores a commit. What is not plainly one git looks at.
func (r *repo) writeCommit(data []byte) (string, error) {
	id := gitobject.ID(gitobject.Commit, data)
	try := &objects{held: map[string]gitobject.Object{id: {Kind: gitobject.Commit, ID: id, Data: data}}}
	if _, plain := try.readCommit(id); plain {
		return r.objects.putObject(gitobject.Commit, data)
	}
	return r.runGit(data, "hash-object", "-t", "commit", "-w", "--stdin")
}

// writeBlob stores a blob.
func (r *repo) writeBlob(data []byte) (string, error) {
	return r.objects.putObject(gitobject.Blob, data)
}

// entry is one line of a tree.
type entry struct {
	mode, kind, id, path string
	size                 int64
}

func (r *repo) listByGit(tree string, all bool) ([]entry, error) {
	args := []string{"ls-tree", "-z", "-l"}
	if all {
		args = append(args, "-r", "-t")
	}
	out, err := r.runGit(nil, append(args, tree)...)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if line == "" {
			continue
		}
		head, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		e := entry{mode: f[0], kind: f[1], id: f[2], path: path}
		_, _ = fmt.Sscan(f[3], &e.size) // "-" for what is no blob
		entries = append(entries, e)
	}
	return entries, nil
}

func (r *repo) overlayByGit(base string, entries []entry) (string, error) {
	index := filepath.Join(r.dir, fmt.Sprintf("index-%d", r.temps.Add(1)))
	defer func() { _ = os.Remove(index) }()
	env := []string{"GIT_INDEX_FILE=" + index}
	if base != "" {
		if _, err := r.gitEnv(env, nil, "read-tree", base); err != nil {
			return "", err
		}
	}
	var lines bytes.Buffer
	for _, e := range entries {
		if e.id == "" {
			fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", 40), e.path)
		} else {
			fmt.Fprintf(&lines, "%s %s\t%s\x00", e.mode, e.id, e.path)
		}
	}
	if _, err := r.gitEnv(env, lines.Bytes(), "update-index", "--add", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	return r.gitEnv(env, nil, "write-tree")
}

// errMoved says that a reference did not hold what was expected.
var errMoved = errors.New("the reference has moved")

const noID = "0000000000000000000000000000000000000000"

// person is "name <email>".
type person struct{ name, email string }

// commit is what a commit object says.
type commit struct {
	sha, tree         string
	parents           []string
	author, committer person
	authored, at      string // RFC 3339
	message           string
	seconds           int64 // of at; only where this package read the commit
}

const commitFormat = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00"

// logByGit reads commits in the order that git rev-list gives for the arguments.
func (r *repo) logByGit(args ...string) ([]commit, error) {
	out, err := r.runGit(nil, append([]string{"log", "--format=" + commitFormat + "%x01"}, args...)...)
	if err != nil {
		return nil, err
	}
	var commits []commit
	for record := range strings.SplitSeq(out, "\x01") {
		f := strings.Split(strings.TrimPrefix(record, "\n"), "\x00")
		if len(f) < 10 {
			continue
		}
		commits = append(commits, commit{sha: f[0], tree: f[1], parents: strings.Fields(f[2]),
			author: person{f[3], f[4]}, authored: f[5],
			committer: person{f[6], f[7]}, at: f[8], message: strings.TrimSuffix(f[9], "\n")})
	}
	return commits, nil
}

func (r *repo) commitByGit(id string) (commit, error) {
	all, err := r.logByGit("-1", id)
	if err != nil || len(all) == 0 {
		return commit{}, fmt.Errorf("no commit %s: %w", id, err)
	}
	return all[0], nil
}

// change is a file that differs between two commits.
type change struct{ status, path, previous, id string }

func (r *repo) changesByGit(base, head string) ([]change, error) {
	out, err := r.runGit(nil, "diff", "--raw", "-z", "-M", "--no-abbrev", "--no-ext-diff", base+"..."+head)
	if err != nil {
		return nil, err
	}
	words := strings.Split(out, "\x00")
	names := map[byte]string{'A': "added", 'M': "modified", 'D': "removed", 'R': "renamed", 'C': "copied",
		'T': "changed"}
	var all []change
	for i := 0; i+1 < len(words); i += 2 {
		f := strings.Fields(words[i])
		c := change{status: names[f[4][0]], path: words[i+1], id: f[3]}
		if c.status == "renamed" || c.status == "copied" {
			c.previous, c.path = words[i+1], words[i+2]
			i++
		}
		if c.status == "removed" {
			c.id = f[2]
		}
		all = append(all, c)
	}
	return all, nil
}

func (r *repo) linesByGit(base, head, path string) ([][2]int, error) {
	out, err := r.runGit(nil, "diff", "-U3", "--no-ext-diff", base+"..."+head, "--", path)
	if err != nil {
		return nil, err
	}
	var spans [][2]int
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "@@ ") {
			continue
		}
		at := slices.IndexFunc(strings.Fields(line), func(s string) bool { return s[0] == '+' })
		start, count := 0, 1
		_, _ = fmt.Sscanf(strings.Fields(line)[at], "+%d,%d", &start, &count) // "+3" leaves the count at 1
		spans = append(spans, [2]int{start, start + count - 1})
	}
	return spans, nil
}
