package ledger_test

//go:generate go test . -run ^(TestSchemas|TestReceiptsDocument)$ -update

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/golden"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// TestSchemas holds docs/receipt-*.schema.json to the types (go test ./ledger -run TestSchemas -update writes them),
// and minted receipts to the schemas.
func TestSchemas(t *testing.T) {
	for lane, c := range map[string]struct {
		name string
		good []ledger.Receipt
	}{
		"eval": {ledger.EvalSchema, []ledger.Receipt{storetest.Sample(0), storetest.Local(storetest.Sample(1)),
			largeReceipt(3),
			storetest.Observed(storetest.Sample(0), ledger.Merged, hashA), storetest.Observed(storetest.Sample(0),
				ledger.Superseded, hashA)}},
		"cook":     {ledger.CookSchema, []ledger.Receipt{cookReceipt()}},
		"incident": {ledger.IncidentSchema, []ledger.Receipt{incidentReceipt()}},
	} {
		path := filepath.Join("..", "docs", "receipt-"+lane+".schema.json")
		want := ledger.SchemaFor(c.name)
		golden.Compare(t, path, want)
		schema := jsonschema.MustCompileString(path, string(want))
		for i, r := range c.good {
			b, err := ledger.Mint(ledger.NewHead(), r)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(decodeExact(t, b)); err != nil {
				t.Errorf("%s, %d: %v", lane, i, err)
			}
			for _, edit := range [][2]string{{`"seq":0`, `"sequence":0`}, {`"kind":"`, `"kind":"x`},
				{`"path":"submission`, `"more":1,"path":"submission`},
				{`receipt/v1`, `receipt/v2`}, {`"minted_at":"2`, `"minted_at":"02`}, {`"approval":`, `"approvals":`},
				{`"observed_by":`, `"observed":`}} {
				bad := strings.Replace(string(b), edit[0], edit[1], 1)
				if bad != string(b) && schema.Validate(decodeExact(t, []byte(bad))) == nil {
					t.Errorf("%s, %d: %s for %s is valid", lane, i, edit[1], edit[0])
				}
			}
		}
	}
}

func decodeExact(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestForms holds the code of each form to the pattern that the schemas give.
func TestForms(t *testing.T) {
	texts := []string{"", "0", "-0", "1.50", "01", ".5", "5.", "1e5", "1E5", "1e-300", "1e1000", "-1.2", "--1", "1_000",
		"NaN", "Infinity", "0x1", " 1", "1\n",
		strings.Repeat("9", 40), strings.Repeat("9", 41), "0." + strings.Repeat("1", 40),
		"0." + strings.Repeat("1", 41),
		hashA, hashA[:40], hashA[:41], hashA[:63], hashA + "a", strings.ToUpper(hashA), strings.Repeat("g", 64),
		hashA + "\n",
		"2026-11-02T09:30:00Z", "2026-11-02T09:30:00.5Z", "2026-11-02t09:30:00z", "2026-11-02 09:30:00Z",
		"2026-11-02T09:30:00+00:00", "2026-11-02T09:30:00Z\n",
		"DCR-000001-0a1b2c3d", "DCR-999999999-0a1b2c3d", "DCR-00001-0a1b2c3d", "DCR-000001-0A1B2C3D",
		"DCR-000001-0a1b2c3", "xDCR-000001-0a1b2c3d"}
	for name, pattern := range ledger.Patterns {
		accepted := 0
		for _, text := range texts {
			want := regexp.MustCompile(pattern).MatchString(text)
			if want {
				accepted++
			}
			if got := ledger.IsForm(name, text); got != want {
				t.Errorf("%s %q: %t, the pattern says %t", name, text, got, want)
			}
		}
		if accepted == 0 {
			t.Errorf("no text has the form %s", name)
		}
	}
	if ledger.IsForm("time", "2026-02-30T09:30:00Z") { // what a pattern cannot say
		t.Error("a day that does not exist is a time")
	}
}
