package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// appends says what measureAppend appends to.
type appends struct {
	location string // a path or a URL
	git      string
	trace    string // what the server wrote of itself; "" for none
	per      int64  // receipts of a pull request, as the ledger was made
}

// measureAppend appends once to warm up and then ten times, each from a connection of its own. Beside the whole it prints what git's
// own check of a push took in it (checks), and what is left.
func measureAppend(ctx context.Context, a appends) error {
	var whole, own, rest []time.Duration
	for range 11 {
		before, err := checks(a.trace)
		if err != nil {
			return err
		}
		start := time.Now()
		if err := appendOne(ctx, a); err != nil {
			return err
		}
		took := time.Since(start)
		after, err := checks(a.trace)
		if err != nil {
			return err
		}
		whole, own, rest = append(whole, took), append(own, after-before), append(rest, took-(after-before))
	}
	fmt.Printf("append to %s", a.location)
	for _, m := range []struct {
		name string
		all  []time.Duration
	}{{"", whole[1:]}, {"git's check ", own[1:]}, {"the rest ", rest[1:]}} {
		fmt.Printf("\t%sleast %d ms, median %d ms", m.name, slices.Min(m.all).Milliseconds(), middle(m.all).Milliseconds())
		if a.trace == "" {
			break
		}
	}
	fmt.Println()
	return nil
}

// appendOne signs one receipt off, of a pull request that has none yet.
func appendOne(ctx context.Context, a appends) error {
	clock := func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	s, err := gitstore.Open(a.location, gitstore.Options{Git: a.git, Now: clock})
	if err != nil {
		return err
	}
	_, err = ledger.Append(ctx, s, ledger.Retry{}, func(at ledger.Snapshot) (ledger.Draft, error) {
		count := at.Head.Count
		return ledger.Draft{Receipts: []ledger.Receipt{wide(count, count/a.per+1, seeded())}}, nil
	})
	return errors.Join(err, s.Close())
}

// traced is a line of git's trace2, as far as it is about a child process.
type traced struct {
	Event string   `json:"event"`
	SID   string   `json:"sid"`
	Child int      `json:"child_id"`
	Argv  []string `json:"argv"`
	Took  float64  `json:"t_rel"` // in seconds
}

// checks adds up what the server's git spent so far on its check that a push brings all that it names (git rev-list --objects): it goes
// through the whole tree of the commit before, whatever is pushed.
func checks(trace string) (total time.Duration, err error) {
	if trace == "" {
		return 0, nil
	}
	f, err := os.Open(trace)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	running := map[string]bool{}
	for d := json.NewDecoder(bufio.NewReader(f)); ; {
		var t traced
		if err := d.Decode(&t); errors.Is(err, io.EOF) {
			return total, nil
		} else if err != nil {
			return 0, fmt.Errorf("%s: %w", trace, err)
		}
		key := fmt.Sprint(t.SID, " ", t.Child)
		switch {
		case t.Event == "child_start":
			running[key] = slices.Contains(t.Argv, "rev-list")
		case t.Event == "child_exit" && running[key]:
			total += time.Duration(t.Took * float64(time.Second))
		}
	}
}
