package document

import (
	"slices"
	"sort"
	"strings"
)

const (
	numeral = `(?:[0-9]{1,3}(?:\.[0-9]{1,3})*|[IVXLC]{1,7})(?:\([A-Za-z0-9]{1,4}\))*`
	joined  = `\s*(?:,\s*(?:and|or)\b|,|\band/or\b|\band\b|\bor\b|\bthrough\b|\bto\b|&|–|-)\s*`
)

var (
	reference = lazyRegexp(`(?:\b(?i:sections|clauses|articles|paragraphs|subsections)|§§)\s*(` + numeral + `\b(?:` +
		joined + numeral + `\b)*)|(?:\b(?i:section|clause|article|paragraph|subsection)|§)\s*(` + numeral + `)`)
	numerals   = lazyRegexp(numeral)
	attachment = lazyRegexp(`\b(?i:(exhibit|schedule|annex|appendix)(s?))\s+["“]?(` +
		`(?:[A-Z]{1,2}|[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}|[IVX]{1,5})` +
		`(?:-[0-9]{1,2})?\b(?:\s*(?:,|\band\b|&|\bor\b|,\s*and\b)\s*(?:[A-Z]|[0-9]{1,3})\b)*)`)
	attachmentName = lazyRegexp(`[A-Z]{1,2}(?:-[0-9]{1,2})?|[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}(?:-[0-9]{1,2})?`)
	// elsewhere follows a reference into another document; ownWork does not.
	elsewhere = lazyRegexp(`^(?:\([A-Za-z0-9]{1,4}\))*,?\s*(?:of|to|under|in)\s+` +
		`(?:(?:the|that|that certain|such|its|any|Title|Chapter)\s+)?(?:[0-9]{4}\s+|[0-9]{1,2}\s+)?([A-Z][\w.’'-]*)`)
	ofOther    = lazyRegexp(`^(?:\([A-Za-z0-9]{1,4}\))*,?\s*(?:thereof|of (?:such|said|that)\b)`)
	behindCode = lazyRegexp(`(?:U\.?\s?S\.?\s?C\.?|C\.?\s?F\.?\s?R\.?|\bCode|\bAct|\bRegulations?|\bReg\.|\bRules?|` +
		`\bUCC|` +
		`\bU\.C\.C\.|\bDirective|\bGDPR|\bStatutes?|\bTreaty|\bConstitution|\bOrdinance),?\s*$`)
)

// References lists references to sections, clauses, articles and paragraphs that the text does not have.
func (d *Document) References() []Problem {
	var out []Problem
	numbers := d.numbersByScope()
	for _, m := range reference().FindAllStringSubmatchIndex(d.text, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if d.isHeadingAt(m[0]) || d.isExternal(m[0], to) || goesOnBehind(d.text, to) {
			continue
		}
		scope := d.scopeAt(m[0])
		for _, n := range numerals().FindAllString(d.text[from:to], -1) {
			name, items, _ := strings.Cut(n, "(")
			number, ok := numberOf(name)
			if !ok {
				continue
			}
			if number[0] >= statuteFrom && !d.hasNumberFrom(statuteFrom) {
				continue
			}
			if want := d.checkReference(numbers, scope, number, items); want != "" {
				out = append(out, d.problemAt(m[0], d.text[m[0]:to], want))
			}
		}
	}
	return sortByLine(out)
}

// statuteFrom is the first number that a statute's section has rather than an agreement's: "Section 408 governs
// evidence" in a text of twelve sections.
const statuteFrom = 100

func (d *Document) hasNumberFrom(least int) bool {
	return slices.ContainsFunc(d.headings, func(h heading) bool { return len(h.number) > 0 && h.number[0] >= least })
}

// checkReference says what is wrong with a reference, "" where it leads to a heading of its own scope or of the
// agreement.
func (d *Document) checkReference(numbers []map[string]int, scope int, number []int, items string) string {
	key := keyOf(number)
	for _, s := range []int{scope, 0} {
		i, ok := numbers[s][key]
		if !ok {
			continue
		}
		if item, _, found := strings.Cut(items, ")"); found && i >= 0 && !hasItem(d.bodyOf(i), "("+item+")") {
			return "section " + key + " has no (" + item + "); correct the reference"
		}
		return ""
	}
	return "the text has no section " + key + "; correct the reference, or restore the section"
}

// severalHeadings is the place of a number that several headings have, as where sections count anew in every article:
// which of them "(b)" is looked for in is not known.
const severalHeadings = -1

// numbersByScope maps each number to its heading. Articles and sections share the map: "Article 3" is written of a text
// whose headings are "3.", too.
func (d *Document) numbersByScope() []map[string]int {
	scopes := 1
	for _, h := range d.headings {
		scopes = max(scopes, h.scope+1)
	}
	out := make([]map[string]int, scopes)
	for i := range out {
		out[i] = map[string]int{}
	}
	for i, h := range d.headings {
		if h.kind == "attachment" {
			continue
		}
		key := keyOf(h.number)
		if _, known := out[h.scope][key]; known {
			i = severalHeadings
		}
		out[h.scope][key] = i
	}
	for _, h := range d.headings { // "2.0" and "2.1" make a section 2
		for n := range h.number {
			if key := keyOf(h.number[:n]); n > 0 {
				if _, known := out[h.scope][key]; !known {
					out[h.scope][key] = severalHeadings
				}
			}
		}
	}
	return out
}

func (d *Document) scopeAt(offset int) int {
	line := d.lineAt(offset)
	i := sort.Search(len(d.headings), func(i int) bool { return d.headings[i].line > line })
	if i == 0 {
		return 0
	}
	return d.headings[i-1].scope
}

// isHeadingAt reports whether a reference is the number of a heading itself, or a line of a table of contents.
func (d *Document) isHeadingAt(offset int) bool {
	i := d.lineAt(offset)
	if strings.Trim(d.text[d.starts[i]:offset], " \t#*_") != "" {
		return false
	}
	return d.headAt[i] || contentsLine().MatchString(d.lines[i])
}

// isExternal reports whether a reference is one into another document.
func (d *Document) isExternal(from, to int) bool {
	after := d.text[to:min(len(d.text), to+80)]
	if behindCode().MatchString(d.text[max(0, from-40):from]) || ofOther().MatchString(after) {
		return true
	}
	m := elsewhere().FindStringSubmatch(after)
	return m != nil && !d.title[strings.ToLower(strings.Trim(m[1], ".,"))] && !isOwnPart(m[1])
}

// isOwnPart reports whether a word names a part of this text: "Section 2 of Exhibit A".
func isOwnPart(word string) bool {
	return slices.Contains([]string{"Exhibit", "Schedule", "Annex", "Appendix", "Article", "Section"}, word)
}

// goesOnBehind reports whether a number is only the beginning of one: "409A", "1542", "9-509" are sections of codes.
func goesOnBehind(text string, at int) bool {
	return codeNumber().MatchString(text[at:min(len(text), at+2)])
}

var codeNumber = lazyRegexp(`^(?:[A-Za-z0-9]|-[0-9])`)

// Attachments lists exhibits, schedules, annexes and appendices that the text refers to, and that neither stand in it
// nor are among those that are said to be attached.
func (d *Document) Attachments(attached []string) []Problem {
	have := map[string]bool{}
	for _, name := range attached {
		have[strings.ToLower(strings.Join(strings.Fields(name), " "))] = true
	}
	for _, h := range d.headings {
		if h.kind == "attachment" {
			have[strings.ToLower(h.label)] = true
		}
	}
	var out []Problem
	for _, m := range attachment().FindAllStringSubmatchIndex(d.text, -1) {
		if d.isExternal(m[0], m[1]) || goesOnBehind(d.text, m[1]) || d.isHeadingAt(m[0]) {
			continue
		}
		kind := strings.ToLower(d.text[m[2]:m[3]])
		names := attachmentName().FindAllString(d.text[m[6]:m[7]], -1)
		if m[4] == m[5] && len(names) > 1 { // "Schedule 1 and 12 months": only the plural takes a list
			names = names[:1]
		}
		for _, name := range names {
			if !have[kind+" "+strings.ToLower(name)] {
				out = append(out, d.problemAt(m[0], d.text[m[0]:m[1]], titleCase(kind)+" "+name+" is not attached"))
			}
		}
	}
	return sortByLine(out)
}
