package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/report"
)

const completionLong = `The script asks referee itself what could come next, so it also knows your
repository's flight sheets. SHELL is bash, zsh, fish or powershell. Put the
script where your shell looks for it:
  bash        ~/.local/share/bash-completion/completions/referee
  zsh         _referee in a folder of $fpath
  fish        ~/.config/fish/completions/referee.fish
  powershell  add to $PROFILE:
              referee completion powershell | Out-String | Invoke-Expression`

// shells can complete; each is written by cobra.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() *command {
	c := newCommand("completion", "SHELL", "print a completion script for your shell", 1)
	c.long = completionLong
	c.examples = []string{"source <(referee completion bash)", "referee completion zsh > ~/.zsh/completions/_referee"}
	c.run = func(a *app, args []string) error {
		if len(args) == 0 {
			return usagef("completion needs a SHELL").withHint("known: %s", strings.Join(shells, ", "))
		}
		var err error
		switch args[0] {
		case "bash":
			err = a.tree.GenBashCompletionV2(a.stdout, true)
		case "zsh":
			err = a.tree.GenZshCompletion(a.stdout)
		case "fish":
			err = a.tree.GenFishCompletion(a.stdout, true)
		case "powershell":
			err = a.tree.GenPowerShellCompletionWithDesc(a.stdout)
		default:
			return unknownShell(args[0])
		}
		if err != nil {
			return toolf("writing the result: %w", err)
		}
		return nil
	}
	return c
}

func unknownShell(word string) error {
	f := usagef("completion: %q: unknown shell", word)
	if near := nearest.Word(word, shells); near != "" {
		return f.withHint("did you mean %q?", near)
	}
	return f.withHint("known: %s", strings.Join(shells, ", "))
}

// completer lists what could come next. given are the arguments before it; prefix is what is already typed of it.
type completer func(a *app, node *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective)

// argumentCompleters complete the arguments of commands. For one that is not listed, the shell offers files.
var argumentCompleters = map[string]completer{
	"approve":        completeFolders,
	"audit":          completeFiles("json", "jsonl"),
	"completion":     completeOne(func(*app) []string { return shells }),
	"demo":           completeFolders,
	"docs man":       completeFolders,
	"help":           completeCommands,
	"init":           completeFolders,
	"ledger init":    completeFolders,
	"ledger verify":  completeFolders,
	"receipt pdf":    completeFiles("json"),
	"receipt replay": completeFiles("json"),
	"receipt show":   completeFiles("json"),
	"receipt verify": completeFiles("json"),
	"rules":          completeOne(func(*app) []string { return registryWords() }),
	"run new":        completeFolders,
	"sheet diff":     completeFiles("json"),
	"sheet fmt":      completeFiles("json"),
	"sheet lint":     completeSheets,
	"sheet new":      completeFiles("json"),
	"sheet prompt":   completeFirstSheet,
	"sheet show":     completeFirstSheet,
	"sheet test":     completeSheets,
	"summary":        completeFiles("json", "jsonl"),
}

// flagCompleters complete the values of flags, which mean the same in every command. Flags that take one of a few words
// need no entry.
var flagCompleters = map[string]completer{
	"explain":       completeRules,
	"flight-sheets": completeFolders,
	"ledger":        completeFolders,
	"sheet":         completeSheets,
	"source":        completeFolders,
}

// isCompletion reports whether a shell's script asks what could come next.
func isCompletion(args []string) bool {
	return args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd
}

// completeShell answers a shell's script.
func (a *app) completeShell() error {
	a.registerCompletions()
	if err := a.tree.ExecuteContext(a.ctx); err != nil {
		return usagef("%w", err).withHint("`referee completion --help` shows how a shell uses it")
	}
	return nil
}

// registerCompletions tells cobra how arguments and flags complete. Only a request for completions needs it.
func (a *app) registerCompletions() {
	bind := func(complete completer) cobra.CompletionFunc {
		return func(node *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return complete(a, node, given, prefix)
		}
	}
	for _, c := range allCommands() {
		node, _, err := a.tree.Find(strings.Fields(c.name))
		if err != nil {
			continue // the tree was made from the same list
		}
		complete, ok := argumentCompleters[c.name]
		if !ok && c.most == 0 {
			complete, ok = completeNothing, true
		}
		if ok {
			node.ValidArgsFunction = bind(complete)
		}
		node.Flags().VisitAll(func(f *pflag.Flag) {
			complete, ok := flagCompleters[f.Name]
			if one, isChoice := f.Value.(*choice); isChoice {
				complete, ok = completeWords(one.words), true
			}
			if ok {
				_ = node.RegisterFlagCompletionFunc(f.Name, bind(complete)) // fails only for a flag that is not there
			}
		})
	}
}

func completeNothing(*app, *cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func completeFolders(*app, *cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeFiles offers folders and files with these endings.
func completeFiles(endings ...string) completer {
	return func(*app, *cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

func completeWords(words []string) completer {
	return func(_ *app, _ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(words, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOne completes the only argument of a command.
func completeOne(words func(a *app) []string) completer {
	return func(a *app, node *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return completeNothing(a, node, given, prefix)
		}
		return withPrefix(words(a), prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

func withPrefix(words []string, prefix string) []string {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			out = append(out, w)
		}
	}
	return out
}

// completeCommands offers the commands below those that are given.
func completeCommands(a *app, _ *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	above, rest, err := a.tree.Find(given)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, node := range above.Commands() {
		if node.IsAvailableCommand() && strings.HasPrefix(node.Name(), prefix) {
			out = append(out, cobra.CompletionWithDesc(node.Name(), node.Short))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func completeFirstSheet(
	a *app,
	node *cobra.Command,
	given []string,
	prefix string,
) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return completeNothing(a, node, given, prefix)
	}
	return completeSheets(a, node, given, prefix)
}

// completeSheets offers the slugs of flight sheets with their titles, and the shell offers files where no slug fits.
// The folder of a repository's own sheets is hostile: a file name that is no slug is left out, and a title is cleaned.
func completeSheets(a *app, node *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	library, err := a.openLibrary(flagText(node, "flight-sheets"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, slug := range withPrefix(library.Slugs(), prefix) {
		if strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			continue
		}
		title := "refused: `referee sheet lint " + slug + "` says why"
		if s, err := library.Find(slug); err == nil {
			title = report.Clean(s.Name)
		}
		out = append(out, cobra.CompletionWithDesc(slug, title))
	}
	return out, cobra.ShellCompDirectiveDefault
}

// completeRules offers the rules of the flight sheet that --sheet names.
func completeRules(a *app, node *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	slug := flagText(node, "sheet")
	library, err := a.openLibrary(flagText(node, "flight-sheets"))
	if slug == "" || err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := library.Find(slug)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, r := range s.Rules {
		if id := report.Clean(r.ID); strings.HasPrefix(id, prefix) {
			out = append(out, cobra.CompletionWithDesc(id, report.Clean(r.Label)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// flagText is the value of a flag, "" where the command has none of that name.
func flagText(node *cobra.Command, name string) string {
	if f := node.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// registryWords are the words that `referee rules` explains.
func registryWords() []string {
	var out []string
	for _, e := range registryEntries() {
		out = append(append(append(out, e.Name), e.Aliases...), e.Codes...)
	}
	out = slices.DeleteFunc(out, func(word string) bool { return strings.ContainsAny(word, "*<") })
	slices.Sort(out)
	return slices.Compact(out)
}
