package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// Pins remembers, in a directory of the user's, the last good state of each ledger that was verified here.
type Pins struct{ Dir string }

// pinFile is named by the ledger's location and branch; a password in the location is no part of it.
func (p Pins) pinFile(location, branch string) string {
	if scheme, rest, ok := strings.Cut(location, "://"); ok {
		if at := strings.LastIndexByte(strings.SplitN(rest, "/", 2)[0], '@'); at >= 0 {
			rest = rest[at+1:]
		}
		location = scheme + "://" + strings.TrimSuffix(strings.TrimSuffix(rest, "/"), ".git")
	} else if abs, err := filepath.Abs(location); err == nil && !strings.Contains(location, ":") {
		location = abs
	}
	name := canonical.SHA256Hex(fmt.Appendf(nil, "referee.pin/v1 %d:%s%s", len(location), location, branch))
	return filepath.Join(p.Dir, name+".json")
}

// Load returns what is remembered of a ledger; false if nothing is. A file that cannot be read gives a pin that no
// ledger satisfies (ledger.CodePinUnusable): forgetting must not look like never having known.
func (p Pins) Load(location, branch string) (ledger.Pin, bool) {
	name := p.pinFile(location, branch)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ledger.Pin{}, false
	}
	source := "the pin in " + name
	if err != nil {
		return ledger.Pin{Level: ledger.L2, Source: fmt.Sprintf("%s (%v)", source, err), Count: -1}, true
	}
	pin, err := ledger.ParsePin(b)
	if err != nil {
		return ledger.Pin{Level: ledger.L2, Source: fmt.Sprintf("%s (%v)", source, err), Count: -1}, true
	}
	pin.Level, pin.Source = ledger.L2, source
	return pin, true
}

// Save remembers a head that was verified. It never goes back to an earlier one.
func (p Pins) Save(location, branch string, head ledger.Head) error {
	if old, ok := p.Load(location, branch); ok && (old.Count < 0 || old.Count > head.Count) {
		return fmt.Errorf("%s has seen %d entries; refusing to move the pin back to %d", old.Source, old.Count,
			head.Count)
	}
	b, err := ledger.PinOf(head, "").Marshal()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return fmt.Errorf("remembering the ledger: %w", err)
	}
	f, err := os.CreateTemp(p.Dir, "pin-")
	if err != nil {
		return fmt.Errorf("remembering the ledger: %w", err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), p.pinFile(location, branch))
	}
	if err != nil {
		return fmt.Errorf("remembering the ledger: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
