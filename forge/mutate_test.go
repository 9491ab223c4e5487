package forge

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee"
)

// trippedSheet has one gate over a and b, an example at a = 9 and b = 2, and trips.
func trippedSheet(t *testing.T, expr, trips string) *referee.Sheet {
	t.Helper()
	src := strings.TrimSuffix(sketch(gate("g", expr), ""), "}") +
		`, "examples": [{"name": "x", "submission": {"inputs": {"a": 9, "b": 2, "tier": "x", "share": 0.5, "pct": 5, ` +
		`"rows": [{"v": 3}, {"v": 4}]}}, "trips": [` + trips + `]}]}`
	sheet := loadSheet(t, src)
	if r := Test(sheet); !r.OK() {
		t.Fatal(r.Failures)
	}
	return sheet
}

// TestMutate: the mutants of a >= 5 are a > 5, a < 5, a >= 6, a >= 4 and not (a >= 5). A trip at a = 0 notices the two
// that are turned round; of a conjunction also or, and the term that it breaks left out. The largest of no rows is
// missing, so a trip without rows notices max.
func TestMutate(t *testing.T) {
	far := `{"change": "far below", "inputs": {"a": 0}, "flags": ["g"]}`
	near := `{"change": "just below", "inputs": {"a": 4.9}, "flags": ["g"]}, {"change": "on it", "inputs": {"a": 5}, ` +
		`"flags": []}`
	tests := []struct {
		name, expr, trips    string
		mutants, by, written int
		unwritten            []string // changes that no trip notices
	}{
		{"a far trip", "a >= 5", far, 5, 5, 2, []string{">= became >", "5 became 6", "5 became 4"}},
		{"near trips", "a >= 5", near, 5, 5, 5, nil},
		{"and", "a >= 5 and b >= 1", far, 12, 12, 5, []string{"b >= 1 was left out", "1 became 2"}},
		{"rows", "agg(\"sum\", rows, \"v\") >= 5", `{"change": "none", "inputs": {"rows": []}, "flags": ["g"]}`, 6, 6,
			3, []string{">= became >", "5 became 4"}},
		{"words", "tier == \"x\"", `{"change": "other", "inputs": {"tier": "y"}, "flags": ["g"]}`, 3, 3, 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Mutate(trippedSheet(t, tt.expr, tt.trips))
			if m.Mutants != tt.mutants || m.Killed != tt.by || m.Written != tt.written {
				t.Errorf("%d mutants, %d killed, %d by what is written; want %d, %d, %d: %+v", m.Mutants, m.Killed,
					m.Written, tt.mutants, tt.by, tt.written, m.Survivors)
			}
			for _, want := range tt.unwritten {
				i := slices.IndexFunc(m.Survivors, func(s Survivor) bool { return strings.Contains(s.What, want) })
				if i < 0 || m.Survivors[i].Witness == "" {
					t.Errorf("%q must survive the trips and have a witness: %+v", want, m.Survivors)
				}
			}
		})
	}
}

// TestEquivalentMutant: a change that makes no difference survives without a witness, and lowers the score.
func TestEquivalentMutant(t *testing.T) {
	m := Mutate(trippedSheet(t, "a >= 5 or a >= 7", `{"change": "below", "inputs": {"a": 4}, "flags": ["g"]}`))
	i := slices.IndexFunc(m.Survivors, func(s Survivor) bool { return strings.Contains(s.What, "a >= 7 was left out") })
	if i < 0 || m.Survivors[i].Witness != "" {
		t.Errorf("survivors: %+v", m.Survivors)
	}
	if m.Killed >= m.Mutants || m.Score() == "100" {
		t.Errorf("%d of %d", m.Killed, m.Mutants)
	}
	if len(m.Open()) != m.Mutants-m.Killed || len(m.Idle) != 0 {
		t.Errorf("%d of %d are unexplained, %d explanations idle", len(m.Open()), m.Mutants-m.Killed, len(m.Idle))
	}
}

// TestExplainedMutant: the sheet's own reason stands beside a change that nothing notices, which still counts as not
// noticed; a reason for one that is noticed, or that nobody makes, is idle.
func TestExplainedMutant(t *testing.T) {
	const below = `{"change": "below", "inputs": {"a": 4}, "flags": ["g"]}`
	bare := trippedSheet(t, "a >= 5 or a >= 7", below)
	before := Mutate(bare)
	open := before.Open()
	explained := []string{`{"change": ">= became > in a >= 5", "why": "x"}`,
		`{"change": "nobody makes this", "why": "x"}`}
	for _, s := range open {
		explained = append(explained, `{"change": "`+s.What+`", "why": "the other condition holds already"}`)
	}
	src := strings.Replace(string(bare.Canonical), `"expr":`, `"equivalent": [`+strings.Join(explained,
		", ")+`], "expr":`, 1)
	m := Mutate(loadSheet(t, src))
	if len(open) == 0 || len(m.Open()) != 0 || m.Killed != m.Mutants-len(open) {
		t.Errorf("%d were open, %v are; %d of %d killed", len(open), m.Open(), m.Killed, m.Mutants)
	}
	if i := slices.IndexFunc(m.Survivors, func(s Survivor) bool { return s.What == open[0].What }); i < 0 ||
		m.Survivors[i].Why != "the other condition holds already" {
		t.Errorf("no reason beside %q: %+v", open[0].What, m.Survivors)
	}
	if want := []Idle{{"g", ">= became > in a >= 5"}, {"g", "nobody makes this"}}; !slices.Equal(m.Idle, want) {
		t.Errorf("idle are %v, not %v", m.Idle, want)
	}
}

func TestScore(t *testing.T) {
	for _, tt := range []struct {
		killed, mutants int
		want            string
	}{{0, 0, "100"}, {1, 3, "33.3"}, {9999, 10000, "99.9"}, {19, 20, "95"}, {7, 7, "100"}} {
		if got := (&MutationResult{Killed: tt.killed, Mutants: tt.mutants}).Score(); got != tt.want {
			t.Errorf("%d of %d: %s, want %s", tt.killed, tt.mutants, got, tt.want)
		}
	}
}

// TestBoundaries: at 80 per cent of the worked debt service of 80 the gate dscr >= 1.25 turns at noi = 100 (by hand),
// and nothing passes without an operand.
func TestBoundaries(t *testing.T) {
	got := Boundaries(loadSheet(t, strings.Replace(loanSheet, "TRIPS", ok, 1)))
	for _, want := range []Boundary{
		{"dscr_gate", "noi", "99.9999", "below", "flag", referee.Flag},
		{"dscr_gate", "noi", "100", "on", "pass", referee.Pass},
		{"dscr_gate", "noi", "100.0001", "above", "pass", referee.Pass},
		{"dscr_gate", "noi", "", "missing", "no pass", referee.Skip},
		{"ltv_gate", "loan", "1000", "on", "pass", referee.Pass},
		{"ltv_gate", "loan", "1000.001", "above", "flag", referee.Flag},
	} {
		if !slices.Contains(got, want) || !want.OK() {
			t.Errorf("no %+v in %+v", want, got)
		}
	}
	for _, b := range got {
		if !b.OK() {
			t.Error(b)
		}
	}
}

func TestSimplest(t *testing.T) {
	for _, tt := range [][3]string{{"0.0199", "0.0204", "0.02"}, {"4.9999", "5.2", "5"}, {"-1.31", "-1.29", "-1.3"},
		{"7", "7", "7"}, {"0.12344", "0.12349", "0.12345"}} {
		got := simplestBetween(decimal.MustParse(tt[0]), decimal.MustParse(tt[1]))
		if decimal.Cmp(got, decimal.MustParse(tt[0])) < 0 || decimal.Cmp(got, decimal.MustParse(tt[1])) > 0 ||
			len(got.String()) > len(tt[2]) {
			t.Errorf("%s to %s: %s, want one of the length of %s", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestCoverage(t *testing.T) {
	sheet := trippedSheet(t, "a >= (5 if tier == \"x\" else 6)", `{"change": "c", "inputs": {"a": 1}, "flags": ["g"]}`)
	c := Coverage(sheet)
	i := slices.IndexFunc(c.Rules, func(r RuleCoverage) bool { return r.Rule.ID == "g" })
	g := c.Rules[i]
	if g.Pass != 1 || g.Flag != 1 || g.Skip != 0 || !slices.Equal(g.Missed(), []string{`if not (tier == "x")`}) {
		t.Errorf("%+v missed %q", g, g.Missed())
	}
	if reached, possible := c.Totals(); reached >= possible || reached == 0 {
		t.Errorf("%d of %d", reached, possible)
	}
}
