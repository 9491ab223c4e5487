// Package gittest is a git server over HTTP for tests. What this module's own client asks for, version 2 of git's
// protocol and the push of one branch, is answered in this process, without the four to eight processes that each
// request costs git. Whatever else comes (another client, a pack on the disk, a request in another form) is handed to
// git's own http-backend, so the server can do all that git can.
//
// TestAnswersAreGits sends the same requests to this server and to git's and compares what comes back. With
// Options.Real nothing is answered here: .ci/run has every test of a store speak to git itself.
package gittest
