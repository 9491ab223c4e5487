package evidence

import (
	"strings"
	"testing"
)

// TestHeaded: a heading is found as people read it (S18), and never one of two that read the same.
func TestHeaded(t *testing.T) {
	for _, c := range []struct {
		header string
		name   string
		want   int
		says   string
	}{
		{"id|rent", "rent", 1, ""},
		{"ID|Rent", "id", 0, ""},
		{" id |rent", "id", 0, ""},
		{"\ufeffid|rent", "id", 0, ""},
		{"unit|Base Rent", "base_rent", 1, ""},
		{"unit|ＲＥＮＴ", "rent", 1, ""},
		{"rent (%)|rent", "rent", 1, ""},
		{"rent (%)|unit", "rent", 0, `no column "rent"`},
		{"Rent|rent ", "rent", 0, "several columns"},
		{"rent|rent ", "rent", 0, `several columns are named "rent" ("rent" and "rent ")`},
		{"rent|RENT", "rent", 0, "several columns"},
		{"rent|rent\u200b", "rent", 0, "several columns"},
		{"rent|rent", "rent", 0, "several columns"},
		{"rent-|unit", "rent", 0, `no column "rent"`},
		{"-|rent", "", 0, "no column"},
		{"rents|unit", "rent", 0, `did you mean "rents"?`},
	} {
		got, err := columnOfHeading(strings.Split(c.header, "|"), c.name)
		if c.says == "" && (err != nil || got != c.want) || c.says != "" &&
			(err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q in %q: %d, %v; want %d %s", c.name, c.header, got, err, c.want, c.says)
		}
	}
}
