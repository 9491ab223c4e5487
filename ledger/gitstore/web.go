package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// web is a repository behind HTTP as versions 0 and 1 of git's protocol show it, which every server speaks. It uses
// go-git's plumbing and not its top package: that brings ssh and OpenPGP into every binary, and ssh is git's own
// (mirror.fetch).
type web struct {
	client   transport.Transport
	endpoint *transport.Endpoint
	auth     transport.AuthMethod
	again    *patience
}

// errNoBranch says that the remote has no such branch.
var errNoBranch = errors.New("no such branch")

// readRefs is what the server says that its references hold.
func (w *web) readRefs(ctx context.Context) (session transport.UploadPackSession, adv *packp.AdvRefs, err error) {
	if session, err = w.client.NewUploadPackSession(w.endpoint, w.auth); err != nil {
		return nil, nil, err
	}
	adv, err = session.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		adv, err = packp.NewAdvRefs(), nil
	}
	return session, adv, err
}

// tip is what a reference holds, "" if it does not exist.
func (w *web) tip(ctx context.Context, ref string) (string, error) {
	session, adv, err := w.readRefs(ctx)
	if err != nil {
		return "", err
	}
	return advertisedHash(adv, ref), session.Close()
}

// fetch brings a branch into a bare repository and sets it there.
func (w *web) fetch(ctx context.Context, dir, ref string, depth int) error {
	return w.again.retryReading(ctx, func() error { return w.fetchOnce(ctx, dir, ref, depth) })
}

func (w *web) fetchOnce(ctx context.Context, dir, ref string, depth int) error {
	session, adv, err := w.readRefs(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	id := advertisedHash(adv, ref)
	if id == "" {
		return errNoBranch
	}
	if have, err := readRef(dir, ref); err != nil || have == id {
		return err
	}
	if err := w.fetchPack(ctx, session, adv, dir, depth, id); err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.FromSlash(ref))
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(id+"\n"), 0o644))
}

// fetchObjects brings commits into a bare repository, under no reference.
func (w *web) fetchObjects(ctx context.Context, dir string, depth int, ids []string) error {
	session, adv, err := w.readRefs(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	return w.fetchPack(ctx, session, adv, dir, depth, ids...)
}

// fetchPack fetches commits and what they hold, as one pack.
func (w *web) fetchPack(ctx context.Context, session transport.UploadPackSession, adv *packp.AdvRefs, dir string,
	depth int,
	ids ...string) (err error) {
	req := packp.NewUploadPackRequestFromCapabilities(adv.Capabilities)
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		req.Wants = append(req.Wants, plumbing.NewHash(id))
	}
	if depth > 0 {
		req.Depth = packp.DepthCommits(depth)
		if err := req.Capabilities.Set(capability.Shallow); err != nil {
			return err
		}
	}
	resp, err := session.UploadPack(ctx, req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Close()) }()
	return keepPack(dir, packOutOfBands(req, resp))
}

// packOutOfBands takes the pack out of the bands that it shares with the server's words.
func packOutOfBands(req *packp.UploadPackRequest, r io.Reader) io.Reader {
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	case req.Capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}

// keepPack writes a pack into a repository, with its index.
func keepPack(dir string, pack io.Reader) error {
	storage := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	into, err := storage.PackfileWriter()
	if err != nil {
		return err
	}
	n, err := io.Copy(into, io.LimitReader(pack, maxWork+1))
	if err == nil && n > maxWork {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, int64(maxWork))
	}
	err = errors.Join(err, into.Close(), storage.Close())
	if err != nil {
		left, _ := filepath.Glob(filepath.Join(dir, "objects", "pack", "tmp_pack_*"))
		for _, name := range left {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}
