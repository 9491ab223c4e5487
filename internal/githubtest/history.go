package githubtest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/gitobject"
)

// plainIdent is a person and a time as git writes them, with nothing that it would trim or repair.
var plainIdent = regexp.MustCompile(`^(\S|\S[^<>\n]*[^\s<>]) <([^<>\n\s]*)> (\d{1,12}) ([+-])(\d\d)(\d\d)$`)

// readCommit reads a commit; false where git must.
func (o *objects) readCommit(id string) (commit, bool) {
	object, known := o.ofKind(id, gitobject.Commit)
	if !known {
		return commit{}, false
	}
	head, message, whole := strings.Cut(string(object.Data), "\n\n")
	record, err := gitobject.ParseCommit(object.Data)
	if err != nil || !whole || !utf8.Valid(object.Data) || strings.Contains(head, "\nencoding ") ||
		strings.Contains(message, "\x00") {
		return commit{}, false
	}
	c := commit{sha: id, tree: record.Tree, parents: record.Parents, message: strings.TrimSuffix(message, "\n"),
		seconds: record.Time}
	ok, ok2 := false, false
	for line := range strings.Lines(head + "\n") {
		kind, ident, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case kind == "author" && !ok:
			c.author, c.authored, ok = parseIdent(ident)
		case kind == "committer" && !ok2:
			c.committer, c.at, ok2 = parseIdent(ident)
		}
	}
	return c, ok && ok2
}

func parseIdent(text string) (who person, at string, plain bool) {
	m := plainIdent.FindStringSubmatch(text)
	if m == nil {
		return person{}, "", false
	}
	seconds, _ := strconv.ParseInt(m[3], 10, 64) // digits only
	hours, _ := strconv.Atoi(m[4] + m[5])
	minutes, _ := strconv.Atoi(m[4] + m[6])
	zone := time.FixedZone("", 3600*hours+60*minutes)
	return person{m[1], m[2]}, time.Unix(seconds, 0).In(zone).Format(time.RFC3339), true
}

// ancestorsOf are a commit and all before it; false where not all of them are known.
func (o *objects) ancestorsOf(id string) (map[string]bool, bool) {
	seen, todo := map[string]bool{}, []string{id}
	for len(todo) > 0 {
		id, todo = todo[0], todo[1:]
		if seen[id] {
			continue
		}
		c, known := o.readCommit(id)
		if !known {
			return nil, false
		}
		seen[id] = true
		todo = append(todo, c.parents...)
	}
	return seen, true
}

// commitsBetween lists the commits of head that are not base's, as `git log base..head` does: the newest first, and of
// those made in the same second the one that was come upon first.
func (o *objects) commitsBetween(base, head string, firstParent bool) ([]commit, bool) {
	without := map[string]bool{}
	if base != "" {
		var known bool
		if without, known = o.ancestorsOf(base); !known {
			return nil, false
		}
	}
	var queue, list []commit
	seen := map[string]bool{}
	reach := func(id string) bool {
		if seen[id] || without[id] {
			return true
		}
		seen[id] = true
		c, known := o.readCommit(id)
		at := slices.IndexFunc(queue, func(q commit) bool { return q.seconds < c.seconds })
		if at < 0 {
			at = len(queue)
		}
		queue = slices.Insert(queue, at, c)
		return known
	}
	if !reach(head) {
		return nil, false
	}
	for len(queue) > 0 {
		c := queue[0]
		queue, list = queue[1:], append(list, c)
		for i, p := range c.parents {
			if firstParent && i > 0 {
				break
			}
			if !reach(p) {
				return nil, false
			}
		}
	}
	return list, true
}

// mergeBases are the merge bases of two commits, those that no other common ancestor has behind it.
func (o *objects) mergeBases(a, b string) (bases []string, known bool) {
	ofA, ok1 := o.ancestorsOf(a)
	ofB, ok2 := o.ancestorsOf(b)
	if !ok1 || !ok2 {
		return nil, false
	}
	behind := map[string]bool{}
	for id := range ofA {
		if c, _ := o.readCommit(id); ofB[id] {
			for _, p := range c.parents {
				behind[p] = true
			}
		}
	}
	for id := range ofA {
		if ofB[id] && !behind[id] {
			bases = append(bases, id)
		}
	}
	return bases, true
}

// mergeBase is the one merge base of two commits; false where there is not one, or not one only.
func (o *objects) mergeBase(a, b string) (string, bool) {
	bases, known := o.mergeBases(a, b)
	if !known || len(bases) != 1 {
		return "", false
	}
	return bases[0], true
}

// commitNamed is the commit that a name stands for; false where this package cannot tell.
func (o *objects) commitNamed(name string) (string, bool) {
	if strings.HasSuffix(name, "^1") {
		id, sure := o.resolveName(name)
		return id, sure && id != ""
	}
	id, sure := o.resolveName(name + "^{commit}")
	return id, sure && id != ""
}

// isAncestor reports whether a commit is another one, or comes before it.
func (r *repo) isAncestor(a, b string) bool {
	before, ok1 := r.objects.commitNamed(a)
	after, ok2 := r.objects.commitNamed(b)
	if ok1 && ok2 {
		if all, known := r.objects.ancestorsOf(after); known {
			return all[before]
		}
	}
	_, err := r.runGit(nil, "merge-base", "--is-ancestor", a, b)
	return err == nil
}

// mergeBase is where two commits part.
func (r *repo) mergeBase(a, b string) (string, error) {
	if fork, known := r.objects.mergeBase(a, b); known {
		return fork, nil
	}
	return r.runGit(nil, "merge-base", a, b)
}

// commitsBetween reads the commits of head that are not base's, the newest first.
func (r *repo) commitsBetween(base, head string) ([]commit, error) {
	return r.logBetween(base, head, false)
}

// logBetween reads them, or those along first parents alone.
func (r *repo) logBetween(base, head string, firstParent bool) ([]commit, error) {
	from, ok1 := r.objects.commitNamed(base)
	to, ok2 := r.objects.commitNamed(head)
	if ok1 && ok2 {
		if list, known := r.objects.commitsBetween(from, to, firstParent); known {
			return list, nil
		}
	}
	if firstParent {
		return r.logByGit("--first-parent", base+".."+head)
	}
	return r.logByGit(base + ".." + head)
}

func (r *repo) readCommit(id string) (commit, error) {
	if c, known := r.objects.readCommit(id); known {
		return c, nil
	}
	return r.commitByGit(id)
}
