// Package receipt makes a receipt of an audited run and a person's decision, and derives it again:
//
//	run folder → Work (Judge) → Decision → ledger.Receipt (Sign, Draft) → chain (Mint, Local.SignOff)
//	ledger.Receipt → its run folder (FindRun) and sheet (KeptSheet, TreeSheet); package audit derives it again
//
// No forge is needed. Packages referee (what the rules say) and ledger (what is kept) never meet but here and in the
// rooms above: only the gate knows that a receipt holds a verdict. Sign refuses where the rules say no (Blocked,
// *NotSignable); Prior lets later runs rely on receipts that nobody has taken back.
package receipt
