package ledger

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/legible"
)

// The files of the branch that are no entries.
const (
	InfoPath       = "LEDGER.json"
	HeadPath       = "HEAD.json"
	ReadmePath     = "README.md"
	PagePath       = "verify.html"
	AttributesPath = ".gitattributes"
)

// Attributes is the whole of .gitattributes: git must never change a byte of these files. With core.autocrlf, a
// checkout would otherwise end lines differently, and sha256sum would disagree with every name (LDG-114).
const Attributes = "* -text\n"

// MaxSeq and MaxPullRequest are what the paths have digits for: nine, split 3, 2, 2 and 2, and eight, split 4, 2 and 2.
// So no directory holds more than 256 names at a million entries and a million pull requests (TestNamesPerDirectory). A
// directory is read, written and hashed whole whenever an entry is appended below it, and a git server that is asked
// for one reads all those directly below it too (docs/performance.md): with a thousand in each of two levels, 100 MB.
const (
	MaxSeq         = 999_999_999
	MaxPullRequest = 99_999_999
)

// Class is what a path of the branch holds.
type Class uint8

// The classes. Anything that is none of them does not belong in a ledger.
const (
	Unknown Class = iota
	EntryFile
	PullAlias
	HashAlias
	SheetFile
	InfoFile
	HeadFile
	ReadmeFile
	PageFile
	AttributesFile
)

// Place is a path of the branch, taken apart. ParsePath and String are each other's inverse, so that no file has two
// names.
type Place struct {
	Class Class
	Seq   int64  // EntryFile, PullAlias
	Pull  int64  // PullAlias
	Hash  string // EntryFile, PullAlias, HashAlias, SheetFile
}

// String returns the path: receipts/000/01/23/000012345-<hash>.json, pr/0000/01/23/000012345-<hash>.json,
// hash/ab/cd/<hash>.json, sheets/ab/<hash>.json, or a file's own name. It is empty for an unknown place.
func (p Place) String() string {
	switch p.Class {
	case EntryFile:
		return EntryDir(p.Seq) + "/" + zeroPadded(p.Seq, 9) + "-" + p.Hash + ".json"
	case PullAlias:
		return PullDir(p.Pull) + "/" + zeroPadded(p.Seq, 9) + "-" + p.Hash + ".json"
	case HashAlias:
		return "hash/" + p.Hash[:2] + "/" + p.Hash[2:4] + "/" + p.Hash + ".json"
	case SheetFile:
		return "sheets/" + p.Hash[:2] + "/" + p.Hash + ".json"
	}
	for name, class := range single {
		if class == p.Class {
			return name
		}
	}
	return ""
}

var single = map[string]Class{
	InfoPath: InfoFile, HeadPath: HeadFile, ReadmePath: ReadmeFile, PagePath: PageFile, AttributesPath: AttributesFile,
}

// EntryDir is the directory of the entry at seq; it holds a hundred.
func EntryDir(seq int64) string {
	return "receipts/" + zeroPadded(seq/1_000_000, 3) + "/" + zeroPadded(seq/10_000%100,
		2) + "/" + zeroPadded(seq/100%100, 2)
}

// PullDir is the directory of a pull request's entries. It is one directory, so that all entries of a pull request are
// one read.
func PullDir(number int64) string {
	return "pr/" + zeroPadded(number/10_000, 4) + "/" + zeroPadded(number/100%100, 2) + "/" + zeroPadded(number%100, 2)
}

// zeroPadded is n with zeros in front, to so many digits. Package fmt would take longer than all else that is done with
// a path.
func zeroPadded(n int64, digits int) string {
	s := strconv.FormatInt(n, 10)
	return "000000000"[:max(0, digits-len(s))] + s
}

// Places returns the paths of one entry: its own, by hash, and by pull request where it has one (number > 0). git
// stores the three as one blob.
func Places(seq int64, hash string, pull int64) []Place {
	all := []Place{{Class: EntryFile, Seq: seq, Hash: hash}, {Class: HashAlias, Hash: hash}}
	if pull > 0 {
		all = append(all, Place{Class: PullAlias, Seq: seq, Pull: pull, Hash: hash})
	}
	return all
}

// ParsePath takes a path apart. It accepts exactly the paths that String writes; every other one, whatever it looks
// like to a file system (.., case, links, .git), is refused. Writing the place again and comparing is what makes that
// exact: a pattern for each class would have to be right in every corner.
func ParsePath(path string) (Place, error) {
	if class, ok := single[path]; ok {
		return Place{Class: class}, nil
	}
	p, ok := parseNumberedPath(path)
	if ok && p.String() == path {
		return p, nil
	}
	if was := firstLayout(path); was != "" {
		return Place{}, fmt.Errorf("%q: not a path of a ledger: %s", clipForeign(path), was)
	}
	return Place{}, fmt.Errorf("%q: not a path of a ledger", clipForeign(path))
}

// firstLayout says of a path that it belongs to the layout before the first release, and what its place would be now;
// "" of any other. Nothing is read there: such a ledger is begun anew.
func firstLayout(path string) string {
	parts := strings.Split(path, "/")
	before := " is the layout of " + FirstInfoFormat + ", before the first release; "
	switch {
	case len(parts) < 2:
		return ""
	case parts[0] == "pr":
		if _, ok := parseDigits(parts[1], 3, ""); !ok {
			return ""
		}
		if len(parts) > 2 {
			if number, ok := parseDigits(parts[1]+parts[2], 8, ""); ok {
				return strings.Join(parts[:3], "/") + before + "now it is " + PullDir(number)
			}
		}
		return "pr/" + parts[1] + before + "now a directory in pr/ has four digits"
	case parts[0] == "receipts" && len(parts) > 2:
		number, ok := parseDigits(strings.Join(parts[1:3], ""), 6, "")
		if !ok || len(parts[1]) != 3 {
			return ""
		}
		return strings.Join(parts[:3], "/") + before + "now it is ten directories from " + EntryDir(number*1000)
	case parts[0] == "sheets" && len(parts) == 2:
		if hash, ok := strings.CutSuffix(parts[1], ".json"); ok && isHash([]byte(hash)) {
			return "a sheet without a directory" + before + "now it is " + Place{Class: SheetFile, Hash: hash}.String()
		}
	}
	return ""
}

// parseNumberedPath reads the last element of the path; String then says whether the rest belongs to it.
func parseNumberedPath(path string) (p Place, ok bool) {
	top, _, _ := strings.Cut(path, "/")
	stem, ok := strings.CutSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json")
	if !ok || len(stem) < 64 {
		return p, false
	}
	p.Hash = stem[len(stem)-64:]
	if !isHash([]byte(p.Hash)) {
		return p, false
	}
	switch top {
	case "receipts":
		p.Class = EntryFile
	case "pr":
		p.Class = PullAlias
	case "hash":
		p.Class = HashAlias
	case "sheets":
		p.Class = SheetFile
	}
	if p.Class == EntryFile || p.Class == PullAlias {
		if p.Seq, ok = parseDigits(stem[:len(stem)-64], 9, "-"); !ok {
			return p, false
		}
	}
	if p.Class == PullAlias {
		folders := strings.Split(path, "/")
		if len(folders) != 5 {
			return p, false
		}
		// Pull request 0 does not exist; as a path it would be a third name of an entry outside a forge.
		if p.Pull, ok = parseDigits(folders[1]+folders[2]+folders[3], 8, ""); !ok || p.Pull == 0 {
			return p, false
		}
	}
	return p, p.Class != Unknown
}

// parseDigits reads exactly n decimal digits and the suffix behind them. ParseInt alone would also take a sign.
func parseDigits(s string, n int, suffix string) (int64, bool) {
	s, ok := strings.CutSuffix(s, suffix)
	if !ok || len(s) != n || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil
}

// RegularMode is the only mode that a file of the branch has: no symlink, no submodule, nothing executable. A link
// could show other bytes than were hashed (LDG-102).
const RegularMode = "100644"

// MaxBytes bounds a file of the class, by the size in its object header; nothing longer is ever inflated. A rulebook
// may have 5 MiB, as a submission may (S46); everything else but the page keeps to a receipt's 256 KiB.
func (c Class) MaxBytes() int64 {
	switch c {
	case SheetFile:
		return 5 << 20
	case PageFile:
		return 2 << 20
	}
	return 256 << 10
}

// Allowed is the closed world: it returns the place of a file that may be in a ledger, or why it may not. The git
// stores ask it of every file that they read or write.
func Allowed(path, mode string, size int64) (Place, error) {
	p, err := ParsePath(path)
	switch {
	case err != nil:
		return Place{}, err
	case mode != RegularMode:
		return Place{}, fmt.Errorf("%s has the mode %s, every file of a ledger has %s", path, clipForeign(mode),
			RegularMode)
	case size < 0 || size > p.Class.MaxBytes():
		return Place{}, fmt.Errorf("%s has %d bytes; at most %d are allowed", path, size, p.Class.MaxBytes())
	}
	return p, nil
}

// clipForeign shortens foreign text for a message. 120 characters show what it is; the rest is the author's to choose.
func clipForeign(s string) string {
	const most = 120
	return legible.Clip(s, most)
}
