package storetest

import (
	"os"
	"syscall"
)

// inMemory is a file system in memory, and how much must be free there.
const (
	inMemory = "/dev/shm"
	enough   = 1 << 30
	noExec   = 8 // ST_NOEXEC
)

// TempInMemory has the temporary files of a test binary written into memory, where there is room and programs can run:
// these tests write many thousands of small files, and bring each to the disk. TMPDIR names another place. Bringing a
// file to the disk is what they spend most of their time on, and it proves nothing here.
func TempInMemory() {
	var at syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(inMemory, &at) != nil || int64(at.Flags)&noExec != 0 ||
		at.Bavail*uint64(at.Bsize) < enough {
		return
	}
	// In some containers it is there and belongs to somebody else.
	if syscall.Access(inMemory, 2) == nil { // may be written
		_ = os.Setenv("TMPDIR", inMemory)
	}
}
