package main

import (
	_ "embed" // the prose of docs/rules.md
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/policy"
)

// ruleEntry is one word of the registry: a kind of check, a check by name, or an operation of the expression language.
type ruleEntry struct {
	Name      string      `json:"name"`
	What      string      `json:"what"` // kind | key | operation
	Title     string      `json:"title,omitempty"`
	Doc       string      `json:"doc,omitempty"`
	Why       string      `json:"why,omitempty"`
	Remedy    string      `json:"remedy,omitempty"`
	Stage     string      `json:"stage,omitempty"`
	Tier      string      `json:"tier,omitempty"`
	Since     string      `json:"since,omitempty"`
	Baseline  bool        `json:"baseline,omitempty"`
	Params    []ruleParam `json:"params,omitempty"`
	Codes     []string    `json:"codes,omitempty"`
	Group     string      `json:"group,omitempty"`
	Signature string      `json:"signature,omitempty"`
	Aliases   []string    `json:"aliases,omitempty"`
	Result    string      `json:"result,omitempty"`
	Example   string      `json:"example,omitempty"`
}

type ruleParam struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Doc      string   `json:"doc"`
	Required bool     `json:"required,omitempty"`
	Enum     []string `json:"enum,omitempty"`
}

func rulesCommand() *command {
	c := newCommand("rules", "[KEY]", "the rule registry: checks, operations, finding codes", 1)
	c.long = "KEY is a kind of check, a check by name, an operation of the expression\nlanguage, or a finding code: " +
		"its parameters, why it exists, what would be right."
	c.examples = []string{"referee rules", "referee rules for_each", "referee rules math.mismatch",
		"referee rules --format markdown > docs/rules.md"}
	format := c.formatFlag("table", "json", "markdown")
	c.run = func(a *app, args []string) error {
		entries := registryEntries()
		if len(args) == 1 {
			var err error
			if entries, err = entriesFor(args[0], entries); err != nil {
				return err
			}
		}
		return a.printRules(*format, entries, len(args) == 1)
	}
	return c
}

func (a *app) printRules(format string, entries []ruleEntry, one bool) error {
	switch {
	case format == "json":
		return a.printJSON(map[string]any{"registry_sha256": referee.RegistrySHA256(), "rules": entries})
	case format == "markdown":
		return a.print(rulesMarkdown(entries))
	case one:
		return a.print(rulesInFull(entries))
	}
	return a.print(rulesTable(entries))
}

// registryEntries is everything that a sheet may say, from the tables that the engine itself reads.
func registryEntries() []ruleEntry {
	var out []ruleEntry
	for _, k := range referee.ImplicitRules() {
		out = append(out, ruleEntry{Name: k.Name, What: "implicit", Title: k.Title, Doc: k.Doc, Stage: string(k.Stage),
			Tier: string(k.Tier), Since: k.Since, Codes: k.Codes})
	}
	for _, k := range referee.RuleKinds() {
		e := ruleEntry{Name: k.Name, What: "kind", Title: k.Title, Doc: k.Doc, Stage: string(k.Stage),
			Tier: string(k.Tier), Since: k.Since, Codes: k.Codes}
		for _, p := range k.Params {
			e.Params = append(e.Params, ruleParam{p.Name, p.Type, p.Doc, p.Required, p.Enum})
		}
		out = append(out, e)
	}
	for _, k := range referee.RuleKeys() {
		e := ruleEntry{Name: k.Name, What: "key", Title: k.Title, Why: k.Why, Remedy: k.Remedy, Stage: string(k.Stage),
			Tier: string(k.Tier), Since: k.Since, Baseline: k.Baseline, Codes: k.Codes}
		for _, p := range k.Params {
			e.Params = append(e.Params, ruleParam{p.Name, p.Type, p.Doc, p.Required, p.Enum})
		}
		out = append(out, e)
	}
	for _, o := range policy.Registry() {
		out = append(out, ruleEntry{Name: o.Name, What: "operation", Group: o.Group, Signature: o.Signature,
			Aliases: o.Aliases, Result: o.Result, Doc: o.Doc, Example: o.Example})
	}
	return out
}

// entriesFor finds what a word names: an entry by name or alias, else the checks that raise a finding code.
func entriesFor(word string, all []ruleEntry) ([]ruleEntry, error) {
	var byName, byCode []ruleEntry
	var words []string
	for _, e := range all {
		if e.Name == word || slices.Contains(e.Aliases, word) {
			byName = append(byName, e)
		}
		if slices.ContainsFunc(e.Codes, func(code string) bool { return codeMatches(code, word) }) {
			byCode = append(byCode, e)
		}
		words = append(append(append(words, e.Name), e.Aliases...), e.Codes...)
	}
	if found := append(byName, byCode...); len(found) > 0 {
		return found, nil
	}
	f := usagef("%q: not in the registry", word)
	if near := nearest.Word(word, words); near != "" {
		f = f.withHint("did you mean %q?", near)
	}
	return nil, f.withHint("`referee rules` lists them all")
}

// codeMatches reads "policy.<rule id>" as any code that begins so.
func codeMatches(code, word string) bool {
	if open := strings.IndexByte(code, '<'); open > 0 {
		return strings.HasPrefix(word, code[:open]) && len(word) > open
	}
	return code == word
}

// rulesTable is the registry at a glance.
func rulesTable(entries []ruleEntry) string {
	p := &page{}
	p.line("Rules that every sheet has")
	for _, e := range entries {
		if e.What == "implicit" {
			p.writeEntry(e.Name, 20, fmt.Sprintf("%s, %s: %s", e.Stage, e.Tier, e.Title))
		}
	}
	p.beginSection("Checks with parameters, {\"check\": NAME, …}")
	for _, e := range entries {
		if e.What == "kind" {
			p.writeEntry(e.Name, 14, fmt.Sprintf("%s, %s: %s", e.Stage, e.Tier, e.Title))
		}
	}
	p.beginSection("Checks by name (* comes with \"baseline\": \"canonical\")")
	for _, e := range entries {
		if e.What == "key" {
			name := e.Name
			if e.Baseline {
				name += " *"
			}
			p.writeEntry(name, 32, fmt.Sprintf("%s, %s: %s", e.Stage, e.Tier, e.Title))
		}
	}
	p.writeOperations(entries)
	p.beginSection("`referee rules KEY` shows one in full; KEY may be a finding code.")
	return p.b.String()
}

// writeOperations lists the names of the expression language, group by group.
func (p *page) writeOperations(entries []ruleEntry) {
	p.beginSection("Operations of expressions")
	var order []string
	names := map[string][]string{}
	for _, e := range entries {
		if e.What != "operation" {
			continue
		}
		if len(names[e.Group]) == 0 {
			order = append(order, e.Group)
		}
		names[e.Group] = append(names[e.Group], e.Name)
	}
	for _, g := range order {
		p.writeEntry(g, 24, strings.Join(names[g], ", "))
	}
}

// rulesInFull is everything about a few entries.
func rulesInFull(entries []ruleEntry) string {
	p := &page{}
	for i, e := range entries {
		if i > 0 {
			p.line("")
		}
		p.writeRuleInFull(e)
	}
	return p.b.String()
}

func (p *page) writeRuleInFull(e ruleEntry) {
	switch e.What {
	case "operation":
		p.line("%s: %s (%s)", e.Name, orDash(e.Signature), e.Group)
	case "kind":
		p.line("%s: %s", e.Name, e.Title)
		p.line("  {\"check\": %q, …}; stage %s, tier %s", e.Name, e.Stage, e.Tier)
	default:
		p.line("%s: %s", e.Name, e.Title)
		p.line("  stage %s, tier %s", e.Stage, e.Tier)
	}
	p.writeLabelled(2, "", e.Doc)
	p.writeLabelled(2, "Why:", e.Why)
	p.writeLabelled(2, "Fix:", e.Remedy)
	p.writeLabelled(2, "Result:", e.Result)
	p.writeLabelled(2, "Example:", e.Example)
	p.writeLabelled(2, "Also written:", strings.Join(e.Aliases, ", "))
	p.writeLabelled(2, "Codes:", strings.Join(e.Codes, ", "))
	if e.Baseline {
		p.line("  Comes with \"baseline\": \"canonical\".")
	}
	if len(e.Params) > 0 {
		p.line("  Parameters:")
	}
	for _, param := range e.Params {
		p.text("    "+param.Name+": ", paramText(param))
	}
}

func paramText(param ruleParam) string {
	text := param.Type
	if len(param.Enum) > 0 {
		text = strings.Join(param.Enum, " | ")
	}
	if param.Required {
		text += ", required"
	}
	return text + ". " + param.Doc
}

// rulesTemplate is the prose of docs/rules.md. A word in capitals on a line of its own stands for a part that the
// registry writes.
//
//go:embed rules.md.tmpl
var rulesTemplate string

// rulesMarkdown is docs/rules.md.
func rulesMarkdown(entries []ruleEntry) string {
	predicate := func(e ruleEntry) bool { return e.Result == "true/false" }
	return strings.NewReplacer(
		"REGISTRY", referee.RegistrySHA256(),
		"\nOPERATORS\n", markdownOperations(entries, func(e ruleEntry) bool { return e.Group == "operators" }),
		"\nOPERANDS\n", markdownOperations(entries, func(e ruleEntry) bool {
			return e.Group != "operators" &&
				!predicate(e)
		}),
		"\nPREDICATES\n", markdownOperations(entries, func(e ruleEntry) bool {
			return e.Group != "operators" &&
				predicate(e)
		}),
		"\nKINDS\n", markdownChecks(entries, "kind"),
		"\nKEYS\n", markdownChecks(entries, "key"),
		"\nIMPLICIT\n", markdownChecks(entries, "implicit"),
	).Replace(rulesTemplate)
}

// markdownOperations are the tables of some operations, a table for each group, in the order in which the groups first
// appear.
func markdownOperations(entries []ruleEntry, chosen func(ruleEntry) bool) string {
	var order []string
	rows := map[string]string{}
	for _, e := range entries {
		if e.What != "operation" || !chosen(e) {
			continue
		}
		if rows[e.Group] == "" {
			order = append(order, e.Group)
		}
		rows[e.Group] += fmt.Sprintf("| `%s` | %s | %s | `%s` |\n", escapeMarkdownCell(orName(e)),
			escapeMarkdownCell(anyValue.Replace(e.Result)), escapeMarkdownCell(e.Doc), escapeMarkdownCell(e.Example))
	}
	var b strings.Builder
	for _, group := range order {
		fmt.Fprintf(&b, "\n#### %s\n\n| operation | result | what it does | example |\n| --- | --- | --- | --- |\n%s",
			upperFirst(group), rows[group])
	}
	return b.String()
}

// anyValue words a result of every type in two words.
var anyValue = strings.NewReplacer("true/false or a number or a text or a list or an object", "any value")

// markdownChecks describes the checks of one sort.
func markdownChecks(entries []ruleEntry, what string) string {
	p := &page{}
	for _, e := range entries {
		if e.What == what {
			p.markdownCheck(e)
		}
	}
	return p.b.String()
}

func (p *page) markdownCheck(e ruleEntry) {
	w := func(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }
	w("\n#### `%s`\n\n%s. Stage %s, tier %s, since %s.", e.Name, e.Title, e.Stage, e.Tier, e.Since)
	for _, s := range []string{e.Doc, strings.TrimSpace(e.Why + " " + e.Remedy)} {
		if s != "" {
			w("\n%s", s)
		}
	}
	if e.Baseline {
		w("\nComes with `\"baseline\": \"canonical\"`.")
	}
	if len(e.Codes) > 0 {
		w("\nFinding codes: `%s`.", strings.Join(e.Codes, "`, `"))
	}
	if len(e.Params) > 0 {
		w("\n| parameter | type | what it is |\n| --- | --- | --- |")
	}
	for _, param := range e.Params {
		kind := param.Type
		if param.Required {
			kind += ", required"
		}
		if len(param.Enum) > 0 {
			kind += ": " + strings.Join(param.Enum, ", ")
		}
		w("| `%s` | %s | %s |", param.Name, escapeMarkdownCell(kind), escapeMarkdownCell(param.Doc))
	}
}

func orName(e ruleEntry) string {
	if e.Signature != "" {
		return e.Signature
	}
	return e.Name
}

// escapeMarkdownCell keeps a text inside a cell of a markdown table.
func escapeMarkdownCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// quoteJSON writes a text as JSON.
func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // unreachable: a string is always JSON
	}
	return string(b)
}
