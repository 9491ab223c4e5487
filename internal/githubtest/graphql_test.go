package githubtest

import (
	"strings"
	"testing"
)

// TestConforms: the contract of the GraphQL API sees a field that the schema does not have, one that the answer lacks,
// and a value of another type.
func TestConforms(t *testing.T) {
	const query = `query($n:Int!){repository(owner:"a",name:"b"){pullRequest(number:$n){state isDraft ` +
		`reviews(first:2){nodes{fullDatabaseId lastEditedAt}}}}}`
	good := func() map[string]any {
		return map[string]any{"repository": map[string]any{"pullRequest": map[string]any{"state": "OPEN",
			"isDraft": false,
			"reviews": map[string]any{"nodes": []any{map[string]any{"fullDatabaseId": "1", "lastEditedAt": nil}}}}}}
	}
	if err := conformsToSchema(query, good()); err != nil {
		t.Error(err)
	}
	if err := conformsToSchema(query, map[string]any{"repository": map[string]any{"pullRequest": nil}}); err != nil {
		t.Error(err)
	}
	pull := func(o map[string]any) map[string]any {
		return o["repository"].(map[string]any)["pullRequest"].(map[string]any)
	}
	for says, change := range map[string]func(map[string]any){
		"no PullRequest.state":      func(o map[string]any) { delete(pull(o), "state") },
		"PullRequest.state is null": func(o map[string]any) { pull(o)["state"] = nil },
		"PullRequest.isDraft is no": func(o map[string]any) { pull(o)["isDraft"] = "no" },
		"nodes is map": func(o map[string]any) {
			pull(o)["reviews"].(map[string]any)["nodes"] = map[string]any{}
		},
		"fullDatabaseId is 1": func(o map[string]any) {
			pull(o)["reviews"].(map[string]any)["nodes"].([]any)[0].(map[string]any)["fullDatabaseId"] = 1.0
		},
	} {
		o := good()
		change(o)
		if err := conformsToSchema(query, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if err := conformsToSchema(strings.Replace(query, "lastEditedAt", "editedAt", 1), good()); err == nil ||
		!strings.Contains(err.Error(), "no field PullRequestReview.editedAt") {
		t.Errorf("%v", err)
	}
}

// TestConformsFragments: fields of a union are held to the answer's own type, which is one of the union's; a value of
// an enumeration is held too.
func TestConformsFragments(t *testing.T) {
	const query = `query($n:Int!){repository(owner:"a",name:"b"){pullRequest(number:$n){timelineItems(first:2,` +
		`itemTypes:[BASE_REF_CHANGED_EVENT]){nodes{__typename ` +
		`... on BaseRefChangedEvent{createdAt actor{login}} ... on HeadRefForcePushedEvent{createdAt}}}}}}`
	answer := func(nodes ...any) map[string]any {
		items := map[string]any{"nodes": nodes}
		return map[string]any{"repository": map[string]any{"pullRequest": map[string]any{"timelineItems": items}}}
	}
	base := map[string]any{"__typename": "BaseRefChangedEvent", "createdAt": "2026-11-22T01:02:03Z", "actor": nil}
	force := map[string]any{"__typename": "HeadRefForcePushedEvent", "createdAt": "2026-11-22T01:02:03Z"}
	for _, nodes := range [][]any{{}, {nil}, {base, force}} {
		if err := conformsToSchema(query, answer(nodes...)); err != nil {
			t.Errorf("%v: %v", nodes, err)
		}
	}
	for says, node := range map[string]map[string]any{
		`a "MergedEvent" in PullRequestTimelineItems`: {"__typename": "MergedEvent"},
		"no BaseRefChangedEvent.actor":                {"__typename": "BaseRefChangedEvent", "createdAt": "x"},
		"HeadRefForcePushedEvent.createdAt is null":   {"__typename": "HeadRefForcePushedEvent", "createdAt": nil},
		"no PullRequestTimelineItems.__typename":      {"createdAt": "x"},
	} {
		if err := conformsToSchema(query, answer(base, node)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	for from, to := range map[string]string{"BASE_REF_CHANGED_EVENT": "BASE_REF_EVENT",
		"on HeadRefForcePushedEvent": "on PullRequest", "... on HeadRefForcePushedEvent": "... ",
		"{createdAt}": "{id}"} {
		if err := conformsToSchema(strings.Replace(query, from, to, 1), answer(base)); err == nil {
			t.Errorf("%q was taken", to)
		}
	}
}
