package githubtest

import (
	"fmt"
	"slices"
	"strings"
)

// User is an account, and its role in the repository.
type User struct {
	Login  string
	ID     int64
	Type   string   // User, Bot
	Role   string   // admin, maintain, write, triage, read, none
	Emails []string // further addresses that the account has confirmed
}

// sample are the users that every server begins with.
var sample = []User{
	{Login: "owner", ID: 1, Type: "User", Role: "admin"},
	{Login: "rosa", ID: 7, Type: "User", Role: "maintain"},
	{Login: "wim", ID: 8, Type: "User", Role: "write"},
	{Login: "tria", ID: 9, Type: "User", Role: "triage"},
	{Login: "reader", ID: 10, Type: "User", Role: "read"},
	{Login: "agent", ID: 20, Type: "User", Role: "write"},
	{Login: "mallory", ID: 66, Type: "User", Role: "none"},
	{Login: "helper[bot]", ID: 30, Type: "Bot", Role: "write"},
	{Login: actionsBot, ID: 41898282, Type: "Bot", Role: "write"},
	{Login: "web-flow", ID: 19864447, Type: "User", Role: "none", Emails: []string{"noreply@github.com"}},
}

// actionsBot is who the job's own token is.
const actionsBot = "github-actions[bot]"

// Email is the address under which a user's commits are known.
func (u User) Email() string { return fmt.Sprintf("%d+%s@users.noreply.github.com", u.ID, u.Login) }

// AddUser adds an account, or changes the one with the login.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.Type == "" {
		u.Type = "User"
	}
	if u.ID == 0 {
		u.ID = 1000 + int64(len(s.users))
	}
	if i := slices.IndexFunc(s.users, func(have User) bool { return have.Login == u.Login }); i >= 0 {
		s.users[i] = u
		return
	}
	s.users = append(s.users, u)
}

// AddTeam makes a team ("org/team") with the members.
func (s *Server) AddTeam(name string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.teams[name] = members
}

// Token is what a token stands for.
type Token struct {
	Login    string // whose requests they are
	App      string // slug of the app that its checks belong to; "" for a person's token, which may make none
	ReadOnly bool   // as on a fork
	Members  bool   // may read the teams of the organisation
	Admin    bool   // may read the repository's settings
}

// AddToken makes a token valid.
func (s *Server) AddToken(token string, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = t
}

// userNamed finds an account by its login; there is always one.
func (s *Server) userNamed(login string) User {
	if u, ok := s.lookupUser(login); ok {
		return u
	}
	return User{Login: login, ID: 999_999, Type: "User", Role: "none"}
}

func (s *Server) lookupUser(login string) (User, bool) {
	i := slices.IndexFunc(s.users, func(u User) bool { return strings.EqualFold(u.Login, login) })
	if i < 0 {
		return User{}, false
	}
	return s.users[i], true
}

// byEmail finds the account that an address of a commit belongs to.
func (s *Server) byEmail(email string) (User, bool) {
	i := slices.IndexFunc(s.users, func(u User) bool { return email == u.Email() || slices.Contains(u.Emails, email) })
	if i < 0 {
		return User{}, false
	}
	return s.users[i], true
}

// personNamed is how a name given to a Change stands in a commit: a user's login, or "Name <email>" as it is.
func (s *Server) personNamed(who string) person {
	if name, rest, ok := strings.Cut(who, " <"); ok {
		return person{name, strings.TrimSuffix(rest, ">")}
	}
	if who == "" {
		who = "owner"
	}
	u := s.userNamed(who)
	return person{u.Login, u.Email()}
}
