package main

// memoryLimit is where the heap is collected as often as it takes: what an audit holds is bounded (S81), and letting it
// grow twofold or threefold would double that.
const memoryLimit = 280 << 20

// memoryLimitFor is the limit of a process with these arguments, in bytes, or -1 for Go's own. It holds wherever the
// bytes of a pull request are audited or a sheet of one is tried, so every command has it but those of the ledger,
// which hold a whole chain and read no run. GOMEMLIMIT, which Go reads itself, goes before it.
func memoryLimitFor(args []string, getenv func(string) string) int64 {
	if getenv("GOMEMLIMIT") != "" || len(args) > 0 && args[0] == "ledger" {
		return -1
	}
	return memoryLimit
}
