package referee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

// cellAt reads the place of declared evidence that holds an input. The error says what keeps it from being read.
func (a *audit) cellAt(in *Input, p Place) (string, error) {
	f, err := a.Evidence.File(p.Evidence)
	if err != nil {
		return "", err
	}
	if f.Format.ForHuman() {
		return "", errLeftToHuman
	}
	e := a.Sheet.evidenceItem(p.Evidence)
	if e.Kind == "table" {
		return a.cellOf(in, p, e)
	}
	pointer := p.Pointer
	if pointer == "" {
		pointer = strictjson.JoinPointer("", in.Name)
	}
	hit, err := a.Evidence.Resolve(p.Evidence + "#" + pointer)
	switch {
	case err != nil:
		return "", err
	case hit.JSON != nil && hit.JSON.Kind != strictjson.String:
		return string(canonicalJSON(hit.JSON)), nil
	}
	return hit.Text, nil
}

// keyedTable is a declared table by its key. It is read once, however many inputs it holds.
type keyedTable struct {
	header []string
	rows   [][]string
	byKey  map[string][]int // rows by the normal form of their key
	err    error
}

func (a *audit) keyedTable(e *EvidenceItem) *keyedTable {
	if t := a.keyed[e.ID]; t != nil {
		return t
	}
	t := &keyedTable{byKey: map[string][]int{}}
	if a.keyed == nil {
		a.keyed = map[string]*keyedTable{}
	}
	a.keyed[e.ID] = t
	if t.header, t.rows, t.err = a.Evidence.Rows(e.ID); t.err != nil {
		return t
	}
	key, err := columnOf(t.header, e.Key, e.ID)
	if t.err = err; err != nil {
		return t
	}
	for i, row := range t.rows {
		form := a.Sheet.normalOf(row[key])
		t.byKey[form] = append(t.byKey[form], i)
	}
	return t
}

// cellOf finds the one row of a declared table whose key names the input, and its cell.
func (a *audit) cellOf(in *Input, p Place, e *EvidenceItem) (string, error) {
	t := a.keyedTable(e)
	if t.err != nil {
		return "", t.err
	}
	column, err := columnOf(t.header, p.Column, e.ID)
	if err != nil {
		return "", err
	}
	names := []string{p.Row}
	if p.Row == "" {
		names = append([]string{in.Name}, in.Aliases...)
	}
	var found []int
	for _, name := range names {
		if rows := t.byKey[a.Sheet.normalOf(name)]; !slices.ContainsFunc(rows,
			func(i int) bool { return slices.Contains(found, i) }) {
			found = append(found, rows...)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("evidence %q has no row %q in its column %q", e.ID, p.rowName(in), e.Key)
	case 1:
		return t.rows[found[0]][column], nil
	}
	return "", fmt.Errorf("evidence %q has %d rows %q, and only one can hold it", e.ID, len(found), p.rowName(in))
}

func (p *Place) rowName(in *Input) string {
	if p.Row != "" {
		return p.Row
	}
	return in.Name
}

// columnOf is the place of a column in a header, which must have it once.
func columnOf(header []string, name, id string) (int, error) {
	at := -1
	for i, h := range header {
		if normalName(h) != normalName(name) {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("evidence %q has two columns %q", id, name)
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("evidence %q has no column %q; it has %s", id, name, joinListed(header))
	}
	return at, nil
}

// matchesCell reports whether a cell holds the value: a number exactly or by honest rounding (S17a), a date or word as
// such.
func (in *Input) matchesCell(v *strictjson.Value, cell string) bool {
	cell = strings.TrimSpace(cell)
	switch v.Kind {
	case strictjson.Number:
		n := v.Decimal()
		for _, want := range readNumbers(cell) {
			if n != nil && (decimal.Cmp(n, want) == 0 || honestlyRounded(n, want, v.Text, one)) {
				return true
			}
		}
		return false
	case strictjson.Bool:
		return readTruth(cell) == v.Text
	case strictjson.String:
		if len(in.Enum) > 0 {
			return enumForm(cell) == enumForm(v.Text)
		}
		if in.Type == "datetime" {
			return strings.Replace(cell, " ", "T", 1) == strings.Replace(strings.TrimSpace(v.Text), " ", "T", 1)
		}
		return evidence.NormaliseText(cell) == evidence.NormaliseText(v.Text)
	}
	return false
}

// readNumbers are the values that a cell may stand for: 12 % is 0.12, and 12 where the input is stated in percent.
func readNumbers(cell string) []*decimal.Num {
	n, ok := evidence.NumberIn(cell)
	if !ok {
		return nil
	}
	var out []*decimal.Num
	if d, err := n.Canonical(); err == nil {
		out = append(out, d)
	}
	if d, err := n.Decimal(); err == nil && n.Percent {
		out = append(out, d)
	}
	return out
}

// readTruth is a yes or no as files write it; "" where it is neither.
func readTruth(cell string) string {
	switch strings.ToLower(cell) {
	case "true", "yes", "y", "1":
		return "true"
	case "false", "no", "n", "0":
		return "false"
	}
	return ""
}
