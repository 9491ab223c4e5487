package githubtest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

func (s *Server) refJSON(ref, sha string) object {
	return object{"ref": ref, "node_id": "REF_" + ref, "url": s.apiURL("git/%s", ref),
		"object": object{"type": s.git.objectKind(sha), "sha": sha, "url": s.apiURL("git/commits/%s", sha)}}
}

func (s *Server) getRef(c call) reply {
	ref := "refs/" + c.PathValue("ref")
	sha := s.git.resolveName(ref)
	if was, moved := s.before[ref]; c.stale && moved {
		sha = was
	}
	if sha == "" {
		return refuseWith(404, "Not Found")
	}
	return okReply(s.refJSON(ref, sha))
}

func (s *Server) createRef(c call) reply {
	var in struct{ Ref, SHA string }
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if !strings.HasPrefix(in.Ref, "refs/heads/") && !strings.HasPrefix(in.Ref, "refs/tags/") {
		return refuseWith(422, "Reference name must start with 'refs/heads/' or 'refs/tags/'")
	}
	if s.git.objectKind(in.SHA) == "" {
		return refuseWith(422, "Object does not exist")
	}
	if why := s.ruleViolation(c.token, in.Ref, s.git.resolveName(in.Ref), in.SHA); why != "" {
		return violationReply(why)
	}
	if err := s.git.setRef(in.Ref, in.SHA, ""); err != nil {
		if errors.Is(err, errMoved) && s.git.resolveName(in.Ref) != "" {
			return refuseWith(422, "Reference already exists")
		}
		return refuseWith(422, "%s is not a valid ref name", in.Ref)
	}
	s.before[in.Ref] = ""
	s.syncBranches(c.token.Login)
	return createdReply(s.refJSON(in.Ref, in.SHA))
}

// updateRef moves a reference, without force only forward.
func (s *Server) updateRef(c call) reply {
	var in struct {
		SHA   string
		Force bool
	}
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	ref := "refs/" + c.PathValue("ref")
	now := s.git.resolveName(ref)
	switch {
	case now == "":
		return refuseWith(422, "Reference does not exist")
	case s.git.objectKind(in.SHA) != "commit":
		return refuseWith(422, "Object does not exist")
	case !in.Force && !s.git.isAncestor(now, in.SHA):
		return refuseWith(422, "Update is not a fast forward")
	}
	if why := s.ruleViolation(c.token, ref, now, in.SHA); why != "" {
		return violationReply(why)
	}
	if err := s.git.setRef(ref, in.SHA, now); err != nil {
		return refuseWith(409, "Reference cannot be updated")
	}
	s.before[ref] = now
	s.syncBranches(c.token.Login)
	return okReply(s.refJSON(ref, in.SHA))
}

// treeJSON lists a tree, whole where all is set.
func (s *Server) treeJSON(id string, all bool) (object, error) {
	entries, err := s.git.listTree(id, all)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, e := range entries {
		o := object{"path": e.path, "mode": e.mode, "type": e.kind, "sha": e.id, "url": s.apiURL("git/%ss/%s", e.kind,
			e.id)}
		if e.kind == "blob" {
			o["size"] = e.size
		}
		list = append(list, o)
	}
	return object{"sha": id, "url": s.apiURL("git/trees/%s", id), "tree": list, "truncated": false}, nil
}

func (s *Server) getTree(c call) reply {
	id := s.git.resolveName(c.PathValue("tree_sha") + "^{tree}")
	if id == "" {
		return refuseWith(404, "Not Found")
	}
	o, err := s.treeJSON(id, c.URL.Query().Get("recursive") != "")
	s.mustWork("", err)
	return okReply(o)
}

// treeInput is one entry of a tree to be made.
type treeInput struct {
	Path, Mode, Type string
	SHA, Content     *string
}

// treeEntries stores what is new. An object that an entry names exists before the request, and not only through another
// entry of it.
func (s *Server) treeEntries(in []treeInput) ([]entry, *reply) {
	no := func(format string, args ...any) ([]entry, *reply) {
		rep := refuseWith(422, format, args...)
		return nil, &rep
	}
	var named []string
	for _, e := range in {
		if e.SHA != nil {
			named = append(named, *e.SHA)
		}
	}
	kinds := s.git.objectKinds(named)
	var entries []entry
	for _, e := range in {
		made := entry{mode: e.Mode, path: e.Path}
		switch {
		case e.SHA != nil && e.Content != nil:
			return no("Must supply either tree.sha or tree.content, not both")
		case e.SHA != nil && e.Type != "commit" && kinds[*e.SHA] != e.Type:
			return no("GitRPC::BadObjectState: tree.sha %s is not a valid %s", *e.SHA, e.Type)
		case e.SHA != nil:
			made.id = *e.SHA
		case e.Content != nil:
			id, err := s.git.writeBlob([]byte(*e.Content))
			s.mustWork(id, err)
			made.id = id
		}
		entries = append(entries, made)
	}
	return entries, nil
}

// createTree makes a tree, on top of another one or alone.
func (s *Server) createTree(c call) reply {
	var in struct {
		Base_Tree string
		Tree      []treeInput
	}
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	base := ""
	if in.Base_Tree != "" {
		if base = s.git.resolveName(in.Base_Tree + "^{tree}"); base == "" {
			return refuseWith(404, "Not Found")
		}
	}
	if len(in.Tree) == 0 {
		return refuseWith(422, "Invalid tree info")
	}
	entries, bad := s.treeEntries(in.Tree)
	if bad != nil {
		return *bad
	}
	id, err := s.git.overlayTree(base, entries)
	if err != nil {
		return refuseWith(422, "tree.path contains a malformed path component")
	}
	o, err := s.treeJSON(id, false)
	s.mustWork("", err)
	return createdReply(o)
}

func (s *Server) createBlob(c call) reply {
	var in struct{ Content, Encoding string }
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	data := []byte(in.Content)
	if in.Encoding == "base64" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return refuseWith(422, "content is not valid Base64")
		}
	}
	id, err := s.git.writeBlob(data)
	s.mustWork(id, err)
	return createdReply(object{"sha": id, "url": s.apiURL("git/blobs/%s", id)})
}

func (s *Server) getBlob(c call) reply {
	id := c.PathValue("file_sha")
	if s.git.objectKind(id) != "blob" {
		return refuseWith(404, "Not Found")
	}
	data, err := s.git.readBlob(id)
	s.mustWork("", err)
	if strings.Contains(c.Header.Get("Accept"), "raw") {
		return okReply(data)
	}
	return okReply(object{"sha": id, "node_id": "B_" + id, "size": len(data), "url": s.apiURL("git/blobs/%s", id),
		"content": linedBase64(data), "encoding": "base64"})
}

// linedBase64 is base64 with line ends, as GitHub gives it.
func linedBase64(data []byte) string {
	var b strings.Builder
	text := base64.StdEncoding.EncodeToString(data)
	for len(text) > 60 {
		b.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	return b.String() + text + "\n"
}

func (s *Server) getGitCommit(c call) reply {
	id := c.PathValue("commit_sha")
	if s.git.objectKind(id) != "commit" {
		return refuseWith(404, "Not Found")
	}
	found, err := s.git.readCommit(id)
	s.mustWork("", err)
	return okReply(s.gitCommit(found))
}

// createCommit makes a commit. Without an author it is the app's, written by GitHub itself, and signed.
func (s *Server) createCommit(c call) reply {
	var in struct {
		Message, Tree     string
		Parents           []string
		Author, Committer *struct{ Name, Email string }
	}
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if s.git.objectKind(in.Tree) != "tree" {
		return refuseWith(422, "Tree SHA does not exist")
	}
	for _, p := range in.Parents {
		if s.git.objectKind(p) != "commit" {
			return refuseWith(422, "Parent SHA does not exist or is not a commit object")
		}
	}
	author, committer := s.personNamed(c.token.Login), person{"GitHub", "noreply@github.com"}
	if in.Author != nil {
		author = person{in.Author.Name, in.Author.Email}
		committer = author
	}
	if in.Committer != nil {
		committer = person{in.Committer.Name, in.Committer.Email}
	}
	id, err := s.writeCommit(in.Tree, in.Parents, author, committer, in.Message, in.Author == nil && in.Committer == nil &&
		!s.unsigned)
	if err != nil {
		return refuseWith(422, "%v", err)
	}
	found, err := s.git.readCommit(id)
	s.mustWork("", err)
	return createdReply(s.gitCommit(found))
}

// getContents gives a file or directory at a commit.
func (s *Server) getContents(c call) reply {
	ref, path := c.URL.Query().Get("ref"), strings.Trim(c.PathValue("path"), "/")
	if ref == "" {
		ref = "main"
	}
	commit := s.git.resolveName(ref + "^{commit}")
	if commit == "" {
		return refuseWith(404, "No commit found for the ref %s", ref)
	}
	id := s.git.resolveName(commit + ":" + path)
	if id == "" {
		return refuseWith(404, "Not Found")
	}
	if path != "" {
		parent, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			parent, name = path[:i], path[i+1:]
		}
		entries, err := s.git.listTree(commit+":"+parent, false)
		s.mustWork("", err)
		for _, e := range entries {
			if e.path == name && e.kind != "tree" {
				return okReply(s.contentJSON(path, commit, e, true))
			}
		}
	}
	entries, err := s.git.listTree(id, false)
	s.mustWork("", err)
	list := []any{}
	for _, e := range entries[:min(len(entries), 1000)] {
		list = append(list, s.contentJSON(strings.TrimPrefix(path+"/"+e.path, "/"), commit, e, false))
	}
	return okReply(list)
}

// maxInline is how large a file may be whose bytes stand in the answer.
const maxInline = 1 << 20

func (s *Server) contentJSON(path, commit string, e entry, whole bool) object {
	at := s.apiURL("contents/%s?ref=%s", path, commit)
	kind := map[string]string{"100644": "file", "100755": "file", "120000": "symlink", "160000": "submodule",
		"040000": "dir"}[e.mode]
	o := object{"type": kind, "name": path[strings.LastIndexByte(path, '/')+1:], "path": path, "sha": e.id,
		"size": e.size, "url": at, "html_url": at, "git_url": at,
		"download_url": at, "_links": object{"git": at, "html": at, "self": at}}
	if !whole {
		return o
	}
	switch kind {
	case "symlink":
		data, err := s.git.readBlob(e.id)
		s.mustWork("", err)
		return o.withMembers(object{"target": string(data)})
	case "submodule":
		return o.withMembers(object{"submodule_git_url": "https://example.com/x.git"})
	case "file":
		o.withMembers(object{"encoding": "none", "content": ""})
		if e.size <= maxInline {
			data, err := s.git.readBlob(e.id)
			s.mustWork("", err)
			o.withMembers(object{"encoding": "base64", "content": linedBase64(data)})
		}
	}
	return o
}

// Ref is the commit that a reference holds, "" if there is none.
func (s *Server) Ref(name string) string { return s.git.resolveName(name) }

// SetRef moves a reference, whatever it held.
func (s *Server) SetRef(name, sha string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before[name] = s.git.resolveName(name)
	s.mustWork("", s.git.putRef(name, sha))
	s.syncBranches("owner")
}

// Read is a file of a commit; an error if there is none.
func (s *Server) Read(commit, path string) ([]byte, error) {
	id := s.git.resolveName(commit + ":" + path)
	if id == "" {
		return nil, fmt.Errorf("no %s in %s", path, commit)
	}
	return s.git.readBlob(id)
}
