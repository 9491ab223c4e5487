package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// check is a check run.
type check struct {
	id                            int64
	name, head, external, details string
	status, conclusion            string
	title, summary, text          string
	app                           string
	started, completed            time.Time
	annotations                   []object
}

// Check is a check run as a test looks at it.
type Check struct {
	ID                                 int64
	Name, HeadSHA, ExternalID, App     string
	Status, Conclusion, Title, Details string
	Summary, Text                      string
	Annotations                        []map[string]any
}

// Checks are the check runs on a commit, the oldest first.
func (s *Server) Checks(sha string) []Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Check
	for _, c := range s.checks {
		if c.head != sha {
			continue
		}
		x := Check{ID: c.id, Name: c.name, HeadSHA: c.head, ExternalID: c.external, App: c.app, Status: c.status,
			Conclusion: c.conclusion, Title: c.title,
			Details: c.details, Summary: c.summary, Text: c.text}
		for _, a := range c.annotations {
			x.Annotations = append(x.Annotations, maps.Clone(a))
		}
		out = append(out, x)
	}
	return out
}

// ForgeCheck adds a completed check run of an app, as a workflow with that app's token can.
func (s *Server) ForgeCheck(app, sha, name, conclusion string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &check{id: s.nextID(), name: name, head: sha, status: "completed", conclusion: conclusion, app: app,
		started: s.nextTime(), completed: s.now}
	s.checks = append(s.checks, c)
	return c.id
}

func (s *Server) checkJSON(c *check) object {
	o := object(s.exampleObject("post /repos/{owner}/{repo}/check-runs"))
	at := s.apiURL("check-runs/%d", c.id)
	return o.withMembers(object{"id": c.id, "node_id": nodeID("CR", c.id), "name": c.name, "head_sha": c.head,
		"external_id": c.external, "url": at,
		"html_url": fmt.Sprintf("%s/%s/runs/%d", s.URL, s.Name, c.id), "details_url": textOrNull(c.details),
		"status": c.status, "conclusion": textOrNull(c.conclusion),
		"started_at": stampOrNull(c.started), "completed_at": stampOrNull(c.completed), "check_suite": object{"id": 5},
		"app": s.appObject(c.app), "pull_requests": []any{},
		"output": object{"title": textOrNull(c.title), "summary": textOrNull(c.summary), "text": textOrNull(c.text),
			"annotations_count": len(c.annotations), "annotations_url": at + "/annotations"}})
}

// checkInput is what both writes take.
type checkInput struct {
	Name        *string
	Head_SHA    string
	External_ID *string
	Details_URL *string
	Status      *string
	Conclusion  *string
	Output      *struct {
		Title, Summary string
		Text           *string
		Annotations    []map[string]any
	}
}

// The limits of a check run's output.
const (
	maxAnnotations = 50       // a request
	maxText        = 65_535   // bytes of summary and of text
	maxTitle       = 255      // characters
	maxMessage     = 64 << 10 // bytes of an annotation's message and raw_details
)

// inputProblem refuses what GitHub refuses.
func (in checkInput) inputProblem() *reply {
	bad := func(field, format string, args ...any) *reply {
		rep := invalidInput("CheckRun", field, format, args...)
		return &rep
	}
	if in.Status != nil && *in.Status == "completed" && in.Conclusion == nil {
		return bad("conclusion", "a completed check run must have a conclusion")
	}
	if in.Output == nil {
		return nil
	}
	o := in.Output
	switch {
	case len(o.Annotations) > maxAnnotations:
		return bad("annotations", "No more than %d items are allowed; %d were supplied.", maxAnnotations,
			len(o.Annotations))
	case len(o.Summary) > maxText:
		return bad("summary", "Only %d characters are allowed; %d were supplied.", maxText, len(o.Summary))
	case o.Text != nil && len(*o.Text) > maxText:
		return bad("text", "Only %d characters are allowed; %d were supplied.", maxText, len(*o.Text))
	case len([]rune(o.Title)) > maxTitle:
		return bad("title", "Only %d characters are allowed.", maxTitle)
	}
	for i, a := range o.Annotations {
		if why := annotationProblem(a); why != "" {
			return bad(fmt.Sprintf("annotations[%d]", i), "%s", why)
		}
	}
	return nil
}

func annotationProblem(a map[string]any) string {
	_, column := a["start_column"]
	for _, name := range []string{"message", "raw_details"} {
		if text, _ := a[name].(string); len(text) > maxMessage {
			return name + " exceeds a maximum bytesize of 64 KB"
		}
	}
	title, _ := a["title"].(string)
	switch {
	case len([]rune(title)) > maxTitle:
		return "title is too long"
	case column && a["start_line"] != a["end_line"]:
		return "start_column may only be used when start_line and end_line are equal"
	case a["message"] == "":
		return "message can't be blank"
	}
	return ""
}

// applyTo puts what was sent into the run; annotations are appended.
func (in checkInput) applyTo(s *Server, c *check) {
	for to, from := range map[*string]*string{&c.name: in.Name, &c.external: in.External_ID, &c.details: in.Details_URL,
		&c.status: in.Status, &c.conclusion: in.Conclusion} {
		if from != nil {
			*to = *from
		}
	}
	switch {
	case in.Conclusion != nil:
		c.status, c.completed = "completed", s.now
	case in.Status != nil && *in.Status != "completed":
		c.conclusion, c.completed = "", time.Time{}
	}
	if in.Output == nil {
		return
	}
	c.title, c.summary = in.Output.Title, in.Output.Summary
	if in.Output.Text != nil {
		c.text = *in.Output.Text
	}
	for _, a := range in.Output.Annotations {
		c.annotations = append(c.annotations, a)
	}
}

func (s *Server) createCheck(c call) reply {
	var in checkInput
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if c.token.App == "" {
		return refuseWith(403, "You must authenticate via a GitHub App.")
	}
	if s.git.objectKind(in.Head_SHA) != "commit" {
		return invalidInput("CheckRun", "head_sha", "No commit found for SHA: %s", in.Head_SHA)
	}
	if bad := in.inputProblem(); bad != nil {
		return *bad
	}
	run := &check{id: s.nextID(), head: in.Head_SHA, status: "queued", app: c.token.App, started: s.now}
	in.applyTo(s, run)
	s.checks = append(s.checks, run)
	return createdReply(s.checkJSON(run))
}

func (s *Server) theCheck(c call) *check {
	id := pathNumber(c, "check_run_id")
	i := slices.IndexFunc(s.checks, func(x *check) bool { return x.id == id })
	if i < 0 {
		return nil
	}
	return s.checks[i]
}

func (s *Server) updateCheck(c call) reply {
	run := s.theCheck(c)
	if run == nil {
		return refuseWith(404, "Not Found")
	}
	var in checkInput
	if err := c.decodeBody(&in); err != nil {
		return refuseWith(400, "%v", err)
	}
	if c.token.App != run.app {
		return refuseWith(403, "Invalid app_id `%s` - check run can only be modified by the GitHub App that created it.",
			c.token.App)
	}
	if bad := in.inputProblem(); bad != nil {
		return *bad
	}
	in.applyTo(s, run)
	return okReply(s.checkJSON(run))
}

func (s *Server) getCheck(c call) reply {
	if run := s.theCheck(c); run != nil {
		return okReply(s.checkJSON(run))
	}
	return refuseWith(404, "Not Found")
}

func (s *Server) listAnnotations(c call) reply {
	run := s.theCheck(c)
	if run == nil {
		return refuseWith(404, "Not Found")
	}
	var list []any
	for _, a := range run.annotations {
		list = append(list, object{"path": nil, "start_line": nil, "end_line": nil, "start_column": nil,
			"end_column": nil, "annotation_level": nil,
			"title": nil, "message": nil, "raw_details": nil, "blob_href": s.apiURL("git/blobs/")}.withMembers(a))
	}
	return s.pageOfList(c, list)
}

// listChecks lists the runs on a commit; with filter=latest, which is the default, the newest of each name and app.
func (s *Server) listChecks(c call) reply {
	q := c.URL.Query()
	sha := s.git.resolveName(c.PathValue("ref") + "^{commit}")
	if sha == "" {
		return refuseWith(422, "No commit found for SHA: %s", c.PathValue("ref"))
	}
	var list []any
	seen := map[string]bool{}
	for _, run := range slices.Backward(s.checks) {
		key := run.app + "\x00" + run.name
		if run.head != sha || q.Get("check_name") != "" && q.Get("check_name") != run.name ||
			q.Get("filter") != "all" && seen[key] {
			continue
		}
		seen[key] = true
		list = append(list, s.checkJSON(run))
	}
	at, size := pageOf(c)
	rep := okReply(object{"total_count": len(list),
		"check_runs": append([]any{}, list[min(len(list), (at-1)*size):min(len(list), at*size)]...)})
	if len(list) > at*size {
		rep.header = http.Header{"Link": {s.nextPageLink(c, at+1)}}
	}
	return rep
}
