package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
)

// decide works out who has signed an open pull request, writes to the ledger what that means, and reads back what stands.
func (p *pulled) decide(ctx context.Context) error {
	rec, err := p.record(ctx)
	if err != nil {
		return err
	}
	o, cfg := p.out, p.rules.Config
	o.Judged, o.Unknown, o.Objections = JudgeReviews(*rec, cfg), UnknownHands(*rec, cfg), Objections(*rec, cfg)
	p.spent()
	drafts, err := p.lifecycle(rec)
	if err != nil {
		return err
	}
	minted, err := p.receipts(rec)
	if err != nil {
		return err
	}
	drafts = append(drafts, minted...)
	if err := p.write(ctx, drafts); err != nil {
		return err
	}
	p.standing()
	return nil
}

// spent takes reviews out of the count that have signed something else: what is signed is a sheet, a submission and its evidence, and where one of
// them is another now, on the same head as when base has another sheet, the review is not of it (fact 3).
func (p *pulled) spent() {
	for i := range p.out.Judged {
		j := &p.out.Judged[i]
		for _, e := range p.entries {
			a := e.Receipt.Approval
			if j.Counted && a != nil && a.Decision == ledger.Approved && !e.Receipt.SelfSigned && a.Review.ID == j.Review.ID && p.workOf(e) == nil {
				j.Counted, j.Because = false, fmt.Sprintf("it signed receipt %d, of other bytes or by another sheet: submit a new review", e.Receipt.Seq)
			}
		}
	}
}

// record reads what decides who may sign. Where nobody has decided anything, nothing more than the commits is asked for.
func (p *pulled) record(ctx context.Context) (*Record, error) {
	api, cfg := p.j.API, p.rules.Config
	rec := &Record{Pull: p.pr, Reviews: p.human(), Digest: p.out.Digest(), HeadNow: p.pr.HeadSHA, Permissions: map[string]string{}, TeamMembers: map[string]bool{}}
	for _, a := range p.out.Audits {
		if a.Work != nil && a.Work.Run.Operator != "" {
			rec.Operators = append(rec.Operators, a.Work.Run.Operator)
		}
	}
	rec.Pushers = ParsePushers(p.ownBody()).With(p.pusher())
	if p.out.Empty() && len(p.entries) == 0 {
		return rec, nil
	}
	var err error
	if rec.Commits, err = api.Commits(ctx, p.pr.Number); err != nil {
		return nil, err
	}
	deciders := deciding(rec.Reviews)
	if len(deciders) == 0 {
		return rec, nil
	}
	if rec.Timeline, err = api.Timeline(ctx, p.pr.Number); err != nil {
		return nil, err
	}
	for _, login := range deciders {
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
	edits, err := api.Edits(ctx, p.pr.Number) // last: what was read before is of this moment, or of none
	if err != nil {
		return nil, err
	}
	rec.Edited = edits.Edited
	return rec, p.moved(edits)
}

// human are the reviews that are not the gate's own.
func (p *pulled) human() []githubapi.Review {
	return slices.DeleteFunc(slices.Clone(p.reviews), func(r githubapi.Review) bool {
		_, marked := ParseMarker(r.Body)
		return marked && r.UserType != "User"
	})
}

// deciding are the people whose newest decisive review approves or asks for changes, in order of their names.
func deciding(reviews []githubapi.Review) []string {
	latest := latestDecisive(reviews)
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

// enough gives the counted reviews that make the sign-off, the earliest of different people, or none where there are too few.
func (o *Outcome) enough() []Judged {
	counted := slices.Clone(o.counted())
	slices.SortStableFunc(counted, func(a, b Judged) int {
		return cmp.Or(a.Review.SubmittedAt.Compare(b.Review.SubmittedAt), cmp.Compare(a.Review.ID, b.Review.ID))
	})
	if o.Need < 1 || len(counted) < o.Need {
		return nil
	}
	return counted[:o.Need]
}

// receipts drafts one receipt for each run and each approval that makes the sign-off; none while any of the runs may not be signed off, for the
// pull request is merged as a whole.
func (p *pulled) receipts(rec *Record) ([]ledger.Receipt, error) {
	o, cfg := p.out, p.rules.Config
	signers := o.enough()
	if len(signers) == 0 || o.Empty() || o.stopped() {
		return nil, nil
	}
	var drafts []ledger.Receipt
	o.Blocked = append(o.Blocked, o.unasked(signers)...)
	for _, a := range o.Audits {
		if a.Work == nil {
			o.Blocked = append(o.Blocked, a.Dir+" could not be audited")
			continue
		}
		for _, s := range signers {
			d := decisionOf(s, rec.Permissions[s.Review.User], signers, a.Work)
			r, err := Sign(*a.Work, d, p.j.place(p.pullRef()), Policy{FailOn: cfg.FailOn, Accept: cfg.Accept})
			var not *NotSignable
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

func (p *pulled) pullRef() *ledger.PullRequest {
	return &ledger.PullRequest{Number: p.pr.Number, NodeID: p.pr.NodeID, HeadSHA: p.pr.HeadSHA, BaseSHA: p.out.Base}
}

// decisionOf is what an approving review decides of a run. Answers and waivers of all the approvals that make the sign-off count, each with its
// person; where one is satisfied and another is not, the flag stands.
func decisionOf(s Judged, permission string, all []Judged, w *Work) Decision {
	d := Decision{Kind: ledger.Approved, Approver: approverOf(s.Review, permission), Review: reviewRef(s.Review)}
	asked := asks(w)
	for _, j := range all {
		by, at := j.Review.User, stamp(j.Review.SubmittedAt)
		for _, answer := range answersFor(j.Commands, w.Run.ID, asked) { // a pull request may hold runs with other questions
			answer.By, answer.At = by, at
			d.Answers = mergeAnswer(d.Answers, answer)
		}
		for _, waiver := range waiversFor(j.Commands.Accepts, w) {
			waiver.By, waiver.At = by, at
			d.Waivers = append(d.Waivers, waiver)
		}
	}
	return d
}

// mergeAnswer adds an answer; of two about one thing the flag stands, and of two flags the first.
func mergeAnswer(have []ledger.Answer, next ledger.Answer) []ledger.Answer {
	i := slices.IndexFunc(have, func(a ledger.Answer) bool { return a.ID == next.ID })
	if i < 0 {
		return append(have, next)
	}
	if have[i].Answer != "flag" && next.Answer == "flag" {
		have[i] = next
	}
	return have
}

func approverOf(r githubapi.Review, permission string) ledger.Approver {
	return ledger.Approver{Login: r.User, ID: r.UserID, Type: r.UserType, Permission: permission}
}

func reviewRef(r githubapi.Review) ledger.Review {
	return ledger.Review{ID: r.ID, SubmittedAt: stamp(r.SubmittedAt), CommitSHA: r.CommitSHA, BodySHA256: shaOf([]byte(r.Body))}
}

func shaOf(b []byte) string { return canonical.SHA256Hex(b) }

// moved refuses to decide about a pull request that is no longer what was audited: the event of what happened meanwhile has a job of its own.
func (p *pulled) moved(now githubapi.Edits) error {
	merged := now.State == "merged" && p.pr.Merged
	if now.HeadSHA == p.pr.HeadSHA && now.BaseRef == p.pr.BaseRef && (now.State == p.pr.State || merged) {
		return nil
	}
	return broken("the pull request moved while it was looked at (head %.12s, now %.12s; base %q, now %q; now %s): the job for what it is now decides", p.pr.HeadSHA, now.HeadSHA, p.pr.BaseRef, now.BaseRef, now.State)
}

// write appends to the ledger, once: entries that stand there already are left out.
func (p *pulled) write(ctx context.Context, drafts []ledger.Receipt) error {
	fresh := slices.DeleteFunc(drafts, func(r ledger.Receipt) bool {
		return slices.ContainsFunc(p.entries, func(e ledger.Entry) bool { return e.Receipt.IdempotencyKey == r.IdempotencyKey })
	})
	if len(fresh) == 0 {
		return nil
	}
	if err := p.j.trusted(ctx, p.at, p.pr.Number, p.reviews); err != nil {
		return err
	}
	result, err := p.j.append(ctx, fresh, p.sheets())
	if err != nil {
		return fmt.Errorf("writing to the ledger: %w", err)
	}
	p.out.LedgerHead = result.Head.Tip
	for _, e := range slices.Concat(result.Found, result.Added) {
		if !slices.ContainsFunc(p.entries, func(have ledger.Entry) bool { return have.Hash == e.Hash }) {
			p.entries = append(p.entries, e)
		}
	}
	slices.SortFunc(p.entries, func(a, b ledger.Entry) int { return cmp.Compare(a.Receipt.Seq, b.Receipt.Seq) })
	p.out.Entries = p.entries
	return nil
}

// sheets are those of the embedded library that the runs were judged by.
func (p *pulled) sheets() [][]byte {
	var out [][]byte
	for _, a := range p.out.Audits {
		if a.Work != nil && a.Work.Sheet.Origin == "library" {
			out = append(out, a.Work.Sheet.Canonical)
		}
	}
	return out
}

// trusted holds the end of the ledger to itself and to GitHub's record, before something is written behind it: an entry that somebody forged
// with the workflow's token must not be confirmed by the next one.
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
		return broken("nothing is written to the ledger, for its end does not verify: %s; run `referee ledger verify --online` and restore the branch", problems[0].String())
	}
	return nil
}

// append writes entries to the ledger. Sheets are written where the ledger does not hold them.
func (j *Job) append(ctx context.Context, drafts []ledger.Receipt, sheets [][]byte) (ledger.Result, error) {
	draft := ledger.Draft{Receipts: drafts, Sheets: sheets, Papers: j.Papers}
	return ledger.Append(ctx, j.Store, ledger.Retry{}, func(ledger.Snapshot) (ledger.Draft, error) { return draft, nil })
}

// standing tells which entries sign off what is there now: those whose review is counted, or that were carried to this head, and that nothing has
// taken back.
func (p *pulled) standing() {
	good := map[int64]bool{}
	for _, j := range p.out.enough() {
		good[j.Review.ID] = true
	}
	for _, e := range p.live() {
		signed := p.signed(e)
		here := e.Receipt.PullRequest.HeadSHA == p.pr.HeadSHA
		carried := e.Receipt.Kind == ledger.Carried && p.behind(e) >= p.out.Need
		if signed == nil || !(here && (carried || signed.SelfSigned) || good[signed.Approval.Review.ID] && e.Receipt.Kind == ledger.Approved) {
			continue
		}
		p.out.Receipts = append(p.out.Receipts, e)
		p.out.Waived = append(p.out.Waived, forRun(e.Receipt.Run.ID, signed.Accepted)...)
	}
}

// live are the sign-offs of this pull request that no later entry takes back.
func (p *pulled) live() []ledger.Entry {
	ended := map[string]bool{}
	for _, e := range p.entries {
		if ends[e.Receipt.Kind] {
			ended[e.Receipt.RefersTo] = true
		}
	}
	var out []ledger.Entry
	for _, e := range p.entries {
		if e.Receipt.Kind.Live() && !ended[e.Hash] && !ended[e.Receipt.RefersTo] {
			out = append(out, e)
		}
	}
	return out
}
