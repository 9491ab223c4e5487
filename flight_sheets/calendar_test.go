package flightsheets_test

import (
	"slices"
	"testing"
	"time"
)

// TestLegalHolidays computes the legal public holidays of 5 U.S.C. 6103(a) from the words of the statute, each on its
// own date, and holds the calendar of the Closing Disclosure to them: every year that calendar_covers lets in, and no
// other day.
func TestLegalHolidays(t *testing.T) {
	sheet := load(t, "lend-trid-tolerance")
	from, _ := sheet.Doc.Get("consts").Get("CALENDAR_FROM").Get("value").Str()
	to, _ := sheet.Doc.Get("consts").Get("CALENDAR_TO").Get("value").Str()
	first, err := time.Parse(time.DateOnly, from)
	last, err2 := time.Parse(time.DateOnly, to)
	if err != nil || err2 != nil || first.YearDay() != 1 || last.Month() != time.December || last.Day() != 31 ||
		first.Year() < 2022 {
		t.Fatalf("the calendar covers %q to %q: whole years from 2022 on, the first with Juneteenth in all of it", from,
			to)
	}
	var want, got []string
	for year := first.Year(); year <= last.Year(); year++ {
		want = append(want, legalHolidays(year)...)
	}
	for _, day := range sheet.Doc.Get("calendars").Get("SPECIFIC").Get("holidays").Items {
		text, _ := day.Str()
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the calendar has %d holidays, the statute %d:\n%v\n%v", len(got), len(want), got, want)
	}
	// The list of the Office of Personnel Management for 2026, its Friday 3 July put back on the 4th (6103(b) is about
	// pay).
	if of2026 := []string{"2026-01-01", "2026-01-19", "2026-02-16", "2026-05-25", "2026-06-19", "2026-07-04",
		"2026-09-07", "2026-10-12",
		"2026-11-11", "2026-11-26", "2026-12-25"}; !slices.Equal(legalHolidays(2026), of2026) {
		t.Errorf("the holidays of 2026 are %v, not %v", legalHolidays(2026), of2026)
	}
}

// legalHolidays lists the days of 5 U.S.C. 6103(a) in one year.
func legalHolidays(year int) []string {
	days := []time.Time{
		date(year, time.January, 1), weekdayOf(year, time.January, time.Monday, 3),
		weekdayOf(year, time.February, time.Monday, 3),
		weekdayOf(year, time.June, time.Monday, 1).AddDate(0, 0, -7), // the last Monday in May
		date(year, time.June, 19), date(year, time.July, 4), weekdayOf(year, time.September, time.Monday, 1),
		weekdayOf(year, time.October, time.Monday, 2), date(year, time.November, 11),
		weekdayOf(year, time.November, time.Thursday, 4),
		date(year, time.December, 25),
	}
	out := make([]string, len(days))
	for i, d := range days {
		out[i] = d.Format(time.DateOnly)
	}
	return out
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// weekdayOf is the nth such weekday of a month.
func weekdayOf(year int, month time.Month, day time.Weekday, n int) time.Time {
	d := date(year, month, 1)
	return d.AddDate(0, 0, int(day-d.Weekday()+7)%7+7*(n-1))
}
