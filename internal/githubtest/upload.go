package githubtest

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
)

// How git's protocol is answered in this process: the questions of gitstore, and no others. Whatever a request holds
// beside them (a reference to peel, an object that the client has, a want that is not there) makes it one for git's own
// backend, which says then what git says. TestUploadIsGits holds the answers to git's.

// OverGit makes the server answer all of git's protocol through git's own backend, in a process for every request.
func (s *Server) OverGit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes = true
}

// answerUpload answers a request for references or objects; false, with the request as it was, where git must.
func (s *Server) answerUpload(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	off := s.processes
	s.mu.Unlock()
	v2 := r.Header.Get("Git-Protocol") == "version=2"
	var answer []byte
	done, kind := false, "result"
	switch {
	case off || r.Header.Get("Content-Encoding") != "" || !v2 && r.Header.Get("Git-Protocol") != "":
	case r.Method == "GET" && r.URL.RawQuery == "service=git-upload-pack":
		answer, done = []byte(greeting), true
		if kind = "advertisement"; !v2 {
			answer, done = s.git.advertiseRefs()
		}
	case r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/git-upload-pack"):
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if lines, whole := pktLines(body); err == nil && whole {
			if v2 {
				answer, done = s.git.answerCommand(lines)
			} else {
				answer, done = s.git.answerNegotiation(lines)
			}
		}
	}
	if done {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-"+kind)
		w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
		_, _ = w.Write(answer) // a client that has gone needs no answer
	}
	return done
}

// greeting is what git 2.39 says that it can do in version 2 of the protocol, as far as clients here ask for it.
const greeting = "000eversion 2\n0013ls-refs=unborn\n0027fetch=shallow wait-for-done filter\n0012server-option\n" +
	"0017object-format=sha1\n0000"

// capabilities are those that it names in version 0.
const capabilities = "multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not " +
	"deepen-relative no-progress include-tag multi_ack_detailed allow-tip-sha1-in-want allow-reachable-sha1-in-want " +
	"no-done symref=HEAD:refs/heads/main filter object-format=sha1 agent=git/githubtest"

// The packets that are no lines.
const (
	flush = "\x00flush"
	delim = "\x00delim"
)

// pktLines takes a request apart: its lines, without their ends.
func pktLines(b []byte) (lines []string, whole bool) {
	for len(b) >= 4 {
		n, err := strconv.ParseUint(string(b[:4]), 16, 16)
		switch {
		case err != nil || n == 2 || n == 3 || int(n) > len(b):
			return nil, false
		case n == 0:
			lines, b = append(lines, flush), b[4:]
		case n == 1:
			lines, b = append(lines, delim), b[4:]
		default:
			lines, b = append(lines, strings.TrimSuffix(string(b[4:n]), "\n")), b[n:]
		}
	}
	return lines, len(b) == 0
}

// visibleRefs are the references that a client may see, of commits; false where git must tell.
func (o *objects) visibleRefs() (refs map[string]string, known bool) {
	refs, known = map[string]string{}, true
	err := fs.WalkDir(os.DirFS(o.dir), "refs", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if name == "refs/test" {
				return fs.SkipDir
			}
			return err
		}
		if strings.HasSuffix(name, ".lock") {
			return nil
		}
		id, sure := o.readRef(name)
		_, commit := o.ofKind(id, gitobject.Commit)
		refs[name], known = id, known && sure && commit
		return nil
	})
	_, packed := os.Stat(filepath.Join(o.dir, "packed-refs"))
	return refs, known && err == nil && packed != nil
}

// advertiseRefs lists the references as version 0 does.
func (r *repo) advertiseRefs() ([]byte, bool) {
	refs, known := r.objects.visibleRefs()
	main := refs["refs/heads/main"]
	if !known || main == "" {
		return nil, false
	}
	var b bytes.Buffer
	writePacketLine(&b, "# service=git-upload-pack\n")
	b.WriteString("0000")
	writePacketLine(&b, main+" HEAD\x00"+capabilities+"\n")
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		writePacketLine(&b, refs[name]+" "+name+"\n")
	}
	b.WriteString("0000")
	return b.Bytes(), true
}

// answerCommand answers a command of version 2.
func (r *repo) answerCommand(lines []string) ([]byte, bool) {
	if len(lines) < 4 || lines[1] != "object-format=sha1" || lines[2] != delim ||
		slices.Index(lines, flush) != len(lines)-1 {
		return nil, false
	}
	args := lines[3 : len(lines)-1]
	switch lines[0] {
	case "command=ls-refs":
		return r.lsRefs(args)
	case "command=fetch":
		w, known := readWants(args)
		if !known || !w.done {
			return nil, false
		}
		pack, shallow, known := r.objects.packFor(w)
		if !known {
			return nil, false
		}
		var b bytes.Buffer
		if w.depth > 0 {
			writePacketLine(&b, "shallow-info\n")
			writeShallow(&b, shallow)
			b.WriteString("0001")
		}
		writePacketLine(&b, "packfile\n")
		writeBanded(&b, pack)
		return b.Bytes(), true
	}
	return nil, false
}

// lsRefs lists the references with a prefix.
func (r *repo) lsRefs(args []string) ([]byte, bool) {
	refs, known := r.objects.visibleRefs()
	var b bytes.Buffer
	var prefixes []string
	for _, a := range args {
		prefix, is := strings.CutPrefix(a, "ref-prefix refs/")
		prefixes, known = append(prefixes, "refs/"+prefix), known && is
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			writePacketLine(&b, refs[name]+" "+name+"\n")
		}
	}
	b.WriteString("0000")
	return b.Bytes(), known
}

// answerNegotiation answers a client of version 0 that has nothing yet.
func (r *repo) answerNegotiation(lines []string) ([]byte, bool) {
	end := slices.Index(lines, flush)
	if end < 1 {
		return nil, false
	}
	first := strings.Fields(lines[0]) // want, an id, and what the client can do
	if len(first) < 3 || !slices.Contains(first[2:], "side-band-64k") {
		return nil, false
	}
	args := append([]string{first[0] + " " + first[1]}, lines[1:end]...)
	w, known := readWants(append(args, slices.DeleteFunc(slices.Clone(lines[end:]), func(l string) bool {
		return l == flush
	})...))
	if !known || !w.done {
		return nil, false
	}
	pack, shallow, known := r.objects.packFor(w)
	if !known {
		return nil, false
	}
	var b bytes.Buffer
	if w.depth > 0 {
		writeShallow(&b, shallow)
		b.WriteString("0000")
	}
	writePacketLine(&b, "NAK\n")
	writeBanded(&b, pack)
	return b.Bytes(), true
}

// want is what a client asks for.
type want struct {
	ids   []string
	depth int   // in commits; 0 for all
	alone bool  // nothing but the objects themselves
	limit int64 // the size that a blob may not reach; 0 for any
	done  bool
}

// readWants reads a request's arguments; false where there is one that this package does not answer.
func readWants(args []string) (w want, known bool) {
	for _, a := range args {
		name, value, _ := strings.Cut(a, " ")
		err := error(nil)
		switch size, isLimit := strings.CutPrefix(value, "blob:limit="); {
		case a == "done":
			w.done = true
		case a == "no-progress":
		case a == "filter tree:0":
			w.alone = true
		case name == "want" && isID(value):
			w.ids = append(w.ids, value)
		case name == "deepen":
			w.depth, err = strconv.Atoi(value)
		case name == "filter" && isLimit:
			w.limit, err = strconv.ParseInt(size, 10, 64)
		default:
			return want{}, false
		}
		if err != nil || w.depth < 0 || w.limit < 0 {
			return want{}, false
		}
	}
	return w, len(w.ids) > 0
}

// collection gathers the objects of an answer, each once.
type collection struct {
	*objects
	want
	ids     []string
	in      map[string]bool
	shallow []string
}

// packFor is the pack that a client asks for, and the commits where its history ends.
func (o *objects) packFor(w want) (pack []byte, shallow []string, known bool) {
	c := &collection{objects: o, want: w, in: map[string]bool{}}
	if !c.collectCommits() {
		return nil, nil, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	pack, _ = o.packObjects(c.ids)
	return pack, c.shallow, true
}

// collectCommits walks the history in breadth, so that a commit is met first where it is nearest.
func (c *collection) collectCommits() bool {
	level := c.want.ids
	for depth := 1; len(level) > 0; depth++ {
		var next []string
		for _, id := range level {
			object, there := c.getObject(id)
			if !there || object.Kind != gitobject.Commit && !c.alone {
				return false
			}
			if !c.addObject(id) || object.Kind != gitobject.Commit {
				continue
			}
			made, plain := c.readCommit(id)
			if !plain || !c.alone && !c.collectFiles(made.tree) {
				return false
			}
			if c.depth > 0 && depth >= c.depth {
				c.shallow = append(c.shallow, id)
				continue
			}
			next = append(next, made.parents...)
		}
		level = next
	}
	return true
}

// addObject takes an object in, and reports whether it is new.
func (c *collection) addObject(id string) bool {
	if c.in[id] {
		return false
	}
	c.in[id] = true
	c.ids = append(c.ids, id)
	return true
}

// collectFiles takes in a tree and what is below it, but for what the filter leaves out.
func (c *collection) collectFiles(tree string) bool {
	if c.in[tree] {
		return true
	}
	c.addObject(tree)
	entries, known := c.readTree(tree)
	for _, e := range entries {
		switch {
		case e.IsTree():
			known = c.collectFiles(e.ID) && known
		case e.Mode != gitobject.ModeModule:
			blob, there := c.ofKind(e.ID, gitobject.Blob)
			if known = known && there; there && (c.limit == 0 || int64(len(blob.Data)) < c.limit) {
				c.addObject(e.ID)
			}
		}
	}
	return known
}

func writeShallow(to *bytes.Buffer, ids []string) {
	for _, id := range ids {
		writePacketLine(to, "shallow "+id)
	}
}

// writeBanded sends a pack on the first band, in packets as large as they may be, and ends the answer.
func writeBanded(to *bytes.Buffer, pack []byte) {
	for part := range slices.Chunk(pack, 65520-5) {
		writePacketLine(to, "\x01"+string(part))
	}
	to.WriteString("0000")
}
