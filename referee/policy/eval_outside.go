package policy

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
	"github.com/defendableos/referee/referee/evidence"
)

// The operands that the engine answers: evidence that is recounted or read, and receipts of the ledger. Where the
// engine has no answer the operand is missing, with the reason, and the rule skips.

func evalData(ev *evaluator, n *node) Val {
	if ev.env.Data == nil {
		return ev.evalOutside(n, "data", Absent("data: no evidence here"), nil)
	}
	column := ""
	if n.arg(2) != nil {
		v := ev.evalLazyArgument(n, 2) // a manifest names its own columns, so it may be an operand
		if v.Kind != Str {
			return v
		}
		// the whole file is asked for by leaving the column out, not by an empty name
		if column = v.Str; strings.TrimSpace(column) == "" && n.args[2].kind != kLit {
			absent := Absent("the name of the column is empty")
			absent.Ptr = v.Pointer()
			return ev.noteMissing(n.args[2], n.args[2].missingKind(), absent)
		}
	}
	if pattern := n.arg(3); pattern != nil {
		column += "\x00" + pattern.lit.Str
	}
	v, err := ev.env.Data(n.argText(0), n.argText(1), column)
	return ev.evalOutside(n, "data", v, err)
}

func evalEvidence(ev *evaluator, n *node) Val {
	if ev.env.Evidence == nil {
		return ev.evalOutside(n, "evidence", Absent("evidence: no evidence here"), nil)
	}
	v, err := ev.env.Evidence(n.argText(0), n.argText(1))
	return ev.evalOutside(n, "evidence", v, err)
}

func evalPrior(ev *evaluator, n *node) Val {
	sha := ev.evalLazyArgument(n, 0)
	if sha.Kind == Missing {
		return sha
	}
	if ev.env.Prior == nil {
		return ev.evalOutside(n, "prior", Absent("prior: needs a ledger"), nil)
	}
	v, err := ev.env.Prior(sha.Str, n.argText(1))
	return ev.evalOutside(n, "prior", v, err)
}

func (ev *evaluator) evalOutside(n *node, kind string, v Val, err error) Val {
	if err != nil {
		v = Absent(err.Error())
	}
	if v.Kind == Missing {
		return ev.noteMissing(n, kind, v)
	}
	return v
}

func checkData(b *builder, n *node) {
	checkEvidence(b, n)
	stat := n.args[1]
	if !slices.Contains(evidence.Stats, stat.lit.Str) {
		refuseNear(stat.place, nearest.Word(stat.lit.Str, evidence.Stats), "known: "+strings.Join(evidence.Stats, ", "),
			"unknown statistic %s", quoteShort(stat.lit.Str))
	}
	arg := n.arg(3)
	if column := n.arg(2); arg == nil && column != nil && column.kind == kLit &&
		strings.TrimSpace(column.lit.Str) == "" {
		refuse(column.place, "leave it out to ask of the whole file", "the name of the column is empty")
	}
	switch stat.lit.Str {
	case "regex_hits":
		if arg != nil {
			compilePattern(arg.lit.Str, arg.place)
		}
	case "hist": // without a value it would be a table of counts, which is not a value that a rule can compare
		if arg == nil || strings.TrimSpace(arg.lit.Str) == "" {
			refuse(stat.place, `write data("id", "hist", "column", "value"); blank cells are counted by nulls`,
				"hist needs the value that it counts")
		}
	}
}

func checkSameRows(b *builder, n *node) { knownEvidence(b, n.args[1]) }

// checkEvidence refuses an id that is not declared, where it is known what is.
func checkEvidence(b *builder, n *node) { knownEvidence(b, n.args[0]) }

func knownEvidence(b *builder, id *node) {
	if known := b.names.Evidence; known != nil && !slices.Contains(known, id.lit.Str) {
		refuseNear(id.place, nearest.Word(id.lit.Str, known), "declare it", "unknown evidence %s", quoteShort(id.lit.Str))
	}
}
