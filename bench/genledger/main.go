// Command genledger writes ledgers to measure and to attack.
//
//	genledger -receipts 100000 -per 10 | git fast-import    a good ledger of any size, on refs/heads/ledger
//	genledger -fixtures testdata/ledgers                    every attack as a git bundle, and index.json
//
// Both are the same for the same arguments: dates are fixed, and what varies comes from a seeded generator.
package main

import (
	"bufio"
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
	receipts := flag.Int64("receipts", 0, "write a stream for git fast-import with so many receipts")
	per := flag.Int64("per", 10, "receipts of one sign-off, in one commit and one pull request")
	fixtures := flag.String("fixtures", "", "write the attacks into this directory")
	flag.Parse()
	switch {
	case *fixtures != "":
		return writeFixtures(*fixtures)
	case *receipts < 1 || *per < 1:
		return errors.New("-receipts and -per must be at least 1")
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := writeStream(out, *receipts, *per); err != nil {
		return err
	}
	return out.Flush()
}
