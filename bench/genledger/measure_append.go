package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// appends says what measureAppend appends to, and how.
type appends struct {
	dir   string // a bare repository
	git   string
	web   bool  // through git http-backend over loopback, without a git on this side
	per   int64 // receipts of a pull request, as the ledger was made
	times int   // after the first, which is not counted
	drop  int64 // of the newest commits, before the first append: the ledger as it was then
}

// cost is what something took: on the clock, and of the processors.
type cost struct{ wall, processor time.Duration }

// measureAppend appends once to warm up and then as often as is asked, each from a connection of its own, and takes the
// ledger back to where it was. Over HTTP it says besides what git's check takes that a push brings all that it names:
// the server runs it within every push, and here the same command runs once more behind each.
func measureAppend(ctx context.Context, a appends) (err error) {
	const branch = "refs/heads/ledger"
	newest, err := a.run("rev-parse", branch)
	if err != nil {
		return err
	}
	defer func() {
		_, failed := a.run("update-ref", branch, newest)
		err = errors.Join(err, failed)
	}()
	if _, err := a.run("update-ref", branch, fmt.Sprintf("%s~%d", newest, a.drop)); err != nil {
		return err
	}
	location, options := a.dir, gitstore.Options{Git: a.git}
	if a.web {
		url, end, err := serveBackend(filepath.Dir(a.dir), a.git)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
		location, options = url+"/"+filepath.Base(a.dir), gitstore.Options{}
	}
	var whole, check []cost
	seq := int64(0)
	for range a.times + 1 {
		used, start := processorTime(), time.Now()
		if seq, err = appendOne(ctx, location, options, a.per); err != nil {
			return err
		}
		whole = append(whole, cost{time.Since(start), processorTime() - used})
		c, err := a.checkConnected(branch)
		if err != nil {
			return err
		}
		check = append(check, c)
	}
	fmt.Printf("append at %d\t%s", seq-int64(a.times)+1, spreadOf(whole[1:]))
	if a.web {
		fmt.Printf("\tgit's check\t%s", spreadOf(check[1:]))
	}
	fmt.Println()
	return nil
}

// appendOne signs one receipt off, of a pull request that has none yet, and gives its seq.
func appendOne(ctx context.Context, location string, o gitstore.Options, per int64) (seq int64, err error) {
	o.Now = func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	s, err := gitstore.Open(location, o)
	if err != nil {
		return 0, err
	}
	result, err := ledger.Append(ctx, s, ledger.Retry{}, func(at ledger.Snapshot) (ledger.Draft, error) {
		seq = at.Head.Count
		return ledger.Draft{Receipts: []ledger.Receipt{wideReceipt(seq, seq/per+1, 11, seededRand())}}, nil
	})
	if err == nil && len(result.Added) != 1 {
		err = fmt.Errorf("nothing was appended at %d", seq)
	}
	return seq, errors.Join(err, s.Close())
}

// checkConnected runs the command by which git's server looks, before it moves a branch, whether all that the new
// commit names is there. It goes through the whole tree of the commit before, whatever is pushed.
func (a appends) checkConnected(branch string) (cost, error) {
	cmd := exec.Command(a.git, "--git-dir="+a.dir, "rev-list", "--objects", "--quiet", branch, "--not", branch+"~1")
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return cost{}, fmt.Errorf("git rev-list: %w: %s", err, out)
	}
	return cost{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// run gives what git says about the repository.
func (a appends) run(args ...string) (string, error) {
	out, err := exec.Command(a.git, append([]string{"--git-dir=" + a.dir}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// spreadOf prints costs: the least and the median on the clock, and the mean of the processors' time, which other
// programs change least.
func spreadOf(all []cost) string {
	var wall []time.Duration
	var used time.Duration
	for _, c := range all {
		wall, used = append(wall, c.wall), used+c.processor
	}
	ms := func(d time.Duration) int64 { return d.Round(time.Millisecond).Milliseconds() }
	return fmt.Sprintf("least %d ms, median %d ms, processor %d ms", ms(slices.Min(wall)), ms(medianOf(wall)),
		ms(used/time.Duration(len(all))))
}

// processorTime is the time that this process and its ended children have had of the processors so far, as Linux counts
// it, in hundredths of a second; 0 elsewhere.
func processorTime() (total time.Duration) {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	// utime, stime, cutime, cstime: the fields 14 to 17, counted from 1 and with the two before
	for _, i := range []int{11, 12, 13, 14} {
		if len(fields) <= i {
			return 0
		}
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		total += time.Duration(n) * 10 * time.Millisecond
	}
	return total
}
