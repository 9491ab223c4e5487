package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// heading is a line that begins a numbered part of the text.
type heading struct {
	line   int
	kind   string // "article", "section" or "attachment"
	number []int  // {3, 1} of 3.1
	label  string // as people write it: "3.1", "IV", "Exhibit A"
	scope  int    // 0 is the agreement; each attachment behind a numbered heading has its own
	nested bool   // an item of a list inside of a section, which counts anew
}

var (
	// wordedLine is "Section 3", "ARTICLE IV.", "§ 2.01 Loan".
	wordedLine = lazyRegexp(`^\s*(?:#{1,6}\s*)?(?:\*\*|__)?\s*(?i:(article|section|clause|§))\s*` +
		`([0-9]{1,3}(?:\.[0-9]{1,3})*|[IVXLC]{1,7})\b(.*)$`)
	// numberedLine is "3. Loan", "3) Loan", "3.1 Loan".
	numberedLine = lazyRegexp(`^([ \t]*)(?:#{1,6}\s*)?(?:\*\*|__)?([0-9]{1,3}(?:\.[0-9]{1,3}){0,4})([.):]?)(?:\*\*|__)?` +
		`(?:[ \t]+(\S.*))?$`)
	// attachedLine is "EXHIBIT A", "Schedule 1 - Fees".
	attachedLine = lazyRegexp(`^\s*(?:#{1,6}\s*)?(?:\*\*|__)?\s*(?i:(exhibit|schedule|annex|appendix|attachment))\s+` +
		`["“]?([A-Z]{1,2}(?:-[0-9]{1,2})?|[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}|[IVX]{1,5})\b["”]?(.*)$`)
	contentsLine = lazyRegexp(`(?:\.{3,}|…|\t|\s{3,})\s*[0-9ivx]{1,4}\s*$`)
	contentsHead = lazyRegexp(`(?i)^\s*(?:#+\s*|\*\*)?(?:table of )?contents:?\**\s*$`)
	// goesOn ends a line whose sentence goes on in the next: what stands there is no heading.
	goesOn = lazyRegexp(`(?i)(?:,|\b(?:in|of|under|to|and|or|with|by|per|see|this|pursuant|sections?|clauses?|articles?|` +
		`paragraphs?|the|exhibits?|schedules?|through|from|for|than|within|at least|§))\s*$`)
)

// readHeadings finds the headings, in the order of the text.
func (d *Document) readHeadings() {
	r := headingReader{d: d}
	contents := false
	for i, line := range d.lines {
		switch {
		case contentsHead().MatchString(line):
			contents = true
			continue
		case contentsLine().MatchString(line):
			continue
		case strings.TrimSpace(line) == "":
			continue
		}
		h, ok := r.readLine(i, line)
		if contents {
			// A table of contents is left at its first line that is none of it.
			if contents = ok && len(line) <= 90 && !r.noteRepeated(h); contents {
				continue
			}
		}
		if ok {
			r.addHeading(h)
		}
	}
}

// headingReader keeps what tells a heading from an item of a list.
type headingReader struct {
	d      *Document
	scope  int
	top    int // the last heading of the first level
	indent int
	list   int // the last item of a list that counts anew, 0 outside of one
	seen   map[string]bool
}

// noteRepeated notes the headings of a table of contents, and reports whether one comes again.
func (r *headingReader) noteRepeated(h heading) bool {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	key := h.kind + h.label
	defer func() { r.seen[key] = true }()
	return r.seen[key]
}

func (r *headingReader) readLine(i int, line string) (heading, bool) {
	if i > 0 && strings.TrimSpace(r.d.lines[i-1]) != "" && goesOn().MatchString(r.d.lines[i-1]) {
		return heading{}, false
	}
	if m := attachedLine().FindStringSubmatch(line); m != nil && isTitle(m[3]) && len(line) <= 120 {
		return heading{line: i, kind: "attachment", label: titleCase(m[1]) + " " + m[2]}, true
	}
	if m := wordedLine().FindStringSubmatch(line); m != nil && isTitle(m[3]) {
		kind := "section"
		if strings.EqualFold(m[1], "article") {
			kind = "article"
		}
		if number, ok := numberOf(m[2]); ok {
			return heading{line: i, kind: kind, number: number, label: m[2], scope: r.scope}, true
		}
	}
	m := numberedLine().FindStringSubmatch(line)
	if m == nil {
		return heading{}, false
	}
	number, ok := numberOf(m[2])
	return heading{line: i, kind: "section", number: number, label: m[2], scope: r.scope},
		ok && r.isNumbered(number, m[3], m[4])
}

// isNumbered tells "3. Loan" and "3.1 Loan" from a line that happens to begin with a number.
func (r *headingReader) isNumbered(number []int, stop, rest string) bool {
	if len(number) == 1 {
		return stop != "" || rest != "" && startsUpper(rest) && number[0] == r.top+1
	}
	if rest == "" {
		return true
	}
	return (startsUpper(rest) || strings.HasPrefix(rest, "(")) && number[0] <= r.top+3 &&
		!unitAfterNumber().MatchString(rest)
}

var unitAfterNumber = lazyRegexp(`^(?:USD|EUR|GBP|MM|M\b|%|x\b)`)

// addHeading keeps a heading, and decides whether it counts anew.
func (r *headingReader) addHeading(h heading) {
	line := r.d.lines[h.line]
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	switch {
	case h.kind == "attachment":
		if r.top > 0 || len(r.d.headings) > 0 && r.d.headings[len(r.d.headings)-1].scope > 0 {
			r.scope++
			r.top, r.list = 0, 0
		}
		h.scope = r.scope
	case h.kind == "section" && len(h.number) == 1:
		h.nested = r.isListItem(h.number[0], indent, line)
		if !h.nested {
			if r.top == 0 {
				r.indent = indent
			}
			r.top, r.list = h.number[0], 0
		}
	case h.kind == "article":
		r.top, r.list = h.number[0], 0
	default:
		r.top = max(r.top, h.number[0])
	}
	r.d.headings = append(r.d.headings, h)
	r.d.headAt[h.line] = true
}

// isListItem reports whether a number of the first level belongs to a list inside of a section: it begins again at 1,
// or goes on from there.
func (r *headingReader) isListItem(n, indent int, line string) bool {
	if r.top == 0 || wordedLine().MatchString(line) {
		return false
	}
	follows := n == r.list+1
	switch {
	case !follows:
		return false
	case n == 1:
		r.list = 1
		return true
	case n == r.top+1 && indent <= r.indent && !smallItem().MatchString(line):
		return false
	}
	r.list = n
	return true
}

// smallItem is "2. hold two workshops;", which is no heading.
var smallItem = lazyRegexp(`^\s*[0-9]{1,3}[.)]\s+[a-z]`)

// isTitle reports whether what stands behind a number on its line is a title, or nothing: "Section 3 shall apply" is a
// sentence.
func isTitle(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" {
		return true
	}
	if strings.ContainsAny(rest[:1], ".:)*_-") || strings.HasPrefix(rest, "–") || strings.HasPrefix(rest, "—") {
		rest = strings.TrimLeft(rest, ".:)*_-–— \t")
		return rest == "" || startsUpper(rest) || rest[0] == '(' || rest[0] == '['
	}
	return (startsUpper(rest) || rest[0] == '[') && !verbAfterNumber().MatchString(rest)
}

var verbAfterNumber = lazyRegexp(`^(?:Shall|May|And|Or)\b`)

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, "\"“'‘*_("))
	return unicode.IsUpper(r)
}

func titleCase(word string) string { return strings.ToUpper(word[:1]) + strings.ToLower(word[1:]) }

// numberOf reads "3.1" and "IV".
func numberOf(text string) ([]int, bool) {
	if text[0] < '0' || text[0] > '9' {
		n := romanNumber(text)
		return []int{n}, n > 0
	}
	var number []int
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		number = append(number, n)
	}
	return number, true
}

// romanNumber reads a Roman number up to 399, 0 where the letters make none: it is written again and compared.
func romanNumber(s string) int {
	value := map[byte]int{'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100}
	n := 0
	for i := range len(s) {
		v := value[s[i]]
		if i+1 < len(s) && value[s[i+1]] > v {
			v = -v
		}
		n += v
	}
	if n <= 0 || romanText(n) != s {
		return 0
	}
	return n
}

func romanText(n int) string {
	var b strings.Builder
	for _, step := range []struct {
		value int
		text  string
	}{{100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= step.value {
			b.WriteString(step.text)
			n -= step.value
		}
	}
	return b.String()
}

// keyOf is a number without leading zeros: 1.01 and 1.1 are one.
func keyOf(number []int) string {
	parts := make([]string, len(number))
	for i, n := range number {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}

// Numbering lists gaps and repetitions in the numbers of the headings, level by level.
func (d *Document) Numbering() []Problem {
	var out []Problem
	last, article := map[string]int{}, 0
	worded := slices.ContainsFunc(d.headings, func(h heading) bool { return h.kind == "article" })
	for _, h := range d.headings {
		if h.kind == "attachment" || h.nested {
			continue
		}
		n := h.number[len(h.number)-1]
		key := strconv.Itoa(h.scope) + h.kind
		if h.kind == "article" {
			article = n
		} else {
			key += keyOf(h.number[:len(h.number)-1])
			if worded && len(h.number) == 1 && n == 1 {
				last[key] = 0 // sections may count anew in every article
			}
		}
		before, known := last[key]
		switch {
		case n == before+1, !known && n == 0:
		case known && n <= before && before > 0:
			out = append(out, d.headingProblem(h, "this number comes twice, or out of order; renumber"))
		case !known && len(h.number) > 1 && worded && article == 0:
		default:
			want := append(slices.Clone(h.number[:len(h.number)-1]), before+1)
			out = append(out, d.headingProblem(h, keyOf(want)+" is missing before it; renumber, or restore the clause"))
		}
		last[key] = max(before, n)
	}
	return sortByLine(out)
}

func (d *Document) headingProblem(h heading, want string) Problem {
	return Problem{Line: h.line + 1, Section: h.label, Found: oneLine(d.lines[h.line]), Want: want}
}

// bodyOf is the text from a heading to the next one that is not below it.
func (d *Document) bodyOf(i int) string {
	if body, known := d.bodies[i]; known {
		return body
	}
	h, end := d.headings[i], len(d.lines)
	for _, next := range d.headings[i+1:] {
		if next.kind != "section" || !next.nested && len(next.number) <= len(h.number) {
			end = next.line
			break
		}
	}
	d.bodies[i] = strings.Join(d.lines[h.line:end], "\n")
	return d.bodies[i]
}

// hasItem reports whether a text holds "(b)" where an item begins, and not in a reference such as "3(b)".
func hasItem(body, token string) bool {
	for at := 0; ; at++ {
		i := strings.Index(body[at:], token)
		if i < 0 {
			return false
		}
		if at += i; at == 0 || strings.ContainsRune(" \t\n;,:.(–—-", rune(body[at-1])) {
			return true
		}
	}
}
