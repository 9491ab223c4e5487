package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/internal/nearest"
)

// command is one command. It is made anew for every run, so that its flags and options belong to one run only.
type command struct {
	name     string   // "audit", or "sheet list" in a group
	args     string   // what follows the name in the usage line
	short    string   // one line for the list of commands, without a full stop
	long     string   // what a reader must know beyond it
	examples []string // each a shell line
	flags    *pflag.FlagSet
	run      func(a *app, args []string) error
	most     int // arguments beyond this many are refused; -1 is any number
}

// newCommand begins a command that takes at most most arguments.
func newCommand(name, args, short string, most int) *command {
	c := &command{
		name: name, args: args, short: short, most: most,
		flags: pflag.NewFlagSet(name, pflag.ContinueOnError),
	}
	c.flags.SetOutput(io.Discard)
	c.flags.SortFlags = false
	return c
}

// formatFlag adds --format with the formats that the command can write; the first one is the default.
func (c *command) formatFlag(formats ...string) *string {
	format := new(string)
	c.choiceFlag(format, "format", formats[0], "`FORMAT`", formats)
	return format
}

// choiceFlag adds a flag that takes one of a few words: help lists them, completion offers them, any other is refused.
func (c *command) choiceFlag(p *string, name, preset, usage string, words []string) {
	*p = preset
	c.flags.Var(&choice{p, preset, name, words}, name, usage+": "+strings.Join(words, ", "))
}

// choice is the value of a flag that takes one of a few words.
type choice struct {
	chosen *string
	preset string // "" where any is meant if none is chosen
	flag   string
	words  []string
}

// String is pflag.Value's.
func (c *choice) String() string { return *c.chosen }

// Type is pflag.Value's: a default is shown in help as a string is.
func (c *choice) Type() string { return "string" }

// Set is pflag.Value's. Its error is a whole failure, which flagError passes on as it is.
func (c *choice) Set(word string) error {
	if word != c.preset && !slices.Contains(c.words, word) {
		return unknownWord("--"+c.flag, word, c.words)
	}
	*c.chosen = word
	return nil
}

// unknownWord refuses a flag's value and names the nearest known one.
func unknownWord(flag, word string, known []string) error {
	f := usagef("%s does not know %q", flag, word)
	if near := nearest.Word(word, known); near != "" {
		f = f.withHint("did you mean %q?", near)
	}
	return f.withHint("known: %s", strings.Join(known, ", "))
}

// checkArguments refuses more arguments than the command takes.
func (c *command) checkArguments(args []string) error {
	if c.most < 0 || len(args) <= c.most {
		return nil
	}
	return usagef("%s takes %s, not %d: %q is too many", c.name, atMost(c.most), len(args), args[c.most]).
		withHint("usage: %s", c.usageLine())
}

func atMost(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "one argument at most"
	}
	return fmt.Sprintf("%d arguments at most", n)
}

// flagError words what pflag refused and names the nearest flag.
func (c *command) flagError(err error) error {
	var whole *failure
	if errors.As(err, &whole) {
		return whole
	}
	f := usagef("%s: %w", c.name, err)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name, dashes := unknown.GetSpecifiedName(), "--"
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name, dashes = short, "-"
		}
		f = usagef("%s knows no flag %s%s", c.name, dashes, name)
		var known []string
		c.flags.VisitAll(func(fl *pflag.Flag) { known = append(known, fl.Name) })
		if near := nearest.Word(name, known); near != "" {
			return f.withHint("did you mean --%s?", near)
		}
	}
	return f.withHint("`referee %s --help` shows its flags", c.name)
}
