package evidence

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/nearest"
)

// columnOfHeading is the place of the column that a name means: the heading that is the name, or reads the same (S18).
// Two headings that read the same are refused even where one is the name to the letter: people cannot tell which of
// "rent" and "Rent " was counted.
func columnOfHeading(header []string, name string) (int, error) {
	col, form := -1, headingForm(name)
	for i, h := range header {
		if h != name && headingForm(h) != form {
			continue
		}
		if col >= 0 {
			return 0, fmt.Errorf("several columns are named %s (%s and %s); a name must be unique", quoteForMessage(name),
				quoteForMessage(header[col]), quoteForMessage(h))
		}
		col = i
	}
	if col >= 0 {
		return col, nil
	}
	hint := "there are " + listNames(header)
	if near := nearest.Word(name, header); near != "" {
		hint = "did you mean " + quoteForMessage(near) + "?"
	}
	return 0, fmt.Errorf("no column %s; %s", quoteForMessage(name), hint)
}

// headingForm is a heading as people read it: in lower case, trimmed of spaces, with runs of space - _ . as one _. All
// other punctuation is kept, unlike in names of inputs: "rent", "rent-" and "rent (%)" are three columns.
func headingForm(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.TrimSpace(strings.ToLower(legible.Fold(s))) {
		if unicode.IsSpace(r) || strings.ContainsRune("-_.", r) {
			gap = true
			continue
		}
		if gap {
			b.WriteByte('_')
		}
		gap = false
		b.WriteRune(r)
	}
	if gap {
		b.WriteByte('_')
	}
	return b.String()
}
