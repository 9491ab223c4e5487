package audit

import (
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/config"
)

// TestSetParams: a required limit that is missing refuses the audit with the line to add; a limit that no sheet of the
// rule has is refused; one of another sheet of the rule is not this one's.
func TestSetParams(t *testing.T) {
	library := referee.NewLibrary(flightsheets.FS(), nil, "")
	find := func(slug string) *referee.Sheet {
		sheet, err := library.Find(slug)
		if err != nil {
			t.Fatal(err)
		}
		return sheet
	}
	serving, agency := find("compute-llm-serving"), find("cre-multifamily-agency")
	both := config.RunRule{
		Path:   "runs/**/run.json",
		Sheets: []string{"compute-llm-serving", "cre-multifamily-agency"},
		Params: config.Params{"slo_ttft_ms": "300", "slo_tpot_ms": "25"},
	}
	set, err := setParams(serving, both, library)
	if err != nil || set.Ref() != serving.Ref() {
		t.Fatalf("%v, %v", set, err)
	}
	if p, err := set.Param("slo_ttft_ms"); err != nil || p.Value.Text != "300" {
		t.Errorf("slo_ttft_ms is %+v, %v", p, err)
	}
	if same, err := setParams(agency, both, library); err != nil || same != agency {
		t.Errorf("a sheet without these limits: %v", err)
	}
	for words, params := range map[string]config.Params{
		"params: {slo_tpot_ms: 300}":      {"slo_ttft_ms": "300"},
		`did you mean "slo_ttft_ms"?`:     {"slo_tfft_ms": "300", "slo_tpot_ms": "25"},
		"must be at least 0":              {"slo_ttft_ms": "-1", "slo_tpot_ms": "25"},
		`parameter "slo_ttft_ms" of comp`: {"slo_ttft_ms": `"fast"`, "slo_tpot_ms": "25"},
	} {
		rule := config.RunRule{Path: "runs/**/run.json", Sheets: []string{"compute-llm-serving"}, Params: params}
		if _, err := setParams(serving, rule, library); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: %v, want %q", params, err, words)
		}
	}
}
