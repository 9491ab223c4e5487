package main

import "testing"

// TestMemoryLimit: every command that may audit is limited; GOMEMLIMIT goes before it, and a chain is not limited.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	unset := func(string) string { return "" }
	for _, name := range []string{
		"audit", "gate", "approve", "demo", "serve", "receipt", "sheet", "run", "summary", "profile",
	} {
		if got := memoryLimitFor([]string{name, "x"}, unset); got != memoryLimit {
			t.Errorf("%s: %d", name, got)
		}
		if got := memoryLimitFor([]string{name, "x"}, func(string) string { return "1GiB" }); got != -1 {
			t.Errorf("%s with GOMEMLIMIT: %d", name, got)
		}
	}
	if got := memoryLimitFor([]string{"ledger", "verify"}, unset); got != -1 {
		t.Errorf("ledger verify, which holds a chain, is limited to %d", got)
	}
}
