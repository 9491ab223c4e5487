package ledger

import (
	"strconv"

	"github.com/defendableos/referee/internal/canonical"
)

// Prior is what a later entry needs to know of an earlier one.
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

// Resolver finds an earlier entry of the same ledger by its hash. It has checked that the bytes have that hash.
type Resolver func(hash string) (Prior, bool)

// Resolve gives the first reason why r may not stand after what it refers to: a hash that this ledger does not hold, or
// a cook whose two receipts are not signed off, not on one sheet and version, or show no lift.
func (r *Receipt) Resolve(find Resolver) error {
	if err := r.resolveEarlier(find); err != nil {
		return err
	}
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
// and, where it binds evidence, the same evidence. Nothing is carried that is not signed off.
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

func (r *Receipt) resolveCook(find Resolver) error {
	before, err := r.cookedSide(find, "before", r.Cook.Before, r.Cook.EvalBefore)
	if err != nil {
		return err
	}
	after, err := r.cookedSide(find, "after", r.Cook.After, r.Cook.EvalAfter)
	if err != nil {
		return err
	}
	if before.Sheet != after.Sheet {
		return refuse(RefuseSheet, "before is on %s@%s (%.8s…), after on %s@%s (%.8s…); a lift is measured on one "+
			"sheet and version",
			before.Sheet.Slug, before.Sheet.Version, before.Sheet.SHA256, after.Sheet.Slug, after.Sheet.Version,
			after.Sheet.SHA256)
	}
	return nil
}

// cookedSide is one side of a cook: a live receipt whose score is the one that the cook claims. As eval_after is above
// eval_before, the scores show the lift.
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

// Subject is what a human signs: the bytes, not a commit (a review can be moved to another head), and who the run says
// has made them.
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
// of evidence in order, each text with its length before it, so that no two subjects share a digest. Texts count as a
// receipt writes them (canonical.Sanitize), so that the receipt's own parts give the digest again. Where limits are
// set, the word params, their number, and name and value of each stand before the evidence: other limits are another
// subject (S71). Without a manifest it is the digest of semantics 1, over "referee.subject/v1" and no manifest.
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

// appendTo writes every member, absent ones as empty texts, and lists with their length before them.
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

// appendTexts writes texts as a receipt holds them.
func appendTexts(b []byte, texts ...string) []byte {
	for _, text := range texts {
		clean, _ := canonical.Sanitize(text)
		b = appendParts(b, clean)
	}
	return b
}

// SubjectOf is the subject that the parts of an entry make.
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

// Key names a sign-off, so that a second delivery of the same event is recognised.
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

// appendParts writes each part as "<length>:<bytes>": so the input of a hash is made of its domain and parts.
func appendParts(b []byte, parts ...string) []byte {
	for _, p := range parts {
		b = append(strconv.AppendInt(b, int64(len(p)), 10), ':')
		b = append(b, p...)
	}
	return b
}

// SheetHash is the hash that a rulebook's bytes go by, in a receipt and under sheets/.
func SheetHash(sheet []byte) string { return canonical.SHA256Hex(sheet) }
