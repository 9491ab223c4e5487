package ledger

import (
	"bytes"
	"reflect"
	"sync"

	"github.com/defendableos/referee/internal/canonical"
)

// forms are what the strings of the ledger's files must look like, by the name in a field's `is` tag. The JSON Schemas
// under docs/ are generated from the same table (TestSchemas). The lists are closed: a new word is a new schema
// version, because a reader of this one cannot know what the word would allow. In tier, finding_severity, bucket and
// stage, the order of the words is the rank of S43 (compareRank), so they must not be sorted.
var forms = map[string]*canonical.Form{
	"hash":              {Check: isHash, Want: "a SHA-256 (64 lower-case hexadecimal digits)"},
	"git":               {Check: isGit, Want: "a git object name (40 or 64 lower-case hexadecimal digits)"},
	"time":              {Check: isTime, Want: "a time (YYYY-MM-DDTHH:MM:SSZ)"},
	"decimal":           {Check: isDecimal, Want: "a decimal number such as 1.50"},
	"text":              {Check: func(b []byte) bool { return len(b) > 0 }, Want: "a text of at least one character"},
	"receipt_id":        {Check: isReceiptID, Want: "a receipt id (DCR-000012-0a1b2c3d)"},
	"schema":            {Enum: []string{EvalSchema, CookSchema, IncidentSchema}},
	"kind":              {Enum: kindWords(Kinds())},
	"decision":          {Enum: kindWords([]Kind{Approved, Amended, Revoked, Rejected})},
	"lane":              {Enum: []string{"agent", "dataset", "compute", "cook", "incident"}},
	"approver_type":     {Enum: []string{"User"}}, // reviews by bots do not count
	"permission":        {Enum: []string{"admin", "maintain", "write", "local"}},
	"evidence_kind":     {Enum: []string{"file", "note", "url", "observation", "tool_output", "model_output", "log"}},
	"evidence_status":   {Enum: []string{"held", "missing", "refused", "not_held"}},
	"provenance":        {Enum: []string{"base", "pull_request", "local"}},
	"answer":            {Enum: []string{"satisfied", "flag", "open"}},
	"tier":              {Enum: []string{"high", "mid", "low"}},
	"severity":          {Enum: []string{"honey", "jelly", "propolis", "unsigned"}},
	"finding_severity":  {Enum: []string{"critical", "noncritical"}},
	"bucket":            {Enum: []string{"work-defect", "deal-finding", "stack-fit"}},
	"stage":             {Enum: []string{"structure", "schema", "math", "evidence", "policy", "lane", "checklist"}},
	"action":            {Enum: []string{"resubmit", "review", "reject", "approve"}},
	"incident_kind":     {Enum: []string{"rogue", "dark", "policy_violation", "recurring_flag", "spend_breach"}},
	"incident_response": {Enum: []string{"lane_locked", "human_approval_required", "repair_task_recommended"}},
	"incident_status":   {Enum: []string{"open", "resolved"}},
	"ledger_format":     {Enum: []string{InfoFormat}},
	"proof_format":      {Enum: []string{InclusionFormat, ConsistencyFormat}},
}

// decoderOf returns the decoder of one of the ledger's files, made when the first is read: most commands read no
// ledger, and starting is most of what a short command costs (performance.md).
func decoderOf[T any]() func() *canonical.Decoder {
	return sync.OnceValue(func() *canonical.Decoder { return canonical.NewDecoder(reflect.TypeFor[T](), forms) })
}

// patterns are the forms as regular expressions, for the schemas; the checks below are the same in code, faster.
// TestFormsArePatterns holds the two to each other.
var patterns = map[string]string{
	"hash":       `^[0-9a-f]{64}$`,
	"git":        `^([0-9a-f]{40}|[0-9a-f]{64})$`,
	"time":       `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`,
	"decimal":    `^-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?$`,
	"receipt_id": `^DCR-[0-9]{6,9}-[0-9a-f]{8}$`,
}

// Kinds lists every kind, in the order of the specification.
func Kinds() []Kind {
	return []Kind{Approved, Carried, Amended, Revoked, Rejected, Superseded, Withdrawn, Merged, Unreceipted}
}

func kindWords(kinds []Kind) (all []string) {
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return all
}

// isHash accepts lower case only: one hash must have one spelling, or a name could differ from an equal name.
func isHash(b []byte) bool { return len(b) == 64 && isHex(b) }

// isGit accepts ids of SHA-1 and of SHA-256 repositories. Only the ledger's own branch has to be SHA-1 (package
// gitobject).
func isGit(b []byte) bool { return (len(b) == 40 || len(b) == 64) && isHex(b) }

func isHex(b []byte) bool {
	for _, c := range b {
		if !hexDigit[c] {
			return false
		}
	}
	return true
}

// hexDigit marks the lower-case hexadecimal digits; a receipt has a thousand of them. A table is faster than four
// comparisons.
var hexDigit = func() (t [256]bool) {
	for _, c := range "0123456789abcdef" {
		t[c] = true
	}
	return t
}()

func isTime(b []byte) bool { return len(b) == 20 && canonical.CheckTime(string(b)) == nil }

// isReceiptID accepts six to nine digits: fmt pads to six, and MaxSeq has nine.
func isReceiptID(b []byte) bool {
	rest, ok := bytes.CutPrefix(b, []byte("DCR-"))
	number, id, two := bytes.Cut(rest, []byte("-"))
	return ok && two && len(number) >= 6 && len(number) <= 9 && leadingDigits(number) == len(number) && len(id) == 8 &&
		isHex(id)
}

// isDecimal reads what the pattern says: an integer of at most 40 digits without leading zeros, a fraction, an exponent
// of at most three digits. Forty is the precision of S13a; the short exponent keeps exactRational from making a number
// of a million digits out of ten characters.
func isDecimal(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	n := leadingDigits(b)
	// A leading zero would give one value two spellings, and the hash covers the spelling.
	if n == 0 || n > 40 || n > 1 && b[0] == '0' {
		return false
	}
	if b = b[n:]; len(b) > 0 && b[0] == '.' {
		if n = leadingDigits(b[1:]); n == 0 || n > 40 {
			return false
		}
		b = b[1+n:]
	}
	if len(b) == 0 {
		return true
	}
	if b[0] != 'e' {
		return false
	}
	if b = b[1:]; len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		b = b[1:]
	}
	n = leadingDigits(b)
	return n >= 1 && n <= 3 && n == len(b)
}

// leadingDigits is how many decimal digits b begins with.
func leadingDigits(b []byte) (n int) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}
