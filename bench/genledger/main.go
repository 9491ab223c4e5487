// Command genledger writes ledgers to measure and to attack.
//
//	genledger -receipts 100000 -per 10 | git fast-import    a good ledger of any size, on refs/heads/ledger
//	genledger -verify DIR, -since DIR, -append DIR          measures what bench/ledger.sh and bench/append.sh print
//	genledger -fixtures testdata/ledgers                    every attack as a git bundle, and index.json
//
// Both are the same for the same arguments: dates are fixed, and what varies comes from a seeded generator.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "genledger: error:", err)
		os.Exit(1)
	}
}

func run() error {
	receipts := flag.Int64("receipts", 0, "write a stream for git fast-import with this many receipts")
	per := flag.Int64("per", 10, "receipts per sign-off; each sign-off belongs to one pull request")
	findings := flag.Int("findings", 11, "findings of a receipt; with 11 it has about 8 KB")
	together := flag.Int64("together", 1, "sign-offs of one commit, but for the newest thousand; the tree is the "+
		"same, and written faster")
	verify := flag.String("verify", "", "measure the verification of the ledger in this repository")
	since := flag.String("since", "", "measure the verification of the newest sign-off in this repository")
	appendTo := flag.String("append", "", "measure appends to the ledger in this bare repository, and take them back")
	web := flag.Bool("http", false, "append over loopback, through git http-backend")
	drop := flag.Int64("drop", 0, "append behind this many of the newest commits, as if they were not there yet")
	times := flag.Int("times", 10, "how many appends are measured")
	git := flag.String("git", "", "the git binary to read with; go-git if empty")
	fixtures := flag.String("fixtures", "", "write the attacks into this directory")
	flag.Parse()
	ctx := context.Background()
	switch {
	case *verify != "":
		return measureVerify(ctx, *verify, *git)
	case *since != "":
		return measureSince(ctx, *since, *git)
	case *appendTo != "" && *times > 0:
		return measureAppend(ctx, appends{dir: *appendTo, git: *git, web: *web, per: *per, times: *times, drop: *drop})
	case *fixtures != "":
		return writeFixtures(*fixtures)
	case *times < 1 || *receipts < 1 || *per < 1 || *together < 1 || *findings < 1:
		return errors.New("-receipts, -per, -findings, -together and -times must be at least 1")
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := writeStream(out, shape{*receipts, *per, *findings, *together}); err != nil {
		return err
	}
	return out.Flush()
}
