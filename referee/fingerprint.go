package referee

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// RegistrySHA256 is the hash of the rule registry: every kind, key, parameter, default tier and code, and the semantics version. A receipt
// carries it, so that a changed rule is seen even where the engine's version did not change.
func RegistrySHA256() string { return registryHash() }

var registryHash = sync.OnceValue(func() string {
	var b strings.Builder
	fmt.Fprintf(&b, "referee.registry/v1\nsemantics %d\n", SemanticsVersion)
	for _, k := range slices.Concat(implicitRules, ruleKinds) {
		fmt.Fprintf(&b, "kind %s %s %s %s\n", k.Name, k.Stage, k.Tier, strings.Join(k.Codes, ","))
		writeFields(&b, k.Params)
	}
	for _, k := range ruleKeys {
		fmt.Fprintf(&b, "key %s %s %s %t %s\n", k.Name, k.Stage, k.Tier, k.Baseline, strings.Join(k.Codes, ","))
		writeFields(&b, k.Params)
	}
	fmt.Fprintf(&b, "bands %s %s %s\n", defaultBands.tolerance, defaultBands.mid, defaultBands.high)
	return hashText(b.String())
})

func writeFields(b *strings.Builder, fields []field) {
	for _, f := range fields {
		fmt.Fprintf(b, " param %s %s %t %s\n", f.Name, f.Type, f.Required, strings.Join(f.Enum, ","))
	}
}
