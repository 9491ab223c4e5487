package referee

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// RegistrySHA256 is the hash of the whole rule registry: every kind, key, parameter, default tier and code, and the
// semantics version. It says which engine this is; a report carries the hash of the rows that its sheet uses (S79).
func RegistrySHA256() string { return registryHash() }

var registryHash = sync.OnceValue(func() string {
	return registryRows(func(string) bool { return true })
})

// registrySHA256 is the hash of the registry's rows that the sheet uses: a changed rule is seen by the sheets that it
// judges, and a new one by none (S79).
func (s *Sheet) registrySHA256() string {
	used := map[string]bool{}
	for _, r := range s.Rules {
		switch {
		case r.math != nil:
			used["math.<formula_id>"] = true
		case r.Kind == "implicit":
			used[r.ID] = true
		case r.Stage == StageLane:
			used["lane.<requirement>"] = true
		case r.Stage == StageChecklist:
			used["checklist.<key>"] = true
		}
		used[r.Kind] = true
	}
	return registryRows(func(name string) bool { return used[name] })
}

// registryRows hashes the rows that are used, and what every verdict rests on.
func registryRows(used func(name string) bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "referee.registry/v2\nsemantics %d\n", SemanticsVersion)
	for _, k := range slices.Concat(implicitRules, ruleKinds) {
		if used(k.Name) {
			fmt.Fprintf(&b, "kind %s %s %s %s\n", k.Name, k.Stage, k.Tier, strings.Join(k.Codes, ","))
			writeFields(&b, k.Params)
		}
	}
	for _, k := range ruleKeys {
		if used(k.Name) {
			fmt.Fprintf(&b, "key %s %s %s %t %s\n", k.Name, k.Stage, k.Tier, k.Baseline, strings.Join(k.Codes, ","))
			writeFields(&b, k.Params)
		}
	}
	fmt.Fprintf(&b, "bands %s %s %s\n", defaultBands.tolerance, defaultBands.mid, defaultBands.high)
	return hashText(b.String())
}

func writeFields(b *strings.Builder, fields []field) {
	for _, f := range fields {
		fmt.Fprintf(b, " param %s %s %t %s\n", f.Name, f.Type, f.Required, strings.Join(f.Enum, ","))
	}
}
