package policy

import (
	"testing"
)

// TestBusinessDays: counted by Python's datetime, day by day; the calendar rests on Sundays and on the two holidays.
func TestBusinessDays(t *testing.T) {
	trid := newCalendar(Calendar{Weekend: []string{"Sunday"}, Holidays: []string{"2026-12-25", "2026-10-12",
		"2026-10-12", "2026-10-11"}}, "TRID", place{})
	for _, c := range []struct {
		from, to   string
		five, trid int
	}{
		{"2026-10-09", "2026-10-15", 4, 4}, {"2026-10-09", "2026-10-12", 1, 1}, {"2026-10-10", "2026-10-11", 0, 0},
		{"2026-10-15", "2026-10-09", -4, -4},
		{"1969-12-28", "1970-01-05", 6, 7}, {"1999-12-31", "2026-03-01", 6825, 8191},
		{"2026-10-12", "2026-10-12", 0, 0},
	} {
		a, _ := parseMoment(c.from)
		b, _ := parseMoment(c.to)
		sign, x, y := 1, a.dayNumber(), b.dayNumber()
		if y < x {
			sign, x, y = -1, y, x
		}
		if got := sign * standard.workdaysBetween(x, y); got != c.five {
			t.Errorf("%s to %s: %d, want %d", c.from, c.to, got, c.five)
		}
		if got := sign * trid.workdaysBetween(x, y); got != c.trid {
			t.Errorf("%s to %s with holidays: %d, want %d", c.from, c.to, got, c.trid)
		}
	}
}

// TestDateDifferences: days and hours by hand, months forward by Python's dateutil.relativedelta;
// backward is the same count with a minus.
func TestDateDifferences(t *testing.T) {
	for _, c := range []struct{ unit, from, to, want string }{
		{"days", "2026-02-28", "2026-03-01", "1"}, {"days", "2024-02-28", "2024-03-01", "2"},
		{"days", "2026-03-01", "2026-02-28", "-1"}, {"days", "2026-01-01T00:00", "2026-01-01T18:00", "0.75"},
		{"hours", "2026-11-01T08:00:00", "2026-11-02T12:00:00", "28"}, {"hours", "2026-11-01", "2026-11-02", "24"},
		{"hours", "2026-11-01T12:00+02:00", "2026-11-01T10:00Z", "0"},
		{"hours", "2026-11-01T00:00:00.5", "2026-11-01 00:00:01.25Z", "0.0002083333333333333333333333333"},
		{"months", "2026-01-31", "2026-02-28", "1"}, {"months", "2026-01-31", "2026-02-27", "0"},
		{"months", "2026-01-15", "2027-01-14", "11"}, {"months", "2024-02-29", "2025-02-28", "12"},
		{"months", "2026-03-31", "2026-04-30", "1"}, {"months", "2026-04-30", "2026-03-31", "-1"},
		{"months", "2027-01-15", "2026-01-15", "-12"},
		{"business_days", "2026-10-09", "2026-10-15", "4"}, {"business_days", "2026-10-15", "2026-10-09", "-4"},
		{"days", "2026-02-29", "2026-03-01", "?"}, {"days", "2026-13-01", "2026-03-01", "?"},
		{"days", "01/02/2026", "2026-03-01", "?"}, {"days", "2026-3-1", "2026-03-01", "?"},
		{"days", "2026-03-01T25:00", "2026-03-01T01:00", "?"}, {"days", "2026-03-01", "2026-03-01T01:00", "?"},
		{"days", "2026-03-01T01:00:00,5", "2026-03-01T01:00", "?"},
	} {
		r := mustParse(t, c.unit+`("`+c.from+`", "`+c.to+`") > 0`, exampleNames(t)).Eval(&Env{})
		got := "?"
		if r.Sides[0].Kind == Num {
			got = r.Sides[0].Num.String()
		}
		if got != c.want {
			t.Errorf("%s from %s to %s is %s, want %s", c.unit, c.from, c.to, got, c.want)
		}
		if (got == "?") != (len(r.Issues) == 1) {
			t.Errorf("%s from %s to %s: issues %+v", c.unit, c.from, c.to, r.Issues)
		}
	}
}

func TestCalendars(t *testing.T) {
	names := exampleNames(t)
	if r := mustParse(t, `business_days("2026-10-09", "2026-10-15", FEDERAL) == 3`,
		names).Eval(&Env{}); r.Truth != True {
		t.Errorf("%v", r.Sides[0])
	}
	for want, c := range map[string]Calendar{
		`column 48: calendar "FEDERAL": "satrday" is not a day of the week (did you mean "saturday"?); write ` +
			`saturday, sunday`: {Weekend: []string{"satrday"}},
		`column 48: calendar "FEDERAL": "Christmas" is not a date; write dates like 2026-12-25`: {
			Holidays: []string{"Christmas"}},
		`column 48: calendar "FEDERAL" has no working day; leave a working day`: {Weekend: weekdays},
	} {
		names.Calendars = map[string]Calendar{"FEDERAL": c}
		if _, err := ParseText(`business_days("2026-10-09", "2026-10-15",      FEDERAL) == 3`, names); err == nil ||
			err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// TestReckonedDates: months by the examples of EDPB Guidelines 01/2022 (5 March to 5 April, 31 August to 30 September)
// and by Python's dateutil.relativedelta; weekdays by Python's datetime.
func TestReckonedDates(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{`add_months("2026-03-05", 1)`, "2026-04-05"}, {`add_months("2026-08-31", 1)`, "2026-09-30"},
		{`add_months("2026-01-31", 1)`, "2026-02-28"},
		{`add_months("2024-01-31", 1)`, "2024-02-29"}, {`add_months("2026-11-30", 3)`, "2027-02-28"},
		{`add_months("2026-12-15", 1)`, "2027-01-15"},
		{`add_months("2026-03-31", 0)`, "2026-03-31"}, {`add_months("2026-03-31", -1)`, "2026-02-28"},
		{`add_months("2024-02-29", 12)`, "2025-02-28"},
		{`working_day("2026-10-09")`, "2026-10-09"}, {`working_day("2026-10-10")`, "2026-10-12"},
		{`working_day("2026-10-11")`, "2026-10-12"},
		{`working_day("2026-10-10", FEDERAL)`, "2026-10-13"}, {`working_day("2026-12-31")`, "2026-12-31"},
		{`working_day("1969-12-28")`, "1969-12-29"},
		{`add_months("2026-02-29", 1)`, "?"}, {`add_months("2026-03-05T10:00", 1)`, "?"},
		{`add_months("soon", 1)`, "?"}, {`add_months("2026-03-05", 1.5)`, "?"},
		{`add_months("2026-03-05", 12001)`, "?"}, {`add_months("9999-12-01", 1)`, "?"},
		{`add_months("0000-01-01", -1)`, "?"},
		{`working_day("2026-03-05T10:00")`, "?"}, {`working_day("9999-12-31", NEVER)`, "?"},
	} {
		names := exampleNames(t)
		names.Calendars = map[string]Calendar{"FEDERAL": {Weekend: []string{"saturday", "sunday"},
			Holidays: []string{"2026-10-12"}},
			"NEVER": {Weekend: []string{"friday"}}}
		r := mustParse(t, c.expr+` == "2000-01-01"`, names).Eval(&Env{})
		got := "?"
		if r.Sides[0].Kind == Str {
			got = r.Sides[0].Str
		}
		if got != c.want || (got == "?") != (len(r.Issues) == 1) {
			t.Errorf("%s is %s, want %s; issues %+v", c.expr, got, c.want, r.Issues)
		}
	}
}
