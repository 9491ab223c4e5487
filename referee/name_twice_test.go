package referee

import (
	"slices"
	"strings"
	"testing"
)

// TestNameTwice: two values under one name, written in two ways, are flagged wherever a rule may read one of them;
// which one is never chosen silently.
func TestNameTwice(t *testing.T) {
	sheet := mustSheet(
		t, `"required_inputs":[{"name":"noi","type":"number","aliases":["net operating income"]},{"name":"debt",
			"type":"number"}],
		"params":{"floor":{"title":"floor","type":"number","default":1.2}},
		"eval_spec":{"math_checks":[{"formula_id":"dscr","formula":"noi / debt","units":"ratio"}],
		"rules":[{"id":"dscr_gate","expr":"dscr >= 1.20","tier":"high"},
			{"id":"paid","check":"for_each","over":"field(\"rows\")","each":"amount > 0","tier":"mid"},
			{"id":"pv","check":"for_each","over":"field(\"gas\")","each":"T > t","tier":"mid"}]}`)
	good := ratioSubmission("130", "100", "noi / debt", "1.3")
	add := func(where, members string) string {
		out := strings.Replace(good, where, where+members, 1)
		if out == good {
			t.Fatalf("%s is not there", where)
		}
		return out
	}
	const top, calc = `{"inputs":{`, `"formula":"noi / debt","inputs":{`
	for name, c := range map[string]struct {
		submission string
		at         string // "" where nothing is wrong
	}{
		"case":           {add(top, `"NOI":90,`), "/inputs/noi"},
		"a space behind": {add(top, `"noi ":90,`), "/inputs/noi"},
		"full width":     {add(top, `"\uff4e\uff4f\uff49":90,`), "/inputs/noi"},
		"zero width":     {add(top, `"n\u200boi":90,`), "/inputs/noi"},
		"an alias":       {add(top, `"net operating income":90,`), "/inputs/noi"},
		"an alias, two ways": {strings.Replace(add(top, `"Net_Operating-Income":90,"net operating income":91,`),
			`"noi":130,"debt"`, `"debt"`, 1), "/inputs/net operating income"},
		"an alias with its short": {add(top, `"Net Operating Income (NOI)":90,`), "/inputs/noi"},
		"undeclared":              {add(top, `"cap rate":1,"cap_rate":2,`), "/inputs/cap_rate"},
		"a text for a number":     {add(top, `"NOI":"130",`), "/inputs/noi"},
		"null":                    {add(top, `"NOI":null,`), "/inputs/noi"},
		"in a calculation":        {add(calc, `"NOI":90,`), "/calculations/0/inputs/noi"},
		"an alias in one":         {add(calc, `"net operating income":90,`), "/calculations/0/inputs/noi"},
		"a source": {add(`"calculations":[{`, `"sources":{"noi":"a#/x","NOI":"b#/x"},`),
			"/calculations/0/sources/NOI"},
		"a row":                   {add(`{`, `"rows":[{"amount":1,"Amount ":2}],`), "/rows/0/Amount "},
		"a parameter":             {add(top, `"Floor":1.2,"floor":1.1,`), "/inputs/floor"},
		"a row, case alone":       {add(`{`, `"rows":[{"amount":1,"AMOUNT":2}],`), "/rows/0/AMOUNT"},
		"a submission's own":      {add(`{`, `"Calculations":[],`), "/calculations"},
		"undeclared, full width":  {add(top, `"rate":1,"\uff52ate":2,`), "/inputs/\uff52ate"},
		"nobody reads, a space":   {add(`{`, `"gas":[{"x":1,"x ":2}],`), "/gas/0/x "},
		"calculations' own":       {add(calc, `"n":1,"N":2,`), ""}, // a formula tells them apart
		"T and t of a formula":    {add(calc, `"T":300,"t":5,`), ""},
		"T and t, both read":      {add(`{`, `"gas":[{"T":300,"t":5}],`), ""},
		"T and t of inputs":       {add(top, `"K":300,"k":5,`), ""},
		"advice":                  {add(`{`, `"advice":{"N":300,"n":5},`), ""},
		"an amount and its share": {add(top, `"margin":300,"margin %":5,`), ""},
		"the same value":          {add(top, `"NOI":130.0,`), ""},
		"two names":               {add(top, `"noi_2":90,`), ""},
		"names of signs":          {add(top, `"+":1,"-":2,`), ""},
		"C and C++":               {add(`{`, `"langs":{"c":1,"c++":2,"c#":3},`), ""},
	} {
		rep := auditText(sheet, c.submission)
		i := slices.IndexFunc(rep.Findings, func(f Finding) bool { return f.Code == "structure.name_twice" })
		switch {
		case c.at == "" && i >= 0:
			t.Errorf("%s: %v", name, rep.Findings[i])
		case c.at != "" && (i < 0 || rep.Findings[i].Tier != High || rep.Findings[i].Pointer != c.at ||
			!rep.Fails(FailOnHigh)):
			t.Errorf("%s: %v, want one at %s", name, codes(rep), c.at)
		}
	}
}
