package referee

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

// runClaimNumbers: where a claim or the summary says what a calculation or an input is, it says its number (S76). Only
// plain statements are read, "DSCR is 1.30x", "NOI of $920,000": what compares, qualifies or speaks of another year is
// left to the reader.
func runClaimNumbers(a *audit, r *Rule) outcome {
	before := a.raised
	names := a.spokenNames()
	for _, claim := range a.doc.Get("claims").Elements() {
		a.claimNumbers(r, claim.Get("claim"), names)
	}
	a.claimNumbers(r, a.doc.Get("agent_summary"), names)
	return flaggedSince(a, before)
}

// spokenName is a name as people write it in a sentence.
type spokenName struct {
	words []string // lower case
	id    string
}

// shortestName is the fewest letters of a name that is looked for: n and x stand for anything.
const shortestName = 3

// spokenNames are the sheet's names of calculations and inputs that have a number, the longer first.
func (a *audit) spokenNames() []spokenName {
	var out []spokenName
	for normal, id := range a.Sheet.alias {
		if utf8.RuneCountInString(normal) >= shortestName && len(a.valuesOf(id)) > 0 {
			out = append(out, spokenName{strings.Split(normal, "_"), id})
		}
	}
	slices.SortFunc(out, func(x, y spokenName) int {
		if len(x.words) != len(y.words) {
			return len(y.words) - len(x.words)
		}
		return strings.Compare(strings.Join(x.words, "_"), strings.Join(y.words, "_"))
	})
	return out
}

// valuesOf are the numbers that a name may be said to have: the recomputed value and the claim, as they are and in the
// calculation's own units.
func (a *audit) valuesOf(id string) []*decimal.Num {
	var out []*decimal.Num
	add := func(n *decimal.Num) {
		if n != nil {
			out = append(out, n)
		}
	}
	for _, c := range a.byID[id] {
		add(c.recomputedValue())
		add(c.claimed)
		add(c.raw)
		if v := c.recomputedValue(); v != nil && c.scale != one {
			if scaled, err := decimal.Mul(v, c.scale); err == nil {
				add(scaled)
			}
		}
	}
	if a.Sheet.declaredInput(id) != nil {
		add(a.statedInput(id).Num)
	}
	return out
}

// word is a word of a sentence and where it stands.
type word struct {
	text       string // lower case
	start, end int
}

func wordsOf(s string) []word {
	var out []word
	start := -1
	for i, r := range s + " " {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			out = append(out, word{strings.ToLower(s[start:i]), start, i})
			start = -1
		}
	}
	return out
}

// claimNumbers looks for plain statements in one text.
func (a *audit) claimNumbers(r *Rule, v *strictjson.Value, names []spokenName) {
	said, ok := v.Str()
	if !ok || len(names) == 0 || len(said) > maxMessage {
		return
	}
	figures := evidence.Figures(said)
	if len(figures) == 0 {
		return
	}
	words := wordsOf(said)
	for i := 0; i < len(words); i++ {
		name := nameAt(words[i:], names)
		if name == nil {
			continue
		}
		last := i + len(name.words) - 1
		if plainBefore(said, words, i) {
			a.checkStatement(r, v, said, words[last].end, name.id, figures)
		}
		i = last
	}
}

// nameAt is the longest name that the words begin with.
func nameAt(words []word, names []spokenName) *spokenName {
	for n := range names {
		name := &names[n]
		if len(name.words) > len(words) {
			continue
		}
		same := true
		for k, w := range name.words {
			same = same && words[k].text == w
		}
		if same {
			return name
		}
	}
	return nil
}

// determiners may stand before a name without changing what it names.
var determiners = map[string]bool{"the": true, "a": true, "an": true, "our": true, "its": true, "this": true,
	"recomputed": true, "resulting": true, "calculated": true}

// plainBefore reports whether a statement begins with the name, at the beginning of a sentence or a part of one:
// "stressed DSCR", "share of the residual" and "constant with MIP" name something else.
func plainBefore(said string, words []word, i int) bool {
	for i > 0 && determiners[words[i-1].text] && strings.TrimSpace(said[words[i-1].end:words[i].start]) == "" {
		i--
	}
	if i == 0 {
		return true
	}
	if strings.ContainsAny(said[words[i-1].end:words[i].start], ".;:,\n(") {
		return true
	}
	// "DSCR is 1.30 and LTV is 0.75"
	return words[i-1].text == "and" && i > 1 && strings.ContainsAny(words[i-2].text, "0123456789")
}

var (
	linking = []string{"is", "was", "are", "were", "of", "equals", "totals", "=", ":"}
	about   = []string{"about", "approximately", "roughly", "around", "~", "≈"}
	// neutral words may follow a number without making it another one; any other is a unit, a year or a limit.
	neutral = map[string]bool{"and": true, "but": true, "so": true, "which": true, "while": true, "whereas": true,
		"against": true, "versus": true, "vs": true, "usd": true, "eur": true, "gbp": true, "dollars": true,
		"euros": true}
)

// checkStatement holds "NAME is NUMBER" to the name's value; said[end:] follows the name.
func (a *audit) checkStatement(r *Rule, v *strictjson.Value, said string, end int, id string,
	figures []evidence.Figure) {
	rest := strings.TrimLeft(said[end:], " ")
	if strings.HasPrefix(rest, "(") { // "net operating income (NOI) is"
		_, after, closed := strings.Cut(rest, ")")
		if !closed {
			return
		}
		rest = strings.TrimLeft(after, " ")
	}
	rest, linked := cutWord(rest, linking)
	if !linked {
		return
	}
	rest, _ = cutWord(rest, about)
	at := len(said) - len(rest)
	i := slices.IndexFunc(figures, func(f evidence.Figure) bool { return f.Start == at })
	if i < 0 || figures[i].Adjective || isQualifiedNumber(said[figures[i].End:]) {
		return
	}
	a.claimNumber(r, v, id, said[figures[i].Start:figures[i].End], figures[i].Number)
}

// cutWord takes one of the words, or signs, off the front.
func cutWord(s string, words []string) (string, bool) {
	for _, w := range words {
		rest, ok := strings.CutPrefix(s, w)
		if ok && (rest == "" || rest[0] == ' ' || !unicode.IsLetter(rune(w[0]))) {
			return strings.TrimLeft(rest, " "), true
		}
	}
	return s, false
}

// isQualifiedNumber reports whether the words behind a number make it another one: a year, a limit, a unit of its own.
func isQualifiedNumber(after string) bool {
	trimmed := strings.TrimLeft(after, " ")
	if trimmed == "" || strings.ContainsAny(trimmed[:1], ".,;)\"'!?\n") {
		return false
	}
	words := wordsOf(trimmed)
	if len(words) == 0 || strings.ContainsAny(trimmed[:1], "-–—/×*+^(") {
		return true
	}
	return words[0].start > 0 || !neutral[words[0].text]
}

// claimNumber flags a number in words that is none of the values of what it names, rounded as it is written.
func (a *audit) claimNumber(r *Rule, v *strictjson.Value, id, written string, n evidence.Number) {
	values := a.valuesOf(id)
	for _, said := range quotedReadings(n) {
		for _, value := range values {
			if a.saidRounded(said, value, n) {
				return
			}
		}
	}
	atom := a.addAtom("evidence.claim_number", v.Pointer(), false, "warning", "cross_field", written)
	a.addFinding(r, Finding{Code: "evidence.claim_number", Tier: Low, Pointer: v.Pointer(), Atoms: []string{atom},
		Message: fmt.Sprintf("it says that %s is %s; it is %s", id, clipText(written), shownNumber(values[0])),
		Fix:     &Fix{Text: "say the number that is computed, or name what the other one is"}})
}

// saidRounded: the value rounded to the last digit said, in the unit in which it is said.
func (a *audit) saidRounded(said, value *decimal.Num, n evidence.Number) bool {
	half, _ := halfUnit(strings.TrimPrefix(n.Text, "-"))
	face, err := n.Decimal()
	if half == nil || err != nil {
		return false
	}
	c := newCalculator()
	if n.Scale > 0 {
		power, err := decimal.Pow(decimal.FromInt(10), decimal.FromInt(int64(n.Scale)))
		if err != nil {
			return false
		}
		half = c.mul(half, power)
	}
	if decimal.Cmp(said, face) != 0 { // a percentage as a fraction
		half = c.quo(half, hundred)
	}
	off := c.sub(said, value)
	return c.err == nil && decimal.Cmp(decimal.Abs(off), half) <= 0
}
