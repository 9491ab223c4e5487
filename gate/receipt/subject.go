package receipt

import (
	"github.com/defendableos/referee/ledger"
)

// SubjectDigest is what an entry says was signed off: its approval's word, or for one that carries an approval over to
// the same bytes, what it binds.
func SubjectDigest(r *ledger.Receipt) string {
	if r.Approval != nil {
		return r.Approval.SubjectDigest
	}
	return ledger.SubjectOf(r).Digest()
}

// TimeFormat is the ledger's form of a time.
const TimeFormat = "2006-01-02T15:04:05Z"

// WithoutAudit takes the audit out of an entry that nobody signs: where the agent's operator closes a stranger's pull
// request, the entry would read as if the work were the agent's, which is only that stranger's word.
func WithoutAudit(r *ledger.Receipt) {
	r.Semantics, r.Engine, r.Agent, r.Assignment, r.Evidence, r.Checklist = 0, nil, nil, nil, nil, nil
	r.Findings, r.FindingsTotal, r.Verdict, r.ReportDigest, r.Advisory = nil, 0, nil, "", nil
}
