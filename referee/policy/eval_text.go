package policy

import (
	"regexp"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

// maxFinds bounds what one extract lists.
const maxFinds = 10_000

// chargeScan charges for reading a text. Searching costs by the byte, so a rule that reads a book for every row is
// bounded like any other.
func (ev *evaluator) chargeScan(texts ...string) bool {
	n := 0
	for _, t := range texts {
		n += len(t) / 64
	}
	return ev.chargeWork(n)
}

// asSeen is a text as the function of a node reads it: as people see it (S80). A pattern that names a character which
// folding changes is about the text as it was written.
func (n *node) asSeen(text string) string {
	folded := legible.Fold(text)
	if n.re != nil && folded != text && legible.Names(n.args[1].lit.Str) {
		return text
	}
	return folded
}

// chargeSearch charges for a search by the node's pattern: by the byte, and more where the pattern has many
// alternatives to keep in mind.
func (ev *evaluator) chargeSearch(n *node, text string) bool {
	perByte := 1 + len(n.args[1].lit.Str)/256
	return ev.chargeWork(1 + len(text)/4*perByte)
}

// ofText makes a function of a text that reads it once.
func ofText(f func(s string) Val) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		if !ev.chargeWork(len(args[0].Str) / 8) {
			return Absent(tooMuchWork)
		}
		return f(args[0].Str)
	}
}

func evalMatches(ev *evaluator, n *node, args []Val) Val {
	if !ev.chargeSearch(n, args[0].Str) {
		return Absent(tooMuchWork)
	}
	text := args[0].Str
	folded := legible.Fold(text)
	return Truth(n.re().MatchString(folded) || folded != text && n.asSeen(text) == text && n.re().MatchString(text))
}

// evalExtract lists what a pattern finds, in order and with repetitions: the group asked for, else the first, else the
// whole.
func evalExtract(ev *evaluator, n *node, args []Val) Val {
	if !ev.chargeSearch(n, args[0].Str) {
		return Absent(tooMuchWork)
	}
	re := n.re()
	group := extractGroup(n, re)
	found := re.FindAllStringSubmatch(n.asSeen(args[0].Str), maxFinds+1)
	if len(found) > maxFinds {
		ev.addIssue("too_complex", args[0].Pointer(), "the pattern of extract finds more than %d places", maxFinds)
		return Absent("too many finds")
	}
	var out []Val
	for _, m := range found {
		out = append(out, Text(m[group]))
	}
	return listValue(out)
}

func extractGroup(n *node, re *regexp.Regexp) int {
	if g := n.arg(2); g != nil {
		i, _ := g.lit.Num.Int64()
		return int(i)
	}
	return min(re.NumSubexp(), 1)
}

func checkExtract(b *builder, n *node) {
	g := n.arg(2)
	if g == nil {
		return
	}
	if i, ok := g.lit.Num.Int64(); !ok || i < 0 || i > int64(n.re().NumSubexp()) {
		refuse(g.place, "groups are counted from 1, 0 is the whole", "the pattern has %d groups", n.re().NumSubexp())
	}
}

func evalHasPhrase(ev *evaluator, n *node, args []Val) Val {
	if !ev.chargeScan(args[0].Str) {
		return Absent(tooMuchWork)
	}
	text := foldPhrase(args[0].Str)
	result := Truth(false)
	for _, phrase := range args[1].List {
		ev.chargeWork(1 + len(text)/64)
		switch {
		case phrase.Kind == Missing:
			result = Absent(errNullItem.Error())
		case phrase.Kind != Str:
			return ev.typeMismatch(n.args[1], phrase, tStr, "a list of phrases")
		case phraseIn(text, foldPhrase(phrase.Str)):
			return Truth(true)
		}
	}
	return result
}

// evalFoundIn is found_in(quote, text, min_len): both normalised as evidence does (rules.md 1.2).
func evalFoundIn(ev *evaluator, n *node, args []Val) Val {
	if !ev.chargeWork(len(args[1].Str)/2 + len(args[0].Str)/2) {
		return Absent(tooMuchWork)
	}
	shortest := 0
	if len(args) > 2 {
		i, _ := args[2].Num.Int64()
		shortest = int(i)
	}
	return Truth(evidence.FoundIn(args[0].Str, args[1].Str, shortest))
}

func checkFoundIn(b *builder, n *node) {
	if m := n.arg(2); m != nil {
		if i, ok := m.lit.Num.Int64(); !ok || i < 1 || i > maxText {
			refuse(m.place, "write min_len=12", "min_len must be a whole number from 1")
		}
	}
}

// evalContains is plain: a phrase as people see it (S80), case and all. An empty phrase is in nothing.
func evalContains(ev *evaluator, n *node, args []Val) Val {
	ev.chargeScan(args[0].Str)
	phrase := legible.Fold(args[1].Str)
	return Truth(phrase != "" && strings.Contains(legible.Fold(args[0].Str), phrase))
}

// evalAfter is what stands behind the last marker; a text without the marker has nothing behind it.
func evalAfter(ev *evaluator, n *node, args []Val) Val {
	ev.chargeScan(args[0].Str)
	text, marker := legible.Fold(args[0].Str), legible.Fold(args[1].Str)
	i := strings.LastIndex(text, marker)
	if i < 0 || marker == "" {
		return Text("")
	}
	return Text(text[i+len(marker):])
}

// evalIsJSON is is_json(text): the text is one document as a submission is read (S46), of any kind. What is too long to
// be read at all is neither true nor false. Each byte is paid for before room is made for the values.
func evalIsJSON(ev *evaluator, _ *node, args []Val) Val {
	most := strictjson.SubmissionLimits.MaxBytes
	if len(args[0].Str) > most {
		ev.addIssue("too_complex", args[0].Pointer(), "is_json reads texts of at most %d bytes, and this one has %d", most,
			len(args[0].Str))
		return Absent("the text is too long")
	}
	if !ev.chargeWork(1 + len(args[0].Str)) {
		return Absent(tooMuchWork)
	}
	_, err := strictjson.Parse([]byte(args[0].Str), strictjson.Limits{})
	return Truth(err == nil)
}

// evalToNumber reads a text, or each text of a list, as a plain decimal. It is the one way from text to number, and it
// is written.
func evalToNumber(ev *evaluator, n *node, args []Val) Val {
	if args[0].Kind != List {
		return ev.toNumber(n, args[0])
	}
	out := make([]Val, len(args[0].List))
	for i, v := range args[0].List {
		ev.chargeWork(1)
		if out[i] = ev.toNumber(n, v); out[i].Kind == Missing {
			return out[i]
		}
	}
	return listValue(out)
}

func (ev *evaluator) toNumber(n *node, v Val) Val {
	if v.Kind == Num || v.Kind == Missing {
		return v
	}
	if v.Kind == Str && len(v.Str) <= 64 {
		if x, err := decimal.Parse(strings.TrimSpace(legible.Fold(v.Str))); err == nil && !outOfRange(x.String()) {
			return Number(x)
		}
	}
	return ev.typeMismatch(n.args[0], v, tNum|tStr, "to_number (a number written plainly)")
}

func evalNumbers(ev *evaluator, n *node, args []Val) Val {
	if !ev.chargeWork(len(args[0].Str) / 8) {
		return Absent(tooMuchWork)
	}
	var out []Val
	found := numbersIn(legible.Fold(args[0].Str))
	if len(found) > maxFinds {
		ev.addIssue("too_complex", args[0].Pointer(), "the text of numbers holds %d; at most %d are listed", len(found),
			maxFinds)
		return Absent("too many finds")
	}
	for _, s := range found {
		if len(s) > 64 {
			continue
		}
		if x, err := decimal.Parse(trimZeros(s)); err == nil {
			out = append(out, Number(x))
		}
	}
	return listValue(out)
}

// trimZeros drops the leading zeros that a decimal literal may not have.
func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' && isDigit(rune(s[1])) {
		s = s[1:]
	}
	return s
}

// normaliseSteps are what normalise can do: lower case, white space collapsed, space and punctuation at the ends
// dropped.
var normaliseSteps = []string{"case", "space", "strip"}

func evalNormalise(ev *evaluator, n *node, args []Val) Val {
	one := func(s string) Val {
		ev.chargeScan(s)
		s = legible.Fold(s)
		for _, step := range args[1:] {
			switch step.Str {
			case "case":
				s = strings.ToLower(s)
			case "space":
				s = strings.Join(strings.Fields(s), " ")
			case "strip":
				s = strings.Trim(s, " \t\r\n.,;:!?()[]\"'")
			}
		}
		return Text(s)
	}
	if args[0].Kind == Str {
		return one(args[0].Str)
	}
	out := make([]Val, len(args[0].List))
	for i, v := range args[0].List {
		switch v.Kind {
		case Str:
			out[i] = one(v.Str)
		case Missing:
			return Absent(errNullItem.Error())
		default:
			return ev.typeMismatch(n.args[0], v, tStr, "normalise")
		}
	}
	return listValue(out)
}

func checkNormalise(b *builder, n *node) {
	for _, a := range n.args[1:] {
		ok := false
		for _, s := range normaliseSteps {
			ok = ok || s == a.lit.Str
		}
		if !ok {
			refuseNear(a.place, nearest.Word(a.lit.Str, normaliseSteps), "the steps are case, space, strip",
				"unknown step %s", quoteShort(a.lit.Str))
		}
	}
}

// The metrics of a text (text.go).

// textMetrics are the functions that the text operand of a tree names.
var textMetrics = []string{"words", "sentences", "syllables", "fk_grade", "passive_pct", "max_sentence_words",
	"quoted_words"}

// measureText is the words, sentences, syllables and passive sentences of a text.
func measureText(s string) (words, count, syllable, passives, longest int) {
	for _, sentence := range sentencesOf(s) {
		count++
		words += len(sentence)
		longest = max(longest, len(sentence))
		for _, w := range sentence {
			syllable += countSyllables(w)
		}
		if holdsPassive(sentence) {
			passives++
		}
	}
	return words, count, syllable, passives, longest
}

// The coefficients of the Flesch-Kincaid grade: 0.39 words/sentences + 11.8 syllables/words − 15.59.
var fkSentence, fkSyllable, fkBase = decimal.MustParse("0.39"), decimal.MustParse("11.8"), decimal.MustParse("15.59")

func fkGrade(s string) (*decimal.Num, error) {
	words, count, syllable, _, _ := measureText(s)
	length, err := intQuotient(words, count)
	if err != nil {
		return nil, err
	}
	weight, err := intQuotient(syllable, words)
	if err != nil {
		return nil, err
	}
	if length, err = decimal.Mul(length, fkSentence); err != nil {
		return nil, err
	}
	if weight, err = decimal.Mul(weight, fkSyllable); err != nil {
		return nil, err
	}
	sum, err := decimal.Add(length, weight)
	if err != nil {
		return nil, err
	}
	return decimal.Sub(sum, fkBase)
}

func intQuotient(a, b int) (*decimal.Num, error) {
	return decimal.Quo(decimal.FromInt(int64(a)), decimal.FromInt(int64(b)))
}

// passiveShare is passive sentences over sentences, as a ratio (S10: percentages are canonical as value/100).
func passiveShare(s string) (*decimal.Num, error) {
	_, count, _, passives, _ := measureText(s)
	return intQuotient(passives, count)
}

// textNumber makes a function of a text that may be undefined (of an empty one).
func textNumber(f func(string) (*decimal.Num, error)) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		if !ev.chargeWork(len(args[0].Str)) {
			return Absent(tooMuchWork)
		}
		return ev.numberResult(n)(f(legible.Fold(args[0].Str)))
	}
}

// textCount makes a function of a text that counts.
func textCount(f func(string) int) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		if !ev.chargeWork(len(args[0].Str)) {
			return Absent(tooMuchWork)
		}
		return integerValue(f(legible.Fold(args[0].Str)))
	}
}
