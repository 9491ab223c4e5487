package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
	"github.com/defendableos/referee/report/pdf"
)

// held is a receipt and what is known of it beyond its own bytes. Whatever prints a receipt to be read asks for one.
type held struct {
	*ledger.Entry
	name     string // as messages call it
	where    string // the ledger that it was held to, "" where none was at hand
	standing pdf.Standing
}

// unverifiedFlag adds --unverified to a command that shows receipts.
func unverifiedFlag(flags *pflag.FlagSet) *bool {
	return flags.Bool("unverified", false, "show a receipt that does not verify, stamped NOT VERIFIED; the exit "+
		"code stays 1")
}

// holdReceipt reads the receipt that the arguments name and holds it to a ledger: a file of that name if there is one,
// an entry of the ledger otherwise.
func (a *app) holdReceipt(command string, args []string, where *ledgerFlags) (*held, error) {
	if len(args) == 0 {
		return nil, usagef("%s needs a number, an id, a hash or a file", command).
			withHint("`referee ledger log` lists the entries")
	}
	if isReceiptFile(args[0]) {
		return a.holdFile(args[0], where)
	}
	k, err := a.openLedger(where)
	if err != nil {
		return nil, err
	}
	h, err := a.holdEntry(k, args[0])
	return h, errors.Join(err, k.Close())
}

func isReceiptFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// holdFile reads a file. Where a ledger is at hand it must hold the same bytes; where none is, the paper says so.
func (a *app) holdFile(name string, where *ledgerFlags) (*held, error) {
	b, err := readReceipt(name)
	if err != nil {
		return nil, err
	}
	h, err := readHeld(name, b)
	if err != nil {
		return nil, err
	}
	k, err := a.ledgerAtHand(where)
	if err != nil || k == nil {
		return h, err
	}
	return h, errors.Join(a.holdTo(k, h), k.Close())
}

// holdEntry finds an entry by a word and holds it to its ledger.
func (a *app) holdEntry(k *kept, word string) (*held, error) {
	hash, err := a.hashOf(k, word)
	if err != nil {
		return nil, err
	}
	place := ledger.Place{Class: ledger.HashAlias, Hash: hash}.String()
	files, err := k.Read(a.ctx, k.at, place)
	switch {
	case err != nil:
		return nil, lookupError(word, err)
	case len(files) == 0:
		return nil, a.noEntry(k, word)
	}
	h, err := readHeld(place, files[0].Data)
	if err != nil {
		return nil, err
	}
	h.name = "receipt " + word
	return h, a.holdTo(k, h)
}

// readHeld reads the bytes of a receipt. An error says that they are no receipt at all; what is wrong with one that
// can be read is in its standing.
func readHeld(name string, b []byte) (*held, error) {
	h := &held{Entry: &ledger.Entry{Hash: canonical.SHA256Hex(b), Bytes: b}, name: name}
	r, err := ledger.Parse(b)
	if err != nil {
		if what := report.NotReceipt(b); what != "" {
			return nil, noReceipt(name, what)
		}
		h.addFail("%v", err)
		if r, err = ledger.ParseUnverified(b); err != nil {
			return nil, rulesf("%s: %w", name, err).
				withHint("a receipt's file is one line of canonical JSON, byte for byte: `referee receipt show HASH " +
					"--format json > FILE` writes it again")
		}
	}
	h.Receipt = r
	h.addFail("%s", nameError(filepath.Base(name), h.Hash, r.Seq))
	return h, nil
}

// noReceipt refuses another kind of file by its name.
func noReceipt(name, what string) error {
	return rulesf("%s is %s", name, what).
		withHint("`referee ledger log` lists the receipts; `referee receipt show HASH --format json > FILE` writes one " +
			"to a file")
}

// addFail adds a reason why the receipt does not verify, unless it is empty.
func (h *held) addFail(format string, args ...any) {
	if why := fmt.Sprintf(format, args...); why != "" {
		h.standing.Fails = append(h.standing.Fails, why)
	}
}

// nameError says how a file's name contradicts its bytes, "" if it does not. A name without a hash says nothing.
func nameError(base, hash string, seq int64) string {
	named := hashInName().FindStringSubmatch(base)
	switch {
	case named == nil:
		return ""
	case named[2] != hash:
		return fmt.Sprintf("its name says the SHA-256 %.12s…, but its SHA-256 is %s: the bytes were changed", named[2],
			hash)
	case named[1] != "" && named[1] != fmt.Sprintf("%09d", seq):
		return fmt.Sprintf("its name says entry %s, but the receipt is entry %d",
			strings.TrimLeft(named[1][:8], "0")+named[1][8:], seq)
	}
	return ""
}

// ledgerAtHand is the ledger that is named, or the one around this folder; nil where none is. One that is there and
// cannot be read is an error: it might not hold the receipt.
func (a *app) ledgerAtHand(where *ledgerFlags) (*kept, error) {
	if where.repo != "" || where.branch != usualBranch {
		return a.openLedger(where)
	}
	k, err := a.openStore(where)
	switch {
	case codeOf(err) == exitUsage:
		return nil, nil // this folder is in no repository
	case err != nil:
		return nil, err
	case k.at.ID == "":
		return nil, k.Close()
	}
	return k, nil
}

// holdTo holds a receipt to a ledger: the ledger's end and newest commits, then the entry in its place. What is wrong
// goes into its standing.
func (a *app) holdTo(k *kept, h *held) error {
	h.where = k.name
	problems, err := ledger.VerifyForReading(a.ctx, k, k.at, "")
	if err != nil {
		return toolf("reading the ledger, %s: %w", k.name, err).withHint("`referee ledger verify` checks the ledger")
	}
	for _, p := range problems {
		h.addFail("the ledger, %s, failed verification: %s", k.name, p)
	}
	later, problems, err := ledger.VerifyEntry(a.ctx, k, k.at, h.Entry)
	if err != nil {
		return toolf("comparing the receipt with the ledger, %s: %w", k.name, err).
			withHint("`referee ledger verify` checks the ledger")
	}
	for _, p := range problems {
		h.addFail("the ledger, %s, does not hold it: %s", k.name, p)
	}
	for _, e := range later {
		h.standing.Later = append(h.standing.Later, fmt.Sprintf("entry %d of this ledger marks it as %s", e.Receipt.Seq,
			e.Receipt.Kind))
	}
	h.standing.InLedger = len(h.standing.Fails) == 0
	return nil
}

// refusalError is the error for a receipt that does not verify, nil for one that nothing speaks against.
func (h *held) refusalError() error {
	if len(h.standing.Fails) == 0 {
		return nil
	}
	f := rulesf("%s is not verified: %s", h.name, strings.Join(h.standing.Fails, "\n"))
	if h.where != "" {
		f = f.withHint("`referee ledger verify` lists what is wrong with the ledger; --ledger REPO names the one that " +
			"holds the receipt")
	}
	return f
}

// uncheckedLine is the line on the paper of a file that was held to no ledger.
func (h *held) uncheckedLine() string {
	return "NOT CHECKED AGAINST A LEDGER: run `" + pdf.VerifyCommand(h.Hash) + "` in a clone of " +
		orDash(h.Receipt.Repository.Name)
}

// isRightAlone reports whether a receipt is right by itself, and was held to no ledger.
func (h *held) isRightAlone() bool { return len(h.standing.Fails) == 0 && !h.standing.InLedger }

// fileOfHash is the file in this folder whose bytes have the hash, "" where none has. It is for a folder that holds a
// receipt's file and nothing else.
func fileOfHash(hash string) string {
	if canonical.CheckHash(hash) != nil {
		return ""
	}
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) > maxBeside {
		return ""
	}
	for _, name := range names {
		if b, err := readReceipt(name); isReceiptFile(name) && err == nil && canonical.SHA256Hex(b) == hash {
			return name
		}
	}
	return ""
}

// maxBeside bounds how many files of a folder are read to find one by its hash.
const maxBeside = 1000

// offerUnverified adds to a refusal how to look at what was refused.
func offerUnverified(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return f.withHint("--unverified shows it, stamped NOT VERIFIED")
	}
	return err
}

// fileSuffix keeps a stamped paper from taking the name of the receipt's own.
func (h *held) fileSuffix() string {
	if len(h.standing.Fails) > 0 {
		return "-not-verified"
	}
	return ""
}

// receiptWord reports whether a word has the form of a receipt's number, id or hash.
func receiptWord(word string) bool {
	lower := strings.ToLower(strings.TrimPrefix(word, "sha256:"))
	return canonical.CheckHash(lower) == nil || seqWord().MatchString(word) || idWord().MatchString(word) ||
		prefixWord().MatchString(lower)
}

// showHeld prints a receipt for people, or its bytes. One that does not verify is stamped on its first and last line,
// and is an error all the same.
func (a *app) showHeld(h *held, format string, unverified bool) error {
	refused := h.refusalError()
	switch {
	case refused != nil && format == "json":
		return refused
	case refused != nil && !unverified:
		return offerUnverified(refused)
	case format == "json":
		if h.isRightAlone() {
			a.note("%s", h.uncheckedLine())
		}
		return a.print(string(h.Bytes))
	}
	if err := a.print(receiptPage(h)); err != nil {
		return err
	}
	return refused
}

// refuseStamp refuses a stamp on the bytes of a receipt.
func refuseStamp(format string, unverified bool) error {
	if unverified && format == "json" {
		return usagef("--unverified and --format json do not go together: the bytes of a receipt cannot carry a stamp").
			withHint("--format text shows it stamped")
	}
	return nil
}

// soundForReading refuses to read on in a ledger whose end, or whose newest commits, no honest writer wrote.
func (a *app) soundForReading(k *kept) error {
	problems, err := ledger.VerifyForReading(a.ctx, k, k.at, "")
	switch {
	case err != nil:
		return toolf("reading the ledger, %s: %w", k.name, err).withHint("`referee ledger verify` checks the ledger")
	case len(problems) > 0:
		return rulesf("the ledger, %s, failed verification: %s", k.name, problems[0]).
			withHint("`referee ledger verify` lists all problems")
	}
	return nil
}
