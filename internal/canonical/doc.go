// Package canonical writes and checks the one byte form that a receipt and a report digest are hashed in.
//
// Sorted keys without white space are four different formats: Python, jq, JavaScript and Go disagree on astral keys,
// floats, -0, integers above 2^53, U+007F, U+2028, lone surrogates and duplicate keys. The profile leaves out whatever
// they disagree on, so that all of them, and RFC 8785, print the same bytes for the same value:
//
//  1. The text is one JSON object: no byte order mark, no white space outside strings, nothing after the last brace.
//  2. Keys match [a-z][a-z0-9_]*, stand in strictly ascending byte order and are never escaped. Text of a user never
//     becomes a key.
//  3. Numbers match 0|-?[1-9][0-9]* and lie within ±(2^53−1). Anything else is a decimal string.
//  4. Strings are valid UTF-8 with exactly RFC 8785's escapes (\" \\ \b \t \n \f \r, \u00xx in lower case for the other
//     controls, nothing else) and hold none of U+007F, U+2028, U+2029, the bidirectional controls (U+061C, U+200E,
//     U+200F, U+202A…U+202E, U+2066…U+2069) and the non-characters. No normalisation takes place. The writer puts
//     "<U+202E>" in the place of such a code point, and Replaced says where it did.
//  5. null does not occur: what is absent is left out.
//  6. Arrays and objects nest at most 16 deep, the root being 1, and the text has at most 256 KiB (Receipt); a report
//     keeps to the same profile without the second bound (Report).
//
// Times are YYYY-MM-DDTHH:MM:SSZ (CheckTime) and hashes 64 lower-case hexadecimal digits (CheckHash).
//
// Whoever verifies checks that the bytes are canonical (Check) and hashes them as they are. Nobody hashes a form that
// was made canonical first: two byte strings must not share one hash.
//
// The vectors of testdata/canonical prove it (TestCorpus): a Python script that shares nothing with this package wrote
// them, and Go, Python and jq must reach the same verdicts (TestCorpusPython, TestCorpusJQ). FuzzCheck holds Check
// against an implementation of RFC 8785, FuzzMarshal holds Marshal against Check.
package canonical
