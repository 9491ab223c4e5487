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
// its newest commit, fetched whole (mirror). It is written by a push without force. Whatever the server sends is held
// to its id; which commit the branch names is the one thing that only the server can say.
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

// openRemote uses the shared client, so that connections are kept; connectTo copies it before it changes anything.
func openRemote(location string, o Options) (*Store, error) {
	return connectTo(location, o, http.DefaultClient)
}

// connectTo prepares all ways of reaching the repository and sends nothing. One client with one budget of waits serves
// them all: a server must not make a job wait twice as long by failing in two protocols.
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
		// Beside a token, GitHub takes the user name x-access-token.
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
		// Whatever a request brings beside what was asked for is remembered, and saves a request later.
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

// greetServer finds out, once, how the server can be read. A failure is not remembered, or a server that was down for a
// second would be an old one for the rest of the job.
func (r *remote) greetServer(ctx context.Context) error {
	if r.greeted || r.wire == nil {
		return nil
	}
	err := r.wire.greetServer(ctx)
	// Forgotten for good: a server does not learn version 2 while a job runs.
	if errors.Is(err, errOldServer) {
		r.wire = nil
		return nil
	}
	r.greeted = err == nil
	return err
}

// tip asks the server each time. Nothing is remembered between two questions, because the second is asked to learn
// whether the branch has moved.
func (r *remote) tip(ctx context.Context) (string, error) {
	if err := r.greetServer(ctx); err != nil {
		return "", err
	}
	if r.wire != nil {
		return r.wire.tip(ctx, r.ref)
	}
	return r.mirror.updateMirror(ctx)
}

// read implements source. The whole request is repeated where its answer breaks off: half a pack is worth nothing, as
// its checksum is at its end.
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

// publish pushes. A push may have taken effect although its answer was lost, so an error alone says nothing: it looks
// at the branch, which holds the old commit, the new one, or another, which may or may not have the new one behind it.
// The new one is a success, whatever the server said. Another one after a refusal is a lost race; after silence nobody
// knows, and Append looks for the key of what it wanted to write.
func (r *remote) publish(ctx context.Context, old, commit string, objects []gitobject.Object) error {
	answered, err := r.sendPush(ctx, old, commit, objects)
	if err == nil {
		return nil
	}
	// About these there is no doubt, so the branch need not be asked.
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

// isRace knows the texts by which servers say that another push came first (git's own, GitHub's, go-git's). They decide
// only where the branch still holds the old commit; a text that is missing here makes an error of a lost race, and no
// more.
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

// isLasting reports whether no other try can help: no permission, no repository, or a job that was cancelled.
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

// errUnsent says that the push was given up before anything was sent. It is the one failure of a push about which there
// is no doubt.
var errUnsent = errors.New("nothing was pushed")

// sendPush pushes the objects and moves the branch. answered says that the server has said no, and did not merely fall
// silent.
func (r *remote) sendPush(ctx context.Context, old, commit string, objects []gitobject.Object) (answered bool,
	err error) {
	if r.web == nil {
		return r.sendByGit(ctx, commit, objects)
	}
	report, err := r.sendByWeb(ctx, old, commit, objects)
	return report != nil, err
}

// sendByGit writes the objects into the mirror and has git push them, without force: the server takes only a commit
// that has the branch's present one behind it, which is the comparison of a compare-and-swap.
func (r *remote) sendByGit(ctx context.Context, commit string, objects []gitobject.Object) (answered bool, err error) {
	if err := writeLoose(osfs.New(r.mirror.dir), objects); err != nil {
		return false, fmt.Errorf("%w: %w", errUnsent, err)
	}
	err = runGit(ctx, r.mirror.dir, r.o, "push", "--quiet", "--", r.url, commit+":"+r.ref)
	return err != nil && strings.Contains(err.Error(), "rejected"), err
}

// sendByWeb pushes over HTTP. The server moves the branch only if it is still at the old id that the command names
// (gitprotocol-pack, "Reference Update Request"). It is looked at once more in the server's own list, where a lost race
// costs no pack. The report is nil if none came, and a push without a report is not a success.
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
	// The server would refuse it anyway, but only after the pack was sent.
	if now := advertisedHash(adv, r.ref); now != old {
		return nil, fmt.Errorf("%s is %.12s, not %.12s: %w", r.ref, now, old, ledger.ErrStale)
	}
	// Such a server cannot complete deltas against objects that it has, so whole objects are sent.
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
