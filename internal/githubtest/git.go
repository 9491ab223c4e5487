package githubtest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// repo is the bare repository, worked on with git's own plumbing.
type repo struct {
	dir   string
	temps *atomic.Int64
}

// gitConfig is what GitHub's servers allow: filters, any object as a want, pushes.
var gitConfig = [][]string{
	{"http.receivepack", "true"}, {"uploadpack.allowFilter", "true"}, {"uploadpack.allowAnySHA1InWant", "true"},
	{"transfer.hideRefs", "refs/test"}, {"gc.auto", "0"}, {"receive.autogc", "false"},
	{"core.logAllRefUpdates", "false"}, {"core.fsync", "none"},
}

func newRepo(dir string) (*repo, error) {
	r := &repo{dir: dir, temps: new(atomic.Int64)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := r.git(nil, "init", "--quiet", "--bare", "--initial-branch=main", "."); err != nil {
		return nil, err
	}
	for _, kv := range gitConfig {
		if _, err := r.git(nil, "config", kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// environment leaves nothing of the machine's own settings in.
func environment(extra ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "TZ=UTC"}, extra...)
}

// git runs a command in the repository and gives what it prints, without the last line end.
func (r *repo) git(stdin []byte, args ...string) (string, error) {
	return r.gitEnv(nil, stdin, args...)
}

func (r *repo) gitEnv(env []string, stdin []byte, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, environment(env...), bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// resolve gives the object that a name stands for, "" if there is none.
func (r *repo) resolve(name string) string {
	id, err := r.git(nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if err != nil {
		return ""
	}
	return id
}

// kind gives an object's type, "" if there is no such object.
func (r *repo) kind(id string) string {
	if !isID(id) {
		return ""
	}
	kind, err := r.git(nil, "cat-file", "-t", id)
	if err != nil {
		return ""
	}
	return kind
}

// kinds gives the types of several objects, in one process.
func (r *repo) kinds(ids []string) (map[string]string, error) {
	out, err := r.git([]byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	kinds := map[string]string{}
	for line := range strings.Lines(out) {
		if id, kind, ok := strings.Cut(strings.TrimSpace(line), " "); ok && kind != "missing" {
			kinds[id] = kind
		}
	}
	return kinds, nil
}

func isID(s string) bool { return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "" }

func (r *repo) blob(id string) ([]byte, error) {
	out, err := r.git(nil, "cat-file", "blob", id+"^{}")
	if err != nil {
		return nil, err
	}
	size, err := r.git(nil, "cat-file", "-s", id)
	if err != nil {
		return nil, err
	}
	if fmt.Sprint(len(out)) != size { // the line end that git() took was the blob's own
		out += "\n"
	}
	return []byte(out), nil
}

// write stores an object and lets git look at it.
func (r *repo) write(kind string, data []byte) (string, error) {
	return r.git(data, "hash-object", "-t", kind, "-w", "--stdin")
}

// writeBlob stores a blob, which git has nothing to look at in, as a loose object: without a process for each of many.
func (r *repo) writeBlob(data []byte) (string, error) {
	var plain, packed bytes.Buffer
	fmt.Fprintf(&plain, "blob %d\x00", len(data))
	plain.Write(data)
	id := fmt.Sprintf("%x", sha1.Sum(plain.Bytes()))
	to := filepath.Join(r.dir, "objects", id[:2], id[2:])
	if _, err := os.Stat(to); err == nil {
		return id, nil
	}
	z := zlib.NewWriter(&packed)
	_, err := z.Write(plain.Bytes())
	temp := fmt.Sprintf("%s.%d", to, r.temps.Add(1))
	err = errors.Join(err, z.Close(), os.MkdirAll(filepath.Dir(to), 0o755))
	if err == nil {
		err = errors.Join(os.WriteFile(temp, packed.Bytes(), 0o444), os.Rename(temp, to))
	}
	return id, err
}

// entry is one line of a tree.
type entry struct {
	mode, kind, id, path string
	size                 int64
}

// list reads a tree, one level or all of it.
func (r *repo) list(tree string, all bool) ([]entry, error) {
	args := []string{"ls-tree", "-z", "-l"}
	if all {
		args = append(args, "-r", "-t")
	}
	out, err := r.git(nil, append(args, tree)...)
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

// overlay makes a tree of base and the entries; an entry without an id takes its path away.
func (r *repo) overlay(base string, entries []entry) (string, error) {
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

// ancestor reports whether a commit is another one, or comes before it.
func (r *repo) ancestor(a, b string) bool {
	_, err := r.git(nil, "merge-base", "--is-ancestor", a, b)
	return err == nil
}

// errMoved says that a reference did not hold what was expected.
var errMoved = errors.New("the reference has moved")

const noID = "0000000000000000000000000000000000000000"

// setRef moves a reference from one commit to another, or makes it where old is "".
func (r *repo) setRef(ref, id, old string) error {
	if old == "" {
		old = noID
	}
	if _, err := r.git(nil, "update-ref", ref, id, old); err != nil {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return nil
}

// person is "name <email>".
type person struct{ name, email string }

// commit is what a commit object says.
type commit struct {
	sha, tree         string
	parents           []string
	author, committer person
	authored, at      string // RFC 3339
	message           string
}

const commitFormat = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00"

// commits reads commits in the order that git rev-list gives for the arguments.
func (r *repo) commits(args ...string) ([]commit, error) {
	out, err := r.git(nil, append([]string{"log", "--format=" + commitFormat + "%x01"}, args...)...)
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

func (r *repo) commit(id string) (commit, error) {
	all, err := r.commits("-1", id)
	if err != nil || len(all) == 0 {
		return commit{}, fmt.Errorf("no commit %s: %w", id, err)
	}
	return all[0], nil
}

// change is a file that differs between two commits.
type change struct{ status, path, previous, id string }

// changes compares a head with its merge base on base, as a pull request does.
func (r *repo) changes(base, head string) ([]change, error) {
	out, err := r.git(nil, "diff", "--raw", "-z", "-M", "--no-abbrev", "--no-ext-diff", base+"..."+head)
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

// lines are the lines of a file's new side that the diff of a pull request shows.
func (r *repo) lines(base, head, path string) ([][2]int, error) {
	out, err := r.git(nil, "diff", "-U3", "--no-ext-diff", base+"..."+head, "--", path)
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
