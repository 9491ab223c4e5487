// Command make writes the submissions that the benchmarks measure: make N DIR writes N files of 1.6 KB, DIR/000001.json
// and so on; make N - writes them as lines. Every fourth claims a debt service coverage that is a fifth too high. The
// same bytes every time.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/defendableos/referee/bench"
)

func main() {
	if len(os.Args) != 3 {
		failWith("usage: make N DIR|-")
	}
	n, err := strconv.Atoi(os.Args[1])
	if err != nil || n < 1 {
		failWith("N must be a number")
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for i := range n {
		doc := bench.Submission(i)
		if os.Args[2] == "-" {
			fmt.Fprintln(out, doc)
			continue
		}
		if err := os.WriteFile(filepath.Join(os.Args[2], fmt.Sprintf("%06d.json", i+1)), []byte(doc),
			0o644); err != nil {
			failWith(err.Error())
		}
	}
}

func failWith(message string) {
	fmt.Fprintln(os.Stderr, "make:", message)
	os.Exit(2)
}
