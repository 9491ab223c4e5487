// Package document reads the text of an agreement and lists what is wrong with it in itself: no law, no model, and
// nothing that the text does not show.
//
//	text → Read → Document → References, Numbering, Placeholders, … → []Problem
//
// What is looked at:
//
//   - Headings in every common style: "1. Loan", "1.1 Loan", "Section 1", "§ 1.01", "Article IV", "Exhibit A". Lines
//     of a
//     table of contents are none. An attachment behind the first numbered heading begins a numbering of its own.
//   - References to sections, clauses, articles and paragraphs, alone or in lists and ranges, down to "(b)". A
//     reference
//     into another document ("Section 9 of the Bankruptcy Code", "17 U.S.C. § 107") is not this text's.
//   - Gaps and repetitions in the numbering of every level.
//   - Placeholders that nobody filled in. A line to sign on is none.
//   - Numbers in words beside other digits, and two dates, periods, percentages or amounts for the same thing. What is
//     the same thing is read from the words before the value ("late fee of"), so a second, different fee is none; steps
//     ("5 % in year 1, 6 % thereafter") and bounds ("at least", "up to") are left alone.
//   - Names of parties that are nearly, but not quite, a party's name; parties without a signature block.
//   - Defined terms that nothing uses, and well-known terms that nothing defines.
//
// What is not seen: a value whose name is one common word, or ends in "sum" ("the contract sum"); two values in a
// sentence with bounds, steps or conditions; a reference to "(ii)(B)" below the first letter; references above 99 in a
// text without such sections, which are a statute's; items in a text whose sections count anew in every article; terms
// that are not among the well-known ones; a name with two wrong words.
//
// Precision comes before recall: a false flag on a sound agreement costs the reader's trust in all others, so whatever
// is ambiguous is passed over. Everything is linear in the text: RE2 patterns, and maps between them.
package document
