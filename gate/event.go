package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
)

// Event is what GitHub says happened, as far as the gate reads it. Everything that decides is read again through the
// API.
type Event struct {
	// pull_request, pull_request_target, pull_request_review, workflow_run, merge_group, push, schedule,
	// workflow_dispatch
	Name          string
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
var Events = []string{
	"pull_request",
	"pull_request_target",
	"pull_request_review",
	"workflow_run",
	"merge_group",
	"push",
	"schedule",
	"workflow_dispatch",
}

// ParseEvent reads a webhook payload. A payload that is not JSON, or lacks what its name promises, is an error.
func ParseEvent(name string, payload []byte) (*Event, error) {
	doc, err := strictjson.Parse(payload, eventLimits)
	if err != nil {
		return nil, fmt.Errorf("the event %q cannot be read: %w", name, err)
	}
	e := &Event{
		Name:          name,
		Action:        textAt(doc, "/action"),
		Repository:    textAt(doc, "/repository/full_name"),
		RepositoryID:  numberAt(doc, "/repository/id"),
		DefaultBranch: textAt(doc, "/repository/default_branch"),
		Sender:        textAt(doc, "/sender/login"),
	}
	switch name {
	case "pull_request", "pull_request_target", "pull_request_review":
		e.readPullRequest(doc.Get("pull_request"))
		e.ReviewID = numberAt(doc, "/review/id")
		if e.Pull == 0 {
			return nil, fmt.Errorf("the event %q lacks the number of a pull request", name)
		}
	case "workflow_run":
		e.RunID, e.HeadSHA, e.HeadRepo = numberAt(
			doc,
			"/workflow_run/id",
		), textAt(
			doc,
			"/workflow_run/head_sha",
		), textAt(
			doc,
			"/workflow_run/head_repository/full_name",
		)
		e.RunEvent, e.HeadBranch = textAt(doc, "/workflow_run/event"), textAt(doc, "/workflow_run/head_branch")
		for _, p := range doc.At("/workflow_run/pull_requests").Elements() {
			// One from here to another repository is listed too, with a number that is that repository's.
			if base := numberAt(p, "/base/repo/id"); base == 0 || base == e.RepositoryID {
				e.Pulls = append(e.Pulls, numberAt(p, "/number"))
			}
		}
	case "merge_group":
		e.HeadSHA, e.BaseSHA, e.Ref = textAt(
			doc,
			"/merge_group/head_sha",
		), textAt(
			doc,
			"/merge_group/base_sha",
		), textAt(
			doc,
			"/merge_group/head_ref",
		)
		e.BaseRef = strings.TrimPrefix(textAt(doc, "/merge_group/base_ref"), "refs/heads/")
		if e.HeadSHA == "" {
			return nil, fmt.Errorf("the event %q lacks a head commit", name)
		}
	case "push":
		e.Ref, e.Before, e.HeadSHA = textAt(doc, "/ref"), textAt(doc, "/before"), textAt(doc, "/after")
		e.Commits = len(doc.Get("commits").Elements())
	case "workflow_dispatch":
		e.Inputs = map[string]string{}
		for _, m := range doc.Get("inputs").Fields() {
			e.Inputs[m.Key] = m.Value.Text
		}
	}
	return e, nil
}

// Known reports whether the gate acts on the event.
func (e *Event) Known() bool { return slices.Contains(Events, e.Name) }

func (e *Event) readPullRequest(v *strictjson.Value) {
	e.Pull = numberAt(v, "/number")
	e.HeadSHA, e.HeadRepo = textAt(v, "/head/sha"), textAt(v, "/head/repo/full_name")
	e.BaseSHA, e.BaseRef = textAt(v, "/base/sha"), textAt(v, "/base/ref")
}

func textAt(v *strictjson.Value, pointer string) string { return v.At(pointer).TextOrEmpty() }

func numberAt(v *strictjson.Value, pointer string) int64 {
	n, _ := v.At(pointer).Int()
	return n
}
