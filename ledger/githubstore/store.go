// Package githubstore keeps a ledger on a branch at GitHub, written through its API, so that GitHub itself signs every
// commit: ledger.Store.
//
//   - The head is read by git's own protocol: what the API says of a reference may be late by a minute. Objects are
//     read by their ids, and none
//     is believed whose bytes do not make its id (package gitstore). Neither counts against the API's rate limit.
//   - An append is three requests: the parent's tree with the new files laid over it; a commit without an author; and
//     the reference, without
//     force, as the compare-and-swap (TestCalls). A receipt stands under three names. An object that an entry of a tree
//     names must exist before
//     the request, so it is sent three times as long as that is little, and otherwise once, in a tree of its own
//     before: a fourth request.
//   - The head is looked at before the first request and between the tree and the commit: a race that is known to be
//     lost costs one of them at
//     most, unless it is lost at the very end. What GitHub has got from an earlier try, it is not sent again.
//   - A file that stands in the ledger is never written again: a batch whose paths could have been there before is
//     refused before anything is
//     sent (TestRefusedBatches).
//   - What a refused or lost swap means is read from the branch, and not from the server's words (TestSwap).
//
// TestGitHubStore holds it to storetest.
package githubstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// Options say where the ledger is, beside the API's client.
type Options struct {
	URL    string       // where git finds the repository: https://github.com/owner/name.git
	Token  string       // for git; the same as the client's
	Branch string       // "ledger" if empty
	Cache  string       // as gitstore's
	Notice func(string) // told what somebody should know and nothing fails for; may be nil

	MaxWait time.Duration // as gitstore's; the client has its own
}

// Store keeps a ledger at GitHub.
type Store struct {
	api    *githubapi.Client
	git    *gitstore.Store
	ref    string
	notice func(string)

	mu    sync.Mutex
	trees map[string]string // commits to their trees, of those that were made or read here
	there map[string]bool   // blobs that GitHub has got from here
}

// Open connects to the ledger. Nothing is sent yet.
func Open(api *githubapi.Client, o Options) (*Store, error) {
	if o.Branch == "" {
		o.Branch = "ledger"
	}
	git, err := gitstore.Open(o.URL, gitstore.Options{Branch: o.Branch, Password: o.Token, Cache: o.Cache,
		MaxWait: o.MaxWait})
	if err != nil {
		return nil, err
	}
	if git.Repo() != nil {
		return nil, fmt.Errorf("%q: not the URL of a GitHub repository", o.URL)
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return &Store{api: api, git: git, ref: "refs/heads/" + o.Branch, notice: o.Notice, trees: map[string]string{},
		there: map[string]bool{}}, nil
}

// Close removes what was fetched for reading.
func (s *Store) Close() error { return s.git.Close() }

// Head implements ledger.Store.
func (s *Store) Head(ctx context.Context) (ledger.Snapshot, error) { return s.git.Head(ctx) }

// Read implements ledger.Store.
func (s *Store) Read(ctx context.Context, at ledger.Snapshot, path string) ([]ledger.File, error) {
	return s.git.Read(ctx, at, path)
}

// Commits implements ledger.History.
func (s *Store) Commits(ctx context.Context, at ledger.Snapshot, n int) ([]ledger.Commit, error) {
	return s.git.Commits(ctx, at, n)
}

// Append implements ledger.Store.
func (s *Store) Append(ctx context.Context, parent ledger.Snapshot, b ledger.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkNewFiles(parent, b); err != nil {
		return err
	}
	if err := s.checkStillAt(ctx, parent.ID); err != nil {
		return err
	}
	commit, err := s.makeCommit(ctx, parent.ID, b)
	if err != nil {
		return err
	}
	if parent.ID == "" {
		err = s.api.CreateRef(ctx, s.ref, commit)
	} else {
		err = s.api.UpdateRef(ctx, s.ref, commit, false)
	}
	return s.swapResult(ctx, parent.ID, commit, err)
}

// checkStillAt is ErrStale where the branch is no longer at the parent. git says so, which costs nothing of the rate
// limit: every request after a lost race is one for nothing.
func (s *Store) checkStillAt(ctx context.Context, parent string) error {
	now, err := s.git.Tip(ctx)
	if err != nil || now == parent {
		return err
	}
	return s.staleError(parent, now)
}

func (s *Store) staleError(parent, now string) error {
	return fmt.Errorf("%s is at %.12s, not at %.12s: %w", s.ref, now, parent, ledger.ErrStale)
}

// checkNewFiles refuses a batch with a file that may stand in the ledger already, other than HEAD.json. What is named
// by its content, and what has a place behind the newest entry, cannot.
func checkNewFiles(parent ledger.Snapshot, b ledger.Batch) error {
	seen := map[string]bool{}
	for _, f := range b.Files {
		p, err := ledger.Allowed(f.Path, ledger.RegularMode, int64(len(f.Data)))
		if err != nil {
			return err
		}
		fresh := false
		switch p.Class {
		case ledger.EntryFile, ledger.PullAlias:
			fresh = p.Seq >= parent.Head.Count && p.Hash == canonical.SHA256Hex(f.Data)
		case ledger.HashAlias, ledger.SheetFile:
			fresh = p.Hash == canonical.SHA256Hex(f.Data)
		case ledger.InfoFile:
			fresh = parent.Info == nil
		case ledger.HeadFile:
			fresh = true
		default:
			fresh = parent.ID == ""
		}
		if !fresh || seen[f.Path] {
			return fmt.Errorf("%s exists, or is not what its name says; files of a ledger never change", f.Path)
		}
		seen[f.Path] = true
	}
	if !seen[ledger.HeadPath] {
		return fmt.Errorf("the commit has no %s", ledger.HeadPath)
	}
	return nil
}

// makeCommit makes the objects, which nobody sees until the reference moves.
func (s *Store) makeCommit(ctx context.Context, parent string, b ledger.Batch) (string, error) {
	base, err := s.treeOf(ctx, parent)
	if err != nil {
		return "", err
	}
	tree, err := s.layTree(ctx, base, b.Files)
	if err != nil {
		return "", err
	}
	if err := s.checkStillAt(ctx, parent); err != nil {
		return "", err
	}
	made := githubapi.NewCommit{Message: b.Message, Tree: tree}
	if parent != "" {
		made.Parents = []string{parent}
	}
	commit, err := s.api.CreateCommit(ctx, made)
	if err != nil {
		return "", err
	}
	if !commit.Verified {
		s.notice(fmt.Sprintf("GitHub did not sign the ledger's commit %.12s (%s): that it was made by this "+
			"repository's workflow cannot be seen from it", commit.SHA, commit.Reason))
	}
	s.rememberTree(commit.SHA, tree)
	return commit.SHA, nil
}

// maxTwice is how many bytes are sent for nothing rather than spend a request on them.
const maxTwice = 1 << 20

// layTree lays files over the tree base.
func (s *Store) layTree(ctx context.Context, base string, files []ledger.File) (string, error) {
	var once, all []githubapi.TreeFile // each content once; every file, with its content where GitHub has not got it
	twice, news := 0, map[string]bool{}
	for _, f := range files {
		id := gitobject.ID(gitobject.Blob, f.Data)
		if s.hasBlob(id) {
			all = append(all, githubapi.TreeFile{Path: f.Path, SHA: id})
			continue
		}
		made := githubapi.TreeFile{Path: f.Path, Content: string(f.Data)}
		all = append(all, made)
		if news[id] {
			twice += len(f.Data)
		} else {
			once = append(once, made)
		}
		news[id] = true
	}
	if twice > maxTwice {
		if _, err := s.api.CreateTree(ctx, "", once); err != nil {
			return "", err
		}
		s.rememberBlobs(news)
		return s.layTree(ctx, base, files)
	}
	tree, err := s.api.CreateTree(ctx, base, all)
	if err == nil {
		s.rememberBlobs(news)
	}
	return tree, err
}

// hasBlob reports whether GitHub has got a blob from here.
func (s *Store) hasBlob(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.there[id]
}

func (s *Store) rememberBlobs(ids map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.there, ids)
}

func (s *Store) rememberTree(commit, tree string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trees[commit] = tree
}

// treeOf returns a commit's tree, "" for no commit.
func (s *Store) treeOf(ctx context.Context, commit string) (string, error) {
	s.mu.Lock()
	tree, known := s.trees[commit]
	s.mu.Unlock()
	if known || commit == "" {
		return tree, nil
	}
	tree, err := s.git.TreeOf(ctx, commit)
	if err == nil {
		s.rememberTree(commit, tree)
	}
	return tree, err
}

// swapResult says what became of the swap. A refusal is a lost race only if the branch has moved: a ruleset refuses
// with the same status, and no other try helps against it. A lost reply is a success only if the branch is at our
// commit now.
func (s *Store) swapResult(ctx context.Context, parent, commit string, err error) error {
	e := new(githubapi.Error)
	if err == nil || !errors.As(err, &e) {
		return err
	}
	refused := e.Kind == githubapi.Unprocessable || e.Kind == githubapi.Conflict
	if !refused && !e.Ambiguous() {
		return err
	}
	now, headErr := s.git.Tip(ctx)
	switch {
	case headErr != nil && refused:
		return fmt.Errorf("%w; and %s cannot be read: %w", err, s.ref, headErr)
	case headErr != nil:
		return fmt.Errorf("%w: %w; and then %w", ledger.ErrAmbiguous, err, headErr)
	case now == commit:
		return nil
	case refused && now != parent:
		return s.staleError(parent, now)
	case refused:
		return fmt.Errorf("%s cannot be moved: %w; if a ruleset forbids it, let this workflow's app pass it",
			strings.TrimPrefix(s.ref, "refs/heads/"), err)
	}
	return fmt.Errorf("%w: %w", ledger.ErrAmbiguous, err)
}
