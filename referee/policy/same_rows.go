package policy

import (
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee/evidence"
)

// evalSameRows holds rows of a submission to the rows of a table of evidence: as many, and each once, in any order
// (S77). A member is compared with the cell of its column, spaces around the cell aside: a number by value as people
// write it (S62), a text letter for letter, true and false as those words.
func evalSameRows(ev *evaluator, n *node) Val {
	if ev.env.Column == nil {
		return ev.evalOutside(n, "data", Absent("same_rows: no evidence here"), nil)
	}
	rows := ev.evalLazyArgument(n, 0)
	if rows.Kind == Missing {
		return rows
	}
	columns := n.args[2:]
	held, given := make([]strings.Builder, 0), make([]strings.Builder, len(rows.List))
	for i, c := range columns {
		cells, err := ev.env.Column(n.argText(1), c.lit.Str)
		if err != nil {
			return ev.evalOutside(n, "data", Val{}, err)
		}
		if i == 0 {
			held = make([]strings.Builder, len(cells))
		}
		if !ev.chargeWork(len(cells) + len(rows.List)) {
			return Absent(tooMuchWork)
		}
		members, bad := ev.membersOf(rows, c.lit.Str, len(columns) == 1)
		if bad != nil {
			return *bad
		}
		kind, same := kindOf(members)
		if !same {
			return Truth(false) // a column of the table has one type; what is stated has two
		}
		padded := map[string]bool{}
		for j, cell := range cells {
			padded[cell] = true
			held[j].WriteString(cellKey(kind, strings.TrimSpace(cell)))
		}
		for j, m := range members {
			text := memberText(m)
			if padded[text] { // copied with the spaces around it; spaces of the submission's own are a difference
				text = strings.TrimSpace(text)
			}
			given[j].WriteString(cellKey(kind, text))
		}
	}
	return Truth(sameKeys(held, given))
}

// membersOf is one member of each row; where one column is asked for, the rows may be the values themselves.
func (ev *evaluator) membersOf(rows Val, name string, only bool) ([]Val, *Val) {
	out := make([]Val, len(rows.List))
	for i, row := range rows.List {
		out[i] = row.Member(name)
		if row.Kind != Obj && only {
			out[i] = row
		}
		if k := out[i].Kind; k != Num && k != Str && k != Bool {
			ev.addIssue("row_error", row.Pointer(), "row %d has no usable %s: same_rows compares numbers, texts, true "+
				"and false", i+1, name)
			bad := Absent("row " + strconv.Itoa(i+1) + " has no usable " + name)
			return nil, &bad
		}
	}
	return out, nil
}

// kindOf is the type that all members have.
func kindOf(members []Val) (k Kind, same bool) {
	for i, m := range members {
		if i > 0 && m.Kind != k {
			return k, false
		}
		k = m.Kind
	}
	return k, true
}

func memberText(v Val) string {
	switch v.Kind {
	case Num:
		return v.Num.String()
	case Bool:
		return strconv.FormatBool(v.Bool)
	}
	return v.Str
}

// cellKey is a text that is the same for the same cell and cannot run into the next one's.
func cellKey(kind Kind, cell string) string {
	if kind == Num {
		x, ok := cellNumber(cell)
		if !ok {
			return "not a number: " + strconv.Quote(cell)
		}
		return Number(x).keyText() + ";"
	}
	return strconv.Quote(cell)
}

// cellNumber reads a cell as a number: a plain one, or one with thousands commas, a currency sign or brackets (S62).
func cellNumber(cell string) (*decimal.Num, bool) {
	x, err := decimal.Parse(cell)
	if err != nil {
		n, ok := evidence.NumberIn(cell)
		if !ok {
			return nil, false
		}
		x, err = n.Canonical()
	}
	return x, err == nil && len(cell) <= 64 && !outOfRange(x.String())
}

// sameKeys compares two lists, order aside and repetition counted.
func sameKeys(a, b []strings.Builder) bool {
	if len(a) != len(b) {
		return false
	}
	left := map[string]int{}
	for i := range a {
		left[a[i].String()]++
	}
	for i := range b {
		k := b[i].String()
		if left[k]--; left[k] < 0 {
			return false
		}
	}
	return true
}
