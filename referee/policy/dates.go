package policy

import (
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/nearest"
)

// moment is an ISO 8601 date, or a time of one. A time without an offset is UTC.
type moment struct {
	t     time.Time
	timed bool
}

const dateLayout = "2006-01-02"

var timeLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04"}

// parseMoment reads 2026-11-30, 2026-11-30T17:20, 2026-11-30T17:20:00.5+01:00; a space may stand for the T.
func parseMoment(s string) (moment, bool) {
	if len(s) < 10 || len(s) > 40 || !isDigit(rune(s[0])) || strings.Contains(s, ",") {
		return moment{}, false
	}
	if t, err := time.Parse(dateLayout, s); err == nil {
		return moment{t: t}, true
	}
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return moment{t.UTC(), true}, true
		}
	}
	return moment{}, false
}

func (m moment) compare(o moment) int { return m.t.Compare(o.t) }

// dayNumber is the number of the day of a moment, in UTC.
func (m moment) dayNumber() int64 {
	s := m.t.Unix()
	d := s / 86400
	if s%86400 < 0 {
		d--
	}
	return d
}

// readMoments reads the two ends of a datediff: two dates or two times.
func (ev *evaluator) readMoments(n *node, args []Val) (from, to moment, bad *Val) {
	var ends [2]moment
	for i := range ends {
		m, ok := parseMoment(args[i].Str)
		if !ok {
			v := ev.notDate(n.args[i], args[i], n.fn.name)
			return from, to, &v
		}
		ends[i] = m
	}
	if ends[0].timed != ends[1].timed {
		v := ev.refuseMixed(n.args[1], args[1], n.fn.name)
		return from, to, &v
	}
	return ends[0], ends[1], nil
}

// datediffIn makes the function of a unit of so many seconds.
func datediffIn(seconds int64) func(*evaluator, *node, []Val) Val {
	return func(ev *evaluator, n *node, args []Val) Val {
		from, to, bad := ev.readMoments(n, args)
		if bad != nil {
			return *bad
		}
		nanos := decimal.FromInt(int64(to.t.Nanosecond() - from.t.Nanosecond()))
		part, err := decimal.Quo(nanos, decimal.FromInt(1_000_000_000))
		if err != nil {
			return ev.undefinedResult(n, err)
		}
		whole, err := decimal.Add(decimal.FromInt(to.t.Unix()-from.t.Unix()), part)
		if err != nil {
			return ev.undefinedResult(n, err)
		}
		return ev.numberResult(n)(decimal.Quo(whole, decimal.FromInt(seconds)))
	}
}

// evalMonths counts whole months: the most that can be added to the earlier end without passing the later. The 31st
// plus one month is the last day of a shorter month.
func evalMonths(ev *evaluator, n *node, args []Val) Val {
	from, to, bad := ev.readMoments(n, args)
	if bad != nil {
		return *bad
	}
	if to.compare(from) < 0 {
		return integerValue(-monthsBetween(to.t, from.t))
	}
	return integerValue(monthsBetween(from.t, to.t))
}

func monthsBetween(from, to time.Time) int {
	k := (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
	first := time.Date(from.Year(), from.Month()+time.Month(k), 1, from.Hour(), from.Minute(), from.Second(),
		from.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	if first.AddDate(0, 0, min(from.Day(), last)-1).After(to) {
		k--
	}
	return k
}

// calendar is a working calendar ready to count with.
type calendar struct {
	weekend  [7]bool // by time.Weekday
	holidays []int64 // day numbers on working days, sorted
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// standard is the calendar of business_days without one: Saturday and Sunday off, no holidays.
var standard = &calendar{weekend: [7]bool{time.Sunday: true, time.Saturday: true}}

// newCalendar refuses at load a weekday or a holiday that is none.
func newCalendar(c Calendar, name string, p place) *calendar {
	out := &calendar{}
	for _, day := range c.Weekend {
		i := slices.IndexFunc(weekdays, func(w string) bool {
			return strings.EqualFold(w, day) ||
				strings.EqualFold(w[:3], day)
		})
		if i < 0 {
			refuseNear(p, nearest.Word(day, weekdays), "write saturday, sunday",
				"calendar %s: %s is not a day of the week", quoteShort(name), quoteShort(day))
		}
		out.weekend[i] = true
	}
	if !slices.Contains(out.weekend[:], false) {
		refuse(p, "leave a working day", "calendar %s has no working day", quoteShort(name))
	}
	for _, h := range c.Holidays {
		m, ok := parseMoment(h)
		if !ok || m.timed {
			refuse(p, "write dates like 2026-12-25", "calendar %s: %s is not a date", quoteShort(name), quoteShort(h))
		}
		if !out.weekend[m.t.Weekday()] {
			out.holidays = append(out.holidays, m.dayNumber())
		}
	}
	slices.Sort(out.holidays)
	out.holidays = slices.Compact(out.holidays)
	return out
}

// evalBusinessDays counts the working days after the first date, up to and including the second; negative if the second
// is earlier.
func evalBusinessDays(ev *evaluator, n *node, args []Val) Val {
	from, to, bad := ev.readMoments(n, args)
	if bad != nil {
		return *bad
	}
	c := standard
	if a := n.arg(2); a != nil {
		c = a.cal
	}
	a, b := from.dayNumber(), to.dayNumber()
	if b < a {
		return integerValue(-c.workdaysBetween(b, a))
	}
	return integerValue(c.workdaysBetween(a, b))
}

// workdaysBetween counts the working days in (a, b]: whole weeks, the days left over, less the holidays.
func (c *calendar) workdaysBetween(a, b int64) int {
	week := 0
	for _, off := range c.weekend {
		if !off {
			week++
		}
	}
	days := b - a
	total := int(days/7) * week
	for d := b - days%7 + 1; d <= b; d++ {
		if !c.weekend[((d+4)%7+7)%7] { // day 0, 1970-01-01, was a Thursday
			total++
		}
	}
	after, _ := slices.BinarySearch(c.holidays, a+1)
	upTo, _ := slices.BinarySearch(c.holidays, b+1)
	return total - (upTo - after)
}
