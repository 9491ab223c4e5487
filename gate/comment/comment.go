package comment

import (
	"github.com/defendableos/referee/gate/outcome"
	"github.com/defendableos/referee/internal/githubapi"
)

// writer words one outcome. It decides nothing: every text is made of the Outcome alone.
type writer struct{ *outcome.Outcome }

func writerOf(o *outcome.Outcome) writer { return writer{o} }

// WriteAuditCheck makes the check on the head with the audit's verdict: success or failure, never neutral or skipped,
// which would satisfy a required check. It carries at most that many annotations, the heaviest findings first.
func WriteAuditCheck(o *outcome.Outcome, annotations int) githubapi.Check {
	return writerOf(o).writeAuditCheck(annotations)
}

// WriteSignOffCheck makes the check that is required before a merge: success when every run has its receipt, here and
// in every other open pull request with this commit. Else it waits for a person.
func WriteSignOffCheck(o *outcome.Outcome) githubapi.Check { return writerOf(o).writeSignOffCheck() }

// SignOffTitle says in one line what a sign-off still needs, or who signed.
func SignOffTitle(o *outcome.Outcome) string { return writerOf(o).signOffTitle() }

// WriteReview makes the body of the one review that the gate keeps on a pull request, at most 60,000 bytes.
func WriteReview(o *outcome.Outcome) string { return writerOf(o).writeReview() }

// WriteSummary makes the whole job summary, at most 900 KiB.
func WriteSummary(o *outcome.Outcome) string { return writerOf(o).writeSummary() }

// WriteInline makes the comments on the lines of the pull request, the heaviest findings first: only where lines says
// that the diff shows the line, and at most one for a fingerprint.
func WriteInline(o *outcome.Outcome, lines func(path string) map[int]bool) []InlineComment {
	return writerOf(o).writeInline(lines)
}

// WorkflowCommands makes annotations for where checks cannot be written: at most ten errors and ten warnings, and at
// most limit of each.
func WorkflowCommands(o *outcome.Outcome, limit int) []string {
	return writerOf(o).workflowCommands(limit)
}

// StepOutputs are the action's outputs, in the order of its description. report is the path of the report file.
func StepOutputs(o *outcome.Outcome, report string) []Output { return writerOf(o).stepOutputs(report) }
