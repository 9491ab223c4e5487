package evidence

import (
	"slices"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// Number is a number as people write it in documents.
type Number struct {
	// Text is the number as a plain decimal with the digits as written, so that honest rounding (S2a) can be judged:
	// "(1,234.50)" is -1234.50. A percent sign does not change it: "12%" is 12 with Percent.
	Text     string
	Percent  bool
	Currency string // the sign or code as written, "" if there is none
	Scale    int    // power of ten of a word behind it: 6 for "1.2 million"
}

// Decimal is the face value: 12 for "12%", 1200000 for "1.2 million".
func (n Number) Decimal() (*decimal.Num, error) {
	face, err := decimal.Parse(n.Text)
	if err != nil || n.Scale == 0 {
		return face, err
	}
	power, err := decimal.Pow(decimal.FromInt(10), decimal.FromInt(int64(n.Scale)))
	if err != nil {
		return nil, err
	}
	return decimal.Mul(face, power)
}

// Canonical is the value by S10: 0.12 for "12%". An input may equal a percentage either way, as its units say; the
// matcher compares with both Decimal and Canonical.
func (n Number) Canonical() (*decimal.Num, error) {
	face, err := n.Decimal()
	if err != nil || !n.Percent {
		return face, err
	}
	return decimal.Quo(face, decimal.FromInt(100))
}

var (
	minusSigns = []string{"-", "−", "–", "﹣", "－"} // hyphen-minus, minus, en dash, small and full-width minus
	// codes of ISO 4217 that stand before or after amounts, and dollars of several countries; the longer first.
	currencies = []string{"US$", "CA$", "AU$", "NZ$", "HK$", "C$", "A$", "S$", "R$",
		"USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "HKD", "SGD", "INR", "MXN", "BRL", "SEK", "NOK",
		"DKK", "PLN", "CZK", "HUF", "ZAR", "KRW", "TRY", "ILS", "AED", "SAR"}
)

// longestNumber is the longest text that NumberIn looks at; numbers beyond S11 are none anyway.
const longestNumber = 96

// NumberIn reads a whole text as one number: currency signs and codes, thousands commas (well-formed groups of three
// only), accounting brackets, a minus before or behind, a percent sign, a multiple's x (1.30x), and white space of any
// width around them. What could be read in two ways is no number: 1.234,50 and 1,2 and 007 and a lone dash.
func NumberIn(s string) (Number, bool) {
	if len(s) > longestNumber {
		return Number{}, false
	}
	p := peeler{rest: strings.TrimFunc(s, blankRune)}
	for p.peelSign() {
	}
	digits, ok := plainDigits(p.rest)
	if !ok || p.number.Percent && p.multiple {
		return Number{}, false
	}
	n := p.number
	n.Text = digits
	if (p.minus || p.bracket) && strings.ContainsAny(mantissaOf(digits), "123456789") {
		n.Text = "-" + digits
	}
	return n, true
}

func blankRune(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' }

func mantissaOf(digits string) string {
	m, _, _ := strings.Cut(digits, "e")
	return m
}

// peeler takes the signs off a number from the outside inwards, each at most once.
type peeler struct {
	rest                           string
	number                         Number
	minus, plus, bracket, multiple bool
}

// peelSign takes one sign off and reports whether there was one.
func (p *peeler) peelSign() bool {
	s := p.rest
	switch {
	case !p.isSigned() && strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")"):
		p.bracket, s = true, s[1:len(s)-1]
	case !p.isSigned() && strings.HasPrefix(s, "+"):
		p.plus, s = true, s[1:]
	case !p.isSigned() && cutMinus(&s):
		p.minus = true
	case !p.number.Percent && strings.HasSuffix(s, "%"):
		p.number.Percent, s = true, s[:len(s)-1]
	case !p.multiple && (strings.HasSuffix(s, "x") || strings.HasSuffix(s, "×")):
		p.multiple, s = true, strings.TrimSuffix(strings.TrimSuffix(s, "x"), "×")
	case p.number.Currency == "":
		p.number.Currency = cutCurrency(&s)
	}
	s = strings.TrimFunc(s, blankRune)
	changed := s != p.rest
	p.rest = s
	return changed
}

func (p *peeler) isSigned() bool { return p.minus || p.plus || p.bracket }

// cutMinus takes a minus sign off the front, or a plain one off the end.
func cutMinus(s *string) bool {
	for _, m := range minusSigns {
		if rest, ok := strings.CutPrefix(*s, m); ok {
			*s = rest
			return true
		}
	}
	for _, m := range minusSigns[:2] {
		if rest, ok := strings.CutSuffix(*s, m); ok {
			*s = rest
			return true
		}
	}
	return false
}

func cutCurrency(s *string) string {
	for _, c := range currencies {
		if rest, ok := strings.CutPrefix(*s, c); ok {
			*s = rest
			return c
		}
		if rest, ok := strings.CutSuffix(*s, c); ok {
			*s = rest
			return c
		}
	}
	runes := []rune(*s)
	for _, at := range []int{0, len(runes) - 1} {
		if len(runes) > 0 && unicode.Is(unicode.Sc, runes[at]) {
			*s = string(slices.Delete(slices.Clone(runes), at, at+1))
			return string(runes[at])
		}
	}
	return ""
}

// plainDigits is s without thousands commas if it is an unsigned number within S11.
func plainDigits(s string) (string, bool) {
	number, exponent, scientific := strings.Cut(strings.Replace(s, "E", "e", 1), "e")
	whole, frac, point := strings.Cut(number, ".")
	grouped := strings.Contains(whole, ",")
	if grouped {
		groups := strings.Split(whole, ",")
		for i, g := range groups {
			if i == 0 && (g == "" || len(g) > 3) || i > 0 && len(g) != 3 {
				return "", false
			}
		}
		whole = strings.Join(groups, "")
	}
	switch {
	case whole == "" && frac == "", !allDigits(whole), !allDigits(frac), scientific && grouped:
		return "", false
	case len(whole) > 1 && whole[0] == '0':
		return "", false
	case whole == "":
		whole = "0"
	}
	text := whole
	if point && frac != "" {
		text += "." + frac
	}
	if scientific {
		power := strings.TrimPrefix(strings.TrimPrefix(exponent, "+"), "-")
		if power == "" || !allDigits(power) || strings.HasPrefix(exponent, "+-") {
			return "", false
		}
		text += "e" + strings.TrimPrefix(exponent, "+")
	}
	return text, withinBounds(text)
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// withinBounds says that text is a JSON number within S11.
func withinBounds(text string) bool {
	v, err := strictjson.Parse([]byte(text), strictjson.Limits{})
	return err == nil && v.Kind == strictjson.Number && !v.OutOfRange
}
