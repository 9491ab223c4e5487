package referee

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
	"github.com/defendableos/referee/referee/policy"
)

// policyEnv is what expressions read.
func (a *audit) policyEnv() *policy.Env {
	env := &policy.Env{Root: a.doc, InputsRoot: a.doc.Get("inputs"), Space: a.spaceValue, Data: a.evidenceData,
		Column:  a.evidenceColumn,
		Numeric: a.isNumericColumn, Evidence: a.evidenceValue, Prior: a.priorValue}
	env.Work, env.Lists = a.work, map[*strictjson.Value][]policy.Val{}
	env.Calc = a.calcReader(nil, nil)
	return env
}

// calcReader reads calculations for expressions: as a chain computes them (nil is the chain of the facts), or as
// claimed. asClaimed names calculations whose claim is read in place of the recomputed value (S14's second look).
func (a *audit) calcReader(ch *chain, asClaimed []string) func(string, bool) policy.Val {
	return func(id string, claimed bool) policy.Val {
		c := a.pickedCalculation(id)
		if c == nil {
			c = a.undeclaredEntry(id)
		}
		if c == nil {
			return policy.Absent("no calculation named " + id)
		}
		if claimed || slices.Contains(asClaimed, id) {
			if c.claimed == nil {
				return policy.Absent(id + " states no result")
			}
			return policy.Val{Kind: policy.Num, Num: c.claimed, Ptr: c.pointer + "/result"}
		}
		read := ch
		if read == nil {
			read = a.facts
		}
		n, err := c.own, error(nil)
		if c.check != nil {
			n, err = read.readCalculation(c.check)
		}
		if err != nil || n == nil {
			return policy.Absent(id + " cannot be recomputed")
		}
		return policy.Val{Kind: policy.Num, Num: n, Ptr: c.pointer}
	}
}

// spaceValue reads the engine's namespaces (rules.md 1.1).
func (a *audit) spaceValue(name string) policy.Val {
	switch strings.TrimPrefix(name, "$") {
	case "stack":
		return a.stackSpace()
	case "evidence":
		return a.evidenceSpace()
	case "flags":
		return a.flagSpace()
	case "atoms":
		return a.atomSpace()
	case "file":
		if a.file == nil {
			ref := a.submissionRef()
			a.file = &ref
		}
		ref := *a.file
		return objectValue("path", policy.Text(ref.Path), "sha256", policy.Text(ref.SHA256), "git_blob",
			policy.Text(ref.GitBlob), "bytes", wholeNumber(len(a.Bytes)))
	}
	return policy.Absent("no namespace " + name)
}

var errNoManifest = errors.New("no_manifest: a bare submission has no evidence")

// evidenceData recounts evidence, so that counts are not taken on trust.
func (a *audit) evidenceData(id, stat, column string) (policy.Val, error) {
	if a.Evidence == nil {
		return policy.Absent(errNoManifest.Error()), errNoManifest
	}
	column, arg, _ := strings.Cut(column, "\x00")
	got, err := a.Evidence.Stat(id, stat, column, arg)
	if err != nil {
		return policy.Absent(err.Error()), err
	}
	return statVal(got), nil
}

// evidenceColumn reads a column of a table of evidence, the header aside.
func (a *audit) evidenceColumn(id, name string) ([]string, error) {
	if a.Evidence == nil {
		return nil, errNoManifest
	}
	return a.Evidence.Column(id, name)
}

// isNumericColumn reports whether the sheet declares a column of a table to hold numbers.
func (a *audit) isNumericColumn(id, column string) bool {
	item := a.Sheet.evidenceItem(id)
	return item != nil && slices.ContainsFunc(item.Columns, func(c EvidenceColumn) bool {
		return c.Name == column && c.Type == "number"
	})
}

// evidenceValue reads a value at a selector of an evidence file.
func (a *audit) evidenceValue(id, selector string) (policy.Val, error) {
	if a.Evidence == nil {
		return policy.Absent(errNoManifest.Error()), errNoManifest
	}
	hit, err := a.evidenceHit(id, strings.TrimPrefix(selector, "#"))
	if err != nil {
		return policy.Absent(err.Error()), err
	}
	if hit.Open {
		return policy.Absent(fmt.Sprintf("evidence %q is left to the human", id)), errLeftToHuman
	}
	if hit.Kind == evidence.HitFile && hit.JSON == nil {
		return policy.Text(hit.Text), nil // a whole text is a text, even where it looks like a number
	}
	if hit.Kind == evidence.HitText {
		return a.quotedVal(id, selector, hit)
	}
	if hit.JSON != nil {
		return a.env.Value(hit.JSON), nil
	}
	return hitVal(hit), nil
}

// quotedVal is a quotation as a value: the number that it is, with the sign and scale that stand around it, else its
// text.
func (a *audit) quotedVal(id, selector string, hit evidence.Hit) (policy.Val, error) {
	if _, ok := evidence.NumberIn(hit.Text); !ok {
		return policy.Text(hit.Text), nil
	}
	cited, err := a.Evidence.Cited(id + "#" + strings.TrimPrefix(selector, "#"))
	if err != nil {
		return policy.Absent(err.Error()), err
	}
	if d := hitNumber(cited.Number); d != nil {
		return policy.Number(d), nil
	}
	return policy.Text(hit.Text), nil
}

func (a *audit) evidenceHit(id, selector string) (evidence.Hit, error) {
	if selector == "" {
		return a.Evidence.Whole(id)
	}
	return a.Evidence.Resolve(id + "#" + selector)
}

var errLeftToHuman = errors.New("evidence of this kind is hashed and never read")

// hitVal turns what a selector hit into a value: JSON as it is, a number as people write it as a number, else text.
func hitVal(hit evidence.Hit) policy.Val {
	if hit.JSON != nil {
		return policy.FromJSON(hit.JSON)
	}
	// "1,815,000" of three cells is no number
	if n, ok := evidence.NumberIn(hit.Text); ok && hit.Row == nil && hit.Cells == nil {
		if d := hitNumber(n); d != nil {
			return policy.Number(d)
		}
	}
	return policy.Text(hit.Text)
}

// hitNumber is the number's value: 12 % is 0.12. Nil where it does not fit into decimals.
func hitNumber(n evidence.Number) *decimal.Num {
	d, err := n.Canonical()
	if err != nil {
		return nil
	}
	return d
}

// errNoLedger is the reason of every prior operand where no ledger is at hand.
var errNoLedger = errors.New("no ledger here to resolve a receipt from")

func (a *audit) priorValue(sha, pointer string) (policy.Val, error) {
	if a.Prior == nil {
		return policy.Absent("prior: " + errNoLedger.Error()), errNoLedger
	}
	return a.Case.Prior(sha, pointer)
}

// decimalVal reads a canonical decimal of the profile; empty is unknown (S42).
func decimalVal(s string) policy.Val {
	n, err := decimal.Parse(s)
	if err != nil {
		return policy.Absent("profile incomplete")
	}
	return policy.Number(n)
}
