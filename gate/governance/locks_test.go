package governance

import (
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/audit"
	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/ledger"
)

// recurringFlags is a signed incident of recurring flags about entries.
func recurringFlags(by, id, lane, status string, response []string, of ...*ledger.Entry) *ledger.Entry {
	e := agentEntry(ledger.Approved, by, id, "incident of "+id, "")
	e.Receipt.Run.Lane = "incident"
	in := &ledger.Incident{ID: id, Kind: "recurring_flag", Tier: "high", Lane: lane, Status: status, Response: response}
	for _, o := range of {
		in.Receipts = append(in.Receipts, o.Hash)
	}
	e.Receipt.Incident = in
	return e
}

// TestOpenLaneLock: a signed incident that is open and locks a lane closes it to the agent of the receipts that it
// names, below the limit too and without one; to nobody else and in no other lane; until it is taken back, or an unlock
// after it, not the agent's own, names every one of these receipts.
//
// Source: 001 #85.
func TestOpenLaneLock(t *testing.T) {
	locked, asks := []string{"lane_locked"}, []string{"human_approval_required"}
	work := agentEntry(ledger.Rejected, "a", "r1", "s1", "", highDefects("x"))
	more := agentEntry(ledger.Approved, "a", "r2", "s2", "")
	foreign := agentEntry(ledger.Rejected, "b", "r3", "s3", "", highDefects("x"))
	lock := recurringFlags("", "lock", "agent", "open", locked, work, more)
	unlock := recurringFlags("", "unlock", "agent", "resolved", nil, work, more)
	for _, c := range []struct {
		what    string
		entries []*ledger.Entry
		want    bool
	}{
		{"no incident", []*ledger.Entry{work, more}, false},
		{"locked", []*ledger.Entry{work, more, lock}, true},
		{"an incident that asks for a person only", []*ledger.Entry{work, more,
			recurringFlags("", "ask", "agent", "open", asks, work, more)}, false},
		{"another lane", []*ledger.Entry{work, more, recurringFlags("", "lock", "compute", "open", locked, work)}, false},
		{"about another agent", []*ledger.Entry{foreign, recurringFlags("", "lock", "agent", "open", locked, foreign)},
			false},
		{"unlocked", []*ledger.Entry{work, more, lock, unlock}, false},
		{"unlocked for one of two", []*ledger.Entry{work, more, lock,
			recurringFlags("", "unlock", "agent", "resolved", nil, work)}, true},
		{"unlocked by the agent itself", []*ledger.Entry{work, more, lock,
			recurringFlags("a", "unlock", "agent", "resolved", nil, work, more)}, true},
		{"an unlock that says locked", []*ledger.Entry{work, more, lock,
			recurringFlags("", "unlock", "agent", "resolved", locked, work, more)}, true},
		{"locked again after the unlock", []*ledger.Entry{work, more, lock, unlock,
			recurringFlags("", "again", "agent", "open", locked, work)}, true},
		{"the lock is taken back", []*ledger.Entry{work, more, lock,
			agentEntry(ledger.Revoked, "", "lock", "s9", "", referTo(lock))}, false},
		{"the unlock is taken back", []*ledger.Entry{work, more, lock, unlock,
			agentEntry(ledger.Revoked, "", "unlock", "s9", "", referTo(unlock))}, true},
		{"the lock was rejected", []*ledger.Entry{work, more, func() *ledger.Entry {
			e := recurringFlags("", "lock", "agent", "open", locked, work)
			e.Receipt.Kind = ledger.Rejected
			return e
		}()}, false},
	} {
		for _, limit := range []int{0, 9} {
			audits := []audit.AuditedRun{pendingRun("a", "now", "s0", "")}
			cfg := config.Default()
			cfg.Governance.MaxRecurringCritical = limit
			for i, e := range c.entries {
				e.Receipt.Seq = int64(i)
			}
			got := CheckLimits(audits, cfg, historyOf(t, cfg, 0, audits, c.entries...), gatetest.Nine)
			if (len(got) == 1) != c.want || c.want && (got[0].Kind != "recurring_flag" ||
				!strings.Contains(got[0].Reason, "is open and says lane_locked")) {
				t.Errorf("%s, limit %d: %+v", c.what, limit, got)
			}
		}
	}
}
