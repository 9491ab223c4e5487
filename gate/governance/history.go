package governance

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// History is what the ledger says of agents, as far as governance reads it: what they spent, which of their audits had
// critical findings, and when they were last seen. It is fed entry by entry (Add), oldest first, and keeps a few words
// of the entries of the agents that it watches: those of the audits and those that the configuration lists. Entries of
// others cost nothing.
type History struct {
	pull        int64           // entries of this pull request …
	now         map[string]bool // … about these runs are not counted as spent: the runs are, as they stand now
	agentTracks map[string]*agentTrack
	live        map[[32]byte]*paidWork // sign-offs by the hash of their entry
	laneUnlocks []laneUnlock
	laneLocks   []laneLock
	limits      *config.Governance
	first       time.Time // of the oldest entry
}

// agentTrack is one agent's history.
type agentTrack struct {
	works map[[32]byte]*paidWork // by run and submission
	order []*paidWork            // in the order of the ledger
	// every entry about the agent's work, by the hash of its hash: a lane lock names entries and no agent
	entries map[[32]byte]bool
	flags   []flaggedAudit
	last    time.Time
	lane    string // of the last entry
}

func newAgentTrack() *agentTrack {
	return &agentTrack{works: map[[32]byte]*paidWork{}, entries: map[[32]byte]bool{}}
}

// paidWork is one piece of work: a run and the bytes that it handed in. It is counted once, however many entries are
// about it.
type paidWork struct {
	key       [32]byte
	run, hash string // hash of the newest entry about it, "" for what stands only in the pull request
	cost      *decimal.Num
	entries   int // signed off and not taken back
}

// flaggedAudit is an audit with critical findings.
type flaggedAudit struct {
	run, lane, hash string
	key             string // what makes it one audit: the run, and its pull request or its bytes
	at              time.Time
	high            int
	rules           []string
}

// laneUnlock is a resolved incident that unlocks a lane.
type laneUnlock struct {
	entry    string
	seq      int64
	by, lane string
	receipts []string
}

// laneLock is an open incident that a person signed off and that closes a lane to the agent of its receipts.
type laneLock struct {
	entry, id, lane string
	seq             int64
	receipts        []string
}

// NewHistory begins a history. pull is the pull request that is looked at, 0 for none.
func NewHistory(cfg *config.Config, pull int64, audits []audit.AuditedRun) *History {
	h := &History{
		pull:        pull,
		now:         map[string]bool{},
		agentTracks: map[string]*agentTrack{},
		live:        map[[32]byte]*paidWork{},
		limits:      &cfg.Governance,
	}
	for _, a := range audits {
		if a.Work != nil {
			h.agentTracks[a.Work.Run.Agent.Name] = newAgentTrack()
			h.now[a.Work.Run.ID] = true
		}
	}
	for _, a := range cfg.Governance.Agents {
		h.agentTracks[a.Name] = newAgentTrack()
	}
	return h
}

// Add takes the next entry. The error is a recorded cost or time that cannot be read: then nothing can be said of the
// agent.
func (h *History) Add(e *ledger.Entry) error {
	r := e.Receipt
	at, err := time.Parse(receipt.TimeFormat, r.MintedAt)
	if err != nil {
		return fmt.Errorf("entry %d: minted_at: %w", r.Seq, err)
	}
	if h.first.IsZero() {
		h.first = at
	}
	if r.Kind.Ends() {
		h.endSignOff(r.RefersTo)
	}
	if r.Kind.Live() && r.Incident != nil {
		h.keepLock(e)
		h.keepUnlock(e)
	}
	if !r.Audited() || h.agentTracks[r.Agent.Name] == nil || !IsAttributed(h.limits, r) {
		return nil
	}
	t := h.agentTracks[r.Agent.Name]
	t.entries[hashKey(e.Hash)] = true
	if at.After(t.last) {
		t.last, t.lane = at, strings.Clone(r.Run.Lane)
	}
	if h.pull == 0 ||
		// what was wrong with this pull request before may be mended in it; its revisions are counted by Heads
		r.Pull() != h.pull {
		t.keepFlagged(e, at)
	}
	return h.countSpending(t, e)
}

// endSignOff takes a sign-off back.
func (h *History) endSignOff(hash string) {
	key := hashKey(hash)
	if s := h.live[key]; s != nil {
		s.entries--
		delete(h.live, key)
	}
	h.laneUnlocks = slices.DeleteFunc(h.laneUnlocks, func(l laneUnlock) bool { return l.entry == hash })
	h.laneLocks = slices.DeleteFunc(h.laneLocks, func(l laneLock) bool { return l.entry == hash })
}

// keepLock keeps a signed incident of recurring flags that is open and says that the lane is locked. It closes the lane
// whatever max_recurring_critical says now: the limit may have been raised since, and a person has looked at these.
func (h *History) keepLock(e *ledger.Entry) {
	in := e.Receipt.Incident
	if in.Kind != "recurring_flag" || in.Status == "resolved" || !slices.Contains(in.Response, "lane_locked") {
		return
	}
	h.laneLocks = append(h.laneLocks, laneLock{entry: strings.Clone(e.Hash), id: strings.Clone(in.ID),
		lane: strings.Clone(in.Lane), seq: e.Receipt.Seq, receipts: slices.Clone(in.Receipts)})
}

// openLock finds the newest lock of a lane that names work of the agent which no later unlock names; nil if no lock is
// open. An unlock that is older than the lock lifts nothing of it: the flags came back.
func (h *History) openLock(agent, lane string) *laneLock {
	t := h.agentTracks[agent]
	if t == nil {
		return nil
	}
	for i := len(h.laneLocks) - 1; i >= 0; i-- {
		l := &h.laneLocks[i]
		if l.lane == lane && slices.ContainsFunc(l.receipts, func(hash string) bool {
			return t.entries[hashKey(hash)] && !h.isLifted(hash, agent, l)
		}) {
			return l
		}
	}
	return nil
}

// isLifted reports whether an unlock after the lock names the receipt. The locked agent's own incident unlocks nothing.
func (h *History) isLifted(hash, agent string, lock *laneLock) bool {
	return slices.ContainsFunc(h.laneUnlocks, func(u laneUnlock) bool {
		return u.seq > lock.seq && u.lane == lock.lane && (u.by == "" || u.by != agent) &&
			slices.Contains(u.receipts, hash)
	})
}

// keepUnlock keeps an incident that unlocks a lane: a person signed off that the recurring flags are resolved, and did
// not say that the lane stays locked. It counts for the audits whose entries it names, and for none later.
func (h *History) keepUnlock(e *ledger.Entry) {
	in := e.Receipt.Incident
	if in.Kind != "recurring_flag" || in.Status != "resolved" || slices.Contains(in.Response, "lane_locked") {
		return
	}
	by := ""
	if e.Receipt.Agent != nil {
		by = e.Receipt.Agent.Name
	}
	h.laneUnlocks = append(h.laneUnlocks,
		laneUnlock{entry: e.Hash, seq: e.Receipt.Seq, by: by, lane: in.Lane, receipts: in.Receipts})
}

// countSpending counts a sign-off's cost.
func (h *History) countSpending(t *agentTrack, e *ledger.Entry) error {
	r := e.Receipt
	if !r.Kind.Live() || h.pull != 0 && r.Pull() == h.pull && h.now[r.Run.ID] {
		return nil
	}
	cost, err := costOf(r.Agent.CostUSD)
	if err != nil {
		return fmt.Errorf("entry %d: agent.cost_usd: %w", r.Seq, err)
	}
	key := workKey(r.Run.ID, r.Submission.SHA256)
	s := t.works[key]
	if s == nil {
		s = &paidWork{key: key, run: strings.Clone(r.Run.ID), cost: cost}
		t.works[key], t.order = s, append(t.order, s)
	}
	if decimal.Cmp(cost, s.cost) > 0 {
		s.cost = cost
	}
	s.hash = strings.Clone(e.Hash)
	s.entries++
	h.live[hashKey(e.Hash)] = s
	return nil
}

// keepFlagged keeps an audit with critical findings. Amended, revoked, superseded and merged entries are about an audit
// that has its own entry.
func (t *agentTrack) keepFlagged(e *ledger.Entry, at time.Time) {
	r := e.Receipt
	if r.Kind.Ends() || r.Kind == ledger.Merged {
		return
	}
	high, rules := criticalOf(r)
	if high == 0 {
		return
	}
	key := r.Run.ID + "\x00" + r.Submission.SHA256
	if r.Pull() != 0 {
		key = fmt.Sprintf(
			"%s\x00%d",
			r.Run.ID,
			r.Pull(),
		) // the revisions of a run in one pull request are one audit: gate.md counts those itself
	}
	t.flags = append(
		t.flags,
		flaggedAudit{
			run:   strings.Clone(r.Run.ID),
			lane:  strings.Clone(r.Run.Lane),
			hash:  strings.Clone(e.Hash),
			key:   key,
			at:    at,
			high:  high,
			rules: rules,
		},
	)
}

// criticalOf counts the high or critical work-defects of an entry and names their rules. A finding about the deal is
// none: the work is right, and says that the deal is not. Beyond the findings that a receipt holds, the verdict's count
// of high ones is taken.
func criticalOf(r *ledger.Receipt) (high int, rules []string) {
	listed := 0
	for _, f := range r.Findings {
		if f.Tier == "high" {
			listed++
		}
		if !isCritical(f) || f.Bucket != string(referee.WorkDefect) {
			continue
		}
		high++
		for _, id := range f.RuleIDs {
			if !slices.Contains(rules, id) && len(rules) < 20 {
				rules = append(rules, strings.Clone(id))
			}
		}
	}
	return high + max(0, r.Verdict.Risk.High-listed), rules
}

// Spent is what an agent has spent in US dollars: the sum of cost_usd over its live receipts (approved or carried, not
// amended, revoked or superseded: what a person vouches for) and over its runs in this pull request, whether they pass
// or not. A piece of work, that is a run's id and its submission's bytes, is counted once, at the largest cost stated
// for it, however often it was signed off, carried or stands here; a run with other bytes was run again and is counted
// again, except that a run of this very pull request is counted only as it stands now. A run that states no cost counts
// as nothing: run.json is the agent's own word, as every cost is.
func (h *History) Spent(agent string, audits []audit.AuditedRun) (string, error) {
	var runs []*receipt.Work
	for _, a := range audits {
		if a.Work != nil && a.Work.Run.Agent.Name == agent {
			runs = append(runs, a.Work)
		}
	}
	s, err := h.spendingOf(agent, runs)
	if err != nil {
		return "", err
	}
	return s.total.String(), nil
}

// agentSpending is an agent's spending, piece by piece.
type agentSpending struct {
	total, here *decimal.Num // here: what only this pull request adds
	works       []paidWork   // oldest first, this pull request's last
}

func (h *History) spendingOf(agent string, runs []*receipt.Work) (*agentSpending, error) {
	s := &agentSpending{total: decimal.FromInt(0), here: decimal.FromInt(0)}
	pieces := map[[32]byte]int{}
	if t := h.agentTracks[agent]; t != nil {
		for _, w := range t.order {
			if w.entries > 0 {
				pieces[w.key] = len(s.works)
				s.works = append(s.works, *w)
			}
		}
	}
	var err error
	if s.total, err = sumOf(s.works); err != nil {
		return nil, err
	}
	for _, w := range runs {
		cost, err := costOf(w.Run.CostUSD)
		if err != nil {
			return nil, fmt.Errorf("run %s: cost_usd: %w", w.Run.ID, err)
		}
		key := workKey(w.Run.ID, w.Report.Submission.SHA256)
		i, again := pieces[key]
		switch {
		case !again:
			pieces[key] = len(s.works)
			s.works = append(s.works, paidWork{key: key, run: w.Run.ID, cost: cost})
		case decimal.Cmp(cost, s.works[i].cost) > 0:
			s.works[i].cost = cost
		}
	}
	before := s.total
	if s.total, err = sumOf(s.works); err != nil {
		return nil, err
	}
	s.here, err = decimal.Add(s.total, decimal.Neg(before))
	return s, err
}

func sumOf(works []paidWork) (*decimal.Num, error) {
	total := decimal.FromInt(0)
	var err error
	for _, w := range works {
		if total, err = decimal.Add(total, w.cost); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// criticalAudits lists the audits of an agent in a lane that count towards a lock, oldest first, one a run: those of
// other pull requests with critical findings that no resolved incident names. The locked agent's own incident unlocks
// nothing.
func (h *History) criticalAudits(agent, lane string) []flaggedAudit {
	t := h.agentTracks[agent]
	lifted := map[string]bool{}
	for _, l := range h.laneUnlocks {
		if l.lane == lane && (l.by == "" || l.by != agent) {
			for _, hash := range l.receipts {
				lifted[hash] = true
			}
		}
	}
	var out []flaggedAudit
	places := map[string]int{}
	for _, f := range t.flags {
		if f.lane != lane || lifted[f.hash] {
			continue
		}
		if i, again := places[f.key]; again {
			out[i] = f // the newest word about it
			continue
		}
		places[f.key], out = len(out), append(out, f)
	}
	return out
}

// costOf reads a cost; none is nothing, and so is one below nothing: no run earns.
func costOf(text string) (*decimal.Num, error) {
	if text == "" {
		return decimal.FromInt(0), nil
	}
	n, err := decimal.Parse(text)
	if err == nil && decimal.Cmp(n, decimal.FromInt(0)) < 0 {
		n = decimal.FromInt(0)
	}
	return n, err
}

// workKey names a piece of work: a run and its submission's bytes.
func workKey(run, submission string) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d:%s\n%s", len(run), run, submission))
}

func hashKey(hash string) [32]byte { return sha256.Sum256([]byte(hash)) }

// IsAttributed reports whether an audited entry speaks of the work of the agent that it names. The name is run.json's
// word, which anybody can write into a pull request of their own; so either a person with the permission signed the
// entry, with a yes or a no, or the work came to base, or it is of a pull request of somebody who operates the agent by
// the configuration. An address in a commit tells nothing: that is anybody's word too.
func IsAttributed(g *config.Governance, r *ledger.Receipt) bool {
	if r.Kind != ledger.Withdrawn {
		return true
	}
	if r.ObservedBy == nil {
		return false
	}
	known, authors := true, 0
	for _, e := range r.Evidence { // who adds evidence in a pull request is its author
		if e.AddedBy != "" {
			authors++
			known = known && g.Operates(r.Agent.Name, e.AddedBy)
		}
	}
	return known && (authors > 0 || g.Operates(r.Agent.Name, r.ObservedBy.Actor))
}
