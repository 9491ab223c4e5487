package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pull is a pull request to be opened.
type Pull struct {
	Head   string // branch
	Base   string // "main" if empty
	Author string // login, "agent" if empty
	Title  string
	Draft  bool
	Fork   string // owner/name of the fork that the branch lies in, "" for the repository itself
}

// pull is a pull request.
type pull struct {
	Pull
	number        int64
	state         string
	head          string
	mergeSHA      string
	rebased       []string // the commits of base that it became, where it was merged by rebasing
	mergedBy      string
	closedBy      string
	heads         []string // all that it ever had
	opened, moved time.Time
	closed        time.Time
	timeline      []happening
	reviews       []*review
	comments      []*comment
}

// headBranch is the branch that the head follows. A fork's branches lie in the same repository, where nobody looks for
// them.
func (p *pull) headBranch() string { return headRef(p.Pull) }

func headRef(p Pull) string {
	if p.Fork != "" {
		return "refs/test/" + p.Fork + "/" + p.Head
	}
	return "refs/heads/" + p.Head
}

// Open opens a pull request and gives its number.
func (s *Server) Open(o Pull) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Base == "" {
		o.Base = "main"
	}
	if o.Author == "" {
		o.Author = "agent"
	}
	if o.Title == "" {
		o.Title = "Work on " + o.Head
	}
	p := &pull{Pull: o, number: int64(len(s.pulls) + len(s.issues) + 1), state: "open", opened: s.nextTime(), moved: s.now}
	p.head = s.git.resolveName(p.headBranch())
	if p.head == "" {
		panic("githubtest: no branch " + p.headBranch())
	}
	s.pulls[p.number] = p
	s.recordHead(p)
	return p.number
}

func (s *Server) baseSHA(p *pull) string { return s.git.resolveName("refs/heads/" + p.Base) }

// recordHead records a new head.
func (s *Server) recordHead(p *pull) {
	p.heads = append(p.heads, p.head)
	s.mustWork("", s.git.putRef(fmt.Sprintf("refs/pull/%d/head", p.number), p.head))
}

// mustWork ends a test whose repository does not work.
func (s *Server) mustWork(_ string, err error) {
	if err != nil {
		panic("githubtest: " + err.Error())
	}
}

// happening is an event of a pull request's timeline, by the name that the REST API has for it.
type happening struct {
	name, actor string
	at          time.Time
}

// addTimelineEvent adds to the timeline what somebody did; actor is "" where the account is gone.
func (s *Server) addTimelineEvent(p *pull, name, actor string) {
	p.moved = s.now
	p.timeline = append(p.timeline, happening{name, actor, s.nextTime()})
}

// syncBranches looks which branches of open pull requests have moved. A push on top is a synchronize; anything else is
// a force-push.
func (s *Server) syncBranches(actor string) {
	for _, number := range slices.Sorted(maps.Keys(s.pulls)) {
		p := s.pulls[number]
		now := s.git.resolveName(p.headBranch())
		if p.state != "open" || now == "" || now == p.head {
			continue
		}
		old := p.head
		p.head, p.moved = now, s.nextTime()
		if s.git.isAncestor(old, now) {
			s.recordHead(p)
			continue
		}
		s.addTimelineEvent(p, "head_ref_force_pushed", actor)
		s.recordHead(p)
	}
}

// Head is the commit that a pull request's head is at.
func (s *Server) Head(number int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pulls[number].head
}

// Push adds a commit to a pull request's branch.
func (s *Server) Push(number int64, c Change) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	if c.Author == "" {
		c.Author = p.Author
	}
	id := s.commitTo(p.headBranch(), c)
	s.syncBranches(cmp.Or(c.Pusher, c.Author))
	return id
}

// ForcePush replaces a pull request's branch by one commit on its base. With repoint, the reviews on the old head are
// moved to the new one, as GitHub has been seen to do.
func (s *Server) ForcePush(number int64, c Change, repoint bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	if c.Author == "" {
		c.Author = p.Author
	}
	if c.Parent == "" {
		c.Parent = s.baseSHA(p)
	}
	old := p.head
	id := s.commitTo(p.headBranch(), c)
	s.syncBranches(cmp.Or(c.Pusher, c.Author))
	for _, r := range p.reviews {
		if repoint && r.commit == old {
			r.commit = id
		}
	}
	return id
}

// Retarget gives a pull request another base.
func (s *Server) Retarget(number int64, base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls[number].Base = base
	s.addTimelineEvent(s.pulls[number], "base_ref_changed", s.pulls[number].Author)
}

// TakeBase gives a pull request another base as GitHub does by itself, where the branch that was its base is deleted
// after a merge.
func (s *Server) TakeBase(number int64, base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls[number].Base = base
	s.addTimelineEvent(s.pulls[number], "automatic_base_change_succeeded", s.pulls[number].Author)
}

// SetDraft makes a pull request a draft, or ready for review.
func (s *Server) SetDraft(number int64, draft bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	p.Draft = draft
	s.addTimelineEvent(p, map[bool]string{true: "convert_to_draft", false: "ready_for_review"}[draft], p.Author)
}

// Close closes a pull request unmerged.
func (s *Server) Close(number int64, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	p.state, p.closedBy, p.closed = "closed", by, s.nextTime()
	s.addTimelineEvent(p, "closed", by)
}

// Reopen opens a closed pull request again.
func (s *Server) Reopen(number int64, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	p.state, p.closedBy, p.closed = "open", "", time.Time{}
	s.addTimelineEvent(p, "reopened", by)
}

// rebasePull puts the commits of a pull request on its base, one by one, as GitHub's "Rebase and merge" does.
func (s *Server) rebasePull(p *pull, base string) (ids []string) {
	commits, err := s.git.commitsBetween(s.baseOf(p), p.head)
	s.mustWork("", err)
	onto := base
	for _, c := range slices.Backward(commits) { // the oldest first
		tree, err := s.git.mergeTrees(onto, c.sha)
		s.mustWork(tree, err)
		base, err = s.writeCommit(tree, []string{base}, c.author, person{"GitHub", "noreply@github.com"}, c.message, true)
		s.mustWork(base, err)
		ids = append(ids, base)
	}
	return ids
}

// Merge merges a pull request ("merge", "squash" or "rebase") and gives the new commit of its base.
func (s *Server) Merge(number int64, by, method string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[number]
	base := s.baseSHA(p)
	if method == "rebase" {
		p.rebased = s.rebasePull(p, base)
		return s.recordMerge(p, base, p.rebased[len(p.rebased)-1], by)
	}
	tree, err := s.git.mergeTrees(base, p.head)
	s.mustWork(tree, err)
	parents := []string{base, p.head}
	message := fmt.Sprintf("Merge pull request #%d from %s\n\n%s", number, p.Head, p.Title)
	if method == "squash" {
		parents, message = parents[:1], fmt.Sprintf("%s (#%d)", p.Title, number)
	}
	id, err := s.writeCommit(tree, parents, s.personNamed(by), person{"GitHub", "noreply@github.com"}, message, true)
	s.mustWork(id, err)
	return s.recordMerge(p, base, id, by)
}

// recordMerge moves the base to the commit of a merge.
func (s *Server) recordMerge(p *pull, base, id, by string) string {
	s.mustWork("", s.git.setRef("refs/heads/"+p.Base, id, base))
	p.state, p.mergedBy, p.mergeSHA, p.closed = "closed", by, id, s.nextTime()
	s.addTimelineEvent(p, "merged", by)
	s.addTimelineEvent(p, "closed", by)
	return id
}

// pullSide is a side of a pull request.
func (s *Server) pullSide(example, repo, ref, sha string) object {
	owner := s.ownerOf(repo)
	return object{"label": owner.Login + ":" + ref, "ref": ref, "sha": sha, "user": s.simpleUser(owner),
		"repo": s.repositoryObject(example, repo)}
}

// pullJSON is a pull request, whole or as lists give it.
func (s *Server) pullJSON(p *pull, whole bool) object {
	example := "get /repos/{owner}/{repo}/pulls"
	if whole {
		example += "/{pull_number}"
	}
	from := s.Name
	if p.Fork != "" {
		from = p.Fork
	}
	var merge any
	if p.mergeSHA != "" {
		merge = p.mergeSHA
	}
	o := object(s.exampleObject(example)).withMembers(object{"number": p.number, "id": 900_000 + p.number,
		"node_id": nodeID("PR", p.number), "state": p.state, "title": p.Title,
		"user": s.simpleUser(s.userNamed(p.Author)), "body": nil, "labels": []any{}, "milestone": nil,
		"active_lock_reason": nil, "locked": false,
		"created_at": timeStamp(p.opened), "updated_at": timeStamp(p.moved), "closed_at": stampOrNull(p.closed),
		"merged_at": nil, "merge_commit_sha": merge,
		"assignee": nil, "assignees": []any{}, "requested_reviewers": []any{}, "requested_teams": []any{},
		"draft": p.Draft, "auto_merge": nil,
		"head": s.pullSide(example, from, p.Head, p.head), "base": s.pullSide(example, s.Name, p.Base, s.baseSHA(p)),
		"author_association": "NONE",
		"url":                s.apiURL("pulls/%d", p.number), "html_url": fmt.Sprintf("%s/%s/pull/%d", s.URL, s.Name,
			p.number)})
	if p.mergedBy != "" {
		o["merged_at"] = timeStamp(p.closed)
	}
	if whole {
		changes, err := s.git.changesOf(s.baseOf(p), p.head)
		s.mustWork("", err)
		commits, err := s.git.commitsBetween(s.baseOf(p), p.head)
		s.mustWork("", err)
		o.withMembers(object{"merged": p.mergedBy != "", "mergeable": p.state == "open", "mergeable_state": "clean",
			"merged_by": nil, "comments": 0,
			"review_comments": len(p.comments), "maintainer_can_modify": false, "commits": len(commits),
			"additions": len(changes), "deletions": 0, "changed_files": len(changes)})
		if p.mergedBy != "" {
			o["merged_by"] = s.simpleUser(s.userNamed(p.mergedBy))
		}
	}
	return o
}

// baseOf is what a pull request is compared with: its base, or, once merged, what the base was then.
func (s *Server) baseOf(p *pull) string {
	if len(p.rebased) > 0 {
		return p.rebased[0] + "^1"
	}
	if p.mergeSHA != "" {
		return p.mergeSHA + "^1"
	}
	return s.baseSHA(p)
}

// pullOf finds the pull request that a path names.
func (s *Server) pullOf(c call) *pull { return s.pulls[pathNumber(c, "pull_number")] }

func pathNumber(c call, name string) int64 {
	n, err := strconv.ParseInt(c.PathValue(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// pageOfList cuts a list as the query asks and says in the Link header where it goes on.
func (s *Server) pageOfList(c call, list []any) reply {
	at, size := pageOf(c)
	// an empty list, never null
	rep := okReply(append([]any{}, list[min(len(list), (at-1)*size):min(len(list), at*size)]...))
	if len(list) > at*size {
		rep.header = http.Header{"Link": {s.nextPageLink(c, at+1)}}
	}
	return rep
}

func pageOf(c call) (at, size int) {
	at, size = 1, 30
	if n, err := strconv.Atoi(c.URL.Query().Get("page")); err == nil && n > 0 {
		at = n
	}
	if n, err := strconv.Atoi(c.URL.Query().Get("per_page")); err == nil && n > 0 {
		size = min(n, 100)
	}
	return at, size
}

func (s *Server) nextPageLink(c call, page int) string {
	q := c.URL.Query()
	q.Set("page", fmt.Sprint(page))
	return fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.APIURL(), c.URL.Path, q.Encode())
}

func (s *Server) getPull(c call) reply {
	if p := s.pullOf(c); p != nil {
		return okReply(s.pullJSON(p, true))
	}
	return refuseWith(404, "Not Found")
}

func (s *Server) listPulls(c call) reply {
	q := c.URL.Query()
	state, head := q.Get("state"), q.Get("head")
	if state == "" {
		state = "open"
	}
	var list []any
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(s.pulls))) {
		p := s.pulls[n]
		owner, _, _ := strings.Cut(s.Name, "/")
		if p.Fork != "" {
			owner, _, _ = strings.Cut(p.Fork, "/")
		}
		if (state == "all" || p.state == state) && (head == "" || head == owner+":"+p.Head) &&
			(q.Get("base") == "" || q.Get("base") == p.Base) {
			list = append(list, s.pullJSON(p, false))
		}
	}
	return s.pageOfList(c, list)
}

// pullsOf lists the pull requests whose commits hold one, or that were merged as it.
func (s *Server) pullsOf(c call) reply {
	sha := s.git.resolveName(c.PathValue("commit_sha") + "^{commit}")
	if sha == "" {
		return refuseWith(422, "No commit found for SHA: %s", c.PathValue("commit_sha"))
	}
	var list []any
	for _, n := range slices.Sorted(maps.Keys(s.pulls)) {
		p := s.pulls[n]
		inside := s.git.isAncestor(sha, p.head) && !s.git.isAncestor(sha, s.baseOf(p))
		if inside || p.mergeSHA == sha || slices.Contains(p.rebased, sha) {
			list = append(list, s.pullJSON(p, false))
		}
	}
	return s.pageOfList(c, list)
}

// maxCommits and maxFiles are how much GitHub lists of a pull request; the rest is left out without a word.
const (
	maxCommits = 250
	maxFiles   = 3000
)

func (s *Server) listCommits(c call) reply {
	p := s.pullOf(c)
	if p == nil {
		return refuseWith(404, "Not Found")
	}
	commits, err := s.git.commitsBetween(s.baseOf(p), p.head)
	s.mustWork("", err)
	slices.Reverse(commits)
	var list []any
	for _, c := range commits[:min(len(commits), maxCommits)] {
		list = append(list, s.listedCommit(c))
	}
	return s.pageOfList(c, list)
}

func (s *Server) listFiles(c call) reply {
	p := s.pullOf(c)
	if p == nil {
		return refuseWith(404, "Not Found")
	}
	changes, err := s.git.changesOf(s.baseOf(p), p.head)
	s.mustWork("", err)
	var list []any
	for _, f := range changes[:min(len(changes), maxFiles)] {
		at := s.apiURL("contents/%s?ref=%s", f.path, p.head)
		o := object{"sha": f.id, "filename": f.path, "status": f.status, "additions": 1, "deletions": 0, "changes": 1,
			"contents_url": at, "blob_url": at, "raw_url": at}
		if f.previous != "" {
			o["previous_filename"] = f.previous
		}
		list = append(list, o)
	}
	return s.pageOfList(c, list)
}
