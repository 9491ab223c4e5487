package config

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/referee"
)

// AgentTrailers are the addresses that agents write into a Co-authored-by where nothing else is configured. GitHub
// links some of them to an account, and then the account is the author; apps ([bot]) need no entry.
var AgentTrailers = []string{
	"noreply@anthropic.com",                      // Claude Code
	"copilot@github.com",                         // Copilot in an editor
	"223556219+Copilot@users.noreply.github.com", // Copilot on the command line
	"198982749+Copilot@users.noreply.github.com", // Copilot's coding agent
	"175728472+Copilot@users.noreply.github.com", // Copilot's code review
	"noreply@openai.com",                         // Codex
	"cursoragent@cursor.com",                     // Cursor
	"218195315+gemini-cli@users.noreply.github.com",
	"aider@aider.chat",
	"noreply@aider.chat", // aider, before 2025
	"noreply@github.com", // GitHub itself, in what it squashes
}

// PinnedProfile is the profile that the configuration vouches for; nil where it names no agents.
func PinnedProfile(cfg *Config, name string) *referee.Agent {
	for i := range cfg.Governance.Agents {
		if cfg.Governance.Agents[i].Name == name {
			return &cfg.Governance.Agents[i].Profile
		}
	}
	return nil
}

// Operates reports whether the configuration knows somebody as an operator of an agent.
func (g *Governance) Operates(agent, login string) bool {
	return slices.ContainsFunc(g.Agents, func(a AgentProfile) bool {
		return a.Name == agent &&
			slices.ContainsFunc(a.Operators, func(o string) bool { return strings.EqualFold(o, login) })
	})
}

// IsLogin tells whether GitHub would take a word for a login. Those that an enterprise manages end with an underscore
// and its short name.
func IsLogin(word string) bool { return loginForm.MatchString(word) }

var loginForm = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,49}(?:\[bot\])?$`)
