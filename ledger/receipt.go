package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
)

// The schemas of version 1. All three have one shape; a cook and an incident carry a member of their own. The version
// is part of the name, so that a reader of this version refuses a later one by name and never skips what it does not
// know.
const (
	EvalSchema     = "defendablecloud.eval-receipt/v1"
	CookSchema     = "defendablecloud.cook-receipt/v1"
	IncidentSchema = "defendablecloud.incident-receipt/v1"
)

// Kind says what an entry of the ledger states.
type Kind string

// The kinds. Approved is the receipt proper; the others tell what became of one, or of work that never got one.
const (
	Approved    Kind = "approved"    // a human signed these bytes off
	Carried     Kind = "carried"     // the same bytes after a rebase; refers to the approved entry
	Amended     Kind = "amended"     // the approving review was edited; nobody may rely on the earlier entry
	Revoked     Kind = "revoked"     // the approval was dismissed or turned into a request for changes
	Rejected    Kind = "rejected"    // a human said no after an audit
	Superseded  Kind = "superseded"  // other bytes were pushed
	Withdrawn   Kind = "withdrawn"   // closed without a merge
	Merged      Kind = "merged"      // merged, with the merge's SHA
	Unreceipted Kind = "unreceipted" // on base without a live receipt
)

// MaxFindings is how many findings a receipt holds; findings_total counts all, and report_digest binds the rest.
// Without a bound, a hostile submission would decide how long a receipt is, and every reader of the ledger would pay
// for it.
const MaxFindings = 200

// A receipt that shows fewer findings than it may is full: it has more than FullBytes. No finding takes more than
// MaxFindingBytes (the gate cuts its texts), so in a shorter receipt the next one would have had room within the 256
// KiB of canonical.Receipt, and whoever left it out was hiding it (checkShown).
const (
	MaxFindingBytes = 64 << 10
	FullBytes       = 256<<10 - MaxFindingBytes
)

// Receipt is one entry of the ledger. Format returns the bytes whose SHA-256 is its name; the receipt cannot contain
// that hash, since no text contains its own. Decimals are strings, because readers disagree on floats (package
// canonical); a member that does not apply is left out.
type Receipt struct {
	Schema         string       `json:"schema" is:"schema"`
	Kind           Kind         `json:"kind" is:"kind"`
	ID             string       `json:"receipt_id" is:"receipt_id"` // DCR-000012-0a1b2c3d: seq and submission
	Seq            int64        `json:"seq"`
	ParentHash     string       `json:"parent_hash" is:"hash"` // the entry before; 64 zeros at seq 0
	Log            Log          `json:"log"`                   // the Merkle tree over the entries before this one
	MintedAt       string       `json:"minted_at" is:"time"`   // of the review, or of the event observed
	Org            *Org         `json:"org,omitempty"`
	Repository     Repository   `json:"repository"`
	Run            Run          `json:"run"`
	PullRequest    *PullRequest `json:"pull_request,omitempty"` // absent for a sign-off outside a forge
	FlightSheet    FlightSheet  `json:"flight_sheet"`
	Submission     Submission   `json:"submission"`
	IdempotencyKey string       `json:"idempotency_key" is:"hash"`
	RefersTo       string       `json:"refers_to,omitempty" is:"hash"`
	ObservedBy     *ObservedBy  `json:"observed_by,omitempty"` // for entries that no human signs
	Approval       *Approval    `json:"approval,omitempty"`
	Accepted       []Waiver     `json:"accepted,omitempty"`
	SelfSigned     bool         `json:"self_signed,omitempty"`
	Workflow       *Workflow    `json:"workflow,omitempty"`
	// pointers of the strings that Format replaced code points in
	Sanitized []string  `json:"sanitized,omitempty"`
	Cook      *Cook     `json:"cook,omitempty"`
	Incident  *Incident `json:"incident,omitempty"`

	// The audit: present as a whole or not at all (Audited).
	Semantics  int         `json:"semantics,omitempty"`
	Engine     *Engine     `json:"engine,omitempty"`
	Agent      *Agent      `json:"agent,omitempty"`
	Assignment *Assignment `json:"assignment,omitempty"`
	Params     []Param     `json:"params,omitempty"` // limits that the configuration set (S71); part of the subject
	Evidence   []Evidence  `json:"evidence,omitempty"`
	// figures that the agent alone states, and a person confirms (S70)
	Stated        []Figure  `json:"stated,omitempty"`
	Checklist     []Answer  `json:"checklist,omitempty"`
	Findings      []Finding `json:"findings,omitempty" scan:"-"`
	FindingsTotal int       `json:"findings_total,omitempty"`
	Verdict       *Verdict  `json:"verdict,omitempty"`
	ReportDigest  string    `json:"report_digest,omitempty" is:"hash"`
	Advisory      []FileRef `json:"advisory,omitempty" scan:"-"`
}

// Log is the size and the RFC 6962 root of the tree over the entries 0 … Count−1. It binds an entry to its whole past,
// so one entry is enough to check a proof against.
type Log struct {
	Count int64  `json:"count"`
	Root  string `json:"root" is:"hash"`
}

// Org is the owner of the repository. The id counts: a name can be given up and taken by somebody else.
type Org struct {
	ID   int64  `json:"id,omitempty"`
	Name string `json:"name" is:"text"`
}

// Repository is where the work was signed off. ID is the forge's; 0 for a local repository. It is compared by ID, which
// survives a renaming.
type Repository struct {
	ID   int64  `json:"id"`
	Name string `json:"name" is:"text"`
}

// Run names the run and its lane.
type Run struct {
	ID      string `json:"id" is:"text"`
	Lane    string `json:"lane" is:"lane"`
	Project string `json:"project,omitempty"`
}

// PullRequest is where the run was proposed. Number is at most 99,999,999. The paths of the branch have digits for that
// many (PullDir).
type PullRequest struct {
	Number  int64  `json:"number"`
	NodeID  string `json:"node_id,omitempty"`
	HeadSHA string `json:"head_sha" is:"git"`
	BaseSHA string `json:"base_sha" is:"git"`
}

// FlightSheet binds the rulebook by slug, version and hash (S54). The version alone would miss an edit under the same
// version.
type FlightSheet struct {
	Slug    string `json:"slug" is:"text"`
	Version string `json:"version" is:"text"`
	SHA256  string `json:"sha256" is:"hash"`
}

// Submission binds the agent's bytes.
type Submission struct {
	Path    string `json:"path" is:"text"`
	SHA256  string `json:"sha256" is:"hash"`
	GitBlob string `json:"git_blob,omitempty" is:"git"`
}

// ObservedBy is the event behind an entry that no human signs. SHA is the merge commit of merged and unreceipted.
type ObservedBy struct {
	Event string `json:"event" is:"text"`
	Actor string `json:"actor,omitempty"`
	At    string `json:"at" is:"time"`
	SHA   string `json:"sha,omitempty" is:"git"`
}

// Approval is the human's decision and the record it was read from. The record is named so that L4 can compare the
// entry with the forge's own.
type Approval struct {
	Decision      Kind     `json:"decision" is:"decision"`
	Approver      Approver `json:"approver"`
	Review        Review   `json:"review"`
	SubjectDigest string   `json:"subject_digest" is:"hash"` // Subject.Digest of what was signed
}

// Approver is who decided, as the forge knew them at that moment. ID identifies the account, because a login can be
// renamed; Permission is kept because the forge only knows the present one.
type Approver struct {
	Login      string `json:"login" is:"text"`
	ID         int64  `json:"id,omitempty"`
	Type       string `json:"type" is:"approver_type"`
	Permission string `json:"permission" is:"permission"`
}

// Review is the review that the decision was read from. Its text is bound by hash and not copied, so that it can be
// deleted at the forge but not replaced (receipts.md, "Where a person's words are kept"). Outside a forge, ID is a
// number made from who said what and when.
type Review struct {
	ID          int64  `json:"id,omitempty"`
	SubmittedAt string `json:"submitted_at" is:"time"`
	CommitSHA   string `json:"commit_sha,omitempty" is:"git"`
	BodySHA256  string `json:"body_sha256" is:"hash"`
}

// Waiver is one rule whose finding the approver accepted, and why.
type Waiver struct {
	RuleID string `json:"rule_id" is:"text"`
	Reason string `json:"reason" is:"text"`
	By     string `json:"by" is:"text"`
	At     string `json:"at" is:"time"`
}

// Workflow is the job that wrote the entry.
type Workflow struct {
	Ref        string `json:"ref" is:"text"`
	SHA        string `json:"sha" is:"git"`
	RunID      int64  `json:"run_id"`
	RunAttempt int64  `json:"run_attempt"`
	Event      string `json:"event" is:"text"`
}

// Engine names what audited. RegistrySHA256 is the hash of the rule registry.
type Engine struct {
	Version        string `json:"version" is:"text"`
	RegistrySHA256 string `json:"registry_sha256" is:"hash"`
}

// Agent is the profile of the agent, self-declared unless Pinned (S42).
type Agent struct {
	Name            string   `json:"name,omitempty"`
	Model           string   `json:"model,omitempty"`
	Provider        string   `json:"provider,omitempty"`
	Harness         string   `json:"harness,omitempty"`
	Runtime         string   `json:"runtime,omitempty"`
	CapabilityTier  string   `json:"capability_tier,omitempty"`
	ParamsB         string   `json:"params_b,omitempty" is:"decimal"`
	ContextTokens   string   `json:"context_tokens,omitempty" is:"decimal"`
	VRAMGB          string   `json:"vram_gb,omitempty" is:"decimal"`
	ConfidencePrior string   `json:"confidence_prior,omitempty" is:"decimal"`
	Temperature     string   `json:"temperature,omitempty" is:"decimal"` // of sampling, 0 to 2, as declared
	CostUSD         string   `json:"cost_usd,omitempty" is:"decimal"`    // of the run, as declared
	Tools           []string `json:"tools,omitempty"`
	Modalities      []string `json:"modalities,omitempty"`
	Pinned          bool     `json:"pinned,omitempty"`
}

// Assignment is what the agent was asked; Text may be left out, its hash not.
type Assignment struct {
	Text   string `json:"text,omitempty"`
	SHA256 string `json:"sha256" is:"hash"`
}

// Evidence binds one piece of evidence and says whose it is (S66). SHA256 is there when Status is held.
type Evidence struct {
	ID         string `json:"id" is:"text"`
	Kind       string `json:"kind" is:"evidence_kind" scan:"-"`
	Path       string `json:"path,omitempty" scan:"-"`
	SHA256     string `json:"sha256,omitempty" is:"hash"`
	Bytes      int64  `json:"bytes"`
	Status     string `json:"status" is:"evidence_status"`
	Provenance string `json:"provenance" is:"provenance"`
	AddedBy    string `json:"added_by,omitempty"` // login, where Provenance is pull_request
}

// Param is a limit in force, as canonical JSON: a text, so that a limit such as 0.80 never becomes a float.
type Param struct {
	Name  string `json:"name" is:"text"`
	Value string `json:"value" is:"text"`
}

// Figure is an input that no evidence holds, with its value. A person confirms it by signing (S70).
type Figure struct {
	Name  string `json:"name" is:"text"`
	Value string `json:"value" is:"text"`
}

// Answer is one checklist item and what the human said (S38).
type Answer struct {
	ID     string `json:"id" is:"text"`
	Answer string `json:"answer" is:"answer"`
	Note   string `json:"note,omitempty"`
	By     string `json:"by,omitempty"`
	At     string `json:"at,omitempty" is:"time"`
}

// FileRef binds a file that is shown and never judged.
type FileRef struct {
	Path   string `json:"path" is:"text"`
	SHA256 string `json:"sha256" is:"hash"`
}

// Cook is a training run that claims a lift between two receipts of this ledger. TunedModel is what the training made;
// receipts from before it was asked for do not have it, and none is signed without it.
type Cook struct {
	Before     string `json:"before" is:"hash"`
	After      string `json:"after" is:"hash"`
	BaseModel  string `json:"base_model" is:"text"`
	TunedModel string `json:"tuned_model,omitempty"`
	Dataset    string `json:"dataset" is:"text"`
	Pairs      int64  `json:"pairs"`
	EvalBefore string `json:"eval_before" is:"decimal"`
	EvalAfter  string `json:"eval_after" is:"decimal"`
	Lift       string `json:"lift" is:"decimal"`
	Runner     string `json:"runner" is:"text"`
	ComputeUSD string `json:"compute_usd,omitempty" is:"decimal"`
}

// Incident is something that went wrong with an agent, and the receipts that show it.
type Incident struct {
	ID       string   `json:"id" is:"text"`
	Kind     string   `json:"kind" is:"incident_kind"`
	Tier     string   `json:"tier" is:"tier"`
	Title    string   `json:"title" is:"text"`
	Detail   string   `json:"detail,omitempty"`
	Lane     string   `json:"lane" is:"lane"`
	Response []string `json:"response" is:"incident_response"`
	Status   string   `json:"status" is:"incident_status"`
	OpenedAt string   `json:"opened_at" is:"time"`
	Receipts []string `json:"receipts" is:"hash"`
}

var receiptDecoder = decoderOf[Receipt]()

// Format returns the bytes of r, or the first reason why r may not be written (Validate). Text that a canonical string
// cannot hold is replaced visibly, and Sanitized says where. The result is parsed once more: what a reader would refuse
// is never written. A receipt that was read and is formatted again has no such text any more, so the pointers that it
// brought are kept; otherwise Format(Parse(b)) would not be b.
func Format(r Receipt) ([]byte, error) {
	replaced, err := canonical.Replaced(r)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	if len(replaced) > 0 {
		r.Sanitized = append(slices.Clone(r.Sanitized), replaced...)
		slices.Sort(r.Sanitized)
		r.Sanitized = slices.Compact(r.Sanitized)
	}
	b, err := canonical.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	if _, err := Parse(b); err != nil {
		return nil, err
	}
	return b, nil
}

// Parse reads the bytes of a receipt: canonical, of a known schema and kind, with no unknown member, and valid in
// itself. On an error the receipt is nil. Format(*r) is b again. A lenient reader would let two texts mean one receipt,
// and two readers disagree on which of them was signed.
func Parse(b []byte) (*Receipt, error) {
	r, err := parseReceipt(b, receiptDecoder().Decode)
	if err == nil {
		err = r.checkFacts(factsOf(r.Findings), func() int { return len(b) })
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// scanReceipt is Parse without the long members that most of the bytes are (the findings and what explains them), whose
// form it checks all the same. Whatever Validate reads of the others is filled in; of the findings the verdict is held
// to what is found in their bytes. A verification reads every entry of the ledger; building findings that nobody looks
// at would be most of its work.
func scanReceipt(b []byte) (*Receipt, error) {
	var findings []byte
	r, err := parseReceipt(b, func(b []byte, lim canonical.Limits, v any) error {
		return receiptDecoder().Scan(b, lim, v, func(key string, value []byte) {
			if key == "findings" {
				findings = value
			}
		})
	})
	if err == nil {
		err = r.checkFacts(factsIn(findings), func() int { return len(b) })
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// parseReceipt reads a receipt and checks all of it but the findings. The decoder is passed in so that both readers
// refuse the same texts.
func parseReceipt(b []byte, decode func([]byte, canonical.Limits, any) error) (*Receipt, error) {
	r := new(Receipt)
	if err := decode(b, canonical.Receipt, r); err != nil {
		if unknown := unknownSchema(b); unknown != nil {
			return nil, unknown
		}
		return nil, fmt.Errorf("receipt: %w", err)
	}
	if err := r.checkMembers(); err != nil {
		return nil, err
	}
	return r, nil
}

// unknownSchema says so if the text is canonical and names a schema of another kind or version. What such a text holds
// is no concern of this version, and its members must not be called unknown.
func unknownSchema(b []byte) error {
	var schema string
	err := canonical.CheckMembers(b, canonical.Receipt, func(key, value []byte) {
		if string(key) == "schema" {
			schema = strings.Trim(string(value), `"`)
		}
	})
	// A text that is not canonical is reported as that: what it says about its schema cannot be trusted.
	if err != nil || schema == "" || slices.Contains(forms["schema"].Enum, schema) {
		return nil
	}
	return refuse(RefuseSchema, "the schema %q is unknown to this version; known are %s", schema,
		strings.Join(forms["schema"].Enum, ", "))
}
