package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// remote is a branch behind a URL. It is read object by object where the server allows that (wire), and otherwise from
// its newest commit, fetched whole (mirror). It is written by a push without force.
type remote struct {
	url     string
	ref     string
	o       Options
	web     *web    // nil if the URL is not HTTP
	wire    *wire   // nil if the URL is not HTTP, or the server is an old one
	greeted bool    // the server said that it can do what wire needs
	mirror  *mirror // used where wire is not
	again   *patience
	objects *objects
}

func openRemote(location string, o Options) (*Store, error) {
	return connectTo(location, o, http.DefaultClient)
}

func connectTo(location string, o Options, client *http.Client) (*Store, error) {
	ep, err := transport.NewEndpoint(location)
	if err != nil {
		return nil, fmt.Errorf("%q: not the URL of a repository: %w", location, err)
	}
	client, again := withPatience(client, o.MaxWait)
	r := &remote{url: location, o: o, mirror: &mirror{o: o, url: location}, again: again}
	s := &Store{o: o, at: r}
	r.ref = s.ledgerRef()
	r.mirror.ref = r.ref
	if ep.Protocol == "http" || ep.Protocol == "https" {
		user := o.User
		if user == "" {
			user = "x-access-token"
		}
		r.web = &web{client: githttp.NewClient(client), endpoint: ep, again: again}
		if o.Password != "" {
			r.web.auth = &githttp.BasicAuth{Username: user, Password: o.Password}
		}
		r.wire = &wire{http: client, url: strings.TrimSuffix(ep.String(), "/"), auth: func(req *http.Request) {
			if o.Password != "" {
				req.SetBasicAuth(user, o.Password)
			}
		}}
	} else if err := r.overGit(); err != nil {
		return nil, err
	}
	r.mirror.web = r.web
	s.objects = newObjects(r)
	r.objects = s.objects
	if r.wire != nil {
		r.wire.keep = s.objects.holdObject
	}
	return s, nil
}

// overGit reaches what is not HTTP through the git binary, which knows the user's keys and hosts.
func (r *remote) overGit() (err error) {
	if r.o.Git == "" {
		if r.o.Git, err = exec.LookPath("git"); err != nil {
			return fmt.Errorf("git not found: it is needed to reach %q; an https URL works without it", r.url)
		}
	}
	r.mirror.o.Git = r.o.Git
	return nil
}

// greetServer finds out, once, how the server can be read.
func (r *remote) greetServer(ctx context.Context) error {
	if r.greeted || r.wire == nil {
		return nil
	}
	err := r.wire.greetServer(ctx)
	if errors.Is(err, errOldServer) {
		r.wire = nil
		return nil
	}
	r.greeted = err == nil
	return err
}

func (r *remote) tip(ctx context.Context) (string, error) {
	if err := r.greetServer(ctx); err != nil {
		return "", err
	}
	if r.wire != nil {
		return r.wire.tip(ctx, r.ref)
	}
	return r.mirror.updateMirror(ctx)
}

// read implements source.
func (r *remote) read(ctx context.Context, limit int64, ids []string) (objects []gitobject.Object, err error) {
	if r.wire != nil {
		err = r.again.retryReading(ctx, func() error {
			objects, err = r.wire.read(ctx, limit, ids)
			return err
		})
		return objects, err
	}
	return r.mirror.read(ctx, limit, ids)
}

// publish pushes. When it cannot tell what became of that, it looks at the branch: there stands the old commit, the new
// one, or another, which may or may not have the new one behind it.
func (r *remote) publish(ctx context.Context, old, commit string, objects []gitobject.Object) error {
	answered, err := r.sendPush(ctx, old, commit, objects)
	if err == nil {
		return nil
	}
	if errors.Is(err, ledger.ErrStale) || isLasting(err) {
		return err
	}
	now, failed := r.tip(ctx)
	switch {
	case failed != nil:
		return fmt.Errorf("%w (%v, and then %v)", ledger.ErrAmbiguous, err, failed)
	case now == commit:
		return nil
	case answered && (now != old || isRace(err)):
		return fmt.Errorf("%w (%v)", ledger.ErrStale, err)
	case answered:
		return fmt.Errorf("the server refused the push: %w", err)
	}
	return fmt.Errorf("%w (%v)", ledger.ErrAmbiguous, err)
}

// isRace knows the texts by which servers say that another push came first.
func isRace(err error) bool {
	for _, text := range []string{"failed to update ref", "object not found", "non-fast-forward", "fetch first",
		"cannot lock ref",
		"incorrect old value", "reference already exists", "failed to lock"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// isLasting reports whether no other try can help.
func isLasting(err error) bool {
	for _, known := range []error{transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed,
		transport.ErrRepositoryNotFound,
		transport.ErrInvalidAuthMethod, context.Canceled, context.DeadlineExceeded, errUnsent} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// errUnsent says that the push was given up before anything was sent.
var errUnsent = errors.New("nothing was pushed")

// sendPush pushes the objects and moves the branch. answered says that the server has said no.
func (r *remote) sendPush(ctx context.Context, old, commit string, objects []gitobject.Object) (answered bool,
	err error) {
	if r.web == nil {
		return r.sendByGit(ctx, commit, objects)
	}
	report, err := r.sendByWeb(ctx, old, commit, objects)
	return report != nil, err
}

// sendByGit writes the objects into the mirror and has git push them, without force: a branch that has moved is no
// ancestor of the commit.
func (r *remote) sendByGit(ctx context.Context, commit string, objects []gitobject.Object) (answered bool, err error) {
	if err := writeLoose(osfs.New(r.mirror.dir), objects); err != nil {
		return false, fmt.Errorf("%w: %w", errUnsent, err)
	}
	err = runGit(ctx, r.mirror.dir, r.o, "push", "--quiet", "--", r.url, commit+":"+r.ref)
	return err != nil && strings.Contains(err.Error(), "rejected"), err
}

// sendByWeb pushes over HTTP. The report is nil if none came.
func (r *remote) sendByWeb(ctx context.Context, old, commit string,
	objects []gitobject.Object) (report *packp.ReportStatus, err error) {
	session, err := r.web.client.NewReceivePackSession(r.web.endpoint, r.web.auth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	defer func() { _ = session.Close() }()
	adv, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	if now := advertisedHash(adv, r.ref); now != old {
		return nil, fmt.Errorf("%s is %.12s, not %.12s: %w", r.ref, now, old, ledger.ErrStale)
	}
	if adv.Capabilities.Supports("no-thin") {
		for i := range objects {
			objects[i].Base = nil
		}
	}
	var pack bytes.Buffer
	if err := gitobject.WritePack(&pack, objects); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(adv.Capabilities)
	req.Commands = []*packp.Command{{Name: plumbing.ReferenceName(r.ref), Old: plumbing.NewHash(old),
		New: plumbing.NewHash(commit)}}
	req.Packfile = io.NopCloser(&pack)
	report, err = session.ReceivePack(ctx, req)
	if err == nil && report != nil {
		err = report.Error()
	}
	if err == nil && report == nil {
		err = errors.New("the server did not confirm the push")
	}
	return report, err
}

// advertisedHash is what the server says that the branch holds.
func advertisedHash(adv *packp.AdvRefs, ref string) string {
	if hash, ok := adv.References[ref]; ok {
		return hash.String()
	}
	return ""
}
