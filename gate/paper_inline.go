package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// maxInline is how many inline comments a pull request gets at most; more hide the conversation.
const maxInline = 30

// InlineComment is a comment on a line of the diff's new side. Fingerprint stands in its first line, so that it is found again.
type InlineComment struct {
	Path        string
	Line        int
	Fingerprint string
	Body        string
}

var fingerprintLine = newPattern(`^<!-- referee:finding/v1 ([0-9a-f]{64}) -->$`)

// ParseFingerprint reads the fingerprint of a comment of ours from its first line; "" where there is none.
func ParseFingerprint(body string) string {
	line, _, _ := strings.Cut(body, "\n")
	if m := fingerprintLine.FindStringSubmatch(strings.TrimSuffix(line, "\r")); m != nil {
		return m[1]
	}
	return ""
}

// InlinePapers are the comments on the lines of the pull request, the heaviest findings first: only where lines says that the diff shows the line,
// and at most one for a fingerprint. The rest stands in the review and in the annotations.
func (o *Outcome) InlinePapers(lines func(path string) map[int]bool) []InlineComment {
	var out []InlineComment
	seen := map[string]bool{}
	shown := map[string]map[int]bool{}
	for _, i := range o.items() {
		if len(out) == maxInline {
			break
		}
		if i.finding == nil || i.finding.Line < 1 {
			continue
		}
		if _, asked := shown[i.path]; !asked {
			shown[i.path] = lines(i.path)
		}
		if !shown[i.path][i.finding.Line] {
			continue
		}
		id := i.fingerprint()
		if seen[id] {
			continue
		}
		seen[id] = true
		out = append(out, InlineComment{Path: i.path, Line: i.finding.Line, Fingerprint: id, Body: i.comment(id)})
	}
	return out
}

// fingerprint names a finding over pushes: its rules, its run's folder, its place in the document and what was found there. Lines are left out, so
// that a text that moves keeps its comment; another claim, or another gate, is another finding.
func (i item) fingerprint() string {
	f := i.finding
	parts := []string{i.run.Dir, f.File, f.Pointer, f.Code}
	if s := f.Spot; s != nil {
		parts = append(parts, s.Claimed, s.Recomputed, s.Gate)
	} else {
		parts = append(parts, f.Message)
	}
	parts = append(parts, slices.Sorted(slices.Values(f.RuleIDs))...)
	h := sha256.New()
	h.Write([]byte("referee.comment/v1\n"))
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (i item) comment(fingerprint string) string {
	f := i.finding
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- referee:finding/v1 %s -->\n**%s** %s (%s)\n\n%s\n", fingerprint, tiers[f.Tier.Rank()], code(f.Code), code(string(f.Bucket)), quoted(f.Message))
	if f.Why != "" {
		fmt.Fprintf(&b, "\nWhy: %s\n", quoted(f.Why))
	}
	if f.Fix != nil && f.Fix.Text != "" {
		fmt.Fprintf(&b, "\nFix: %s\n", quoted(f.Fix.Text))
	}
	fmt.Fprintf(&b, "\nRun %s, rules %s\n", code(i.run.Dir), spans(f.RuleIDs, 5))
	return b.String()
}

// spans are hostile names in a line, at most limit of them.
func spans(names []string, limit int) string {
	var out []string
	for n, s := range names {
		if n == limit {
			out = append(out, fmt.Sprintf("%d more", len(names)-limit))
			break
		}
		out = append(out, code(s))
	}
	return strings.Join(out, ", ")
}
