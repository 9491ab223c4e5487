package evidence

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var dateParts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z]+|\d+`) })

// datesIn reads one date as it is written, in every order that it may have.
func datesIn(written string) []string {
	if day, err := time.Parse(time.DateOnly, written[:min(len(written), 10)]); err == nil {
		return []string{day.Format(time.DateOnly)}
	}
	if strings.Contains(written, ":") {
		return nil
	}
	var numbers []int
	month := 0
	for _, part := range dateParts().FindAllString(written, -1) {
		if n, err := strconv.Atoi(part); err == nil {
			numbers = append(numbers, n)
		} else if m := monthNamed(part); m > 0 {
			month = m
		}
	}
	switch {
	case month > 0 && len(numbers) == 2:
		return validDate(numbers[1], month, numbers[0])
	case month == 0 && len(numbers) == 3 && numbers[0] > 31:
		return validDate(numbers[0], numbers[1], numbers[2])
	case month == 0 && len(numbers) == 3:
		year := numbers[2]
		if year < 100 {
			year += 2000
		}
		return append(validDate(year, numbers[0], numbers[1]), validDate(year, numbers[1], numbers[0])...)
	}
	return nil
}

// monthNamed is the month that a word of at least three letters begins the name of.
func monthNamed(word string) int {
	word = strings.ToLower(word)
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if len(word) >= 3 && (strings.HasPrefix(name, word) || word == "sept" && m == time.September) {
			return int(m)
		}
	}
	return 0
}

// validDate is the date if the calendar has it.
func validDate(year, month, day int) []string {
	if year < 1000 || year > 9999 || month < 1 || month > 12 {
		return nil
	}
	d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if d.Day() != day {
		return nil
	}
	return []string{d.Format(time.DateOnly)}
}
