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

func (m *markup) put(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case words:
			m.WriteString(html.EscapeString(string(p)))
		case string:
			m.WriteString(p)
		}
	}
}

// some puts something around words, unless there are none.
func (m *markup) some(before string, w string, after string) {
	if w != "" {
		m.put(before, words(w), after)
	}
}

// table puts rows under a heading, unless there are none.
func table[T any](m *markup, heading string, rows []T, row func(T)) {
	if len(rows) == 0 {
		return
	}
	m.put("<h3>", heading, "</h3>\n<table>")
	for _, r := range rows {
		m.put("<tr>")
		row(r)
		m.put("</tr>")
	}
	m.put("</table>\n")
}

// items puts a list under a heading, unless it is empty.
func items[T any](m *markup, heading string, list []T, item func(T)) {
	if len(list) == 0 {
		return
	}
	m.put("<h3>", heading, "</h3>\n<ul>")
	for _, i := range list {
		m.put("<li>")
		item(i)
		m.put("</li>")
	}
	m.put("</ul>\n")
}

// sheet is the article about one sheet.
func (m *markup) sheet(x *indexed) {
	m.put(`<article id="`, words(x.Slug), `" data-lane="`, words(x.Lane), `" data-words="`, words(x.Search),
		"\">\n<details>\n<summary><b>", words(x.Name), `</b> <span class="tag">`, words(x.Lane), "</span>")
	m.some(`<span class="tag">`, x.Domain, "</span>")
	m.put("<code>", words(x.Slug), " ", words(x.Version), "</code><br>", words(x.Summary), "</summary>\n")
	m.some("<p>", x.Purpose, "</p>\n")
	m.given(x)
	table(m, "Gates", x.Gates, m.gate)
	table(m, "Other checks", x.Others, m.other)
	items(m, "Questions to a person", x.Asks, func(r *referee.Rule) {
		m.put(words(r.Question))
		m.some(`<span class="why">`, r.Why, "</span>")
	})
	m.origins(x)
	for _, ex := range x.Worked {
		m.put("<h3>Example: ", words(ex.Name), "</h3>\n<pre>", words(ex.Inputs), "</pre>\n")
		table(m, "What each change flags", ex.Trips, func(t indexedTrip) {
			m.put("<td>", words(t.Change), "</td><td>flags ", words(t.Flags), "</td>")
		})
	}
	m.put("<p><small>SHA-256 <code>", words(x.SHA256), "</code></small></p>\n</details>\n</article>\n")
}

// given is what a sheet reads and derives.
func (m *markup) given(x *indexed) {
	table(m, "Inputs", x.Inputs, func(in referee.Input) {
		m.put("<td><code>", words(in.Name), "</code></td><td>", words(in.Type))
		m.some(", ", in.Unit, "")
		if in.Optional {
			m.put(", optional")
		}
		m.put("</td><td>", words(in.Description), "</td>")
	})
	table(m, "Formulas", x.Math, func(f *referee.MathCheck) {
		m.put("<td><code>", words(f.ID), " = ", words(f.Text), "</code>")
		m.some(`<span class="why">`, f.Why, "</span>")
		m.put("</td><td>", words(f.Units), "</td>")
	})
}

func (m *markup) gate(r *referee.Rule) {
	m.put(`<td class="`, words(r.Tier), `">`, words(r.Tier), "</td><td><b>", words(r.ID), "</b> ", words(r.Label),
		"<br><code>", words(r.Text), "</code>")
	m.some(`<span class="why">Why: `, r.Why, "</span>")
	m.some(`<span class="why">Fix: `, r.Fix, "</span>")
	if r.Source.Text != "" {
		m.put(`<span class="why">Source (`, words(r.Source.Status))
		m.some(", ", r.Source.AsOf, "")
		m.put("): ", words(r.Source.Text))
		m.some(" ", r.Source.URL, "")
		m.put("</span>")
	}
	m.put("</td>")
}

func (m *markup) other(r *referee.Rule) {
	m.put(`<td class="`, words(r.Tier), `">`, words(r.Tier), "</td><td><b>", words(r.ID), "</b> ", words(r.Label))
	m.some(" <br><code>", r.Text, "</code>")
	m.some(`<span class="why">Why: `, r.Why, "</span>")
	m.put("</td>")
}

// origins is where a sheet's numbers come from, and what is uncertain in it.
func (m *markup) origins(x *indexed) {
	table(m, "Constants and their sources", x.Consts, func(c indexedConst) {
		m.put("<td><code>", words(c.Name), " = ", words(c.Value), "</code> ", words(c.Unit), "</td><td>",
			words(c.Source), "</td><td>", words(c.Status))
		m.some(", ", c.AsOf, "")
		m.some("; look again by ", c.ReviewBy, "")
		m.put("</td>")
	})
	items(m, "Notes", x.Notes, func(n string) { m.put(words(n)) })
}
