package githubapi

import (
	"context"
	"fmt"
	"net/url"

	"github.com/google/go-github/v62/github"
)

// Ref is the commit that a reference ("refs/heads/main") holds. It may be late by a minute: a compare-and-swap must not
// rest on it.
func (c *Client) Ref(ctx context.Context, name string) (string, error) {
	r, _, err := c.gh.Git.GetRef(ctx, c.owner, c.name, name)
	if err != nil {
		return "", unwrapFailure(name, err)
	}
	return r.GetObject().GetSHA(), nil
}

// CreateRef makes a reference; one that exists is Unprocessable. It is never sent twice.
func (c *Client) CreateRef(ctx context.Context, name, sha string) error {
	_, _, err := c.gh.Git.CreateRef(ctx, c.owner, c.name, newReference(name, sha))
	return unwrapFailure(name, err)
}

// UpdateRef moves a reference, without force only to a commit that has its present one among its ancestors; anything
// else is Unprocessable. It is never sent twice.
func (c *Client) UpdateRef(ctx context.Context, name, sha string, force bool) error {
	_, _, err := c.gh.Git.UpdateRef(ctx, c.owner, c.name, newReference(name, sha), force)
	return unwrapFailure(name, err)
}

func newReference(name, sha string) *github.Reference {
	return &github.Reference{Ref: &name, Object: &github.GitObject{SHA: &sha}}
}

// CreateTree makes a tree of files, on top of the tree base if that is not empty.
func (c *Client) CreateTree(ctx context.Context, base string, files []TreeFile) (string, error) {
	entries := make([]*github.TreeEntry, len(files))
	for i, f := range files {
		entries[i] = &github.TreeEntry{Path: &f.Path, Mode: github.String("100644"), Type: github.String("blob")}
		if f.SHA != "" {
			entries[i].SHA = &f.SHA
		} else {
			entries[i].Content = &f.Content
		}
	}
	t, _, err := c.gh.Git.CreateTree(withRetry(ctx), c.owner, c.name, base, entries)
	if err != nil {
		return "", unwrapFailure("the new tree", err)
	}
	return t.GetSHA(), nil
}

// CreateCommit makes a commit without an author, so that GitHub writes and signs it.
func (c *Client) CreateCommit(ctx context.Context, n NewCommit) (MadeCommit, error) {
	commit := &github.Commit{Message: &n.Message, Tree: &github.Tree{SHA: &n.Tree}}
	for _, p := range n.Parents {
		commit.Parents = append(commit.Parents, &github.Commit{SHA: &p})
	}
	made, _, err := c.gh.Git.CreateCommit(withRetry(ctx), c.owner, c.name, commit, nil)
	if err != nil {
		return MadeCommit{}, unwrapFailure("the new commit", err)
	}
	v := made.GetVerification()
	return MadeCommit{SHA: made.GetSHA(), Verified: v.GetVerified(), Reason: v.GetReason()}, nil
}

// GitCommit reads a commit's tree and parents.
func (c *Client) GitCommit(ctx context.Context, sha string) (tree string, parents []string, err error) {
	commit, _, err := c.gh.Git.GetCommit(ctx, c.owner, c.name, url.PathEscape(sha))
	if err != nil {
		return "", nil, unwrapFailure("the commit", err)
	}
	for _, p := range commit.Parents {
		parents = append(parents, p.GetSHA())
	}
	return commit.GetTree().GetSHA(), parents, nil
}

// Tree reads a tree, one level or all of it. A tree that GitHub cuts is ErrTooMany.
func (c *Client) Tree(ctx context.Context, sha string, recursive bool) ([]TreeEntry, error) {
	t, _, err := c.gh.Git.GetTree(ctx, c.owner, c.name, url.PathEscape(sha), recursive)
	if err != nil {
		return nil, unwrapFailure("the tree", err)
	}
	if t.GetTruncated() {
		return nil, fmt.Errorf("the tree %.12s is cut: %w", sha, ErrTooMany)
	}
	out := make([]TreeEntry, len(t.Entries))
	for i, e := range t.Entries {
		out[i] = TreeEntry{Path: e.GetPath(), Mode: e.GetMode(), Type: e.GetType(), SHA: e.GetSHA(),
			Size: int64(e.GetSize())}
	}
	return out, nil
}

// Blob reads a blob's bytes.
func (c *Client) Blob(ctx context.Context, sha string) ([]byte, error) {
	b, _, err := c.gh.Git.GetBlobRaw(ctx, c.owner, c.name, url.PathEscape(sha))
	return b, unwrapFailure("the blob", err)
}
