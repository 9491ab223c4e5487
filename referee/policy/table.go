package policy

import (
	"fmt"
	"strings"
)

// evalTable lists the rows of a table of evidence in their order, each an object of the columns named. A column is
// found by its heading as people read it (S18), never by its place. The sheet's declaration says how its cells are
// read: in a column of numbers a cell is the number that people write there (S62), and missing where it is none; in
// every other column it is a text. The spaces around a cell are no part of it.
func evalTable(ev *evaluator, n *node) Val {
	if ev.env.Column == nil {
		return ev.evalOutside(n, "data", Absent("table: no evidence here"), nil)
	}
	var rows []Val
	for i, c := range n.args[1:] {
		cells, err := ev.env.Column(n.argText(0), c.lit.Str)
		if err != nil {
			return ev.evalOutside(n, "data", Val{}, err)
		}
		if !ev.chargeWork(1 + 3*len(cells)) {
			return Absent(tooMuchWork)
		}
		if i == 0 {
			rows = make([]Val, len(cells))
		}
		read := textCell
		if ev.env.Numeric != nil && ev.env.Numeric(n.argText(0), c.lit.Str) {
			read = numberCell
		}
		for j, cell := range cells {
			rows[j].Kind = Obj
			rows[j].Members = append(rows[j].Members, Entry{Key: c.lit.Str, Val: read(strings.TrimSpace(cell))})
		}
	}
	return listValue(rows)
}

func textCell(cell string) Val { return Text(cell) }

func numberCell(cell string) Val {
	x, ok := cellNumber(cell)
	if !ok {
		return Absent(fmt.Sprintf("the cell %.40q is not a number", cell))
	}
	return Number(x)
}
