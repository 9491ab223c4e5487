package forge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// Change is one difference between two versions of a sheet, in words.
type Change struct {
	Part string // identity, inputs, calculations, rules, constants, …
	Text string
	// Matters says that a verdict may change; otherwise only words do.
	Matters bool
}

// Diff says what a new version of a sheet changes, in the order of the sheet.
func Diff(before, after *referee.Sheet) []Change {
	d := &differ{before: before, after: after}
	d.diffIdentity()
	d.diffInputs()
	d.diffCalculations()
	d.diffRules()
	for _, part := range []struct{ noun, plural, key string }{{"constant", "constants", "consts"},
		{"lexicon", "lexicons", "lexicons"}, {"calendar", "calendars", "calendars"}} {
		d.diffNamedEntries(part.noun, part.plural, before.Doc.Get(part.key), after.Doc.Get(part.key))
	}
	d.diffWhole("schema of the submission", "/eval_spec/required_output_schema")
	d.diffWhole("penalty bands", "/eval_spec/penalty")
	d.diffWhole("lane requirements", "/lane_requirements")
	d.diffWhole("derived values", "/derive")
	d.diffWhole("scores", "/scores")
	d.diffWords()
	return d.out
}

// differ compares two versions of a sheet.
type differ struct {
	before, after *referee.Sheet
	out           []Change
}

func (d *differ) addChange(part string, matters bool, format string, args ...any) {
	d.out = append(d.out, Change{Part: part, Matters: matters, Text: fmt.Sprintf(format, args...)})
}

// sayIfChanged says that a value changed, if it did.
func (d *differ) sayIfChanged(part, what, before, after string) {
	switch {
	case before == after:
	case before == "":
		d.addChange(part, true, "%s is now %s", what, after)
	case after == "":
		d.addChange(part, true, "%s is no longer %s", what, before)
	default:
		d.addChange(part, true, "%s was %s and is %s", what, before, after)
	}
}

func (d *differ) diffIdentity() {
	a, b := d.before, d.after
	d.sayIfChanged("identity", "the slug", a.Slug, b.Slug)
	d.sayIfChanged("identity", "the lane", a.Lane, b.Lane)
	d.sayIfChanged("identity", "the baseline", a.Baseline, b.Baseline)
	if a.SHA256 != b.SHA256 && a.Version == b.Version {
		d.addChange("identity", true, "the content changed but the version is still %s: change the version (S54)", a.Version)
	} else if a.Version != b.Version {
		d.addChange("identity", false, "the version was %s and is %s", a.Version, b.Version)
	}
}

func (d *differ) diffInputs() {
	index := func(list []referee.Input, name string) *referee.Input {
		i := slices.IndexFunc(list, func(in referee.Input) bool { return in.Name == name })
		if i < 0 {
			return nil
		}
		return &list[i]
	}
	for _, old := range d.before.Inputs {
		now := index(d.after.Inputs, old.Name)
		if now == nil {
			d.addChange("inputs", true, "the input %s is removed", old.Name)
			continue
		}
		what := "the input " + old.Name
		d.sayIfChanged("inputs", what+": its type", old.Type, now.Type)
		d.sayIfChanged("inputs", what+": its unit", old.Unit, now.Unit)
		d.sayIfChanged("inputs", what+": what it may be", strings.Join(old.Enum, ", "), strings.Join(now.Enum, ", "))
		d.sayIfChanged("inputs", what+": its other names", strings.Join(old.Aliases, ", "), strings.Join(now.Aliases, ", "))
		d.sayIfChanged("inputs", what, needWord(old.Optional), needWord(now.Optional))
	}
	for _, now := range d.after.Inputs {
		if index(d.before.Inputs, now.Name) == nil {
			d.addChange("inputs", true, "the input %s is new (%s)", now.Name, needWord(now.Optional))
		}
	}
}

func needWord(optional bool) string {
	if optional {
		return "optional"
	}
	return "required"
}

func (d *differ) diffCalculations() {
	find := func(s *referee.Sheet, id string) *referee.MathCheck {
		i := slices.IndexFunc(s.Math, func(m *referee.MathCheck) bool { return m.ID == id })
		if i < 0 {
			return nil
		}
		return s.Math[i]
	}
	for _, old := range d.before.Math {
		now := find(d.after, old.ID)
		if now == nil {
			d.addChange("calculations", true, "the calculation %s is removed", old.ID)
			continue
		}
		what := "the calculation " + old.ID
		d.sayIfChanged("calculations", what+": its formula", old.Text, now.Text)
		d.sayIfChanged("calculations", what, needWord(old.Optional), needWord(now.Optional))
		d.sayIfChanged("calculations", what+": its tier", string(old.Tier), string(now.Tier))
		d.diffMembers("calculations", what, old.Value(), now.Value(), []string{"tolerance", "tolerance_abs", "units",
			"monetary", "aliases"})
	}
	for _, now := range d.after.Math {
		if find(d.before, now.ID) == nil {
			d.addChange("calculations", true, "the calculation %s is new: %s", now.ID, now.Text)
		}
	}
}

// diffMembers compares members of two objects.
func (d *differ) diffMembers(part, what string, before, after *strictjson.Value, keys []string) {
	for _, key := range keys {
		if a, b := before.Get(key), after.Get(key); !strictjson.Equal(a, b) {
			d.sayIfChanged(part, what+": its "+strings.ReplaceAll(key, "_", " "), jsonText(a), jsonText(b))
		}
	}
}

// jsonText is a value as JSON, "" where there is none.
func jsonText(v *strictjson.Value) string {
	if v == nil {
		return ""
	}
	return string(v.Encode())
}

// wordKeys are the members of a rule or constant that no verdict depends on.
var wordKeys = []string{"id", "label", "why", "fix", "message", "source", "as_of", "review_by", "status", "question",
	"remedy", "key"}

func (d *differ) diffRules() {
	for _, old := range d.before.Rules {
		now := d.after.Rule(old.ID)
		switch {
		case strings.HasPrefix(old.ID, "math."):
		case now == nil:
			d.addChange("rules", true, "the rule %s is removed: %s", old.ID, ruleText(old))
		default:
			d.diffRule(old, now)
		}
	}
	for _, now := range d.after.Rules {
		if d.before.Rule(now.ID) == nil && !strings.HasPrefix(now.ID, "math.") {
			d.addChange("rules", true, "the rule %s is new (%s): %s", now.ID, now.Tier, ruleText(now))
		}
	}
}

func ruleText(r *referee.Rule) string {
	for _, s := range []string{r.Text, r.Question, r.Label} {
		if s != "" {
			return s
		}
	}
	return r.Kind
}

func (d *differ) diffRule(old, now *referee.Rule) {
	what := "the rule " + old.ID
	d.sayIfChanged("rules", what+": its kind", old.Kind, now.Kind)
	d.sayIfChanged("rules", what+": its condition", old.Text, now.Text)
	d.sayIfChanged("rules", what+": its question", old.Question, now.Question)
	d.sayIfChanged("rules", what+": its tier", string(old.Tier), string(now.Tier))
	d.sayIfChanged("rules", what+": its severity", old.Severity, now.Severity)
	d.sayIfChanged("rules", what+": its bucket", string(old.Bucket), string(now.Bucket))
	if old.Value() == nil || now.Value() == nil || old.Value().Get("slug") != nil || now.Value().Get("slug") != nil {
		return // a rule that comes with every sheet
	}
	skip := append([]string{"expr", "each", "over", "question", "tier", "risk", "severity", "bucket", "check", "kind"},
		wordKeys...)
	for _, key := range bothKeys(old.Value(), now.Value()) {
		if !slices.Contains(skip, key) && !strings.HasPrefix(key, "x-") {
			d.diffMembers("rules", what, old.Value(), now.Value(), []string{key})
		}
	}
}

// bothKeys are the keys of two objects, each once.
func bothKeys(a, b *strictjson.Value) []string {
	var out []string
	for _, v := range []*strictjson.Value{a, b} {
		if v == nil {
			continue
		}
		for _, m := range v.Members {
			if !slices.Contains(out, m.Key) {
				out = append(out, m.Key)
			}
		}
	}
	return out
}

// diffNamedEntries compares the entries of a map: constants, lexicons, calendars.
func (d *differ) diffNamedEntries(noun, part string, before, after *strictjson.Value) {
	for _, key := range bothKeys(before, after) {
		a, b := before.Get(key), after.Get(key)
		what := "the " + noun + " " + key
		switch {
		case a == nil:
			d.addChange(part, true, "%s is new: %s", what, jsonText(valueOf(b)))
		case b == nil:
			d.addChange(part, true, "%s is removed", what)
		default:
			if x, y := valueOf(a), valueOf(b); !strictjson.Equal(x, y) {
				d.sayIfChanged(part, what, jsonText(x), jsonText(y))
			}
			if a.Kind == strictjson.Object && noun == "constant" {
				d.diffDates(part, what, a, b)
			}
		}
	}
}

// valueOf is the value of a constant, and any other entry itself.
func valueOf(v *strictjson.Value) *strictjson.Value {
	if value := v.Get("value"); value != nil {
		return value
	}
	return v
}

func (d *differ) diffDates(part, what string, a, b *strictjson.Value) {
	for _, key := range []string{"as_of", "status", "review_by"} {
		if x, y := a.TextOf(key), b.TextOf(key); x != y {
			d.addChange(part, false, "%s: its %s was %q and is %q", what, strings.ReplaceAll(key, "_", " "), x, y)
		}
	}
}

func (d *differ) diffWhole(what, pointer string) {
	if a, b := d.before.Doc.At(pointer), d.after.Doc.At(pointer); !strictjson.Equal(a, b) {
		d.sayIfChanged("the rest", "the "+what, jsonText(a), jsonText(b))
	}
}

// diffWords counts the texts that changed: what an agent and a reader are told.
func (d *differ) diffWords() {
	for _, key := range []string{"name", "summary", "purpose", "assignment_instructions", "expected_outputs", "notes"} {
		if !strictjson.Equal(d.before.Doc.Get(key), d.after.Doc.Get(key)) {
			d.addChange("words", false, "%s was reworded", strings.ReplaceAll(key, "_", " "))
		}
	}
	for _, old := range d.before.Rules {
		if now := d.after.Rule(old.ID); now != nil && (old.Why != now.Why || old.Fix != now.Fix ||
			old.Label != now.Label || old.Message != now.Message || old.Source != now.Source) {
			d.addChange("words", false, "the rule %s was reworded", old.ID)
		}
	}
	if a, b := len(d.before.Examples()), len(d.after.Examples()); a != b {
		d.addChange("words", false, "the number of examples was %d and is %d", a, b)
	}
}

// Turn is a stored submission whose verdict a new version changes.
type Turn struct {
	Where         string
	Before, After string   // the verdicts in words
	Rules         []string // what became of which rule, in words
}

// Turned audits one submission by both versions; nil where nothing changes. The case's sheet is set here.
func Turned(where string, c referee.Case, before, after *referee.Sheet) *Turn {
	c.Sheet = before
	old := referee.Audit(c)
	c.Sheet = after
	return TurnedReports(where, old, referee.Audit(c))
}

// TurnedReports is Turned of a submission that has been audited by both versions; nil where nothing changes.
func TurnedReports(where string, old, now *referee.Report) *Turn {
	t := &Turn{Where: where, Before: verdictText(old), After: verdictText(now)}
	for _, check := range old.Checks {
		if status := statusIn(now, check.ID); status != string(check.Status) {
			t.Rules = append(t.Rules, fmt.Sprintf("%s: %s, now %s", check.ID, check.Status, status))
		}
	}
	for _, check := range now.Checks {
		if check.Status != referee.Pass && statusIn(old, check.ID) == "gone" {
			t.Rules = append(t.Rules, fmt.Sprintf("%s: new, %s", check.ID, check.Status))
		}
	}
	if t.Before == t.After && len(t.Rules) == 0 {
		return nil
	}
	return t
}

func verdictText(r *referee.Report) string {
	v := r.Verdict
	return fmt.Sprintf("%s, %s, score %s, %s", v.Severity, map[bool]string{true: "client ready",
		false: "not client ready"}[v.ClientReady], v.Score, v.RecommendedAction)
}

func statusIn(r *referee.Report, id string) string {
	for _, c := range r.Checks {
		if c.ID == id {
			return string(c.Status)
		}
	}
	return "gone"
}
