package policy

import (
	"strconv"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// RowResult is what a row expression found for one row.
type RowResult struct {
	Index   int
	Key     string // the row's name for people: its key member, else its place
	Pointer string // where the row stands in the submission, if it does
	Row     Val
	Result  Result
}

// RowPredicates reads the condition of a for_each and its where (which may be nil), both row expressions over the rows
// of e.
func (e *Expr) RowPredicates(n *Names, check, where *strictjson.Value) (c, w *Expr, err error) {
	rows := *n
	rows.Row, rows.Over = true, rowsPath(e.root)
	if c, err = ParseTree(check, &rows); err != nil {
		return nil, nil, err
	}
	if where == nil {
		return c, nil, nil
	}
	if w, err = ParseTree(where, &rows); err != nil {
		return nil, nil, err
	}
	return c, w, nil
}

// EvalRows evaluates a row expression on every row of over; see Rows.
func (e *Expr) EvalRows(env *Env, over *Expr) ([]RowResult, Result) {
	return Rows(env, over, e, nil, "")
}

// Rows evaluates check on every row of over that where (which may be nil) keeps. key is the member that names a row. A
// row whose where is unknown is listed with that unknown: it is not left out. The second result is that of over: true
// if there was a list (its value), unknown otherwise.
func Rows(env *Env, over, check, where *Expr, key string) ([]RowResult, Result) {
	var out []RowResult
	whole := EachRow(env, over, check, where, key, func(r RowResult) { out = append(out, r) })
	return out, whole
}

// EachRow is Rows one row at a time: what became of a million rows must not be held at once. It ends early where the
// audit's work is spent; the last row that was looked at is then unknown.
func EachRow(env *Env, over, check, where *Expr, key string, use func(RowResult)) Result {
	shared := *env
	if shared.Work == nil {
		shared.Work = &decimal.Meter{Most: maxWork}
	}
	if shared.Lists == nil {
		shared.Lists = map[*strictjson.Value][]Val{}
	}
	whole := over.Eval(&shared)
	if whole.Val.Kind != List {
		if whole.Val.Kind != Missing {
			whole.Issues = append(whole.Issues, Issue{"operand_type", whole.Val.Pointer(), over.Text() + " is " +
				withArticle(whole.Val.Kind) + ", and rows are a list"})
		}
		whole.Truth = Unknown
		return whole
	}
	whole.Truth = True
	for i, row := range whole.Val.List {
		shared.Row = &RowScope{Row: row, Index: i, Up: env.Row}
		r := RowResult{Index: i, Key: rowKey(row, key, i), Pointer: row.Pointer(), Row: row}
		if where != nil {
			r.Result = where.Eval(&shared)
		}
		if where == nil || r.Result.Truth == True {
			r.Result = check.Eval(&shared)
		} else if r.Result.Truth == False {
			continue
		}
		if use(r); shared.Work.Exhausted() {
			break
		}
	}
	return whole
}

// rowKey names a row: by its key member if that is a text or a number, else by its place counted from 1.
func rowKey(row Val, key string, i int) string {
	v := Val{}
	if key != "" && row.Kind == Obj && (row.JSON == nil || row.JSON.Get(key) == nil ||
		row.JSON.Get(key).Kind != strictjson.Array) {
		v = row.Member(key)
	}
	switch v.Kind {
	case Str:
		return v.Str
	case Num:
		return v.Num.String()
	}
	return "row " + strconv.Itoa(i+1)
}
