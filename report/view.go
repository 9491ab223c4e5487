package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/referee"
)

// submissionTitle is what a reader calls the submission: its run, else where it lies.
func submissionTitle(r *referee.Report) string {
	if r.Run.ID != "" {
		return CleanName(r.Run.ID)
	}
	return CleanName(submissionPath(r))
}

// submissionPath is the path of the judged file as the caller would write it, with the line of a .jsonl file.
func submissionPath(r *referee.Report) string {
	p := locateFile(r, r.Submission.Path)
	if r.Submission.Line > 0 {
		return fmt.Sprintf("%s:%d", p, r.Submission.Line)
	}
	return p
}

// locateFile is the path of a file of the report as the caller would write it. Location is the run folder or the
// submission itself, as the caller named it; the report's own paths are relative to the run folder.
func locateFile(r *referee.Report, file string) string {
	base := filepath.ToSlash(r.Location)
	switch {
	case base == "-":
		return "stdin"
	case base == "":
		return file
	case file == r.Submission.Path && path.Base(base) == path.Base(file) && r.Run.ID == "":
		return path.Clean(base)
	}
	if rest, ok := strings.CutSuffix("/"+base, "/"+r.Submission.Path); ok && r.Submission.Path != "" {
		base = strings.TrimPrefix(rest, "/")
		if strings.HasPrefix(r.Location, "/") {
			base = "/" + strings.TrimPrefix(base, "/")
		}
	}
	return path.Join(base, file)
}

// findingFile is the path of the file that a finding is about.
func findingFile(r *referee.Report, f *referee.Finding) string {
	if f.File == "" {
		return locateFile(r, r.Submission.Path)
	}
	return locateFile(r, f.File)
}

// findingPlace is where a finding stands inside the run: file:line:column.
func findingPlace(f *referee.Finding) string {
	switch {
	case f.Line > 0 && f.Column > 0:
		return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	case f.Line > 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return f.File
}

// absolutePlace is place with the path as the caller would write it.
func absolutePlace(r *referee.Report, f *referee.Finding) string {
	located := *f
	located.File = findingFile(r, f)
	return findingPlace(&located)
}

// pathURI is a path as a URI reference: every byte that is not plain is percent-encoded.
func pathURI(p string) string {
	u := url.URL{Path: p}
	if strings.HasPrefix(p, "/") {
		u.Scheme = "file"
	}
	return u.String()
}

// fingerprintOf names a finding across runs of the referee: the SHA-256 over the rules, the run, the pointer and the
// code. Line numbers are left out, so that a finding keeps its name when the text above it changes. Each part is
// written with its length before it: no two lists of parts have one encoding.
func fingerprintOf(r *referee.Report, f *referee.Finding) string {
	run := r.Run.ID
	if run == "" {
		run = fmt.Sprintf("%s#%d", r.Submission.Path, r.Submission.Line)
	}
	rules := slices.Sorted(slices.Values(f.RuleIDs))
	parts := append([]string{run, f.Pointer, f.Code}, rules...)
	h := sha256.New()
	h.Write([]byte("referee.finding/v1\n"))
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// undecidedHigh are the high rules that nobody could decide and no finding names, with their reason: they fail a report
// all the same (S39a).
func undecidedHigh(r *referee.Report) []referee.Check {
	var out []referee.Check
	for _, id := range r.Verdict.UndecidedHigh {
		if slices.ContainsFunc(r.Findings, func(f referee.Finding) bool {
			return f.Code == "policy.undecided" &&
				slices.Contains(f.RuleIDs, id)
		}) {
			continue // said as the finding that it is (S74)
		}
		c := referee.Check{ID: id, Tier: referee.High}
		if i := slices.IndexFunc(r.Checks, func(c referee.Check) bool { return c.ID == id }); i >= 0 {
			c = r.Checks[i]
		}
		out = append(out, c)
	}
	return out
}

// undecidedReason says why a check was not decided.
func undecidedReason(c referee.Check) string {
	switch {
	case c.Reason != "" && c.BlockedBy != "":
		return fmt.Sprintf("%s (blocked by %s)", CleanMessage(c.Reason), CleanName(c.BlockedBy))
	case c.BlockedBy != "":
		return "blocked by " + CleanName(c.BlockedBy)
	case c.Reason != "":
		return CleanMessage(c.Reason)
	case c.Status == referee.Open:
		return "waits for a person"
	}
	return "could not be decided"
}

// fixLines is the fix of a finding as text lines.
func fixLines(f *referee.Finding) []string {
	if f.Fix == nil {
		return nil
	}
	var lines []string
	if f.Fix.Text != "" {
		lines = append(lines, CleanMessage(f.Fix.Text))
	}
	const shown = 5
	for i, m := range f.Fix.Moves {
		if i == shown {
			lines = append(lines, fmt.Sprintf("… and %s", legible.Count(len(f.Fix.Moves)-shown, "other way")))
			break
		}
		lines = append(lines, fmt.Sprintf("move %s alone from %s to %s", CleanName(m.Input), CleanName(m.From),
			CleanName(m.To)))
	}
	return lines
}

// countByTier is the number of findings by tier.
func countByTier(r *referee.Report) string {
	var parts []string
	for _, c := range []struct {
		n    int
		tier referee.Tier
	}{{r.Verdict.Risk.High, referee.High}, {r.Verdict.Risk.Mid, referee.Mid}, {r.Verdict.Risk.Low, referee.Low}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.tier))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// sheetWithVersion is the rulebook with its version.
func sheetWithVersion(r *referee.Report) string {
	return CleanName(r.Sheet.Slug) + "@" + CleanName(r.Sheet.Version)
}
