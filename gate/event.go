package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
)

// Event is what GitHub says happened, as far as the gate reads it. Everything that decides is read again through the API.
type Event struct {
	Name          string // pull_request, pull_request_target, pull_request_review, workflow_run, merge_group, push, schedule, workflow_dispatch
	Action        string
	Repository    string // owner/name
	RepositoryID  int64
	DefaultBranch string
	Sender        string
	Pull          int64 // 0 where the event names none
	HeadSHA       string
	HeadRepo      string // owner/name of the pull request's head
	BaseRef       string
	BaseSHA       string
	ReviewID      int64
	Ref           string            // of a push or a merge group
	Before        string            // of a push
	Commits       int               // that a push brings, as far as GitHub lists them
	Pulls         []int64           // of a workflow_run: those that GitHub names; empty for a fork
	RunID         int64             // of a workflow_run
	RunEvent      string            // what started the workflow run
	HeadBranch    string            // of a workflow_run
	Inputs        map[string]string // of a workflow_dispatch
}

// eventLimits bound a payload: GitHub caps them at 25 MB.
var eventLimits = strictjson.Limits{MaxBytes: 25 << 20, MaxDepth: 64, MaxValues: 4_000_000, Object: true}

// Events lists the names that the gate acts on; every other is ignored with a warning.
var Events = []string{"pull_request", "pull_request_target", "pull_request_review", "workflow_run", "merge_group", "push", "schedule", "workflow_dispatch"}

// ParseEvent reads a webhook payload. A payload that is not JSON, or lacks what its name promises, is an error.
func ParseEvent(name string, payload []byte) (*Event, error) {
	doc, err := strictjson.Parse(payload, eventLimits)
	if err != nil {
		return nil, fmt.Errorf("the event %q cannot be read: %w", name, err)
	}
	e := &Event{Name: name, Action: str(doc, "/action"), Repository: str(doc, "/repository/full_name"), RepositoryID: whole(doc, "/repository/id"),
		DefaultBranch: str(doc, "/repository/default_branch"), Sender: str(doc, "/sender/login")}
	switch name {
	case "pull_request", "pull_request_target", "pull_request_review":
		e.pull(doc.Get("pull_request"))
		e.ReviewID = whole(doc, "/review/id")
		if e.Pull == 0 {
			return nil, fmt.Errorf("the event %q names no pull request", name)
		}
	case "workflow_run":
		e.RunID, e.HeadSHA, e.HeadRepo = whole(doc, "/workflow_run/id"), str(doc, "/workflow_run/head_sha"), str(doc, "/workflow_run/head_repository/full_name")
		e.RunEvent, e.HeadBranch = str(doc, "/workflow_run/event"), str(doc, "/workflow_run/head_branch")
		for _, p := range list(doc.At("/workflow_run/pull_requests")) {
			// One from here to another repository is listed too, with a number that is that repository's.
			if base := whole(p, "/base/repo/id"); base == 0 || base == e.RepositoryID {
				e.Pulls = append(e.Pulls, whole(p, "/number"))
			}
		}
	case "merge_group":
		e.HeadSHA, e.BaseSHA, e.Ref = str(doc, "/merge_group/head_sha"), str(doc, "/merge_group/base_sha"), str(doc, "/merge_group/head_ref")
		e.BaseRef = strings.TrimPrefix(str(doc, "/merge_group/base_ref"), "refs/heads/")
		if e.HeadSHA == "" {
			return nil, fmt.Errorf("the event %q names no head", name)
		}
	case "push":
		e.Ref, e.Before, e.HeadSHA = str(doc, "/ref"), str(doc, "/before"), str(doc, "/after")
		e.Commits = len(list(doc.Get("commits")))
	case "workflow_dispatch":
		e.Inputs = map[string]string{}
		if inputs := doc.Get("inputs"); inputs != nil {
			for _, m := range inputs.Members {
				e.Inputs[m.Key] = m.Value.Text
			}
		}
	}
	return e, nil
}

// Known reports whether the gate acts on the event.
func (e *Event) Known() bool { return slices.Contains(Events, e.Name) }

func (e *Event) pull(v *strictjson.Value) {
	e.Pull = whole(v, "/number")
	e.HeadSHA, e.HeadRepo = str(v, "/head/sha"), str(v, "/head/repo/full_name")
	e.BaseSHA, e.BaseRef = str(v, "/base/sha"), str(v, "/base/ref")
}

func str(v *strictjson.Value, pointer string) string {
	if v == nil {
		return ""
	}
	s, _ := v.At(pointer).Str()
	return s
}

func whole(v *strictjson.Value, pointer string) int64 {
	if v == nil {
		return 0
	}
	n, _ := v.At(pointer).Int()
	return n
}

func list(v *strictjson.Value) []*strictjson.Value {
	if v == nil {
		return nil
	}
	return v.Items
}
