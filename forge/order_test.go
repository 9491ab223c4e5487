package forge

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/strictjson"
)

// ordered are the lists and files whose order carries meaning, with the reason; every other may be in any order (S77).
var ordered = map[string]string{
	"comp-wcag /inputs/headings":           "the outline of a page is the order of its headings",
	"fin-amortization /inputs/rows":        "each row of a schedule goes on from the row before",
	"fin-dcf-irr /inputs/cf":               "the place of a cash flow is its year",
	"extract-lease-abstract /inputs/steps": "each step of the rent begins where the one before it ends",
	"cre-multifamily-agency rent_roll": "the last row is the total, " +
		"and the columns of the last three months have their names",
	"repair-resubmission inputs_before": "the rule asks whether the two files are the same, byte for byte",
	"repair-resubmission inputs_after":  "the rule asks whether the two files are the same, byte for byte",
}

// TestTablesInAnyOrder: right work stays clean where a table has its columns or rows in another order, and its headings
// and cells as people write them. What was cited by its place is cited at its new place.
func TestTablesInAnyOrder(t *testing.T) {
	met := map[string]bool{}
	eachExample(t, func(t *testing.T, slug string, base *worked, clean string) (tried int) {
		for i, f := range base.files {
			records, err := csv.NewReader(strings.NewReader(f.Text)).ReadAll()
			if !strings.HasSuffix(f.Path, ".csv") || err != nil || len(records) < 2 {
				continue
			}
			if _, ok := ordered[slug+" "+f.ID]; ok {
				met[slug+" "+f.ID] = true
				continue
			}
			for name, change := range rearrangements {
				w := base.cloneWork()
				changed, at := change(records)
				w.submission = recited(t, w.submission, f.ID, at)
				rehashed(t, w, i, csvText(t, changed))
				tried++
				if got := judgement(t, w); got != clean {
					t.Errorf("%s: %s: %s, was %s", f.ID, name, got, clean)
				}
			}
		}
		return tried
	}, 400)
	for name := range ordered {
		if !strings.Contains(name, " /inputs/") && !met[name] {
			t.Errorf("%s is no table of the library", name)
		}
	}
}

// TestListsInAnyOrder: right work stays clean where a list of its inputs stands in another order.
func TestListsInAnyOrder(t *testing.T) {
	met := map[string]bool{}
	eachExample(t, func(t *testing.T, slug string, base *worked, clean string) (tried int) {
		inputs := base.submission.Get("inputs")
		if inputs == nil {
			return 0
		}
		for i, m := range inputs.Members {
			if m.Value.Kind != strictjson.Array || len(m.Value.Items) < 2 {
				continue
			}
			if _, ok := ordered[slug+" /inputs/"+m.Key]; ok {
				met[slug+" /inputs/"+m.Key] = true
				continue
			}
			w := base.cloneWork()
			slices.Reverse(w.submission.Get("inputs").Members[i].Value.Items)
			tried++
			if got := judgement(t, w); got != clean {
				t.Errorf("/inputs/%s: %s, was %s", m.Key, got, clean)
			}
		}
		return tried
	}, 60)
	for name := range ordered {
		if strings.Contains(name, " /inputs/") && !met[name] {
			t.Errorf("%s is no list of an example", name)
		}
	}
}

// eachExample runs a test over the first example of every sheet of the library; at least so many variants are tried.
func eachExample(t *testing.T, try func(t *testing.T, slug string, base *worked, clean string) int, least int) {
	tried := 0
	for _, slug := range flightsheets.Names() {
		t.Run(slug, func(t *testing.T) {
			sheet := librarySheet(t, slug)
			base, err := workedExample(sheet, &sheet.Examples()[0])
			if err != nil {
				t.Fatal(err)
			}
			tried += try(t, slug, base, judgement(t, base))
		})
	}
	if tried < least {
		t.Errorf("%d variants; at least %d", tried, least)
	}
}

// judgement is what an audit says of the work: its findings with their places, and what it could not decide.
func judgement(t *testing.T, w *worked) string {
	t.Helper()
	rep, err := w.auditWork()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range rep.Findings {
		out = append(out, fmt.Sprintf("%s %s %s", f.Tier, f.Code, f.Pointer))
	}
	slices.Sort(out)
	return fmt.Sprintf("%v undecided %v", out, rep.Verdict.UndecidedHigh)
}

// rearrangements are what people do to a table. Each says where the cell of a row and column, counted from 1, now is.
var rearrangements = map[string]func(records [][]string) ([][]string, func(row, col int) (int, int)){
	"columns in another order": func(records [][]string) ([][]string, func(row, col int) (int, int)) {
		out, width := make([][]string, len(records)), len(records[0])
		for i, r := range records {
			out[i] = slices.Clone(r)
			slices.Reverse(out[i])
		}
		return out, func(row, col int) (int, int) { return row, width + 1 - col }
	},
	"rows in another order": func(records [][]string) ([][]string, func(row, col int) (int, int)) {
		out := slices.Clone(records)
		slices.Reverse(out[1:])
		return out, func(row, col int) (int, int) {
			if row > 1 {
				row = len(records) + 2 - row
			}
			return row, col
		}
	},
	"headings in capitals and spaced": func(records [][]string) ([][]string, func(row, col int) (int, int)) {
		out := slices.Clone(records)
		out[0] = slices.Clone(out[0])
		for i, h := range out[0] {
			out[0][i] = " " + strings.ToUpper(strings.ReplaceAll(h, "_", " ")) + " "
		}
		return out, inPlace
	},
	"cells spaced": func(records [][]string) ([][]string, func(row, col int) (int, int)) {
		out := make([][]string, len(records))
		for i, r := range records {
			out[i] = slices.Clone(r)
			for j := range r {
				out[i][j] = " " + r[j] + " "
			}
		}
		return out, inPlace
	},
}

func inPlace(row, col int) (int, int) { return row, col }

func csvText(t *testing.T, records [][]string) string {
	t.Helper()
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rehashed changes the text of a file, and its hash wherever the submission or another file states it.
func rehashed(t *testing.T, w *worked, i int, text string) {
	t.Helper()
	before, after := hashOf(w.files[i].Text), hashOf(text)
	w.files[i].Text = text
	for j, f := range w.files {
		if strings.Contains(f.Text, before) {
			rehashed(t, w, j, strings.ReplaceAll(f.Text, before, after))
		}
	}
	stated := strings.ReplaceAll(string(w.submission.Encode()), before, after)
	var err error
	if w.submission, err = strictjson.Parse([]byte(stated), strictjson.SubmissionLimits); err != nil {
		t.Fatal(err)
	}
}

// recited is a submission whose citations of a table follow the cells to their new places.
func recited(
	t *testing.T, submission *strictjson.Value, id string, at func(row, col int) (int, int),
) *strictjson.Value {
	t.Helper()
	place := regexp.MustCompile(`\b` + regexp.QuoteMeta(id) + `#(cell|row|col)=(\d+)(?:,(\d+))?\b`)
	text := place.ReplaceAllStringFunc(string(submission.Encode()), func(s string) string {
		m := place.FindStringSubmatch(s)
		first, _ := strconv.Atoi(m[2])
		second, _ := strconv.Atoi(m[3])
		switch row, col := at(first, second); m[1] {
		case "cell":
			return fmt.Sprintf("%s#cell=%d,%d", id, row, col)
		case "row":
			return fmt.Sprintf("%s#row=%d", id, row)
		}
		_, col := at(1, first)
		return fmt.Sprintf("%s#col=%d", id, col)
	})
	out, err := strictjson.Parse([]byte(text), strictjson.SubmissionLimits)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
