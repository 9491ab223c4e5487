package gitstore

import (
	"io"
	"os"
	"syscall"
)

// setPipeSize is F_SETPIPE_SZ of fcntl(2), which package syscall does not name.
const setPipeSize = 1031

// widenPipe makes a pipe hold pipeSize bytes, if the system lets it, and its reader patient. A reader that is no file,
// or a system that refuses, costs speed and nothing else, so no error comes of it.
func widenPipe(r io.Reader) io.Reader {
	f, ok := r.(*os.File)
	if !ok {
		return r
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return r
	}
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, pipeSize)
	})
	if err != nil || failed != 0 {
		return r
	}
	return patient{r}
}
