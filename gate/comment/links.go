package comment

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/ledger"
)

var (
	site     = pattern.New(`^https?://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._~-]+)*$`)
	fullHash = pattern.New(`^[0-9a-f]{64}$`)
)

// maxLink is how long a link may be; the place of a longer one is shown without.
const maxLink = 1000

// pageAddress is the address of a page of the repository on the site, "" where that is not known.
func (o writer) pageAddress(parts ...string) string {
	if !site.MatchString(o.ServerURL) || o.Repository == "" {
		return ""
	}
	return o.ServerURL + escapeSegments(o.Repository) + escapeSegments(strings.Join(parts, "/"))
}

// linkToFile is a file of the head, and lines in it, as a link. The path is hostile: it stands in a code span, and
// percent-encoded in the address. A path that a browser would read as another one is shown without a link.
func (o writer) linkToFile(file string, line, end int) string {
	text := file
	if line > 0 {
		text += fmt.Sprintf(":%d", line)
	}
	span := codeName(text)
	odd := func(part string) bool { return part == "" || part == "." || part == ".." }
	if !memory.IsCommit(o.Head) || !utf8.ValidString(file) || slices.ContainsFunc(strings.Split(file, "/"), odd) {
		return span
	}
	to := o.pageAddress("blob", o.Head, file)
	if to == "" || len(to) > maxLink {
		return span
	}
	if line > 0 {
		to += fmt.Sprintf("#L%d", line)
	}
	if line > 0 && end > line {
		to += fmt.Sprintf("-L%d", end)
	}
	return "[" + span + "](" + to + ")"
}

// linkToEntry is where an entry of the ledger is read on the site; "" where that is not known.
func (o writer) linkToEntry(e ledger.Entry) string {
	repository := cmp.Or(o.Ledger.Repository, o.Repository)
	if !site.MatchString(o.ServerURL) || repository == "" || o.Ledger.Branch == "" || !fullHash.MatchString(e.Hash) {
		return ""
	}
	file := ledger.Place{Class: ledger.EntryFile, Seq: e.Receipt.Seq, Hash: e.Hash}.String()
	return o.ServerURL + escapeSegments(repository) + "/blob" + escapeSegments(o.Ledger.Branch) + escapeSegments(file)
}

// escapeSegments escapes each part of a path.
func escapeSegments(path string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(path, "/") {
		b.WriteString("/" + strings.ReplaceAll(url.PathEscape(part), "@", "%40"))
	}
	return b.String()
}

// shortHash is the beginning of a hash or commit, as a code span.
func shortHash(hash string, n int) string { return codeName(hash[:min(n, len(hash))]) }
