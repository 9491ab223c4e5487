// Package referee is the rulebook engine: it decides by a declared flight sheet whether an agent's work holds, and says
// why, where and what would be right. docs/semantics.md is normative; comments cite its clauses (S14),
// testdata/conformance holds a vector for each.
//
//	bytes → Sheet (LoadSheet), Run (ParseRun, OpenRun) → Case → Audit → Report → Signed (Report.Sign)
//
// Audit is pure and total: no clock, map order, goroutine, network or environment reaches a result, and the same bytes
// give the same report with the same digest on every architecture (TestGoldenDigest). What cannot be read or decided is
// a flag or a skip with its reason, never a pass.
//
// A sheet is loaded whole or refused whole. One rule family is one file: rule_structure.go and rule_shape.go
// (structure, schema, required, match), rule_math.go with substitution.go and bands.go (calculations),
// rule_recompute.go (recompute, bind), rule_range.go (range, jump, agree), rule_evidence.go and rule_held.go
// (evidence), rule_policy.go and rule_rows.go (gates), rule_lane.go (the stack). The registry in registry.go is what
// they are called, and sheet_format.go what a sheet may say.
//
// Two languages stand below it: package formula is what an agent may write in a calculation, package policy what a
// sheet may write in a rule. Package evidence reads what a run cites. None of them knows this package.
package referee
