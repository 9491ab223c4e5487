// Package forge holds flight sheets to their own words (semantics S53, formats.md "sheet test, lint, new, diff, fmt").
//
// A sheet says what is right; its examples say what that looks like, and its trips what each rule catches. The forge
// runs them (Test), looks for rules that cannot do what they say (Lint), measures what the examples reach and what a
// changed rule would get away with (Coverage, Mutate), says in words what a new version changes (Diff), writes sheets
// in one layout (Format), begins new ones (New) and prints the whole library as one page (Index).
//
// A worked submission is a tree that is changed and written again: strict JSON in, strict JSON out, members in their
// order and numbers with their digits. Nothing here decides a verdict: every status comes from an audit by the package
// referee. Like it, the forge is pure: no clock, no network, no random numbers; where it searches, it searches in a
// fixed order.
package forge
