package referee

import (
	"cmp"
	"fmt"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/policy"
)

// oneAndHalf is where a range or jump ratio becomes high, unless the sheet says otherwise.
var oneAndHalf = decimal.MustParse("1.5")

// limit is one member's allowed interval.
type limit struct {
	field     string
	low, high *decimal.Num
}

// sampleRule are the parameters of range and jump rules.
type sampleRule struct {
	path, cur, prev string
	limits          []limit
	thresholds      []limit // high is the threshold
	angles          map[string]bool
	critical        *decimal.Num
	optional        bool
}

func (l *loader) compileRange(r *Rule, v *strictjson.Value) {
	s := &sampleRule{path: v.TextOf("over"), critical: orDefault(v.Get("ratio").Decimal(), oneAndHalf),
		optional: v.Get("optional").IsTrue()}
	for _, m := range v.Get("limits").Fields() {
		pair := m.Value.Elements()
		if len(pair) != 2 || pair[0].Decimal() == nil || pair[1].Decimal() == nil ||
			decimal.Cmp(pair[0].Decimal(), pair[1].Decimal()) >= 0 {
			l.problems.addProblem(m.Value, "limits", "limit %q must be [low, high] with low below high", m.Key)
			continue
		}
		s.limits = append(s.limits, limit{m.Key, pair[0].Decimal(), pair[1].Decimal()})
	}
	l.notEmpty(v, "limits")
	l.samplePath(v, "over")
	r.Text = fmt.Sprintf("members of %s lie within their limits", s.path)
	r.run = func(a *audit, r *Rule) outcome { return a.inRange(r, s) }
}

// notEmpty refuses a check over no member at all.
func (l *loader) notEmpty(v *strictjson.Value, key string) {
	if len(v.Get(key).Fields()) == 0 {
		l.problems.addProblem(v.Get(key), "missing_key", "%s is empty: the check would pass everything", key)
	}
}

func (l *loader) samplePath(v *strictjson.Value, key string) {
	if p := v.Get(key); p != nil {
		if _, err := parsePath(p.Text); err != nil {
			l.problems.addProblem(p, "path", "%s: %v", key, err)
		}
	}
}

func orDefault(n, fallback *decimal.Num) *decimal.Num {
	if n == nil {
		return fallback
	}
	return n
}

// pointerOf is the pointer of a member of a row; "" where the row is evidence, which has no place in the submission.
func (a *audit) pointerOf(row *strictjson.Value, member string) string {
	p := row.Pointer()
	if a.doc.At(p) != row {
		return ""
	}
	return strictjson.JoinPointer(p, member)
}

// samplesAt are the objects at a path: one object, or the rows of an array. A path may begin with $evidence.<id> to
// read evidence.
func (a *audit) samplesAt(path string) ([]*strictjson.Value, error) {
	v, err := a.valueAt(path)
	if err != nil {
		return nil, err
	}
	if v.Kind == strictjson.Array {
		return v.Items, nil
	}
	return []*strictjson.Value{v}, nil
}

// valueAt finds the value at a path of the submission, or of JSON evidence: "$evidence.<id>#/pointer".
func (a *audit) valueAt(path string) (*strictjson.Value, error) {
	if rest, ok := cutPrefix(path, "$evidence."); ok {
		return a.evidenceJSON(rest)
	}
	pointer, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	v := a.doc.At(pointer)
	if v.IsMissing() {
		return nil, &missingPath{pointer}
	}
	return v, nil
}

// missingPath is the error of a path at which there is nothing.
type missingPath struct{ pointer string }

func (e *missingPath) Error() string { return "nothing at " + e.pointer }

func (a *audit) evidenceJSON(ref string) (*strictjson.Value, error) {
	if a.Evidence == nil {
		return nil, errNoManifest
	}
	hit, err := a.Evidence.Resolve(ref)
	if err != nil {
		return nil, err
	}
	if hit.Open {
		return nil, errLeftToHuman
	}
	if hit.JSON == nil {
		return nil, fmt.Errorf("evidence %q holds no JSON there", ref)
	}
	return hit.JSON, nil
}

// inRange: each member lies within its limits; beyond them the overshoot decides the tier.
func (a *audit) inRange(r *Rule, s *sampleRule) outcome {
	rows, err := a.samplesAt(s.path)
	if err != nil {
		return a.cannotRead(r, err)
	}
	before := a.raised
	for i, row := range rows {
		if !a.spendWork(8 * len(s.limits)) {
			break
		}
		for _, lim := range s.limits {
			a.checkLimit(r, s, row, lim, r.rowText(i, len(rows)))
		}
	}
	return flaggedSince(a, before)
}

// cannotRead turns an unreadable operand of a rule into a skip and its work-defect.
func (a *audit) cannotRead(r *Rule, err error) outcome {
	if missing, ok := err.(*missingPath); ok {
		a.operandMissing(r, policy.Result{Missing: []policy.MissingOperand{{Kind: "field", Name: missing.pointer,
			Pointer: missing.pointer, Why: err.Error()}}})
	}
	return skipOutcome("cannot be decided: %v", err)
}

// rowText names a row for a message, where there are several or the sheet says what a row is.
func (r *Rule) rowText(i, n int) string {
	if r.RowName == "" && n < 2 {
		return ""
	}
	return fmt.Sprintf(" in %s %d", cmp.Or(r.RowName, "row"), i+1)
}

func (a *audit) checkLimit(r *Rule, s *sampleRule, row *strictjson.Value, lim limit, in string) {
	v := row.Get(lim.field)
	if v.IsMissing() && s.optional {
		return
	}
	x := v.Decimal()
	where := a.pointerOf(row, lim.field)
	if x == nil {
		a.notANumber(r, v, where, lim.field)
		return
	}
	ratio := limitOvershoot(x, lim)
	pass := decimal.Cmp(ratio, one) <= 0
	tier := ratioTier(ratio, s.critical)
	message := func() string {
		return fmt.Sprintf("%s is %s%s; limits %s to %s", lim.field, shownNumber(x), in, shownNumber(lim.low),
			shownNumber(lim.high))
	}
	id := a.addMeasuredAtom(r, "range_sanity.out_of_range", lim.field, pass, atomSeverity(tier), "field", reportNumber(x),
		reportNumber(lim.low)+" to "+reportNumber(lim.high), message)
	if !pass {
		a.addFinding(r, Finding{Code: "math.out_of_range", Tier: tier, Pointer: where, Atoms: []string{id},
			Message: message(),
			Spot:    &Spot{Claimed: reportNumber(x), Distance: reportNumber(ratio), Band: string(tier)}})
	}
}

func (a *audit) notANumber(r *Rule, v *strictjson.Value, where, name string) {
	message := name + " is missing"
	if v != nil {
		message = fmt.Sprintf("%s is not a number: %s", name, clipText(string(canonicalJSON(v))))
	}
	id := a.addAtom("numeric_validity.not_a_number", name, false, "critical", "field", message)
	a.addFinding(r, Finding{Code: "math.not_a_number", Tier: High, Pointer: where, Atoms: []string{id}, Message: message,
		Fix: &Fix{Text: "state it as a JSON number"}})
}

// limitOvershoot is |x − middle| / half-span: 1 is the limit itself.
func limitOvershoot(x *decimal.Num, lim limit) *decimal.Num {
	c := newCalculator()
	middle := c.quo(c.add(lim.low, lim.high), two)
	half := c.quo(c.sub(lim.high, lim.low), two)
	ratio := c.quo(decimal.Abs(c.sub(x, middle)), half)
	if c.err != nil {
		return hundred // beyond every limit: the value does not fit into decimals
	}
	return ratio
}

// ratioTier: above 1 is mid, above critical high.
func ratioTier(ratio, critical *decimal.Num) Tier {
	if decimal.Cmp(ratio, critical) > 0 {
		return High
	}
	return Mid
}

func (l *loader) compileJump(r *Rule, v *strictjson.Value) {
	s := &sampleRule{path: v.TextOf("series"), cur: v.TextOf("cur"), prev: v.TextOf("prev"), angles: map[string]bool{},
		critical: orDefault(v.Get("ratio").Decimal(), oneAndHalf)}
	if (s.path == "") == (s.cur == "" || s.prev == "") {
		l.problems.addProblem(v, "missing_key", "a jump check needs either series, or cur and prev")
	}
	for _, name := range v.Get("angle_fields").Texts() {
		s.angles[name] = true
	}
	for _, key := range []string{"series", "cur", "prev"} {
		l.samplePath(v, key)
	}
	factor := orDefault(v.Get("factor").Decimal(), one)
	if factor.Sign() <= 0 {
		l.problems.addProblem(v.Get("factor"), "thresholds", "factor must be a number above 0, not %s", factor)
	}
	l.notEmpty(v, "thresholds")
	for _, m := range v.Get("thresholds").Fields() {
		n := m.Value.Decimal()
		if n == nil || n.Sign() <= 0 {
			l.problems.addProblem(m.Value, "thresholds", "threshold %q must be a number above 0", m.Key)
			continue
		}
		if n, err := decimal.Mul(n, factor); err == nil {
			s.thresholds = append(s.thresholds, limit{field: m.Key, high: n})
		}
	}
	r.Text = "steps stay below their thresholds"
	r.run = func(a *audit, r *Rule) outcome { return a.checkJumps(r, s) }
}

// checkJumps compares each sample with the one before.
func (a *audit) checkJumps(r *Rule, s *sampleRule) outcome {
	rows, err := a.sampleSteps(s)
	if err != nil {
		return a.cannotRead(r, err)
	}
	if len(rows) < 2 {
		return skipOutcome("a first sample has no predecessor")
	}
	before, absent := a.raised, ""
	for i := 1; i < len(rows) && a.spendWork(8*len(s.thresholds)); i++ {
		for _, t := range s.thresholds {
			if unseen := a.checkStep(r, s, rows[i-1], rows[i], t, r.rowText(i-1, len(rows)-1)); unseen != nil {
				absent = cmp.Or(absent, a.pointerOf(unseen, t.field), t.field)
			}
		}
	}
	if a.raised == before && absent != "" {
		return a.cannotRead(r, &missingPath{absent}) // a step that nobody can see is not a small one
	}
	return flaggedSince(a, before)
}

func (a *audit) sampleSteps(s *sampleRule) ([]*strictjson.Value, error) {
	if s.path != "" {
		return a.samplesAt(s.path)
	}
	prev, err := a.valueAt(s.prev)
	if err != nil {
		return nil, err
	}
	cur, err := a.valueAt(s.cur)
	if err != nil {
		return nil, err
	}
	return []*strictjson.Value{prev, cur}, nil
}

// checkStep judges one member's step. Where the step cannot be seen it gives the sample whose number is missing.
func (a *audit) checkStep(
	r *Rule, s *sampleRule, prev, cur *strictjson.Value, t limit, in string,
) (unseen *strictjson.Value) {
	x, y := prev.Get(t.field).Decimal(), cur.Get(t.field).Decimal()
	where := a.pointerOf(cur, t.field)
	for _, sample := range []*strictjson.Value{prev, cur} {
		v := sample.Get(t.field)
		switch {
		case v.Decimal() != nil:
		case v.IsMissing():
			return sample
		default:
			a.notANumber(r, v, a.pointerOf(sample, t.field), t.field)
			return nil
		}
	}
	c := newCalculator()
	step := decimal.Abs(c.sub(y, x))
	if s.angles[t.field] {
		step = shortestArc(step)
	}
	ratio := c.quo(step, t.high)
	if c.err != nil {
		ratio = hundred
	}
	pass, tier := decimal.Cmp(ratio, one) <= 0, ratioTier(ratio, s.critical)
	message := func() string {
		return fmt.Sprintf("%s jumped %s in one step%s (from %s to %s); limit %s", t.field, shownNumber(step), in,
			shownNumber(x),
			shownNumber(y), shownNumber(t.high))
	}
	id := a.addMeasuredAtom(r, "jump_dynamics.mutation_violation", t.field, pass, atomSeverity(tier), "field",
		reportNumber(step),
		reportNumber(t.high), message)
	if !pass {
		a.addFinding(r, Finding{Code: "math.jump", Tier: tier, Pointer: where, Atoms: []string{id},
			Message: message(),
			Spot: &Spot{Claimed: reportNumber(y), Delta: reportNumber(step), Distance: reportNumber(ratio),
				Band: string(tier)}})
	}
	return nil
}

// shortestArc folds a difference of degrees into 0 … 180.
func shortestArc(d *decimal.Num) *decimal.Num {
	full := decimal.FromInt(360)
	m, err := decimal.Mod(d, full)
	if err != nil {
		return d
	}
	rest, err := decimal.Sub(full, m)
	if err != nil || decimal.Cmp(m, rest) <= 0 {
		return m
	}
	return rest
}

// agreement are the parameters of an agree rule.
type agreement struct {
	left, right    *policy.Expr
	metric         string
	warn, critical *decimal.Num
}

func (l *loader) compileAgree(r *Rule, v *strictjson.Value) {
	g := &agreement{left: l.loadExpr(v.Get("left"), r.ID+": left"), right: l.loadExpr(v.Get("right"), r.ID+": right"),
		metric: v.TextOf("metric"), warn: v.Get("warn").Decimal()}
	g.critical = orDefault(v.Get("critical").Decimal(), g.warn)
	if decimal.Cmp(g.warn, g.critical) > 0 || g.warn.IsNeg() {
		l.problems.addProblem(v, "agree", "warn %s must be at least 0 and at most critical %s", g.warn, g.critical)
	}
	if g.metric == "" {
		g.metric = "abs"
	}
	if g.left == nil || g.right == nil {
		return
	}
	r.reads = append(g.left.Refs().Calcs, g.right.Refs().Calcs...)
	r.Text = fmt.Sprintf("%s agrees with %s within %s (%s)", g.left.Text(), g.right.Text(), g.warn, g.metric)
	r.run = func(a *audit, r *Rule) outcome { return a.checkAgreement(r, g) }
}

// agrees: at most warn passes, at most critical is mid, beyond is high.
func (a *audit) checkAgreement(r *Rule, g *agreement) outcome {
	left, right := g.left.Eval(a.env), g.right.Eval(a.env)
	x, y := left.Val.Num, right.Val.Num
	if x == nil || y == nil {
		return a.noNumbers(r, left, right)
	}
	d := g.differenceOf(x, y)
	pass := d != nil && decimal.Cmp(d, g.warn) <= 0
	tier := Mid
	if d == nil || decimal.Cmp(d, g.critical) > 0 || decimal.Cmp(g.warn, g.critical) == 0 {
		tier = High
	}
	if r.v.Get("tier") != nil && decimal.Cmp(g.warn, g.critical) == 0 {
		tier = r.Tier
	}
	id := a.addMeasuredAtom(r, "cross_field_consistency."+r.ID, "", pass, atomSeverity(tier), "cross_field",
		reportNumber(d),
		reportNumber(g.warn), func() string { return g.agreementText(r, x, y, d) })
	if pass {
		a.explainAgreement(r, left, right, passed)
		return passed
	}
	a.explainAgreement(r, left, right, flagged)
	f := Finding{Code: "agree." + r.ID, Tier: tier,
		Pointer: a.gatePointer(policy.Result{Operands: append(left.Operands, right.Operands...)}), Atoms: []string{id},
		Message: g.agreementText(r, x, y, d),
		Spot: &Spot{Claimed: reportNumber(x), Recomputed: reportNumber(y), Delta: reportNumber(d), Gate: r.Text,
			Band: string(tier)}}
	if r.Fix != "" {
		f.Fix = &Fix{Text: r.Fix}
	}
	a.addFinding(r, f)
	return flagged
}

func (g *agreement) agreementText(r *Rule, x, y, d *decimal.Num) string {
	return fmt.Sprintf("%s: %s is %s, %s is %s; they differ by %s (%s), at most %s agrees", r.ruleTitle(), g.left.Text(),
		shownNumber(x), g.right.Text(), shownNumber(y), differenceText(d), g.metric, shownNumber(g.warn))
}

// noNumbers skips a rule whose operands are not all numbers, and says of each why: missing, undefined, or of another
// type (S25).
func (a *audit) noNumbers(r *Rule, results ...policy.Result) outcome {
	var joined policy.Result
	for _, res := range results {
		if v := res.Val; v.Kind != policy.Missing && v.Num == nil {
			res.Issues = append(res.Issues, policy.Issue{Code: "operand_type", Pointer: v.Pointer(),
				Message: fmt.Sprintf("%s is not a number", v)})
		}
		joined.Missing, joined.Issues = append(joined.Missing, res.Missing...), append(joined.Issues, res.Issues...)
	}
	a.reportIssues(r, joined)
	a.operandMissing(r, joined)
	return skipOutcome("cannot be decided: %s", missingText(joined))
}

func differenceText(d *decimal.Num) string {
	if d == nil {
		return "more than can be computed"
	}
	return shownNumber(d)
}

// differenceOf by the metric; nil is infinite.
func (g *agreement) differenceOf(x, y *decimal.Num) *decimal.Num {
	delta, err := decimal.Sub(x, y)
	if err != nil {
		return nil
	}
	switch g.metric {
	case "rel":
		return relativeError(delta, y)
	case "angle":
		return shortestArc(decimal.Abs(delta))
	}
	return decimal.Abs(delta)
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}
