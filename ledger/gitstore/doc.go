// Package gitstore keeps a ledger on a branch of a git repository, on this machine or behind a URL, and reads git
// objects without ever checking anything out.
//
// # Reading
//
// Repo reads a repository on this machine: through `git cat-file` where a git binary is given, through go-git
// otherwise, with the same result (TestFixtures runs both). The repository is not trusted. git runs in an empty
// repository of its own that borrows nothing but the objects, so no configuration, hook, replacement, graft, commit
// graph or remote of the repository acts; sizes are known from object headers before anything is inflated; a tree or a
// commit whose bytes do not make its id is refused. A long list of objects is read by two processes at once
// (abreast.go). TreeFS shows one commit as a fs.FS, links and submodules included and never followed; Tree as
// ledger.Verify wants it; Commits and Merges walk the history along first parents.
//
// # Writing
//
// Store is a ledger.Store. Objects are made in memory, trees only on the way to the new files, and neither a work tree
// nor an index is touched. On this machine they are written as loose objects and the branch is swapped by git's own
// lock (refSwap), behind a URL they are pushed without force, which is a compare-and-swap of the server's. A commit is
// dated by the clock that it is given, but never before its parent or before what was signed.
//
// Over HTTP, rate limits are waited for, and a server that fails, breaks off or says nothing is asked again
// (patience.go; TestPatience). A push is not sent twice: the branch tells what became of it.
//
// A process that is killed leaves objects that nobody names, or a lock that the next one recognises as left behind
// (TestKilledProcesses); the ledger is the old or the new one (TestEveryWriteFails, TestFiftyProcesses).
package gitstore
