package document

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Problem is one thing that is wrong with a text.
type Problem struct {
	Line    int    // from 1
	Section string // number of the section that the line is in, "" before the first
	Found   string // the words of the text
	Want    string // what would be right
}

// Document is a text that has been read.
type Document struct {
	text     string
	lines    []string
	starts   []int // byte offset of each line
	headings []heading
	signs    int // line from which on parties sign, -1 where nothing begins a signature page
	title    map[string]bool
	headAt   map[int]bool   // lines that are headings
	bodies   map[int]string // of headings, by their index

	defined map[string]bool // words that are looked for as ("TBC"), and whether the text has them

	sentencesOnce sync.Once
	sentences     []sentence
}

// sentence is a part of the text that ends with a full stop, a semicolon or an empty line.
type sentence struct {
	text string
	at   int // byte offset
}

// Read reads a text. It never fails: a text without structure has no problems of structure.
func Read(text string) *Document {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	d := &Document{text: text, lines: strings.Split(text, "\n"), signs: -1, headAt: map[int]bool{},
		bodies: map[int]string{}, defined: map[string]bool{}}
	at := 0
	for _, line := range d.lines {
		d.starts = append(d.starts, at)
		at += len(line) + 1
	}
	d.readTitle()
	d.readHeadings()
	d.findSignaturePage()
	return d
}

// readTitle keeps the words of the first line: "of the Lease" in a lease is a reference to this text.
func (d *Document) readTitle() {
	d.title = map[string]bool{"agreement": true}
	for _, line := range d.lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(line) <= 120 && !numberedLine().MatchString(line) {
			for _, word := range strings.FieldsFunc(strings.ToLower(line), notLetter) {
				d.title[word] = true
			}
		}
		return
	}
}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

// lineAt is the number, from 0, of the line that holds a byte.
func (d *Document) lineAt(offset int) int {
	return max(0, sort.Search(len(d.starts), func(i int) bool { return d.starts[i] > offset })-1)
}

// problemAt makes a problem of what stands at a byte.
func (d *Document) problemAt(offset int, found, want string) Problem {
	line := d.lineAt(offset)
	return Problem{Line: line + 1, Section: d.sectionOf(line), Found: oneLine(found), Want: want}
}

// sectionOf is the number of the last heading at or above a line.
func (d *Document) sectionOf(line int) string {
	i := sort.Search(len(d.headings), func(i int) bool { return d.headings[i].line > line })
	if i == 0 {
		return ""
	}
	return d.headings[i-1].label
}

// isSigning reports whether a byte lies on the signature page.
func (d *Document) isSigning(offset int) bool { return d.signs >= 0 && d.lineAt(offset) >= d.signs }

// eachSentence splits the text once; several checks read it.
func (d *Document) eachSentence() []sentence {
	d.sentencesOnce.Do(func() {
		from := 0
		for _, m := range sentenceEnd().FindAllStringIndex(d.text, -1) {
			d.sentences = append(d.sentences, sentence{d.text[from:m[1]], from})
			from = m[1]
		}
		d.sentences = append(d.sentences, sentence{d.text[from:], from})
	})
	return d.sentences
}

var sentenceEnd = lazyRegexp(`[;?!]\s+|[a-z0-9)”"%]\.\s+|\n\s*\n`)

// oneLine puts words that a line break parts on one line, shortened.
func oneLine(s string) string {
	const most = 60
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// sortByLine puts problems into the order of the text, each once.
func sortByLine(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return slices.Compact(problems)
}

// placeText names a place for a message: "line 12, section 3.1".
func (p Problem) placeText() string {
	if p.Section == "" {
		return "line " + strconv.Itoa(p.Line)
	}
	return "line " + strconv.Itoa(p.Line) + ", section " + p.Section
}

func (p Problem) lineText() string { return strconv.Itoa(p.Line) }

// String is the problem in words, for a finding.
func (p Problem) String() string { return `"` + p.Found + `" (` + p.placeText() + "): " + p.Want }
