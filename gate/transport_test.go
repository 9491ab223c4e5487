package gate

import (
	"hash/fnv"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// overGit are the tests whose jobs fetch through git's own backend in every run: a sign-off with its faults, a push, a
// merge, a queue, a schedule that copies the ledger, and files that a fetch leaves out. The others take the answers
// that TestUploadIsGits holds to git's: starting git would be nine tenths of their time.
var overGit = []string{"TestSignOff", "TestPushedAfter", "TestMerged", "TestMergeGroup", "TestSchedule",
	"TestLargeFile"}

// generated are the tests of very many cases. With REFEREE_CI=1 all others go through git, and of these some.
var generated = []string{"TestFaults", "TestModelOverTheWire"}

// ThroughGit reports whether the server of a test answers git through its own backend.
func ThroughGit(name string) bool {
	test, _, _ := strings.Cut(name, "/")
	switch {
	case os.Getenv("REFEREE_CI") != "1":
		return slices.Contains(overGit, test)
	case slices.Contains(generated, test):
		h := fnv.New32a()
		_, _ = h.Write([]byte(name))
		return h.Sum32()%8 == 0
	}
	return true
}

// TestMain collects garbage less often than is usual: the jobs are many and small, and collecting would be a quarter of
// their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
