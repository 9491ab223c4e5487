// Package gitobject reads and writes git's objects as bytes: ids, trees, commits, packs and bundles. It is pure, does
// no more than a ledger's branch needs, and trusts nothing that it reads: sizes are bounded before anything is
// inflated, and a tree is taken as it stands, whatever its names look like to a file system.
//
// Ids are 40 lower-case hexadecimal digits (SHA-1). ParseTree and Tree.Encode, ParseCommit and Commit.Encode are each
// other's inverse on what they accept (FuzzParseTree, FuzzParseCommit). WritePack is read back by ReadPack and by git
// (TestPackIsGits); deltas are written against a base that the receiver has, as in a thin pack.
package gitobject
