package signoff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/internal/githubapi"
)

// coAuthor is the trailer that names a further author.
var coAuthor = pattern.New(`(?mi)^co-authored-by:.*<([^>\s]+)>\s*$`)

// noReply is the e-mail address under which GitHub hides an account: it holds the login. Of an app's the login ends
// with [bot], and no person's login can hold a bracket.
var noReply = pattern.New(`(?i)^(?:\d+\+)?([a-z0-9][a-z0-9_-]*(?:\[bot\])?)@users\.noreply\.[a-z0-9.-]+$`)

// loginIn is the login that an address of GitHub's own holds, "" for every other address.
func loginIn(email string) string {
	if m := noReply.FindStringSubmatch(email); m != nil {
		return m[1]
	}
	return ""
}

// webFlow is the committer of what is committed on GitHub's own site. Anybody can write it into a commit, and so it
// vouches for no author.
func webFlow(who githubapi.Identity) bool {
	return who.Login == "web-flow" || who.Login == "" && strings.EqualFold(who.Email, "noreply@github.com")
}

// coAuthors are whom a commit's message names as authors, by address, with the account where GitHub knows one. What
// GitHub reads as a trailer and what looks like one here are both taken: a trailer only ever adds hands.
func coAuthors(c githubapi.Commit) []githubapi.Identity {
	var out []githubapi.Identity
	add := func(who githubapi.Identity) {
		same := func(o githubapi.Identity) bool { return strings.EqualFold(o.Email, who.Email) }
		if !same(c.Author) && !slices.ContainsFunc(out, same) {
			out = append(out, who)
		}
	}
	for _, who := range c.Authors {
		add(who)
	}
	for _, m := range coAuthor.FindAllStringSubmatch(c.Message, -1) {
		add(githubapi.Identity{Email: m[1]})
	}
	return out
}

// ownWork are the people whose own work this is, by lower-case login, with the reason why they cannot sign it off. An
// address that holds a login is that account's hand also where GitHub does not link it, as with another number before
// the login.
func ownWork(rec Record, cfg *config.Config) map[string]string {
	out := map[string]string{}
	say := func(login, why string) {
		if login != "" && out[strings.ToLower(login)] == "" {
			out[strings.ToLower(login)] = why
		}
	}
	if !cfg.Approval.AllowAuthor {
		say(rec.Pull.Author, "opened the pull request")
	}
	for _, op := range rec.Operators {
		say(op, "is the run's declared operator")
	}
	for _, a := range cfg.Governance.Agents {
		for _, op := range a.Operators {
			if slices.Contains(rec.Agents, a.Name) {
				say(op, "operates the run's agent, by governance.agents")
			}
		}
	}
	if cfg.Approval.AllowCommitters {
		return out
	}
	for _, c := range rec.Commits {
		made := func(who githubapi.Identity, role string) {
			why := fmt.Sprintf("is %s of commit %.7s", role, c.SHA)
			say(who.Login, why)
			say(loginIn(who.Email), why)
		}
		made(c.Author, "the author")
		if !webFlow(c.Committer) {
			made(c.Committer, "the committer")
		}
		for _, who := range coAuthors(c) {
			made(who, "a co-author")
		}
	}
	for _, e := range rec.Timeline {
		if e.Event == "head_ref_force_pushed" {
			say(e.Actor, "pushed to the pull request")
		}
	}
	for _, login := range rec.Pushers {
		say(login, "pushed to the pull request")
	}
	return out
}

// UnknownHands are reasons why somebody unknown may have had a hand in the work. While there is one, nobody's review
// counts, for it might be the reviewer's own hand: an identity of a commit for which GitHub knows no account, more
// pushers than are kept, or a memory of them that somebody has edited.
//
// An author or a committer without an account is known only where governance.agents lists the address: an address of an
// agent that everybody knows could hide who wrote the commit. A Co-authored-by hides nobody, so the addresses of
// governance.agent_trailers and every app's are taken there.
func UnknownHands(rec Record, cfg *config.Config) []string {
	if cfg.Approval.AllowCommitters {
		return nil
	}
	u := &unknownIdentities{listed: map[string]bool{}}
	for _, a := range cfg.Governance.Agents {
		for _, e := range a.Emails {
			u.listed[strings.ToLower(e)] = true
		}
	}
	for _, c := range rec.Commits {
		if c.Author.Login == "" || webFlow(c.Author) {
			u.addIdentity(c, c.Author, "author", trailerNo)
		}
		if c.Committer.Login == "" && !webFlow(c.Committer) {
			u.addIdentity(c, c.Committer, "committer", trailerNo)
		}
		for _, who := range coAuthors(c) {
			if who.Login == "" && !namesAgent(&cfg.Governance, who.Email) {
				u.addIdentity(c, who, "co-author", trailerYes)
			}
		}
	}
	out := u.inSentences()
	if rec.Pushers.More() {
		out = append(
			out,
			fmt.Sprintf(
				"more than %d accounts pushed to this pull request, or one whose name cannot be kept: open a new "+
					"pull request",
				memory.MaxPushers,
			),
		)
	}
	if rec.Lost != "" {
		out = append(out, rec.Lost)
	}
	return out
}

// unknownIdentities collects identities without an account, each with the first commit that has it.
type unknownIdentities struct {
	listed map[string]bool // lower-case addresses of governed agents
	found  []unknownIdentity
}

type unknownIdentity struct {
	role, email, commit, remedy string
	more                        int
}

const (
	trailerNo  = "have the e-mail added to an account, or list it under governance.agents[].emails"
	trailerYes = "have the e-mail added to an account, or, if it is an agent's, list it under governance.agent_trailers"
)

func (u *unknownIdentities) addIdentity(c githubapi.Commit, who githubapi.Identity, role, remedy string) {
	email := strings.ToLower(who.Email)
	if u.listed[email] && email != "" {
		return
	}
	i := slices.IndexFunc(
		u.found,
		func(s unknownIdentity) bool { return s.role == role && strings.EqualFold(s.email, who.Email) },
	)
	if i >= 0 {
		u.found[i].more++
		return
	}
	u.found = append(u.found, unknownIdentity{role: role, email: who.Email, commit: c.SHA, remedy: remedy})
}

func (u *unknownIdentities) inSentences() []string {
	var out []string
	for _, s := range u.found {
		where := fmt.Sprintf("commit %.7s", s.commit)
		if s.more > 0 {
			where += fmt.Sprintf(" and %d more", s.more)
		}
		out = append(out, fmt.Sprintf("%s <%s> of %s has no GitHub account: %s", s.role, s.email, where, s.remedy))
	}
	return out
}

// namesAgent reports whether a Co-authored-by of this address names an agent.
func namesAgent(g *config.Governance, email string) bool {
	same := func(listed string) bool { return strings.EqualFold(listed, email) }
	if strings.HasSuffix(loginIn(email), "[bot]") || slices.ContainsFunc(g.AgentTrailers, same) {
		return true
	}
	return slices.ContainsFunc(
		g.Agents,
		func(a config.AgentProfile) bool { return slices.ContainsFunc(a.Emails, same) },
	)
}
