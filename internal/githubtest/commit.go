package githubtest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/defendableos/referee/internal/gitobject"
)

// Change is a commit to be made.
type Change struct {
	Files     map[string]string // path to content; for the mode 160000 a commit id, for 120000 a link's target
	Modes     map[string]string // path to mode, 100644 where it says nothing
	Delete    []string
	Parent    string // "" for the branch's present commit, or main's where there is no branch
	Orphan    bool   // no parent
	Author    string // login, or "Name <email>"; "owner" if empty
	Committer string // the author if empty
	Pusher    string // login; the author if empty
	Message   string
}

// Commit adds a commit to a branch, or begins one, and gives its id.
func (s *Server) Commit(branch string, c Change) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.commitTo("refs/heads/"+branch, c)
	s.syncBranches(c.Author)
	return id
}

// CommitMany adds empty commits to a branch, at once.
func (s *Server) CommitMany(branch string, n int, author string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref, who := "refs/heads/"+branch, s.personNamed(author)
	tip, err := s.git.readCommit(s.git.resolveName(ref))
	s.mustWork("", err)
	for range n {
		id, err := s.git.writeCommit(commitBytes(tip.tree, []string{tip.sha}, who, who, s.nextTime().Unix(), "", "Change\n"))
		s.mustWork(id, err)
		tip.sha = id
	}
	s.mustWork("", s.git.putRef(ref, tip.sha))
	s.syncBranches(author)
}

// CommitFork is Commit on a branch of a fork ("mallory/work").
func (s *Server) CommitFork(fork, branch string, c Change) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.commitTo(headRef(Pull{Fork: fork, Head: branch}), c)
	s.syncBranches(c.Author)
	return id
}

// commitTo adds a commit to a reference.
func (s *Server) commitTo(ref string, c Change) string {
	parent := c.Parent
	if parent == "" && !c.Orphan {
		if parent = s.git.resolveName(ref); parent == "" {
			parent = s.git.resolveName("refs/heads/main")
		}
	}
	author, committer := s.personNamed(c.Author), s.personNamed(c.Author)
	if c.Committer != "" {
		committer = s.personNamed(c.Committer)
	}
	if c.Message == "" {
		c.Message = "Change\n"
	}
	at, made := s.nextTime().Unix(), s.nextID()
	id, done := s.git.commitFiles(parent, c, author, committer, at)
	if !done {
		id = s.importCommit(made, parent, c, author, committer, at)
	}
	s.mustWork("", s.git.putRef(ref, id))
	return id
}

// commitFiles writes a commit; false where names or people are such that git's opinion of them matters.
func (r *repo) commitFiles(parent string, c Change, author, committer person, at int64) (id string, done bool) {
	tree, parents := "", []string(nil)
	if parent != "" {
		on, known := r.objects.commitNamed(parent)
		base, known2 := r.objects.resolveName(parent + "^{tree}")
		if !known || !known2 || !isID(parent) {
			return "", false
		}
		tree, parents = base, []string{on}
	}
	tree, done = r.changeFiles(tree, c)
	if !done {
		return "", false
	}
	data := commitBytes(tree, parents, author, committer, at, "", c.Message)
	id = gitobject.ID(gitobject.Commit, data)
	try := &objects{held: map[string]gitobject.Object{id: {Kind: gitobject.Commit, ID: id, Data: data}}}
	if _, plain := try.readCommit(id); !plain {
		return "", false
	}
	_, err := r.objects.putObject(gitobject.Commit, data)
	return id, err == nil
}

// changeFiles gives the tree with the files of a change, as fast-import makes it: what is deleted goes first.
func (r *repo) changeFiles(tree string, c Change) (string, bool) {
	root, known := r.objects.editTree(tree)
	for _, path := range c.Delete {
		known = known && isPlainPath(path) && root.setEntry(path, "", "", true)
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		mode, content := cmp.Or(c.Modes[path], gitobject.ModeFile), c.Files[path]
		kind, plain := fileKinds[mode]
		if !known || !plain || !isPlainPath(path) {
			return "", false
		}
		id := content
		if kind == gitobject.Blob {
			var err error
			if id, err = r.writeBlob([]byte(content)); err != nil {
				return "", false
			}
		}
		known = isID(id) && root.setEntry(path, mode, id, true)
	}
	if !known {
		return "", false
	}
	id, err := root.writeTree()
	return id, err == nil
}

// importCommit writes a commit through git fast-import: one process, however many files.
func (s *Server) importCommit(made int64, parent string, c Change, author, committer person, at int64) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit refs/test/made/%d\nmark :1\nauthor %s <%s> %d +0000\ncommitter %s <%s> %d +0000\n",
		made,
		author.name, author.email, at, committer.name, committer.email, at)
	fmt.Fprintf(&b, "data %d\n%s\n", len(c.Message), c.Message)
	if parent != "" {
		fmt.Fprintf(&b, "from %s\n", parent)
	}
	for _, path := range c.Delete {
		fmt.Fprintf(&b, "D %q\n", path)
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		mode, content := c.Modes[path], c.Files[path]
		switch mode {
		case "160000":
			fmt.Fprintf(&b, "M 160000 %s %q\n", content, path)
			continue
		case "":
			mode = "100644"
		}
		fmt.Fprintf(&b, "M %s inline %q\ndata %d\n%s\n", mode, path, len(content), content)
	}
	b.WriteString("get-mark :1\n")
	id, err := s.git.runGit(b.Bytes(), "fast-import", "--quiet", "--force", "--cat-blob-fd=1")
	s.mustWork(id, err)
	return id
}

// commitBytes is a commit object. headers stand between the people and the message.
func commitBytes(tree string, parents []string, author, committer person, at int64, headers, message string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s <%s> %d +0000\ncommitter %s <%s> %d +0000\n", author.name, author.email, at,
		committer.name, committer.email, at)
	b.WriteString(headers + "\n" + message)
	return b.Bytes()
}

// signature is a header like those of the commits that GitHub signs.
const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n wsBcBAABCAAQBQJg\n -----END PGP SIGNATURE-----\n"

// writeCommit writes a commit object of exactly these parts. A signed one gets a signature header, as GitHub's own
// have.
func (s *Server) writeCommit(tree string, parents []string, author, committer person, message string,
	signed bool) (string,
	error) {
	headers := ""
	if signed {
		headers = signature
	}
	id, err := s.git.writeCommit(commitBytes(tree, parents, author, committer, s.nextTime().Unix(), headers, message))
	if err == nil && signed {
		s.verified[id] = true
	}
	return id, err
}
