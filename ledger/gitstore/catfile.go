package gitstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
)

// gitBinary reads objects through `git cat-file`, which is the fastest reader there is. The repository is not trusted:
// git runs in an empty repository of its own that only borrows the objects, so that no configuration, hook,
// replacement, graft, commit graph or remote of the repository is ever seen, and nothing can be fetched.
type gitBinary struct {
	git     string // path of the binary
	objects string // path of the objects directory
	spare   spare
}

// borrowConfig is the configuration of the empty repository. What git holds in memory is bounded.
const borrowConfig = `[core]
	repositoryformatversion = 0
	bare = true
	commitGraph = false
	packedGitWindowSize = 64m
	packedGitLimit = 512m
	deltaBaseCacheLimit = 64m
	bigFileThreshold = 64m
[gc]
	auto = 0
`

// makeEmptyRepository makes the empty repository and returns its path.
func makeEmptyRepository() (dir string, err error) {
	dir, err = os.MkdirTemp("", "referee-git-")
	if err != nil {
		return "", err
	}
	err = errors.Join(
		os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte(borrowConfig), 0o600),
	)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// gitCommand is a git that sees nothing but the objects. The function removes what it was given.
func (g *gitBinary) gitCommand(ctx context.Context, args ...string) (*exec.Cmd, func() error, error) {
	dir, err := makeEmptyRepository()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, g.git, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"GIT_DIR=" + dir, "GIT_OBJECT_DIRECTORY=" + g.objects, "GIT_NO_REPLACE_OBJECTS=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"LC_ALL=C", "HOME=" + dir,
	}
	return cmd, func() error { return os.RemoveAll(dir) }, nil
}

// streamGit runs git with the lines on its standard input and returns its standard output to use. What use leaves
// unread is dropped, and git ended.
func (g *gitBinary) streamGit(ctx context.Context, lines []string, args []string, use func(*bufio.Reader) error) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	cmd, clean, err := g.gitCommand(inner, args...)
	if err != nil {
		return err
	}
	defer func() { _ = clean() }()
	var said strings.Builder
	cmd.Stderr = &limited{w: &said, left: 2000}
	cmd.Stdin = &lineReader{lines: lines}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting git: %w", err)
	}
	err = use(bufio.NewReaderSize(widenPipe(out), pipeSize/4))
	if err != nil {
		stop()
	}
	ended := cmd.Wait()
	switch {
	case errors.Is(err, errStop):
		return nil
	case err != nil:
		return errors.Join(err, ctx.Err(), gitError(said.String()))
	case ended != nil:
		return fmt.Errorf("git %s: %w: %s", args[0], ended, strings.TrimSpace(said.String()))
	}
	return nil
}

// pipeSize is how much git may write before anybody reads. git writes object by object; a reader that is woken for each
// spends more time on waking than on reading, so a patient one lets some of them come together.
const pipeSize = 1 << 20

type patient struct{ r io.Reader }

// Read implements io.Reader.
func (p patient) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 4096 && n < len(b)/4 && err == nil {
		time.Sleep(200 * time.Microsecond)
	}
	return n, err
}

// errStop ends a stream whose rest nobody wants.
var errStop = errors.New("stop")

func gitError(s string) error {
	if s = strings.TrimSpace(s); s != "" {
		return errors.New("git says: " + s)
	}
	return nil
}

// limited keeps the beginning of what is written.
type limited struct {
	w    io.Writer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	_, err := l.w.Write(keep)
	return len(p), err
}

// lineReader returns lines without joining them all first.
type lineReader struct {
	lines []string
	rest  []byte
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			if len(r.lines) == 0 {
				break
			}
			r.rest = append(append(r.rest[:0], r.lines[0]...), '\n')
			r.lines = r.lines[1:]
		}
		k := copy(p[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// read implements source.
func (g *gitBinary) read(ctx context.Context, limit int64, ids []string) ([]gitobject.Object, error) {
	return readBulk(ctx, g, limit, ids)
}

// readHeader reads a line "<kind> <size>"; the size is −1 for "<id> missing".
func readHeader(r *bufio.Reader) (gitobject.Kind, int64, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return "", 0, fmt.Errorf("git cat-file ended early: %w", err)
	}
	kind, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	if rest == "missing" {
		return "", -1, nil
	}
	size, err := strconv.ParseInt(rest, 10, 64)
	if err != nil || size < 0 {
		return "", 0, fmt.Errorf("git cat-file said %.80q", line)
	}
	return gitobject.Kind(kind), size, nil
}

func (g *gitBinary) readBody(r *bufio.Reader, id string) (gitobject.Object, error) {
	kind, size, err := readHeader(r)
	switch {
	case err != nil:
		return gitobject.Object{}, fmt.Errorf("%s: %w", id, err)
	case size < 0:
		return gitobject.Object{}, fmt.Errorf("%s: %w", id, ErrMissing)
	case size > maxBlob:
		return gitobject.Object{}, fmt.Errorf("%s: %w: %d bytes", id, ErrTooLarge, size)
	}
	data := g.spare.takeBuffer(size)
	if _, err := io.ReadFull(r, data); err != nil {
		return gitobject.Object{}, fmt.Errorf("%s: %w", id, err)
	}
	if _, err := r.Discard(1); err != nil {
		return gitobject.Object{}, fmt.Errorf("%s: %w", id, err)
	}
	return gitobject.Object{Kind: kind, ID: id, Data: data}, nil
}
