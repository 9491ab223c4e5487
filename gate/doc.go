// Package gate is the story of a piece of work from its audit to its receipt. It alone knows that a receipt holds a verdict: packages
// referee (what the rules say) and ledger (what is kept) never meet.
//
//	run folder → referee.Report → a person's decision → ledger.Receipt → chain
//
// Approve refuses where the rules say no (Blocked), Draft makes the receipt's content, Prior lets later runs read receipts, Replay
// derives a receipt's findings again from git objects.
package gate
