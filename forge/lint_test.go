package forge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/referee"
)

// sketch is a sheet of few words around gates and whatever else a case needs.
func sketch(rules, more string) string {
	return `{"schema": "referee.flight-sheet/v1", "slug": "s", "name": "S", "version": "1.0.0", "lane": "agent",
		"baseline": "none",
	"required_inputs": [{"name": "a", "type": "number"}, {"name": "b", "type": "number"}, {"name": "tier",
	"type": "string"}, {"name": "o", "type": "number", "optional": true},
		{"name": "share", "type": "number", "unit": "ratio"}, {"name": "pct", "type": "number", "unit": "percent"},
		{"name": "rows", "type": "array"}],
	"eval_spec": {"required_output_schema": {"type": "object", "properties": {"inputs": {"type": "object",
	"properties": {"b": {"minimum": 1, "maximum": 10}}}}},
	` + more + `"rules": [` + rules + `]}}`
}

func gate(id, expr string) string { return gateOf(id, "high", expr, "") }

func gateOf(id, tier, expr, more string) string {
	return fmt.Sprintf(`{"id": %q, "tier": %q, "expr": %q, "why": "w", "fix": "f", "source": {"text": "t"}%s}`, id,
		tier, expr, more)
}

// TestLintReasoning: each case was reasoned by hand; want is the code and a part of the message, which must hold the
// witness.
func TestLintReasoning(t *testing.T) {
	tests := []struct {
		name, rules string
		code, says  string // "" is no warning of the reasoning
	}{
		{"fine", gate("g", "a >= 1"), "", ""},
		{"unsatisfiable", gate("g", "a >= 5 and a <= 3"), "unsatisfiable", "a >= 5 excludes a <= 3"},
		{"unsatisfiable through a factor", gate("g", "2 * a >= 10 and a + 1 < 6"), "unsatisfiable",
			"a >= 5 excludes a < 5"},
		{"touching bounds can hold", gate("g", "a >= 5 and a <= 5"), "", ""},
		{"unsatisfiable texts", gate("g", "tier == \"x\" and tier == \"y\""), "unsatisfiable",
			`tier == "x" excludes tier == "y"`},
		{"unsatisfiable membership", gate("g", "tier in [\"x\", \"y\"] and tier != \"x\" and tier != \"y\""),
			"unsatisfiable", "excludes"},
		{"unsatisfiable truth", gate("g", "matches(tier, \"x\") and not matches(tier, \"x\")"), "unsatisfiable",
			"excludes"},
		{"a difference", gate("g", "a > b and b > a"), "unsatisfiable", "a - b > 0 excludes a - b < 0"},
		{"beyond the schema", gate("g", "b >= 11"), "unsatisfiable", "b >= 11 excludes b >= 1 and b <= 10"},
		{"always true by the schema", gate("g", "b + 1 >= 2"), "always_true", "b < 1 excludes b >= 1 and b <= 10"},
		{"always true length", gate("g", "len(rows) >= 0"), "always_true", "len(rows) < 0"},
		{"always true or", gate("g", "a < 5 or a >= 5"), "always_true", "excludes"},
		{"a hole is no tautology", gate("g", "a < 5 or a > 5"), "", ""},
		{"not", gate("g", "not (a >= 5) and a > 6"), "unsatisfiable", "a < 5 excludes a > 6"},
		{"a chain", gate("g", "5 <= a <= 4"), "unsatisfiable", "a >= 5 excludes a <= 4"},
		{"implies can be false", gate("g", "implies(a > 5, a > 6)"), "", ""},
		{"implies that says nothing", gate("g", "implies(a > 5, a > 4)"), "always_true", "excludes"},
		{"contradictory", gate("g", "a >= 5") + "," + gate("h", "a < 5"), "contradictory",
			"a = 5 passes the first, a = 4 the second"},
		{"not contradictory", gate("g", "a >= 5") + "," + gate("h", "a <= 5"), "", ""},
		{"contradictory only apart", gateOf("g", "high", "a >= 5", `, "applies_if": "tier == \"x\""`) + "," +
			gateOf("h", "high", "a < 5", `, "applies_if": "tier == \"y\""`), "", ""},
		{"subsumed", gate("g", "a >= 5") + "," + gate("h", "a >= 4"), "subsumed", `"h" adds nothing to "g"`},
		{"subsumed by both", gate("g", "a >= 5 and b <= 3") + "," + gateOf("h", "mid", "b <= 3", ""), "subsumed",
			"a = 5, b = 1"},
		{"a heavier looser gate", gateOf("g", "mid", "a >= 5", "") + "," + gate("h", "a >= 4"), "", ""},
		{"twice the same", gate("g", "a / b >= 5") + "," + gate("h", "a / b >= 5"), "subsumed", "adds nothing to"},
		{"unreachable else", gate("g", "a <= (5 if b >= 1 else 6)"), "unreachable", "the branch for not (b >= 1)"},
		{"unreachable nested", gate("g", "a <= (5 if b >= 8 else (6 if b >= 9 else 7))"), "unreachable",
			"the branch for b >= 9"},
		{"an unreachable band", gate("g", "a <= band(b, [[20, 1], [5, 2], [0, 3], [-1, 4]])"), "unreachable",
			"the band from 20"},
		{"a band below one that is always taken", gate("g", "a <= band(b, [[5, 2], [0, 3], [-1, 4]])"), "unreachable",
			"the band from -1"},
		{"80 against 0.80", gate("g", "share <= 80"), "unit", "looks like per cent"},
		{"0.80 is fine", gate("g", "share <= 0.80"), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []referee.Problem
			for _, p := range Lint(loadSheet(t, sketch(tt.rules, "")), "") {
				if slices.Contains([]string{"unsatisfiable", "always_true", "contradictory", "subsumed", "unreachable",
					"unit"}, p.Rule) {
					got = append(got, p)
				}
			}
			if tt.code == "" {
				if len(got) > 0 {
					t.Fatalf("warned: %v", got)
				}
				return
			}
			if !slices.ContainsFunc(got, func(p referee.Problem) bool {
				return p.Rule == tt.code && strings.Contains(p.Message, tt.says) && p.Warning && p.Hint != ""
			}) {
				t.Fatalf("want [%s] %q, got %v", tt.code, tt.says, got)
			}
		})
	}
}

func TestLintWords(t *testing.T) {
	const trip = `{"change": "c", "inputs": {"a": 0}, "flags": ["g"]}`
	example := func(trips string) string {
		return `{"submission": {"inputs": {"a": 9, "b": 2, "tier": "x", "share": 0.5, "pct": 5, "rows": []}}, ` +
			`"trips": [` + trips + `]}`
	}
	withExamples := func(src, examples string) string {
		return strings.TrimSuffix(src, "}") + `, "examples": [` + examples + `]}`
	}
	clean := withExamples(sketch(gate("g", "a >= 5"), ""), example(trip))
	money := `"math_checks": [{"formula_id": "m", "formula": "a * 2", "units": "USD", "why": "w", "fix": "f"}], `
	percent := func(formula, units string) string {
		return fmt.Sprintf(`"math_checks": [{"formula_id": "m", "formula": %q, "units": %q, "why": "w", "fix": "f"}], `,
			formula, units)
	}
	tests := []struct {
		name, src, code, says string
	}{
		{"clean", clean, "", ""},
		{"no example", sketch(gate("g", "a >= 5"), ""), "no_example", ""},
		{"no trip", withExamples(sketch(gate("g", "a >= 5"), ""), example("")), "no_trip", `"g"`},
		{"an example that contradicts its rule", withExamples(sketch(gate("g", "a >= 50"), ""), example(trip)),
			"example", "g must be pass and is flag"},
		{"a trip that contradicts its rule", withExamples(sketch(gate("g", "a >= -5"), ""), example(trip)), "example",
			"g must be flag and is pass"},
		{"no source", strings.Replace(clean, `, "source": {"text": "t"}`, "", 1), "no_source", `"g"`},
		{"no why", strings.Replace(clean, `"why": "w"`, `"why": " "`, 1), "no_why", `gate "g"`},
		{"no fix", strings.Replace(clean, `"fix": "f", `, "", 1), "no_fix", `gate "g"`},
		{"a magic number", strings.Replace(strings.Replace(clean, `, "source": {"text": "t"}`, "", 1), `"high"`,
			`"mid"`, 1), "magic_number", "compares with 5"},
		{"no date", strings.Replace(clean, `"eval_spec"`, `"consts": {"K": {"value": 5, "source": "s", "status": `+
			`"general"}}, "eval_spec"`, 1), "no_as_of", "K"},
		{"unused", strings.Replace(clean, `"eval_spec"`, `"lexicons": {"HEDGE": ["may"]}, "eval_spec"`, 1), "unused",
			"the lexicon HEDGE"},
		{"past its date", strings.Replace(clean, `"eval_spec"`, `"consts": {"K": {"value": 5, "source": "s", `+
			`"status": "general", "as_of": "2025-01-01", "review_by": "2026-11-20"}}, "eval_spec"`, 1), "review_by",
			"by 2026-11-20"},
		{"money", sketch(gate("g", "m >= 5"), money), "material", `"m"`},
		{"money with an amount", sketch(gate("g", "m >= 5"), money+`"penalty": {"monetary_material_abs": 1000}, `),
			"!material", ""},
		{"per cents out of a formula", sketch(gate("g", "m >= 5"), percent("100 * a / b", "percent")), "percent",
			`"m" multiplies by 100`},
		{"per cents at the end", sketch(gate("g", "m >= 5"), percent("(a - b) / b * 100.0", "%")), "percent",
			"divided by it"},
		{"basis points", sketch(gate("g", "m >= 5"), percent("-(a / b * 10000)", "bps")), "percent", "10000"},
		{"a share in per cents", sketch(gate("g", "m >= 5"), percent("a / b", "percent")), "!percent", ""},
		{"a hundred below the line", sketch(gate("g", "m >= 5"), percent("a / (100 * b)", "percent")), "!percent", ""},
		{"a hundred of something else", sketch(gate("g", "m >= 5"), percent("100 * a", "ratio")), "!percent", ""},
		{"exact", sketch(gate("g", "a / 3 == b / 7"), ""), "exact", "a / 3 == b / 7"},
		{"an exact quotient of counts", sketch(gate("g", "a / b == 1"), ""), "!exact", ""},
		{"exact words", sketch(gate("g", "tier == \"x\""), ""), "!exact", ""},
		{"an optional operand", sketch(gate("g", "o >= 5"), ""), "skips", "the optional input o"},
		{"an optional operand that is asked for", sketch(gate("g", "not nonempty(o) or o >= 5"), ""), "!skips", ""},
		{"an optional operand that flags", sketch(gateOf("g", "high", "o >= 5", `, "on_missing": "flag"`), ""),
			"!skips", ""},
		{"an unrequired member", sketch(gate("g", "field(\"/memo\") == \"x\""), ""), "skips", "/memo"},
		{"a required member", sketch(gate("g", "field(\"/memo\") == \"x\""),
			`"deterministic_checks": [{"check": "required", "id": "r", "paths": ["memo"]}], `), "!skips", ""},
		{"not a question", strings.Replace(clean, `"eval_spec"`,
			`"audit_checks": [{"key": "q", "label": "Say yes", "kind": "checklist"}], "eval_spec"`, 1), "question",
			`"Say yes"`},
		{"explained", sketch(gateOf("g", "high", "o >= 5", `, "x-lint": {"skips": "only offices state it"}`), ""),
			"!skips", ""},
		{"explained at the top", strings.Replace(sketch(gate("g", "m >= 5"), money), `"slug"`,
			`"x-lint": {"material": "every amount here is small"}, "slug"`, 1), "!material", ""},
		{"explained in vain", strings.Replace(clean, `"slug"`, `"x-lint": {"materiel": "r"}, "slug"`, 1),
			"stale_explanation", "materiel"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Lint(loadSheet(t, tt.src), "2026-11-21")
			code, unwanted := strings.CutPrefix(tt.code, "!")
			found := slices.ContainsFunc(got, func(p referee.Problem) bool {
				return p.Rule == code &&
					strings.Contains(p.Message, tt.says)
			})
			switch {
			case tt.code == "" && len(got) > 0, unwanted && found:
				t.Errorf("warned: %v", got)
			case tt.code != "" && !unwanted && !found:
				t.Errorf("want [%s] %q, got %v", code, tt.says, got)
			}
			for _, p := range got {
				if p.Line < 1 || p.Column < 1 || p.Warning == (p.Rule == "example") {
					t.Errorf("place or weight: %+v", p)
				}
			}
		})
	}
}

// TestLintOfTheLibrary: what our own sheets must have is refused there and warned of elsewhere, explained or not.
func TestLintOfTheLibrary(t *testing.T) {
	for code, src := range map[string]string{
		"no_source": strings.Replace(sketch(gateOf("g", "high", "a >= 5", `, "x-lint": {"no_source": "r"}`), ""),
			`, "source": {"text": "t"}`, "", 1),
		"no_why": strings.Replace(sketch(gate("g", "a >= 5"), ""), `"why": "w"`, `"why": " "`, 1),
		"no_fix": strings.Replace(sketch(gate("g", "a >= 5"), ""), `"fix": "f", `, "", 1),
	} {
		for origin, refused := range map[string]bool{"library": true, "repository": false} {
			got := Lint(loadAs(t, src, origin), "")
			i := slices.IndexFunc(got, func(p referee.Problem) bool { return p.Rule == code && !p.Warning })
			if (i >= 0) != refused || refused && (got[i].Line < 1 || got[i].Hint == "") {
				t.Errorf("%s in the %s: refused %t: %v", code, origin, i >= 0, got)
			}
		}
	}
}

// TestLintOnly: what the examples give is left to Test, and nothing else is.
func TestLintOnly(t *testing.T) {
	src := strings.TrimSuffix(sketch(gateOf("g", "high", "o >= 50", ""), ""), "}") +
		`, "examples": [{"submission": {"inputs": {"a": 9, "b": 2, "tier": "x", "o": 1, "share": 0.5, "pct": 5, ` +
		`"rows": []}}, "trips": []}]}`
	sheet := loadSheet(t, src)
	all, only := Lint(sheet, ""), LintOnly(sheet, "")
	rest := slices.DeleteFunc(slices.Clone(all), func(p referee.Problem) bool { return p.Rule == "example" })
	if len(rest) == len(all) || len(rest) < 2 || !slices.Equal(rest, only) {
		t.Errorf("all: %v\nonly: %v", all, only)
	}
	if r := Test(sheet); len(r.Failures) != len(all)-len(rest) {
		t.Errorf("%d failures and %d problems of examples", len(r.Failures), len(all)-len(rest))
	}
}

// TestLintLibrary: the sheets that we ship raise no warning that they do not explain. What Lint says beyond LintOnly
// comes of Test (TestLintOnly), to which TestLibrary holds the same sheets.
func TestLintLibrary(t *testing.T) {
	lintSheet := LintOnly
	if everyRound {
		lintSheet = Lint
	}
	for _, slug := range flightsheets.Names() {
		for _, p := range lintSheet(librarySheet(t, slug), "") {
			t.Errorf("%s: %v", slug, p)
		}
	}
}
