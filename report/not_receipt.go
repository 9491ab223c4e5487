package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/ledger"
)

// paperForm is what tells a kind of JSON file from a receipt. The page is built with the same list.
type paperForm struct {
	Is     string   `json:"is"`
	Schema string   `json:"schema,omitempty"` // what its schema, or its format, begins with
	Keys   []string `json:"keys,omitempty"`   // members that it has all of
}

// paperForms are the files that lie beside receipts, and are taken for them. The first that fits is the name.
var paperForms = []paperForm{
	{Is: "a run manifest", Schema: "referee.run/"},
	{Is: "the report of an audit", Schema: "referee.report/"},
	{Is: "a flight sheet", Schema: "referee.flight-sheet/"},
	{Is: "the ledger's LEDGER.json", Schema: "defendablecloud.ledger/"},
	{Is: "a proof that a ledger holds a receipt", Schema: "defendablecloud.ledger-inclusion/"},
	{Is: "a proof that a ledger has grown", Schema: "defendablecloud.ledger-consistency/"},
	{Is: "the ledger's HEAD.json", Keys: []string{"count", "edge", "root", "tip"}},
	{Is: "the ledger's LEDGER.json", Keys: []string{"format", "genesis", "repository"}},
	{Is: "a share server's answer, whose member \"payload\" is the receipt",
		Keys: []string{"payload", "receipt_sha256"}},
	{Is: "a flight sheet", Keys: []string{"slug", "audit_checks"}},
	{Is: "a SARIF log", Keys: []string{"runs", "version"}},
	{Is: "an agent's submission", Keys: []string{"assignment_id"}},
	{Is: "an agent's submission", Keys: []string{"agent_summary"}},
	{Is: "an agent's submission", Keys: []string{"claims", "inputs"}},
	{Is: "a run manifest", Keys: []string{"flight_sheet", "submission", "lane"}},
}

// receiptSchemas are the schemas that this version reads, and receiptPrefix and receiptMark what those of any version
// have.
var receiptSchemas = []string{ledger.EvalSchema, ledger.CookSchema, ledger.IncidentSchema}

const (
	receiptPrefix = "defendablecloud."
	receiptMark   = "-receipt/"
)

// NotReceipt says what a JSON file is that is no receipt of this version, to be put behind its name and "is": "a run
// manifest, not a receipt". It is empty for what says that it is a receipt of this version, whatever is wrong with it,
// and for what is not JSON. It decides nothing: ledger.Parse does.
func NotReceipt(b []byte) string {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var value any
	if json.Unmarshal(b, &value) != nil && json.Unmarshal(line, &value) != nil { // reports come as lines
		return ""
	}
	members, ok := value.(map[string]any)
	switch {
	case !ok:
		return "JSON, but not an object: not a receipt"
	case len(members) == 0:
		return "an empty object, not a receipt"
	}
	schema := wordOf(members, "schema", "format")
	if slices.Contains(receiptSchemas, schema) {
		return ""
	}
	if strings.HasPrefix(schema, receiptPrefix) && strings.Contains(schema, receiptMark) {
		return fmt.Sprintf("an entry of the schema %q, which this version does not know; it knows %s",
			Clean(schema), strings.Join(receiptSchemas, ", "))
	}
	for _, form := range paperForms {
		if form.fitsMembers(members, schema) {
			return form.Is + ", not a receipt"
		}
	}
	if schema == "" {
		return "a JSON object without a schema, not a receipt"
	}
	return fmt.Sprintf("a file of the schema %q, not a receipt", Clean(schema))
}

// fitsMembers reports whether an object is of the form.
func (f paperForm) fitsMembers(members map[string]any, schema string) bool {
	if f.Schema != "" {
		return strings.HasPrefix(schema, f.Schema)
	}
	return !slices.ContainsFunc(f.Keys, func(key string) bool { _, has := members[key]; return !has })
}

// wordOf is the first of the members that is a text.
func wordOf(members map[string]any, keys ...string) string {
	for _, key := range keys {
		if s, ok := members[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}
