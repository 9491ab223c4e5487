package document

import (
	"slices"
	"strings"
)

var (
	placeholder = lazyRegexp(`\[[^\[\]\n]{0,80}\]|\$\{[^{}\n]{0,60}\}|\{\{[^{}\n]{0,60}\}\}|<<[^<>\n]{0,60}>>|` +
		`\b(?i:tbd|tbc|tba)\b|_{3,}|\b(?:XX|DD|MM|dd|mm|xx)[/.-](?:XX|DD|MM|dd|mm|xx)[/.-](?:XXXX|YYYY|XX|YY|yyyy|yy|` +
		`xxxx)\b|` +
		`\b20(?:XX|__|xx)\b|(?i:lorem ipsum)|\$\s?[Xx]{2,}(?:,[Xx]{3})*\b|\b[Xx]{4,}\b|[●•]{2,}`)
	// unfilled is what stands in brackets where something is to be filled in.
	unfilled = lazyRegexp(`^[\s_.●•*…-]*$|^(?i:(?:please |to )?(?:insert|enter|fill|add|specify|describe|state here|` +
		`confirm|` +
		`choose|select|complete|list|provide|drafting note|note to draft|to be (?:completed|determined|confirmed|inserted|` +
		`agreed|provided|advised))\b)|^(?i:(?:the |your |full |legal |company |client |party |borrower |lender |buyer |` +
		`seller |landlord |tenant |employee |employer |vendor |customer |street |mailing |email |effective |start |end |` +
		`closing |maturity |purchase |loan |first |last |other |counterparty )*(?:name|names|date|dates|amount|address|` +
		`company|party|title|number|email|phone|city|county|state|jurisdiction|term|price|rate|percentage|description|` +
		`day|month|year|address line|zip|zip code|x+|n|number of days|blank|tbd|tbc|tba|entity|signature|id)s?` +
		`(?: \d+| here| of [a-z ]+)?)$`)
	// shouted is [COMPANY NAME]; the notes below it are no placeholders.
	shouted = lazyRegexp(`^[A-Z][A-Z _/'’-]{2,}$`)
	notes   = lazyRegexp(`(?i)signature|page|omitted|reserved|intentionally|remainder|redacted|seal|sic\b|continued|` +
		`not used|follow|end of|confidential|notar|blank`)
	signingCue = lazyRegexp(`(?i)(?:\b(?:by|name|title|date|dated|its|signature|signed|witness|attest|print(?:ed)?|` +
		`notary|` +
		`email|e-mail|address|per|for and on behalf of|commission expires|initials?)\b[^:\n]{0,30}:?|\bx\b|/s/)\s*$`)
)

// Placeholders lists what nobody has filled in. A line to sign on is none, and a note such as "[Signature page
// follows]" is none.
func (d *Document) Placeholders() []Problem {
	var out []Problem
	for _, m := range placeholder().FindAllStringIndex(d.text, -1) {
		found := d.text[m[0]:m[1]]
		if d.isPlaceholder(found, m[0]) {
			out = append(out, d.problemAt(m[0], found, "fill it in"))
		}
	}
	return sortByLine(out)
}

func (d *Document) isPlaceholder(found string, at int) bool {
	switch {
	case strings.HasPrefix(found, "_"):
		return !d.isSignatureLine(at)
	case strings.HasPrefix(found, "["):
		inner := strings.TrimSpace(found[1 : len(found)-1])
		if d.isLinkAt(at+len(found)) || d.isCheckbox(inner, at) || inner == "***" {
			return false
		}
		return unfilled().MatchString(inner) || shouted().MatchString(inner) && !notes().MatchString(inner)
	case len(found) == 3 && strings.EqualFold(found[:2], "tb"):
		return !d.isNameAt(at, found)
	case strings.Trim(found, "X") == "":
		return !behindWord(d.text[max(0, at-20):at], "article", "part", "chapter", "title", "section", "volume")
	}
	return true
}

// isCheckbox is "[ ] Yes" and "[X] No" in a list of choices: a box with the words of the choice behind it.
func (d *Document) isCheckbox(inner string, at int) bool {
	line := d.lines[d.lineAt(at)]
	return (inner == "" || strings.EqualFold(inner, "x")) &&
		(strings.Count(line, "[ ]")+strings.Count(strings.ToLower(line), "[x]") >= 2 ||
			strings.HasPrefix(strings.TrimLeft(line, " \t-*"), "["))
}

// isLinkAt is the end of a Markdown link's text.
func (d *Document) isLinkAt(end int) bool { return strings.HasPrefix(d.text[end:], "(") }

// isNameAt tells the bank TBC from what is to be confirmed: a name goes on with a capital letter, or is defined.
func (d *Document) isNameAt(at int, word string) bool {
	rest := strings.TrimLeft(d.text[at+3:], " ")
	return word == strings.ToUpper(word) && len(rest) > 1 && rest[0] >= 'A' && rest[0] <= 'Z' && rest[1] >= 'a' ||
		d.isDefined(word)
}

// isDefined reports whether the text says ("TBC") of a name. Each word is looked for once.
func (d *Document) isDefined(word string) bool {
	known, ok := d.defined[word]
	if !ok {
		known = strings.Contains(d.text, `("`+word+`")`) || strings.Contains(d.text, "(“"+word+"”)")
		d.defined[word] = known
	}
	return known
}

// cueReach is how far, in bytes, a cue such as "By:" may stand before the line to sign on.
const cueReach = 64

// isSignatureLine reports whether underscores are a line to sign on: on the signature page, or behind "By:".
func (d *Document) isSignatureLine(at int) bool {
	i := d.lineAt(at)
	// A cue stands just before its line: a longer look would read a line of many blanks once for each.
	before := d.text[max(d.starts[i], at-cueReach):at]
	if d.isSigning(at) || signingCue().MatchString(before) {
		return true
	}
	// A line of nothing but underscores above "Name" or "Signature".
	if len(d.lines[i]) <= cueReach && strings.Trim(d.lines[i], "_ \t|") == "" {
		next := strings.TrimSpace(strings.Join(d.lines[min(i+1, len(d.lines)):min(i+3, len(d.lines))], " "))
		return signingCue().MatchString(firstWords(next, 3)) || strings.HasPrefix(next, "(")
	}
	return false
}

func firstWords(s string, n int) string {
	words := strings.Fields(s)
	return strings.Join(words[:min(n, len(words))], " ")
}

func behindWord(before string, words ...string) bool {
	last := strings.Fields(strings.ToLower(before))
	return len(last) > 0 && slices.Contains(words, last[len(last)-1])
}
