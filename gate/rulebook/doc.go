// Package rulebook says what a pull request's changes to sheets and to the configuration would mean. They judge nothing
// in that pull request: the base branch's rulebooks do. A changed sheet is loaded, linted, tested by its own examples
// and asked about the stored runs whose verdict it would turn; a changed configuration is compared with the one in
// force, and everything that it lets through in addition is listed.
//
// A sheet that would be refused is a Problem of its Change, which fails the audit check: what judges next must not be
// broken.
package rulebook
