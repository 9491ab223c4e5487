package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

func receiptShowCommand() *command {
	c := newCommand("receipt show", "SEQ|ID|HASH|FILE", "print a receipt, of the ledger or in a file", 1)
	c.long = "--format json prints the file's own bytes, whose SHA-256 is the receipt's hash."
	c.examples = []string{"referee receipt show 3fa9", "referee receipt show 000000012-3fa9….json", "referee receipt show 12 --format json | jq .verdict"}
	format := c.formatFlag("text", "json")
	where := ledgerFlag(c.flags)
	c.run = func(a *app, args []string) error {
		e, err := a.receiptOf("receipt show", args, where)
		if err != nil {
			return err
		}
		return a.showEntry(e, *format)
	}
	return c
}

// receiptOf reads the receipt that the arguments name: a file if there is one of that name, an entry of the ledger otherwise.
func (a *app) receiptOf(command string, args []string, where *ledgerFlags) (*ledger.Entry, error) {
	if len(args) == 0 {
		return nil, usagef("%s needs a number, an id, a hash or a file", command).hint("`referee ledger log` lists the entries")
	}
	if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
		b, err := readReceipt(args[0])
		if err != nil {
			return nil, err
		}
		r, err := ledger.Parse(b)
		if err != nil {
			return nil, rulesf("%s: %w", args[0], err)
		}
		return &ledger.Entry{Hash: canonical.SHA256Hex(b), Bytes: b, Receipt: r}, nil
	}
	k, err := a.openLedger(where)
	if err != nil {
		return nil, err
	}
	e, err := a.find(k, args[0])
	return e, errors.Join(err, k.Close())
}

// readReceipt reads a file, one byte more than a receipt has, so that a longer one is refused by name.
func readReceipt(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no %s", name)
	}
	if err != nil {
		return nil, toolf("opening %s: %w", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, ledger.EntryFile.MaxBytes()+1))
	if err != nil {
		return nil, toolf("reading %s: %w", name, err)
	}
	return b, nil
}

const receiptVerifyLong = `Holds each FILE to the format: canonical bytes, a receipt that could have been
minted, and a name that ends in the SHA-256 of the bytes. With --ledger each
must also stand in that ledger, which is verified first. What a file alone
cannot show: that it is in a ledger at all, and that nobody took it back later.`

func receiptVerifyCommand() *command {
	c := newCommand("receipt verify", "FILE…", "check receipts in files, and against a ledger", -1)
	c.long = receiptVerifyLong
	c.examples = []string{"referee receipt verify 000000012-3fa9….json", "referee receipt verify *.json --ledger receipts.git"}
	where := ledgerFlag(c.flags)
	where.bulkFlag(c.flags)
	c.run = func(a *app, args []string) error {
		if len(args) == 0 {
			return usagef("receipt verify needs a FILE").hint("`referee receipt show HASH --format json > FILE` writes one")
		}
		var v *ledger.Verification
		if where.repo != "" {
			k, err := a.reach(where)
			if err != nil {
				return err
			}
			defer k.Close()
			if v, err = a.verified(k, where); err != nil {
				return err
			}
		}
		return a.verifyFiles(args, v)
	}
	return c
}

// verified is the ledger as a whole, which must be right before anything is found in it.
func (a *app) verified(k *kept, where *ledgerFlags) (*ledger.Verification, error) {
	s := &session{app: a, options: &verifyOptions{where: *where}, seen: []ledger.Level{ledger.L1}, k: k}
	v, err := s.whole(k, nil)
	if err == nil && !v.OK() {
		return nil, rulesf("the ledger, %s, does not verify: %s", k.name, v.Problems[0]).hint("`referee ledger verify` lists all problems")
	}
	return v, err
}

// verifyFiles checks every file and says what is wrong with each.
func (a *app) verifyFiles(names []string, v *ledger.Verification) error {
	p, bad := &page{}, 0
	for _, name := range names {
		b, err := readReceipt(name)
		if err != nil {
			return err
		}
		said, err := checkReceipt(filepath.Base(name), b, v)
		if err != nil {
			bad++
			p.text("FAIL  ", name+": "+err.Error())
			continue
		}
		p.text("ok    ", name+": "+said)
	}
	if err := a.print(p.b.String()); err != nil || bad == 0 {
		return err
	}
	return &failure{code: exitRules}
}

// hashInName is the hash that a ledger writes into a file's name.
var hashInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[0-9]{9}-)?([0-9a-f]{64})\.json$`) })

// checkReceipt says what a file is, or what is wrong with it.
func checkReceipt(base string, b []byte, v *ledger.Verification) (string, error) {
	hash := canonical.SHA256Hex(b)
	named := hashInName().FindStringSubmatch(base)
	if named != nil && named[1] != hash {
		return "", fmt.Errorf("its SHA-256 is %s: the bytes were changed", hash)
	}
	r, err := ledger.Parse(b)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("receipt %d, %s, %s, %s", r.Seq, r.ID, r.Kind, hash)
	if named == nil {
		said += "; its name does not hold the hash"
	}
	switch {
	case v == nil:
		return said, nil
	case r.Seq >= int64(len(v.Hashes)) || v.Hashes[r.Seq] != hash:
		return "", fmt.Errorf("the ledger does not hold it")
	}
	return said + "; in the ledger", nil
}

func receiptPDFCommand() *command {
	c := newCommand("receipt pdf", "SEQ|ID|HASH|FILE", "render a receipt as a paper to file", 1)
	c.long = "The same receipt gives the same bytes. --url puts the address of its page on it,\nas text and as a code to photograph."
	c.examples = []string{"referee receipt pdf 12", "referee receipt pdf 3fa9 -o oak-street.pdf --url https://example.org/r/3fa9…"}
	out := c.flags.StringP("out", "o", "", "write to `FILE` (default: the receipt's id with .pdf)")
	url := c.flags.String("url", "", "`ADDRESS` at which the receipt can be looked up")
	where := ledgerFlag(c.flags)
	c.run = func(a *app, args []string) error {
		e, err := a.receiptOf("receipt pdf", args, where)
		if err != nil {
			return err
		}
		if *out == "" {
			*out = e.Receipt.ID + ".pdf"
		}
		var b bytes.Buffer
		if err := report.PDF(&b, e.Receipt, e.Bytes, report.Place{URL: *url}); err != nil {
			return usagef("%w", err)
		}
		if *out == "-" && isTerminal(a.stdout) {
			return usagef("a PDF is not for a terminal").hint("-o FILE writes it to a file")
		}
		if err := a.toFile(*out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }); err != nil || *out == "-" {
			return err
		}
		return a.print(*out + "\n")
	}
	return c
}
