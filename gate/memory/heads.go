package memory

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/internal/canonical"
)

// Heads are the earlier heads of a pull request that the gate audited and that had a run that failed. The gate keeps
// them in its own review between updates, as one line that no reader sees (Line, ParseHeads): after two failed
// revisions of one run a person decides (gate.md), and what run.json says of itself counts for nothing. A head without
// a failed run is not kept.
//
//	<!-- referee:heads v1 SHA=HASH,HASH SHA=* -->
//
// Oldest first; SHA is the commit in hex, HASH the first 16 hex digits of a run folder's hash, sorted: folder names are
// the pull request's, and hostile. * stands for more than 64 failed runs and counts for every run. At most 50 heads and
// 8 KiB, the newest ones.
//
// The zero value holds none.
type Heads struct{ list []failedHead }

// failedHead is one audited head. No folders means all of them.
type failedHead struct {
	sha     string
	folders []string
}

const (
	maxHeads       = 50
	maxHeadFolders = 64
	maxHeadsLine   = 8 << 10

	headsOpen  = "<!-- referee:heads v1 "
	headsClose = " -->"
)

var (
	commitSHA  = pattern.New(`\A(?:[0-9a-f]{40}|[0-9a-f]{64})\z`)
	folderHash = pattern.New(`\A[0-9a-f]{16}\z`)
)

// IsCommit reports whether a text is the full name of a commit.
func IsCommit(sha string) bool { return commitSHA.MatchString(sha) }

// folderKey is what stands for a run folder.
func folderKey(dir string) string {
	return canonical.SHA256Hex([]byte("referee.run-folder/v1\n" + dir))[:16]
}

// ParseHeads reads the line from the body of the gate's review: the first line that begins as one. Where that is not
// what Line writes, to the byte, or there is none, nothing is known.
func ParseHeads(body string) Heads {
	for line := range strings.Lines(body) {
		if line = strings.TrimRight(line, "\r\n"); strings.HasPrefix(line, headsOpen) {
			h := parseHeads(line)
			if h.Line() != line {
				return Heads{}
			}
			return h
		}
	}
	return Heads{}
}

// parseHeads reads what is well formed; ParseHeads holds it to Line.
func parseHeads(line string) Heads {
	if len(line) > maxHeadsLine {
		return Heads{}
	}
	var h Heads
	words := strings.TrimSuffix(strings.TrimPrefix(line, headsOpen), headsClose)
	for word := range strings.SplitSeq(words, " ") {
		sha, list, _ := strings.Cut(word, "=")
		known := slices.ContainsFunc(h.list, func(f failedHead) bool { return f.sha == sha })
		if !commitSHA.MatchString(sha) || known || len(h.list) == maxHeads {
			return Heads{}
		}
		f := failedHead{sha: sha}
		if list != "*" {
			f.folders = strings.Split(list, ",")
			bad := func(s string) bool { return !folderHash.MatchString(s) }
			if len(f.folders) > maxHeadFolders || slices.ContainsFunc(f.folders, bad) || !isAscending(f.folders) {
				return Heads{}
			}
		}
		h.list = append(h.list, f)
	}
	return h
}

// isAscending reports whether each text comes after the one before.
func isAscending(list []string) bool {
	return slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list)
}

// Add gives the heads after the audit of one more, with the run folders that failed there. A head that was audited
// before is replaced: it holds once, as it came out last.
func (h Heads) Add(head string, failedRunDirs []string) Heads {
	out := Heads{list: slices.DeleteFunc(slices.Clone(h.list), func(f failedHead) bool { return f.sha == head })}
	if len(failedRunDirs) == 0 || !commitSHA.MatchString(head) {
		return out
	}
	f := failedHead{sha: head}
	for _, dir := range failedRunDirs {
		f.folders = append(f.folders, folderKey(dir))
	}
	slices.Sort(f.folders)
	if f.folders = slices.Compact(f.folders); len(f.folders) > maxHeadFolders {
		f.folders = nil
	}
	out.list = append(out.list, f)
	return out.withinLimits()
}

// withinLimits drops the oldest heads beyond the limits. As many as a human is asked for after count for every run
// then.
func (h Heads) withinLimits() Heads {
	for len(h.list) > maxHeads || len(h.Line()) > maxHeadsLine {
		h.list = slices.Clone(h.list[1:])
		for i := range min(MaxRevisions, len(h.list)) {
			h.list[i].folders = nil
		}
	}
	return h
}

// mergedWith are the heads of two memories of one pull request. A head of both failed as the first says, or for every
// run where they differ.
func (h Heads) mergedWith(other Heads) Heads {
	out := Heads{list: slices.Clone(h.list)}
	for _, f := range other.list {
		i := slices.IndexFunc(out.list, func(o failedHead) bool { return o.sha == f.sha })
		switch {
		case i < 0:
			out.list = append(out.list, f)
		case !slices.Equal(out.list[i].folders, f.folders):
			out.list[i].folders = nil
		}
	}
	return out.withinLimits()
}

// Failed counts the heads at which a run folder failed, other than one: the head that is audited now.
func (h Heads) Failed(runDir, exceptHead string) int {
	n, key := 0, folderKey(runDir)
	for _, f := range h.list {
		if f.sha != exceptHead && (f.folders == nil || slices.Contains(f.folders, key)) {
			n++
		}
	}
	return n
}

// Line is the line that the gate's review keeps, "" where there is nothing to keep.
func (h Heads) Line() string {
	if len(h.list) == 0 {
		return ""
	}
	var words []string
	for _, f := range h.list {
		list := "*"
		if f.folders != nil {
			list = strings.Join(f.folders, ",")
		}
		words = append(words, f.sha+"="+list)
	}
	return headsOpen + strings.Join(words, " ") + headsClose
}

// MaxRevisions is how many failed revisions an agent has before a person decides (gate.md).
const MaxRevisions = 2
