package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/memory"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// writeReview makes the body of the one review that the gate keeps on a pull request, at most 60,000 bytes. It begins
// with the block of markers, so that no text of a submission can stand before them: whose it is (Marker), the receipts
// (AnnouncedLine) and the heads that failed (Heads).
func (o writer) writeReview() string {
	markers := o.Marker().String() + "\n"
	hashed := slices.DeleteFunc(
		slices.Concat(o.Entries, o.Receipts),
		func(e ledger.Entry) bool { return !fullHash.MatchString(e.Hash) },
	)
	for _, line := range []string{memory.AnnouncedLine(hashed), o.Heads.Add(o.Head, o.FailedRuns()).Line()} {
		if line != "" {
			markers += line + "\n"
		}
	}
	return markers + "\n" + o.allSections(maxReview-len(markers)-1)
}

// writeSummary makes the whole job summary, at most 900 KiB.
func (o writer) writeSummary() string { return o.allSections(maxSummary) }

// allSections is what the review and the summary say: the sections around the runs have their parts of the limit, and
// the runs have what is left.
func (o writer) allSections(limit int) string {
	front, back := joinSections(o.sectionsBeforeRuns(), limit), joinSections(o.sectionsAfterRuns(), limit)
	return front + o.runSections(limit-len(front)-len(back)) + back
}

// section is a titled part of a paper. Share is how much of the limit it may take at most, in percent: together they
// leave a seventh to the runs.
type section struct {
	title  string
	share  int
	blocks []block
}

// joinSections gives the sections that say something, each within its share.
func joinSections(sections []section, limit int) string {
	var b strings.Builder
	for _, s := range sections {
		if len(s.blocks) == 0 {
			continue
		}
		title := ""
		if s.title != "" {
			title = "\n### " + s.title + "\n\n"
		}
		b.WriteString(title + joinWithin(s.blocks, limit*s.share/100-len(title)))
	}
	return b.String()
}

// sectionsBeforeRuns is what stands before the runs: where things stand, and what a person has to do.
func (o writer) sectionsBeforeRuns() []section {
	questions := "Questions for a person"
	if o.SignedHere() {
		questions = "Questions and answers"
	}
	return []section{
		{"", 8, o.headBlocks()},
		{"What could not be audited", 10, o.refusalBlocks()},
		{"What is in the way", 9, o.inTheWay()},
		{"What has happened since", 3, listBlocks("change", o.Drift)},
		{questions, 8, o.checklistBlocks()},
		{"How to sign off", 7, o.howToSignOff()},
	}
}

// sectionsAfterRuns is what stands after the runs.
func (o writer) sectionsAfterRuns() []section {
	return []section{
		{"Rulebook changes: they judge nothing here", 8, o.rulebookBlocks()},
		{"Agents beyond their limits", 12, o.violationBlocks()},
		{"Reviews", 8, o.reviewBlocks()},
		{"Receipts", 6, o.receiptBlocks()},
		{"Notices", 4, o.noticeBlocks()},
		{"", 2, o.hashBlocks()},
	}
}

// listBlocks gives each text a line.
func listBlocks(name string, texts []string) []block {
	var out []block
	for _, s := range texts {
		out = append(out, block{name, "- " + codeSentence(s) + "\n"})
	}
	return out
}

// inTheWay is what keeps approvals from being a sign-off, beside findings and questions.
func (o writer) inTheWay() []block {
	out := append(listBlocks("objection", o.Objections), listBlocks("unknown identity", o.Unknown)...)
	if !o.SignedHere() {
		out = append(out, listBlocks("reason", o.Blocked)...)
	}
	for _, s := range o.WaitingSiblings() {
		text := fmt.Sprintf("- Pull request #%d has the same commit, and is not signed off", s.Pull)
		if s.Why != "" {
			text += ": " + codeSentence(s.Why)
		}
		out = append(
			out,
			block{
				"pull request",
				text + ". A check belongs to the commit: it is green when all of them are signed off, or the " +
					"others are closed.\n",
			},
		)
	}
	return out
}

// headBlocks is where things stand, and what one must know before reading on.
func (o writer) headBlocks() []block {
	out := []block{{"verdict", fmt.Sprintf("## Referee: %s\n\n%s\n", o.signOffState(codeName), o.verdictLine())}}
	if o.Direct {
		out = append(
			out,
			block{
				"warning",
				"\n> **Warning.** The workflow that ran this audit came from the pull request itself: anyone who can " +
					"push to it can change what is posted here. " +
					"Only a workflow on the default branch is binding (`pull_request_target`).\n",
			},
		)
	}
	if len(o.Removed) > 0 {
		out = append(out, block{"note", fmt.Sprintf("\nRemoved by this pull request: %s.\n", codeSpans(o.Removed, 10))})
	}
	return out
}

// verdictLine is the audit's verdict in one sentence, and what is recommended as long as nobody has signed.
func (o writer) verdictLine() string {
	if o.SignedHere() || len(o.Audits) == 0 {
		return o.verdictSentence()
	}
	return o.verdictSentence() + " Recommended: " + o.recommendedText() + "."
}

// verdictSentence is the audit's verdict in one sentence.
func (o writer) verdictSentence() string {
	switch {
	case o.Empty() && !o.Stopped():
		return "This pull request changes no runs: nothing was audited, and no sign-off is needed."
	case o.Empty() && o.BrokenRulebooks() > 0:
		return "The audit failed: the rulebook change in this pull request would be refused."
	case o.Empty():
		return "The audit failed: an agent is beyond its limits."
	case o.RefusedCount() > 0:
		return "The audit failed: not everything could be audited."
	}
	verdict := "failed"
	if o.PassesHere() {
		verdict = "passed"
	}
	text := fmt.Sprintf("The audit of %s %s: %s", countOf(len(o.Audits), "run"), verdict, o.countFindings())
	if o.Fails() && o.PassesHere() {
		text += ", accepted in review"
	}
	if elsewhere := o.FailingElsewhere(); len(elsewhere) > 0 {
		text += "; but " + nameSiblings(elsewhere, "a failing audit")
	}
	return text + "."
}

// hashBlocks name what was looked at, in short.
func (o writer) hashBlocks() []block {
	text := fmt.Sprintf(
		"\n<sub>Audit %s of commit %s, by the rulebooks of %s.",
		shortHash(o.Digest(), 8),
		shortHash(o.Head, 7),
		shortHash(o.Base, 7),
	)
	if o.LedgerHead != "" {
		text += fmt.Sprintf(
			" The ledger's newest entry is %s; `referee ledger verify` checks all of it.",
			shortHash(o.LedgerHead, 12),
		)
	}
	return []block{{"commit", text + "</sub>\n"}}
}

// recommendedText words the recommended action.
func (o writer) recommendedText() string {
	if o.WornOutRuns() > 0 {
		return "a human decides what happens next"
	}
	return o.RecommendedAction()
}

// refusalBlocks are what could not be audited, a line each.
func (o writer) refusalBlocks() []block {
	var out []block
	for _, r := range o.Refusals {
		out = append(
			out,
			block{"refusal", fmt.Sprintf("- %s: %s\n", o.linkToFile(r.Path, 0, 0), codeSentence(r.Reason))},
		)
	}
	for _, a := range o.Audits {
		if a.Work == nil {
			out = append(out, block{"refusal", fmt.Sprintf("- %s: %s\n", codeName(a.Dir), codeSentence(a.Refused))})
		}
	}
	return out
}

// rulebookBlocks is what the sheets and the configuration that the pull request edits would mean.
func (o writer) rulebookBlocks() []block {
	var out []block
	for _, c := range o.Rulebook {
		var b strings.Builder
		fmt.Fprintf(&b, "- %s", codeName(c.Path))
		if c.Sheet != "" {
			slug, version, _ := strings.Cut(c.Sheet, "@")
			fmt.Fprintf(&b, " (%s@%s)", codeName(slug), codeName(version))
		}
		if c.Tested != "" {
			fmt.Fprintf(&b, ": %s", codeSentence(c.Tested))
		}
		out = append(out, block{"rulebook change", b.String() + "\n"})
		out = append(out, nestedBlocks("Would change", c.Turned)...)
		out = append(out, nestedBlocks("Warning", c.Warnings)...)
		out = append(out, nestedBlocks("Refused", c.Problems)...)
	}
	return out
}

// nestedBlocks is a short list below a list's entry; each text is a block of its own, so that a full page still shows
// the first.
func nestedBlocks(word string, texts []string) []block {
	const shown = 20
	var out []block
	for i, s := range texts {
		if i == shown {
			out = append(out, block{"line", fmt.Sprintf("  - %s: %d more\n", word, len(texts)-shown)})
			break
		}
		out = append(out, block{"line", fmt.Sprintf("  - %s: %s\n", word, codeSentence(s))})
	}
	return out
}

// violationBlocks are the limits that agents break; the drafts come last, so that no violation is left out for the
// draft of another.
func (o writer) violationBlocks() []block {
	var out, drafts []block
	for i, v := range o.Governance {
		out = append(
			out,
			block{
				"violation",
				fmt.Sprintf("%d. %s by %s: %s\n", i+1, codeName(v.Kind), codeName(v.Agent), codeSentence(v.Reason)),
			},
		)
		if v.Draft != "" {
			drafts = append(
				drafts,
				block{
					"incident draft",
					fmt.Sprintf(
						"\n<details><summary>Incident draft for %d, ready to commit</summary>\n\n%s\n</details>\n",
						i+1,
						report.FencedSource(v.Draft),
					),
				},
			)
		}
	}
	return append(out, drafts...)
}

// noticeBlocks are what the reader must know beside, of the gate, of its runs, and what a refused write left out.
func (o writer) noticeBlocks() []block {
	out := listBlocks("notice", o.Notices)
	for _, a := range o.Audits {
		for _, n := range a.Notices {
			out = append(out, block{"notice", fmt.Sprintf("- %s: %s\n", codeName(a.Dir), codeSentence(n))})
		}
	}
	for _, s := range o.NotPosted {
		out = append(out, block{"notice", "- Not posted: " + codeSentence(s) + "\n"})
	}
	return out
}
