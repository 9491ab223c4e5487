package gitstore

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
)

// Options say how a ledger is reached.
type Options struct {
	Branch   string           // "ledger" if empty
	Git      string           // path of a git binary that reads local objects faster; go-git alone if empty
	Now      func() time.Time // dates the commits; an append without it is refused
	Name     string           // the committer; "referee" if empty
	Email    string           // the committer's; "referee@localhost" if empty
	User     string           // for HTTP; "x-access-token" if empty
	Password string           // for HTTP: a token
	// directory for what a server without filters makes us fetch whole; a temporary one if empty
	Cache string
	// for HTTP: bound on all waits for rate limits and failing servers; 0 is DefaultMaxWait, below 0 none
	MaxWait time.Duration
}

// Store keeps a ledger on a branch of a git repository: ledger.Store.
type Store struct {
	o       Options
	objects *objects
	at      place
	repo    *Repo // nil for a remote
}

// place is where the branch lives.
type place interface {
	// tip returns the newest commit of the branch, "" if there is no branch.
	tip(ctx context.Context) (string, error)
	// publish brings the objects in and then moves the branch from the old commit to the new one, if and only if it is
	// still at the old one: ledger.ErrStale if not, ledger.ErrAmbiguous if that is not known.
	publish(ctx context.Context, old, commit string, objects []gitobject.Object) error
}

// Open opens the ledger in a repository on this machine (a path or a file URL) or behind any other URL that go-git
// knows. Nothing is read yet.
func Open(location string, o Options) (*Store, error) {
	if o.Branch == "" {
		o.Branch = "ledger"
	}
	if err := CheckBranch(o.Branch); err != nil {
		return nil, err
	}
	if path, ok := localPath(location); ok {
		return openLocal(path, o)
	}
	return openRemote(location, o)
}

// localPath tells a path from a URL, as git does: a colon before the first slash makes a host.
func localPath(location string) (string, bool) {
	if path, ok := strings.CutPrefix(location, "file://"); ok {
		return path, true
	}
	first, _, _ := strings.Cut(location, "/")
	return location, !strings.Contains(location, "://") && !strings.Contains(strings.TrimPrefix(first, driveOf(first)),
		":")
}

// driveOf returns the C: of a path on Windows.
func driveOf(s string) string {
	if len(s) == 2 && s[1] == ':' {
		return s
	}
	return ""
}

// ledgerRef is the reference that holds the ledger. A branch that is named in full is taken so: a clone's copy of
// another repository's branch.
func (s *Store) ledgerRef() string {
	if strings.HasPrefix(s.o.Branch, "refs/") {
		return s.o.Branch
	}
	return "refs/heads/" + s.o.Branch
}

// Ref is the reference that holds the ledger.
func (s *Store) Ref() string { return s.ledgerRef() }

// Repo is the repository, if the ledger is on this machine; nil otherwise.
func (s *Store) Repo() *Repo { return s.repo }

// Close removes what was fetched for reading.
func (s *Store) Close() error {
	if r, ok := s.at.(*remote); ok {
		return r.mirror.close()
	}
	return nil
}

// Head implements ledger.Store.
func (s *Store) Head(ctx context.Context) (ledger.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return ledger.Snapshot{}, err
	}
	tip, err := s.Tip(ctx)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	if tip == "" {
		return ledger.Snapshot{Head: ledger.NewHead()}, nil
	}
	return s.At(ctx, tip)
}

// Tip returns the newest commit of the branch, "" if there is no branch; behind a URL that is one request.
func (s *Store) Tip(ctx context.Context) (string, error) {
	tip, err := s.at.tip(ctx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.ledgerRef(), err)
	}
	return tip, nil
}

// At is Head for the state at any commit of the branch.
func (s *Store) At(ctx context.Context, commit string) (ledger.Snapshot, error) {
	at := ledger.Snapshot{ID: commit}
	if err := s.readTop(ctx, commit); err != nil {
		return at, err
	}
	for _, name := range []string{ledger.HeadPath, ledger.InfoPath} {
		files, err := s.Read(ctx, at, name)
		switch {
		case err != nil:
			return ledger.Snapshot{}, err
		case len(files) == 0 && name == ledger.HeadPath:
			return ledger.Snapshot{}, fmt.Errorf("%s holds no ledger: the commit %.12s has no %s", s.ledgerRef(), commit,
				name)
		case len(files) == 0:
			continue
		case name == ledger.HeadPath:
			at.Head, err = ledger.ParseHead(files[0].Data)
		default:
			var info ledger.Info
			info, err = ledger.ParseInfo(files[0].Data)
			at.Info = &info
		}
		if err != nil {
			return ledger.Snapshot{}, err
		}
	}
	return at, nil
}

// readTop brings in, at once, the two files that At reads, and the directory in which an append looks next: a race is
// won by who asks less often.
func (s *Store) readTop(ctx context.Context, commit string) error {
	rec, err := s.objects.readCommit(ctx, commit)
	if err != nil {
		return err
	}
	entries, err := s.objects.readTrees(ctx, rec.Tree)
	if err != nil {
		return err
	}
	var ids []string
	for _, name := range []string{ledger.HeadPath, ledger.InfoPath} {
		if e := entryOf(entries[0], name); e.Mode == gitobject.ModeFile {
			ids = append(ids, e.ID)
		}
	}
	if e := entryOf(entries[0], "pr"); e.IsTree() {
		if _, err := s.objects.getObjects(ctx, ledger.HeadFile.MaxBytes(), append(slices.Clone(ids), e.ID)...); err == nil {
			return nil // otherwise the directory may be what is wrong, and that is for who reads it to say
		}
	}
	_, err = s.objects.getObjects(ctx, ledger.HeadFile.MaxBytes(), ids...)
	return err
}

// TreeOf returns the tree of a commit of the branch, checked by its id.
func (s *Store) TreeOf(ctx context.Context, commit string) (string, error) {
	rec, err := s.objects.readCommit(ctx, commit)
	return rec.Tree, err
}

// Read implements ledger.Store. Reading one entry brings in those before it, as who goes backwards wants them next.
func (s *Store) Read(ctx context.Context, at ledger.Snapshot, name string) ([]ledger.File, error) {
	if at.ID == "" {
		return nil, ctx.Err()
	}
	rec, err := s.objects.readCommit(ctx, at.ID)
	if err != nil {
		return nil, err
	}
	e, err := s.objects.lookupPath(ctx, rec.Tree, name)
	if err != nil || e.ID == "" {
		return nil, err
	}
	if !e.IsTree() {
		if err := s.readAhead(ctx, rec.Tree, name, e.ID); err != nil {
			return nil, err
		}
		return s.readFiles(ctx, "", []gitobject.Entry{{Mode: e.Mode, Name: name, ID: e.ID}})
	}
	entries, err := s.objects.readTrees(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	return s.readFiles(ctx, name, slices.DeleteFunc(slices.Clone(entries[0]), gitobject.Entry.IsTree))
}

// readFiles reads the blobs of entries of a directory.
func (s *Store) readFiles(ctx context.Context, dir string, entries []gitobject.Entry) ([]ledger.File, error) {
	ids := make([]string, len(entries))
	limit := int64(0)
	for i, e := range entries {
		name := path.Join(dir, e.Name)
		p, err := ledger.Allowed(name, e.Mode, 0)
		if err != nil {
			return nil, err
		}
		ids[i], limit = e.ID, max(limit, p.Class.MaxBytes())
	}
	blobs, err := s.objects.getObjects(ctx, limit, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]ledger.File, len(blobs))
	for i, b := range blobs {
		if b.Kind != gitobject.Blob {
			return nil, fmt.Errorf("%s is a %s, not a file", path.Join(dir, entries[i].Name), b.Kind)
		}
		out[i] = ledger.File{Path: path.Join(dir, entries[i].Name), Data: b.Data}
	}
	return out, nil
}

// aheadBy is how many entries are read at once on the way back.
const aheadBy = 64

// readAhead brings in the entries before the one at name, if that is not in memory yet.
func (s *Store) readAhead(ctx context.Context, root, name, id string) error {
	dir, base := splitPath(name)
	if _, known := s.objects.heldObject(id); known || !strings.HasPrefix(name, "receipts/") {
		return nil
	}
	parent, err := s.objects.lookupPath(ctx, root, dir)
	if err != nil {
		return err
	}
	entries, err := s.objects.readTrees(ctx, parent.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(entries[0], func(e gitobject.Entry) bool { return e.Name == base })
	var ids []string
	for _, e := range entries[0][max(0, i+1-aheadBy) : i+1] {
		if e.Mode == gitobject.ModeFile {
			ids = append(ids, e.ID)
		}
	}
	_, err = s.objects.getObjects(ctx, ledger.EntryFile.MaxBytes(), ids...)
	return err
}

// Append implements ledger.Store.
func (s *Store) Append(ctx context.Context, parent ledger.Snapshot, b ledger.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.o.Now == nil {
		return fmt.Errorf("the store was opened without a clock, for reading only")
	}
	now, err := s.at.tip(ctx)
	if err != nil {
		return err
	}
	if now != parent.ID {
		return fmt.Errorf("%s is at %.12s, not at %.12s: %w", s.ledgerRef(), now, parent.ID, ledger.ErrStale)
	}
	var before gitobject.Record
	if parent.ID != "" {
		if before, err = s.objects.readCommit(ctx, parent.ID); err != nil {
			return err
		}
	}
	root, objects, err := s.objects.buildTree(ctx, before.Tree, b.Files)
	if err != nil {
		return err
	}
	at, err := commitTime(s.o.Now(), before.Time, b.Files)
	if err != nil {
		return err
	}
	commit := gitobject.New(gitobject.Commit, s.newRecord(root, parent.ID, at, b.Message).Encode())
	return s.at.publish(ctx, parent.ID, commit.ID, append(objects, commit))
}

func (s *Store) newRecord(root, parent string, at int64, message string) gitobject.Record {
	who := fmt.Sprintf("%s <%s>", safeName(s.o.Name, "referee"), strings.ReplaceAll(safeName(s.o.Email,
		"referee@localhost"),
		" ", ""))
	r := gitobject.Record{Tree: root, Author: who, Authored: at, By: who, Time: at, Message: message}
	if parent != "" {
		r.Parents = []string{parent}
	}
	return r
}

// safeName is a name without what would end it in a commit.
func safeName(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' {
			return -1
		}
		return r
	}, name)
}

// maxSkew is how far the clocks of this machine and of the forge may be apart.
const maxSkew = 10 * time.Minute

// commitTime is now, but not before the parent, and not before what was signed: a clock that is a little late must not
// look like a date that was made up. One that is much too late, or a sign-off in the future, is refused.
func commitTime(now time.Time, parent int64, files []ledger.File) (int64, error) {
	at := max(now.Unix(), parent)
	for _, f := range files {
		p, err := ledger.ParsePath(f.Path)
		if err != nil || p.Class != ledger.EntryFile {
			continue
		}
		r, err := ledger.Parse(f.Data)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", f.Path, err)
		}
		minted, err := time.Parse(time.RFC3339, r.MintedAt)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", f.Path, err)
		}
		if minted.After(now.Add(maxSkew)) {
			return 0, fmt.Errorf(
				"entry %d was signed at %s, but the clock reads %s: a sign-off cannot be in the future", r.Seq,
				r.MintedAt, now.UTC().Format(time.RFC3339))
		}
		at = max(at, minted.Unix())
	}
	return at, nil
}
