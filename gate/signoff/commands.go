package signoff

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/ledger"
)

// Commands are what an approving review's body says to the gate, one a line (gate.md): /satisfied <key>, /flag <key>
// <why>, /accept <rule> <why>, /digest <first 8 of the audit digest>. A key or rule alone speaks of all runs of the
// pull request, <run id>:<key> of one. Only a line that a reader of the rendered review sees as a plain line counts
// (reviewLines); other lines are talk. Problems are commands that cannot be read, or that are not plain lines; an
// approval with one is not counted, because its author meant something that would be lost.
type Commands struct {
	Answers  []ledger.Answer
	Accepts  []ledger.Waiver
	Digest   string
	Problems []string
}

var (
	commandName  = pattern.New(`^/([a-z]+)(?:[ \t]+(.*))?$`)
	nearCommand  = pattern.New(`(?i)^[^[:ascii:]]*/(?:satisfied|flag|accept|digest)(?:[^a-z0-9_/-]|$)`)
	digestPrefix = pattern.New(`^[0-9a-f]{8,64}$`)
	commandWords = []string{"satisfied", "flag", "accept", "digest"}
)

// maxReason is how long a reason may be, in bytes; longer ones belong into the conversation.
const maxReason = 2000

// ParseCommands reads a review body.
func ParseCommands(body string) Commands {
	var c Commands
	seen := map[string]bool{}
	for _, line := range reviewLines(body) {
		m := commandName.FindStringSubmatch(line.text)
		switch {
		case m != nil && line.inside == "":
			c.addCommand(m[1], strings.TrimSpace(m[2]), seen)
		case !nearCommand.MatchString(line.text): // talk
		case line.inside != "":
			c.addProblem(
				"line %d, %.60q, is part of %s: write it after a blank line, as a line of its own",
				line.number,
				line.text,
				line.inside,
			)
		default:
			c.addProblem(
				"line %d, %.60q, is not read as a command: write it in lower case, with a space behind the word "+
					"and nothing before the slash",
				line.number,
				line.text,
			)
		}
	}
	return c
}

func (c *Commands) addCommand(name, rest string, seen map[string]bool) {
	key, why, _ := strings.Cut(rest, " ")
	why = strings.TrimSpace(why)
	if len(why) > maxReason {
		c.addProblem("/%s %s: the reason is longer than %d bytes", name, key, maxReason)
		return
	}
	switch name {
	case "satisfied", "flag":
		c.addAnswer(name, key, why, seen)
	case "accept":
		if key == "" || why == "" {
			c.addProblem("/accept needs a rule and a reason: /accept <rule> <why>")
			return
		}
		c.addOnce(
			seen,
			"accept "+key,
			func() { c.Accepts = append(c.Accepts, ledger.Waiver{RuleID: key, Reason: why}) },
		)
	case "digest":
		if !digestPrefix.MatchString(key) {
			c.addProblem("/digest needs the first 8 characters of the audit digest, in lower-case hex")
			return
		}
		c.addOnce(seen, "digest", func() { c.Digest = key })
	default:
		c.addProblem("unknown command /%s; known are /%s", name, strings.Join(commandWords, ", /"))
	}
}

func (c *Commands) addAnswer(name, key, why string, seen map[string]bool) {
	if key == "" {
		c.addProblem("/%s needs the key of a checklist item", name)
		return
	}
	if name == "flag" && why == "" {
		c.addProblem("/flag %s needs a reason: /flag <key> <why>", key)
		return
	}
	c.addOnce(
		seen,
		"answer "+key,
		func() { c.Answers = append(c.Answers, ledger.Answer{ID: key, Answer: name, Note: why}) },
	)
}

// addOnce refuses a second word about one thing: which of the two would count?
func (c *Commands) addOnce(seen map[string]bool, what string, do func()) {
	if seen[what] {
		c.addProblem("two commands about the same thing: %s", what)
		return
	}
	seen[what] = true
	do()
}

func (c *Commands) addProblem(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}
