package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/go-git/go-billy/v5"
)

// faulty is a file system that fails, from the n-th write on or at the n-th only.
type faulty struct {
	billy.Filesystem
	left  int          // operations until the fault
	dead  bool         // everything fails after it, as if the process had been killed
	fault func() error // what happens
	hit   bool
}

func (f *faulty) failAtStep() error {
	if f.hit && !f.dead {
		return nil
	}
	if f.left--; f.left >= 0 {
		return nil
	}
	f.hit = true
	return f.fault()
}

// OpenFile is billy's.
func (f *faulty) OpenFile(name string, flag int, perm os.FileMode) (billy.File, error) {
	if err := f.failAtStep(); err != nil {
		return nil, err
	}
	file, err := f.Filesystem.OpenFile(name, flag, perm)
	return &faultyFile{file, f}, err
}

// Rename is billy's.
func (f *faulty) Rename(from, to string) error {
	if err := f.failAtStep(); err != nil {
		return err
	}
	return f.Filesystem.Rename(from, to)
}

// Remove is billy's.
func (f *faulty) Remove(name string) error {
	if err := f.failAtStep(); err != nil {
		return err
	}
	return f.Filesystem.Remove(name)
}

// MkdirAll is billy's.
func (f *faulty) MkdirAll(name string, perm os.FileMode) error {
	if err := f.failAtStep(); err != nil {
		return err
	}
	return f.Filesystem.MkdirAll(name, perm)
}

type faultyFile struct {
	billy.File
	f *faulty
}

// Write writes half of it at a fault, as a full disk does.
func (f *faultyFile) Write(b []byte) (int, error) {
	if err := f.f.failAtStep(); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

// Truncate is billy's.
func (f *faultyFile) Truncate(n int64) error {
	if err := f.f.failAtStep(); err != nil {
		return err
	}
	return f.File.Truncate(n)
}

func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{Now: fixedClock})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// draftSample drafts the n-th receipt.
func draftSample(n int64) func(ledger.Snapshot) (ledger.Draft, error) {
	return func(ledger.Snapshot) (ledger.Draft, error) {
		return ledger.Draft{Receipts: []ledger.Receipt{storetest.Sample(n)}}, nil
	}
}

// wantVerified fails unless the ledger verifies and has count entries.
func wantVerified(t *testing.T, dir string, count int64) {
	t.Helper()
	repo, err := OpenRepo(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	tip, err := repo.Resolve("refs/heads/ledger")
	if err != nil {
		t.Fatal(err)
	}
	v, err := repo.Verify(t.Context(), tip, VerifyOptions{Full: count < 60})
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK() || v.Head.Count != count {
		t.Fatalf("%d entries, want %d; %v", v.Head.Count, count, v.Problems)
	}
}

// TestEveryWriteFails breaks each write of an append in turn: by an error such as a full disk's, after which the ledger
// is as it was, and by the death of the process, after which the next append finishes the work. Each write is broken in
// one of the two ways, and in both where all is run in full.
func TestEveryWriteFails(t *testing.T) {
	t.Parallel()
	for _, dead := range []bool{false, true} {
		t.Run(fmt.Sprintf("dead=%v", dead), func(t *testing.T) {
			dir := initBare(t)
			if _, err := ledger.Append(t.Context(), openTest(t, dir), ledger.Retry{}, draftSample(0)); err != nil {
				t.Fatal(err)
			}
			count := int64(1)
			first, stride := 0, 1
			if !isFullRun() {
				stride = 2
				if dead {
					first = 1
				}
			}
			for n := first; ; n += stride {
				s := openTest(t, dir)
				f := &faulty{Filesystem: s.at.(*local).fs, left: n, dead: dead,
					fault: func() error { return syscall.ENOSPC }}
				s.at.(*local).fs = f
				_, err := ledger.Append(t.Context(), s, ledger.Retry{Tries: 1}, draftSample(count))
				at, failed := openTest(t, dir).Head(t.Context())
				if failed != nil {
					t.Fatal(failed)
				}
				if !f.hit {
					if err != nil || n < 40 {
						t.Fatalf("after %d steps: %v", n, err)
					}
					wantVerified(t, dir, count+1)
					return
				}
				if err != nil && (!errors.Is(err, syscall.ENOSPC) || at.Head.Count != count) {
					t.Fatalf("step %d: %v, with %d entries of %d", n, err, at.Head.Count, count)
				}
				if err == nil && at.Head.Count != count+1 {
					t.Fatalf("step %d: no error, and nothing appended", n)
				}
				if _, err := ledger.Append(t.Context(), openTest(t, dir), ledger.Retry{Tries: 1},
					draftSample(count)); err != nil {
					t.Fatalf("after step %d: %v", n, err)
				}
				if count++; n%8 < stride {
					wantVerified(t, dir, count)
				}
			}
		})
	}
}

// TestMain is also the processes of TestFiftyProcesses and of the tests after it.
func TestMain(m *testing.M) {
	dir := os.Getenv("GITSTORE_APPEND_TO")
	if dir == "" {
		storetest.TempInMemory()
		os.Exit(m.Run())
	}
	if err := appendThenKill(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// appendThenKill appends one receipt, and kills itself before the write that GITSTORE_KILL_AT names.
func appendThenKill(dir string) error {
	n, err := strconv.ParseInt(os.Getenv("GITSTORE_SAMPLE"), 10, 64)
	if err != nil {
		return err
	}
	s, err := Open(dir, Options{Now: fixedClock, Git: os.Getenv("GITSTORE_GIT")})
	if err != nil {
		return err
	}
	if limit, err := strconv.ParseUint(os.Getenv("GITSTORE_FILE_LIMIT"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	if at, err := strconv.Atoi(os.Getenv("GITSTORE_KILL_AT")); err == nil {
		s.at.(*local).fs = &faulty{Filesystem: s.at.(*local).fs, left: at, fault: func() error {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}}
	}
	_, err = ledger.Append(context.Background(), s, ledger.Retry{}, draftSample(n))
	return err
}

func startAppender(t *testing.T, dir string, n int, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "GITSTORE_APPEND_TO="+dir, fmt.Sprintf("GITSTORE_SAMPLE=%d", n))...)
	return cmd
}

// TestFiftyProcesses lets fifty processes append at once: fifty receipts, one chain.
func TestFiftyProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("fifty processes")
	}
	const processes = 50
	dir := initBare(t)
	var group sync.WaitGroup
	for n := range processes {
		group.Go(func() {
			if out, err := startAppender(t, dir, n).CombinedOutput(); err != nil {
				t.Errorf("process %d: %v: %s", n, err, out)
			}
		})
	}
	group.Wait()
	wantVerified(t, dir, processes)
}

// TestKilledProcesses kills a process (SIGKILL) before each write in turn, or before every fifth unless all is run in
// full; the next one finishes its work, once.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	dir := initBare(t)
	count, stride := int64(0), 5
	if isFullRun() {
		stride = 1
	}
	for n := 0; ; n += stride {
		out, err := startAppender(t, dir, int(count), fmt.Sprintf("GITSTORE_KILL_AT=%d", n)).CombinedOutput()
		if err == nil {
			if n < 40 {
				t.Errorf("only %d writes", n)
			}
			wantVerified(t, dir, count+1)
			return
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("write %d: %v: %s", n, err, out)
		}
		if _, err := ledger.Append(t.Context(), openTest(t, dir), ledger.Retry{}, draftSample(count)); err != nil {
			t.Fatalf("after write %d: %v", n, err)
		}
		if count++; n%8 == 0 || n%20 == 0 {
			wantVerified(t, dir, count)
		}
	}
}

// TestFileLimit has the system refuse to write more than a few bytes to a file, as a full disk does.
func TestFileLimit(t *testing.T) {
	dir := initBare(t)
	if _, err := ledger.Append(t.Context(), openTest(t, dir), ledger.Retry{}, draftSample(0)); err != nil {
		t.Fatal(err)
	}
	out, err := startAppender(t, dir, 1, "GITSTORE_FILE_LIMIT=300").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "file too large") {
		t.Errorf("%v: %s; want that the file is too large", err, out)
	}
	wantVerified(t, dir, 1)
	left, err := filepath.Glob(filepath.Join(dir, "objects", "*", "tmp_obj_*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestReadOnly appends as somebody who may only read.
func TestReadOnly(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir := initBare(t)
	if _, err := ledger.Append(t.Context(), openTest(t, dir), ledger.Retry{}, draftSample(0)); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(filepath.Dir(dir), "child")
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, b, 0o755); err != nil {
		t.Fatal(err)
	}
	for d := filepath.Dir(dir); d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := startAppender(t, dir, 1)
	cmd.Path, cmd.Args[0] = exe, exe
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the repository cannot be written") ||
		!strings.Contains(string(out), "permission denied") {
		t.Errorf("%v: %s", err, out)
	}
	wantVerified(t, dir, 1)
}

// TestForeignLock holds that a lock of another program is waited for and never removed.
func TestForeignLock(t *testing.T) {
	synctest.Test(t, foreignLock) // it is waited for by a clock of the test's own
}

func foreignLock(t *testing.T) {
	dir := initBare(t)
	s := openTest(t, dir)
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{}, draftSample(0)); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, "refs", "heads", "ledger.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ledger.Append(t.Context(), s, ledger.Retry{Tries: 1}, draftSample(1))
	if !errors.Is(err, ledger.ErrStale) || !strings.Contains(err.Error(), "ledger.lock") {
		t.Errorf("%v; want that it names the lock", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatalf("the lock is gone: %v", err)
	}
	if _, err := ledger.Append(t.Context(), s, ledger.Retry{Tries: 1}, draftSample(1)); err != nil {
		t.Error(err)
	}
	wantVerified(t, dir, 2)
}
