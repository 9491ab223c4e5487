package document

import (
	"slices"
	"strings"
)

// statement is a value that the text gives for something.
type statement struct {
	key   string // what it is the value of
	value string // in normal form
	found string // as written
	at    int
}

// Stated is a value that is known from outside of the text, by what it is the value of: {"maturity": "2031-11-30"}.
type Stated struct{ Key, Value string }

// Contradictions lists dates, notice periods, percentages and amounts that the text gives otherwise than before for the
// same thing, or otherwise than stated.
func (d *Document) Contradictions(stated []Stated) []Problem {
	var all []statement
	for _, s := range d.eachSentence() {
		if d.isSigning(s.at) {
			continue
		}
		all = append(all, datesOf(s)...)
		all = append(all, noticesOf(s)...)
		all = append(all, sharesAndAmountsOf(s)...)
	}
	first := map[string]statement{}
	for _, s := range stated {
		first["date "+s.Key] = statement{value: s.Value, found: s.Value, at: -1}
	}
	var out []Problem
	for _, s := range all {
		before, known := first[s.key]
		if !known {
			first[s.key] = s
			continue
		}
		if before.value == s.value {
			continue
		}
		where := "stated as " + before.found
		if before.at >= 0 {
			where = "line " + d.problemAt(before.at, "", "").lineText() + " says " + oneLine(before.found)
		}
		_, what, _ := strings.Cut(s.key, " ")
		out = append(out, d.problemAt(s.at, s.found, "the "+what+" is "+where+"; write one value"))
	}
	return sortByLine(out)
}

const labelWords = `((?:[A-Za-z][\w’'-]*\s+){1,6})`

var (
	// labelled is the words before a value, up to the verb that gives it.
	labelled = lazyRegexp(labelWords + `(?:\(["“][^"”]{1,40}["”]\)\s+)?(?:of|is|are|equals?|shall\s+be|will\s+be|` +
		`shall\s+equal|shall\s+mean|means|equal\s+to|in\s+the\s+(?:aggregate\s+|principal\s+|total\s+)*amount\s+of|:|=)\s*` +
		`(?:the\s+sum\s+of\s+)?(?:[A-Za-z -]{4,80}\()?$`)
	dateOf  = lazyRegexp(datePattern)
	valueOf = lazyRegexp(sharePattern + `|` + moneyPattern)
	// happens ties a date to a verb: "the Term Loan matures on …".
	happens = lazyRegexp(`(?i)([a-z][\w’'-]*\s+)?([a-z][\w’'-]*)\s+(?:shall\s+|will\s+)?(?:be\s+|is\s+|become\s+|` +
		`becomes\s+)?` +
		`(matures?|expires?|terminates?|commences?|begins?|effective|dated)\s+(?:on\s+|as\s+of\s+|from\s+)*(?:and\s+` +
		`effective\s+as\s+of\s+)?$`)
	dateLabel = lazyRegexp(`(?i)\b([a-z]+)\s+date["”)]*\s*(?:\([^)]{0,40}\)\s*)?(?:is|means|shall\s+be|shall\s+mean|` +
		`will\s+be|` +
		`of|:|,|on)?\s*(?:on\s+)?$`)
	// steps are words by which two values of one thing are no contradiction.
	steps = lazyRegexp(`(?i)\b(?:thereafter|year[s]? (?:one|two|three|[0-9])|first|second|third|fourth|fifth|` +
		`initial(?:ly)?|` +
		`subsequent|additional|increas\w*|escalat\w*|step\w*|tiers?|per occurrence|per claim|in (?:the )?aggregate|` +
		`exceed\w*|` +
		`up to|at least|at most|minimum|maximum|less than|more than|greater|lesser|between|not to exceed|no more than|` +
		`respectively|either|reduc\w*|decreas\w*|until|through|month[s]? [0-9]|if|unless|example|threshold|amend\w*|` +
		`supersed\w*|original(?:ly)?|formerly|previous(?:ly)?|prior|extend\w*|renew\w*)\b`)
)

// datesOf reads the dates of a sentence that something is tied to.
func datesOf(s sentence) (out []statement) {
	if steps().MatchString(s.text) {
		return nil
	}
	for _, m := range dateOf().FindAllStringIndex(s.text, -1) {
		before := s.text[max(0, m[0]-90):m[0]]
		key := ""
		if l := dateLabel().FindStringSubmatch(before); l != nil {
			key = strings.ToLower(l[1])
		} else if h := happens().FindStringSubmatch(before); h != nil {
			key = nameOccasion(strings.ToLower(h[3]), strings.ToLower(strings.TrimSpace(h[1])), strings.ToLower(h[2]))
		}
		if key != "" {
			out = append(out, statement{"date " + key, normalDate(s.text[m[0]:m[1]]), s.text[m[0]:m[1]], s.at + m[0]})
		}
	}
	return out
}

// nameOccasion is what happens on a date, and to what where that is not the agreement or the loan as a whole: the "Term
// Loan" and the "Revolving Loan" mature on their own days.
func nameOccasion(verb, adjective, noun string) string {
	names := map[string]string{"matur": "maturity", "expir": "expiration", "termi": "termination",
		"comme": "commencement", "begin": "commencement", "effec": "effective", "dated": "dated"}
	key := names[verb[:min(5, len(verb))]]
	if key == "dated" && !slices.Contains([]string{"agreement", "lease", "note", "deed", "contract"}, noun) {
		return ""
	}
	if key == "dated" && adjective != "this" {
		return "" // another document's date
	}
	if slices.Contains([]string{"", "the", "this", "a", "such", "said", "and", "that", "which"}, adjective) {
		return key
	}
	return adjective + " " + noun + " " + key
}

var (
	noticePeriod = lazyRegexp(`(?i)(?:` + numberWords + `(?:[\s-]` + numberWords + `)*\s*\(\s*)?([0-9]{1,3})\s*\)?\s*` +
		`(calendar\s+|business\s+|working\s+)?(days?|months?|weeks?)[’']?s?[’']?\s+(?:prior\s+|advance\s+|written\s+)*notice`)
	noticeAct = lazyRegexp(`(?i)\b(terminat\w*|cancel\w*|renew\w*|vacat\w*|assign\w*|inspect\w*|audit\w*|enter\w*|` +
		`resign\w*|` +
		`remov\w*|prepay\w*|withdraw\w*|suspend\w*|call\w*|relocat\w*|sublet\w*)\b`)
	noticeCause = lazyRegexp(`(?i)\b(?:for|without|upon|due to|because of|in case of)\s+(convenience|cause|any reason|` +
		`(?:material )?breach|(?:non-?)payment|default|insolvency|bankruptcy|(?:a )?change (?:of|in) control|force majeure|` +
		`(?:an )?emergency)\b`)
	actor = lazyRegexp(`(?i)\b(either party|each party|any party|(?:the\s+)?[A-Z][\w-]+)\s+(?:may|shall|must|can|` +
		`will|is|` +
		`has)\b`)
)

// noticesOf reads periods of notice by who may do what, and why. One clause that names two periods for the same act of
// the same party contradicts itself.
func noticesOf(s sentence) (out []statement) {
	found := noticePeriod().FindAllStringSubmatchIndex(s.text, -1)
	if len(found) == 0 || stepsOfNotice().MatchString(s.text) {
		return nil
	}
	who, act, why, object := "", "", "", ""
	from := 0
	for _, m := range found {
		part := s.text[from:m[1]]
		if a := actor().FindAllStringSubmatch(part, -1); len(a) > 0 {
			who, why = strings.TrimPrefix(strings.ToLower(a[len(a)-1][1]), "the "), ""
		}
		behindAct := part
		if a := noticeAct().FindAllStringIndex(part, -1); len(a) > 0 {
			last := a[len(a)-1]
			act, behindAct, object = strings.ToLower(part[last[0]:last[1]]), part[last[1]:], ""
			act = act[:min(5, len(act))]
		}
		if o := noticeObject().FindStringSubmatch(behindAct); o != nil {
			object = strings.ToLower(o[1]) + " "
		}
		rest := s.text[m[1]:min(len(s.text), m[1]+60)]
		if c := noticeCause().FindStringSubmatch(part + " " + clauseUpTo(rest)); c != nil {
			why = strings.ToLower(c[1])
		}
		from = m[1]
		if act == "" {
			continue
		}
		unit := strings.ToLower(s.text[m[6]:m[6]+3]) + strings.ToLower(strings.TrimSpace(submatchText(s.text, m, 2)))
		out = append(out, statement{strings.TrimSpace("notice period for " + who + " to " + act + "… " + object + why),
			s.text[m[2]:m[3]] + " " + unit, s.text[m[0]:m[1]], s.at + m[0]})
	}
	return out
}

// noticeObject is what the act is done to, where it has a name of its own: "prepay the Term Loan".
var noticeObject = lazyRegexp(`\b(?:the|its|such|any|each)\s+([A-Z][\w-]+\s+[A-Z][\w-]+)\b`)

var stepsOfNotice = lazyRegexp(`(?i)\b(?:at least one|depending|whichever|longer of|shorter of|if|first|second|` +
	`thereafter)\b`)

func clauseUpTo(s string) string {
	s, _, _ = strings.Cut(s, ",")
	s, _, _ = strings.Cut(s, ";")
	return s
}

func submatchText(s string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return s[m[2*n]:m[2*n+1]]
}

// sharesAndAmountsOf reads percentages and amounts by the words before them.
func sharesAndAmountsOf(s sentence) (out []statement) {
	if steps().MatchString(s.text) {
		return nil
	}
	for _, m := range valueOf().FindAllStringIndex(s.text, -1) {
		before := s.text[max(0, m[0]-160):m[0]]
		if !endsAsLabel(before) {
			continue
		}
		l := labelled().FindStringSubmatch(before)
		if l == nil {
			continue
		}
		key := thingNamed(l[1])
		if key == "" {
			continue
		}
		found := s.text[m[0]:m[1]]
		if strings.ContainsAny(found, "%") || strings.Contains(found, "cent") {
			out = append(out, statement{"share " + key, normalShare(found), found, s.at + m[0]})
		} else {
			out = append(out, statement{"amount " + key, normalAmount(found), found, s.at + m[0]})
		}
	}
	return out
}

// endsAsLabel spares the long pattern where the last word cannot end a label.
func endsAsLabel(before string) bool {
	before = strings.TrimRight(before, " \t\n")
	return slices.ContainsFunc(labelEnds, func(end string) bool { return strings.HasSuffix(before, end) })
}

var labelEnds = strings.Fields("of is are equal equals be mean means to : = (")

var skipWords = strings.Fields(
	`a an the this that such said any each every all its their his her our your and or but in on at
	for to of by with under from as is are be will shall pay pays paid may must not no per which who
	whose hereby there only also then it they where when equal amount sum total aggregate rate
	portion remainder balance payable amounts`,
)

// things are single words that name one thing of an agreement by themselves.
var things = strings.Fields(
	`loan rent salary royalty retainer deposit commitment interest commission retainage premium`,
)

// thingNamed is what a value is the value of: the last words before the verb that are not filling. One word that any
// value may have ("fee", "cost") names nothing.
func thingNamed(label string) string {
	var words []string
	fields := strings.Fields(label)
	for i := len(fields) - 1; i >= 0 && len(words) < 3; i-- {
		word := strings.Trim(strings.ToLower(fields[i]), "’'-")
		if slices.Contains(skipWords, word) {
			if len(words) == 0 && slices.Contains([]string{"rate", "amount", "sum", "total", "balance"}, word) {
				continue
			}
			break
		}
		words = append([]string{word}, words...)
	}
	switch {
	case len(words) >= 2:
		return strings.Join(words, " ")
	case len(words) == 1 && slices.Contains(things, words[0]):
		return words[0]
	}
	return ""
}
