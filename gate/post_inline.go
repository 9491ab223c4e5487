package gate

import (
	"context"
	"io/fs"
	"slices"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/referee"
)

// maxDiffed bounds a file whose diff is looked at for inline comments; a larger one gets none.
const maxDiffed = 1 << 20

// postInline keeps the inline comments in step with the findings: new ones are added, those of findings that are gone
// are removed unless somebody has answered. Ours are known by their fingerprint and their author.
func (p *posting) postInline(ctx context.Context, app string) error {
	api, number := p.job.API, p.pr.Number
	have, err := api.Comments(ctx, number)
	if err != nil {
		return err
	}
	answered := map[int64]bool{}
	for _, c := range have {
		answered[c.InReplyTo] = true
	}
	want := comment.WriteInline(&p.out, p.diffLines)
	for _, c := range have {
		print := comment.ParseFingerprint(c.Body)
		if print == "" || c.User != app+"[bot]" || c.InReplyTo != 0 {
			continue
		}
		i := slices.IndexFunc(want, func(w comment.InlineComment) bool { return w.Fingerprint == print })
		if i >= 0 {
			want = slices.Delete(want, i, i+1) // it stands
		} else if !answered[c.ID] {
			if err := api.DeleteComment(ctx, c.ID); err != nil {
				return err
			}
		}
	}
	for _, w := range want {
		made := githubapi.Comment{Path: w.Path, Line: w.Line, Body: w.Body}
		if _, err := api.CreateComment(ctx, number, p.pr.HeadSHA, made); err != nil {
			return err
		}
	}
	return nil
}

// diffLines are the lines of a file of the head that the pull request's diff shows.
func (p *posting) diffLines(name string) map[int]bool {
	read := func(tree fs.FS) []byte {
		b, err := referee.ReadFile(tree, name, maxDiffed+1)
		if err != nil || len(b) > maxDiffed {
			return nil
		}
		return b
	}
	after := read(p.job.trees[p.pr.HeadSHA])
	if after == nil {
		return nil
	}
	return comment.DiffLines(read(p.job.trees[p.mergeBase]), after)
}
