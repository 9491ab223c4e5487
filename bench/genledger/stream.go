package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// wideReceipt is a receipt with so many findings, which have numbers of their own; with eleven it has about 8 KB.
func wideReceipt(n, pull int64, findings int, r *rand.Rand) ledger.Receipt {
	w := storetest.Sample(n)
	w.PullRequest.Number = pull
	one := w.Findings[0]
	w.Findings = nil
	for i := range findings {
		f := one
		claimed, found := r.IntN(1_000_000), r.IntN(1_000_000)
		f.Pointer = fmt.Sprintf("/calculations/%d/result", r.IntN(400))
		f.Line, f.RuleIDs = 10+r.IntN(4000), []string{fmt.Sprintf("rule_%d", i)}
		f.Message = fmt.Sprintf("the claim %d.%03d is not what its own formula gives, %d.%03d", claimed/1000,
			claimed%1000, found/1000, found%1000)
		f.Spot = &ledger.Spot{Claimed: fmt.Sprintf("%d.%03d", claimed/1000, claimed%1000),
			Recomputed: fmt.Sprintf("%d.%03d", found/1000, found%1000),
			Delta:      fmt.Sprint(claimed - found), Band: "mid"}
		f.Fix = &ledger.Fix{Text: fmt.Sprintf("state %d.%03d, or correct the inputs it is made of: rents, "+
			"vacancies, taxes and insurance", found/1000, found%1000)}
		w.Findings = append(w.Findings, f)
	}
	return storetest.Key(storetest.Judged(w, 27, 0))
}

// seededRand gives the same numbers every time.
func seededRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// shape is how large a ledger is and how it grew.
type shape struct {
	receipts int64
	per      int64 // receipts per sign-off; each sign-off belongs to one pull request
	findings int   // of a receipt: with 11 it has about 8 KB
	// sign-offs of one commit: a shorter history under the same tree, which takes a tenth of the time to write
	together int64
}

// alone is how many of the newest sign-offs have a commit of their own in any case: as many as anything reads that does
// not read all.
const alone = 1000

// signOffs is how many sign-offs the commit takes in that begins at seq.
func (s shape) signOffs(seq int64) int64 {
	left := (s.receipts-seq+s.per-1)/s.per - alone
	return max(1, min(s.together, left))
}

// writeStream writes a stream for git fast-import.
func writeStream(w io.Writer, s shape) error {
	r := seededRand()
	head := ledger.NewHead()
	for seq := int64(0); seq < s.receipts; {
		var files []ledger.File
		var entries []ledger.Entry
		before := head
		for end := min(s.receipts, seq+s.per*s.signOffs(seq)); seq < end; seq++ {
			e, err := mintNext(&head, wideReceipt(seq, seq/s.per+1, s.findings, r))
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		if before.Count == 0 {
			info, err := ledger.Info{Format: ledger.InfoFormat, Genesis: entries[0].Hash,
				Repository: entries[0].Receipt.Repository}.Marshal()
			if err != nil {
				return err
			}
			files = append(files, ledger.File{Path: ledger.InfoPath, Data: info},
				ledger.File{Path: ledger.AttributesPath, Data: []byte(ledger.Attributes)},
				ledger.File{Path: ledger.ReadmePath, Data: []byte(ledger.Readme)})
		}
		if err := writeCommit(w, head, before.Tip, files, entries); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "done\n")
	return err
}

// mintNext mints a receipt on the head and moves the head on.
func mintNext(head *ledger.Head, r ledger.Receipt) (ledger.Entry, error) {
	b, err := ledger.Mint(*head, r)
	if err != nil {
		return ledger.Entry{}, err
	}
	if *head, err = head.Append(b); err != nil {
		return ledger.Entry{}, err
	}
	parsed, err := ledger.Parse(b)
	return ledger.Entry{Hash: head.Tip, Bytes: b, Receipt: parsed}, err
}

func writeCommit(w io.Writer, head ledger.Head, parent string, files []ledger.File, entries []ledger.Entry) error {
	tip, err := head.Format()
	if err != nil {
		return err
	}
	for i, e := range entries {
		if _, err := fmt.Fprintf(w, "blob\nmark :%d\ndata %d\n%s\n", i+1, len(e.Bytes), e.Bytes); err != nil {
			return err
		}
	}
	last := entries[len(entries)-1].Receipt
	at, err := time.Parse(time.RFC3339, last.MintedAt)
	if err != nil {
		return err
	}
	message := ledger.Message(entries, parent)
	fmt.Fprintf(w, "commit refs/heads/ledger\ncommitter referee <referee@localhost> %d +0000\ndata %d\n%s\n",
		at.Unix()+5, len(message), message)
	for i, e := range entries {
		for _, p := range ledger.Places(e.Receipt.Seq, e.Hash, e.Receipt.Pull()) {
			fmt.Fprintf(w, "M 100644 :%d %s\n", i+1, p)
		}
	}
	for _, f := range append(files, ledger.File{Path: ledger.HeadPath, Data: tip}) {
		if _, err := fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", f.Path, len(f.Data), f.Data); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w)
	return err
}
