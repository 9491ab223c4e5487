package main

import (
	"runtime/debug"
	"testing"
)

// TestMemoryLimit: every command that may audit has the limit while it runs, and leaves the process as it was; GOMEMLIMIT goes before it.
func TestMemoryLimit(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	for _, name := range []string{"audit", "gate", "approve", "demo", "serve", "receipt", "sheet", "run", "summary", "profile"} {
		for _, env := range []string{"", "1GiB"} {
			a := &app{getenv: func(string) string { return env }}
			undo := a.boundMemory([]string{name, "x"})
			if got := debug.SetMemoryLimit(-1); (got == memoryLimit) != (env == "") {
				t.Errorf("%s with GOMEMLIMIT=%q: %d", name, env, got)
			}
			if undo(); debug.SetMemoryLimit(-1) != was {
				t.Errorf("%s: the limit stays", name)
			}
		}
	}
	a := &app{getenv: func(string) string { return "" }}
	a.boundMemory([]string{"ledger", "verify"})
	if got := debug.SetMemoryLimit(-1); got != was {
		t.Errorf("ledger verify, which holds a chain, is limited to %d", got)
	}
}
