package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// ReviewPaper is the body of the one review that the gate keeps on a pull request, at most 60,000 bytes. It begins with the block of markers, so
// that no text of a submission can stand before them: whose it is (Marker), the receipts (AnnouncedLine) and the heads that failed (Heads).
func (o *Outcome) ReviewPaper() string {
	markers := o.Marker().String() + "\n"
	hashed := slices.DeleteFunc(slices.Concat(o.Entries, o.Receipts), func(e ledger.Entry) bool { return !fullHash.MatchString(e.Hash) })
	for _, line := range []string{AnnouncedLine(hashed), o.Heads.Add(o.Head, o.failedRuns()).Line()} {
		if line != "" {
			markers += line + "\n"
		}
	}
	return markers + "\n" + o.paper(maxReview-len(markers)-1)
}

// failedRuns are the folders of the runs that fail at this head, and that no counted review accepts.
func (o *Outcome) failedRuns() []string {
	var out []string
	for _, a := range o.Audits {
		if a.Work == nil || o.failing(a.Work) {
			out = append(out, a.Dir)
		}
	}
	return out
}

// SummaryPaper is the whole job summary, at most 900 KiB.
func (o *Outcome) SummaryPaper() string { return o.paper(maxSummary) }

// paper is what the review and the summary say: the sections around the runs have their parts of the limit, and the runs have what is left.
func (o *Outcome) paper(limit int) string {
	front, back := written(o.front(), limit), written(o.back(), limit)
	return front + o.runs(limit-len(front)-len(back)) + back
}

// section is a titled part of a paper. Share is how much of the limit it may take at most, in percent: together they leave a seventh to the runs.
type section struct {
	title  string
	share  int
	blocks []block
}

// written gives the sections that say something, each within its share.
func written(sections []section, limit int) string {
	var b strings.Builder
	for _, s := range sections {
		if len(s.blocks) == 0 {
			continue
		}
		title := ""
		if s.title != "" {
			title = "\n### " + s.title + "\n\n"
		}
		b.WriteString(title + page(s.blocks, limit*s.share/100-len(title)))
	}
	return b.String()
}

// front is what stands before the runs.
func (o *Outcome) front() []section {
	return []section{
		{"", 8, o.head()},
		{"What could not be audited", 10, o.refusals()},
	}
}

// back is what stands after the runs.
func (o *Outcome) back() []section {
	return append([]section{
		{"Rulebook changes: they judge nothing here", 8, o.rulebook()},
		{"Agents beyond their limits", 14, o.violations()},
	}, o.signing()...)
}

// signing is what concerns the sign-off.
func (o *Outcome) signing() []section {
	return []section{
		{"Checklist", 7, o.checklist()},
		{"Reviews", 10, o.reviews()},
		{"In the way of every review", 5, append(listed("objection", o.Objections), listed("unknown identity", o.Unknown)...)},
		{"Receipts", 6, o.receipts()},
		{"What still waits", 5, listed("reason", o.Blocked)},
		{"What has happened since", 3, listed("change", o.Drift)},
		{"How to sign off", 5, o.instructions()},
		{"Notices", 4, o.notices()},
	}
}

// listed gives each text a line.
func listed(name string, texts []string) []block {
	var out []block
	for _, s := range texts {
		out = append(out, block{name, "- " + quoted(s) + "\n"})
	}
	return out
}

// headline is the whole outcome in a few words of our own.
func (o *Outcome) headline() string {
	switch {
	case o.Empty() && o.stopped():
		return "this change is refused"
	case o.Empty():
		return "no runs in this pull request"
	case o.refused() > 0:
		return "could not be audited"
	case !o.AuditPasses():
		return "the audit fails"
	case o.Signed():
		return "signed off"
	}
	return "the audit passes, and awaits a sign-off"
}

// refused is how much could not be audited.
func (o *Outcome) refused() int {
	n := len(o.Refusals)
	for _, a := range o.Audits {
		if a.Work == nil {
			n++
		}
	}
	return n
}

// head is the verdict and what one must know before reading on.
func (o *Outcome) head() []block {
	var b strings.Builder
	fmt.Fprintf(&b, "## Referee: %s\n\n", o.headline())
	if !o.Empty() {
		fmt.Fprintf(&b, "%s over %s; recommended: %s. Sign-off: %s.\n\n", o.counts(), many(len(o.Audits), "run"), o.recommended(), o.signOffTitle())
	}
	fmt.Fprintf(&b, "<sub>Audit %s of head %s, rulebooks from base %s.</sub>\n", code(o.Digest()), code(o.Head), code(o.Base))
	out := []block{{"verdict", b.String()}}
	warn := func(text string) { out = append(out, block{"warning", "\n> **Warning.** " + text + "\n"}) }
	if o.Direct {
		warn("The workflow that ran this audit came from the pull request itself: who can push to it can change what is posted here. Only a workflow of the default branch binds (`pull_request_target`).")
	}
	if n := o.chosen(); n > 0 {
		warn(fmt.Sprintf("Of %s the sheet was chosen by the pull request: the configuration lets any active sheet judge there.", many(n, "run")))
	}
	if n := o.worn(); n > 0 {
		warn(fmt.Sprintf("%s failed %d audits or more before, and this one too: what becomes of it is a human's decision.", many(n, "run"), maxRevisions))
	}
	if len(o.Removed) > 0 {
		out = append(out, block{"note", fmt.Sprintf("\nRemoved by this pull request: %s.\n", spans(o.Removed, 10))})
	}
	return out
}

func (o *Outcome) chosen() int {
	n := 0
	for _, a := range o.Audits {
		if a.Chosen {
			n++
		}
	}
	return n
}

// worn is how many runs fail again, and have used up their revisions.
func (o *Outcome) worn() int {
	n := 0
	for i := range o.Audits {
		if o.wornOut(&o.Audits[i]) {
			n++
		}
	}
	return n
}

func (o *Outcome) wornOut(a *Audited) bool {
	return a.Failed >= maxRevisions && (a.Work == nil || a.Work.Report.Fails(o.FailOn))
}

// recommended words the recommended action.
func (o *Outcome) recommended() string {
	if o.worn() > 0 {
		return "a human's decision"
	}
	return o.RecommendedAction()
}

func (o *Outcome) counts() string {
	high, mid, low := o.Totals()
	return fmt.Sprintf("%d high · %d mid · %d low", high, mid, low)
}

// refusals are what could not be audited, a line each.
func (o *Outcome) refusals() []block {
	var out []block
	for _, r := range o.Refusals {
		out = append(out, block{"refusal", fmt.Sprintf("- %s: %s\n", code(r.Path), quoted(r.Reason))})
	}
	for _, a := range o.Audits {
		if a.Work == nil {
			out = append(out, block{"refusal", fmt.Sprintf("- %s: %s\n", code(a.Dir), quoted(a.Refused))})
		}
	}
	return out
}

// rulebook is what the sheets and the configuration that the pull request edits would mean.
func (o *Outcome) rulebook() []block {
	var out []block
	for _, c := range o.Rulebook {
		var b strings.Builder
		fmt.Fprintf(&b, "- %s", code(c.Path))
		if c.Sheet != "" {
			slug, version, _ := strings.Cut(c.Sheet, "@")
			fmt.Fprintf(&b, " (%s@%s)", code(slug), code(version))
		}
		if c.Tested != "" {
			fmt.Fprintf(&b, ": %s", quoted(c.Tested))
		}
		out = append(out, block{"rulebook change", b.String() + "\n"})
		out = append(out, under("Would change", c.Turned)...)
		out = append(out, under("Warning", c.Warnings)...)
		out = append(out, under("Refused", c.Problems)...)
	}
	return out
}

// under is a short list below a list's entry; each text is a block of its own, so that a full page still shows the first.
func under(word string, texts []string) []block {
	const shown = 20
	var out []block
	for i, s := range texts {
		if i == shown {
			out = append(out, block{"line", fmt.Sprintf("  - %s: %d more\n", word, len(texts)-shown)})
			break
		}
		out = append(out, block{"line", fmt.Sprintf("  - %s: %s\n", word, quoted(s))})
	}
	return out
}

// violations are the limits that agents break; the drafts come last, so that no violation is left out for the draft of another.
func (o *Outcome) violations() []block {
	var out, drafts []block
	for i, v := range o.Governance {
		out = append(out, block{"violation", fmt.Sprintf("%d. %s by %s: %s\n", i+1, code(v.Kind), code(v.Agent), quoted(v.Reason))})
		if v.Draft != "" {
			drafts = append(drafts, block{"incident draft", fmt.Sprintf("\n<details><summary>Incident draft for %d, ready to commit</summary>\n\n%s\n</details>\n", i+1, report.FencedSource(v.Draft))})
		}
	}
	return append(out, drafts...)
}

// notices are what the reader must know beside, of the gate, of its runs, and what a refused write left out.
func (o *Outcome) notices() []block {
	out := listed("notice", o.Notices)
	for _, a := range o.Audits {
		for _, n := range a.Notices {
			out = append(out, block{"notice", fmt.Sprintf("- %s: %s\n", code(a.Dir), quoted(n))})
		}
	}
	for _, s := range o.NotPosted {
		out = append(out, block{"notice", "- Not posted: " + quoted(s) + "\n"})
	}
	return out
}
