package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
	"github.com/defendableos/referee/summary"
)

// summaryWork is what referee summary was asked.
type summaryWork struct {
	format, by, join string
	fromLedger       bool
	where            *ledgerFlags
}

const summaryLong = `REPORTS are files of "referee audit --format json", one report a line; - is
standard input. Without them, or with --from-ledger, the receipts of the ledger
are added up. The parts of a sharded audit sum up to the same bytes as the
whole; --join FILE writes their reports in input order, as an audit without
--shard would have.

Sheets that judge predictions also show the models ranked by their scores, how
many facts of each family hold, the six failure modes, and the error of each
field with how often it is over the sheet's limit (docs/formats.md).

--by agent shows rates, scores, tiers and trend of each agent and model, and the
same tables per sheet. A model's declared confidence is shown; it reaches no
verdict. "referee profile"
is the old name of "referee summary --by agent", and still works.`

func summaryCommand() *command {
	c := newCommand("summary", "[REPORTS…]", "summarize audits per flight sheet or per agent", -1)
	c.long = summaryLong
	c.examples = []string{
		"referee summary reports.jsonl",
		"referee summary --by agent --from-ledger",
		"referee summary --ledger shop.git --ledger depot.git",
		"referee summary part-*.jsonl --join all.jsonl --format markdown",
		"referee summary --from-ledger --format html > summary.html",
	}
	w := &summaryWork{}
	c.choiceFlag(&w.format, "format", "table", "`FORMAT`", report.SummaryFormats())
	c.choiceFlag(&w.by, "by", "sheet", "add up by `WHAT`", []string{"sheet", "agent"})
	c.flags.StringVar(&w.join, "join", "", "write the reports, in input order, to `FILE`")
	c.flags.BoolVar(&w.fromLedger, "from-ledger", false, "summarize the receipts of the ledger")
	w.where = ledgersFlag(c.flags)
	c.run = func(a *app, args []string) error { return a.printSummary(w, args) }
	return c
}

// printSummary adds the reports or receipts up and prints them.
func (a *app) printSummary(w *summaryWork, paths []string) error {
	samples, err := a.readSamples(w, paths)
	if err != nil {
		return err
	}
	if len(samples) == 0 {
		return rulesf("nothing to add up")
	}
	write := report.Summary
	if w.by == "agent" {
		write = report.Profile
	}
	look := a.lookAt(a.stdout)
	return write(w.format, a.stdout, summary.Of(samples), report.Options{Width: look.width, Color: look.color})
}

// readSamples come from report files, or from the ledger.
func (a *app) readSamples(w *summaryWork, paths []string) ([]summary.Sample, error) {
	if len(paths) == 0 || w.fromLedger {
		if w.join != "" || len(paths) > 0 {
			return nil, usagef("--join and report files go together; --from-ledger takes neither")
		}
		return a.ledgerSamples(w.where)
	}
	var all []parsedReport
	for _, path := range paths {
		some, err := a.readReports(path, w.join != "")
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	// Input order: by file, then by line, as an audit without --shard has them; runs by their folder.
	slices.SortStableFunc(all, func(x, y parsedReport) int {
		return cmp.Or(cmp.Compare(x.location, y.location), cmp.Compare(x.number, y.number))
	})
	if err := a.writeJoined(w.join, all); err != nil {
		return nil, err
	}
	samples := make([]summary.Sample, len(all))
	for i, p := range all {
		samples[i] = p.sample
	}
	return samples, nil
}

// parsedReport is what is kept of a report: a batch has many thousands, each far larger than its sample.
type parsedReport struct {
	sample   summary.Sample
	location string
	number   int    // of the submission's line
	line     []byte // that the report was read from; nil unless it is written again
}

func (a *app) readReports(path string, keepLines bool) ([]parsedReport, error) {
	in := a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usagef("%v", err)
		}
		defer f.Close()
		in = f
	}
	var out []parsedReport
	lines := bufio.NewReaderSize(in, 1<<20)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			r, parseErr := referee.ParseReport(trimmed)
			if parseErr != nil {
				return nil, usagef("%s:%d: %v", path, n,
					parseErr).withHint("write reports with `referee audit --format json`")
			}
			kept := parsedReport{sample: summary.FromReport(r), location: r.Location, number: r.Submission.Line}
			if keepLines {
				kept.line = trimmed
			}
			out = append(out, kept)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
}

// writeJoined writes the reports' own bytes.
func (a *app) writeJoined(path string, all []parsedReport) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	for _, p := range all {
		b.Write(p.line)
		b.WriteByte('\n')
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the joined reports: %w", err)
	}
	return nil
}

// ledgerSamples are the audited entries, the oldest first.
func (a *app) ledgerSamples(where *ledgerFlags) ([]summary.Sample, error) {
	if len(where.repos) < 2 {
		samples, _, err := a.samplesOf(where)
		return samples, err
	}
	var all []summary.Sample
	named := map[string]string{}
	for _, repo := range where.repos {
		one := *where
		one.repo = repo
		samples, genesis, err := a.samplesOf(&one)
		if err != nil {
			return nil, err
		}
		if first, again := named[genesis]; again && genesis != "" {
			return nil, usagef("%s is a copy of the ledger of %s; its receipts would count double", repo, first)
		}
		named[genesis] = repo
		all = append(all, samples...)
	}
	return all, nil
}

// samplesOf are the receipts of one ledger, oldest first, and the hash of its first entry, "" of an empty one.
func (a *app) samplesOf(where *ledgerFlags) (out []summary.Sample, genesis string, err error) {
	k, err := a.openLedger(where)
	if err != nil {
		return nil, "", err
	}
	defer k.Close()
	if err := a.soundForReading(k); err != nil {
		return nil, "", err
	}
	for e, err := range ledger.Backwards(a.ctx, k, k.at) {
		if err != nil {
			return nil, "", rulesf("reading the ledger, %s: %w", k.name,
				err).withHint("`referee ledger verify` reports what is wrong")
		}
		genesis = e.Hash
		if s, ok := summary.FromReceipt(e.Receipt); ok {
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out, genesis, nil
}
