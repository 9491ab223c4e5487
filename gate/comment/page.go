package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/defendableos/referee/report"
)

// What GitHub takes (gate.md, "Limits"). Over it a write is refused, and of a job summary all is lost.
const (
	maxReview  = 60_000     // bytes of a review or a comment: 65,536 characters are taken
	maxCheck   = 65_535     // bytes of a check's summary, and of its text
	maxTitle   = 255        // characters of a title; kept to bytes
	maxSummary = 900 * 1024 // bytes of the job summary: 1 MiB is taken
	maxDetail  = 64 * 1024  // bytes of an annotation's message, and of its details
)

// The lengths of hostile text in a paper, in characters.
const (
	nameLength     = 160
	sentenceLength = 1200
)

// block is a part of a paper that is shown whole or not at all. Name is what it is called where it is left out.
type block struct{ name, text string }

// roomForRest is kept for the sentence about what is left out.
const roomForRest = 260

// joinWithin joins blocks up to limit bytes, and says what is left out.
func joinWithin(blocks []block, limit int) string {
	size := 0
	for _, b := range blocks {
		size += len(b.text)
	}
	if size <= limit {
		return joinBlocks(blocks)
	}
	var kept []block
	left := map[string]int{}
	for size = roomForRest; len(blocks) > 0; blocks = blocks[1:] {
		if size += len(blocks[0].text); size > limit {
			break
		}
		kept = append(kept, blocks[0])
	}
	var order []string
	for _, b := range blocks {
		if left[b.name]++; left[b.name] == 1 {
			order = append(order, b.name)
		}
	}
	return joinBlocks(kept) + leftOutSentence(order, left)
}

func joinBlocks(blocks []block) string {
	var b strings.Builder
	for _, bl := range blocks {
		b.WriteString(bl.text)
	}
	return b.String()
}

// leftOutSentence is the sentence about what is left out, in at most roomForRest bytes.
func leftOutSentence(order []string, left map[string]int) string {
	var parts []string
	for _, name := range order[:min(len(order), 5)] {
		parts = append(parts, countOf(left[name], name))
	}
	if len(order) > 5 {
		parts = append(parts, "and more")
	}
	return fmt.Sprintf(
		"\n_This page is full. Left out: %s. The report file holds all of it._\n",
		strings.Join(parts, ", "),
	)
}

// countOf is a count with its noun.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(noun, "s"))
}

// fairShares shares a budget out: who needs less than an even part leaves the rest to the others.
func fairShares(needs []int, budget int) []int {
	order := make([]int, len(needs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(needs[a], needs[b]) })
	shares := make([]int, len(needs))
	for k, i := range order {
		shares[i] = min(needs[i], budget/(len(order)-k))
		budget -= shares[i]
	}
	return shares
}

// cutToBytes cuts a text that GitHub shows as it is to a number of bytes, between two characters.
func cutToBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// codeName and quoted are hostile text in a line of markdown: a name, and a sentence.
func codeName(s string) string     { return report.Code(s, nameLength) }
func codeSentence(s string) string { return report.Code(s, sentenceLength) }

// tableCell is hostile text in a table.
func tableCell(s string) string { return report.Cell(s, nameLength) }

// plainText is hostile text where GitHub shows text as it is.
func plainText(s string) string { return report.Plain(s, sentenceLength) }
