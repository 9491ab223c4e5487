package githubapi

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/google/go-github/v62/github"
)

// batch is how many annotations GitHub takes in one request.
const batch = 50

// FindCheck gives the newest check run of a name on a commit that the token's app made, nil if there is none. Where
// Options do not name the app, those of all apps are looked at.
func (c *Client) FindCheck(ctx context.Context, sha, name string) (*Check, error) {
	all, err := c.listChecks(ctx, sha, &name)
	for i := range all {
		if c.app == "" || all[i].AppSlug == c.app {
			return &all[i], nil
		}
	}
	return nil, err
}

// Checks gives the newest check run of each name and app on a commit, the newest first. Who made one is said by
// AppSlug: any workflow may make one of any name.
func (c *Client) Checks(ctx context.Context, sha string) ([]Check, error) {
	return c.listChecks(ctx, sha, nil)
}

func (c *Client) listChecks(ctx context.Context, sha string, name *string) ([]Check, error) {
	list := func(o github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		found, resp, err := c.gh.Checks.ListCheckRunsForRef(ctx, c.owner, c.name, url.PathEscape(sha),
			&github.ListCheckRunsOptions{CheckName: name, Filter: github.String("latest"), ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return found.CheckRuns, resp, nil
	}
	var out []Check
	for run, err := range eachPage("the check runs", list) {
		if err != nil {
			return nil, err
		}
		if name == nil || run.GetName() == *name {
			out = append(out, checkOf(run))
		}
	}
	slices.SortFunc(out, func(a, b Check) int { return cmp.Compare(b.ID, a.ID) })
	return out, nil
}

func checkOf(r *github.CheckRun) Check {
	return Check{ID: r.GetID(), Name: r.GetName(), HeadSHA: r.GetHeadSHA(), ExternalID: r.GetExternalID(),
		Status: r.GetStatus(), Conclusion: r.GetConclusion(),
		Title: r.GetOutput().GetTitle(), Summary: r.GetOutput().GetSummary(), Text: r.GetOutput().GetText(),
		DetailsURL: r.GetDetailsURL(),
		AppSlug:    r.GetApp().GetSlug(), Posted: r.GetOutput().GetAnnotationsCount()}
}

// PutCheck creates a check run, or updates the one with the ID, and appends the annotations from Posted on, 50 a
// request. The run completes with the last request: one that breaks off in between waits, and never shows a conclusion
// that its annotations do not support. What comes back holds ID, AppSlug and Posted, also beside an error, so that the
// same check can be put again.
func (c *Client) PutCheck(ctx context.Context, check Check) (Check, error) {
	for first := true; first || check.Posted < len(check.Annotations); first = false {
		next, last := check.nextBatch()
		var made *github.CheckRun
		var err error
		if check.ID == 0 {
			made, err = c.createCheck(ctx, check, next, last)
		} else {
			made, err = c.updateCheck(ctx, check, next, last)
		}
		if err != nil {
			return check, err
		}
		check.ID, check.AppSlug = made.GetID(), made.GetApp().GetSlug()
		check.Posted += len(next)
	}
	return check, nil
}

// nextBatch gives the annotations of the next request, and whether they are the last.
func (c Check) nextBatch() ([]Annotation, bool) {
	if c.Posted >= len(c.Annotations) {
		return nil, true
	}
	rest := c.Annotations[c.Posted:]
	return rest[:min(batch, len(rest))], len(rest) <= batch
}

func (c Check) stateFields(last bool) (status, conclusion *string) {
	switch {
	case !last:
		return github.String("in_progress"), nil
	case c.Status == "completed" || c.Conclusion != "":
		return github.String("completed"), &c.Conclusion
	case c.Status != "":
		return &c.Status, nil
	}
	return nil, nil
}

func (c Check) outputFields(annotations []Annotation) *github.CheckRunOutput {
	out := &github.CheckRunOutput{Title: &c.Title, Summary: &c.Summary}
	if c.Text != "" || c.ID != 0 { // an update without it would leave the old one
		out.Text = &c.Text
	}
	for _, a := range annotations {
		out.Annotations = append(out.Annotations, a.toGitHub())
	}
	return out
}

// toGitHub is an annotation as GitHub takes it: columns only on a single line.
func (a Annotation) toGitHub() *github.CheckRunAnnotation {
	w := &github.CheckRunAnnotation{Path: &a.Path, StartLine: &a.StartLine, EndLine: &a.EndLine,
		AnnotationLevel: &a.Level, Message: &a.Message}
	if a.StartLine == a.EndLine && a.StartColumn > 0 {
		w.StartColumn, w.EndColumn = &a.StartColumn, github.Int(max(a.StartColumn, a.EndColumn))
	}
	if a.Title != "" {
		w.Title = &a.Title
	}
	if a.Raw != "" {
		w.RawDetails = &a.Raw
	}
	return w
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// createCheck makes the run. If the reply is lost, a run of this name with this external id and these annotations is
// the one; without an external id none can be told from an earlier one.
func (c *Client) createCheck(ctx context.Context, check Check, next []Annotation, last bool) (*github.CheckRun, error) {
	status, conclusion := check.stateFields(last)
	return sendOnce(ctx, c, "the new check run", func() (*github.CheckRun, error) {
		made, _, err := c.gh.Checks.CreateCheckRun(ctx, c.owner, c.name, github.CreateCheckRunOptions{Name: check.Name,
			HeadSHA:    check.HeadSHA,
			DetailsURL: orNil(check.DetailsURL), ExternalID: orNil(check.ExternalID), Status: status,
			Conclusion: conclusion, Output: check.outputFields(next)})
		return made, err
	}, func() (*github.CheckRun, bool, error) {
		found, err := c.FindCheck(ctx, check.HeadSHA, check.Name)
		if err != nil || found == nil || check.ExternalID == "" || found.ExternalID != check.ExternalID ||
			found.Posted != len(next) {
			return nil, false, err
		}
		return &github.CheckRun{ID: &found.ID, App: &github.App{Slug: &found.AppSlug}}, true, nil
	})
}

// updateCheck updates the run. Annotations are appended: where the reply is lost, it is sent again only if the run
// holds no more than before.
func (c *Client) updateCheck(ctx context.Context, check Check, next []Annotation, last bool) (*github.CheckRun, error) {
	status, conclusion := check.stateFields(last)
	if len(next) == 0 {
		ctx = withRetry(ctx)
	}
	return sendOnce(ctx, c, "the check run", func() (*github.CheckRun, error) {
		made, _, err := c.gh.Checks.UpdateCheckRun(ctx, c.owner, c.name, check.ID,
			github.UpdateCheckRunOptions{Name: check.Name,
				DetailsURL: orNil(check.DetailsURL), ExternalID: orNil(check.ExternalID), Status: status,
				Conclusion: conclusion, Output: check.outputFields(next)})
		return made, err
	}, func() (*github.CheckRun, bool, error) {
		now, _, err := c.gh.Checks.GetCheckRun(ctx, c.owner, c.name, check.ID)
		return now, now.GetOutput().GetAnnotationsCount() > check.Posted, err
	})
}
