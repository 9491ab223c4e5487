package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/internal/nearest"
)

// app is what a command may touch of the world; nothing else reads the environment, the clock or a terminal.
type app struct {
	ctx    context.Context
	getenv func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	now    func() time.Time
}

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
	c := &command{name: name, args: args, short: short, most: most, flags: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	c.flags.SetOutput(io.Discard)
	c.flags.SortFlags = false
	return c
}

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{ctx: ctx, getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now}
	err := a.dispatch(args)
	if err != nil {
		complain(stderr, err)
	}
	return codeOf(err)
}

// dispatch finds the command that the arguments begin with and runs it.
func (a *app) dispatch(args []string) error {
	if len(args) == 0 {
		return usagef("no command given").hint("`referee help` lists the commands; `referee audit PATH` is the usual one")
	}
	switch args[0] {
	case "-h", "--help":
		return a.overview()
	case "--version":
		args[0] = "version"
	}
	c, rest, err := lookup(args)
	if err != nil {
		return err
	}
	if c == nil {
		return a.groupHelp(args[0], rest)
	}
	return a.execute(c, rest)
}

// execute reads the flags, which may stand anywhere among the arguments, and runs the command.
func (a *app) execute(c *command, args []string) error {
	err := c.flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return a.help(c)
	case err != nil:
		return c.flagError(err)
	case c.most >= 0 && c.flags.NArg() > c.most:
		return usagef("%s takes %s, not %d: %q is too many", c.name, atMost(c.most), c.flags.NArg(), c.flags.Arg(c.most)).hint("usage: %s", c.usage())
	}
	return c.run(a, c.flags.Args())
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
	f := usagef("%s: %w", c.name, err)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		f = usagef("%s knows no flag --%s", c.name, unknown.GetSpecifiedName())
		var known []string
		c.flags.VisitAll(func(fl *pflag.Flag) { known = append(known, fl.Name) })
		if near := nearest.Word(unknown.GetSpecifiedName(), known); near != "" {
			return f.hint("did you mean --%s?", near)
		}
	}
	return f.hint("`referee %s --help` shows its flags", c.name)
}

// lookup finds the command that args begin with, and what follows its name. The command is nil where args name only a group.
func lookup(args []string) (*command, []string, error) {
	all := commands()
	find := func(name string) *command {
		i := slices.IndexFunc(all, func(c *command) bool { return c.name == name })
		if i < 0 {
			return nil
		}
		return all[i]
	}
	if c := find(args[0]); c != nil {
		return c, args[1:], nil
	}
	inGroup := membersOf(args[0], all)
	if len(inGroup) == 0 {
		return nil, nil, unknownCommand(args[0], "", topNames(all))
	}
	if len(args) == 1 || strings.HasPrefix(args[1], "-") {
		return nil, args[1:], nil
	}
	if c := find(args[0] + " " + args[1]); c != nil {
		return c, args[2:], nil
	}
	return nil, nil, unknownCommand(args[1], args[0], inGroup)
}

// unknownCommand refuses a word and names the nearest known one.
func unknownCommand(word, group string, known []string) error {
	where := "referee"
	if group != "" {
		where += " " + group
	}
	f := usagef("%s has no command %q", where, word)
	if near := nearest.Word(word, known); near != "" {
		return f.hint("did you mean `%s %s`?", where, near)
	}
	return f.hint("known: %s", strings.Join(known, ", "))
}

// membersOf lists the second words of the commands of a group.
func membersOf(group string, all []*command) []string {
	var out []string
	for _, c := range all {
		if rest, ok := strings.CutPrefix(c.name, group+" "); ok {
			out = append(out, rest)
		}
	}
	return out
}

// topNames lists the first words of all commands, each once.
func topNames(all []*command) []string {
	var out []string
	for _, c := range all {
		first, _, _ := strings.Cut(c.name, " ")
		if !slices.Contains(out, first) {
			out = append(out, first)
		}
	}
	return out
}
