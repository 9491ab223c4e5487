package signoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/internal/githubapi"
)

// Record is everything that decides who may sign off, read from the API in one go.
type Record struct {
	Pull        githubapi.PullRequest
	Reviews     []githubapi.Review
	Commits     []githubapi.Commit
	Lost        string // why the gate's own memory of who pushed cannot be believed; "" where it can
	Timeline    []githubapi.TimelineEvent
	Permissions map[string]string // login → admin, maintain, write, triage, read, none; read now
	TeamMembers map[string]bool   // login → member of one of the configured teams
	Operators   []string          // declared by the runs
	Agents      []string          // that the runs name
	Pushers     memory.Pushers    // who pushed to the pull request, as the gate saw it
	Edited      map[int64]bool    // reviews whose body is not what was submitted
	// reviews of an earlier head that the gate itself recorded for these very bytes, where the configuration
	// carries them
	Carried map[int64]bool
	Digest  string // of the audit
	HeadNow string // the head that was audited
}

// Judged is one review with its verdict: counted, or not and why. The table of them stands in the review that the gate
// posts.
type Judged struct {
	Review   githubapi.Review
	Commands Commands
	Counted  bool
	Carried  bool   // it counts because it was of the same bytes on an earlier head
	Because  string // why not
}

// PermissionRank orders repository roles.
var PermissionRank = map[string]int{"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}

// JudgeReviews says of every review whether it is a sign-off (gate.md, "Who may sign off"). It is pure: the same
// record, the same answer.
func JudgeReviews(rec Record, cfg *config.Config) []Judged {
	latest := LatestDecisive(rec.Reviews)
	hands := ownWork(rec, cfg)
	var out []Judged
	for _, r := range rec.Reviews {
		j := Judged{Review: r, Commands: withEarlier(ParseCommands(r.Body), r, rec)}
		j.Because = rec.whyNot(r, j.Commands, latest, hands, cfg)
		j.Counted = j.Because == ""
		j.Carried = j.Counted && rec.whyStale(r) != ""
		out = append(out, j)
	}
	return out
}

// LatestDecisive is each user's newest review that decides; a COMMENTED one does not supersede.
func LatestDecisive(reviews []githubapi.Review) map[int64]int64 {
	latest := map[int64]int64{}
	for _, r := range inTime(reviews) {
		if r.State == "APPROVED" || r.State == "CHANGES_REQUESTED" || r.State == "DISMISSED" {
			latest[r.UserID] = r.ID
		}
	}
	return latest
}

// whyNot is the first reason why a review is no sign-off; "" when it is one.
func (rec Record) whyNot(
	r githubapi.Review,
	c Commands,
	latest map[int64]int64,
	hands map[string]string,
	cfg *config.Config,
) string {
	switch {
	case r.State != "APPROVED":
		return "its state is " + strings.ToLower(r.State)
	case latest[r.UserID] != r.ID:
		return "a later review of the same person decides"
	case r.UserType != "User":
		return "reviews by a " + strings.ToLower(r.UserType) + " do not count"
	case rec.Pull.State != "open":
		return "the pull request is " + rec.Pull.State
	case rec.Pull.Draft:
		return "the pull request is a draft"
	case rec.Edited[r.ID]:
		return "it was edited after it was submitted, and anybody who may write here may edit it: submit a new review"
	}
	if why := hands[strings.ToLower(r.User)]; why != "" {
		return why
	}
	if why := rec.Unqualified(r.User, cfg); why != "" {
		return why
	}
	if why := rec.whyStale(r); why != "" && !(rec.Carried[r.ID] && rec.sameBase(r)) {
		return why
	}
	return rec.whyIncomplete(r, c, cfg)
}

// Unqualified holds a reviewer to the configured permission and teams.
func (rec Record) Unqualified(login string, cfg *config.Config) string {
	has := rec.Permissions[login]
	if PermissionRank[has] < PermissionRank[cfg.Approval.MinimumPermission] {
		return fmt.Sprintf("permission %s is below %s", cmp.Or(has, "unknown"), cfg.Approval.MinimumPermission)
	}
	if len(cfg.Approval.Teams) > 0 && !rec.TeamMembers[login] {
		return "not a member of " + strings.Join(cfg.Approval.Teams, " or ")
	}
	return ""
}

// whyStale: a review counts only for the head that was reviewed. commit_id alone is no proof, because GitHub may point
// a review at a new head after a force-push (fact 3); so neither a push nor a force-push may follow it.
func (rec Record) whyStale(r githubapi.Review) string {
	if rec.Pull.HeadSHA != rec.HeadNow {
		return "the head has moved since the audit"
	}
	if r.CommitSHA != rec.Pull.HeadSHA {
		return fmt.Sprintf("this review covers %.7s; the head is now %.7s", r.CommitSHA, rec.Pull.HeadSHA)
	}
	if e := rec.movedSince(r.SubmittedAt); e != nil {
		return fmt.Sprintf("%s after it, at %s", strings.ReplaceAll(e.Event, "_", " "), e.At.UTC().Format(time.RFC3339))
	}
	return ""
}

// sameBase reports whether the pull request has had the same base since a review: what was signed for one base is not
// signed for another.
func (rec Record) sameBase(r githubapi.Review) bool {
	return rec.Pull.HeadSHA == rec.HeadNow && !slices.ContainsFunc(rec.Timeline, func(e githubapi.TimelineEvent) bool {
		return e.Event == "base_ref_changed" && !e.At.Before(r.SubmittedAt)
	})
}

// whyIncomplete holds the body to what the configuration asks of it. A review of an earlier head with the same bytes
// names the digest of that head, also where the forge has moved it to this one.
func (rec Record) whyIncomplete(r githubapi.Review, c Commands, cfg *config.Config) string {
	switch {
	case len(c.Problems) > 0:
		return "its commands cannot be read: " + c.Problems[0]
	case c.Digest != "" && rec.Carried[r.ID] && rec.whyStale(r) != "":
		return ""
	case c.Digest != "" && !strings.HasPrefix(rec.Digest, c.Digest):
		return "its /digest does not match the audit in force"
	case c.Digest == "" && cfg.Approval.DigestRequired:
		return fmt.Sprintf("the configuration asks for /digest %.8s", rec.Digest)
	}
	return ""
}

// Objections are open requests for changes of reviewers who could have approved: while there is one, nothing is signed
// off.
func Objections(rec Record, cfg *config.Config) []string {
	latest := LatestDecisive(rec.Reviews)
	var out []string
	for _, r := range rec.Reviews {
		if r.State == "CHANGES_REQUESTED" && latest[r.UserID] == r.ID && r.UserType == "User" &&
			rec.Unqualified(r.User, cfg) == "" {
			out = append(out, r.User+" requests changes")
		}
	}
	return out
}
