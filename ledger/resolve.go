package ledger

import (
	"strconv"

	"github.com/defendableos/referee/internal/canonical"
)

// Prior is what a later entry needs to know of an earlier one. A verification keeps one for each entry of the ledger,
// so it holds only what Resolve compares, and no findings.
type Prior struct {
	Hash  string
	Seq   int64
	Kind  Kind
	Run   Run
	Bytes string // SHA-256 of the submission
	Sheet FlightSheet
	// Subject is the digest of what it binds; "" for an entry that nobody signed and that holds no audit.
	Subject string
	Score   string // of the verdict; "" if the entry holds no audit
}

// PriorOf is the Prior of a receipt with the given hash.
func PriorOf(r *Receipt, hash string) Prior {
	p := Prior{Hash: hash, Seq: r.Seq, Kind: r.Kind, Run: r.Run, Bytes: r.Submission.SHA256, Sheet: r.FlightSheet,
		Subject: r.SubjectDigest()}
	if r.Verdict != nil {
		p.Score = r.Verdict.Score
	}
	return p
}

// Resolver finds an earlier entry of the same ledger by its hash. It has checked that the bytes have that hash. It
// cannot report a failed read: whoever reads from a store keeps that error beside it (resolveIn), because "could not be
// read" is no statement about the receipt.
type Resolver func(hash string) (Prior, bool)

// Resolve returns the first reason why r may not follow what it refers to: a hash that this ledger does not hold, or a
// cook whose two receipts are not signed off, are on different sheets or versions, or show no lift. Every case compares
// seq as well: find may know the whole branch, later entries included, and a reference points backwards only.
func (r *Receipt) Resolve(find Resolver) error {
	if err := r.resolveEarlier(find); err != nil {
		return err
	}
	// The receipts of an incident may be of any run, lane and kind: it is about an agent, and a rejected entry can show
	// what went wrong as well as a merged one.
	if r.Incident != nil {
		for _, hash := range r.Incident.Receipts {
			if earlier, ok := find(hash); !ok || earlier.Seq >= r.Seq {
				return refuse(RefuseUnresolved, "the incident names the receipt %.8s…, which is not an earlier "+
					"entry of this ledger", hash)
			}
		}
	}
	if r.Cook != nil {
		return r.resolveCook(find)
	}
	return nil
}

// resolveEarlier holds a life-cycle entry to the one that it is about: the same run, the same bytes, the same rulebook
// and, where it binds evidence, the same evidence. Otherwise a real sign-off could be lent to other work by an entry
// that carries it (threat-model.md, "a real review lent to other bytes"). Only what is signed off can be carried: a
// carried rejection would be live.
func (r *Receipt) resolveEarlier(find Resolver) error {
	if r.RefersTo == "" {
		return nil
	}
	earlier, ok := find(r.RefersTo)
	switch {
	case !ok || earlier.Seq >= r.Seq:
		return refuse(RefuseRefers, "refers_to %.8s… is not an earlier entry of this ledger", r.RefersTo)
	case earlier.Run != r.Run:
		return refuse(RefuseRefers, "refers_to %.8s… is about the run %q, this entry about %q", r.RefersTo,
			earlier.Run.ID, r.Run.ID)
	case earlier.Bytes != r.Submission.SHA256 || earlier.Sheet != r.FlightSheet:
		return refuse(RefuseRefers, "refers_to %.8s… is about other bytes, or judged by another rulebook", r.RefersTo)
	case r.Kind == Carried && !earlier.Kind.Live():
		return refuse(RefuseRefers, "refers_to %.8s… has kind %q; only a signed-off entry can be carried", r.RefersTo,
			earlier.Kind)
	}
	if subject := r.SubjectDigest(); subject != "" && subject != earlier.Subject {
		return refuse(RefuseSubject, "the subject of this entry is %.8s…, of refers_to %.8s… it is %.8s…; both are "+
			"about the same sheet, submission, evidence and agent",
			subject, r.RefersTo, earlier.Subject)
	}
	return nil
}

// resolveCook requires both sides to be measured by one rulebook: an easier sheet would be a lift without any training.
func (r *Receipt) resolveCook(find Resolver) error {
	before, err := r.cookedSide(find, "before", r.Cook.Before, r.Cook.EvalBefore)
	if err != nil {
		return err
	}
	after, err := r.cookedSide(find, "after", r.Cook.After, r.Cook.EvalAfter)
	if err != nil {
		return err
	}
	// The SHA-256 is compared with slug and version: the same version with other rules would make a lift of its own
	// (S54).
	if before.Sheet != after.Sheet {
		return refuse(RefuseSheet, "before is on %s@%s (%.8s…), after on %s@%s (%.8s…); a lift is measured on one "+
			"sheet and version",
			before.Sheet.Slug, before.Sheet.Version, before.Sheet.SHA256, after.Sheet.Slug, after.Sheet.Version,
			after.Sheet.SHA256)
	}
	return nil
}

// cookedSide is one side of a cook: a live receipt whose score is the one that the cook claims. As eval_after is above
// eval_before, the scores show the lift. Scores are compared as exact values, because 71.5 and 71.50 are one score.
func (r *Receipt) cookedSide(find Resolver, side, hash, eval string) (Prior, error) {
	p, ok := find(hash)
	switch {
	case !ok || p.Seq >= r.Seq:
		return Prior{}, refuse(RefuseUnresolved, "cook.%s names the receipt %.8s…, which is not an earlier entry of "+
			"this ledger", side, hash)
	case !p.Kind.Live() || p.Score == "":
		return Prior{}, refuse(RefuseUnresolved, "cook.%s names the entry %.8s… of kind %q, which is not signed off",
			side, hash, p.Kind)
	case exactRational(p.Score).Cmp(exactRational(eval)) != 0:
		return Prior{}, refuse(RefuseLift, "cook.eval_%s is %s, the score of that receipt %s", side, eval, p.Score)
	}
	return p, nil
}

// Subject is what a human signs: the bytes, not a commit (a review can be moved to another head), and who made them
// according to the run. Evidence is bound by id and content only: its path and who brought it may change while what the
// person saw does not.
type Subject struct {
	SheetSHA256      string
	SubmissionSHA256 string
	Evidence         []Evidence
	Params           []Param   // limits that the configuration set (S71)
	Manifest         *Manifest // nil for an entry of semantics 1
}

// Manifest is what the run's own run.json says of the work, as a receipt holds it: another agent, model, lane or
// assignment is another subject.
type Manifest struct {
	Run              Run
	Agent            *Agent
	AssignmentSHA256 string
}

// Digest is SHA-256 over "referee.subject/v2", the sheet, the submission, the manifest, and id and hash of each piece
// of evidence in order, each text preceded by its length, so that no two subjects share a digest. Texts count as a
// receipt writes them (canonical.Sanitize), so that the receipt's own parts make the same digest. Where limits are set,
// the word params, their number, and name and value of each precede the evidence: other limits are another subject
// (S71). Without a manifest it is the digest of semantics 1, over "referee.subject/v1" and no manifest; it must never
// change, because old entries are verified by it. receipts.md, "What was signed" has the same order as a jq program.
func (s Subject) Digest() string {
	b := make([]byte, 0, 1024)
	if s.Manifest == nil {
		b = appendParts(b, "referee.subject/v1", s.SheetSHA256, s.SubmissionSHA256)
	} else {
		b = appendParts(b, "referee.subject/v2", s.SheetSHA256, s.SubmissionSHA256)
		b = s.Manifest.appendTo(b)
	}
	if len(s.Params) > 0 {
		b = appendParts(b, "params", strconv.Itoa(len(s.Params)))
	}
	for _, p := range s.Params {
		b = appendTexts(b, p.Name, p.Value)
	}
	for _, e := range s.Evidence {
		b = appendTexts(b, e.ID)
		b = appendParts(b, e.SHA256)
	}
	return canonical.SHA256Hex(b)
}

// appendTo writes every member, absent ones as empty texts, and lists with their length before them. A part that were
// left out would let its neighbour take its place: an agent without a name and with the model "x" must not hash like
// one named "x" without a model.
func (m *Manifest) appendTo(b []byte) []byte {
	b = appendTexts(b, m.Run.ID, m.Run.Lane, m.Run.Project, m.AssignmentSHA256)
	if m.Agent == nil {
		return appendParts(b, "no agent")
	}
	a := m.Agent
	b = appendTexts(b, "agent", a.Name, a.Model, a.Provider, a.Harness, a.Runtime, a.CapabilityTier, a.ParamsB,
		a.ContextTokens, a.VRAMGB, a.ConfidencePrior,
		a.CostUSD, strconv.FormatBool(a.Pinned))
	for _, list := range [][]string{a.Tools, a.Modalities} {
		b = appendParts(b, strconv.Itoa(len(list)))
		b = appendTexts(b, list...)
	}
	if a.Temperature != "" { // a part of its own: a profile without it keeps its digest
		b = appendTexts(b, "temperature", a.Temperature)
	}
	return b
}

// appendTexts writes texts as a receipt holds them. The gate hashes run.json's own texts, a verifier those of the
// receipt, in which Format has replaced code points; both must come to one digest.
func appendTexts(b []byte, texts ...string) []byte {
	for _, text := range texts {
		clean, _ := canonical.Sanitize(text)
		b = appendParts(b, clean)
	}
	return b
}

// SubjectOf is the subject that the parts of an entry make. The manifest enters from semantics 2 on; an entry of
// semantics 1 was signed without it.
func SubjectOf(r *Receipt) Subject {
	s := Subject{SheetSHA256: r.FlightSheet.SHA256, SubmissionSHA256: r.Submission.SHA256, Evidence: r.Evidence,
		Params: r.Params}
	if r.Semantics >= 2 {
		s.Manifest = &Manifest{Run: r.Run, Agent: r.Agent}
		if r.Assignment != nil {
			s.Manifest.AssignmentSHA256 = r.Assignment.SHA256
		}
	}
	return s
}

// SubjectDigest is what r says was signed: its approval's word or, where it holds an audit that nobody signed, what its
// own parts make. It is "" for an entry that binds no evidence.
func (r *Receipt) SubjectDigest() string {
	switch {
	case r.Approval != nil:
		return r.Approval.SubjectDigest
	case r.Audited():
		return r.subjectDigest()
	}
	return ""
}

// subjectDigest is the digest that the parts of r make.
func (r *Receipt) subjectDigest() string { return SubjectOf(r).Digest() }

// Key names a sign-off, so that a second delivery of the same event is recognised. It names a decision and not an
// attempt: no time, no run of a workflow and no place in the chain is part of it, because GitHub delivers an event
// again, and a job that was killed starts anew.
type Key struct {
	Repository  int64
	PullRequest int64 // 0 outside a forge
	Review      int64 // or the id of the event, for entries that nobody signs
	Run         string
	Kind        Kind
	Subject     string // Subject.Digest
}

// Digest is SHA-256 over "referee.idempotency-key/v1" and the parts, each with its length before it.
func (k Key) Digest() string {
	return canonical.SHA256Hex(appendParts(nil, "referee.idempotency-key/v1", strconv.FormatInt(k.Repository, 10),
		strconv.FormatInt(k.PullRequest, 10),
		strconv.FormatInt(k.Review, 10), k.Run, string(k.Kind), k.Subject))
}

// appendParts writes each part as "<length>:<bytes>", the length in bytes. Without it, the parts "ab", "c" and the
// parts "a", "bc" would be one input, and two subjects could share a digest.
func appendParts(b []byte, parts ...string) []byte {
	for _, p := range parts {
		b = append(strconv.AppendInt(b, int64(len(p)), 10), ':')
		b = append(b, p...)
	}
	return b
}

// SheetHash is the hash that a rulebook's bytes go by, in a receipt and under sheets/.
func SheetHash(sheet []byte) string { return canonical.SHA256Hex(sheet) }
