package gate

import (
	"fmt"
	"slices"
	"strings"
)

// Here the sign-off is decided a second time, from the words of gate.md ("Who may sign off", "What each event does",
// "Revision 2") and from nothing else: the model keeps its own picture of a pull request, straight from what people
// did, and answers by a list of conditions. TestModel holds the gate to it on generated histories, TestModelOverTheWire
// the whole job.
//
// Where the words leave something open, the condition says what is taken ("taken:").

// The people, and the addresses that are nobody's account.
const (
	modelBot     = "helper[bot]"
	modelUnknown = "Nobody <nobody@laptop.example>"
	modelCrew    = "Crew <crew@agents.example>"       // of a governed agent, where the configuration lists it
	modelTrailer = "Claude <noreply@anthropic.com>"   // an agent that everybody knows
	modelSite    = "GitHub <noreply@github.com>"      // what commits on GitHub's own pages
	questionA    = "appraisal_within_12_months"       // what every run here asks
	questionB    = "borrower_name_matches"            // the same
	dealRule     = "dscr_gate"                        // what the deal of river fails
	noSuchRule   = "site_visit"                       // what no run asks
	ModelDigest  = "\x00digest"                       // stands in a body for the digest of the audit of now
	wrongDigest  = "/digest 0000000000000000deadbeef" // of no audit
)

// modelRoles are the people's permissions as a history begins.
var modelRoles = map[string]string{
	"owner":   "admin",
	"rosa":    "maintain",
	"wim":     "write",
	"tria":    "triage",
	"mallory": "none",
	"agent":   "write",
	modelBot:  "write",
}

// modelRank orders permissions, by GitHub's documentation of repository roles.
var modelRank = []string{"none", "read", "triage", "write", "maintain", "admin"}

// modelWork is what there is to know of a run's bytes: who ran it, whether it has a high deal-finding, and whether it
// has a high work-defect.
type modelWork struct {
	operator     string
	deal, defect bool
}

var modelWorks = map[string]modelWork{
	"oak":   {},
	"oak2":  {},
	"owned": {operator: "owner"},
	"river": {deal: true},
	"elm":   {defect: true},
}

// subjectOf is what a sign-off of a run's bytes is about: sheet, submission, evidence, and of the manifest the agent,
// model and lane (Revision 2, 4). Taken: who operated the run is none of it; that is asked again for each head.
func subjectOf(work string) string {
	if work == "owned" {
		return "oak"
	}
	return work
}

// ModelConfig is the part of the configuration that decides who may sign off.
type ModelConfig struct {
	Count                                       int
	Minimum, FailOn                             string
	Carry, Digest, AllowAuthor, AllowCommitters bool
	Crew                                        bool // lists the crew's address for a governed agent
}

// YAML is .github/referee.yml. The runs' agent is listed as its manifests describe it, with or without the crew's
// address.
func (c ModelConfig) YAML() string {
	emails := map[bool]string{true: "emails: [crew@agents.example], "}[c.Crew]
	return fmt.Sprintf(
		"branches: [main, dev]\nfail_on: %s\ncarry_on_rebase: %v\napproval: {count: %d, minimum_permission: %s, "+
			"digest_required: %v, allow_author: %v, allow_committers: %v}\n"+
			"governance: {agents: [{name: underwriter, %smodel: example-70b-instruct, capability_tier: frontier, "+
			"params_b: 70, context_tokens: 128000, runtime: cloud, tools: [calculator, document_reader]}]}\n",
		c.FailOn,
		c.Carry,
		c.Count,
		c.Minimum,
		c.Digest,
		c.AllowAuthor,
		c.AllowCommitters,
		emails,
	)
}

// ModelWords are what a review says to the gate.
type ModelWords struct {
	Satisfied, Flagged, Accepted []string
	Digest                       string // "", right or wrong
	Broken                       bool   // holds a command that cannot be read
}

// Body is the review's text.
func (w ModelWords) Body() string {
	lines := []string{"Read it."}
	for _, q := range w.Satisfied {
		lines = append(lines, "/satisfied "+q)
	}
	for _, q := range w.Flagged {
		lines = append(lines, "/flag "+q+" it is not so")
	}
	for _, rule := range w.Accepted {
		lines = append(lines, "/accept "+rule+" the sponsor guarantees it")
	}
	switch w.Digest {
	case "right":
		lines = append(lines, "/digest "+ModelDigest)
	case "wrong":
		lines = append(lines, wrongDigest)
	}
	if w.Broken {
		lines = append(lines, "/flag "+questionA)
	}
	return strings.Join(lines, "\n")
}

type modelCommit struct {
	author, committer string
	trailers          []string
}

type modelReview struct {
	who, state        string // as it was submitted
	dismissed, edited bool
	head, at          int
	words             ModelWords
	spent             bool // what it signed was taken back
}

// modelSigned is a sign-off that a job has given.
type modelSigned struct {
	review *modelReview
	rests  []*modelReview // earlier reviews of the same person whose words it took
	work   string
	head   int
}

// model is a pull request as its history says.
type model struct {
	cfg           ModelConfig
	author        string
	state, base   string
	draft         bool
	head, now     int
	work          string
	commits       []modelCommit
	pushers       map[string]bool
	forced, moved []int // when the branch was force-pushed, when the base was changed
	roles         map[string]string
	reviews       []*modelReview
	signed        []modelSigned
}

// modelClauses say of one review whether it counts: all must hold.
var modelClauses = []struct {
	words string
	holds func(m *model, r *modelReview) bool
}{
	{"state APPROVED", func(_ *model, r *modelReview) bool { return r.state == "APPROVED" }},
	{"the user's latest decisive review", func(m *model, r *modelReview) bool { return m.latestDecisive(r.who) == r }},
	{"not edited", func(_ *model, r *modelReview) bool { return !r.edited }},
	{"not dismissed", func(_ *model, r *modelReview) bool { return !r.dismissed }},
	{"user.type is User", func(_ *model, r *modelReview) bool { return r.who != modelBot }},
	{"not the author", func(m *model, r *modelReview) bool { return m.cfg.AllowAuthor || r.who != m.author }},
	{
		"nor an author, committer, Co-authored-by or pusher",
		func(m *model, r *modelReview) bool { return m.cfg.AllowCommitters || !m.madeCommit(r.who) },
	},
	{
		"nor the run's declared operator",
		func(m *model, r *modelReview) bool { return modelWorks[m.work].operator != r.who },
	},
	{"permission read now", func(m *model, r *modelReview) bool { return m.mayApprove(r.who) }},
	{
		"payload head = head now; same bytes are carried where configured",
		func(m *model, r *modelReview) bool { return r.head == m.head || m.isCarried(r) },
	},
	{
		"no force-push since; same bytes are carried where configured",
		func(m *model, r *modelReview) bool { return !anyAfter(m.forced, r.at) || m.isCarried(r) },
	},
	{"a receipt is live only for the same base", func(m *model, r *modelReview) bool { return !anyAfter(m.moved, r.at) }},
	{"open", func(m *model, _ *modelReview) bool { return m.state == "open" }},
	{"not a draft", func(m *model, _ *modelReview) bool { return !m.draft }},
	{"a command that cannot be read", func(_ *model, r *modelReview) bool { return !r.words.Broken }},
	{
		"/digest: required if configured; proves what the reviewer saw",
		func(m *model, r *modelReview) bool { return m.hasRightDigest(r) },
	},
	// taken: void and revoked are for good; what took a sign-off back may be gone, and the person looks again.
	{"void, amended, revoked, superseded: nothing is deleted", func(_ *model, r *modelReview) bool { return !r.spent }},
}

// latestDecisive is somebody's latest decisive review. Taken: a review that was dismissed decided when it was
// submitted, and does not bring an earlier one back.
func (m *model) latestDecisive(who string) (out *modelReview) {
	for _, r := range m.reviews {
		if r.who == who && r.state != "COMMENTED" {
			out = r
		}
	}
	return out
}

// madeCommit: wrote, committed, co-wrote or pushed a commit. Who reopens a pull request brings its commits back.
func (m *model) madeCommit(who string) bool {
	return m.pushers[who] || slices.ContainsFunc(m.commits, func(c modelCommit) bool {
		return c.author == who || c.committer == who || slices.Contains(c.trailers, who)
	})
}

// hasUnknownAuthor: a commit names somebody without an account. A known agent's trailer names an agent; as an author it
// could hide anybody.
func (m *model) hasUnknownAuthor() bool {
	stranger := func(who string) bool { return who == modelUnknown || who == modelCrew && !m.cfg.Crew }
	return slices.ContainsFunc(m.commits, func(c modelCommit) bool {
		return stranger(c.author) || c.author == modelTrailer || stranger(c.committer) || c.committer == modelTrailer ||
			slices.ContainsFunc(c.trailers, stranger)
	})
}

func (m *model) mayApprove(who string) bool {
	return slices.Index(modelRank, m.roles[who]) >= slices.Index(modelRank, m.cfg.Minimum)
}

func anyAfter(events []int, at int) bool {
	return slices.ContainsFunc(events, func(e int) bool { return e > at })
}

func anyBetween(events []int, from, to int) bool {
	return slices.ContainsFunc(events, func(e int) bool { return from < e && e < to })
}

// isCarried: it has signed these very bytes on an earlier head, and nothing took that back.
func (m *model) isCarried(r *modelReview) bool {
	return m.cfg.Carry && slices.ContainsFunc(m.signed, func(s modelSigned) bool {
		return s.review == r && !r.spent && s.work == subjectOf(m.work) && s.head != m.head
	})
}

// earlierApprovals are the approving reviews of the same person whose words still hold beside a later one, the newest
// first: of the same head and base, neither edited nor dismissed, and no request for changes since (docs/usage.md
// prints the rule). Taken: a later review that was dismissed may have been such a request, for GitHub's list of reviews
// does not say what it was.
func (m *model) earlierApprovals(r *modelReview) (out []*modelReview) {
	for _, e := range m.reviews {
		switch {
		case e.who != r.who || e.at >= r.at:
		case e.state == "CHANGES_REQUESTED" || e.dismissed:
			out = nil
		case e.state == "APPROVED" && !e.edited && e.head == r.head && !e.words.Broken &&
			!anyBetween(m.forced, e.at, r.at) && !anyBetween(m.moved, e.at, r.at):
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

func (m *model) hasRightDigest(r *modelReview) bool {
	for _, e := range append([]*modelReview{r}, m.earlierApprovals(r)...) {
		if e.words.Digest != "" {
			return e.words.Digest == "right"
		}
	}
	return !m.cfg.Digest
}

// answersOf is what a person's review says, with what their earlier ones said, and on which of those it rests.
func (m *model) answersOf(r *modelReview) (answers map[string]string, accepted map[string]bool, rests []*modelReview) {
	answers, accepted = map[string]string{}, map[string]bool{}
	for _, e := range append([]*modelReview{r}, m.earlierApprovals(r)...) {
		used := false
		for what, keys := range map[string][]string{"satisfied": e.words.Satisfied, "flag": e.words.Flagged} {
			for _, q := range keys {
				if answers[q] == "" {
					answers[q], used = what, true
				}
			}
		}
		for _, rule := range e.words.Accepted {
			used = used || !accepted[rule]
			accepted[rule] = true
		}
		if used && e != r {
			rests = append(rests, e)
		}
	}
	return answers, accepted, rests
}

// hasObjection: a qualified reviewer's open request for changes, submitted after a moment.
func (m *model) hasObjection(after int) bool {
	return slices.ContainsFunc(m.reviews, func(r *modelReview) bool {
		return r.state == "CHANGES_REQUESTED" && !r.dismissed && m.latestDecisive(r.who) == r && r.who != modelBot &&
			m.mayApprove(r.who) &&
			r.at > after
	})
}

// countReviews are the reviews that count, and for each of the others the words that keep it out.
func (m *model) countReviews() (counted []*modelReview, why []string) {
	why = make([]string, len(m.reviews))
	for i, r := range m.reviews {
		for _, c := range modelClauses {
			if !c.holds(m, r) {
				why[i] = c.words
				break
			}
		}
		switch {
		case why[i] != "":
		case !m.cfg.AllowCommitters && m.hasUnknownAuthor():
			why[i] = "an unknown commit identity fails closed"
		case m.hasObjection(-1):
			why[i] = "no open CHANGES_REQUESTED of a qualified reviewer"
		default:
			counted = append(counted, r)
		}
	}
	return counted, why
}

// signOff says whether the head is signed off, by whom, and if not, why.
//
// Taken: the earliest of those who count sign; what any of the signers answers or accepts is answered and accepted for
// all, and a flag stands before an answer. An answer to what nobody asks, and a waiver of what nothing flags, block:
// they are slips of the pen.
func (m *model) signOff() (signers []*modelReview, why string) {
	counted, _ := m.countReviews()
	if len(counted) < m.cfg.Count {
		return nil, fmt.Sprintf("%d of %d reviews count", len(counted), m.cfg.Count)
	}
	signers = counted[:m.cfg.Count]
	answers, accepted := map[string]string{}, map[string]bool{}
	for _, r := range signers {
		a, w, _ := m.answersOf(r)
		for q, what := range a {
			if answers[q] != "flag" {
				answers[q] = what
			}
		}
		for rule := range w {
			accepted[rule] = true
		}
	}
	work := modelWorks[m.work]
	_, stray := answers[noSuchRule]
	for _, c := range []struct {
		words string
		holds bool
	}{
		{"checklist complete", answers[questionA] != "" && answers[questionB] != ""},
		{"an answer to no question", !stray},
		{"a waiver of nothing", work.deal || !accepted[dealRule]},
		{"never a work-defect", !work.defect},
		{"no finding at or above fail_on unless the review says /accept", !work.deal || accepted[dealRule]},
		{"a flagged question is a finding of its tier, mid", m.cfg.FailOn != "mid" || answers[questionA] != "flag" &&
			answers[questionB] != "flag"},
	} {
		if !c.holds {
			return nil, c.words
		}
	}
	return signers, ""
}

// takeBack is what a job says of earlier sign-offs: edited, dismissed, changes requested, other bytes.
func (m *model) takeBack() {
	for _, s := range m.signed {
		r := s.review
		ended := r.edited || r.dismissed || m.hasObjection(r.at) || m.state == "open" && s.work != subjectOf(m.work)
		ended = ended || slices.ContainsFunc(s.rests, func(e *modelReview) bool { return e.edited || e.dismissed })
		r.spent = r.spent || ended
	}
}

// judgeDelivery is what one delivery comes to: whether the head is signed off now.
func (m *model) judgeDelivery() (signed bool, why string) {
	m.takeBack()
	if m.state != "open" {
		return false, "open"
	}
	signers, why := m.signOff()
	for _, r := range signers {
		_, _, rests := m.answersOf(r)
		if !slices.ContainsFunc(
			m.signed,
			func(s modelSigned) bool { return s.review == r && s.work == subjectOf(m.work) && s.head == m.head },
		) {
			m.signed = append(m.signed, modelSigned{review: r, rests: rests, work: subjectOf(m.work), head: m.head})
		}
	}
	return len(signers) > 0, why
}
