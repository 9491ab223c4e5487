// Package signoff decides whose review of a pull request counts as a sign-off, and says why another does not (gate.md,
// "Who may sign off"). It is pure: a Record of everything that was read from the forge goes in, a judgement of each
// review comes out, and the same record gives the same judgements.
//
//	eligibility.go      whether a review counts: state, permission, team, head, edits, commands (JudgeReviews)
//	hands.go            whose own work it is, and who cannot be known to have no part in it (UnknownHands)
//	earlier.go          which answers of an earlier review of the same person still hold
//	commands.go         what a review says to the gate, one command a line (ParseCommands)
//	markdown_*.go       which lines a reader of the rendered review sees as plain lines; only those can be commands
//	answers.go          which question or finding of which run a command is about
//	decision.go         what the counted reviews decide of a run
//
// Where something cannot be told, the review does not count.
package signoff
