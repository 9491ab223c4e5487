package summary

import (
	"slices"

	"github.com/defendableos/referee/internal/decimal"
)

// Distribution is how a number spreads. Mean is rounded half-even to six decimals; percentiles are nearest-rank.
type Distribution struct {
	Name   string `json:"name"`
	N      int    `json:"n"`
	Mean   string `json:"mean,omitempty"`
	Min    string `json:"min,omitempty"`
	P50    string `json:"p50,omitempty"`
	P95    string `json:"p95,omitempty"`
	P99    string `json:"p99,omitempty"`
	Max    string `json:"max,omitempty"`
	values []*decimal.Num
}

func (d *Distribution) add(text string) {
	if n, err := decimal.Parse(text); err == nil {
		d.values = append(d.values, n)
	}
}

func (d *Distribution) addNumber(n *decimal.Num) {
	if n != nil {
		d.values = append(d.values, n)
	}
}

// close works the numbers out.
func (d *Distribution) close() {
	if d.N = len(d.values); d.N == 0 {
		return
	}
	slices.SortFunc(d.values, decimal.Cmp)
	sum := decimal.FromInt(0)
	for _, v := range d.values {
		if s, err := decimal.Add(sum, v); err == nil {
			sum = s
		}
	}
	if mean, err := decimal.Quo(sum, decimal.FromInt(int64(d.N))); err == nil {
		if mean, err = decimal.Round(mean, 6); err == nil {
			d.Mean = mean.String()
		}
	}
	d.Min, d.P50, d.P95, d.P99, d.Max = d.at(0), d.at(50), d.at(95), d.at(99), d.at(100)
}

// at is the nearest-rank percentile: the smallest value with at least p per cent of the values at or below it.
func (d *Distribution) at(p int) string {
	rank := (p*d.N + 99) / 100
	return d.values[max(rank, 1)-1].String()
}

// Histogram counts the values in equal steps between the least and the greatest, at most n; nil where there is nothing
// to show.
func (d *Distribution) Histogram(n int) []int {
	if d.N < 2 || decimal.Cmp(d.values[0], d.values[d.N-1]) == 0 {
		return nil
	}
	span, err := decimal.Sub(d.values[d.N-1], d.values[0])
	if err != nil {
		return nil
	}
	out := make([]int, n)
	for _, v := range d.values {
		out[histogramStep(v, d.values[0], span, n)]++
	}
	return out
}

func histogramStep(v, least, span *decimal.Num, n int) int {
	off, err := decimal.Sub(v, least)
	if err != nil {
		return 0
	}
	scaled, err := decimal.Mul(off, decimal.FromInt(int64(n))) // first: a third times three is no whole number
	if err != nil {
		return 0
	}
	place, err := decimal.Quo(scaled, span)
	if err != nil {
		return 0
	}
	if place, err = decimal.Floor(place); err != nil {
		return 0
	}
	i, _ := place.Int64()
	return int(min(max(i, 0), int64(n-1)))
}
