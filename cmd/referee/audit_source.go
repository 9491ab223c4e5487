package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
)

// A source is one place that holds submissions: a run folder, a bare submission, a file of lines, or standard input.
type source struct {
	kind sourceKind
	path string // as the user would write it, with forward slashes; "-" is standard input
	size int64  // weight for the progress bar; 0 is unknown
}

type sourceKind uint8

const (
	runFolder sourceKind = iota
	bareFile             // one submission
	lineFile             // a submission a line
	anyFile              // what it holds is told by its first line
)

// A unit is one submission to be audited.
type unit struct {
	kind   sourceKind // runFolder, bareFile or lineFile
	path   string
	bytes  []byte // of a line, and of what was read from a pipe; nil: read the file
	line   int    // of a file of lines, from 1
	weight int64  // share of the progress bar
}

// maxSubmission is what is read of one submission: a byte more than the limit (S46), so that the strict reader refuses
// it by name.
const maxSubmission = 5<<20 + 1

// folderWeight is what a run folder counts in the progress bar, where a file of lines counts its bytes.
const folderWeight = 4 << 10

// sourcesOf says what each PATH holds. A path that is not there is refused before anything is audited; a folder is
// searched for run.json in the order of names, not into run folders; a symbolic link to one is refused, and so is a
// folder without any.
func sourcesOf(paths []string) ([]source, error) {
	var out []source
	for _, p := range paths {
		if p == "-" {
			out = append(out, source{kind: anyFile, path: p})
			continue
		}
		info, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, usagef("%s: no such file or directory", p)
		case err != nil:
			return nil, toolf("opening %s: %w", p, err)
		case info.IsDir():
			found, err := runsUnder(p)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 { // beside other paths that hold runs it would look as if its runs had been audited
				return nil, usagef("%s: no run found (no folder in it has a run.json)",
					p).withHint("name the folder of the runs, or leave %s out; `referee run new` makes a run folder", p)
			}
			out = append(out, found...)
		default:
			out = append(out, fileSource(p, info))
		}
	}
	return out, nil
}

func fileSource(p string, info fs.FileInfo) source {
	s := source{kind: anyFile, path: slashPath(p), size: info.Size()}
	switch strings.ToLower(filepath.Ext(p)) {
	case ".jsonl", ".ndjson":
		s.kind = lineFile
	case ".json":
		s.kind = bareFile
		if filepath.Base(p) == "run.json" {
			return source{kind: runFolder, path: slashPath(filepath.Dir(p)), size: folderWeight}
		}
	}
	if !info.Mode().IsRegular() {
		s.kind, s.size = anyFile, 0
	}
	return s
}

func slashPath(p string) string { return filepath.ToSlash(filepath.Clean(p)) }

// runsUnder lists the run folders at or under a folder.
func runsUnder(dir string) ([]source, error) {
	var out []source
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		dir += string(filepath.Separator) // the user names what it leads to
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			return notALinkedRun(p)
		case !d.IsDir():
			return nil
		case d.Name() == ".git" && p != dir:
			return fs.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(p, "run.json")); err != nil {
			return nil
		}
		out = append(out, source{kind: runFolder, path: slashPath(p), size: folderWeight})
		return fs.SkipDir
	})
	if asked := (&failure{}); errors.As(err, &asked) {
		return nil, err
	}
	if err != nil {
		return nil, toolf("searching %s for runs: %w", dir, err)
	}
	return out, nil
}

// notALinkedRun refuses a link that leads to a run folder: links are not followed, and a run that is passed over must
// not look audited.
func notALinkedRun(p string) error {
	if _, err := os.Stat(filepath.Join(p, "run.json")); err != nil {
		return nil
	}
	return usagef("%s is a symbolic link to a run folder: links are not followed",
		slashPath(p)).withHint("name the folder itself, or put the run where the link is")
}

// emitUnits hands every submission of the source to emit, in order, until emit returns false.
func (s source) emitUnits(stdin io.Reader, input string, emit func(unit) bool) error {
	switch s.kind {
	case runFolder:
		emit(unit{kind: runFolder, path: s.path, weight: s.size})
		return nil
	case bareFile:
		emit(unit{kind: bareFile, path: s.path, weight: s.size})
		return nil
	}
	in, kind := stdin, s.kind
	if s.path != "-" {
		f, err := os.Open(filepath.FromSlash(s.path))
		if err != nil {
			return toolf("opening %s: %w", s.path, err)
		}
		defer f.Close()
		in = f
	} else if input != "auto" {
		kind = map[string]sourceKind{"json": bareFile, "jsonl": lineFile}[input]
	}
	return s.readUnits(newLines(in), kind, emit)
}

// readUnits hands out what a stream holds. Where nobody said what that is, the first line tells: if it is a whole JSON
// object and something follows, the stream is a submission a line; else it is one submission.
func (s source) readUnits(lines *lines, kind sourceKind, emit func(unit) bool) error {
	if kind == lineFile {
		return s.eachLine(lines, emit)
	}
	var head []byte
	if kind == anyFile {
		var many bool
		var err error
		if head, many, err = lines.lookAhead(); err != nil {
			return toolf("reading %s: %w", s.path, err)
		}
		if many {
			return s.eachLine(lines, emit)
		}
	}
	rest, err := io.ReadAll(io.LimitReader(lines.r, max(0, maxSubmission-int64(len(head)))))
	if err != nil {
		return toolf("reading %s: %w", s.path, err)
	}
	if all := append(head, rest...); len(bytes.TrimSpace(all)) > 0 {
		emit(unit{kind: bareFile, path: s.path, bytes: all, weight: s.size})
	}
	return nil
}

// eachLine hands out the lines that are not blank.
func (s source) eachLine(lines *lines, emit func(unit) bool) error {
	for {
		line, read, err := lines.nextLine()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return toolf("reading %s: %w", s.path, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !emit(unit{kind: lineFile, path: s.path, bytes: line, line: lines.number, weight: read}) {
			return nil
		}
	}
}

// isObject reports whether the bytes are one strict JSON object.
func isObject(b []byte) bool {
	v, err := strictjson.Parse(b, strictjson.SubmissionLimits)
	return err == nil && v.Kind == strictjson.Object
}
