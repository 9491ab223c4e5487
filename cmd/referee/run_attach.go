package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/evidence"
)

// attachOptions are the flags of referee run attach.
type attachOptions struct {
	file, id, dir, to, kind, title string
	replace                        bool
}

// evidenceID is what can be cited: the first # of a reference begins its selector.
var evidenceID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// maxAttached is the largest file that is attached: evidence.DefaultLimits reads no larger one, so a claim could not
// cite anything in it.
const maxAttached = 50_000_000

func runAttachCommand() *command {
	c := newCommand("run attach", "FILE", "put a file into a run's evidence", 1)
	c.long = `Copies FILE into the run folder, declares it in run.json under ID, and prints
its SHA-256 and how a claim cites it. Nothing else of run.json changes, and
nothing is overwritten; --replace puts other bytes in the place of an item that
is declared already. A symlink, a folder and a path out of the run are refused.`
	c.examples = []string{"referee run attach t12.csv --as t12 --run runs/oak-street",
		"referee run attach quote.json --as rate_quote --title \"Lender's rate quote\"",
		"referee run attach t12.csv --as t12 --replace"}
	o := &attachOptions{}
	c.flags.StringVar(&o.id, "as", "", "`ID` that claims cite it by")
	c.flags.StringVar(&o.dir, "run", ".", "the run's `DIR`, which holds run.json")
	c.flags.StringVar(&o.to, "to", "", "`PATH` inside the run (default: evidence/ and the name of FILE)")
	c.choiceFlag(&o.kind, "kind", "file", "what it is: `KIND`", []string{"file", "note", "observation", "tool_output",
		"model_output", "log"})
	c.flags.StringVar(&o.title, "title", "", "`TITLE` that people read")
	c.flags.BoolVar(&o.replace, "replace", false, "replace the bytes of the item ID; run.json stays as it is")
	c.run = func(a *app, args []string) error {
		if len(args) == 0 {
			return usagef("run attach needs a FILE").withHint("referee run attach t12.csv --as t12")
		}
		o.file = args[0]
		return o.attach(a)
	}
	return c
}

// attach checks everything before the first byte is written.
func (o *attachOptions) attach(a *app) error {
	if !evidenceID.MatchString(o.id) {
		return usagef("--as %q must be letters, digits, dots, dashes or underscores, at most 128", o.id).withHint(
			"--as ID is the name that claims cite, such as t12")
	}
	if shown := oneLine(o.title); shown != o.title {
		return usagef("--title %q must be one line, without spaces around it", o.title)
	}
	content, err := readAttachment(o.file)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(o.dir)
	if err != nil {
		return usagef("--run %s cannot be opened: %w", o.dir, err)
	}
	defer root.Close()
	manifest, err := referee.ReadFile(root.FS(), "run.json", maxConfig)
	if err != nil {
		return usagef("%s is no run folder: %w", o.dir, err).withHint("--run names it; `referee run new` makes one")
	}
	run, err := referee.ParseRun(manifest, "run.json")
	if err != nil {
		return usagef("%w", err).withHint("correct run.json first; nothing was written")
	}
	at := slices.IndexFunc(run.Evidence, func(i evidence.Item) bool { return i.ID == o.id })
	if o.replace {
		err = o.replaceItem(root, run, at, content)
	} else {
		err = o.addItem(root, run, at, manifest, content)
	}
	if err != nil {
		return err
	}
	return a.print(o.describe(root.FS(), content))
}

// readAttachment reads FILE, which must be a plain file: a link would attach what its author wants.
func readAttachment(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, usagef("FILE cannot be attached: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, usagef("%s is a symlink, which is never followed", name).withHint("name the file that it leads to")
	case !info.Mode().IsRegular():
		return nil, usagef("%s is not a plain file", name).withHint("attach each file by itself")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, toolf("reading %s: %w", name, err)
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, toolf("reading %s: it was exchanged meanwhile", name)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxAttached+1))
	switch {
	case err != nil:
		return nil, toolf("reading %s: %w", name, err)
	case len(b) > maxAttached:
		return nil, usagef("%s is larger than %d bytes, and nothing in it could be cited", name, maxAttached).withHint(
			"attach the part that the claims rest on")
	}
	return b, nil
}

// replaceItem puts other bytes in the place of a declared item.
func (o *attachOptions) replaceItem(root *os.Root, run *referee.Run, at int, content []byte) error {
	if at < 0 {
		return usagef("--replace: run.json declares no evidence %q", o.id).withHint("omit --replace to attach it")
	}
	held := run.Evidence[at].Path
	switch {
	case held == "":
		return usagef("--replace: the evidence %q has no path in run.json, so it has no file to replace", o.id)
	case o.to != "" && o.to != held:
		return usagef("--replace: the evidence %q is %s, not %s", o.id, held, o.to).withHint("omit --to")
	case path.Ext(held) != filepath.Ext(o.file):
		return usagef("--replace: the evidence %q is %s, and %s is of another kind", o.id, held, o.file)
	}
	if err := refuseReserved(run, held); err != nil {
		return err
	}
	if err := refuseLinkedParts(root, held); err != nil {
		return err
	}
	o.to = held
	return writeAside(root, held, content)
}

// addItem copies the file and declares it. Where the manifest cannot be written the copy is removed again.
func (o *attachOptions) addItem(root *os.Root, run *referee.Run, at int, manifest, content []byte) error {
	if at >= 0 {
		return usagef("run.json declares the evidence %q already", o.id).withHint(
			"another --as attaches it beside; --replace exchanges the bytes")
	}
	if o.to == "" {
		o.to = "evidence/" + filepath.Base(o.file)
	}
	if err := refuseReserved(run, o.to); err != nil {
		return err
	}
	edited, err := declareEvidence(manifest, o.entry())
	if err != nil {
		return usagef("%s cannot be attached as %s: %w", o.file, o.to, err).withHint("--to names a path inside the run")
	}
	if err := refuseLinkedParts(root, o.to); err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(o.to), 0o777); err != nil {
		return toolf("making the folder of %s: %w", o.to, err)
	}
	if err := writeUnlessThere(root, o.to, content); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return usagef("%s is in the run already: refusing to overwrite", o.to).withHint("--to names another path")
		}
		return toolf("writing %s: %w", o.to, err)
	}
	if err := writeAside(root, "run.json", edited); err != nil {
		return errors.Join(err, root.Remove(o.to))
	}
	return nil
}

// refuseReserved refuses a path that something else than evidence has in a run.
func refuseReserved(run *referee.Run, to string) error {
	clean := strings.ToLower(path.Clean(to))
	if clean == "run.json" || clean == strings.ToLower(path.Clean(run.Submission)) ||
		strings.HasPrefix(clean, "advisory/") {
		return usagef("%s is not a place for evidence: the manifest, the submission and opinions are there", to).withHint(
			"--to evidence/NAME")
	}
	return nil
}

// refuseLinkedParts refuses a path of which a part is a symlink. os.Root keeps a link inside the run, but another
// file of the run could be written through it.
func refuseLinkedParts(root *os.Root, to string) error {
	isOdd := func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' } // the audit refuses them in a path as well
	if !fs.ValidPath(to) || to == "." || strings.ContainsFunc(to, isOdd) {
		return usagef("%q must be a path inside the run, with forward slashes", to)
	}
	for part := to; part != "."; part = path.Dir(part) {
		info, err := root.Lstat(part)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return usagef("%s in the run is a symlink, which is never followed", part)
		}
	}
	return nil
}

// entry is the item as run.json states it.
func (o *attachOptions) entry() string {
	title := ""
	if o.title != "" {
		title = `, "title": ` + quoteJSON(o.title)
	}
	return fmt.Sprintf(`{"id": %s, "path": %s, "kind": %s%s}`, quoteJSON(o.id), quoteJSON(o.to), quoteJSON(o.kind), title)
}

// declareEvidence puts an entry at the end of the manifest's list. Every byte before and after it stays, and what it
// gives is read again: a manifest that would be refused is not written.
func declareEvidence(manifest []byte, entry string) ([]byte, error) {
	doc, err := strictjson.Parse(manifest, strictjson.DocumentLimits)
	if err != nil {
		return nil, fmt.Errorf("run.json: %w", err)
	}
	if doc.Kind != strictjson.Object || len(doc.Members) == 0 {
		return nil, errors.New("run.json is not an object with members")
	}
	list := doc.Get("evidence")
	end, text := doc.Members[len(doc.Members)-1].Value.End, ",\n  \"evidence\": [\n    "+entry+"\n  ]"
	switch {
	case list != nil && list.Kind != strictjson.Array:
		return nil, errors.New("run.json: evidence is not a list")
	case list != nil && len(list.Items) == 0:
		end, text = list.Pos.Offset+1, "\n    "+entry+"\n  "
	case list != nil:
		end, text = list.Items[len(list.Items)-1].End, ",\n    "+entry
	}
	edited := slices.Concat(manifest[:end], []byte(text), manifest[end:])
	if _, err := referee.ParseRun(edited, "run.json"); err != nil {
		return nil, err
	}
	return edited, nil
}

// writeUnlessThere writes a file that must not exist.
func writeUnlessThere(root *os.Root, name string, content []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// writeAside writes beside a file and renames, so that a reader sees the old bytes or the new ones.
func writeAside(root *os.Root, name string, content []byte) error {
	aside := name + ".new"
	if err := writeUnlessThere(root, aside, content); err != nil {
		return toolf("writing %s: %w", aside, err)
	}
	if err := root.Rename(aside, name); err != nil {
		return errors.Join(toolf("writing %s: %w", name, err), root.Remove(aside))
	}
	return nil
}

// describe says what was done and how a claim cites it.
func (o *attachOptions) describe(run fs.FS, content []byte) string {
	sum := sha256.Sum256(content)
	p := &page{}
	p.writeEntry(o.id, wide, fmt.Sprintf("%d bytes", len(content)))
	p.writeEntry("sha256", wide, hex.EncodeToString(sum[:]))
	cites, why := o.id, "it is hashed; a person looks at it"
	if selector := proposeSelector(o.file, content); selector != "" && o.resolves(run, selector) {
		cites, why = o.id+"#"+selector, "evidence_reference of a claim; choose the place that it rests on"
	}
	p.writeEntry("cite", wide, cites)
	p.writeLabelled(wide, "", why)
	return p.b.String()
}

// proposeSelector proposes how a place in the file is cited: the first cell below a table's header, the first value of
// a JSON document, the first line with text. "" where only a person reads the file, or no place is in it.
func proposeSelector(name string, content []byte) string {
	var candidate string
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		candidate = "cell=2,1"
	case ".json":
		doc, err := strictjson.Parse(content, strictjson.DocumentLimits)
		if err != nil {
			return ""
		}
		candidate = firstLeaf(doc).Pointer()
	case ".txt", ".md", ".log":
		n := 0
		for line := range bytes.Lines(content) {
			if n++; len(bytes.TrimSpace(line)) > 0 {
				candidate = fmt.Sprintf("line=%d,%d", n-1, n)
				break
			}
		}
	}
	return candidate
}

// resolves reports whether the audit would find what a proposed selector cites.
func (o *attachOptions) resolves(run fs.FS, selector string) bool {
	set := evidence.Open(run, []evidence.Item{{ID: o.id, Path: o.to, Kind: o.kind}}, evidence.Limits{})
	_, err := set.Resolve(o.id + "#" + selector)
	return err == nil
}

// firstLeaf goes down to the first value that holds no others.
func firstLeaf(v *strictjson.Value) *strictjson.Value {
	for {
		switch {
		case len(v.Members) > 0:
			v = v.Members[0].Value
		case len(v.Items) > 0:
			v = v.Items[0]
		default:
			return v
		}
	}
}
