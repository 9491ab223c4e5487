package main

import (
	"context"
	"fmt"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// report prints one figure: name, milliseconds, and the largest resident memory of this process so far in MiB.
func report(name string, since time.Time) {
	fmt.Printf("%s\t%d ms\t%d MiB\n", name, time.Since(since).Milliseconds(), peak())
}

// measureVerify verifies the whole ledger in a repository.
func measureVerify(ctx context.Context, dir, git string) error {
	start := time.Now()
	repo, err := gitstore.OpenRepo(dir, git)
	if err != nil {
		return err
	}
	tip, err := repo.Resolve("refs/heads/ledger")
	if err != nil {
		return err
	}
	v, err := repo.Verify(ctx, tip, gitstore.VerifyOptions{})
	if err != nil {
		return err
	}
	if !v.OK() {
		return fmt.Errorf("%d problems, the first: %s", len(v.Problems), v.Problems[0])
	}
	report(fmt.Sprintf("verify %d", v.Head.Count), start)
	return nil
}

// measureSince verifies the newest ten entries of a ledger on what was seen before.
func measureSince(ctx context.Context, dir, git string) error {
	s, err := gitstore.Open(dir, gitstore.Options{Git: git})
	if err != nil {
		return err
	}
	at, err := s.Head(ctx)
	if err != nil {
		return err
	}
	commits := 0
	var seen ledger.Head
	for c, err := range s.Repo().Commits(ctx, at.ID) {
		if err != nil {
			return err
		}
		if commits++; commits == 2 {
			old, err := s.At(ctx, c.ID)
			if err != nil {
				return err
			}
			seen = old.Head
			break
		}
	}
	start := time.Now()
	fresh, err := gitstore.Open(dir, gitstore.Options{Git: git})
	if err != nil {
		return err
	}
	if at, err = fresh.Head(ctx); err != nil {
		return err
	}
	v, err := ledger.VerifySince(ctx, fresh, at, seen)
	if err != nil {
		return err
	}
	if !v.OK() || len(v.Hashes) == 0 {
		return fmt.Errorf("since a pin: %d entries, problems %v", len(v.Hashes), v.Problems)
	}
	report(fmt.Sprintf("since a pin, %d new of %d", len(v.Hashes), at.Head.Count), start)
	return nil
}

// measureAppend appends once to warm up and then ten times, each from a connection of its own.
func measureAppend(ctx context.Context, location, git string) error {
	clock := func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	var each []time.Duration
	for range 11 {
		start := time.Now()
		s, err := gitstore.Open(location, gitstore.Options{Git: git, Now: clock})
		if err != nil {
			return err
		}
		count := int64(0)
		_, err = ledger.Append(ctx, s, ledger.Retry{}, func(at ledger.Snapshot) (ledger.Draft, error) {
			count = at.Head.Count
			return ledger.Draft{Receipts: []ledger.Receipt{wide(count, count/10+1, seeded())}}, nil
		})
		if err != nil {
			return err
		}
		each = append(each, time.Since(start))
		if err := s.Close(); err != nil {
			return err
		}
	}
	each = each[1:]
	total := time.Duration(0)
	for _, d := range each {
		total += d
	}
	fmt.Printf("append to %s\tmedian %d ms\tmean %d ms\n", location, middle(each).Milliseconds(), (total / time.Duration(len(each))).Milliseconds())
	return nil
}
