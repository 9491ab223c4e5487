package ledger

// Finding is one thing that is wrong, where, and what would be right: the report's finding (S43, S67). Its fields are
// the report's own, so a receipt can be read without the engine that made it. Tier, severity, bucket and stage are what
// it is ranked by.
type Finding struct {
	Code      string   `json:"code" is:"text"`
	RuleIDs   []string `json:"rule_ids" is:"text"`
	Tier      string   `json:"tier" is:"tier"`
	Severity  string   `json:"severity" is:"finding_severity"`
	Bucket    string   `json:"bucket" is:"bucket"`
	Stage     string   `json:"stage" is:"stage"`
	Pointer   string   `json:"pointer"` // RFC 6901 into the submission; "" is all of it
	File      string   `json:"file,omitempty"`
	Line      int      `json:"line,omitempty"`
	Column    int      `json:"column,omitempty"`
	EndLine   int      `json:"end_line,omitempty"`
	EndColumn int      `json:"end_column,omitempty"`
	Message   string   `json:"message" is:"text"`
	Why       string   `json:"why,omitempty"`
	Spot      *Spot    `json:"spot,omitempty"`
	Fix       *Fix     `json:"fix,omitempty"`
	Atoms     []string `json:"atoms,omitempty"`
}

// Spot holds the numbers of a finding, as the report prints them. They are texts, so that no reader rounds what
// decided.
type Spot struct {
	Claimed    string `json:"claimed,omitempty"`
	Recomputed string `json:"recomputed,omitempty"`
	Delta      string `json:"delta,omitempty"`
	Percent    string `json:"percent,omitempty"` // "infinite" where the reference is 0
	Band       string `json:"band,omitempty"`
	Gate       string `json:"gate,omitempty"`
	Distance   string `json:"distance,omitempty"`
}

// Fix says what would be right. JSONPatch is a patch (RFC 6902) as a string. It is a string because user text must not
// become keys of a receipt.
type Fix struct {
	Text      string `json:"text" is:"text"`
	JSONPatch string `json:"json_patch,omitempty"`
	Moves     []Move `json:"moves,omitempty"`
}

// Move is how far one input must move, all others kept, for a gate to hold.
type Move struct {
	Input string `json:"input" is:"text"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Verdict sums the audit up, with the human's answers counted in (S35–S40). Most of it follows
// from counts and findings, and is held to them (checkFacts).
type Verdict struct {
	Score              string `json:"score" is:"decimal"`
	ScoreFraction      string `json:"score_fraction,omitempty"`
	ScoreDecided       string `json:"score_decided,omitempty"`
	Coverage           string `json:"coverage,omitempty"`
	WeightedScore      string `json:"weighted_score,omitempty"`
	Counts             Counts `json:"counts"`
	Risk               Risk   `json:"risk"`
	RiskPoints         int    `json:"risk_points,omitempty"`
	Severity           string `json:"severity" is:"severity"`
	SeverityIfApproved string `json:"severity_if_approved,omitempty" is:"severity"`
	ClientReady        bool   `json:"client_ready"`
	RecommendedAction  string `json:"recommended_action" is:"action"`
	// high rules that the engine could not decide
	UndecidedHigh []string `json:"undecided_high,omitempty" is:"text"`
}

// Counts are over the declared rules. A skipped or open rule is declared and not satisfied, so leaving things out never
// helps (S35).
type Counts struct {
	Declared  int `json:"declared"`
	Satisfied int `json:"satisfied"`
	Flagged   int `json:"flagged"`
	Skipped   int `json:"skipped"`
	Open      int `json:"open"`
}

// Risk counts the findings by tier.
type Risk struct {
	High int `json:"high"`
	Mid  int `json:"mid"`
	Low  int `json:"low"`
}
