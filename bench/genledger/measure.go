package main

import (
	"context"
	"fmt"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// printFigure prints one figure: name, milliseconds, and the largest resident memory of this process so far in MiB.
func printFigure(name string, since time.Time) {
	fmt.Printf("%s\t%d ms\t%d MiB\n", name, time.Since(since).Milliseconds(), peakMemory())
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
	printFigure(fmt.Sprintf("verify %d", v.Head.Count), start)
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
	printFigure(fmt.Sprintf("since a pin, %d new of %d", len(v.Hashes), at.Head.Count), start)
	return nil
}
