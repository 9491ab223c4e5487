// Package outcome is what one gate run over a pull request comes to: what was audited, who has signed, what is still
// required, and whether the two checks pass. It is pure, and decides by what was read; package comment words it, and
// package gate posts it.
//
// Green is AuditPasses and Signed, and nothing else: a run that could not be audited, a broken rulebook, an agent
// beyond its limits or another open pull request with the same head that is not signed off makes both false
// (TestExamineRefusals).
package outcome
