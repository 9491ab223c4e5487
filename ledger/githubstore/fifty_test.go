package githubstore_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/githubtest"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
	"github.com/defendableos/referee/ledger/storetest"
)

// skipUnlessCI are the cases that take minutes: .ci/run starts them.
func skipUnlessCI(t *testing.T) {
	t.Helper()
	if os.Getenv("REFEREE_CI") != "1" {
		t.Skip("it takes minutes: .ci/run starts it")
	}
}

// race is how many sign off at once, and over what.
type race struct {
	name    string
	writers int64
	latency time.Duration // in a time in which nothing else takes any
	load    int
	push    bool          // by git, and not by the API
	lost    int           // requests of lost races, at most
	within  time.Duration // on a machine with nothing else to do, which REFEREE_IDLE=1 says
	heavy   bool
}

// TestFiftyAtOnce: sign-offs at once, each by a process of its own as far as it can tell, give as many receipts on one
// chain; at any latency and under any load, through GitHub's API and by pushes. An append is three requests. Those of
// lost races are bounded: a sign-off is allowed fifteen requests, and fifty of them 750.
func TestFiftyAtOnce(t *testing.T) {
	for _, c := range []race{
		{name: "fifty", writers: 50, lost: 50, within: time.Minute},
		{name: "fifty by pushes", writers: 50, push: true, within: time.Minute, heavy: true},
		{name: "ten by pushes", writers: 10, push: true},
		{name: "ten at 20 ms", writers: 10, latency: 20 * time.Millisecond, lost: 20},
		{name: "twenty at 250 ms", writers: 20, latency: 250 * time.Millisecond, lost: 60, heavy: true},
		{name: "twenty at 250 ms by pushes", writers: 20, latency: 250 * time.Millisecond, push: true, heavy: true},
		{name: "fifty, requests 5 times as slow", writers: 50, latency: 50 * time.Millisecond, lost: 100, heavy: true},
		{name: "fifty, requests 12 times as slow", writers: 50, latency: 120 * time.Millisecond, lost: 150,
			heavy: true},
		{name: "fifty, requests 29 times as slow", writers: 50, latency: 290 * time.Millisecond, lost: 150,
			heavy: true},
		{name: "fifty under a load of 5", writers: 50, load: 5, lost: 100, heavy: true},
		{name: "fifty under a load of 29", writers: 50, load: 29, lost: 100, heavy: true},
		{name: "fifty by pushes under a load of 12", writers: 50, load: 12, push: true, heavy: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.heavy {
				skipUnlessCI(t)
			}
			if c.load > 0 && os.Getenv("REFEREE_LOAD") != "1" {
				t.Skip("it keeps both processors busy for minutes: REFEREE_LOAD=1 asks for it")
			}
			s := githubtest.New(t)
			if c.latency > 0 { // it sleeps most of the time
				inProcess(t, s, func(t *testing.T) { c.atOnce(t, s) })
			} else {
				c.atOnce(t, s)
			}
		})
	}
}

func (c race) atOnce(t *testing.T, s *githubtest.Server) {
	open := func() ledger.Store { return connectStore(t, s, 0, nil) }
	if c.push {
		open = func() ledger.Store { return openPushedStore(t, s) }
	}
	appendReceipts(t, open(), storetest.Sample(0))
	s.SetLatency(c.latency)
	loadMachine(t, c.load)
	before, git := s.Count(), s.GitRequests()
	took := storetest.AtOnce(t, open, 1, c.writers)
	lost := s.Count() - before - 3*int(c.writers)
	if c.push {
		lost = s.Count() - before
	}
	t.Logf("%d sign-offs in %.1f s; %d requests of the API, %d of them in races that were lost; %d of git",
		c.writers, took.Seconds(), s.Count()-before, lost, s.GitRequests()-git)
	if lost > c.lost || c.within > 0 && took > c.within && isMachineIdle() {
		t.Errorf("%s and %d lost requests, want %s and %d at most", took, lost, c.within, c.lost)
	}
	s.SetLatency(0)
	verifyCommitted(t, connectStore(t, s, 0, nil), 1+c.writers)
}

// loadMachine has so many processes compete for the machine until the test ends.
func loadMachine(t *testing.T, n int) {
	t.Helper()
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		})
	}
}

// pushed is a ledger that is written by git, whose states can be verified in the server's own repository.
type pushed struct {
	*gitstore.Store
	server *githubtest.Server
}

// Tree is storetest.Viewer's.
func (p pushed) Tree(at ledger.Snapshot) (ledger.Tree, error) { return treeOf(p.server, at) }

func openPushedStore(t *testing.T, s *githubtest.Server) ledger.Store {
	t.Helper()
	store, err := gitstore.Open(s.CloneURL(), gitstore.Options{Now: s.Now, Password: s.Token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return pushed{store, s}
}

// isMachineIdle reports whether the machine is said to have nothing else to do.
func isMachineIdle() bool { return os.Getenv("REFEREE_IDLE") == "1" }
