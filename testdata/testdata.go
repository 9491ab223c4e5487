// Package testdata holds the sample runs, so that the binary's demonstration shows the files that the tests are held
// to.
package testdata

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed runs runs-ledger
var files embed.FS

// Runs are the files of the sample runs, each under runs/ and its id.
func Runs() map[string][]byte { return under("runs") }

// OnLedger are the files of the sample runs that stand on receipts: a training run with lift and one without, a lane
// lock, a spend breach and a rogue agent. A receipt's hash is known only when it is minted: {oak-street} in them stands
// for the hash of that run's receipt.
func OnLedger(hashes map[string]string) map[string][]byte {
	var pairs []string
	for run, hash := range hashes {
		pairs = append(pairs, "{"+run+"}", hash)
	}
	filled := strings.NewReplacer(pairs...)
	out := under("runs-ledger")
	for name, b := range out {
		out[name] = []byte(filled.Replace(string(b)))
	}
	return out
}

// under gives the files of a folder, by their paths in a repository.
func under(dir string) map[string][]byte {
	out := map[string][]byte{}
	err := fs.WalkDir(files, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, name)
		out[path.Join("runs", strings.TrimPrefix(name, dir+"/"))] = b
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("testdata: %v", err)) // an embedded tree has its files
	}
	return out
}
