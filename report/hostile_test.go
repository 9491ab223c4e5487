package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/defendableos/referee/referee"
)

// attacks are what submissions are known to try on papers.
var attacks = storetest.HostileTexts()

// fill sets every string of a report, in every slice and behind every pointer. With words, the fields of a type of
// their own (tiers, statuses) are filled as well.
func fill(v reflect.Value, text string, words bool) {
	switch v.Kind() {
	case reflect.String:
		if words || v.Type() == reflect.TypeFor[string]() {
			v.SetString(text)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, words)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), text, words)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text, words)
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	}
}

func filled(text string, words bool) *referee.Report {
	var r referee.Report
	fill(reflect.ValueOf(&r).Elem(), text, words)
	for i := range r.Findings {
		if !words {
			r.Findings[i].Tier = referee.Mid
		}
	}
	return &r
}

// TestHostile writes every attack into every string of a report, and the report into every format.
func TestHostile(t *testing.T) {
	type paper struct {
		format string
		words  bool
		n      int
	}
	wanted := map[paper]string{} // the paper of a harmless report, whatever the attack
	for _, format := range Formats() {
		for i, attack := range attacks {
			for _, words := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%v", format, i, words), func(t *testing.T) {
					for _, n := range []int{2, few + 2} { // in full, and a line each
						hostile, harmless := filled(attack, words), filled("x", words)
						o := Options{Verbose: true, Atoms: true, Version: attack}
						got := write(t, format, o, slices.Repeat([]*referee.Report{hostile}, n)...)
						o.Version = "x"
						want, ok := wanted[paper{format, words, n}]
						if !ok {
							want = write(t, format, o, slices.Repeat([]*referee.Report{harmless}, n)...)
							wanted[paper{format, words, n}] = want
						}
						checkText(t, format, got)
						papers[format](t, got, want)
					}
				})
			}
		}
	}
}

// checkText holds in every format.
func checkText(t *testing.T, format, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatal("not UTF-8")
	}
	for i, r := range text {
		if r != '\n' && isHiddenRune(r) {
			t.Fatalf("%U at %d: %q", r, i, text[max(0, i-40):i])
		}
	}
	if strings.Contains(text, "##[") {
		t.Error("a runner's command ##[")
	}
	for line := range strings.Lines(text) {
		if format != "github" && strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a line is a workflow command: %q", line)
		}
	}
}

// papers compares a hostile paper with the one of a harmless report: the same structure.
var papers = map[string]func(t *testing.T, got, want string){
	"table": func(t *testing.T, got, _ string) {
		for line := range strings.Lines(got) {
			if w := textColumns(strings.TrimSuffix(line, "\n")); w > defaultWidth {
				t.Errorf("%d columns: %q", w, line)
			}
		}
	},
	"json":     func(t *testing.T, got, want string) { sameLines(t, got, want); eachJSON(t, got) },
	"markdown": checkMarkdown,
	"sarif": func(t *testing.T, got, want string) {
		sameLines(t, got, want)
		checkSARIF(t, got)
	},
	"junit": func(t *testing.T, got, want string) {
		if a, b := elements(t, got), elements(t, want); !slices.Equal(a, b) {
			t.Errorf("elements %v, want %v", a, b)
		}
	},
	"github": func(t *testing.T, got, want string) {
		sameLines(t, got, want)
		checkCommands(t, got)
	},
}

func sameLines(t *testing.T, got, want string) {
	t.Helper()
	if a, b := strings.Count(got, "\n"), strings.Count(want, "\n"); a != b {
		t.Errorf("%d lines, want %d: %.3000q", a, b, got)
	}
}

func eachJSON(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if _, err := strictjson.Parse([]byte(line), strictjson.DocumentLimits); err != nil {
			t.Error(err)
		}
	}
}

// checkMarkdown takes the code spans out as CommonMark 6.1 reads them and looks at what is left: it must be this
// package's own text.
func checkMarkdown(t *testing.T, got, want string) {
	t.Helper()
	sameLines(t, got, want)
	for _, bad := range []string{"<!--", "-->", "@someone", "@org"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q stands in the page", bad)
		}
	}
	outside := func(page string) string {
		var b strings.Builder
		for line := range strings.Lines(page) {
			b.WriteString(dropSpans(t, line))
		}
		return b.String()
	}
	if a, b := outside(got), outside(want); a != b {
		t.Errorf("outside of code spans:\n%s\nwant\n%s", a, b)
	}
}

var ticks = regexp.MustCompile("`+")

// dropSpans replaces each code span of a line by a sign. In a table's row a bar within a span must be escaped.
func dropSpans(t *testing.T, line string) string {
	t.Helper()
	out := ""
	for {
		open := ticks.FindStringIndex(line)
		if open == nil {
			return out + line
		}
		fence, rest := line[open[0]:open[1]], line[open[1]:]
		end := -1
		for _, m := range ticks.FindAllStringIndex(rest, -1) {
			if rest[m[0]:m[1]] == fence {
				end = m[0]
				break
			}
		}
		if end < 0 {
			t.Fatalf("a span is not closed: %.400q", line)
		}
		out += line[:open[0]] + "§"
		if strings.HasPrefix(out, "|") && strings.Contains(strings.ReplaceAll(rest[:end], `\|`, ""), "|") {
			t.Errorf("a bar ends the cell: %.400q", rest[:end])
		}
		line = rest[end+len(fence):]
	}
}

// elements lists the elements of an XML document in order.
func elements(t *testing.T, text string) []string {
	t.Helper()
	var names []string
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			names = append(names, start.Name.Local)
		}
	}
}

// workflowCommand is the grammar of a workflow command: no colon and no comma in a value.
var workflowCommand = regexp.MustCompile(
	`^::(error|warning|notice) ((file|line|col|endLine|endColumn|title)=[^:,\r\n]*)(,` +
		`(file|line|col|endLine|endColumn|title)=[^:,\r\n]*)*::[^\r\n]*\n$`)

func checkCommands(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !workflowCommand.MatchString(line) {
			t.Errorf("no workflow command: %q", line)
		}
		if rest := regexp.MustCompile(`%(25|0D|0A|3A|2C)`).ReplaceAllString(line, ""); strings.Contains(rest, "%") {
			t.Errorf("a percent sign is not escaped: %q", line)
		}
	}
}

// TestJSONKeepsValues states that escapes for the terminal do not change the report: what is read back is what was
// written.
func TestJSONKeepsValues(t *testing.T) {
	for _, attack := range attacks {
		attack = strings.ToValidUTF8(attack, "\ufffd")
		r := filled(attack, true)
		r.Checklist, r.Explained = nil, nil // not part of the JSON
		var back referee.Report
		if err := json.Unmarshal([]byte(write(t, "json", Options{Atoms: true}, r)), &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&back, r) {
			t.Errorf("%q does not come back", attack)
		}
	}
}
