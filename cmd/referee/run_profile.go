package main

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/referee"
)

// The library of agents is the configuration's list, governance.agents, as it is committed on the base branch: what
// `run new --agent` writes is what approve and the gate hold a run to. Files of profiles beside it would be a second
// word about the same agent, which its own pull request could change.

// libraryProfile finds an agent of the library; nil, where none is asked for.
func (a *app) libraryProfile(name string) (*referee.Agent, error) {
	if name == "" {
		return nil, nil
	}
	repo, err := gitstore.OpenRepo(".", "")
	if err != nil {
		return nil, usagef("--agent %q: this folder is not in a git repository, whose %s lists agents", name, config.Path)
	}
	cfg, err := a.configAtBase(repo)
	switch {
	case err != nil:
		return nil, err
	case cfg == nil:
		return nil, usagef("--agent %q: the base branch has no %s, which lists agents", name, config.Path).withHint(
			"`referee init` writes one; commit it on the base branch")
	}
	if profile := config.PinnedProfile(cfg, name); profile != nil {
		return profile, nil
	}
	var known []string
	for _, p := range cfg.Governance.Agents {
		known = append(known, p.Name)
	}
	f := usagef("--agent %q is not among the %s of governance.agents", name, countWord(len(known), "agent"))
	if near := nearest.Word(name, known); near != "" {
		f = f.withHint("did you mean %q?", near)
	}
	return nil, f
}

// profileText is a profile as run.json states it: what the library says, and nothing that it leaves open.
func profileText(p *referee.Agent) string {
	if p == nil {
		return "{}"
	}
	var members []string
	add := func(key, text string) {
		if text != "" {
			members = append(members, "\n    "+quoteJSON(key)+": "+text)
		}
	}
	addText := func(key, value string) {
		if value != "" {
			add(key, quoteJSON(value))
		}
	}
	addList := func(key string, list []string, known bool) {
		if !known {
			return
		}
		words := slices.Clone(list)
		for i := range words {
			words[i] = quoteJSON(words[i])
		}
		add(key, "["+strings.Join(words, ", ")+"]")
	}
	addText("name", p.Name)
	addText("model", p.Model)
	addText("runtime", p.Runtime)
	addText("capability_tier", p.CapabilityTier)
	add("params_b", p.ParamsB)
	add("context_tokens", p.ContextTokens)
	add("vram_gb", p.VRAMGB)
	addList("tools", p.Tools, p.ToolsKnown)
	addList("modalities", p.Modalities, p.ModalitiesKnown)
	return "{" + strings.Join(members, ",") + "\n  }"
}
