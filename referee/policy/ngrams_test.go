package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"

	"github.com/defendableos/referee/internal/decimal"
)

// thirteen are the numbers from one to thirteen in words.
const thirteen = "one two three four five six seven eight nine ten eleven twelve thirteen"

func TestRunOf(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " \n\t ": "", "— ... !": "", "The CAT, sat.": "the|cat|sat",
		"don't well-known 1,200.50": "dont|wellknown|120050", "a — b": "a|b", "- a": "a", "a -": "a",
		"ｆｕｌｌ ﬁne": "full|fine", "zero\u200bwidth soft\u00adhyphen": "zerowidth|softhyphen",
		"no\u00a0break": "no|break", "naïve nai\u0308ve": "naïve|naïve", "İ": "i", "\ufdfa": "صلى|الله|عليه|وسلم",
	} {
		r, ok := runOf(text, func(int) bool { return true })
		var words []string
		for _, w := range r.words {
			words = append(words, r.text[w.from:w.to])
		}
		if got := strings.Join(words, "|"); got != want || !ok || r.text != strings.Join(words, " ") {
			t.Errorf("%q: words %q of %q, want %q", text, got, r.text, want)
		}
	}
}

// sharedOf evaluates shared_ngrams over lists written as JSON.
func sharedOf(t testing.TB, items, texts string, n int) Result {
	t.Helper()
	names := &Names{Inputs: []string{"items", "texts"}}
	e := mustParse(t, fmt.Sprintf("shared_ngrams(items, texts, %d) == 0", n), names)
	inputs := &strictjson.Value{Kind: strictjson.Object,
		Members: []strictjson.Member{{Key: "items", Value: jsonOf(t, items)}, {Key: "texts", Value: jsonOf(t, texts)}}}
	return e.Eval(&Env{InputsRoot: inputs})
}

// TestSharedNgrams: the counts are by hand.
func TestSharedNgrams(t *testing.T) {
	quote := func(texts ...string) string { return `["` + strings.Join(texts, `","`) + `"]` }
	for _, c := range []struct {
		name, items, texts string
		n                  int
		want               string
	}{
		{"the same thirteen words", quote(thirteen), quote(thirteen), 13, "1"},
		{"in the middle of both, another case and punctuation", quote("It says: " + thirteen + ". So."),
			quote("x y, ONE (two) three; four five six seven eight nine ten eleven twelve thirteen! z"), 13, "1"},
		{"twelve words only", quote(strings.TrimSuffix(thirteen, " thirteen")), quote(thirteen), 13, "0"},
		{"one word between", quote(strings.Replace(thirteen, "six", "six and", 1)), quote(thirteen), 13, "0"},
		{"an item counts once", quote(thirteen + " " + thirteen), quote(thirteen, thirteen), 13, "1"},
		{"each item that shares counts", quote(thirteen, "nothing of it", "a "+thirteen, thirteen),
			quote("b " + thirteen), 13, "3"},
		{"not across two texts", quote("a b c d"), quote("a b", "c d"), 4, "0"},
		{"not across two items", quote("a b", "c d"), quote("a b c d"), 4, "0"},
		{"across a line end", quote("a b\\nc d"), quote("a b c d"), 4, "1"},
		{"words do not run together", quote("ab c"), quote("a bc"), 2, "0"},
		{"no items", "[]", quote("a b"), 2, "0"},
		{"no texts", quote("a b"), "[]", 2, "0"},
	} {
		r := sharedOf(t, c.items, c.texts, c.n)
		if r.Sides == nil || r.Sides[0].Kind != Num || r.Sides[0].Num.String() != c.want {
			t.Errorf("%s: %+v, want %s", c.name, r.Sides, c.want)
		}
	}
	for _, lists := range [][2]string{{`["a b", null]`, `["a b"]`}, {`["a b"]`, `[null]`}, {`[1]`, `["a b"]`},
		{`["a b"]`, `[["a b"]]`}, {`["a b"]`, `"a b"`}} {
		if r := sharedOf(t, lists[0], lists[1], 2); r.Truth != Unknown {
			t.Errorf("%v: %v", lists, r.Truth)
		}
	}
	for _, src := range []string{"shared_ngrams(items, texts, 1) == 0", "shared_ngrams(items, texts, 101) == 0",
		"shared_ngrams(items, texts, 2.5) == 0", "shared_ngrams(items, texts, -3) == 0"} {
		if _, err := ParseText(src, &Names{Inputs: []string{"items", "texts"}}); err == nil ||
			!strings.Contains(err.Error(), "n") {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// TestSharedNgramsBounds: a book of other words is not answered, whichever side it is on; it is never a count of what
// was read so far.
func TestSharedNgramsBounds(t *testing.T) {
	var b strings.Builder
	for i := range maxGrams + 2 {
		fmt.Fprintf(&b, "%x ", i)
	}
	wide := []Val{Text(b.String())}
	letters := []Val{Text(strings.Repeat("a ", maxWork/5))} // a byte and a word each: 5 steps
	long := []Val{Text(strings.Repeat("-", maxWork))}
	for _, c := range []struct {
		name         string
		items, texts []Val
		spent        int
	}{
		{"too many runs", wide, nil, 0},
		{"too much work, many words", letters, nil, 1},
		{"too much work, one long word", nil, long, 1},
		{"too much work, items", []Val{Text("a")}, nil, maxWork},
		{"too much work, texts", []Val{Text("a b")}, wide, maxWork - 10},
	} {
		work := &decimal.Meter{Spent: c.spent, Most: maxWork}
		ev := &evaluator{env: &Env{}, work: work}
		e := mustParse(t, "shared_ngrams(items, texts, 2) == 0", &Names{Inputs: []string{"items", "texts"}})
		got := evalSharedNgrams(ev, e.root.args[0], []Val{listValue(c.items), listValue(c.texts), integerValue(2)})
		if got.Kind != Missing || len(ev.issues) != 1 || ev.issues[0].Code != "too_complex" {
			t.Errorf("%s: %v, %v", c.name, got, ev.issues)
		}
	}
}

// sharedSlowly compares every run of every item with every run of every text.
func sharedSlowly(items, texts [][]string, n int) int {
	count := 0
	for _, item := range items {
		found := false
		for i := 0; i+n <= len(item); i++ {
			for _, text := range texts {
				for j := 0; j+n <= len(text); j++ {
					found = found || strings.Join(item[i:i+n], " ") == strings.Join(text[j:j+n], " ")
				}
			}
		}
		if found {
			count++
		}
	}
	return count
}

// TestSharedNgramsProperty compares with the slow way on texts of few different words, so that runs are often shared.
func TestSharedNgramsProperty(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 13))
	marks := []string{" ", ", ", ".\n", " - ", "  "}
	texts := func() (words [][]string, vals []Val) {
		for range random.IntN(4) {
			var text []string
			var b strings.Builder
			for range random.IntN(12) {
				w := []string{"a", "b", "c"}[random.IntN(3)]
				text = append(text, w)
				if random.IntN(2) == 0 {
					w = strings.ToUpper(w)
				}
				b.WriteString(w + marks[random.IntN(len(marks))])
			}
			words, vals = append(words, text), append(vals, Text(b.String()))
		}
		return words, vals
	}
	e := mustParse(t, "shared_ngrams(items, texts, 2) == 0", &Names{Inputs: []string{"items", "texts"}})
	for range 2000 {
		n := 2 + random.IntN(4)
		items, itemVals := texts()
		others, otherVals := texts()
		work := &decimal.Meter{Most: maxWork}
		got := evalSharedNgrams(&evaluator{env: &Env{}, work: work}, e.root.args[0],
			[]Val{listValue(itemVals), listValue(otherVals), integerValue(n)})
		if want := sharedSlowly(items, others, n); got.Kind != Num || got.Num.String() != fmt.Sprint(want) {
			t.Fatalf("%q and %q share %v runs of %d, want %d", items, others, got, n, want)
		}
	}
}
