// Package flightsheets is the library: one JSON file a flight sheet, embedded in the binary.
//
// A file's name is its slug, NAME.json. The sheets hold rules and no code; what may stand in them is said by the
// package referee (schema referee.flight-sheet/v1). Every sheet carries a worked example and, for each of its gates, a
// change that trips it: the tests here hold every sheet to them.
package flightsheets

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.json
var files embed.FS

// FS is the tree of the sheets: SLUG.json at its root.
func FS() fs.FS { return files }

// Names lists the slugs, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // an embedded tree has its root
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".json")
	}
	return names
}

// Read returns the bytes of a sheet.
func Read(slug string) ([]byte, bool) {
	src, err := files.ReadFile(slug + ".json")
	return src, err == nil
}
