package decimal

// Meter counts the work of one audit, whoever does it: the formulas of the submission, the expressions of the sheet,
// the reading of evidence. A unit is about a quarter of a microsecond. Work is counted and never timed, so that the
// same bytes end the same way on every machine (S52, S81). A nil Meter counts nothing.
type Meter struct{ Spent, Most int }

// Take adds work and reports whether there is still room for it. What is spent beyond the most is not counted on.
func (m *Meter) Take(n int) bool {
	if m == nil {
		return true
	}
	if !m.Exhausted() {
		m.Spent += min(n, m.Most+1)
	}
	return !m.Exhausted()
}

// Room is how much can still be taken, at most most.
func (m *Meter) Room(most int) int {
	if m == nil {
		return most
	}
	return max(0, min(most, m.Most-m.Spent))
}

// Exhausted reports whether more was asked for than there is.
func (m *Meter) Exhausted() bool { return m != nil && m.Spent > m.Most }
