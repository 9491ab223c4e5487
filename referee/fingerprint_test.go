package referee

import (
	"slices"
	"testing"
)

// TestRegistryThatGrows: a new row changes the hash of the registry, and of no sheet that does not use it; a changed
// row changes those that do (S79).
func TestRegistryThatGrows(t *testing.T) {
	sheet := mustSheet(t, ratioSheet)
	listing := mustSheet(t, `"required_inputs":[{"name":"a"}],"eval_spec":{"deterministic_checks":["numbers_present"],`+
		`"rules":[{"id":"r","expr":"a > 1"}]}`)
	before, whole, other := sheet.registrySHA256(), registryRows(func(string) bool { return true }),
		listing.registrySHA256()
	if sheet.trace.Registry != before ||
		auditText(sheet, ratioSubmission("130", "100", "noi / debt", "1.3")).Engine.RegistrySHA256 != before {
		t.Error("the report does not carry the hash of the sheet's rows")
	}
	if before == whole || before == other {
		t.Error("two sheets that use other rows have one hash")
	}
	was := ruleKeys
	defer func() { ruleKeys = was }()
	ruleKeys = append(slices.Clone(was), RuleKey{Name: "brand_new", Stage: StageEvidence, Tier: Low,
		Codes: []string{"evidence.new"}})
	if sheet.registrySHA256() != before || listing.registrySHA256() != other {
		t.Error("a row that no sheet uses changes a sheet's hash")
	}
	if registryRows(func(string) bool { return true }) == whole {
		t.Error("a new row does not change the registry's hash")
	}
	i := slices.IndexFunc(ruleKeys, func(k RuleKey) bool { return k.Name == "numbers_present" })
	ruleKeys[i].Tier = High
	if sheet.registrySHA256() != before || listing.registrySHA256() == other {
		t.Error("a changed row is seen by the sheets that use it, and by no other")
	}
}
