package evidence

import (
	"strconv"
	"strings"
	"unicode"
)

// String is the number as a person reads it: "12%", "1.2 million".
func (n Number) String() string {
	s := n.Text
	if n.Scale > 0 {
		s += " " + scaleWords[n.Scale]
	}
	if n.Percent {
		s += "%"
	}
	return s
}

var scaleWords = map[int]string{3: "thousand", 6: "million", 9: "billion", 12: "trillion"}

var units = func() map[string]int64 {
	out := map[string]int64{}
	for i, w := range strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen " +
		"fourteen fifteen sixteen seventeen eighteen nineteen") {
		out[w] = int64(i)
	}
	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		out[w] = int64(20 + 10*i)
	}
	return out
}()

// Spoken lists the numbers of a text, in figures and in words ("fifty-two percent"). A bare year is none where it is
// the only thing that it could be: "rent in 2025" speaks of no amount.
func Spoken(text string) []Number {
	var out []Number
	for _, f := range Figures(text) {
		if !f.bareYear() {
			out = append(out, f.Number)
		}
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '%' })
	for i := 0; i < len(words); {
		n, used := numberOfWords(words[i:])
		if used == 0 {
			i++
			continue
		}
		i += used
		number := Number{Text: strconv.FormatInt(n, 10)}
		if i < len(words) && (words[i] == "percent" || words[i] == "per" && i+1 < len(words) && words[i+1] == "cent") {
			number.Percent = true
		}
		out = append(out, number)
	}
	return out
}

// bareYear: four digits from 1900 to 2099 with nothing that makes them an amount.
func (f Figure) bareYear() bool {
	return f.to-f.from == 4 && len(f.Text) == 4 && f.Start == f.from && f.End == f.to &&
		(strings.HasPrefix(f.Text, "19") || strings.HasPrefix(f.Text, "20"))
}

// numberOfWords reads the longest number in words that the list begins with.
func numberOfWords(words []string) (n int64, used int) {
	total, group := int64(0), int64(0)
	for used < len(words) && used < 12 {
		w := words[used]
		if v, ok := units[w]; ok {
			group += v
		} else if w == "hundred" && used > 0 && group > 0 && group < 100 {
			group *= 100
		} else if power, ok := scales[w]; ok && group > 0 {
			for range power {
				group *= 10
			}
			total, group = total+group, 0
		} else {
			break
		}
		used++
	}
	return total + group, used
}
