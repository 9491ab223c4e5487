// Package githubtest is a GitHub for tests: a stateful server of the part of the REST API that the gate uses, over a
// real bare git repository that is cloned, fetched and pushed to over HTTP. What is plain of git is done in this
// process (git.go, upload.go), the rest by git and its own http-backend, and all of the protocol where a test says
// OverGit. TestRepoIsGits and TestUploadIsGits hold the one to the other.
//
//	s := githubtest.New(t)                      // the repository acme/underwriting with an empty default branch main
//	head := s.Commit("feature", githubtest.Change{Files: map[string]string{"a": "1"}, Author: "agent"})
//	pull := s.Open(githubtest.Pull{Head: "feature", Author: "agent"})
//	s.Review(pull, "rosa", "APPROVED", "")      // users of the sample repository: see users.go
//	s.Inject(githubtest.Fault{Method: "POST", DropAfter: true})
//
// What it promises:
//   - every request and every answer of the API is held against GitHub's own OpenAPI description, and every event that
//     it makes against the
//     published schemas (contract.go); a difference fails the test that caused it;
//   - the limits of gate.md are enforced as GitHub enforces them: 50 annotations a request, 65,535 bytes of a summary,
//     3,000 files and 250
//     commits of a pull request, a reference that moves forward only, a tree whose blobs exist;
//   - faults are injected by method and path (faults.go); requests are recorded and counted;
//   - nothing depends on the clock: it starts at the same second and moves by one with every request.
//
// The descriptions and the examples that answers are made from lie in testdata/contract (.ci/github-contract fetches
// and reduces them).
package githubtest
