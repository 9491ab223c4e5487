package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a person sees what is written to w as it is written.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// look is how a table is to be drawn.
type look struct {
	width int
	color bool
}

// lookOf decides width and colour from what is known about the place where a table goes. NO_COLOR (no-color.org) and
// TERM=dumb turn colour off; nothing turns it on where no terminal is, so that files and pipes hold plain text.
func lookOf(terminal bool, columns int, getenv func(string) string) look {
	l := look{width: defaultColumns}
	if !terminal {
		return l
	}
	if columns > 0 {
		l.width = columns
	}
	l.color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return l
}

const defaultColumns = 80

// lookAt asks the terminal behind w, if there is one.
func (a *app) lookAt(w io.Writer) look {
	columns := 0
	if f, ok := w.(*os.File); ok {
		columns, _, _ = term.GetSize(int(f.Fd()))
	}
	return lookOf(isTerminal(w), columns, a.getenv)
}
