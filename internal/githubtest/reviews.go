package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// review is a review of a pull request.
type review struct {
	id                        int64
	user, state, body, commit string
	editor                    string // who changed the body last
	at, edited                time.Time
}

// comment is an inline comment.
type comment struct {
	id, replyTo      int64
	user, body, path string
	commit           string
	line             int
	at               time.Time
}

// Review adds a review of somebody on a pull request's head (APPROVED, CHANGES_REQUESTED, COMMENTED) and gives its id.
func (s *Server) Review(pull int64, user, state, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[pull]
	return s.addReview(p, user, state, body, p.head).id
}

func (s *Server) addReview(p *pull, user, state, body, commit string) *review {
	r := &review{id: s.nextID(), user: user, body: body, commit: commit}
	p.reviews = append(p.reviews, r)
	s.recordSubmission(p, r, state)
	return r
}

// recordSubmission gives a review its state and time; a pending one is nobody's business yet.
func (s *Server) recordSubmission(p *pull, r *review, state string) {
	r.state, r.at = state, s.nextTime()
	if state == pending {
		return
	}
	p.moved = s.now
}

// pending is the state of a review that its author has not submitted.
const pending = "PENDING"

// reviewsSeenBy are the reviews that somebody may see: all that were submitted, and their own pending one.
func (p *pull) reviewsSeenBy(login string) []*review {
	var out []*review
	for _, r := range p.reviews {
		if r.state != pending || r.user == login {
			out = append(out, r)
		}
	}
	return out
}

// EditReview changes a review's body, as who wrote it.
func (s *Server) EditReview(pull, id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.pulls[pull].reviewByID(id)
	r.body, r.editor, r.edited = body, r.user, s.nextTime()
}

// EditReviewBy changes a review's body as somebody else, which whoever may write to the repository can. "" is an
// account that is gone.
func (s *Server) EditReviewBy(pull, id int64, by, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.pulls[pull].reviewByID(id)
	r.body, r.editor, r.edited = body, by, s.nextTime()
}

// DismissReview dismisses a review.
func (s *Server) DismissReview(pull, id int64, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[pull]
	r := p.reviewByID(id)
	r.state = "DISMISSED"
	s.addTimelineEvent(p, "review_dismissed", by)
}

// RepointReview moves a review to another commit, as GitHub may after a force-push.
func (s *Server) RepointReview(pull, id int64, commit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls[pull].reviewByID(id).commit = commit
}

// ReviewBody is a review's body now, and whether there is such a review.
func (s *Server) ReviewBody(pull, id int64) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.pulls[pull].reviewByID(id); r != nil {
		return r.body, true
	}
	return "", false
}

// ReviewsBy are the ids of somebody's reviews, the oldest first.
func (s *Server) ReviewsBy(pull int64, user string) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int64
	for _, r := range s.pulls[pull].reviews {
		if r.user == user {
			ids = append(ids, r.id)
		}
	}
	return ids
}

func (p *pull) reviewByID(id int64) *review {
	i := slices.IndexFunc(p.reviews, func(r *review) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return p.reviews[i]
}

func (s *Server) reviewJSON(p *pull, r *review) object {
	o := object(s.exampleObject("post /repos/{owner}/{repo}/pulls/{pull_number}/reviews"))
	o.withMembers(object{"id": r.id, "node_id": nodeID("PRR", r.id), "user": s.simpleUser(s.userNamed(r.user)),
		"body":  r.body,
		"state": r.state, "commit_id": r.commit,
		"submitted_at": timeStamp(r.at), "pull_request_url": s.apiURL("pulls/%d", p.number), "author_association": "NONE",
		"html_url": fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", s.URL, s.Name, p.number, r.id)})
	if r.state == pending {
		delete(o, "submitted_at")
	}
	return o
}

func (s *Server) listReviews(c call) reply {
	p := s.pullOf(c)
	if p == nil {
		return refuseWith(404, "Not Found")
	}
	var list []any
	for _, r := range p.reviewsSeenBy(c.token.Login) {
		list = append(list, s.reviewJSON(p, r))
	}
	return s.pageOfList(c, list)
}

// maxBody is how long a comment may be, in characters.
const maxBody = 65536

// bodyProblem refuses a body that GitHub refuses.
func bodyProblem(resource, body string) *reply {
	switch {
	case strings.TrimSpace(body) == "":
		rep := invalidInput(resource, "body", "body can't be blank")
		return &rep
	case len([]rune(body)) > maxBody:
		rep := invalidInput(resource, "body", "body is too long (maximum is %d characters)", maxBody)
		return &rep
	}
	return nil
}

// reviewStates are what the events of a review make of it; without one it is pending.
var reviewStates = map[string]string{"": pending, "COMMENT": "COMMENTED", "APPROVE": "APPROVED",
	"REQUEST_CHANGES": "CHANGES_REQUESTED"}

func (s *Server) createReview(c call) reply {
	p := s.pullOf(c)
	if p == nil {
		return refuseWith(404, "Not Found")
	}
	var in struct{ Body, Event, Commit_ID string }
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	state, known := reviewStates[in.Event]
	if !known {
		return invalidInput("PullRequestReview", "event", "event is not included in the list")
	}
	if bad := bodyProblem("PullRequestReview", in.Body); bad != nil && state != "APPROVED" {
		return *bad
	}
	if slices.ContainsFunc(p.reviews, func(r *review) bool { return r.state == pending && r.user == c.token.Login }) {
		return invalidInput("PullRequestReview", "user_id", "User can only have one pending review per pull request")
	}
	if in.Commit_ID == "" {
		in.Commit_ID = p.head
	}
	if !slices.Contains(p.heads, in.Commit_ID) {
		return invalidInput("PullRequestReview", "commit_id", "commit_id is not part of the pull request")
	}
	return okReply(s.reviewJSON(p, s.addReview(p, c.token.Login, state, in.Body, in.Commit_ID)))
}

func (s *Server) updateReview(c call) reply {
	p := s.pullOf(c)
	var r *review
	if p != nil {
		r = p.reviewByID(pathNumber(c, "review_id"))
	}
	if r == nil {
		return refuseWith(404, "Not Found")
	}
	var in struct{ Body string }
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if r.user != c.token.Login {
		return refuseWith(403, "Resource not accessible by integration")
	}
	if bad := bodyProblem("PullRequestReview", in.Body); bad != nil {
		return *bad
	}
	r.body, r.editor, r.edited = in.Body, c.token.Login, s.now
	return okReply(s.reviewJSON(p, r))
}

// ownReview is the review that a request is about, where it is the caller's; else what GitHub answers.
func (s *Server) ownReview(c call) (*pull, *review, *reply) {
	p := s.pullOf(c)
	var r *review
	if p != nil {
		r = p.reviewByID(pathNumber(c, "review_id"))
	}
	var no reply
	switch {
	case r == nil || r.state == pending && r.user != c.token.Login:
		no = refuseWith(404, "Not Found")
	case r.user != c.token.Login:
		no = refuseWith(403, "Resource not accessible by integration")
	default:
		return p, r, nil
	}
	return nil, nil, &no
}

func (s *Server) submitReview(c call) reply {
	p, r, no := s.ownReview(c)
	if no != nil {
		return *no
	}
	var in struct{ Body, Event string }
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	state, known := reviewStates[in.Event]
	switch {
	case !known || state == pending:
		return invalidInput("PullRequestReview", "event", "event is not included in the list")
	case r.state != pending:
		return invalidInput("PullRequestReview", "state", "Could not submit a review that is not pending.")
	}
	if in.Body != "" {
		r.body = in.Body
	}
	if bad := bodyProblem("PullRequestReview", r.body); bad != nil && state != "APPROVED" {
		return *bad
	}
	s.recordSubmission(p, r, state)
	return okReply(s.reviewJSON(p, r))
}

func (s *Server) deleteReview(c call) reply {
	p, r, no := s.ownReview(c)
	if no != nil {
		return *no
	}
	if r.state != pending {
		return invalidInput("PullRequestReview", "state", "Can not delete a non-pending pull request review")
	}
	gone := s.reviewJSON(p, r)
	p.reviews = slices.DeleteFunc(p.reviews, func(x *review) bool { return x == r })
	return okReply(gone)
}

// Reply adds somebody's answer to an inline comment.
func (s *Server) Reply(pull, to int64, user, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[pull]
	c := &comment{id: s.nextID(), replyTo: to, user: user, body: body, at: s.nextTime(), commit: p.head}
	for _, have := range p.comments {
		if have.id == to {
			c.path, c.line = have.path, have.line
		}
	}
	p.comments = append(p.comments, c)
	return c.id
}

// Comments are the bodies of the inline comments, the oldest first.
func (s *Server) Comments(pull int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.pulls[pull].comments {
		out = append(out, c.body)
	}
	return out
}

func (s *Server) commentJSON(p *pull, c *comment) object {
	o := object(s.exampleObject("get /repos/{owner}/{repo}/pulls/{pull_number}/comments"))
	o.withMembers(object{"id": c.id, "node_id": nodeID("PRRC", c.id), "user": s.simpleUser(s.userNamed(c.user)),
		"body": c.body,
		"path": c.path, "line": c.line,
		"original_line": c.line, "start_line": nil, "original_start_line": nil, "start_side": nil, "side": "RIGHT",
		"commit_id": c.commit, "original_commit_id": c.commit,
		"created_at": timeStamp(c.at), "updated_at": timeStamp(c.at), "author_association": "NONE",
		"pull_request_url": s.apiURL("pulls/%d", p.number)})
	delete(o, "in_reply_to_id")
	if c.replyTo != 0 {
		o["in_reply_to_id"] = c.replyTo
	}
	return o
}

func (s *Server) listComments(c call) reply {
	p := s.pullOf(c)
	if p == nil {
		return refuseWith(404, "Not Found")
	}
	var list []any
	for _, x := range p.comments {
		list = append(list, s.commentJSON(p, x))
	}
	return s.pageOfList(c, list)
}

// createComment refuses a line that the diff does not show, as GitHub does.
func (s *Server) createComment(c call) reply {
	p := s.pullOf(c)
	if p == nil {
		return refuseWith(404, "Not Found")
	}
	var in struct {
		Body, Path, Commit_ID, Side string
		Line                        int
	}
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if bad := bodyProblem("PullRequestReviewComment", in.Body); bad != nil {
		return *bad
	}
	if !slices.Contains(p.heads, in.Commit_ID) {
		return invalidInput("PullRequestReviewComment", "commit_id", "commit_id is not part of the pull request")
	}
	spans, err := s.git.addedLines(s.baseOf(p), p.head, in.Path)
	s.mustWork("", err)
	if !slices.ContainsFunc(spans, func(span [2]int) bool { return span[0] <= in.Line && in.Line <= span[1] }) {
		return invalidInput("PullRequestReviewComment", "pull_request_review_thread.line",
			"pull_request_review_thread.line must be part of the diff")
	}
	x := &comment{id: s.nextID(), user: c.token.Login, body: in.Body, path: in.Path, line: in.Line,
		commit: in.Commit_ID, at: s.nextTime()}
	p.comments = append(p.comments, x)
	return createdReply(s.commentJSON(p, x))
}

func (s *Server) deleteComment(c call) reply {
	id := pathNumber(c, "comment_id")
	for _, p := range s.pulls {
		if i := slices.IndexFunc(p.comments, func(x *comment) bool { return x.id == id }); i >= 0 {
			p.comments = slices.Delete(p.comments, i, i+1)
			return reply{status: 204}
		}
	}
	return refuseWith(404, "Not Found")
}

// StartReview adds somebody's review that is not submitted yet, and gives its id.
func (s *Server) StartReview(pull int64, user, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[pull]
	return s.addReview(p, user, pending, body, p.head).id
}

// ReviewState is the state of a review, "" where there is none.
func (s *Server) ReviewState(pull, id int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.pulls[pull].reviewByID(id); r != nil {
		return r.state
	}
	return ""
}
