package summary

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/defendableos/referee/referee"
)

// flySample is a sample of a sheet with scores; total "" is gated.
func flySample(model, total string, gold bool) Sample {
	return Sample{Sheet: "fly-s1-next-second", Version: "1.0.0", Agent: model, Model: model, Score: "90", Readable: true,
		Eligible: total != "" || !gold, Gold: gold, Scores: map[string]string{"total": total}}
}

// By hand: one perfect sample and three that are not eligible are 100/4 = 25 overall, though 100 among the eligible;
// twice 80 is 80, and leads. A sample without gold is left out; a model without any has no overall score and is last.
//
// Source: 003 #190, scale #258.
func TestLeaderboard(t *testing.T) {
	samples := []Sample{flySample("lucky", "100", true), flySample("lucky", "", true), flySample("lucky", "", true),
		flySample("lucky", "", true), flySample("steady", "80", true), flySample("steady", "80", true),
		flySample("steady", "", false), flySample("again", "80", true), flySample("unknown", "", false)}
	board := Of(samples).Boards[0]
	var got [][3]any
	for _, r := range board.Rows {
		got = append(got, [3]any{r.Rank, r.Model, r.Overall})
	}
	want := [][3]any{{1, "again", "80"}, {1, "steady", "80"}, {3, "lucky", "25"}, {4, "unknown", ""}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if board.Rows[2].Total != "100" || board.Rows[2].Eligibility != "25" {
		t.Errorf("%+v", board.Rows[2])
	}
}

// By hand: 1 and 3 of a limit of 2 are 50 % and 150 %, 100 % on average, and 0.5 of 10 is 5 %: the mean error is
// (50 + 150 + 5) / 3 = 68.333333 %. Only 3 is over its limit: one of three is 33.4 %, rounded up.
//
// Source: 003 #186.
func TestTail(t *testing.T) {
	x := flySample("m", "50", true)
	x.Errors = parseErrors([]referee.FieldError{{Field: "a", Limit: "2", Values: []string{"1", "3"}},
		{Field: "b", Limit: "10", Values: []string{"0.5"}}})
	y := flySample("m", "", true)
	y.Errors = parseErrors([]referee.FieldError{{Field: "a", Limit: "4", Values: []string{"400"}}})
	task := taskOf([]Sample{x, y})
	c := task.Conditional
	if c.Samples != 1 || c.Mean.Mean != "68.333333" || c.Errors != 3 || c.Exceeding != 1 || c.Exceedance != "33.4" {
		t.Errorf("among the eligible: %+v", c)
	}
	all := task.Available
	// the second sample is held to its own limit, which the table then does not name
	if all.Samples != 2 || all.Exceeding != 2 || all.Fields[0].Limit != "" || all.Fields[0].Max != "400" {
		t.Errorf("of all: %+v", all)
	}
	if rare := percentCeil(1, 20000); rare != "0.1" || percentCeil(0, 7) != "0" || percentCeil(7, 7) != "100" {
		t.Errorf("one of 20,000 is %s %%", rare)
	}
}

// Samples that are scored by another setting have a leaderboard of their own.
func TestSettingsAreKeptApart(t *testing.T) {
	sample := func(value string) Sample {
		return FromReport(&referee.Report{Sheet: referee.SheetRef{Slug: "fly", Version: "1.0.0"},
			Params: []referee.ParamValue{{Name: "error_normalisation", Value: `"` + value + `"`}}, Scores: &referee.Scores{}})
	}
	boards := Of([]Sample{sample("step"), sample("raw"), sample("step")}).Boards
	if len(boards) != 2 || boards[0].Settings[0] != "error_normalisation=raw" || boards[1].Rows[0].Samples != 2 {
		t.Errorf("%+v", boards)
	}
}

// Source: 003 #181.
func TestFailureModes(t *testing.T) {
	for _, c := range []struct {
		code     string
		families []string
		want     string
	}{
		{"structure.missing", []string{"numeric_validity"}, "protocol_failure"},
		{"protocol.response_unreadable", nil, "protocol_failure"},
		{"math.not_a_number", []string{"numeric_validity"}, "invalid_number"},
		{"math.out_of_range", []string{"range_sanity"}, "implausible_value"},
		{"math.jump", []string{"jump_dynamics"}, "discontinuity"},
		{"math.jump", []string{"physics_constraint"}, "contradiction"},
		{"agree.speed", []string{"cross_field_consistency"}, "contradiction"},
		{"policy.stall", []string{"safety_constraint"}, "unsafe_state"},
		{"policy.sample_matches", []string{"policy"}, "other"},
		{"math.jump", []string{"a family of tomorrow"}, "other"},
		{"policy.eligibility", []string{"policy"}, ""},
	} {
		if got := modeOfFinding(c.code, c.families); got != c.want {
			t.Errorf("%s of %v is %q, want %q", c.code, c.families, got, c.want)
		}
	}
	named := map[string]bool{}
	for _, m := range FailureModes() {
		for _, f := range m.Families {
			named[f] = true
		}
	}
	if len(FailureModes()) != 6 || len(named) != 6 {
		t.Errorf("%d modes name %d families", len(FailureModes()), len(named))
	}
}

// A prior is a score a task with its source; one number is the profile's confidence, and no prior of any task.
//
// Source: 003 #148.
func TestPrior(t *testing.T) {
	full := Prior{S1: "81.5", M1: "70", M3: "64.25", Source: "a paper", Version: "2"}
	if got := readPrior(&referee.Agent{ModelConfidence: &referee.ModelConfidence{S1Score: "81.5", M1Score: "70",
		M3Score: "64.25", Source: "a paper", Version: "2"}}); got != full {
		t.Errorf("%+v", got)
	}
	for _, profile := range []*referee.Agent{nil, {}, {Confidence: "0.7"}} {
		if got := readPrior(profile); got != (Prior{}) {
			t.Errorf("%v is %+v", profile, got)
		}
	}
	if full.forSheet("fly-m3-trajectory") != "64.25" || full.forSheet("fly-s1-next-second") != "81.5" ||
		full.forSheet("math-steps") != "" {
		t.Error("the prior of a task is another one's")
	}
	// It is shown and changes nothing else.
	x := flySample("m", "50", true)
	without := taskOf([]Sample{x})
	x.Prior = full
	with := taskOf([]Sample{x})
	if with.Prior != "81.5" {
		t.Errorf("the prior is %q", with.Prior)
	}
	if with.Prior = ""; !reflect.DeepEqual(with, without) {
		t.Errorf("%+v, without a prior %+v", with, without)
	}
}

// TestSummaryIsDocumented: docs/formats.md names every member of the JSON and every failure mode with its meaning.
func TestSummaryIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## A summary\n")
	if !ok {
		t.Fatal("docs/formats.md has no part about summaries")
	}
	var members func(reflect.Type)
	seen := map[reflect.Type]bool{}
	members = func(of reflect.Type) {
		for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for f := range of.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !strings.Contains(text, "`"+name+"`") {
				t.Errorf("docs/formats.md does not name %s of %s", name, of.Name())
			}
			if f.IsExported() {
				members(f.Type)
			}
		}
	}
	members(reflect.TypeFor[Summary]())
	for _, m := range FailureModes() {
		if !strings.Contains(text, "| `"+m.Name+"` | "+m.Meaning+" | ") {
			t.Errorf("docs/formats.md does not explain the failure mode %s: %s", m.Name, m.Meaning)
		}
		for _, f := range append(m.Families, m.Codes...) {
			if !strings.Contains(text, "`"+f) {
				t.Errorf("docs/formats.md does not say that %s is a %s", f, m.Name)
			}
		}
	}
}
