// Package audit says what a pull request changes of what the gate judges, and audits it: MakePlan compares two trees
// and lists the run folders that differ, and Examine audits one of them by the sheet that the base branch's
// configuration lets judge its path.
//
// Whatever cannot be audited is a Refusal or an AuditedRun without Work, which fails the audit check: no file under a
// runs folder passes because nobody could read it (TestExamineRefusals, TestPlanStrays). Trees are read as git objects,
// with links seen as links (WithLinks).
//
// Rerun derives a receipt again from the bytes that it binds, and says what the receipt words otherwise. What the audit
// took from outside the run folder (the agent's profile, the limits, whose the evidence is) is read from the repository
// again where its commits are at hand (Ground), and else stays the receipt's word, which is said
// (TestReplayHoldsWholeReceipt).
package audit
