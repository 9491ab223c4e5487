// Package testdata holds the sample runs, so that the binary's demonstration shows the files that the tests are held to.
package testdata

import (
	"embed"
	"io/fs"
)

//go:embed runs
var files embed.FS

// Runs is the tree of the sample runs: a folder each.
func Runs() fs.FS {
	runs, err := fs.Sub(files, "runs")
	if err != nil {
		panic("testdata: " + err.Error()) // only for a path that is none
	}
	return runs
}
