package referee

import "testing"

// TestRegistryRows: a row is all that a check needs. One without a loader, a runner or its words is refused here, not
// by a panic at load.
func TestRegistryRows(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range ruleKinds {
		if k.compile == nil || k.Title == "" || k.Doc == "" || k.Stage == "" || !k.Tier.Known() || k.Since == "" ||
			seen[k.Name] {
			t.Errorf("check kind %q: a row needs compile, Title, Doc, Stage, Tier, Since, and a name of its own",
				k.Name)
		}
		seen[k.Name] = true
	}
	for _, k := range ruleKeys {
		if k.run == nil || k.Title == "" || k.Why == "" || k.Remedy == "" || k.Stage == "" || !k.Tier.Known() ||
			len(k.Codes) == 0 || seen[k.Name] {
			t.Errorf("registry key %q: a row needs run, Title, Why, Remedy, Stage, Tier, Codes, and a name of its own",
				k.Name)
		}
		seen[k.Name] = true
	}
}
