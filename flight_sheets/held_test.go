package flightsheets

//go:generate go test . -run ^TestHeldPage$ -update

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/golden"
	"github.com/defendableos/referee/referee"
)

// heldPage is docs/held.md.
const heldPage = "../docs/held.md"

const heldHead = `# How the library holds its inputs

Generated: ` + "`go test ./flight_sheets -run TestHeldPage -update`" + `. ` +
	`Of every number, date, yes-or-no and scope word, and of lists where a gate rests on them: ` +
	`what vouches for it (S70). *cell*: the
engine reads it again from the place named; *recount*: the rules named count it again from evidence; ` +
	`*param*: a limit that the configuration sets; *stated*: nothing but the
agent does, for the reason given, and where a mid or high gate rests on it a person is asked. ` +
	`*gate* is the tier of the heaviest gate that rests on the input.

`

// TestHeldPage: docs/held.md says how the sheets hold their inputs today.
func TestHeldPage(t *testing.T) {
	golden.Compare(t, heldPage, []byte(heldHead+heldTable(t)))
}

// heldTable has a row for each input and parameter, and the sums before them.
func heldTable(t *testing.T) string {
	t.Helper()
	var rows strings.Builder
	sums := map[string]int{}
	for _, slug := range Names() {
		src, _ := Read(slug)
		sheet, err := referee.LoadSheet(src, slug+".json", "library")
		if err != nil {
			t.Fatal(err)
		}
		for i := range sheet.Inputs {
			in := &sheet.Inputs[i]
			if in.Held == "" {
				continue
			}
			sums[in.Held]++
			if in.Held == referee.HeldStated && in.Gate() == referee.High {
				sums["stated, and a high gate rests on it"]++
			}
			fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s |\n", slug, in.Name, in.Held, orDash(string(in.Gate())),
				whereHeld(sheet, in))
		}
		for _, p := range sheet.Params {
			sums[referee.HeldParam]++
			fmt.Fprintf(&rows, "| %s | %s | param | | %s |\n", slug, p.Name, paramWords(p))
		}
	}
	out := "| held by | inputs |\n| --- | --- |\n"
	for _, how := range []string{referee.HeldCell, referee.HeldRecount, referee.HeldParam, referee.HeldStated,
		"stated, and a high gate rests on it"} {
		out += fmt.Sprintf("| %s | %d |\n", how, sums[how])
	}
	return out + "\n| sheet | input | held | gate | where, or why stated |\n| --- | --- | --- | --- | --- |\n" +
		rows.String()
}

func whereHeld(sheet *referee.Sheet, in *referee.Input) string {
	switch in.Held {
	case referee.HeldCell:
		var out []string
		for _, p := range in.From {
			out = append(out, placeWords(sheet, in, p))
		}
		if out == nil {
			return "the place that the submission cites"
		}
		return strings.Join(out, "; ")
	case referee.HeldRecount:
		return strings.Join(sheet.Counted(in.Name), ", ")
	}
	return in.Reason
}

func placeWords(sheet *referee.Sheet, in *referee.Input, p referee.Place) string {
	asJSON := slices.IndexFunc(sheet.Evidence, func(e referee.EvidenceItem) bool {
		return e.ID == p.Evidence &&
			e.Kind == "json"
	})
	switch {
	case p.Pointer != "":
		return p.Evidence + "#" + p.Pointer
	case asJSON >= 0:
		return p.Evidence + "#/" + in.Name
	case p.Column == "":
		return p.Evidence + ", where it is cited"
	case p.Row != "":
		return fmt.Sprintf("%s, row %q, column %s", p.Evidence, p.Row, p.Column)
	}
	return fmt.Sprintf("%s, row %s", p.Evidence, in.Name)
}

func paramWords(p referee.Param) string {
	if p.Required {
		return "required: " + p.Title
	}
	return fmt.Sprintf("%s unless set: %s", strings.Join(strings.Fields(p.Text()), " "), p.Title)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
