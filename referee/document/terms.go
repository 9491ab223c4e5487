package document

import (
	"slices"
	"strings"
)

// termText is the words of a term, which a line break may part.
const termText = `(?:[^"“”\n]|\n[^"“”\n]){1,50}`

var (
	definition = lazyRegexp(`["“]([A-Z]` + termText + `)["”](?:\s*(?:,|or|and)\s*["“][A-Z]` + termText +
		`["”])*\s*(?:\)|\]|` +
		`(?:shall\s+)?(?:means?|refers?\s+to|includes?|has\s+the\s+(?:same\s+)?meaning|have\s+the\s+(?:same\s+)?meanings?|` +
		`is\s+defined|:))|(?:hereinafter|hereafter|referred\s+to\s+as|called|collectively|each|individually|together)` +
		`[^"“\n]{0,40}["“]([A-Z]` + termText + `)["”]`)
	definedName = lazyRegexp(`["“]([A-Z](?:[^"“”\n]|\n[^"“”\n]){1,50})["”]`)
	asRole      = lazyRegexp(`,?\s+as\s+(?:the\s+)?([a-z]+\s+)?([A-Z][a-z]+(?:\s+[A-Z][a-z]+)?)\b`)
	roleLine    = lazyRegexp(`(?m)^\s*(?:\*\*)?([A-Z][A-Za-z ]{2,30}?)(?:\*\*)?\s*:`)
	usedTerm    = lazyRegexp(`\b(?:[Tt]he|[Ss]uch|[Aa]ny|[Ee]ach|[Tt]his|[Tt]hat|by|to|` +
		`of)\s+([A-Z][a-z]+(?:\s+[A-Z][a-z]+)?)`)
)

// roles and things that agreements define before they use them. A capital letter alone makes no term: names of people,
// places, courts and statutes have one too.
var definable = strings.Fields(
	`debtor borrower lender landlord tenant lessor lessee buyer seller purchaser vendor supplier
	customer client contractor subcontractor consultant licensor licensee franchisor franchisee
	employer employee executive guarantor obligor obligee mortgagor mortgagee pledgor pledgee
	grantor grantee assignor assignee indemnitor indemnitee discloser recipient distributor
	manufacturer sponsor servicer trustee depositor insurer insured premises collateral deliverables
	deliverable escrow royalties`,
)

var documents = strings.Fields("Agreement Act Code Deed Law Note Lease Contract Documents")

// Undefined lists well-known terms that the text uses with a capital letter, and nothing defines.
func (d *Document) Undefined() []Problem {
	defined := d.definedWords()
	var out []Problem
	told := map[string]bool{}
	for _, m := range usedTerm().FindAllStringSubmatchIndex(d.text, -1) {
		first, second, _ := strings.Cut(strings.Join(strings.Fields(d.text[m[2]:m[3]]), " "), " ")
		if slices.Contains(documents, second) {
			continue // "the Escrow Agreement" is another document's name
		}
		word := stripPlural(strings.ToLower(first))
		if !slices.Contains(definable, word) && !slices.Contains(definable, strings.ToLower(first)) || defined[word] ||
			told[word] || d.isSigning(m[0]) {
			continue
		}
		told[word] = true
		out = append(out, d.problemAt(m[2], first, "no definition; define the term, or write it small"))
	}
	return sortByLine(out)
}

// definedWords are the words of all definitions, singular and small.
func (d *Document) definedWords() map[string]bool {
	words := map[string]bool{}
	add := func(term string) {
		for _, word := range strings.Fields(strings.ToLower(term)) {
			words[stripPlural(strings.Trim(word, ".,;:()’'"))] = true
		}
	}
	for _, m := range definedName().FindAllStringSubmatch(d.text, -1) {
		add(m[1])
	}
	for _, m := range asRole().FindAllStringSubmatch(d.text, -1) {
		add(m[2])
	}
	for _, m := range roleLine().FindAllStringSubmatch(d.text, -1) {
		add(m[1])
	}
	// "The Borrower, Harbor LLC, shall" names who it is in apposition.
	for _, m := range apposition().FindAllStringSubmatch(d.text, -1) {
		add(m[1])
	}
	return words
}

var apposition = lazyRegexp(`\b[Tt]he\s+([A-Z][a-z]+(?:\s+[A-Z][a-z]+)?),\s+(?:[A-Z][\w&.’'-]*,?\s+){1,6}`)

func stripPlural(word string) string {
	switch {
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "ss"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// maxTerms bounds how many definitions are looked for: each is one reading of the text.
const maxTerms = 300

// Unused lists terms that the text defines and never uses again.
func (d *Document) Unused() []Problem {
	var out []Problem
	folded := strings.ToLower(strings.Join(strings.Fields(d.text), " "))
	told := map[string]bool{}
	for _, m := range definition().FindAllStringSubmatchIndex(d.text, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		term := strings.TrimRight(strings.Join(strings.Fields(d.text[from:to]), " "), ".,;: ")
		if told[term] || len(term) < 3 || len(told) == maxTerms {
			continue
		}
		told[term] = true
		if countTerm(folded, term) < 2 {
			out = append(out, d.problemAt(from, term, "the term is defined and never used; use it, or leave it out"))
		}
	}
	return sortByLine(out)
}

// countTerm counts a term, in any case and with or without a plural s.
func countTerm(folded, term string) int {
	stem := strings.ToLower(term)
	if len(stem) > 4 {
		stem = strings.TrimSuffix(stem, "s")
		stem = strings.TrimSuffix(stem, "y")
	}
	return strings.Count(folded, stem)
}
