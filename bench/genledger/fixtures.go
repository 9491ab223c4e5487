package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/defendableos/referee/ledger"
)

// fixture is what index.json says of one ledger. Codes are what a verification lists, each once, sorted; Full what it
// lists when it also compares every commit with the one before, if that is more.
type fixture struct {
	Name    string            `json:"name"`
	About   string            `json:"about"`
	Level   ledger.Level      `json:"level"` // at which it is seen; for a good ledger, which is reached
	Codes   []ledger.Code     `json:"codes"`
	Full    []ledger.Code     `json:"full,omitempty"`
	Pins    []pin             `json:"pins,omitempty"`
	Files   map[string]string `json:"files,omitempty"`   // beside the objects, in the git directory
	Loose   map[string][]byte `json:"loose,omitempty"`   // objects as git deflates them, that no bundle can hold
	Against string            `json:"against,omitempty"` // another bundle to compare with (L5)
	Forge   *record           `json:"forge,omitempty"`   // what the forge recorded (L4)
}

// pin is a ledger.Pin with its level.
type pin struct {
	Level  ledger.Level `json:"level"`
	Source string       `json:"source"`
	Count  int64        `json:"count"`
	Tip    string       `json:"tip"`
	Root   string       `json:"root,omitempty"`
}

// record is a forge's own record, for an offline ledger.Online.
type record struct {
	Reviews map[int64][]ledger.ReviewRecord `json:"reviews"`
	Merges  []ledger.MergeRecord            `json:"merges"`
}

// writeFixtures writes a bundle for each fixture, and index.json.
func writeFixtures(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.bundle"))
	if err != nil {
		return err
	}
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	var index []fixture
	for _, b := range allFixtures() {
		slices.Sort(b.fx.Codes)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, b.fx.Name+".bundle"), b.gitBundle(), 0o644))
		index = append(index, b.fx)
	}
	text, failed := json.MarshalIndent(map[string]any{"comment": "written by: go run ./bench/genledger -fixtures " +
		"testdata/ledgers", "fixtures": index}, "", " ")
	if err = errors.Join(err, failed, os.WriteFile(filepath.Join(dir, "index.json"), append(text, '\n'),
		0o644)); err != nil {
		return fmt.Errorf("writing the fixtures: %w", err)
	}
	return nil
}

// describe gives the branch its place in the index.
func (b *branch) describe(name, about string, level ledger.Level, codes ...ledger.Code) *branch {
	b.fx.Name, b.fx.About, b.fx.Level, b.fx.Codes = name, about, level, append([]ledger.Code{}, codes...)
	return b
}

// seenInFull adds what is seen only when every commit is compared with the one before.
func (b *branch) seenInFull(codes ...ledger.Code) *branch {
	b.fx.Full = append(slices.Clone(b.fx.Codes), codes...)
	slices.Sort(b.fx.Full)
	return b
}
