package referee

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
)

// shownNumber prints a number for a message: six significant digits at least, never rounded away from what it is by
// more than that.
func shownNumber(n *decimal.Num) string {
	if n == nil {
		return "nothing"
	}
	return groupThousands(roundSignificant(n, 8))
}

// roundSignificant rounds half-even to this many significant digits.
func roundSignificant(n *decimal.Num, digits int) string {
	full := n.String()
	places := placesOf(full, digits)
	if point := strings.IndexByte(full, '.'); strings.Contains(full, "e") || point < 0 || len(full)-point-1 <= places {
		return full // it has no more places than it may keep: most numbers
	}
	r, err := decimal.Round(n, places)
	if err != nil {
		return full
	}
	return r.String()
}

// placesOf is how many decimals a plain decimal keeps when it is rounded to this many significant digits; whole numbers
// are kept whole.
func placesOf(full string, digits int) int {
	whole, frac, _ := strings.Cut(strings.TrimPrefix(full, "-"), ".")
	if whole == "0" {
		return digits + len(frac) - len(strings.TrimLeft(frac, "0"))
	}
	return max(digits-len(whole), 0)
}

// groupThousands puts commas between thousands.
func groupThousands(s string) string {
	if strings.ContainsAny(s, "e") {
		return s
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, frac, dotted := strings.Cut(s, ".")
	if len(whole) <= 3 {
		return sign + s
	}
	var room [64]byte
	out := append(room[:0], sign...)
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, whole[i])
	}
	if dotted {
		out = append(append(out, '.'), frac...)
	}
	return string(out)
}

// amountText words a difference: money as $1,234.50 where the units say dollars.
func amountText(delta *decimal.Num, money bool, units string) string {
	if delta == nil {
		return "more than can be computed"
	}
	abs := shownNumber(decimal.Abs(delta))
	u := strings.ToUpper(strings.TrimSpace(units))
	if money && (strings.HasPrefix(u, "USD") || strings.HasPrefix(u, "$") || strings.HasPrefix(u, "DOLLAR")) {
		if r, err := decimal.Round(decimal.Abs(delta), 2); err == nil {
			return "$" + groupThousands(r.String())
		}
	}
	return abs
}

// relativeText words a relative error.
func relativeText(rel *decimal.Num) string {
	if rel == nil {
		return "infinitely far from 0"
	}
	return percentText(rel) + "%"
}

// percentText is 100·rel, rounded half-even to four decimals.
func percentText(rel *decimal.Num) string {
	p, err := decimal.Mul(rel, hundred)
	if err != nil {
		return "infinite"
	}
	r, err := decimal.Round(p, 4)
	if err != nil {
		return p.String()
	}
	return r.String()
}

// visibleText writes controls, characters of direction and those without a shape out (<U+202E>): an agent's text stands
// in messages, and a reader must see what is there, not what it does to a terminal.
func visibleText(s string) string {
	if isPrintableASCII(s) {
		return s // most texts are: asking four tables of Unicode for each letter took 3 % of an audit's time
	}
	hidden := func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r != 0xFE0E && r != 0xFE0F &&
			legible.Ignorable(r)
	}
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isPrintableASCII reports whether s is printable ASCII.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7E {
			return false
		}
	}
	return true
}

// clipText shortens foreign text for a message.
func clipText(s string) string {
	const most = 80
	return legible.Clip(s, most)
}

// joinListed joins words for a sentence, the first ten named.
func joinListed(words []string) string {
	if len(words) > 10 {
		return strings.Join(words[:10], ", ") + ", …"
	}
	return strings.Join(words, ", ")
}
