package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/defendableos/referee/internal/nearest"
)

// otherNames are commands under another name, and what each stands for.
var otherNames = map[string][]string{
	"--version": {"version"},
	"profile":   {"summary", "--by", "agent"},
}

// replacedCommands no longer exist; the hint names what does their work.
var replacedCommands = map[string]string{
	"ledger show": "receipt show",
}

// dispatchCommand finds the command that the arguments begin with and runs it.
func (a *app) dispatchCommand(args []string) error {
	if len(args) == 0 {
		return usagef("no command given").
			withHint("`referee help` lists the commands; `referee audit PATH` is the usual one")
	}
	if other, ok := otherNames[args[0]]; ok {
		args = slices.Concat(other, args[1:])
	}
	var helpErr error
	a.tree = a.newTree(&helpErr)
	if err := a.refuseEarlyFlag(args); err != nil {
		return err
	}
	a.tree.SetArgs(args)
	if isCompletion(args) {
		return a.completeShell()
	}
	if err := a.tree.ExecuteContext(a.ctx); err != nil {
		return err
	}
	return helpErr
}

// newTree makes the tree of this run's commands. Cobra asks for help through a function that returns nothing, so an
// error in printing it goes to helpErr.
func (a *app) newTree(helpErr *error) *cobra.Command {
	root := &cobra.Command{
		Use: "referee", SilenceErrors: true, SilenceUsage: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runRoot(args) },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetHelpFunc(func(*cobra.Command, []string) { *helpErr = a.printOverview() })
	group := map[string]*cobra.Command{"": root}
	for _, c := range allCommands() {
		above, _ := c.groupAndName()
		if group[above] == nil {
			group[above] = a.newGroup(above, helpErr)
			root.AddCommand(group[above])
		}
		node := a.newNode(c, helpErr)
		if c.name == "help" {
			root.SetHelpCommand(node)
		}
		group[above].AddCommand(node)
	}
	return root
}

// groupAndName are the group that a command belongs to, "" for none, and its own name there.
func (c *command) groupAndName() (group, name string) {
	group, name, found := strings.Cut(c.name, " ")
	if !found {
		return "", group
	}
	return group, name
}

// newNode is the command in the tree.
func (a *app) newNode(c *command, helpErr *error) *cobra.Command {
	_, name := c.groupAndName()
	node := &cobra.Command{
		Use:     strings.TrimRight(name+" "+c.args, " "),
		Short:   c.short,
		Args:    func(_ *cobra.Command, args []string) error { return c.checkArguments(args) },
		RunE:    func(_ *cobra.Command, args []string) error { return c.run(a, args) },
		Example: strings.Join(c.examples, "\n"),
	}
	node.Flags().AddFlagSet(c.flags)
	node.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if asked, _ := node.Flags().GetBool("help"); asked {
			return pflag.ErrHelp // who asks for help before a mistake gets help
		}
		return c.flagError(err)
	})
	node.SetHelpFunc(func(*cobra.Command, []string) { *helpErr = a.printHelp(c) })
	return node
}

// newGroup is a command that only holds others. It reads its own arguments: flags belong to the commands in it.
func (a *app) newGroup(name string, helpErr *error) *cobra.Command {
	node := &cobra.Command{
		Use: name, Short: groups[name], DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return a.runGroup(name, args) },
	}
	node.SetHelpFunc(func(*cobra.Command, []string) { *helpErr = a.groupHelp(name) })
	return node
}

// runRoot answers arguments that begin with no command.
func (a *app) runRoot(args []string) error {
	if isHelpFlag(args[0]) {
		return a.printOverview()
	}
	return unknownCommand(args[0], "", namesIn(a.tree))
}

// runGroup answers `referee sheet`: with --help it is help, without it a command is missing or unknown.
func (a *app) runGroup(group string, args []string) error {
	if len(args) > 0 && isHelpFlag(args[0]) {
		return a.groupHelp(group)
	}
	node, _, err := a.tree.Find([]string{group})
	if err != nil {
		return usagef("%w", err)
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return usagef("referee %s needs a command", group).
			withHint("known: %s", strings.Join(namesIn(node), ", ")).
			withHint("`referee %s --help` shows what they do", group)
	}
	return unknownCommand(args[0], group, namesIn(node))
}

func isHelpFlag(word string) bool { return word == "-h" || word == "--help" }

// refuseEarlyFlag refuses a flag in front of the command that it belongs to, which cobra would let through.
func (a *app) refuseEarlyFlag(args []string) error {
	node, _, err := a.tree.Find(args)
	if err != nil {
		return usagef("%w", err)
	}
	path := node.CommandPath()
	for _, word := range args[:strings.Count(path, " ")] {
		if strings.HasPrefix(word, "-") {
			return usagef("%s comes before the command", word).withHint("flags follow it: `%s %s`", path, word)
		}
	}
	return nil
}

// unknownCommand refuses a word and names the nearest known one.
func unknownCommand(word, group string, known []string) error {
	where := "referee"
	if group != "" {
		where += " " + group
	}
	f := usagef("%s has no command %q", where, word)
	if instead := replacedCommands[strings.TrimSpace(group+" "+word)]; instead != "" {
		return f.withHint("`referee %s` does its work", instead)
	}
	if near := nearest.Word(word, known); near != "" {
		return f.withHint("did you mean `%s %s`?", where, near)
	}
	return f.withHint("known: %s", strings.Join(known, ", "))
}

// namesIn lists the commands below a node in the order of help, each once.
func namesIn(node *cobra.Command) []string {
	var names []string
	for _, c := range allCommands() {
		group, name := c.groupAndName()
		switch {
		case node.HasParent() && group == node.Name():
			names = append(names, name)
		case !node.HasParent() && group != "" && !slices.Contains(names, group):
			names = append(names, group)
		case !node.HasParent() && group == "":
			names = append(names, name)
		}
	}
	return names
}
