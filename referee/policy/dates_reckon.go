package policy

import (
	"slices"
	"time"

	"github.com/defendableos/referee/internal/decimal"
)

// maxMonths bounds add_months on either side: a thousand years.
const maxMonths = 12_000

// evalAddMonths is the day on which a period of months from a date ends: the day of the same number, or the last one of
// a month that has no such day (Regulation (EEC, Euratom) 1182/71, Article 3(2)(c)). months counts by the same rule.
func evalAddMonths(ev *evaluator, n *node, args []Val) Val {
	from, bad := ev.readDate(n, args[0])
	if bad != nil {
		return *bad
	}
	k, ok := listPlace(args[1])
	if !ok || k < -maxMonths || k > maxMonths {
		return ev.typeMismatch(n.args[1], args[1], tNum, "the months of add_months (a whole number within ±12000)")
	}
	first := time.Date(from.Year(), from.Month()+time.Month(k), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return ev.dateOf(n, first.AddDate(0, 0, min(from.Day(), last)-1))
}

// evalWorkingDay is the date itself where it is worked, or the first day after it that is.
func evalWorkingDay(ev *evaluator, n *node, args []Val) Val {
	from, bad := ev.readDate(n, args[0])
	if bad != nil {
		return *bad
	}
	c := standard
	if a := n.arg(1); a != nil {
		c = a.cal
	}
	for !c.isWorkday(from) {
		from = from.AddDate(0, 0, 1)
	}
	return ev.dateOf(n, from)
}

// isWorkday reports whether a day is neither of the weekend nor a holiday.
func (c *calendar) isWorkday(t time.Time) bool {
	_, holiday := slices.BinarySearch(c.holidays, moment{t: t}.dayNumber())
	return !holiday && !c.weekend[t.Weekday()]
}

// readDate reads the date that a function reckons from; a time has no place in a calendar and is refused.
func (ev *evaluator) readDate(n *node, v Val) (t time.Time, bad *Val) {
	m, ok := parseMoment(v.Str)
	if !ok || m.timed {
		out := ev.notDate(n.args[0], v, n.fn.name)
		return t, &out
	}
	return m.t, nil
}

// dateOf writes a date; a year of other than four digits is none.
func (ev *evaluator) dateOf(n *node, t time.Time) Val {
	if t.Year() < 0 || t.Year() > 9999 {
		return ev.undefinedResult(n, decimal.ErrTooLarge)
	}
	return Text(t.Format(dateLayout))
}
