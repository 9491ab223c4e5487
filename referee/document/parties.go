package document

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/nearest"
)

var (
	signatureHead = lazyRegexp(`(?i)^\W*(?:in witness where\s?of\b|signatures?(?: page| blocks?)?\W*$|\[?signature page|` +
		`executed (?:as of|by|on|as a deed)\b|agreed and accepted|the parties have (?:duly )?(?:executed|signed)|` +
		`signed (?:by|for and on behalf)|signatures\b)`)
	companyName = lazyRegexp(`(?:\b[A-Z][\w&’'-]*,?\s+(?:(?:of|and|&|the)\s+)?){1,6}(?:L\.?L\.?C\.?|Inc\.?|Corp(?:\.|` +
		`oration)?|` +
		`Ltd\.?|Limited|L\.?L\.?P\.?|L\.?P\.?|PLC|plc|GmbH|N\.A\.|Company|Co\.|Bank|Trust)(?:\b|$)`)
	numberWord = lazyRegexp(`^(?:[IVXLC]+|[0-9]+|One|Two|Three|Four|Five|First|Second|Third|North|South|East|West)$`)
)

// findSignaturePage finds the last line that begins a signature page.
func (d *Document) findSignaturePage() {
	for i, line := range d.lines {
		if signatureHead().MatchString(line) && (d.signs < 0 || !strings.Contains(strings.ToLower(line), "follows")) {
			d.signs = i
			return
		}
	}
}

// Signatures lists the parties whose names do not stand on the signature page.
func (d *Document) Signatures(parties []string) []Problem {
	page := ""
	if d.signs >= 0 {
		page = normalName(strings.Join(d.lines[d.signs:d.endOfSignatures()], " "))
	}
	var out []Problem
	for _, party := range parties {
		if name := normalName(party); name == "" || !containsName(page, name) {
			out = append(out, Problem{Line: max(1, d.signs+1), Found: oneLine(party),
				Want: "add a signature block for this party after the word SIGNATURES"})
		}
	}
	return out
}

// containsName reports whether a page holds a name whole: "First Bankers" is not First Bank.
func containsName(page, name string) bool {
	for at := 0; ; at++ {
		i := strings.Index(page[at:], name)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(page[:at])
		after, _ := utf8.DecodeRuneInString(page[at+len(name):])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
	}
}

// endOfSignatures is the line of the first attachment behind the signature page: a party that only an exhibit names has
// not signed.
func (d *Document) endOfSignatures() int {
	for _, h := range d.headings {
		if h.kind == "attachment" && h.line > d.signs {
			return h.line
		}
	}
	return len(d.lines)
}

// normalName is a name without the differences that are none: case, commas, full stops, white space.
func normalName(s string) string {
	s = strings.NewReplacer(",", " ", ".", "", "’", "'").Replace(strings.ToLower(s))
	return strings.Join(strings.Fields(s), " ")
}

// Names lists names of companies that are nearly a party's, with another letter or two: "Harbour LLC" for "Harbor LLC".
// Companies of one family that differ in a word or a number ("Harbor II LLC") are none.
func (d *Document) Names(parties []string) []Problem {
	known := map[string]bool{}
	for _, party := range parties {
		known[normalName(party)] = true
	}
	var out []Problem
	for _, m := range companyName().FindAllStringIndex(d.text, -1) {
		name := d.text[m[0]:m[1]]
		if known[normalName(name)] {
			continue
		}
		for _, party := range parties {
			if found, ok := nearlyNamed(name, party, known); ok {
				out = append(out, d.problemAt(m[0], found, `the party is "`+oneLine(party)+`"; write one name`))
				break
			}
		}
	}
	return sortByLine(out)
}

// nearlyNamed compares the end of a name, which may begin with words that are no part of it ("The Borrower Harbour
// LLC"), with a party's.
func nearlyNamed(name, party string, known map[string]bool) (string, bool) {
	words, want := strings.Fields(name), strings.Fields(party)
	if len(words) < len(want) || len(want) < 2 {
		return "", false
	}
	tail := words[len(words)-len(want):]
	found := strings.Join(tail, " ")
	if known[normalName(found)] || known[normalName(name)] {
		return "", false
	}
	differing := 0
	for i := range want {
		a, b := normalName(tail[i]), normalName(want[i])
		switch {
		case a == b:
		case isLegalForm(a) != isLegalForm(b):
			return "", false
		case i == len(want)-1 && isLegalForm(a): // Harbor Inc. for Harbor LLC; "LLC" looks like a number, too
			differing++
		case numberWord().MatchString(tail[i]) || numberWord().MatchString(want[i]):
			return "", false
		case min(len(a), len(b)) >= 4 && nearest.Word(a, []string{b}) == b:
			differing++
		default:
			return "", false
		}
	}
	return found, differing == 1
}

func isLegalForm(word string) bool {
	return slices.Contains([]string{"llc", "inc", "corp", "corporation", "ltd", "limited", "llp", "lp", "plc", "gmbh",
		"na", "company", "co", "bank", "trust"}, word)
}
