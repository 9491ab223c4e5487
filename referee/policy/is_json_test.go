package policy

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// isJSON evaluates is_json of one text.
func isJSON(t testing.TB, text string) Result {
	t.Helper()
	e := mustParse(t, "is_json(memo)", &Names{Inputs: []string{"memo"}})
	memo := &strictjson.Value{Kind: strictjson.String, Text: text}
	return e.Eval(&Env{InputsRoot: &strictjson.Value{Kind: strictjson.Object,
		Members: []strictjson.Member{{Key: "memo", Value: memo}}}})
}

// TestIsJSON: what is a document is by RFC 8259, what else is refused by S46.
func TestIsJSON(t *testing.T) {
	for text, want := range map[string]Truth3{
		`{}`: True, `[]`: True, " {\"a\": [1, -0.5e+3, true, false, null]}\r\n\t": True, `"text"`: True, `5`: True,
		`null`: True, `1e999`: True, `"\ud83d\ude00"`: True, `{"a": 1, "A": 2}`: True,
		`{"a": {"a": 1}}`: True, "\"\u00a0\"": True, strings.Repeat("[", 64) + strings.Repeat("]", 64): True,

		"": False, " \n": False, "ok": False, "{": False, "{}}": False, "{} {}": False, "Sure: {}": False,
		"{} Done.": False, "```json\n{}\n```": False, "{}\x00": False, "\ufeff{}": False, "\u00a0{}": False,
		`{"a": 1, "a": 1}`: False, `{"a": 1, "\u0061": 2}`: False, `[{"b": {"a": 1, "a": 2}}]`: False,
		`{'a': 1}`: False, `{a: 1}`: False, `[1,]`: False, `{"a": 1,}`: False, `[,1]`: False, `[1 2]`: False,
		`{"a" 1}`: False, `01`: False, `+1`: False, `.5`: False, `5.`: False, `1e`: False, `-`: False, `0x1F`: False,
		`NaN`: False, `Infinity`: False, `True`: False, `None`: False, `nul`: False, `"a`: False, `"\x"`: False,
		"\"a\nb\"": False, "\"a\tb\"": False, `"\ud800"`: False, `"\udc00\ud800"`: False, `{"a": 1} // why`: False,
		`/* */ {}`: False, "\"\xff\"": False, strings.Repeat("[", 65) + strings.Repeat("]", 65): False,
	} {
		if r := isJSON(t, text); r.Truth != want || len(r.Issues) > 0 {
			t.Errorf("%.80q: %v, want %v (%v)", text, r.Truth, want, r.Issues)
		}
	}
}

// TestIsJSONUnknown: what is no text, or not there, or too long to be read is neither JSON nor not.
func TestIsJSONUnknown(t *testing.T) {
	e := mustParse(t, "is_json(memo)", &Names{Inputs: []string{"memo"}})
	for _, inputs := range []string{`{}`, `{"memo": null}`, `{"memo": 5}`, `{"memo": {}}`, `{"memo": ["{}"]}`} {
		if r := e.Eval(&Env{InputsRoot: jsonOf(t, inputs)}); r.Truth != Unknown {
			t.Errorf("%s: %v", inputs, r.Truth)
		}
	}
	const most = 5 << 20 // S46
	if r := isJSON(t, `"`+strings.Repeat("a", most-2)+`"`); r.Truth != True {
		t.Errorf("as long as is read: %v, %v", r.Truth, r.Issues)
	}
	for name, text := range map[string]string{"JSON": `"` + strings.Repeat("a", most-1) + `"`,
		"no JSON": strings.Repeat("a", most+1)} {
		if r := isJSON(t, text); r.Truth != Unknown || len(r.Issues) != 1 || r.Issues[0].Code != "too_complex" ||
			!strings.Contains(r.Issues[0].Message, "5242880 bytes, and this one has 5242881") {
			t.Errorf("one byte too long, %s: %v, %v", name, r.Truth, r.Issues)
		}
	}
	if _, err := ParseText("is_json(5)", &Names{}); err == nil ||
		!strings.Contains(err.Error(), "text of is_json must be a text") {
		t.Errorf("a number is no text: %v", err)
	}
}

// TestIsJSONWork: rows of long answers are bounded as one long answer is.
func TestIsJSONWork(t *testing.T) {
	work := &decimal.Meter{Spent: maxWork - 100, Most: maxWork}
	ev := &evaluator{env: &Env{}, work: work}
	if got := evalIsJSON(ev, nil, []Val{Text("[" + strings.Repeat(" ", 97) + "]")}); got.Kind != Bool || !got.Bool ||
		len(ev.issues) != 0 || work.Spent != maxWork {
		t.Errorf("99 bytes: %v, %v, work %d", got, ev.issues, work.Spent)
	}
	if got := evalIsJSON(ev, nil, []Val{Text("[]")}); got.Kind != Missing || len(ev.issues) != 1 ||
		ev.issues[0].Code != "too_complex" {
		t.Errorf("without any work left: %v, %v", got, ev.issues)
	}
}

// plainJSON asks the standard library's reader, which accepts a name twice: those are found token by token.
func plainJSON(text string) bool {
	if !json.Valid([]byte(text)) {
		return false
	}
	d := json.NewDecoder(strings.NewReader(text))
	type open struct {
		names map[string]bool // nil in an array
		name  bool            // the next token is a name
	}
	var in []open
	for {
		token, err := d.Token()
		if err == io.EOF {
			return true
		}
		var top *open
		if len(in) > 0 {
			top = &in[len(in)-1]
		}
		switch token {
		case json.Delim('}'), json.Delim(']'):
			in = in[:len(in)-1]
			continue
		}
		if top != nil && top.names != nil {
			if name, ok := token.(string); ok && top.name {
				if top.names[name] {
					return false
				}
				top.names[name], top.name = true, false
				continue
			}
			top.name = true
		}
		switch token {
		case json.Delim('{'):
			in = append(in, open{map[string]bool{}, true})
		case json.Delim('['):
			in = append(in, open{})
		}
	}
}

// TestIsJSONProperty compares with the standard library on texts of few tokens, so that many are documents and many
// names meet twice.
func TestIsJSONProperty(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 259))
	tokens := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"b"`, `"\u0061"`, "1", "-", "0", ".5", "e2", "true", "nul",
		"null", " ", "\n", "x"}
	var value func(depth int) string
	value = func(depth int) string {
		var parts []string
		switch k := random.IntN(6); {
		case k == 0 && depth > 0:
			for range random.IntN(3) {
				parts = append(parts, value(depth-1))
			}
			return "[" + strings.Join(parts, ",") + "]"
		case k < 4 && depth > 0:
			for range random.IntN(4) {
				parts = append(parts, tokens[6+random.IntN(3)]+":"+value(depth-1))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		}
		return tokens[[]int{6, 9, 11, 14, 16}[random.IntN(5)]]
	}
	count := map[bool]int{}
	for range 5000 {
		text := value(4)
		for range random.IntN(3) { // up to two tokens are put in somewhere
			i := random.IntN(len(text) + 1)
			text = text[:i] + tokens[random.IntN(len(tokens))] + text[i:]
		}
		want := plainJSON(text)
		count[want]++
		if r := isJSON(t, text); r.Truth == Unknown || (r.Truth == True) != want {
			t.Fatalf("%q: %v, want %v", text, r.Truth, want)
		}
	}
	if count[true] < 500 || count[false] < 500 {
		t.Errorf("%d documents and %d others compare nothing", count[true], count[false])
	}
}
