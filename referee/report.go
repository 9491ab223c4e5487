package referee

import "github.com/defendableos/referee/internal/decimal"

// ReportSchema names the shape of a Report; it changes when a reader of the old shape would misread the new one.
const ReportSchema = "referee.report/v1"

// SemanticsVersion is the version of docs/semantics.md that this engine decides by; every report and receipt carries
// it.
const SemanticsVersion = 2

// Tier is the weight of a rule and the rank of a finding.
type Tier string

// The tiers, heaviest first; risk points are 5, 2 and 1 (S35).
const (
	High Tier = "high"
	Mid  Tier = "mid"
	Low  Tier = "low"
)

// Severity is the word for a whole verdict (S8, S37).
type Severity string

// The severities of a verdict. Honey exists only in an approved record; an audit without a flag is Unsigned.
const (
	Honey    Severity = "honey"
	Jelly    Severity = "jelly"
	Propolis Severity = "propolis"
	Unsigned Severity = "unsigned"
)

// Bucket says whose move a flag is (S41).
type Bucket string

// The buckets, in rank order (S43).
const (
	WorkDefect  Bucket = "work-defect"
	DealFinding Bucket = "deal-finding"
	StackFit    Bucket = "stack-fit"
)

// Stage is one of the five stages, run in this order.
type Stage string

// The stages. StageLane and StageChecklist close the list for lane requirements and questions to a person.
const (
	StageStructure Stage = "structure"
	StageSchema    Stage = "schema"
	StageMath      Stage = "math"
	StageEvidence  Stage = "evidence"
	StagePolicy    Stage = "policy"
	StageLane      Stage = "lane"
	StageChecklist Stage = "checklist"
)

// Status is what became of one rule (S34).
type Status string

// The statuses of a check.
const (
	Pass Status = "pass"
	Flag Status = "flag"
	Open Status = "open" // waits for a human
	Skip Status = "skip" // the engine could not decide; Reason says why
)

// Report is the whole outcome of one audit: schema referee.report/v1. Everything in it is a pure function of the sheet,
// the submission, the evidence and the agent's profile; Digest is the SHA-256 that binds it.
type Report struct {
	Schema string `json:"schema"`
	// where the caller found the submission, as it named it; outside the digest
	Location     string         `json:"location,omitempty"`
	Run          RunRef         `json:"run"`
	Lane         string         `json:"lane"`
	Sheet        SheetRef       `json:"flight_sheet"`
	Semantics    int            `json:"semantics"`
	Engine       EngineRef      `json:"engine"`
	Submission   SubmissionRef  `json:"submission"`
	Params       []ParamValue   `json:"params,omitempty"` // the limits in force that the configuration sets (S71)
	Evidence     []EvidenceRef  `json:"evidence,omitempty"`
	Gold         *Gold          `json:"gold,omitempty"`   // of a sheet that compares with a right answer
	Stated       []StatedFigure `json:"stated,omitempty"` // figures that a person has to confirm (S70)
	Agent        *Agent         `json:"agent,omitempty"`
	Checks       []Check        `json:"checks"`
	Findings     []Finding      `json:"findings"`
	Atoms        []Atom         `json:"atoms,omitempty"`
	Compliance   []FamilyCount  `json:"compliance,omitempty"` // of a sheet whose rules name families
	Errors       []FieldError   `json:"errors,omitempty"`     // of a sheet that declares errors, with gold at hand
	Derived      []Derived      `json:"derived,omitempty"`
	Adjudication Adjudication   `json:"adjudication"`
	Verdict      Verdict        `json:"verdict"`
	Scores       *Scores        `json:"scores,omitempty"`
	Advisory     []FileRef      `json:"advisory,omitempty"`
	Protocol     Protocol       `json:"protocol"`
	Gating       Gating         `json:"gating"`
	Trace        Trace          `json:"trace"`
	// what a reader must know and no rule says: a shadowed sheet, normalised formulas
	Notices []string `json:"notices,omitempty"`
	Digest  string   `json:"digest"`

	// Checklist holds the questions behind the open checks, for papers and the sign-off; it is part of the sheet, not
	// of the digest.
	Checklist []Question `json:"-"`
	// Explained is the proof of every decided gate, for --explain; it is derived and not stored.
	Explained []Explanation `json:"-"`
}

// RunRef names the run a report is about; empty for a bare submission.
type RunRef struct {
	ID      string `json:"id,omitempty"`
	Lane    string `json:"lane,omitempty"`
	Project string `json:"project,omitempty"`
}

// SheetRef binds a sheet by slug, version and the SHA-256 of its canonical bytes (S54). Source is "library" or
// "repository".
type SheetRef struct {
	Slug    string `json:"slug"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// EngineRef names what decided. Version is outside the digest; RegistrySHA256 is the hash of the registry's rows that
// the sheet uses, so that a registry that grows changes no digest (S79).
type EngineRef struct {
	Version        string `json:"version,omitempty"`
	RegistrySHA256 string `json:"registry_sha256"`
}

// SubmissionRef binds the submission's bytes. Path is relative to the run folder, or the base name of a bare file.
type SubmissionRef struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	GitBlob string `json:"git_blob"`
	Line    int    `json:"line,omitempty"` // of a .jsonl file, counted from 1
}

// EvidenceRef binds one evidence item. Status is "held", "missing", "refused" or "not_held".
type EvidenceRef struct {
	ID     string `json:"id"`
	Kind   string `json:"kind,omitempty"`
	Path   string `json:"path,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes"`
	Status string `json:"status"`
}

// Gold says whether the right answer was at hand, and binds it. Without it a sample is adjudicated without an error.
type Gold struct {
	Available bool   `json:"available"`
	SHA256    string `json:"sha256,omitempty"`
}

// FileRef binds a file that is shown but never judged.
type FileRef struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Check is one declared rule and what became of it, in sheet order (S34, S36).
type Check struct {
	ID        string   `json:"id"`
	Label     string   `json:"label,omitempty"`
	Kind      string   `json:"kind"`
	Category  string   `json:"category"`
	Tier      Tier     `json:"tier"`
	Status    Status   `json:"status"`
	Reason    string   `json:"reason,omitempty"`
	BlockedBy string   `json:"blocked_by,omitempty"`
	Vacuous   bool     `json:"vacuous,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Atoms     []string `json:"atoms,omitempty"`
}

// Finding is one thing that is wrong, where, and what would be right.
type Finding struct {
	Code     string   `json:"code"`
	RuleIDs  []string `json:"rule_ids"`
	Tier     Tier     `json:"tier"`
	Severity string   `json:"severity"` // critical | noncritical (S8)
	Bucket   Bucket   `json:"bucket"`
	Stage    Stage    `json:"stage"`
	Pointer  string   `json:"pointer"` // RFC 6901 into the submission; "" is the whole document
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`   // from 1; 0 when the finding has no place
	Column   int      `json:"column,omitempty"` // code points, from 1
	EndLine  int      `json:"end_line,omitempty"`
	EndCol   int      `json:"end_column,omitempty"`
	Message  string   `json:"message"`
	Why      string   `json:"why,omitempty"`
	Spot     *Spot    `json:"spot,omitempty"`
	Fix      *Fix     `json:"fix,omitempty"`
	Atoms    []string `json:"atoms,omitempty"`

	order int // of the rule in the sheet, for ranking
	doc   int // byte offset of the pointer's value, for ranking
}

// Spot holds the numbers of a finding as canonical decimals.
type Spot struct {
	Claimed    string `json:"claimed,omitempty"`
	Recomputed string `json:"recomputed,omitempty"`
	Delta      string `json:"delta,omitempty"`
	// 100·rel, rounded half-even to 4 decimals; "infinite" where the reference is 0
	Percent  string `json:"percent,omitempty"`
	Band     string `json:"band,omitempty"` // pass | low | mid | high
	Gate     string `json:"gate,omitempty"` // the gate as text
	Distance string `json:"distance,omitempty"`
}

// Fix says what would be right. JSONPatch is RFC 6902 as a string, so that hashing never meets the patch's own numbers.
type Fix struct {
	Text      string `json:"text"`
	JSONPatch string `json:"json_patch,omitempty"`
	Moves     []Move `json:"moves,omitempty"`
}

// Move is how far one single input must move, all others kept, for a gate to hold.
type Move struct {
	Input string `json:"input"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Atom is one verified fact. IDs are EVID_001 … in the order of the checks, stable for the same bytes.
type Atom struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // family.rule
	Field    string `json:"field,omitempty"`
	Pass     bool   `json:"pass"`
	Severity string `json:"severity"` // critical | warning | info
	Scope    string `json:"scope"`    // field | sample | cross_field
	Message  string `json:"message"`
	// of a fact that fails, and of every one where all are kept
	Meta *AtomMeta `json:"meta,omitempty"`
}

// AtomMeta says how a fact was verified: by which rule, what was seen, what was allowed, and by which limits.
type AtomMeta struct {
	Rule      string `json:"rule"`
	Field     string `json:"field,omitempty"`
	Observed  string `json:"observed,omitempty"`
	Threshold string `json:"threshold,omitempty"`
	Config    string `json:"config"` // the beginning of the SHA-256 of the sheet's limits (Trace.Limits)
}

// Derived is a named value that the sheet reports and never gates on.
type Derived struct {
	ID     string `json:"id"`
	Value  string `json:"value,omitempty"`
	Unit   string `json:"unit,omitempty"`   // of a sheet that scores a model under test
	Reason string `json:"reason,omitempty"` // why it has no value
}

// Adjudication says whether the sample is eligible and cites the atoms behind the heaviest flags.
type Adjudication struct {
	Eligible    bool          `json:"eligible"`
	Attribution []Attribution `json:"attribution,omitempty"` // at most 5
}

// Attribution is one cause of the verdict and the atoms that prove it.
type Attribution struct {
	Rank   int      `json:"rank"` // from 1, the heaviest first
	RuleID string   `json:"rule_id"`
	Code   string   `json:"code"`
	Tier   Tier     `json:"tier"`
	Reason string   `json:"reason"`
	Atoms  []string `json:"atoms"` // at least one
}

// Verdict sums the checks up (S35–S40). Score is floored to 0.1; ScoreFraction is exact.
type Verdict struct {
	Score              string   `json:"score"`
	ScoreFraction      string   `json:"score_fraction"`
	ScoreDecided       string   `json:"score_decided"`
	Coverage           string   `json:"coverage"`
	WeightedScore      string   `json:"weighted_score"`
	Counts             Counts   `json:"counts"`
	Risk               Risk     `json:"risk"`
	RiskPoints         int      `json:"risk_points"`
	Severity           Severity `json:"severity"`
	SeverityIfApproved Severity `json:"severity_if_approved"`
	ClientReady        bool     `json:"client_ready"`
	RecommendedAction  string   `json:"recommended_action"` // resubmit | review | reject | approve
	UndecidedHigh      []string `json:"undecided_high,omitempty"`
}

// Counts are over declared rules (S35).
type Counts struct {
	Declared  int `json:"declared"`
	Satisfied int `json:"satisfied"`
	Flagged   int `json:"flagged"`
	Skipped   int `json:"skipped"`
	Open      int `json:"open"`
}

// Risk counts findings by tier.
type Risk struct {
	High int `json:"high"`
	Mid  int `json:"mid"`
	Low  int `json:"low"`
}

// Scores is the fixed protocol of sheets that ask for it. When gating failed Gated is true and each value is absent,
// but the total of a sheet that caps it.
type Scores struct {
	Availability           string `json:"availability,omitempty"`
	ConstraintSatisfaction string `json:"constraint_satisfaction,omitempty"`
	ConditionalError       string `json:"conditional_error,omitempty"`
	Total                  string `json:"total,omitempty"`
	Gated                  bool   `json:"gated,omitempty"`
}

// Protocol says how much of the submission could be read at all.
type Protocol struct {
	Parsed            bool   `json:"parsed"`
	FieldCompleteness string `json:"field_completeness"` // fraction "n/d" of required members present
	TypeValidation    bool   `json:"type_validation"`
}

// Gating says whether a non-compensable rule or a critical flag stops the sample, and why.
type Gating struct {
	Passed  bool     `json:"passed"`
	Reasons []string `json:"reasons,omitempty"`
	// highest total score that a closed gate leaves, where the sheet sets one
	Cap string `json:"cap,omitempty"`
}

// Trace is the SHA-256 of values, not of key names, behind the decision: the sheet, its output schema, its limits and
// constants, and the rows of the rule registry that the sheet uses.
type Trace struct {
	Sheet    string `json:"sheet"`
	Schema   string `json:"schema"`
	Limits   string `json:"limits"`
	Registry string `json:"registry"`
	// of a sheet that scores a model under test: what another laboratory needs to come to the same numbers
	Reproducibility *Reproducibility `json:"reproducibility_info,omitempty"`
}

// Reproducibility says which verifiers, thresholds and setting of the model a score rests on.
type Reproducibility struct {
	VerifierCount int        `json:"verifier_count"`
	Verifiers     []Verifier `json:"verifiers"`
	// SHA-256 of the canonical JSON of the parameters in force and of the rules' and constants' values
	ThresholdsSHA256 string `json:"thresholds_sha256"`
	// of the model under test, as its profile declares it; absent where it does not
	Temperature string `json:"temperature,omitempty"`
}

// Verifier is a rule that verifies facts: its id in the sheet, and its kind with the version of that kind.
type Verifier struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

// Question is an open checklist item.
type Question struct{ ID, Text, Why string }

// Explanation is the proof of one rule: each operand with its value and where it came from.
type Explanation struct {
	RuleID, Text, Outcome string
	Operands              []ExplainedOperand
}

// ExplainedOperand is one operand of an Explanation.
type ExplainedOperand struct{ Text, Value, From string }

// reportNumber prints a decimal for a report: canonical, rounded to the 28 digits that comparisons see.
func reportNumber(n *decimal.Num) string {
	if n == nil {
		return ""
	}
	return n.String()
}
