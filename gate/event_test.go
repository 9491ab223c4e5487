package gate

import (
	"reflect"
	"strings"
	"testing"
)

const repository = `"repository":{"full_name":"o/r","id":7,"default_branch":"main"},"sender":{"login":"s"}`

func TestParseEvent(t *testing.T) {
	pull := `"pull_request":{"number":3,"head":{"sha":"aa","repo":{"full_name":"f/r"}},"base":{"sha":"bb",` +
		`"ref":"main"}},`
	for _, c := range []struct {
		name, payload string
		want          Event
	}{
		{"pull_request_target", `{"action":"opened",` + pull + repository + `}`,
			Event{Action: "opened", Pull: 3, HeadSHA: "aa", HeadRepo: "f/r", BaseSHA: "bb", BaseRef: "main"}},
		{"pull_request_review", `{"action":"submitted","review":{"id":9},` + pull + repository + `}`,
			Event{Action: "submitted", Pull: 3, ReviewID: 9, HeadSHA: "aa", HeadRepo: "f/r", BaseSHA: "bb",
				BaseRef: "main"}},
		{"workflow_run", `{"action":"completed","workflow_run":{"id":5,"head_sha":"aa",` +
			`"head_repository":{"full_name":"f/r"},"pull_requests":[{"number":3},{"number":9,` +
			`"base":{"repo":{"id":999999}}}]},` + repository + `}`,
			Event{Action: "completed", RunID: 5, HeadSHA: "aa", HeadRepo: "f/r", Pulls: []int64{3}}},
		{"merge_group", `{"action":"checks_requested","merge_group":{"head_sha":"aa","base_sha":"bb",` +
			`"head_ref":"refs/heads/gh-readonly-queue/main/pr-3","base_ref":"refs/heads/main"},` + repository + `}`,
			Event{Action: "checks_requested", HeadSHA: "aa", BaseSHA: "bb", BaseRef: "main",
				Ref: "refs/heads/gh-readonly-queue/main/pr-3"}},
		{"push", `{"ref":"refs/heads/main","before":"bb","after":"aa",` + repository + `}`,
			Event{Ref: "refs/heads/main", Before: "bb", HeadSHA: "aa"}},
		{"workflow_dispatch", `{"inputs":{"pr":"3","mode":"audit"},` + repository + `}`,
			Event{Inputs: map[string]string{"pr": "3", "mode": "audit"}}},
		{"schedule", `{` + repository + `}`, Event{}},
	} {
		c.want.Name, c.want.Repository, c.want.RepositoryID, c.want.DefaultBranch, c.want.Sender = c.name, "o/r", 7,
			"main", "s"
		got, err := ParseEvent(c.name, []byte(c.payload))
		if err != nil || !reflect.DeepEqual(*got, c.want) || !got.Known() {
			t.Errorf("%s: %+v, %v\n want %+v", c.name, got, err, c.want)
		}
	}
	if e, err := ParseEvent("issues", []byte(`{}`)); err != nil || e.Known() {
		t.Errorf("an event that the gate ignores: %v, %v", e, err)
	}
}

func TestParseEventRefusals(t *testing.T) {
	for name, payload := range map[string]string{"pull_request": `{}`, "merge_group": `{"merge_group":{}}`,
		"push": `not json`, "schedule": `[]`, "workflow_run": `{"a":1,"a":2}`} {
		if e, err := ParseEvent(name, []byte(payload)); err == nil || e != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s %s: %v, %v", name, payload, e, err)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	for _, name := range Events {
		f.Add(name, `{"pull_request":{"number":1},"merge_group":{"head_sha":"a"},`+repository+`}`)
	}
	f.Fuzz(func(t *testing.T, name, payload string) {
		if e, err := ParseEvent(name, []byte(payload)); (e == nil) == (err == nil) {
			t.Errorf("%v, %v", e, err)
		}
	})
}
