package policy

import (
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Value is a JSON value with its place in the document.
	Value = strictjson.Value
	// Pos is a place in a document.
	Pos = strictjson.Pos
	// Decimal is an exact decimal number.
	Decimal = decimal.Num
	// Meter is a bound on the work of a calculation, and what was spent of it.
	Meter = decimal.Meter
)
