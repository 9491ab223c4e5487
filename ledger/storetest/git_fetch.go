package storetest

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
)

// answerCommand answers one command of version 2; nil where git is to be asked.
func (r *repository) answerCommand(body []byte) []byte {
	line, _, body, ok := cutPacket(body)
	name := strings.TrimSuffix(strings.TrimPrefix(line, "command="), "\n")
	var args []string
	for delimited := false; ok; {
		var special string
		line, special, body, ok = cutPacket(body)
		switch {
		case !ok:
			return nil
		case special == flush:
			return r.carryOut(name, args)
		case special == delimiter:
			delimited = true
		case delimited:
			args = append(args, strings.TrimSuffix(line, "\n"))
		case line != "object-format=sha1" && !strings.HasPrefix(line, "agent="):
			return nil
		}
	}
	return nil
}

func (r *repository) carryOut(name string, args []string) []byte {
	switch name {
	case "ls-refs":
		return r.listRefs(args)
	case "fetch":
		if q, ok := parseFetch(args); ok {
			return r.answerFetch(q)
		}
	}
	return nil
}

// listRefs names the references with a given beginning.
func (r *repository) listRefs(args []string) []byte {
	all, err := r.sortedRefs()
	if err != nil || len(args) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, a := range args {
		if prefix, ok := strings.CutPrefix(a, "ref-prefix "); !ok || !strings.HasPrefix(prefix, "refs/") {
			return nil
		}
	}
	for _, ref := range all {
		if slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(ref.name, strings.TrimPrefix(a, "ref-prefix "))
		}) {
			writeLine(&b, ref.id+" "+ref.name+"\n")
		}
	}
	b.WriteString("0000")
	return b.Bytes()
}

// fetchQuery is what a fetch asks for.
type fetchQuery struct {
	wants   []string
	depth   int   // 0 is all
	noTrees bool  // commits alone, beside what is wanted by its id
	limit   int64 // blobs of so many bytes are left out; below 0 none are
}

// parseFetch reads the arguments of a fetch that is answered at once; false where it is another one.
func parseFetch(args []string) (q fetchQuery, ok bool) {
	q.limit = -1
	for _, a := range args {
		name, value, _ := strings.Cut(a, " ")
		var err error
		switch name {
		case "no-progress":
		case "done":
			ok = true
		case "want":
			q.wants = append(q.wants, value)
		case "deepen":
			q.depth, err = strconv.Atoi(value)
		case "filter":
			if limit, is := strings.CutPrefix(value, "blob:limit="); is {
				q.limit, err = strconv.ParseInt(limit, 10, 64)
			} else if q.noTrees = value == "tree:0"; !q.noTrees {
				return q, false
			}
		default:
			return q, false
		}
		if err != nil {
			return q, false
		}
	}
	return q, ok && len(q.wants) > 0
}

// answerFetch returns a pack of what is asked for; nil where that is not all loose, or only git knows the answer.
func (r *repository) answerFetch(q fetchQuery) []byte {
	c := &collection{repo: r, q: q, seen: map[string]bool{}}
	if err := c.collectWanted(); err != nil {
		return nil
	}
	var b, pack bytes.Buffer
	if q.depth > 0 {
		writeLine(&b, "shallow-info\n")
		for _, id := range c.shallow {
			writeLine(&b, "shallow "+id+"\n")
		}
		b.WriteString("0001")
	}
	if err := gitobject.WritePack(&pack, c.objects); err != nil {
		return nil
	}
	writeLine(&b, "packfile\n")
	writeBand(&b, pack.Bytes())
	b.WriteString("0000")
	return b.Bytes()
}

// collection is what a pack is to hold.
type collection struct {
	repo    *repository
	q       fetchQuery
	seen    map[string]bool
	objects []gitobject.Object
	shallow []string // commits whose parents are left out
}

// collectWanted takes the wanted objects, the commits behind them generation by generation, and what they hold.
func (c *collection) collectWanted() error {
	var commits []gitobject.Object
	for _, id := range c.q.wants {
		o, err := c.takeObject(id)
		if err != nil {
			return err
		}
		switch {
		case o.Kind == gitobject.Commit:
			commits = append(commits, o)
		case o.Kind == gitobject.Tree:
			if err := c.collectBelow(o); err != nil {
				return err
			}
		}
	}
	for depth := 1; len(commits) > 0; depth++ {
		var next []gitobject.Object
		for _, o := range commits {
			more, err := c.collectCommit(o, depth)
			if err != nil {
				return err
			}
			next = append(next, more...)
		}
		commits = next
	}
	return nil
}

// collectCommit takes what a commit holds, and returns its parents where they are near enough.
func (c *collection) collectCommit(o gitobject.Object, depth int) (parents []gitobject.Object, err error) {
	rec, err := gitobject.ParseCommit(o.Data)
	if err != nil {
		return nil, err
	}
	if err := c.collectTree(rec.Tree); err != nil {
		return nil, err
	}
	if depth == c.q.depth {
		c.shallow = append(c.shallow, o.ID)
		return nil, nil
	}
	for _, id := range rec.Parents {
		if c.seen[id] {
			continue
		}
		parent, err := c.takeObject(id)
		if err != nil {
			return nil, err
		}
		parents = append(parents, parent)
	}
	return parents, nil
}

// takeObject adds an object, once.
func (c *collection) takeObject(id string) (gitobject.Object, error) {
	o, err := c.repo.readLoose(id)
	if err == nil && !c.seen[id] {
		c.seen[id] = true
		c.objects = append(c.objects, o)
	}
	return o, err
}

// errQuirk says that git decides by the order of its walk.
var errQuirk = errors.New("wanted and left out")

func (c *collection) collectTree(id string) error {
	switch {
	case c.q.noTrees && slices.Contains(c.q.wants, id):
		return errQuirk // git leaves it out although it is wanted
	case c.q.noTrees || c.seen[id]:
		return nil
	}
	o, err := c.takeObject(id)
	if err != nil {
		return err
	}
	return c.collectBelow(o)
}

// collectBelow takes what a directory holds.
func (c *collection) collectBelow(o gitobject.Object) error {
	entries, err := gitobject.ParseTree(o.Data)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case c.q.noTrees && slices.Contains(c.q.wants, e.ID):
			return errQuirk
		case c.q.noTrees || e.Mode == gitobject.ModeModule || c.seen[e.ID]:
			continue
		case e.IsTree():
			err = c.collectTree(e.ID)
		default:
			err = c.collectBlob(e.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// collectBlob takes a file, unless it is too large.
func (c *collection) collectBlob(id string) error {
	_, size, _, end, err := c.repo.openLoose(id)
	if err != nil {
		return err
	}
	end()
	if c.q.limit >= 0 && size >= c.q.limit {
		return nil
	}
	_, err = c.takeObject(id)
	return err
}
