package document

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateCorpus = flag.Bool("update", false, "write testdata/agreements again from clauses.txt and agreements.txt")

// clause is one clause of the corpus, before its number is known.
type clause struct {
	key, title, body string
	subs             []clause
}

// agreement is one agreement of the corpus: who agrees, in which style it is numbered, and its clauses.
type agreement struct {
	name, style, title, sign string
	parties, roles           [2]string
	contents                 bool
	clauses                  []clause
	attached                 []attachedPart
}

// attachedPart is an exhibit or a schedule, with a numbering of its own where it has clauses.
type attachedPart struct {
	label, title string
	clauses      []clause
}

// headingStyle says how a style writes headings and references. %n and %r number the clause, %m, %M (two digits) and
// %a (letter) the part of it, %k runs through the whole agreement; %t is the title, %T the title in capitals.
type headingStyle struct {
	top, sub, refTop, refSub, word string
	wrap                           int
	articled                       bool // a clause without parts becomes an article with one
}

var headingStyles = map[string]headingStyle{
	"dotted":    {"%n. %t.", "%n.%m %t. ", "Section %n", "Section %n.%m", "Section", 78, false},
	"capitals":  {"%n. %T", "%n.%m. %t. ", "Section %n", "Section %n.%m", "Section", 0, false},
	"section":   {"Section %n. %t.", "%n.%m %t. ", "section %n", "section %n.%m", "section", 72, false},
	"sign":      {"§ %n %t", "§ %n.%m %t. ", "§ %n", "§ %n.%m", "section", 78, false},
	"article":   {"ARTICLE %r\n%T", "Section %n.%M %t. ", "Article %r", "Section %n.%M", "Article", 80, true},
	"running":   {"ARTICLE %r - %T", "Section %k. %t. ", "Article %r", "Section %k", "Article", 76, true},
	"again":     {"Article %r. %t", "Section %m. %t. ", "Article %r", "Article %r, Section %m", "Article", 0, true},
	"arabic":    {"ARTICLE %n. %T", "%n.%m %t. ", "Article %n", "Section %n.%m", "Article", 0, true},
	"markdown":  {"## %n. %t", "### %n.%m %t\n\n", "Section %n", "Section %n.%m", "Section", 0, false},
	"bold":      {"**%n. %t.**", "**%n.%m** %t. ", "Section %n", "Section %n.%m", "Section", 0, false},
	"bracket":   {"%n) %t", "%n.%m) %t: ", "clause %n", "clause %n.%m", "clause", 78, false},
	"clause":    {"%n %T", "%n.%m %t. ", "clause %n", "clause %n.%m", "clause", 70, false},
	"lettered":  {"%n. %t.", "    (%a) %t. ", "Section %n", "Section %n(%a)", "Section", 78, false},
	"zero":      {"%n.0 %T", "%n.%m %t. ", "Section %n", "Section %n.%m", "Section", 0, false},
	"paragraph": {"%n.\t%t.", "\t%n.%m\t%t. ", "paragraph %n", "paragraph %n.%m", "paragraph", 78, false},
}

// readClauses reads "@ key | Title", its text, and "+ key | Title | text" for its parts.
func readClauses(text string) (out []clause) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		fields := strings.Split(rest, " | ")
		switch {
		case mark == "@":
			out = append(out, clause{key: fields[0], title: fields[1]})
		case mark == "+":
			c := &out[len(out)-1]
			c.subs = append(c.subs, clause{key: fields[0], title: fields[1], body: fields[2]})
		case len(out[len(out)-1].subs) > 0:
			subs := out[len(out)-1].subs
			subs[len(subs)-1].body += "\n" + line
		default:
			c := &out[len(out)-1]
			c.body = strings.TrimSpace(c.body + "\n" + line)
		}
	}
	return out
}

// corpus reads the forty agreements.
func corpus(t testing.TB) []agreement {
	t.Helper()
	shared := map[string]clause{}
	for _, c := range readClauses(readTestdata(t, "clauses.txt")) {
		shared[c.key] = c
	}
	var out []agreement
	for block := range strings.SplitSeq(strings.TrimSpace(readTestdata(t, "agreements.txt")), "\n\n") {
		head, rest, _ := strings.Cut(block, "\n")
		f := strings.Split(strings.TrimPrefix(head, "= "), " | ")
		a := agreement{name: f[0], style: f[1], title: f[2], parties: [2]string{f[3], f[5]},
			roles: [2]string{f[4], f[6]}, sign: f[7], contents: len(f) > 8}
		list := &a.clauses
		for part := range strings.SplitSeq(rest, "\n") {
			mark, words, _ := strings.Cut(part, " ")
			switch mark {
			case "use":
				for key := range strings.FieldsSeq(words) {
					if _, known := shared[key]; !known {
						t.Fatalf("%s: no clause %q in clauses.txt", a.name, key)
					}
					*list = append(*list, shared[key])
				}
			case "&":
				label, title, _ := strings.Cut(words, " | ")
				a.attached = append(a.attached, attachedPart{label: label, title: title})
				list = &a.attached[len(a.attached)-1].clauses
			case "@":
				*list = append(*list, readClauses(part)...)
			default:
				last := len(*list) - 1
				(*list)[last] = readClauses("@ " + (*list)[last].key + " | " + (*list)[last].title + "\n" +
					clauseSource((*list)[last]) + "\n" + part)[0]
			}
		}
		out = append(out, a)
	}
	return out
}

func clauseSource(c clause) string {
	text := c.body
	for _, s := range c.subs {
		text += "\n+ " + s.key + " | " + s.title + " | " + s.body
	}
	return strings.TrimSpace(text)
}

func readTestdata(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var referenceMark = regexp.MustCompile(`\{(ref|no2):([A-Za-z]+)(?:,([A-Za-z]+))?((?:\([a-z]\))?)\}`)

// numbersOf gives each clause and part the words by which others refer to it.
func numbersOf(list []clause, style headingStyle) map[string]string {
	out, running := map[string]string{}, 0
	for n, c := range list {
		subs := c.subs
		if style.articled && len(subs) == 0 {
			subs = []clause{{}}
		}
		out[c.key] = fillNumbers(style.refTop, n+1, 0, running, "")
		for m, s := range subs {
			running++
			if s.key != "" {
				out[s.key] = fillNumbers(style.refSub, n+1, m+1, running, "")
			}
		}
	}
	return out
}

func fillNumbers(format string, n, m, running int, title string) string {
	return strings.NewReplacer("%n", fmt.Sprint(n), "%r", romanText(n), "%m", fmt.Sprint(m),
		"%M", fmt.Sprintf("%02d", m), "%a", string(rune('a'+max(m, 1)-1)), "%k", fmt.Sprint(running),
		"%t", title, "%T", strings.ToUpper(title)).Replace(format)
}

// text writes the agreement as people would: title, parties, clauses, signatures, attachments.
func (a agreement) text() string {
	style := headingStyles[a.style]
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", a.title)
	if a.contents {
		b.WriteString("TABLE OF CONTENTS\n\n")
		for n, c := range a.clauses {
			head := strings.ReplaceAll(fillNumbers(style.top, n+1, 0, 0, c.title), "\n", " ")
			fmt.Fprintf(&b, "%s %s %d\n", head, strings.Repeat(".", max(3, 60-len(head))), 1+n/2)
		}
		b.WriteString("\n")
	}
	b.WriteString(wrapText(fmt.Sprintf("This agreement (this \"Agreement\") is made as of March 2, 2026 between %s "+
		"(the \"%s\") and %s (the \"%s\").", a.parties[0], a.roles[0], a.parties[1], a.roles[1]), style.wrap))
	b.WriteString("\n\nThe parties agree as follows:\n\n")
	numbers := numbersOf(a.clauses, style)
	a.writeClauses(&b, a.clauses, style, numbers)
	a.writeSignatures(&b)
	for _, part := range a.attached {
		fmt.Fprintf(&b, "%s\n%s\n\n", part.label, part.title)
		own := numbersOf(part.clauses, style)
		for key, ref := range numbers {
			if _, known := own[key]; !known {
				own[key] = ref
			}
		}
		a.writeClauses(&b, part.clauses, style, own)
	}
	return b.String()
}

func (a agreement) writeClauses(b *strings.Builder, list []clause, style headingStyle, numbers map[string]string) {
	running := 0
	fill := func(s string) string {
		s = strings.NewReplacer("{A}", a.roles[0], "{B}", a.roles[1], "{word}", style.word).Replace(s)
		s = referenceMark.ReplaceAllStringFunc(s, func(mark string) string {
			m := referenceMark.FindStringSubmatch(mark)
			if m[1] == "no2" {
				return numbers[m[2]] + " and " + numbers[m[3]]
			}
			return numbers[m[2]] + m[4]
		})
		return s
	}
	for n, c := range list {
		subs := c.subs
		if style.articled && len(subs) == 0 {
			subs, c.body = []clause{{title: c.title, body: c.body}}, ""
		}
		b.WriteString(fillNumbers(style.top, n+1, 0, 0, c.title))
		if c.body != "" {
			b.WriteString("\n\n" + wrapText(itemsOf(fill(c.body)), style.wrap))
		}
		b.WriteString("\n\n")
		for m, s := range subs {
			running++
			head := fillNumbers(style.sub, n+1, m+1, running, s.title)
			b.WriteString(wrapText(head+itemsOf(fill(s.body)), style.wrap) + "\n\n")
		}
	}
}

// itemsOf letters the lines that begin with "- ".
func itemsOf(body string) string {
	lines, letter := strings.Split(body, "\n"), 'a'
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, "- "); ok {
			lines[i] = "(" + string(letter) + ") " + rest
			letter++
		}
	}
	return strings.Join(lines, "\n")
}

// wrapText breaks lines at a column, as plain-text filings do; 0 leaves them long.
func wrapText(text string, column int) string {
	if column == 0 {
		return text
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		for len(line) > column {
			at := strings.LastIndexByte(line[:column], ' ')
			if at <= 0 {
				break
			}
			out, line = append(out, line[:at]), line[at+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// signaturePages are the ways in which agreements end; %[1]s and %[2]s are the parties.
var signaturePages = map[string]string{
	"witness": "[Signature page follows]\n\nIN WITNESS WHEREOF, the parties have signed this Agreement.\n\n" +
		"%[1]s\n\nBy: ____________________\nName: __________________\nTitle: _________________\n\n" +
		"%[2]s\n\nBy: ____________________\nName: __________________\nTitle: _________________\n\n",
	"heading": "SIGNATURES\n\n%[1]s\n/s/ Dana Wexley\nDana Wexley, President\n\n%[2]s\n/s/ Ira Quill\n\n",
	"columns": "IN WITNESS WHEREOF, the parties have signed.\n\n%[1]s          %[2]s\n\n" +
		"By: ______________          By: ______________\nDate: ____________          Date: ____________\n\n",
	"table": "## Signatures\n\n| %[1]s | %[2]s |\n|---|---|\n" +
		"| By: ______ | By: ______ |\n| Date: ______ | Date: ______ |\n\n",
	"deed": "EXECUTED as a deed by the parties on the date first written above.\n\nEXECUTED as a DEED by\n%[1]s\n" +
		"acting by: ______________\nin the presence of: ______________\n\n" +
		"EXECUTED as a DEED by\n%[2]s\nacting by: ______________\n\n",
	"notary": "IN WITNESS WHEREOF, the parties have executed this instrument.\n\n%[1]s\n\nBy: ______________\n\n" +
		"%[2]s\n\n" +
		"By: ______________\n\nSTATE OF NEW YORK    )\n                     ) ss.:\nCOUNTY OF NEW YORK   )\n\n" +
		"On the ____ day of ____________ in the year ____ " +
		"before me, the undersigned, personally appeared\n" +
		"____________, personally known to me.\n\n____________________\nNotary Public\nMy commission expires: __________\n\n",
	"boxes": "AGREED AND ACCEPTED\n\n[x] %[1]s has read this Agreement   [ ] and asks for a paper copy\n\n" +
		"X ______________\n\n" +
		"[x] %[2]s has read this Agreement   [ ] and asks for a paper copy\n\nX ______________\n\n",
}

func (a agreement) writeSignatures(b *strings.Builder) {
	fmt.Fprintf(b, signaturePages[a.sign], a.parties[0], a.parties[1])
	if len(a.attached) > 0 {
		b.WriteString("[Remainder of page intentionally left blank]\n\n")
	}
}

// TestCorpus holds that forty sound agreements, ten of them long and one very long, have no problem of any kind but
// unused terms.
//
// Source: 004 #229, 004 #230, 004 #231, 004 #232, 004 #233, 004 #234, 004 #235, 004 #236, 004 #237, 004 #239.
func TestCorpus(t *testing.T) {
	list := corpus(t)
	long, longest := 0, 0
	for _, a := range list {
		text := a.text()
		words := len(strings.Fields(text))
		if words >= 4500 {
			long++
		}
		longest = max(longest, words)
		path := filepath.Join("testdata", "agreements", a.name+".txt")
		if *updateCorpus {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if stored, err := os.ReadFile(path); err != nil || string(stored) != text {
			t.Errorf("%s: not what the clauses make; run go test -run TestCorpus -update", path)
		}
		if strings.Contains(text, "{") {
			t.Errorf("%s: a mark was not filled in: %q", a.name, text[strings.Index(text, "{"):][:20])
		}
		for kind, problems := range problemsByKind(text, a.parties[:]) {
			for _, p := range problems {
				t.Errorf("%s: %s: %s", a.name, kind, p)
			}
		}
	}
	if len(list) < 40 || long < 10 || longest < 13000 {
		t.Errorf("got %d agreements, %d long ones, the longest of %d words; want 40, 10, 13000", len(list), long, longest)
	}
}

// problemsByKind runs every check that raises a high or a mid flag.
func problemsByKind(text string, parties []string) map[string][]Problem {
	d := Read(text)
	return map[string][]Problem{"references": d.References(), "numbering": d.Numbering(),
		"attachments": d.Attachments(nil), "placeholders": d.Placeholders(), "figures": d.Figures(),
		"contradictions": d.Contradictions(nil), "names": d.Names(parties), "signatures": d.Signatures(parties),
		"undefined": d.Undefined()}
}
