package main

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

const exportLong = `  jsonl  one receipt a line, in the chain's order; the SHA-256 of a line without
         its line feed is the receipt's hash
  tar    every file of the ledger, with the same bytes each time
  dir    the same files in --out, which is absent or empty
The files are enough for verify.html and for sha256sum; git is not needed.`

func ledgerExportCommand() *command {
	c := newCommand("ledger export", "", "write the ledger as lines, an archive or plain files", 0)
	c.long = exportLong
	c.examples = []string{"referee ledger export > receipts.jsonl",
		"referee ledger export --format tar --out ledger.tar", "referee ledger export --format dir --out site/ledger"}
	format := c.formatFlag("jsonl", "tar", "dir")
	out := c.flags.String("out", "", "write to `FILE` (a folder for dir) and not to standard output")
	where := ledgerFlag(c.flags)
	where.bulkFlag(c.flags)
	c.run = func(a *app, _ []string) error {
		switch {
		case *format == "dir" && *out == "":
			return usagef("--format dir needs --out, a folder that is absent or empty")
		case *format == "tar" && *out == "" && isTerminal(a.stdout):
			return usagef("a tar archive is not for a terminal").withHint("--out FILE writes it to a file")
		}
		return a.exportLedger(where, *format, *out)
	}
	return c
}

// exportLedger reads the tree of the newest commit; a remote's is fetched whole first.
func (a *app) exportLedger(where *ledgerFlags, format, out string) error {
	k, err := a.openLedger(where)
	if err != nil {
		return err
	}
	defer k.Close()
	if err := a.soundForReading(k); err != nil {
		return err
	}
	repo, done, err := k.verifyCopy(where).Repository(a.ctx)
	if err != nil {
		return err
	}
	defer done()
	tree := repo.Tree(a.ctx, k.at.ID)
	if format == "dir" {
		return exportDir(tree, out)
	}
	return a.toFile(out, func(w io.Writer) error {
		if format == "tar" {
			return exportTar(tree, w)
		}
		return exportLines(tree, w)
	})
}

// ledgerFiles gives every file of a ledger. A name that no ledger has ends it: an export must not carry what a
// verification would refuse.
func ledgerFiles(tree *gitstore.Tree) iter.Seq2[ledger.File, error] {
	return func(yield func(ledger.File, error) bool) {
		var names, ids []string
		for e, err := range tree.Entries() {
			if err == nil {
				_, err = ledger.Allowed(e.Path, e.Mode, e.Size)
			}
			if err != nil {
				yield(ledger.File{}, err)
				return
			}
			names, ids = append(names, e.Path), append(ids, e.ID)
		}
		i := 0
		for b, err := range tree.Blobs(ids) {
			if !yield(ledger.File{Path: names[min(i, len(names)-1)], Data: b}, err) || err != nil {
				return
			}
			i++
		}
	}
}

func exportLines(tree *gitstore.Tree, w io.Writer) error {
	for e, err := range tree.Receipts() {
		if err != nil {
			return brokenLedger(err)
		}
		if _, err := w.Write(append(e.Bytes, '\n')); err != nil {
			return toolf("writing the export: %w", err)
		}
	}
	return nil
}

func exportTar(tree *gitstore.Tree, w io.Writer) error {
	t := tar.NewWriter(w)
	for f, err := range ledgerFiles(tree) {
		if err != nil {
			return brokenLedger(err)
		}
		err = t.WriteHeader(&tar.Header{Name: f.Path, Mode: 0o644, Size: int64(len(f.Data)), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = t.Write(f.Data)
		}
		if err != nil {
			return toolf("writing the export: %w", err)
		}
	}
	return asTool(t.Close())
}

func exportDir(tree *gitstore.Tree, out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case err == nil && len(entries) > 0:
		return usagef("%s is not empty: refusing to overwrite", out)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usagef("cannot create the export %s: %w", out, err)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return toolf("writing the export: %w", err)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return toolf("writing the export: %w", err)
	}
	defer root.Close()
	for f, err := range ledgerFiles(tree) {
		if err != nil {
			return brokenLedger(err)
		}
		name := filepath.FromSlash(f.Path)
		if err := errors.Join(root.MkdirAll(filepath.FromSlash(path.Dir(f.Path)), 0o777),
			root.WriteFile(name, f.Data, 0o666)); err != nil {
			return toolf("writing the export: %w", err)
		}
	}
	return nil
}

func brokenLedger(err error) error {
	return rulesf("the ledger is incomplete: %w", err).withHint("`referee ledger verify` lists what is wrong")
}

// toFile has a result written to a file, under a temporary name until it is whole, or to standard output.
func (a *app) toFile(out string, write func(io.Writer) error) error {
	if out == "" || out == "-" {
		w := bufio.NewWriter(a.stdout)
		if err := write(w); err != nil {
			return err
		}
		return asTool(w.Flush())
	}
	f, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".*")
	if err != nil {
		return usagef("%s cannot be written: %w", out, err)
	}
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = asTool(w.Flush())
	}
	if closed := asTool(f.Close()); err == nil {
		err = closed
	}
	if err == nil {
		err = asTool(errors.Join(os.Chmod(f.Name(), 0o644), os.Rename(f.Name(), out)))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
