package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// judgedPull is the third step: whose reviews count, by everything that was read from the forge, and what the gate's
// own review keeps.
type judgedPull struct {
	auditedPull
	record *signoff.Record
	story  githubapi.Story // read last, once everything else that decides has been read
	memory memory.Memory   // what our own review keeps, by the story
}

// judgeReviews reads what decides who may sign off and says of each review whether it counts.
func (a auditedPull) judgeReviews(ctx context.Context) (judgedPull, error) {
	p, err := a.readRecord(ctx)
	if err != nil {
		return p, err
	}
	return p.withJudgements(), nil
}

// withJudgements says of each review whether it counts.
func (p judgedPull) withJudgements() judgedPull {
	cfg := p.rules.Config
	p.out.Judged = signoff.JudgeReviews(*p.record, cfg)
	p.out.Unknown, p.out.Objections = signoff.UnknownHands(*p.record, cfg), signoff.Objections(*p.record, cfg)
	p.discountUsedReviews()
	return p
}

// discountUsedReviews takes reviews out of the count that have signed something else, or whose receipt was taken back.
// What is signed is a sheet, a submission, its evidence and its manifest, and where one of them is another now, on the
// same head as when base has another sheet, the review is not of it (fact 3). What this job is about to take back
// counts no more than what an earlier one has.
func (p judgedPull) discountUsedReviews() {
	live := p.held.liveSignOffs()
	for i := range p.out.Judged {
		j := &p.out.Judged[i]
		for _, e := range p.held.entries {
			a := e.Receipt.Approval
			if !j.Counted || a == nil || a.Decision != ledger.Approved || e.Receipt.SelfSigned ||
				a.Review.ID != j.Review.ID {
				continue
			}
			switch {
			case p.signedWork(e) == nil:
				j.Counted, j.Because = false, fmt.Sprintf(
					"it signed receipt %d, which covers other bytes or another sheet: submit a new review",
					e.Receipt.Seq,
				)
			case !slices.ContainsFunc(live, func(x ledger.Entry) bool { return x.Hash == e.Hash }):
				j.Counted, j.Because = false, fmt.Sprintf(
					"its receipt %d was taken back: submit a new review",
					e.Receipt.Seq,
				)
			default:
				if kind, why, _ := p.changedSince(e.Receipt); kind != "" {
					j.Counted, j.Because = false, fmt.Sprintf(
						"its receipt %d is revoked because %s: submit a new review",
						e.Receipt.Seq,
						why,
					)
				}
			}
		}
	}
}

// readRecord reads what decides who may sign. Where nobody has decided anything, nothing more than the commits is asked
// for.
func (a auditedPull) readRecord(ctx context.Context) (p judgedPull, err error) {
	api, cfg := a.job.API, a.rules.Config
	rec := &signoff.Record{Pull: a.pr, Reviews: a.reviewsOfOthers(), Digest: a.out.Digest(), HeadNow: a.pr.HeadSHA,
		Permissions: map[string]string{}, TeamMembers: map[string]bool{}}
	for _, one := range a.out.Audits {
		if one.Work == nil {
			continue
		}
		rec.Agents = append(rec.Agents, one.Work.Run.Agent.Name)
		if one.Work.Run.Operator != "" {
			rec.Operators = append(rec.Operators, one.Work.Run.Operator)
		}
	}
	p = judgedPull{auditedPull: a, record: rec}
	if a.out.Empty() && len(a.held.entries) == 0 {
		if p.story, err = api.Story(ctx, a.pr.Number); errors.Is(err, githubapi.ErrTooMany) {
			p.story, err = githubapi.Story{}, nil // nobody signs it off, so nobody asks who made its commits
		}
		return p.withMemory(), err
	}
	for _, login := range whoDecides(rec.Reviews) {
		if rec.Permissions[login], err = api.Permission(ctx, login); err != nil {
			return p, err
		}
		for _, team := range cfg.Approval.Teams {
			org, name, _ := strings.Cut(team, "/")
			member, err := api.TeamMember(ctx, org, name, login)
			if err != nil {
				return p, err
			}
			rec.TeamMembers[login] = rec.TeamMembers[login] || member
		}
	}
	if err := p.readStory(ctx); err != nil { // last: what was read before is of this moment, or of none
		return p, err
	}
	p = p.withMemory().withAnnouncedEntries()
	rec.Carried = p.carriedReviews()
	return p, p.refuseMoved(p.story)
}

// readStory reads who made the commits, who edited the reviews, and which pushes and changes of base made reviews
// stale. What GitHub does not list whole ends the job with what to do about it. The story also names the other pull
// requests with this head: a check that is green for it is green for them.
func (p *judgedPull) readStory(ctx context.Context) (err error) {
	p.story, err = p.job.API.Story(ctx, p.pr.Number)
	if errors.Is(err, githubapi.ErrTooMany) {
		return brokenf("%v", err)
	}
	p.record.Commits, p.record.Edited, p.record.Timeline = p.story.Commits, p.story.Edited, p.story.Timeline
	return err
}

// withMemory works out who has pushed, and counts, by what this gate recorded and not by what the run says of itself,
// the earlier heads whose audit of a run failed.
func (p judgedPull) withMemory() judgedPull {
	p.memory = memory.Recollect(p.story, p.pr.Number)
	p.memory.Pushers = p.job.Event.withPusher(p.memory.Pushers, p.pr.Number)
	p.record.Pushers, p.record.Lost = p.memory.Pushers, p.memory.LostReason()
	p.out.Heads = p.memory.Heads
	p.out.Audits = slices.Clone(p.out.Audits)
	for i, a := range p.out.Audits {
		p.out.Audits[i].Failed = p.memory.FailedRevisions(a.Dir, p.pr.HeadSHA)
	}
	return p
}

// withAnnouncedEntries vouches for the entries that the gate itself has announced in its review of this pull request;
// none where somebody else edited that.
func (p judgedPull) withAnnouncedEntries() judgedPull {
	pins, err := memory.ParseAnnounced(p.memory.Body)
	if err != nil {
		p.out.Notices = append(
			p.out.Notices,
			"the gate's review no longer says which receipts it announced: "+err.Error(),
		)
		return p
	}
	for _, pin := range pins {
		p.held.vouched[pin.Tip] = true
	}
	return p
}

// reviewsOfOthers are the reviews that are not the gate's own, and that were submitted: a draft is its author's
// business.
func (f pullFacts) reviewsOfOthers() []githubapi.Review {
	return slices.DeleteFunc(slices.Clone(f.reviews), func(r githubapi.Review) bool {
		_, marked := memory.ParseMarker(r.Body)
		return marked && r.UserType != "User" || isPending(r)
	})
}

// whoDecides are the people whose newest decisive review approves or asks for changes, in order of their names.
func whoDecides(reviews []githubapi.Review) []string {
	latest := signoff.LatestDecisive(reviews)
	var out []string
	for _, r := range reviews {
		decides := r.State == "APPROVED" || r.State == "CHANGES_REQUESTED"
		if decides && r.UserType == "User" && latest[r.UserID] == r.ID && !slices.Contains(out, r.User) {
			out = append(out, r.User)
		}
	}
	slices.Sort(out)
	return out
}

// refuseMoved refuses to decide about a pull request that is no longer what was audited: the event of what happened
// meanwhile has a job of its own.
func (f pullFacts) refuseMoved(now githubapi.Story) error {
	merged := now.State == "merged" && f.pr.Merged
	if now.HeadSHA == f.pr.HeadSHA && now.BaseRef == f.pr.BaseRef && (now.State == f.pr.State || merged) {
		return nil
	}
	return brokenf(
		"the pull request changed during this job (head %.12s, now %.12s; base %q, now %q; now %s): the job "+
			"for its present state decides",
		f.pr.HeadSHA,
		now.HeadSHA,
		f.pr.BaseRef,
		now.BaseRef,
		now.State,
	)
}
