package summary

import (
	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// FieldError holds the errors of one sample in one field, and what they are held against.
type FieldError struct {
	Field, Limit string

	limit  *decimal.Num
	values []*decimal.Num
}

// parseErrors reads the errors of a report. What is no number is left out: a report holds none.
func parseErrors(list []referee.FieldError) []FieldError {
	var out []FieldError
	for _, e := range list {
		one := FieldError{Field: e.Field, Limit: e.Limit}
		if n, err := decimal.Parse(e.Limit); err == nil && n.Sign() > 0 {
			one.limit = n
		}
		for _, text := range e.Values {
			if n, err := decimal.Parse(text); err == nil {
				one.values = append(one.values, n)
			}
		}
		out = append(out, one)
	}
	return out
}

// meanError is the mean of all errors of the sample, each in percent of its limit; nil without any.
func (s *Sample) meanError() *decimal.Num {
	sum, n := decimal.FromInt(0), 0
	for _, e := range s.Errors {
		field := decimal.FromInt(0)
		for _, v := range e.values {
			field = addUp(field, v)
		}
		if e.limit == nil || len(e.values) == 0 {
			continue
		}
		share, err := decimal.Quo(field, e.limit) // once a field: the sum of shares is the share of the sum
		if err != nil {
			continue
		}
		sum, n = addUp(sum, share), n+len(e.values)
	}
	if n == 0 {
		return nil
	}
	hundred, err := decimal.Mul(sum, decimal.FromInt(100))
	if err != nil {
		return nil
	}
	mean, err := decimal.Quo(hundred, decimal.FromInt(int64(n)))
	if err != nil {
		return nil
	}
	return mean
}

// addUp leaves the sum as it is where it would overflow, which takes errors beyond any measure.
func addUp(sum, n *decimal.Num) *decimal.Num {
	if s, err := decimal.Add(sum, n); err == nil {
		return s
	}
	return sum
}
