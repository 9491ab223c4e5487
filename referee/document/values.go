package document

import (
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
)

var units = map[string]int64{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
	"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
	"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
	"fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

var scales = map[string]int64{"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}

const numberWords = `(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|` +
	`fifteen|` +
	`sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|` +
	`billion)`

const (
	datePattern = `(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|(?:January|February|March|April|May|June|July|August|September|October|` +
		`November|December)\s+[0-9]{1,2}(?:st|nd|rd|th)?,?\s+[0-9]{4}|[0-9]{1,2}(?:st|nd|rd|th)?\s+(?:day of\s+)?` +
		`(?:January|February|March|April|May|June|July|August|September|October|November|December),?\s+[0-9]{4})`
	moneyPattern = `(?:US\$|USD\s?|[$€£]\s?|EUR\s?|GBP\s?)[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]+)?(?:\s?(?:million|billion))?`
	sharePattern = `[0-9]{1,3}(?:\.[0-9]+)?\s?(?:%|percent\b|per cent\b)`
)

var (
	// wordsAndFigures is "Two Million Dollars ($2,000,000)" and "thirty (30) days".
	wordsAndFigures = lazyRegexp(`(?i)\b(` + numberWords + `(?:(?:[\s-]+|\s+and\s+)` + numberWords + `)*)` +
		`((?:\s+and\s+(?:no|[0-9]{1,2})/100)?)(?:\s+(?:U\.?\s?S\.?\s+|United States\s+)?` +
		`(?:dollars|euros?|pounds|percent|per\s+cent|days|months|years|business days))?\s*` +
		`\(\s*(?:US|USD|EUR|GBP|U\.S\.)?\s*[$€£]?\s*([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?\s*` +
		`(%|percent|per cent|days?|months?|years?)?\s*\)`)
)

// Figures lists numbers in words that the figures in brackets behind them contradict.
func (d *Document) Figures() []Problem {
	var out []Problem
	for _, m := range wordsAndFigures().FindAllStringSubmatchIndex(d.text, -1) {
		words, ok := numberInWords(d.text[m[2]:m[3]])
		if !ok {
			continue
		}
		figures := strings.ReplaceAll(d.text[m[6]:m[7]], ",", "")
		n, err := strconv.ParseInt(figures, 10, 64)
		if err != nil || n == words {
			continue
		}
		out = append(out, d.problemAt(m[0], d.text[m[0]:m[1]],
			"the words say "+strconv.FormatInt(words, 10)+", the figures "+figures+"; write one number"))
	}
	return sortByLine(out)
}

// numberInWords reads "two million four hundred and fifty thousand". Words that are no one number, as in "one hundred
// two hundred", are not read.
func numberInWords(s string) (int64, bool) {
	var total, group int64
	last := int64(1 << 62)
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return r < 'a' || r > 'z' }) {
		unit, isUnit := units[word]
		scale, isScale := scales[word]
		switch {
		case word == "and":
		case isUnit:
			if group%100 != 0 && (group%10 != 0 || unit >= 10) {
				return 0, false
			}
			group += unit
		case isScale && scale == 100:
			if group == 0 || group > 99 {
				return 0, false
			}
			group *= 100
		case isScale:
			if group == 0 || scale >= last {
				return 0, false
			}
			total, group, last = total+group*scale, 0, scale
		}
	}
	return total + group, true
}

var months = map[string]string{"jan": "01", "feb": "02", "mar": "03", "apr": "04", "may": "05", "jun": "06",
	"jul": "07",
	"aug": "08", "sep": "09", "oct": "10", "nov": "11", "dec": "12"}

var (
	dateYear  = lazyRegexp(`[0-9]{4}$`)
	dateDay   = lazyRegexp(`\b[0-9]{1,2}(?:st|nd|rd|th)?\b`)
	dateMonth = lazyRegexp(`(?i)january|february|march|april|may|june|july|august|september|october|november|december`)
	isoDate   = lazyRegexp(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
)

// normalDate is a date as YYYY-MM-DD, however it is written.
func normalDate(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if isoDate().MatchString(s) {
		return s
	}
	month := months[strings.ToLower(dateMonth().FindString(s) + "   ")[:3]]
	day := strings.TrimRight(dateDay().FindString(s), "stndrh")
	if month == "" || day == "" {
		return s
	}
	if len(day) == 1 {
		day = "0" + day
	}
	return dateYear().FindString(s) + "-" + month + "-" + day
}

// normalAmount is an amount of money as currency and number: "$2.4 million" and "$2,400,000.00" are one.
func normalAmount(s string) string {
	currency := "$"
	switch {
	case strings.ContainsAny(s, "€") || strings.HasPrefix(s, "EUR"):
		currency = "€"
	case strings.ContainsAny(s, "£") || strings.HasPrefix(s, "GBP"):
		currency = "£"
	}
	n, err := decimal.Parse(strings.ReplaceAll(amountDigits().FindString(s), ",", ""))
	if err != nil {
		return s
	}
	for word, factor := range map[string]int64{"million": 1_000_000, "billion": 1_000_000_000} {
		if strings.Contains(s, word) {
			if n, err = decimal.Mul(n, decimal.FromInt(factor)); err != nil {
				return s
			}
		}
	}
	return currency + n.String()
}

var amountDigits = lazyRegexp(`[0-9][0-9,]*(?:\.[0-9]+)?`)

func normalShare(s string) string {
	n, err := decimal.Parse(amountDigits().FindString(s))
	if err != nil {
		return s
	}
	return n.String() + "%"
}
