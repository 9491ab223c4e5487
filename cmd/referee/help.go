package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const intro = `referee decides by a declared rulebook whether an agent's work may be used,
and says why: numbers are derived again, sources looked up, gates proved.

`

const exitCodes = `Exit codes: 0 clean; 1 the rules (or the chain) refuse; 2 bad usage,
configuration or sheet; 3 the tool failed.
`

func helpCommand() *command {
	c := newCommand("help", "[COMMAND]", "show the commands, or one command's flags and examples", 2)
	c.examples = []string{"referee help", "referee help audit", "referee help sheet list"}
	c.run = func(a *app, args []string) error {
		if len(args) == 0 {
			return a.printOverview()
		}
		return a.helpOf(args)
	}
	return c
}

// helpOf prints the help of the command or group that the words name.
func (a *app) helpOf(words []string) error {
	if other, ok := otherNames[words[0]]; ok {
		words = slices.Concat(other[:1], words[1:])
	}
	for _, c := range allCommands() {
		if c.name == strings.Join(words, " ") {
			return a.printHelp(c)
		}
	}
	_, isGroup := groups[words[0]]
	switch {
	case isGroup && len(words) == 1:
		return a.groupHelp(words[0])
	case isGroup:
		return a.runGroup(words[0], words[1:])
	case len(words) == 1:
		return unknownCommand(words[0], "", namesIn(a.tree))
	}
	return usagef("referee has no command %q", strings.Join(words, " ")).withHint("`referee help` lists the commands")
}

// usageLine is the command's usage line.
func (c *command) usageLine() string {
	return strings.TrimRight("referee "+c.name+" "+c.args, " ")
}

// printHelp prints one command's help.
func (a *app) printHelp(c *command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.\n\nUsage: %s\n", "referee "+c.name, c.short, c.usageLine())
	if c.long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.long))
	}
	if c.flags.HasFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", c.flags.FlagUsagesWrapped(helpWidth))
	}
	if len(c.examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, e := range c.examples {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	return a.print(b.String())
}

// helpWidth is the width of help: it reads the same in a terminal, a pipe and a bug report.
const helpWidth = 80

// printOverview lists the commands.
func (a *app) printOverview() error {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("Usage: referee COMMAND [ARGUMENTS] [FLAGS]\n\nCommands:\n")
	writeCommands(&b, allCommands())
	b.WriteString("\n`referee COMMAND --help` shows a command's flags and examples.\n" + exitCodes)
	return a.print(b.String())
}

func writeCommands(w io.Writer, list []*command) {
	for _, c := range list {
		fmt.Fprintf(w, "  %-15s %s\n", c.name, c.short)
	}
}

// groupHelp lists the commands of a group.
func (a *app) groupHelp(group string) error {
	var list []*command
	for _, c := range allCommands() {
		if strings.HasPrefix(c.name, group+" ") {
			list = append(list, c)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "referee %s: %s.\n\nUsage: referee %s COMMAND [ARGUMENTS] [FLAGS]\n\nCommands:\n",
		group, groups[group], group)
	writeCommands(&b, list)
	return a.print(b.String())
}

// print writes a result to standard output.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return toolf("writing the result: %w", err)
	}
	return nil
}
