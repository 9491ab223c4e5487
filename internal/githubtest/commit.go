package githubtest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	id := s.commit("refs/heads/"+branch, c)
	s.sync(c.Author)
	return id
}

// CommitMany adds empty commits to a branch, at once.
func (s *Server) CommitMany(branch string, n int, author string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref, who := "refs/heads/"+branch, s.person(author)
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "commit %s\ncommitter %s <%s> %d +0000\ndata 7\nChange\n\n", ref, who.name, who.email,
			s.tick().Unix())
		if i == 0 {
			fmt.Fprintf(&b, "from %s\n", s.git.resolve(ref))
		}
	}
	s.must(s.git.git(b.Bytes(), "fast-import", "--quiet"))
	s.sync(author)
}

// CommitFork is Commit on a branch of a fork ("mallory/work").
func (s *Server) CommitFork(fork, branch string, c Change) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.commit(headRef(Pull{Fork: fork, Head: branch}), c)
	s.sync(c.Author)
	return id
}

// commit writes the commit through git fast-import: one process, however many files.
func (s *Server) commit(ref string, c Change) string {
	parent := c.Parent
	if parent == "" && !c.Orphan {
		if parent = s.git.resolve(ref); parent == "" {
			parent = s.git.resolve("refs/heads/main")
		}
	}
	author, committer := s.person(c.Author), s.person(c.Author)
	if c.Committer != "" {
		committer = s.person(c.Committer)
	}
	if c.Message == "" {
		c.Message = "Change\n"
	}
	at := s.tick().Unix()
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit refs/test/made/%d\nmark :1\nauthor %s <%s> %d +0000\ncommitter %s <%s> %d +0000\n",
		s.nextID(),
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
	id, err := s.git.git(b.Bytes(), "fast-import", "--quiet", "--force", "--cat-blob-fd=1")
	s.must(id, err)
	s.must(s.git.git(nil, "update-ref", ref, id))
	return id
}

// record writes a commit object of exactly these parts. A signed one gets a signature header, as GitHub's own have.
func (s *Server) record(tree string, parents []string, author, committer person, message string, signed bool) (string,
	error) {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	at := s.tick().Unix()
	fmt.Fprintf(&b, "author %s <%s> %d +0000\ncommitter %s <%s> %d +0000\n", author.name, author.email, at,
		committer.name, committer.email, at)
	if signed {
		b.WriteString("gpgsig -----BEGIN PGP SIGNATURE-----\n \n wsBcBAABCAAQBQJg\n -----END PGP SIGNATURE-----\n")
	}
	fmt.Fprintf(&b, "\n%s", message)
	id, err := s.git.write("commit", []byte(b.String()))
	if err == nil && signed {
		s.verified[id] = true
	}
	return id, err
}
