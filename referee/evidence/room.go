package evidence

import (
	"fmt"

	"github.com/defendableos/referee/internal/decimal"
)

// maxRoom bounds what the readings of all evidence of a run may hold in memory, in bytes as counted here: texts, values
// of JSON, cells, lines. The counts are of what a reading is made of and not what the garbage collector says, so that
// the same run ends the same way everywhere (S81).
const maxRoom = 160 << 20

// What one thing of a reading takes.
const (
	roomValue = 136 // of JSON
	roomCell  = 40  // with what reading it takes; its text is shared with the file's
	roomRow   = 24
	roomPart  = 16  // a line or a cell of a text that quotes are looked up in
	roomWhole = 120 // the same by its normal form
)

// Meter makes the set take the work of reading from the meter of an audit.
func (s *Set) Meter(m *decimal.Meter) { s.meter = m }

// takeWork takes work for an item; the error says that there is none left.
func (s *Set) takeWork(e *entry, work int) error {
	if s.meter.Take(work) {
		return nil
	}
	return e.file.itemError(ErrTooLarge, "the audit takes more than %d steps, and this evidence could not be read "+
		"within them", s.meter.Most)
}

// reserveRoom takes room for n things of a reading; the error says that there is none left.
func (s *Set) reserveRoom(e *entry, n int, each int64, what string) error {
	if int64(n)*each <= s.lim.MaxRoom-s.room {
		s.room += int64(n) * each
		return nil
	}
	return e.file.itemError(ErrTooLarge, "%s is too much to be held with the run's other evidence (at most %d MiB in all)",
		fmt.Sprintf("%d %s", n, what), s.lim.MaxRoom>>20)
}
