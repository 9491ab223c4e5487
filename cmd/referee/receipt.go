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
	"strings"
	"sync"

	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report/pdf"
)

const receiptShowLong = `The receipt is verified before anything of it is shown. One of the ledger: its
bytes, its place, the entries before and after it, and the end of the chain.
One in a file: its bytes and its form; where a ledger is at hand, that holds the
same bytes, and where none is, the first line says so. What does not verify is
refused; --unverified shows it, stamped NOT VERIFIED.
--format json prints the file's own bytes, whose SHA-256 is the receipt's hash.`

func receiptShowCommand() *command {
	c := newCommand("receipt show", "SEQ|ID|HASH|FILE", "print a receipt, of the ledger or in a file", 1)
	c.long = receiptShowLong
	c.examples = []string{"referee receipt show 3fa9", "referee receipt show 000000012-3fa9….json",
		"referee receipt show 12 --format json | jq .verdict"}
	format := c.formatFlag("text", "json")
	unverified := unverifiedFlag(c.flags)
	where := ledgerFlag(c.flags)
	c.run = func(a *app, args []string) error {
		if err := refuseStamp(*format, *unverified); err != nil {
			return err
		}
		h, err := a.holdReceipt("receipt show", args, where)
		if err != nil {
			return err
		}
		return a.showHeld(h, *format, *unverified)
	}
	return c
}

// readReceipt reads a file, one byte more than a receipt has, so that a longer one is refused by name.
func readReceipt(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%s: no such file", name)
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

const receiptVerifyLong = `Holds each receipt to the format: canonical bytes, a receipt that could have
been minted, and a name that ends in the SHA-256 of the bytes. The ledger that
--ledger names, or the one around this folder, is verified as a whole first,
and must hold the same bytes. A HASH may also be that of a file in this
folder, where no ledger is at hand. What a file alone cannot show: that it is
in a ledger at all, and that nobody took it back later.`

func receiptVerifyCommand() *command {
	c := newCommand("receipt verify", "SEQ|ID|HASH|FILE…", "check receipts, in a ledger and in files", -1)
	c.long = receiptVerifyLong
	c.examples = []string{"referee receipt verify 3fa9…", "referee receipt verify 000000012-3fa9….json",
		"referee receipt verify *.json --ledger receipts.git"}
	where := ledgerFlag(c.flags)
	where.bulkFlag(c.flags)
	c.run = func(a *app, args []string) error {
		if len(args) == 0 {
			return usagef("receipt verify needs a number, an id, a hash or a file").
				withHint("`referee receipt show HASH --format json > FILE` writes a file")
		}
		k, err := a.ledgerAtHand(where)
		if err != nil {
			return err
		}
		if k == nil {
			return a.verifyFiles(args, nil, nil)
		}
		defer k.Close()
		v, err := a.verifiedLedger(k, where)
		if err != nil {
			return err
		}
		return a.verifyFiles(args, k, v)
	}
	return c
}

// verifiedLedger is the ledger as a whole, which must be right before anything is found in it.
func (a *app) verifiedLedger(k *kept, where *ledgerFlags) (*ledger.Verification, error) {
	bar := a.newBar("verifying")
	v, err := k.verifyCopy(where).Verify(a.ctx, verify.Options{Progress: bar.setProgress})
	bar.endBar()
	switch {
	case err != nil:
		return nil, verifyFailure(err)
	case !v.OK():
		return nil, rulesf("the ledger, %s, failed verification: %s", k.name, v.Problems[0]).
			withHint("`referee ledger verify` lists all problems")
	}
	return v.Verification, nil
}

// verifyFiles checks every receipt and says what is wrong with each. Without a ledger (k is nil) only files can be
// found.
func (a *app) verifyFiles(words []string, k *kept, v *ledger.Verification) error {
	p, bad := &page{}, 0
	for _, word := range words {
		name, b, err := a.bytesOf(k, word)
		if err != nil {
			return err
		}
		said, err := checkReceipt(name, b, k, v)
		if err != nil {
			bad++
			p.text("FAIL  ", err.Error())
			continue
		}
		p.text("ok    ", said)
	}
	if err := a.print(p.b.String()); err != nil || bad == 0 {
		return err
	}
	return &failure{code: exitRules}
}

// bytesOf gives the bytes that a word names: a file, an entry of the ledger, or, without a ledger, the file in this
// folder that has the hash.
func (a *app) bytesOf(k *kept, word string) (name string, b []byte, err error) {
	if isReceiptFile(word) {
		b, err = readReceipt(word)
		return word, b, err
	}
	if k != nil && receiptWord(word) {
		e, err := a.findEntry(k, word)
		if err != nil {
			return "", nil, err
		}
		return word, e.Bytes, nil
	}
	if name := fileOfHash(strings.ToLower(strings.TrimPrefix(word, "sha256:"))); name != "" {
		b, err = readReceipt(name)
		return name, b, err
	}
	if receiptWord(word) {
		return "", nil, usagef("no ledger to look up the receipt %s in, and no file of this folder has that "+
			"hash", word).
			withHint("run it in a clone of the repository, beside the receipt's file, or with --ledger REPO")
	}
	b, err = readReceipt(word)
	return word, b, err
}

// hashInName is the seq and the hash that a ledger writes into a file's name.
var hashInName = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^(?:([0-9]{9})-)?([0-9a-f]{64})\.json$`) })

// checkReceipt says what a file is, or what is wrong with it.
func checkReceipt(name string, b []byte, k *kept, v *ledger.Verification) (string, error) {
	h, err := readHeld(name, b)
	if err != nil {
		return "", err
	}
	if fails := h.standing.Fails; len(fails) > 0 {
		return "", fmt.Errorf("%s: %s", name, strings.Join(fails, "; "))
	}
	r := h.Receipt
	said := fmt.Sprintf("%s: receipt %d, %s, %s, %s", name, r.Seq, r.ID, r.Kind, h.Hash)
	if isReceiptFile(name) && hashInName().FindStringSubmatch(filepath.Base(name)) == nil {
		said += "; its name does not hold the hash"
	}
	switch {
	case k == nil:
		return said + "; " + h.uncheckedLine(), nil
	case r.Seq >= int64(len(v.Hashes)) || v.Hashes[r.Seq] != h.Hash:
		return "", fmt.Errorf("%s: the ledger does not hold it (%s)", name, k.name)
	}
	return said + "; in the ledger, " + k.name + ", which verifies: " + v.Level.Says(), nil
}

const receiptPDFLong = `The receipt is verified first, as receipt show does. A file for which no ledger
is at hand becomes a paper that says so; what does not verify is refused, or,
with --unverified, stamped NOT VERIFIED across every page.
The same receipt gives the same bytes, unless a later entry speaks of it.
--url puts the address of its page on it, as text and as a code to photograph.`

func receiptPDFCommand() *command {
	c := newCommand("receipt pdf", "SEQ|ID|HASH|FILE", "render a receipt as a paper to file", 1)
	c.long = receiptPDFLong
	c.examples = []string{"referee receipt pdf 12", "referee receipt pdf 3fa9 -o oak-street.pdf --url " +
		"https://example.org/r/3fa9…"}
	out := c.flags.StringP("out", "o", "", "write to `FILE` (default: the receipt's id with .pdf)")
	url := c.flags.String("url", "", "`ADDRESS` at which the receipt can be looked up")
	unverified := unverifiedFlag(c.flags)
	where := ledgerFlag(c.flags)
	c.run = func(a *app, args []string) error {
		h, err := a.holdReceipt("receipt pdf", args, where)
		if err != nil {
			return err
		}
		if err := h.refusalError(); err != nil && !*unverified {
			return offerUnverified(err)
		}
		if err := a.paperOf(h, *out, *url); err != nil {
			return err
		}
		return h.refusalError()
	}
	return c
}

// paperOf writes the PDF of a receipt, and says where.
func (a *app) paperOf(h *held, out, url string) error {
	if out == "" {
		out = h.Receipt.ID + h.fileSuffix() + ".pdf"
	}
	var b bytes.Buffer
	if err := pdf.Write(&b, h.Receipt, h.Bytes, pdf.Place{URL: url, Standing: h.standing}); err != nil {
		return usagef("%w", err)
	}
	if out == "-" && isTerminal(a.stdout) {
		return usagef("a PDF is not for a terminal").withHint("-o FILE writes it to a file")
	}
	if err := a.toFile(out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }); err != nil ||
		out == "-" {
		return err
	}
	if h.isRightAlone() {
		a.note("%s", h.uncheckedLine())
	}
	return a.print(out + "\n")
}
