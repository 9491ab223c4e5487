package gitobject

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Record is a commit, as far as a ledger looks at it. Time and Authored are seconds since 1970, written as +0000.
type Record struct {
	Tree     string
	Parents  []string
	Author   string // "name <email>"
	Authored int64
	By       string // committer
	Time     int64  // the committer's
	Message  string
}

// Encode gives the bytes of the commit.
func (r Record) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", r.Tree)
	for _, p := range r.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n%s", r.Author, r.Authored, r.By, r.Time, r.Message)
	return b.Bytes()
}

// ParseCommit reads a commit. Headers that a ledger does not need (a signature, an encoding) are passed over; tree,
// parents, author and committer stand first and in this order, as git writes them. On an error the record is zero.
func ParseCommit(b []byte) (Record, error) {
	head, message, ok := strings.Cut(string(b), "\n\n")
	if !ok {
		return Record{}, fmt.Errorf("a commit without an end of its headers")
	}
	r := Record{Message: message}
	lines := strings.Split(head, "\n")
	if r.Tree, ok = cutField(&lines, "tree "); !ok || !IsID(r.Tree) {
		return Record{}, fmt.Errorf("a commit without a tree")
	}
	for {
		p, ok := cutField(&lines, "parent ")
		if !ok {
			break
		}
		if !IsID(p) {
			return Record{}, fmt.Errorf("a commit with the parent %.50q", p)
		}
		r.Parents = append(r.Parents, p)
	}
	var err error
	if r.Author, r.Authored, err = cutPerson(&lines, "author "); err != nil {
		return Record{}, err
	}
	if r.By, r.Time, err = cutPerson(&lines, "committer "); err != nil {
		return Record{}, err
	}
	return r, nil
}

func cutField(lines *[]string, name string) (string, bool) {
	if len(*lines) == 0 {
		return "", false
	}
	value, ok := strings.CutPrefix((*lines)[0], name)
	if ok {
		*lines = (*lines)[1:]
	}
	return value, ok
}

func cutPerson(lines *[]string, name string) (who string, at int64, err error) {
	value, ok := cutField(lines, name)
	i := strings.LastIndex(value, "> ")
	if !ok || i < 0 {
		return "", 0, fmt.Errorf("a commit without %s", strings.TrimSpace(name))
	}
	seconds, _, _ := strings.Cut(value[i+2:], " ")
	if at, err = strconv.ParseInt(seconds, 10, 64); err != nil {
		return "", 0, fmt.Errorf("a commit whose %s has the time %.40q", strings.TrimSpace(name), seconds)
	}
	return value[:i+1], at, nil
}
