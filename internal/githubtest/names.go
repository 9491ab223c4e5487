package githubtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
)

// plainRef is a reference whose name git takes without a second look; no part of it ends in ".lock".
var plainRef = regexp.MustCompile(`^refs/(?:[A-Za-z0-9_-]+[.]?)+(?:/(?:[A-Za-z0-9_-]+[.]?)*[A-Za-z0-9_-])+$`)

func isPlainRef(ref string) bool { return plainRef.MatchString(ref) && !strings.Contains(ref, ".lock") }

// readRef gives what a reference holds, "" if it is not there; sure is false where only git can say.
func (o *objects) readRef(ref string) (id string, sure bool) {
	if _, err := os.Stat(filepath.Join(o.dir, "packed-refs")); !errors.Is(err, fs.ErrNotExist) || !isPlainRef(ref) {
		return "", false
	}
	b, err := os.ReadFile(filepath.Join(o.dir, filepath.FromSlash(ref)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", true
	}
	id = strings.TrimSuffix(string(b), "\n")
	return id, err == nil && isID(id)
}

// swapRef sets a reference where it holds old, by git's protocol: whoever makes the file REF.lock may write REF. sure
// is false where only git can say what is wrong; nothing has happened then.
func (o *objects) swapRef(ref, id, old string) (sure bool) {
	if !isPlainRef(ref) || !isID(id) {
		return false
	}
	name := filepath.Join(o.dir, filepath.FromSlash(ref))
	if os.MkdirAll(filepath.Dir(name), 0o755) != nil {
		return false
	}
	lock, err := os.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false
	}
	now, sure := o.readRef(ref)
	_, there := o.ofKind(id, gitobject.Commit)
	if !sure || now != old || !there {
		_, _ = lock.Close(), os.Remove(name+".lock")
		return false
	}
	_, err = lock.WriteString(id + "\n")
	if err = errors.Join(err, lock.Close()); err == nil {
		err = os.Rename(name+".lock", name)
	}
	if err != nil {
		_ = os.Remove(name + ".lock")
	}
	return err == nil
}

// setRef moves a reference from one commit to another, or makes it where old is "".
func (r *repo) setRef(ref, id, old string) error {
	if r.objects.swapRef(ref, id, old) {
		return nil
	}
	if old == "" {
		old = noID
	}
	if _, err := r.runGit(nil, "update-ref", ref, id, old); err != nil {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return nil
}

// putRef sets a reference whatever it holds.
func (r *repo) putRef(ref, id string) error {
	if now, sure := r.objects.readRef(ref); sure && r.objects.swapRef(ref, id, now) {
		return nil
	}
	_, err := r.runGit(nil, "update-ref", ref, id)
	return err
}

// resolveName gives the object that a name stands for, "" if there is none.
func (r *repo) resolveName(name string) string {
	if id, sure := r.objects.resolveName(name); sure {
		return id
	}
	return r.resolveByGit(name)
}

// resolveName resolves the names that this package uses: an id or a full reference, alone or before ^{commit}, ^{tree},
// ^1 or a path. sure is false for every other.
func (o *objects) resolveName(name string) (id string, sure bool) {
	if at, path, found := strings.Cut(name, ":"); found {
		if id, sure = o.resolveName(at + "^{tree}"); !sure || id == "" {
			return "", sure
		}
		return o.entryBelow(id, path)
	}
	base, peel, peeled := strings.Cut(name, "^")
	if id = base; !isID(base) {
		if id, sure = o.readRef(base); !sure || id == "" {
			return "", sure
		}
	}
	if !peeled {
		return id, true
	}
	if _, sure = o.hasObject(id); !sure {
		return "", false
	}
	return o.peelTo(id, peel)
}

// peelTo is what a commit or a tree is as another kind, or a parent of a commit.
func (o *objects) peelTo(id, as string) (string, bool) {
	object, there := o.getObject(id)
	switch {
	case !there:
		return "", true
	case as == "{tree}" && object.Kind == gitobject.Tree:
		return id, true
	case object.Kind != gitobject.Commit:
		return "", object.Kind != gitobject.Tag
	case as == "{commit}":
		return id, true
	}
	c, sure := o.readCommit(id)
	parent, err := strconv.Atoi(as)
	switch {
	case !sure:
		return "", false
	case as == "{tree}":
		return c.tree, true
	case err != nil || parent != 1:
		return "", false
	case len(c.parents) == 0:
		return "", true
	}
	return c.parents[0], true
}

// entryBelow is what lies under a path of a tree.
func (o *objects) entryBelow(id, path string) (string, bool) {
	if path == "" {
		return id, true
	}
	if !isPlainPath(path) {
		return "", false
	}
	at := gitobject.Entry{Mode: gitobject.ModeTree, ID: id}
	for name := range strings.SplitSeq(path, "/") {
		if !at.IsTree() {
			return "", true
		}
		entries, known := o.readTree(at.ID)
		if !known {
			return "", false
		}
		if at = entryOf(entries, name); at.ID == "" {
			return "", true
		}
	}
	return at.ID, true
}

func entryOf(entries []gitobject.Entry, name string) gitobject.Entry {
	for _, e := range entries {
		if e.Name == name {
			return e
		}
	}
	return gitobject.Entry{}
}

// harmless are names that begin as git's own do.
var harmless = map[string]bool{".github": true, ".gitattributes": true, ".gitignore": true}

// isPlainPath reports whether a path is one that git takes as it is, in a tree and in every input.
func isPlainPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		lower := strings.ToLower(part)
		if part == "" || part == "." || part == ".." || strings.HasPrefix(lower, ".git") && !harmless[part] ||
			strings.Contains(part, "~") || strings.ContainsFunc(part, func(c rune) bool {
			return c < ' ' || c > '~' || c == '"' || c == '\\' || c == ':'
		}) {
			return false
		}
	}
	return true
}
