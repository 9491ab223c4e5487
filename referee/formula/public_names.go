package formula

import "github.com/defendableos/referee/internal/decimal"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Decimal is an exact decimal number.
	Decimal = decimal.Num
	// Meter is a bound on the work of a calculation, and what was spent of it.
	Meter = decimal.Meter
)
