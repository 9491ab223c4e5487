package policy

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// testdata/expressions.json holds the 252 formulas and 474 gates of the library's 77 sheets in this language's
// spelling. The expected values of the formulas, and which gates each change of the inputs trips, were computed by the
// library's authors with an evaluator of their own, Python's. Three places differ because this language does: NaN,
// which JSON cannot say, is null; where the flows change sign other than once the internal rate of return is missing,
// so the gate on it is not true (rules.md 1.1); and patterns are RE2's, which heed case, so one says (?i).

type librarySheet struct {
	slug         string
	doc          *strictjson.Value
	names        *Names
	calcs, gates []libraryExpr
}

type libraryExpr struct {
	id   string
	want *strictjson.Value
	expr *Expr
}

func readLibrary(t *testing.T) []librarySheet {
	src, err := os.ReadFile("testdata/expressions.json")
	if err != nil {
		t.Fatal(err)
	}
	root := jsonOf(t, string(src))
	var out []librarySheet
	for _, v := range root.Get("sheets").Items {
		out = append(out, readSheet(t, v, root.Get("consts")))
	}
	return out
}

func readSheet(t *testing.T, v, consts *strictjson.Value) librarySheet {
	s := librarySheet{doc: v, names: &Names{Consts: map[string]*strictjson.Value{}}}
	s.slug, _ = v.Get("slug").Str()
	for _, m := range consts.Members {
		s.names.Consts[m.Key] = m.Value
	}
	for _, m := range v.Get("inputs").Members {
		s.names.Inputs = append(s.names.Inputs, m.Key)
	}
	for _, c := range v.Get("calcs").Items {
		s.names.Calcs = append(s.names.Calcs, c.Get("id").Text)
	}
	s.names.RowFields = func(path string) []string {
		var fields []string
		rows := v.At("/" + strings.ReplaceAll(path, ".", "/"))
		if rows == nil {
			return nil
		}
		for _, row := range rows.Items {
			for _, m := range row.Members {
				fields = append(fields, m.Key)
			}
		}
		return fields
	}
	read := func(list *strictjson.Value) (out []libraryExpr) {
		for _, c := range list.Items {
			e, err := ParseTree(c.Get("expr"), s.names)
			if err != nil {
				t.Errorf("%s/%s: %v\n%s", s.slug, c.Get("id").Text, err, c.Get("expr").Text)
				continue
			}
			roundTrip(t, e, s.names)
			out = append(out, libraryExpr{c.Get("id").Text, c.Get("want"), e})
		}
		return out
	}
	s.calcs, s.gates = read(v.Get("calcs")), read(v.Get("gates"))
	return s
}

// evaluate computes the calculations in order and returns the failing gates.
func (s librarySheet) evaluate(t *testing.T, inputs *strictjson.Value, exact bool) (failing []string) {
	values := map[string]Val{}
	env := &Env{Root: s.doc, InputsRoot: inputs, Calc: func(id string, _ bool) Val { return values[id] }}
	for _, c := range s.calcs {
		r := c.expr.Eval(env)
		values[c.id] = r.Val
		if len(r.Issues) > 0 && exact {
			t.Errorf("%s/%s: %+v", s.slug, c.id, r.Issues)
		}
		if exact && !isNearlyEqual(r.Val, FromJSON(c.want)) {
			t.Errorf("%s/%s = %v, want %s\n%s", s.slug, c.id, r.Val, c.want.Text, c.expr.Text())
		}
	}
	for _, g := range s.gates {
		if !g.expr.Boolean() {
			t.Errorf("%s/%s is no predicate", s.slug, g.id)
		}
		r := g.expr.Eval(env)
		if exact && r.Truth == Unknown {
			t.Errorf("%s/%s is unknown: %+v %+v\n%s", s.slug, g.id, r.Missing, r.Issues, g.expr.Text())
		}
		if r.Truth != True {
			failing = append(failing, g.id)
		}
	}
	return failing
}

// isNearlyEqual is equality at 1e-9 relative: the expected values are binary floats.
func isNearlyEqual(got, want Val) bool {
	if got.Kind != Num || want.Kind != Num {
		return got.keyText() == want.keyText()
	}
	diff, _ := decimal.Sub(got.Num, want.Num)
	room, _ := decimal.Mul(decimal.Abs(want.Num), decimal.MustParse("0.000000001"))
	if room.IsZero() {
		room = decimal.MustParse("0.000000001")
	}
	return decimal.Cmp(decimal.Abs(diff), room) <= 0
}

func TestLibrary(t *testing.T) {
	calcs, gates, trips := 0, 0, 0
	for _, s := range readLibrary(t) {
		calcs, gates = calcs+len(s.calcs), gates+len(s.gates)
		if failing := s.evaluate(t, s.doc.Get("inputs"), true); len(failing) > 0 {
			t.Errorf("%s: the worked example fails %v", s.slug, failing)
		}
		for _, trip := range s.doc.Get("trips").Items {
			trips++
			var want []string
			for _, id := range trip.Get("expect").Items {
				want = append(want, id.Text)
			}
			got := s.evaluate(t, overrideInputs(t, s.doc.Get("inputs"), trip.Get("overrides")), false)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: trip %d fails %v, want %v", s.slug, trips, got, want)
			}
		}
	}
	if calcs != 252 || gates != 474 || trips != 445 {
		t.Errorf("%d formulas, %d gates, %d trips", calcs, gates, trips)
	}
}

// overrideInputs is the inputs with some of them replaced.
func overrideInputs(t *testing.T, inputs, changes *strictjson.Value) *strictjson.Value {
	var b strings.Builder
	for _, m := range inputs.Members {
		if changes.Get(m.Key) == nil {
			fmt.Fprintf(&b, ",%q:%s", m.Key, FromJSON(m.Value).keyText())
		}
	}
	for _, m := range changes.Members {
		fmt.Fprintf(&b, ",%q:%s", m.Key, FromJSON(m.Value).keyText())
	}
	return jsonOf(t, "{"+strings.TrimPrefix(b.String(), ",")+"}")
}
