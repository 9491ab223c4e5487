package githubtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"
)

// object is JSON in the making.
type object map[string]any

//go:embed testdata/contract/examples.json
var examplesJSON []byte

// examples are the official ones, by operation or event.
var examples = sync.OnceValue(func() map[string]any {
	var all map[string]any
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		panic("githubtest: examples.json: " + err.Error())
	}
	return all
})

// exampleObject is a copy of an official example, of its first item where it is a list, in which the repository is
// ours.
func (s *Server) exampleObject(name string) object {
	value, ok := examples()[name]
	if !ok {
		panic("githubtest: no example " + name)
	}
	if list, ok := value.([]any); ok {
		value = list[0]
	}
	_, repo, _ := strings.Cut(s.Name, "/")
	words := strings.NewReplacer("octocat/Hello-World", s.Name, "Codertocat/Hello-World", s.Name,
		"Octocoders/Hello-World", s.Name,
		"github/hello-world", s.Name, "octo-org/octo-repo", s.Name, "Hello-World", repo, "https://api.github.com",
		s.APIURL(), "https://github.com", s.URL)
	return cloneReplacing(value, words).(map[string]any)
}

func cloneReplacing(v any, words *strings.Replacer) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = cloneReplacing(x, words)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = cloneReplacing(x, words)
		}
		return out
	case string:
		return words.Replace(v)
	}
	return v
}

// withMembers sets members and gives the object back.
func (o object) withMembers(members object) object {
	for k, v := range members {
		o[k] = v
	}
	return o
}

func timeStamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// stampOrNull is a time that may not have come.
func stampOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return timeStamp(t)
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *Server) apiURL(format string, args ...any) string {
	return s.APIURL() + "/repos/" + s.Name + "/" + fmt.Sprintf(format, args...)
}

// nodeID is an opaque name of the newer kind.
func nodeID(kind string, id int64) string { return fmt.Sprintf("%s_kwDO%08d", kind, id) }

// simpleUser is an account as it stands in other answers.
func (s *Server) simpleUser(u User) object {
	at := s.APIURL() + "/users/" + u.Login
	return object{"login": u.Login, "id": u.ID, "node_id": nodeID("U", u.ID), "avatar_url": s.URL + "/avatars/" +
		u.Login, "gravatar_id": "", "url": at,
		"html_url": s.URL + "/" + u.Login, "followers_url": at + "/followers", "following_url": at +
			"/following{/other_user}", "gists_url": at + "/gists{/gist_id}",
		"starred_url": at + "/starred{/owner}{/repo}", "subscriptions_url": at + "/subscriptions",
		"organizations_url": at + "/orgs", "repos_url": at + "/repos",
		"events_url": at + "/events{/privacy}", "received_events_url": at + "/received_events", "type": u.Type,
		"site_admin": false}
}

// ownerOf is the account before the slash of a repository's name.
func (s *Server) ownerOf(name string) User {
	login, _, _ := strings.Cut(name, "/")
	if u, ok := s.lookupUser(login); ok {
		return u
	}
	return User{Login: login, ID: 42, Type: "Organization"}
}

// repoID is the id of the repository, and of a fork another one.
const repoID = 4242

// repositoryObject is a repository with all its members, taken from an example and made ours.
func (s *Server) repositoryObject(from string, name string) object {
	r := object(s.exampleObject(from))
	if from != "get /repos/{owner}/{repo}" {
		base := r["base"].(map[string]any)
		r = base["repo"].(map[string]any)
	}
	for _, k := range []string{"parent", "source", "template_repository", "organization", "license",
		"code_of_conduct"} {
		delete(r, k)
	}
	id := int64(repoID)
	if name != s.Name {
		id++
	}
	_, short, _ := strings.Cut(name, "/")
	return r.withMembers(object{"id": id, "node_id": nodeID("R", id), "name": short, "full_name": name,
		"owner": s.simpleUser(s.ownerOf(name)), "private": s.private,
		"default_branch": "main", "fork": name != s.Name, "license": nil, "language": nil, "html_url": s.URL + "/" +
			name, "url": s.APIURL() + "/repos/" + name,
		"clone_url": s.URL + "/" + name + ".git"})
}

// gitPerson is an author or committer as commits give them.
func gitPerson(p person, at string) object {
	return object{"name": p.name, "email": p.email, "date": at}
}

// signatureState is what GitHub says of a commit's signature.
func (s *Server) signatureState(sha string) object {
	if s.verified[sha] {
		return object{"verified": true, "reason": "valid", "signature": "-----BEGIN PGP SIGNATURE-----\n",
			"payload": "tree", "verified_at": timeStamp(s.now)}
	}
	return object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
}

func (s *Server) parentLinks(shas []string) []any {
	out := []any{}
	for _, p := range shas {
		out = append(out, object{"sha": p, "url": s.apiURL("git/commits/%s", p), "html_url": s.URL + "/" + s.Name +
			"/commit/" + p})
	}
	return out
}

// gitCommit is a commit as the git data API gives it.
func (s *Server) gitCommit(c commit) object {
	return object{"sha": c.sha, "node_id": "C_" + c.sha, "url": s.apiURL("git/commits/%s", c.sha), "html_url": s.URL +
		"/" + s.Name + "/commit/" + c.sha,
		"author": gitPerson(c.author, c.authored), "committer": gitPerson(c.committer, c.at), "message": c.message,
		"tree": object{"sha": c.tree, "url": s.apiURL("git/trees/%s", c.tree)}, "parents": s.parentLinks(c.parents),
		"verification": s.signatureState(c.sha)}
}

// listedCommit is a commit as a pull request lists it: with the accounts that its addresses belong to, or null.
func (s *Server) listedCommit(c commit) object {
	account := func(p person) any {
		if u, ok := s.byEmail(p.email); ok {
			return s.simpleUser(u)
		}
		return nil
	}
	return object{"sha": c.sha, "node_id": "C_" + c.sha, "url": s.apiURL("commits/%s", c.sha), "html_url": s.URL + "/" +
		s.Name + "/commit/" + c.sha,
		"comments_url": s.apiURL("commits/%s/comments", c.sha), "author": account(c.author),
		"committer": account(c.committer), "parents": s.parentLinks(c.parents),
		"commit": object{"url": s.apiURL("git/commits/%s", c.sha), "author": gitPerson(c.author, c.authored),
			"committer": gitPerson(c.committer, c.at),
			"message":   c.message, "tree": object{"sha": c.tree, "url": s.apiURL("git/trees/%s", c.tree)},
			"comment_count": 0, "verification": s.signatureState(c.sha)}}
}

// rolePermissions is a role as the five steps that it includes.
func rolePermissions(role string) object {
	at := roleRank(role)
	return object{"pull": at >= 1, "triage": at >= 2, "push": at >= 3, "maintain": at >= 4, "admin": at >= 5}
}

// roleRank orders the roles.
func roleRank(role string) int {
	return map[string]int{"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}[role]
}

// appObject is the integration that a check belongs to.
func (s *Server) appObject(slug string) object {
	app := object(s.exampleObject("post /repos/{owner}/{repo}/check-runs")["app"].(map[string]any))
	return app.withMembers(object{"id": AppID(slug), "slug": slug, "name": slug,
		"owner":       s.simpleUser(s.ownerOf("github/")),
		"permissions": object{"checks": "write"}})
}

// AppID is the id of an app: of GitHub Actions that of github.com, of any other one that follows from its name.
func AppID(slug string) int64 {
	if slug == "github-actions" {
		return 15368
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(slug))
	return 100_000 + int64(h.Sum32()%900_000)
}
