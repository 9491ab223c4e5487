package gitstore

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/gitobject"
)

// Repo is a repository on this machine, read and never changed. Nothing in it is trusted: neither its configuration nor
// its hooks act, and objects are held to their ids.
type Repo struct {
	dir     string // holds objects and refs
	work    bool   // it has a work tree
	all     bulk
	objects *objects

	lib   sync.Once
	small *objects // set by library
}

// OpenRepo opens the repository that dir is, or that it lies in. git is the path of a git binary; without one, reading
// is slower and has the same result (TestFixtures). References in the reftable format are refused by name: the files
// that we read instead would be empty, and a ledger would seem not to exist.
func OpenRepo(dir, git string) (*Repo, error) {
	found, err := findGitDir(dir)
	if err != nil {
		return nil, err
	}
	r := &Repo{dir: found, work: filepath.Base(found) == ".git"}
	if _, err := os.Stat(filepath.Join(found, "reftable")); err == nil {
		return nil, fmt.Errorf("%s keeps its references in the reftable format, which this version does not read",
			found)
	}
	if git != "" {
		cat := &gitBinary{git: git, objects: filepath.Join(found, "objects")}
		r.all, r.objects = cat, newObjects(cat)
	} else {
		lib := newGoGit(found)
		r.all, r.objects = lib, newObjects(lib)
	}
	return r, nil
}

// Dir is the directory that holds the repository's objects and references.
func (r *Repo) Dir() string { return r.dir }

// findGitDir looks in dir and in those above it, as git does. A path that does not exist is an error of its own:
// otherwise a misspelled one would open the repository around it.
func findGitDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(abs); err != nil {
		return "", err
	}
	for d := abs; ; d = filepath.Dir(d) {
		for _, candidate := range []string{d, filepath.Join(d, ".git")} {
			if found, ok := gitDir(candidate); ok {
				return found, nil
			}
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%s: not a git repository (nor any of the parent directories)", abs)
		}
	}
}

// gitDir returns the directory of objects and references that path is or, in a linked work tree, names
// (gitrepository-layout: a file .git with "gitdir:", and commondir in the directory that it names). As for git, a
// directory is a repository if it has objects, refs and HEAD.
func gitDir(path string) (string, bool) {
	// A linked work tree has a file in the place of the directory .git.
	if to, ok := firstLine(path, "gitdir: "); ok {
		path = pathBeside(filepath.Dir(path), to)
	}
	if to, ok := firstLine(filepath.Join(path, "commondir"), ""); ok {
		path = pathBeside(path, to)
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || !info.IsDir() {
			return "", false
		}
	}
	// Not followed: in old repositories HEAD is a link to a branch that need not exist yet.
	_, err := os.Lstat(filepath.Join(path, "HEAD"))
	return path, err == nil
}

// pathBeside resolves a path that may be relative to the file in which it is written.
func pathBeside(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// firstLine returns what follows the prefix in the first line of a small file. Size and kind are looked at first,
// because a pipe or a huge file in a hostile repository would be read without end.
func firstLine(path, prefix string) (string, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return "", false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.CutPrefix(line, prefix)
}

// CheckBranch refuses a branch name that git would refuse (git check-ref-format), or that is spelled to deceive: only
// ASCII letters, digits and . _ - / are accepted, because a name in a message must be the one that was meant. The name
// becomes part of a path and an argument of git, so ".." and a leading "-" are refused too.
func CheckBranch(name string) error {
	bad := name == "" || len(name) > 200 || strings.HasSuffix(name, ".lock") || strings.Contains(name, "..") ||
		strings.Contains(name, "//") || strings.ContainsAny(name[:1], "-./") || strings.HasSuffix(name, "/") ||
		strings.HasSuffix(name, ".")
	for _, c := range name {
		bad = bad || !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("._/-", c))
	}
	if bad {
		return fmt.Errorf("%q: not a valid branch name; use letters, digits and . _ - /", name)
	}
	return nil
}

// Resolve returns the commit that a full reference (refs/heads/…), a branch or an id names; "" if there is no such
// reference. It does not guess as git rev-parse does, where a tag or a remote's branch of the same name could be meant.
func (r *Repo) Resolve(name string) (string, error) {
	if gitobject.IsID(name) {
		return name, nil
	}
	// HEAD holds a branch, or an id where it is detached.
	if name == "HEAD" {
		to, ok := firstLine(filepath.Join(r.dir, "HEAD"), "")
		if ref, symbolic := strings.CutPrefix(to, "ref: "); symbolic {
			if !strings.HasPrefix(ref, "refs/") { // "ref: HEAD" would never end
				return "", fmt.Errorf("HEAD says %.80q, which is not a branch", to)
			}
			return r.Resolve(ref)
		}
		if ok && gitobject.IsID(to) {
			return to, nil
		}
		return "", fmt.Errorf("HEAD says %.80q", to)
	}
	ref := name
	if !strings.HasPrefix(ref, "refs/") {
		ref = "refs/heads/" + name
	}
	if err := CheckBranch(strings.TrimPrefix(ref, "refs/")); err != nil {
		return "", err
	}
	return readRef(r.dir, ref)
}

// readRef returns the id that a reference holds, "" if it does not exist: its own file, or else its line of
// packed-refs. The file comes first, because git leaves the old line in packed-refs when it moves a branch. A symbolic
// reference is not followed: the branch of a ledger is never one.
func readRef(dir, ref string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ref)))
	if err == nil {
		id := strings.TrimSpace(string(b))
		// A symbolic reference, or a file that something else has written: neither is followed.
		if !gitobject.IsID(id) {
			return "", fmt.Errorf("%s contains %.80q, which is not an object id", ref, id)
		}
		return id, nil
	}
	// A file that cannot be read must not be taken for one that is not there: the line in packed-refs may be an old
	// one.
	if !errors.Is(err, fs.ErrNotExist) && !isDirectory(dir, ref) {
		return "", err
	}
	found := ""
	err = packedRefs(dir, func(id, name string) {
		if name == ref {
			found = id
		}
	})
	return found, err
}

// isDirectory tells refs/heads/a, which exists only because a branch a/b does, from a reference that cannot be read.
func isDirectory(dir, ref string) bool {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(ref)))
	return err == nil && info.IsDir()
}

// packedRefs calls each for the lines of packed-refs. Comments and peeled tags (^id) have no id before a space, so they
// are passed over.
func packedRefs(dir string, each func(id, name string)) (err error) {
	f, err := os.Open(filepath.Join(dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if id, name, ok := strings.Cut(lines.Text(), " "); ok && gitobject.IsID(id) {
			each(id, name)
		}
	}
	return lines.Err()
}
