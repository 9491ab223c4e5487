package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// sheetsDir is where a repository keeps its own flight sheets, unless --flight-sheets says otherwise.
const sheetsDir = "flight_sheets"

// sheetsFlag adds --flight-sheets to a command.
func sheetsFlag(flags *pflag.FlagSet) *string {
	return flags.String("flight-sheets", "", "the repository's own sheets in `DIR`; they replace the "+
		"library's\n(default: "+sheetsDir+", where it is)")
}

// openLibrary opens the flight sheets: the repository's, where there are any, before the embedded ones. Nothing is
// loaded yet.
func (a *app) openLibrary(dir string) (*referee.Library, error) {
	asked := dir != ""
	if !asked {
		dir = sheetsDir
	}
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return nil, usagef("--flight-sheets %s is not a folder", dir)
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return referee.NewLibrary(flightsheets.FS(), nil, ""), nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("%s: no such folder",
			dir).withHint("--flight-sheets takes the folder of the sheets, each as SLUG.json")
	case err != nil:
		return nil, toolf("opening the sheets in %s: %w", dir, err)
	}
	return referee.NewLibrary(flightsheets.FS(), os.DirFS(dir), filepath.ToSlash(dir)), nil
}

// sheetError gives an error about a sheet its exit code: a rulebook that is not there or not understood is never the
// tool's fault.
func sheetError(err error) error {
	var refused *referee.RefusedError
	if errors.As(err, &refused) {
		return usagef("the flight sheet is refused\n%w",
			err).withHint("`referee sheet lint FILE` shows all refusals and warnings of a sheet")
	}
	text, after, found := strings.Cut(err.Error(), "; ")
	switch {
	case errors.Is(err, referee.ErrNoSheet) && strings.HasSuffix(text, `.json"`):
		return usagef("%s", text).withHint("save it as DIR/SLUG.json, by the slug it states; " +
			"--flight-sheets DIR reads it, and --sheet SLUG names it")
	case errors.Is(err, referee.ErrNoSheet) && found:
		return usagef("%s", text).withHint("%s", after)
	}
	return usagef("%w", err)
}
