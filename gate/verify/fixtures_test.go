package verify_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/defendableos/referee/ledger"
)

// fixtures are the ledgers that bench/genledger writes: good ones, and attacks with the codes that see them.
const fixtures = "../../testdata/ledgers"

// scratch holds the repositories that are made of them.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "verify-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch) // a directory of temporary files
	os.Exit(code)
}

// receiptsGit is a good ledger, in a bare repository.
func receiptsGit() string { return openBundle("good") }

// openBundle makes a bare repository of a bundle; git needs nothing of this machine for that.
func openBundle(name string) string {
	dir := filepath.Join(scratch, name+".git")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	bundle, err := filepath.Abs(filepath.Join(fixtures, name+".bundle"))
	if err != nil {
		panic(err)
	}
	for _, args := range [][]string{{"init", "-q", "--bare", dir},
		{"-C", dir, "fetch", "-q", bundle, "+refs/heads/*:refs/heads/*"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	return dir
}

// fixture is what index.json says of a ledger.
type fixture struct {
	Name    string
	Level   ledger.Level
	Codes   []ledger.Code
	Pins    []ledger.Pin
	Files   map[string]string
	Loose   map[string][]byte
	Against string
	Forge   *struct{}
}

func readIndex(t *testing.T) (index struct{ Fixtures []fixture }) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	return index
}
