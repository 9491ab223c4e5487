package main

import "runtime/debug"

// memoryLimit is where the heap is collected as often as it takes: what an audit holds is bounded (S81), and letting it grow twofold or threefold
// would double that. It holds wherever the bytes of a pull request are audited or a sheet of one is tried, so every command has it but those of the
// ledger, which hold a whole chain and read no run.
const memoryLimit = 280 << 20

// boundMemory sets the limit, unless GOMEMLIMIT does, and returns what takes it back.
func (a *app) boundMemory(args []string) (undo func()) {
	if a.getenv("GOMEMLIMIT") != "" || len(args) > 0 && args[0] == "ledger" {
		return func() {}
	}
	was := debug.SetMemoryLimit(memoryLimit)
	return func() { debug.SetMemoryLimit(was) }
}
