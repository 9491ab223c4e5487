package forge

import (
	"html"
	"strings"

	"github.com/defendableos/referee/referee"
)

// words is text of a sheet: whatever it says, it is text on the page.
type words string

// markup is a piece of the page. Plain strings given to put are the page's own; words are escaped.
type markup struct{ strings.Builder }

func (m *markup) putParts(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case words:
			m.WriteString(html.EscapeString(string(p)))
		case string:
			m.WriteString(p)
		}
	}
}

// putAround puts something around words, unless there are none.
func (m *markup) putAround(before string, w string, after string) {
	if w != "" {
		m.putParts(before, words(w), after)
	}
}

// putTable puts rows under a heading, unless there are none.
func putTable[T any](m *markup, heading string, rows []T, row func(T)) {
	if len(rows) == 0 {
		return
	}
	m.putParts("<h3>", heading, "</h3>\n<table>")
	for _, r := range rows {
		m.putParts("<tr>")
		row(r)
		m.putParts("</tr>")
	}
	m.putParts("</table>\n")
}

// putList puts a list under a heading, unless it is empty.
func putList[T any](m *markup, heading string, list []T, item func(T)) {
	if len(list) == 0 {
		return
	}
	m.putParts("<h3>", heading, "</h3>\n<ul>")
	for _, i := range list {
		m.putParts("<li>")
		item(i)
		m.putParts("</li>")
	}
	m.putParts("</ul>\n")
}

// putSheet is the article about one sheet.
func (m *markup) putSheet(x *indexed) {
	m.putParts(`<article id="`, words(x.Slug), `" data-lane="`, words(x.Lane), `" data-words="`, words(x.Search),
		"\">\n<details>\n<summary><b>", words(x.Name), `</b> <span class="tag">`, words(x.Lane), "</span>")
	m.putAround(`<span class="tag">`, x.Domain, "</span>")
	m.putParts("<code>", words(x.Slug), " ", words(x.Version), "</code><br>", words(x.Summary), "</summary>\n")
	m.putAround("<p>", x.Purpose, "</p>\n")
	m.putInputs(x)
	putTable(m, "Gates", x.Gates, m.putGate)
	putTable(m, "Other checks", x.Others, m.putRule)
	putList(m, "Questions to a person", x.Asks, func(r *referee.Rule) {
		m.putParts(words(r.Question))
		m.putAround(`<span class="why">`, r.Why, "</span>")
	})
	m.putOrigins(x)
	for _, ex := range x.Worked {
		m.putParts("<h3>Example: ", words(ex.Name), "</h3>\n<pre>", words(ex.Inputs), "</pre>\n")
		putTable(m, "What each change flags", ex.Trips, func(t indexedTrip) {
			m.putParts("<td>", words(t.Change), "</td><td>flags ", words(t.Flags), "</td>")
		})
	}
	m.putParts("<p><small>SHA-256 <code>", words(x.SHA256), "</code></small></p>\n</details>\n</article>\n")
}

// putInputs is what a sheet reads and derives.
func (m *markup) putInputs(x *indexed) {
	putTable(m, "Inputs", x.Inputs, func(in referee.Input) {
		m.putParts("<td><code>", words(in.Name), "</code></td><td>", words(in.Type))
		m.putAround(", ", in.Unit, "")
		if in.Optional {
			m.putParts(", optional")
		}
		m.putParts("</td><td>", words(in.Description), "</td>")
	})
	putTable(m, "Formulas", x.Math, func(f *referee.MathCheck) {
		m.putParts("<td><code>", words(f.ID), " = ", words(f.Text), "</code>")
		m.putAround(`<span class="why">`, f.Why, "</span>")
		m.putParts("</td><td>", words(f.Units), "</td>")
	})
}

func (m *markup) putGate(r *referee.Rule) {
	m.putParts(`<td class="`, words(r.Tier), `">`, words(r.Tier), "</td><td><b>", words(r.ID), "</b> ", words(r.Label),
		"<br><code>", words(r.Text), "</code>")
	m.putAround(`<span class="why">Why: `, r.Why, "</span>")
	m.putAround(`<span class="why">Fix: `, r.Fix, "</span>")
	if r.Source.Text != "" {
		m.putParts(`<span class="why">Source (`, words(r.Source.Status))
		m.putAround(", ", r.Source.AsOf, "")
		m.putParts("): ", words(r.Source.Text))
		m.putAround(" ", r.Source.URL, "")
		m.putParts("</span>")
	}
	m.putParts("</td>")
}

func (m *markup) putRule(r *referee.Rule) {
	m.putParts(`<td class="`, words(r.Tier), `">`, words(r.Tier), "</td><td><b>", words(r.ID), "</b> ", words(r.Label))
	m.putAround(" <br><code>", r.Text, "</code>")
	m.putAround(`<span class="why">Why: `, r.Why, "</span>")
	m.putParts("</td>")
}

// putOrigins is where a sheet's numbers come from, and what is uncertain in it.
func (m *markup) putOrigins(x *indexed) {
	putTable(m, "Constants and their sources", x.Consts, func(c indexedConst) {
		m.putParts("<td><code>", words(c.Name), " = ", words(c.Value), "</code> ", words(c.Unit), "</td><td>",
			words(c.Source), "</td><td>", words(c.Status))
		m.putAround(", ", c.AsOf, "")
		m.putAround("; look again by ", c.ReviewBy, "")
		m.putParts("</td>")
	})
	putList(m, "Notes", x.Notes, func(n string) { m.putParts(words(n)) })
}
