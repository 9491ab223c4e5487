// Package governance holds agents to the limits of the base branch's configuration: who may work here and by which
// profile, what they may spend, how often they may fail badly, and for how long they may be silent. CheckLimits and
// SilentAgents are pure; what the ledger says of agents is fed to a History, entry by entry.
//
// Each Violation carries a draft: an incident's run folder as a patch that `git apply` takes, which passes its own
// sheet (TestDrafts).
package governance
