package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/gate/signoff"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// decide works out who has signed an open pull request, writes to the ledger what that means, and takes for signed what it decided itself.
func (p *pulled) decide(ctx context.Context) error {
	rec, err := p.record(ctx)
	if err != nil {
		return err
	}
	p.judgeReviews(rec)
	drafts, err := p.lifecycle(rec)
	if err != nil {
		return err
	}
	signing, err := p.receipts(rec)
	if err != nil {
		return err
	}
	if len(p.missing(signing)) > 0 {
		if err := p.claim(ctx); err != nil {
			return err
		}
	}
	if err := p.write(ctx, append(drafts, signing...)); err != nil {
		return err
	}
	return p.confirm(ctx, signing)
}

// judge decides as decide does and writes nothing: what is not in the ledger yet is not signed off.
func (p *pulled) judge(ctx context.Context) error {
	rec, err := p.record(ctx)
	if err != nil {
		return err
	}
	p.judgeReviews(rec)
	signing, err := p.receipts(rec)
	if err != nil || len(p.missing(signing)) > 0 {
		return err
	}
	return p.confirm(ctx, signing)
}

// judgeReviews says of each review whether it counts.
func (p *pulled) judgeReviews(rec *signoff.Record) {
	o, cfg := p.out, p.rules.Config
	o.Judged, o.Unknown, o.Objections = signoff.JudgeReviews(*rec, cfg), signoff.UnknownHands(*rec, cfg), signoff.Objections(*rec, cfg)
	p.discountSpent(rec)
}

// discountSpent takes reviews out of the count that have signed something else, or whose receipt was taken back. What is signed is a sheet, a
// submission, its evidence and its manifest, and where one of them is another now, on the same head as when base has another sheet, the review is
// not of it (fact 3). What this job is about to take back counts no more than what an earlier one has.
func (p *pulled) discountSpent(rec *signoff.Record) {
	live := p.live()
	for i := range p.out.Judged {
		j := &p.out.Judged[i]
		for _, e := range p.entries {
			a := e.Receipt.Approval
			if !j.Counted || a == nil || a.Decision != ledger.Approved || e.Receipt.SelfSigned || a.Review.ID != j.Review.ID {
				continue
			}
			switch {
			case p.workOf(e) == nil:
				j.Counted, j.Because = false, fmt.Sprintf("it signed receipt %d, of other bytes or by another sheet: submit a new review", e.Receipt.Seq)
			case !slices.ContainsFunc(live, func(x ledger.Entry) bool { return x.Hash == e.Hash }):
				j.Counted, j.Because = false, fmt.Sprintf("its receipt %d was taken back: submit a new review", e.Receipt.Seq)
			default:
				if kind, why, _ := p.changedSince(e.Receipt, rec); kind != "" {
					j.Counted, j.Because = false, fmt.Sprintf("its receipt %d is taken back, because %s: submit a new review", e.Receipt.Seq, why)
				}
			}
		}
	}
}

// record reads what decides who may sign. Where nobody has decided anything, nothing more than the commits is asked for.
func (p *pulled) record(ctx context.Context) (*signoff.Record, error) {
	api, cfg := p.j.API, p.rules.Config
	rec := &signoff.Record{Pull: p.pr, Reviews: p.human(), Digest: p.out.Digest(), HeadNow: p.pr.HeadSHA, Permissions: map[string]string{}, TeamMembers: map[string]bool{}}
	for _, a := range p.out.Audits {
		if a.Work == nil {
			continue
		}
		rec.Agents = append(rec.Agents, a.Work.Run.Agent.Name)
		if a.Work.Run.Operator != "" {
			rec.Operators = append(rec.Operators, a.Work.Run.Operator)
		}
	}
	if p.out.Empty() && len(p.entries) == 0 {
		err := p.tellSiblings(ctx)
		p.remember(rec)
		return rec, err
	}
	for _, login := range deciding(rec.Reviews) {
		var err error
		if rec.Permissions[login], err = api.Permission(ctx, login); err != nil {
			return nil, err
		}
		for _, team := range cfg.Approval.Teams {
			org, name, _ := strings.Cut(team, "/")
			member, err := api.TeamMember(ctx, org, name, login)
			if err != nil {
				return nil, err
			}
			rec.TeamMembers[login] = rec.TeamMembers[login] || member
		}
	}
	if err := p.tellStory(ctx, rec); err != nil { // last: what was read before is of this moment, or of none
		return nil, err
	}
	p.remember(rec)
	for _, pin := range p.announced() {
		p.vouched[pin.Tip] = true
	}
	rec.Carried = p.carriedReviews(rec)
	return rec, p.moved(p.story)
}

// tellSiblings reads, of a pull request without runs, which others have its head: a check that is green for it is green for them.
func (p *pulled) tellSiblings(ctx context.Context) (err error) {
	if p.story, err = p.j.API.Story(ctx, p.pr.Number); errors.Is(err, githubapi.ErrTooMany) {
		p.story = githubapi.Story{}
		return nil // nobody signs it off, so nobody asks who made its commits
	}
	return err
}

// tellStory reads who made the commits, who edited the reviews, and which pushes and changes of base made reviews stale. What GitHub does not list whole ends the job with what to do about it.
func (p *pulled) tellStory(ctx context.Context, rec *signoff.Record) (err error) {
	p.story, err = p.j.API.Story(ctx, p.pr.Number)
	if errors.Is(err, githubapi.ErrTooMany) {
		return broken("%v", err)
	}
	rec.Commits, rec.Edited, rec.Timeline = p.story.Commits, p.story.Edited, p.story.Timeline
	return err
}

// remember works out who has pushed, and counts, by what this gate recorded and not by what the run says of itself, the earlier heads whose audit
// of a run failed.
func (p *pulled) remember(rec *signoff.Record) {
	p.memory = memory.Recollect(p.story, p.pr.Number)
	p.memory.Pushers = p.pushed(p.memory.Pushers)
	rec.Pushers, rec.Lost = p.memory.Pushers, p.memory.LostReason()
	p.out.Heads = p.memory.Heads
	for i, a := range p.out.Audits {
		p.out.Audits[i].Failed = p.memory.FailedRevisions(a.Dir, p.pr.HeadSHA)
	}
}

// announced are the entries that the gate itself has announced in its review of this pull request; none where somebody else edited that.
func (p *pulled) announced() []ledger.Pin {
	pins, err := memory.ParseAnnounced(p.memory.Body)
	if err != nil {
		p.out.Notices = append(p.out.Notices, "the gate's review no longer says which receipts it announced: "+err.Error())
		return nil
	}
	return pins
}

// human are the reviews that are not the gate's own, and that were submitted: a draft is its author's business.
func (p *pulled) human() []githubapi.Review {
	return slices.DeleteFunc(slices.Clone(p.reviews), func(r githubapi.Review) bool {
		_, marked := memory.ParseMarker(r.Body)
		return marked && r.UserType != "User" || isPending(r)
	})
}

// deciding are the people whose newest decisive review approves or asks for changes, in order of their names.
func deciding(reviews []githubapi.Review) []string {
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

// receipts drafts one receipt for each run and each approval that makes the sign-off; none while any of the runs may not be signed off, for the
// pull request is merged as a whole.
func (p *pulled) receipts(rec *signoff.Record) ([]ledger.Receipt, error) {
	o := p.out
	signers := o.Signers()
	if len(signers) == 0 || o.Empty() || o.Stopped() {
		return nil, nil
	}
	var drafts []ledger.Receipt
	o.Blocked = append(o.Blocked, o.UnaskedCommands(signers)...)
	for _, a := range o.Audits {
		if a.Work == nil {
			o.Blocked = append(o.Blocked, a.Dir+" could not be audited")
			continue
		}
		for _, s := range signers {
			r, err := p.draftOf(*a.Work, s, signoff.DecisionOf(s, rec.Permissions[s.Review.User], signers, a.Work))
			var not *receipt.NotSignable
			switch {
			case errors.As(err, &not):
				o.Blocked = append(o.Blocked, fmt.Sprintf("%s: %s", a.Dir, not.Reason))
			case err != nil:
				o.Blocked = append(o.Blocked, fmt.Sprintf("%s: %v", a.Dir, err))
			default:
				drafts = append(drafts, r)
			}
			if err != nil {
				break
			}
		}
	}
	if len(o.Blocked) > 0 {
		return nil, nil
	}
	return drafts, nil
}

// draftOf drafts the receipt of one approval of one run: a new one, or one that carries the approval's earlier receipt to this head.
func (p *pulled) draftOf(w receipt.Work, s signoff.Judged, d receipt.Decision) (ledger.Receipt, error) {
	r, err := receipt.Sign(w, d, p.j.place(p.pullRef()), receipt.Policy{FailOn: p.rules.Config.FailOn, Accept: p.rules.Config.Accept})
	if err != nil {
		return r, err
	}
	if !s.Carried {
		return p.amongOthers(r, d), nil
	}
	e := p.carriedFrom(s.Review, w)
	if e == nil {
		return r, &receipt.NotSignable{Run: w.Run.ID, Reason: "the receipt that its approval had is not in the ledger"}
	}
	return p.carried(*e, w), nil
}

// amongOthers gives a receipt that repeats what other approvals answer a key of its own, where this gate has written one already that repeats what
// somebody else answered: the approval is the same, and who else signs is not. A second one that its own words alone would explain is a forgery.
func (p *pulled) amongOthers(r ledger.Receipt, d receipt.Decision) ledger.Receipt {
	e := p.entryOf(r)
	if e == nil || !p.vouched[e.Hash] || differsFrom(r, e.Receipt) != otherWords {
		return r
	}
	var others []string
	for _, a := range d.Answers {
		others = append(others, a.By+" "+a.At+" "+a.ID+" "+a.Answer)
	}
	for _, w := range d.Waivers {
		others = append(others, w.By+" "+w.At+" "+w.RuleID)
	}
	subject := canonical.SHA256Hex([]byte(receipt.SubjectDigest(&r) + "\n" + strings.Join(others, "\n")))
	r.IdempotencyKey = ledger.Key{Repository: r.Repository.ID, PullRequest: r.Pull(), Review: r.Approval.Review.ID, Run: r.Run.ID, Kind: r.Kind, Subject: subject}.Digest()
	return r
}

func (p *pulled) pullRef() *ledger.PullRequest {
	return &ledger.PullRequest{Number: p.pr.Number, NodeID: p.pr.NodeID, HeadSHA: p.pr.HeadSHA, BaseSHA: p.out.Base}
}

// moved refuses to decide about a pull request that is no longer what was audited: the event of what happened meanwhile has a job of its own.
func (p *pulled) moved(now githubapi.Story) error {
	merged := now.State == "merged" && p.pr.Merged
	if now.HeadSHA == p.pr.HeadSHA && now.BaseRef == p.pr.BaseRef && (now.State == p.pr.State || merged) {
		return nil
	}
	return broken("the pull request moved while it was looked at (head %.12s, now %.12s; base %q, now %q; now %s): the job for what it is now decides", p.pr.HeadSHA, now.HeadSHA, p.pr.BaseRef, now.BaseRef, now.State)
}

// missing are the drafts that the ledger does not hold yet, by their idempotency keys.
func (p *pulled) missing(drafts []ledger.Receipt) []ledger.Receipt {
	return slices.DeleteFunc(slices.Clone(drafts), func(r ledger.Receipt) bool { return p.entryOf(r) != nil })
}

// entryOf is the entry with a draft's idempotency key.
func (p *pulled) entryOf(r ledger.Receipt) *ledger.Entry {
	i := slices.IndexFunc(p.entries, func(e ledger.Entry) bool { return e.Receipt.IdempotencyKey == r.IdempotencyKey })
	if i < 0 {
		return nil
	}
	return &p.entries[i]
}

// write appends to the ledger, once: entries that it holds already are left out, after they were compared with what would be written.
func (p *pulled) write(ctx context.Context, drafts []ledger.Receipt) error {
	for _, r := range drafts {
		if e := p.entryOf(r); e != nil {
			if err := p.recognise(r, e); err != nil {
				return err
			}
		}
	}
	fresh := p.missing(drafts)
	if len(fresh) == 0 {
		p.announce()
		return nil
	}
	if err := p.j.trusted(ctx, p.at, p.pr.Number, p.reviews); err != nil {
		return err
	}
	result, err := p.j.append(ctx, fresh, p.sheets(fresh))
	if err != nil {
		return fmt.Errorf("writing to the ledger: %w", err)
	}
	p.out.LedgerHead = result.Head.Tip
	for _, e := range slices.Concat(result.Added, result.Found) {
		if !slices.ContainsFunc(p.entries, func(have ledger.Entry) bool { return have.Hash == e.Hash }) {
			p.entries = append(p.entries, e)
		}
	}
	for _, r := range fresh {
		if e := p.entryOf(r); e != nil {
			if err := p.recognise(r, e); err != nil { // somebody else wrote an entry of this key meanwhile
				return err
			}
		}
	}
	slices.SortFunc(p.entries, func(a, b ledger.Entry) int { return cmp.Compare(a.Receipt.Seq, b.Receipt.Seq) })
	p.announce()
	return nil
}

// recognise holds an entry of the ledger to the draft that this job makes of the same decision: an idempotency key can be computed by anybody.
func (p *pulled) recognise(draft ledger.Receipt, e *ledger.Entry) error {
	if what := differsFrom(draft, e.Receipt); what != "" {
		return broken("entry %d of the ledger claims to be the record of what this job decides, and another %s is in it: it was forged; restore the branch from a clone that verifies, then run this job again", e.Receipt.Seq, what)
	}
	p.vouched[e.Hash] = true
	return nil
}

// otherWords is how an entry differs that holds other answers or waivers.
const otherWords = "answer or waiver"

// differsFrom names what an entry says otherwise than a draft of the same idempotency key; "" where they are the same decision. Where and when a
// job ran may differ, and the words of findings where another version of the engine wrote them.
func differsFrom(d ledger.Receipt, e *ledger.Receipt) string {
	a, b := d.Approval, e.Approval
	sameEngine := d.Engine != nil && e.Engine != nil && *d.Engine == *e.Engine && d.Semantics == e.Semantics
	switch {
	case d.Kind != e.Kind || d.Run != e.Run || d.Schema != e.Schema:
		return "kind or run"
	case d.FlightSheet != e.FlightSheet || d.Submission.SHA256 != e.Submission.SHA256 || receipt.SubjectDigest(&d) != receipt.SubjectDigest(e):
		return "subject"
	case d.RefersTo != e.RefersTo && d.Kind != ledger.Withdrawn: // what a withdrawal refers to may have been taken back since
		return "earlier receipt"
	case d.Pull() != e.Pull() || d.Kind.Live() && d.PullRequest.HeadSHA != e.PullRequest.HeadSHA:
		return "pull request"
	case (a == nil) != (b == nil) || a != nil && (a.Decision != b.Decision || a.Approver.ID != b.Approver.ID || a.Approver.Type != b.Approver.Type || a.Review.ID != b.Review.ID):
		return "approval"
	case !d.Kind.Live():
		return "" // its review may have been edited or moved once more
	case a != nil && a.Review != b.Review:
		return "review"
	case d.SelfSigned != e.SelfSigned || !reflect.DeepEqual(d.Accepted, e.Accepted) || !reflect.DeepEqual(d.Checklist, e.Checklist):
		return otherWords
	case sameEngine && (d.ReportDigest != e.ReportDigest || d.FindingsTotal != e.FindingsTotal || !reflect.DeepEqual(d.Verdict, e.Verdict)):
		return "verdict"
	}
	return ""
}

// announce lists for the review what the gate vouches for. A forged entry below this pull request's name is not among it.
func (p *pulled) announce() {
	p.out.Entries = slices.DeleteFunc(slices.Clone(p.entries), func(e ledger.Entry) bool { return !p.vouched[e.Hash] })
}

// sheets are those of the embedded library that receipts with an audit are judged by; a life-cycle entry refers to one that is there.
func (p *pulled) sheets(drafts []ledger.Receipt) [][]byte {
	var out [][]byte
	for _, a := range p.out.Audits {
		named := func(r ledger.Receipt) bool { return r.Audited() && r.FlightSheet.SHA256 == a.Work.Sheet.SHA256 }
		if a.Work != nil && a.Work.Sheet.Origin == "library" && slices.ContainsFunc(drafts, named) {
			out = append(out, a.Work.Sheet.Canonical)
		}
	}
	return out
}

// trusted holds the end of the ledger to itself and to GitHub's record, before something is written behind it: an entry that somebody forged
// must not be confirmed by the next one.
func (j *Job) trusted(ctx context.Context, at ledger.Snapshot, pull int64, reviews []githubapi.Review) error {
	if at.Head.Count == 0 {
		return nil
	}
	online := NewOnline(j.API, nil)
	if reviews != nil {
		online.Know(pull, reviews)
	}
	problems, err := VerifyTail(ctx, j.Store, at, ledger.Head{}, pull, online)
	if err != nil {
		return fmt.Errorf("verifying the end of the ledger: %w", err)
	}
	if len(problems) > 0 {
		return brokenLedger(problems)
	}
	return nil
}

// append writes entries to the ledger. Sheets are written where the ledger does not hold them.
func (j *Job) append(ctx context.Context, drafts []ledger.Receipt, sheets [][]byte) (ledger.Result, error) {
	draft := ledger.Draft{Receipts: drafts, Sheets: sheets, Papers: j.Papers}
	return ledger.Append(ctx, j.Store, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) { return draft, nil })
}

// confirm takes for signed off what this job has decided from the reviews of now, and nothing else: the entries of its own drafts, which the
// ledger holds, and a self-signature that the record of its workflow run bears out.
func (p *pulled) confirm(ctx context.Context, signing []ledger.Receipt) error {
	for _, r := range signing {
		e := p.entryOf(r)
		if e == nil {
			return fmt.Errorf("the ledger does not hold the receipt that was written to it")
		}
		if err := p.recognise(r, e); err != nil {
			return err
		}
		p.out.Receipts = append(p.out.Receipts, *e)
	}
	if len(signing) > 0 {
		return nil
	}
	return p.confirmSelfSigned(ctx)
}

// live are the sign-offs of this pull request that no later entry takes back.
func (p *pulled) live() []ledger.Entry { return ledger.Live(p.entries) }
