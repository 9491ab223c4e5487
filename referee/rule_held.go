package referee

import (
	"errors"
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
	"github.com/defendableos/referee/referee/policy"
)

// heldRule are the parameters of an evidence rule.
type heldRule struct {
	ids      []string
	hashes   []hashOf
	minItems int64
	resolve  bool
	quote    *quoteRows
	dated    *policy.Expr // days from dated to as_of
	maxAge   *decimal.Num
}

// hashOf is the SHA-256 that an item must have.
type hashOf struct {
	id   string
	text string
	expr *policy.Expr
}

// quoteRows are rows with a quote and what it quotes.
type quoteRows struct {
	over, quote, ref, id string
	minLen               int
}

// isHash reports whether s is a SHA-256: 64 lower-case hexadecimal digits.
func isHash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

func (l *loader) compileEvidence(r *Rule, v *strictjson.Value) {
	h := &heldRule{ids: v.Get("ids").Texts(), resolve: v.Get("refs_resolve").IsTrue(),
		maxAge: v.Get("max_age_days").Decimal()}
	h.minItems, _ = v.Get("min_items").Int()
	for _, m := range v.Get("sha256").Fields() {
		want := hashOf{id: m.Key}
		if s, ok := m.Value.Str(); ok && isHash(s) {
			want.text = s
		} else {
			want.expr = l.loadExpr(m.Value, r.ID+": sha256")
		}
		h.hashes = append(h.hashes, want)
	}
	if q := v.Get("quote"); q != nil {
		n, _ := q.Get("min_len").Int()
		h.quote = &quoteRows{over: q.TextOf("over"), quote: q.TextOf("quote"), ref: q.TextOf("ref"), id: q.TextOf("id"),
			minLen: int(n)}
		l.samplePath(q, "over")
	}
	l.compileAge(r, v, h)
	if h.ids == nil && h.hashes == nil && h.minItems == 0 && !h.resolve && h.quote == nil && h.dated == nil {
		l.problems.addProblem(v, "missing_key", "an evidence check needs ids, sha256, min_items, refs_resolve, quote or "+
			"dated: it would pass everything")
	}
	r.Text = "evidence is held"
	r.run = func(a *audit, r *Rule) outcome { return a.evidenceHeld(r, h) }
}

func (l *loader) compileAge(r *Rule, v *strictjson.Value, h *heldRule) {
	dated, asOf := l.loadExpr(v.Get("dated"), r.ID+": dated"), l.loadExpr(v.Get("as_of"), r.ID+": as_of")
	if dated == nil && asOf == nil && h.maxAge == nil {
		return
	}
	if dated == nil || asOf == nil || h.maxAge == nil {
		l.problems.addProblem(v, "missing_key", "the age of evidence needs dated, as_of and max_age_days: a rulebook has "+
			"no clock (S52)")
		return
	}
	age, err := policy.ParseText("days("+dated.Text()+", "+asOf.Text()+")", l.sheet.names)
	if err != nil {
		l.problems.addProblem(v.Get("dated"), "expression", "%v", err)
		return
	}
	h.dated = age
}

// evidenceHeld runs the parts that the rule asks for.
func (a *audit) evidenceHeld(r *Rule, h *heldRule) outcome {
	if a.Evidence == nil {
		return skipOutcome("no_manifest: a bare submission declares no evidence")
	}
	before, open := a.raised, 0
	for _, id := range h.ids {
		a.isHeld(r, id)
	}
	if n := len(a.Evidence.IDs()); int64(n) < h.minItems {
		a.addFinding(r, Finding{Code: "evidence.too_few",
			Message: fmt.Sprintf("the run declares %d items of evidence; at least %d are needed", n, h.minItems),
			Fix:     fixOf(r)})
	}
	if h.resolve {
		a.flagUnheldEvidence(r)
		for _, claim := range a.doc.Get("claims").Elements() {
			if word, ok := claimReference(claim).Str(); ok && !blankReference(word) {
				open += a.resolveReference(r, claimReference(claim), word)
			}
		}
	}
	if h.quote != nil {
		open += a.quotesOf(r, h.quote)
	}
	unknown := append(a.checkHashes(r, h), a.checkAge(r, h)...)
	out := flaggedSince(a, before)
	for _, res := range unknown {
		a.reportIssues(r, res)
		a.operandMissing(r, res)
	}
	switch {
	case out.status == Flag:
		return out
	case len(unknown) > 0:
		return skipOutcome("cannot be decided: %s", missingText(unknown[0]))
	case open > 0:
		return outcome{status: Open,
			reason: fmt.Sprintf("%d references point into documents that are left to the human (S64)", open)}
	}
	return passed
}

func (a *audit) isHeld(r *Rule, id string) {
	_, err := a.Evidence.File(id)
	atom := a.addAtom("evidence.held", id, err == nil, atomSeverity(r.Tier), "sample", "declared and held")
	if err != nil {
		a.addFinding(r, Finding{Code: "evidence.missing_file", Pointer: "", Atoms: []string{atom}, Message: err.Error(),
			Fix: &Fix{Text: fmt.Sprintf("attach the evidence %q", id)}})
	}
}

// checkHashes compares each item's bytes with the hash they must have; it returns what kept it from doing so.
func (a *audit) checkHashes(r *Rule, h *heldRule) (unknown []policy.Result) {
	for _, want := range h.hashes {
		sum, pointer := want.text, ""
		if want.expr != nil {
			res := want.expr.Eval(a.env)
			if res.Val.Kind != policy.Str {
				unknown = append(unknown, res)
				continue
			}
			sum, pointer = res.Val.Str, res.Val.Pointer()
		}
		a.hashMatches(r, want.id, sum, pointer)
	}
	return unknown
}

func (a *audit) hashMatches(r *Rule, id, want, pointer string) {
	f, err := a.Evidence.File(id)
	match := err == nil && strings.EqualFold(f.SHA256, strings.TrimSpace(want))
	atom := a.addAtom("evidence.hash", id, match, "critical", "sample", want)
	if match {
		return
	}
	if err != nil {
		if !errors.Is(err, evidence.ErrNotHeld) {
			a.addFinding(r, Finding{Code: "evidence.missing_file", Pointer: pointer, Atoms: []string{atom},
				Message: err.Error(), Fix: fixOf(r)})
		}
		return
	}
	a.addFinding(r, Finding{Code: "evidence.hash_mismatch", Tier: High, Pointer: pointer, Atoms: []string{atom},
		Message: fmt.Sprintf("evidence %q hashes to %s, not %s: it is not the file that was stated", id, f.SHA256,
			clipText(want)), Fix: &Fix{Text: "attach the file that the hash was taken of"}})
}

// quotesOf looks up each row's quote in the evidence that the row, or the rule, names.
func (a *audit) quotesOf(r *Rule, q *quoteRows) (open int) {
	rows, err := a.samplesAt(q.over)
	if err != nil {
		a.cannotRead(r, err)
		return 0
	}
	for _, row := range rows {
		if !a.spendWork(2) {
			break
		}
		quote, _ := row.Get(q.quote).Str()
		ref := q.id
		if ref == "" {
			ref, _ = row.Get(q.ref).Str()
		}
		at := row.Get(q.quote)
		if at == nil {
			at = row
		}
		open += a.quoteStands(r, at, quote, ref, q.minLen)
		a.quoteValue(r, quote, row.Get("value"))
	}
	return open
}

// checkAge measures evidence against a date of the submission, never against a clock; it returns what kept it from
// doing so.
func (a *audit) checkAge(r *Rule, h *heldRule) (unknown []policy.Result) {
	if h.dated == nil {
		return nil
	}
	res := h.dated.Eval(a.env)
	if res.Val.Num == nil {
		return []policy.Result{res}
	}
	if res.Val.Num.IsNeg() || decimal.Cmp(res.Val.Num, h.maxAge) > 0 {
		a.addFinding(r, Finding{Code: "evidence.stale", Pointer: a.gatePointer(res),
			Message: fmt.Sprintf("the evidence is %s days old; at most %s are allowed", shownNumber(res.Val.Num),
				shownNumber(h.maxAge)), Fix: fixOf(r)})
	}
	return nil
}
