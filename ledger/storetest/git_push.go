package storetest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
)

const noID = "0000000000000000000000000000000000000000"

// capabilities are git's for a push.
const capabilities = "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta " +
	"object-format=sha1 agent=git/storetest"

// advertiseRefs lists the references for a push.
func (r *repository) advertiseRefs() []byte {
	all, err := r.sortedRefs()
	if err != nil {
		return nil
	}
	if len(all) == 0 {
		all = []reference{{"capabilities^{}", noID}}
	}
	var b bytes.Buffer
	writeLine(&b, "# service=git-receive-pack\n")
	b.WriteString("0000")
	for i, ref := range all {
		more := ""
		if i == 0 {
			more = "\x00" + capabilities
		}
		writeLine(&b, ref.id+" "+ref.name+more+"\n")
	}
	b.WriteString("0000")
	return b.Bytes()
}

// push is one reference and what it is to become.
type push struct {
	old, next, ref string
	band           bool // the report is wanted on a band
	pack           []byte
}

// parsePush reads the push of one plain branch; false where it is another one.
func parsePush(body []byte) (p push, ok bool) {
	line, _, rest, ok := cutPacket(body)
	if !ok {
		return p, false
	}
	_, special, pack, ok := cutPacket(rest)
	if !ok || special != flush {
		return p, false
	}
	command, wanted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
	words := strings.Split(command, " ")
	if len(words) != 3 || !gitobject.IsID(words[0]) || !gitobject.IsID(words[1]) || words[1] == noID ||
		!plainRef.MatchString(words[2]) {
		return p, false
	}
	for name := range strings.FieldsSeq(wanted) {
		switch key, _, _ := strings.Cut(name, "="); key {
		case "side-band-64k":
			p.band = true
		case "report-status", "agent", "object-format", "quiet", "ofs-delta", "delete-refs", "atomic":
		default:
			return p, false
		}
	}
	if !strings.Contains(" "+wanted+" ", " report-status ") {
		return p, false
	}
	p.old, p.next, p.ref, p.pack = words[0], words[1], words[2], pack
	return p, true
}

// Advertise lists the references of a bare repository for a push; nil where git is to be asked. Names that begin with
// hidden are not shown.
func Advertise(dir, hidden string) []byte {
	r := &repository{dir: dir, hidden: hidden}
	return r.advertiseRefs()
}

// Receive takes a push into a bare repository and returns the report; nil where git is to be asked, and then nothing
// has happened.
func Receive(dir string, body []byte) []byte {
	r := &repository{dir: dir}
	return r.receivePush(body)
}

// receivePush takes a push in and reports; nil where git is to be asked, and then nothing has happened.
func (r *repository) receivePush(body []byte) []byte {
	p, ok := parsePush(body)
	if !ok || !r.isRepository() {
		return nil
	}
	known := func(id string) (gitobject.Object, bool) {
		o, err := r.readLoose(id)
		return o, err == nil
	}
	objects, err := gitobject.ReadPack(bytes.NewReader(p.pack), gitobject.Limits{Objects: 10_000, Size: 64 << 20,
		Total: 256 << 20}, known)
	if err != nil || !r.isConnected(p.next, objects) {
		return nil // git says best what is wrong
	}
	for _, o := range objects {
		if err := r.writeLoose(o); err != nil {
			return nil
		}
	}
	said := "ok " + p.ref + "\n"
	if err := r.swapRef(p.ref, p.old, p.next); errors.Is(err, errMoved) {
		said = "ng " + p.ref + " failed to update ref\n"
	} else if err != nil {
		return nil
	}
	return reportPush(said, p.band)
}

// reportPush says what became of a push.
func reportPush(said string, band bool) []byte {
	var b, inner bytes.Buffer
	writeLine(&inner, "unpack ok\n")
	writeLine(&inner, said)
	inner.WriteString("0000")
	if !band {
		return inner.Bytes()
	}
	writeBand(&b, inner.Bytes())
	b.WriteString("0000")
	return b.Bytes()
}

// isConnected reports whether a commit comes with the push or is there, and so does all that what came names.
func (r *repository) isConnected(commit string, objects []gitobject.Object) bool {
	came := map[string]bool{}
	for _, o := range objects {
		came[o.ID] = true
	}
	have := func(id string) bool {
		_, err := os.Stat(r.objectFile(id))
		return came[id] || err == nil
	}
	for _, o := range objects {
		switch o.Kind {
		case gitobject.Commit:
			rec, err := gitobject.ParseCommit(o.Data)
			if err != nil || !have(rec.Tree) {
				return false
			}
			for _, p := range rec.Parents {
				if !have(p) {
					return false
				}
			}
		case gitobject.Tree:
			entries, err := gitobject.ParseTree(o.Data)
			if err != nil {
				return false
			}
			for _, e := range entries {
				if e.Mode != gitobject.ModeModule && !have(e.ID) {
					return false
				}
			}
		}
	}
	o, err := r.readLoose(commit)
	return came[commit] || err == nil && o.Kind == gitobject.Commit
}

// errMoved says that a reference does not hold what it should.
var errMoved = errors.New("the reference has moved")

// swapRef sets a reference where it holds old, by git's protocol: who makes the file REF.lock may write REF.
func (r *repository) swapRef(ref, old, id string) error {
	name := filepath.Join(r.dir, filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	lock, err := createLock(name + ".lock")
	if err != nil {
		return err
	}
	now, err := r.readRef(ref)
	switch {
	case err != nil:
	case now != old && (now != "" || old != noID):
		err = errMoved
	default:
		_, err = lock.WriteString(id + "\n")
	}
	if err = errors.Join(err, lock.Close()); err == nil {
		return os.Rename(name+".lock", name)
	}
	return errors.Join(err, os.Remove(name+".lock"))
}

// createLock waits for a lock for as long as git does.
func createLock(name string) (*os.File, error) {
	for range 50 {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil, errMoved
}
