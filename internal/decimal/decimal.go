// Package decimal is the arithmetic of the rulebook (semantics S12, S13a): decimal, 40 digits, half-even, exponents within
// ±400, every comparison made on values rounded to 28 significant digits. It is the one importer of cockroachdb/apd.
package decimal

import "github.com/cockroachdb/apd/v3"

// Num is a decimal number. It is never changed after it is made, so it may be shared between goroutines.
type Num struct{ d apd.Decimal }
