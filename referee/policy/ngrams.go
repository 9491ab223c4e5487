package policy

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxGrams bounds how many different runs of words one shared_ngrams keeps.
const maxGrams = 1_000_000

// run is a text made ready to be cut into runs of words: its words, one space between, and where each begins and ends.
type run struct {
	text  string
	words []span
}

// runOf takes a text's words as a search for contamination does: cut at white space, in lower case and compatible letters (NFKC), and of
// each word the letters, marks and digits. A word of none is no word. Punctuation within a word is taken out and does not cut it.
func runOf(s string) run {
	var b strings.Builder
	var words []span
	for field := range strings.FieldsSeq(norm.NFKC.String(s)) {
		from := -1
		for _, r := range strings.ToLower(field) {
			if !isWordRune(r) {
				continue
			}
			if from < 0 && b.Len() > 0 {
				b.WriteByte(' ')
			}
			if from < 0 {
				from = b.Len()
			}
			b.WriteRune(r)
		}
		if from >= 0 {
			words = append(words, span{from, b.Len()})
		}
	}
	return run{b.String(), words}
}

// grams yields every n words in a row; a text of fewer words has none.
func (r run) grams(n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i+n <= len(r.words); i++ {
			if !yield(r.text[r.words[i].from:r.words[i+n-1].to]) {
				return
			}
		}
	}
}

// evalSharedNgrams is shared_ngrams(items, texts, n). The items are indexed and the texts read past them, so that the work is that of
// reading each once; the runs are compared as they are written and not by a hash.
func evalSharedNgrams(ev *evaluator, n *node, args []Val) Val {
	size, _ := args[2].Num.Int64()
	items, bad := ev.runs(n, 0, args[0].List)
	if bad != nil {
		return *bad
	}
	seen := map[string]bool{} // whether a run of the items stands in the texts
	for _, item := range items {
		for gram := range item.grams(int(size)) {
			seen[gram] = false
			if len(seen) > maxGrams {
				ev.issue("too_complex", args[0].Pointer(), "the items of shared_ngrams have more than %d different runs of %d words", maxGrams, size)
				return Absent("too many runs of words")
			}
		}
	}
	texts, bad := ev.runs(n, 1, args[1].List)
	if bad != nil {
		return *bad
	}
	for _, text := range texts {
		for gram := range text.grams(int(size)) {
			if _, known := seen[gram]; known {
				seen[gram] = true
			}
		}
	}
	shared := 0
	for _, item := range items {
		for gram := range item.grams(int(size)) {
			if seen[gram] {
				shared++
				break
			}
		}
	}
	return integer(shared)
}

// runs makes the texts of an argument ready. A null leaves the count open, and anything but a text is an issue.
func (ev *evaluator) runs(n *node, arg int, texts []Val) ([]run, *Val) {
	out := make([]run, len(texts))
	for i, v := range texts {
		var bad Val
		switch {
		case v.Kind == Missing:
			bad = Absent(errNullItem.Error())
		case v.Kind != Str:
			bad = ev.mismatch(n.args[arg], v, tStr, "shared_ngrams")
		case !ev.charge(1 + len(v.Str)/2):
			bad = Absent("the rule takes too much work")
		default:
			out[i] = runOf(v.Str)
			continue
		}
		return nil, &bad
	}
	return out, nil
}

// checkSharedNgrams: runs of one word are vocabulary, and of a hundred nothing is found.
func checkSharedNgrams(_ *builder, n *node) {
	size := n.args[2]
	if i, ok := size.lit.Num.Int64(); !ok || i < 2 || i > 100 {
		refuse(size.place, "write 13", "n of shared_ngrams must be a whole number from 2 to 100")
	}
}
