package referee

import (
	"fmt"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/policy"
)

// forEach are the parameters of a for_each rule.
type forEach struct {
	over    *policy.Expr
	where   *policy.Expr
	key     string
	maxBad  int64
	maxRate *decimal.Num
}

func (l *loader) compileForEach(r *Rule, v *strictjson.Value) {
	f := &forEach{over: l.loadExpr(v.Get("over"), r.ID+": over"), key: v.TextOf("key"),
		maxRate: v.Get("max_rate").Decimal()}
	f.maxBad, _ = v.Get("max_violations").Int()
	if f.over == nil {
		return
	}
	each, where, err := f.over.RowPredicates(l.sheet.names, v.Get("each"), v.Get("where"))
	if err != nil {
		l.problems.addProblem(v.Get("each"), "expression", "%s: %v", r.ID, err)
		return
	}
	r.expr, f.where = each, where
	r.Text = fmt.Sprintf("for each row of %s: %s", f.over.Text(), each.Text())
	r.run = func(a *audit, r *Rule) outcome { return a.everyRow(r, f) }
}

// everyRow holds the condition for each row and names the rows that break it.
func (a *audit) everyRow(r *Rule, f *forEach) outcome {
	tier := a.tierOf(r)
	seen := &rowsSeen{atoms: map[int]string{}}
	whole := policy.EachRow(a.env, f.over, r.expr, f.where, f.key, func(row policy.RowResult) {
		seen.addRow(row)
		pass, observed := row.Result.Truth == policy.True, ""
		if !pass || a.AllAtoms {
			observed = operandText(row.Result.Operands)
		}
		id := a.addMeasuredAtom(r, "row."+r.ID, row.Key, pass, atomSeverity(tier), "field", observed, r.expr.Text(),
			func() string { return r.rowTitle(row) + ": " + r.expr.Text() + " (" + observed + ")" })
		if !pass && len(seen.atoms) < maxListed {
			seen.atoms[row.Index] = id
		}
	})
	if whole.Truth == policy.Unknown {
		a.reportIssues(r, whole)
		if r.OnMissing == "flag" {
			a.gateUnknown(r, whole)
			return flagged
		}
		a.operandMissing(r, whole)
		return skipOutcome("cannot be decided: %s", missingText(whole))
	}
	a.explainRule(r, whole, outcome{status: Pass})
	if a.tooMany(seen.failed, seen.rows, f) {
		a.flagRows(r, seen)
		return flagged
	}
	if seen.open > 0 {
		for _, row := range seen.unknown {
			a.reportIssues(r, row.Result)
			a.operandMissing(r, row.Result)
		}
		return skipOutcome("%d of %d rows cannot be decided: %s", seen.open, seen.rows, missingText(seen.unknown[0].Result))
	}
	return outcome{status: Pass, vacuous: seen.rows == 0}
}

// rowTitle names a row: by its key, or as what the sheet says a row is.
func (r *Rule) rowTitle(row policy.RowResult) string {
	if r.RowName != "" {
		return fmt.Sprintf("%s %d", r.RowName, row.Index+1)
	}
	return row.Key
}

// rowsSeen counts the rows of a rule, and keeps those that a report has room for.
type rowsSeen struct {
	rows, failed, open int
	bad, unknown       []policy.RowResult
	atoms              map[int]string // of rows that do not hold
}

func (s *rowsSeen) addRow(row policy.RowResult) {
	s.rows++
	switch row.Result.Truth {
	case policy.False:
		if s.failed++; len(s.bad) < maxListed {
			s.bad = append(s.bad, row)
		}
	case policy.Unknown:
		if s.open++; len(s.unknown) < maxListed {
			s.unknown = append(s.unknown, row)
		}
	}
}

func (a *audit) tooMany(bad, rows int, f *forEach) bool {
	if bad == 0 {
		return false
	}
	if f.maxRate != nil {
		rate, err := decimal.Quo(decimal.FromInt(int64(bad)), decimal.FromInt(int64(rows)))
		return err != nil || decimal.Cmp(rate, f.maxRate) > 0
	}
	return int64(bad) > f.maxBad
}

// maxRowAtoms bounds the facts that one finding about many rows cites.
const maxRowAtoms = 5

// flagRows emits one finding for the rule, or one a row.
func (a *audit) flagRows(r *Rule, seen *rowsSeen) {
	bad := seen.bad
	tier := a.tierOf(r)
	fix := func() *Fix {
		if r.Fix == "" {
			return nil
		}
		return &Fix{Text: r.Fix}
	}
	keys, ids := make([]string, len(bad)), make([]string, len(bad))
	for i, row := range bad {
		keys[i] = clipText(r.rowTitle(row))
		ids[i] = seen.atoms[row.Index]
		if r.PerRow {
			a.addFinding(r, Finding{Code: "policy." + r.ID, Tier: tier, Pointer: row.Pointer, Spot: &Spot{Gate: r.Text},
				Fix: fix(), Atoms: []string{ids[i]},
				Message: fmt.Sprintf("%s does not hold for %s: %s", r.ruleTitle(), r.rowTitle(row),
					operandText(row.Result.Operands))})
		}
	}
	if r.PerRow {
		if rest := seen.failed - len(bad); rest > 0 {
			a.noteOnCheck(r, fmt.Sprintf("%d more rows fail and are not listed", rest))
		}
		return
	}
	message := r.Message
	if message == "" {
		message = r.ruleTitle() + " does not hold"
	}
	a.addFinding(r, Finding{Code: "policy." + r.ID, Tier: tier, Pointer: bad[0].Pointer, Spot: &Spot{Gate: r.Text},
		Fix: fix(), Atoms: ids[:min(len(ids), maxRowAtoms)],
		Message: fmt.Sprintf("%s for %d of %d rows: %s (first: %s)", message, seen.failed, seen.rows, joinListed(keys),
			operandText(bad[0].Result.Operands))})
}
