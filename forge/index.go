package forge

import (
	"strconv"
	"strings"

	_ "embed"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// indexSource is the page without its sheets. It is filled in by hand and not by html/template: package text/template
// makes the linker keep every method of every type, and the binary grows by a fifth.
//
//go:embed index.html
var indexSource string

// Index is one page with every sheet: what it asks for, its formulas, gates, sources and its example. It needs nothing
// else, works from a file and is the same bytes for the same sheets.
func Index(sheets []*referee.Sheet) ([]byte, error) {
	var lanes, articles markup
	seen := map[string]bool{}
	for _, s := range sheets {
		x := indexedSheet(s)
		articles.putSheet(&x)
		if !seen[s.Lane] {
			seen[s.Lane] = true
			lanes.putParts("<option>", words(s.Lane), "</option>")
		}
	}
	page := strings.NewReplacer("<!-- lanes -->", lanes.String(), "<!-- count -->", strconv.Itoa(len(sheets)),
		"<!-- sheets -->", articles.String()).Replace(indexSource)
	return []byte(page), nil
}

// indexed is one sheet as the page shows it.
type indexed struct {
	*referee.Sheet
	Search string // all its words, in lower case
	Gates  []*referee.Rule
	Others []*referee.Rule // checks that are neither gates, calculations nor questions
	Asks   []*referee.Rule
	Consts []indexedConst
	Worked []indexedExample
}

type indexedConst struct{ Name, Value, Unit, Source, AsOf, Status, ReviewBy string }

type indexedExample struct {
	Name   string
	Inputs string // as JSON
	Trips  []indexedTrip
}

type indexedTrip struct{ Change, Flags string }

func indexedSheet(s *referee.Sheet) indexed {
	out := indexed{Sheet: s, Gates: gates(s)}
	for _, r := range s.Rules {
		switch {
		case r.Stage == referee.StageChecklist:
			out.Asks = append(out.Asks, r)
		case r.Stage != referee.StagePolicy && isDeclaredCheck(r) && !strings.HasPrefix(r.ID, "math."):
			out.Others = append(out.Others, r)
		}
	}
	if v := s.Doc.Get("consts"); v != nil {
		for _, m := range v.Members {
			out.Consts = append(out.Consts, indexedConst{m.Key, jsonText(m.Value.Get("value")), m.Value.TextOf("unit"),
				m.Value.TextOf("source"), m.Value.TextOf("as_of"), m.Value.TextOf("status"),
				m.Value.TextOf("review_by")})
		}
	}
	for _, ex := range s.Examples() {
		out.Worked = append(out.Worked, indexedEx(&ex))
	}
	out.Search = strings.ToLower(out.searchWords())
	return out
}

func indexedEx(ex *referee.Example) indexedExample {
	out := indexedExample{Name: ex.Name}
	v := ex.Submission.Get("inputs")
	if v == nil {
		v = ex.Submission
	}
	out.Inputs = shortenExample(string(layOutSpread(nil, v, 0)))
	for _, t := range ex.Trips {
		out.Trips = append(out.Trips, indexedTrip{t.Change, strings.Join(t.Flags, ", ")})
	}
	return out
}

// maxShown bounds how much of an example the page shows; the sheet itself has the rest.
const maxShown = 4000

func shortenExample(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "\n…"
	}
	return s
}

// searchWords are what a search looks in.
func (x *indexed) searchWords() string {
	out := []string{x.Slug, x.Name, x.Domain, x.Lane, x.Summary, x.Purpose}
	for _, in := range x.Inputs {
		out = append(out, in.Name, in.Description)
	}
	for _, m := range x.Math {
		out = append(out, m.ID, m.Text, m.Label)
	}
	for _, r := range append(append(append([]*referee.Rule(nil), x.Gates...), x.Others...), x.Asks...) {
		out = append(out, r.ID, r.Label, r.Text, r.Why, r.Fix, r.Source.Text)
	}
	x.Doc.Get("lexicons").Walk(func(v *strictjson.Value) bool { out = append(out, v.Text); return true })
	for _, c := range x.Consts {
		out = append(out, c.Name, c.Value, c.Source)
	}
	return strings.Join(out, " ")
}
