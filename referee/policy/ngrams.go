package policy

import (
	"strings"

	"github.com/defendableos/referee/internal/legible"
)

// maxGrams bounds how many different runs of words one shared_ngrams keeps.
const maxGrams = 1_000_000

// run is a text made ready to be cut into runs of words: its words, one space between, and where each begins and ends.
type run struct {
	text  string
	words []span
}

// runOf takes a text's words as a search for contamination does: cut at white space, in lower case and as people see
// them (S80), and of each word the letters, marks and digits. A word of none is no word. Punctuation within a word is
// taken out and does not cut it. Every byte and every word is paid for before room is made for it; false where there is
// too much.
func runOf(s string, pay func(int) bool) (run, bool) {
	var b strings.Builder
	var words []span
	for raw := range strings.FieldsSeq(s) {
		if !pay(len(raw)) {
			return run{}, false
		}
		for field := range strings.FieldsSeq(legible.Fold(raw)) {
			from := writeWord(&b, field)
			if from == b.Len() {
				continue
			}
			if words = append(words, span{from, b.Len()}); !pay(4) {
				return run{}, false
			}
		}
	}
	return run{b.String(), words}, true
}

// writeWord writes what counts of a word, with a space before it if it is not the first, and says where it begins: at
// the end of what there is, if nothing counts.
func writeWord(b *strings.Builder, field string) (from int) {
	begun := false
	for _, r := range strings.ToLower(field) {
		if !isWordRune(r) {
			continue
		}
		if !begun && b.Len() > 0 {
			b.WriteByte(' ')
		}
		if !begun {
			begun, from = true, b.Len()
		}
		b.WriteRune(r)
	}
	if !begun {
		return b.Len()
	}
	return from
}

// eachGram yields every n words in a row; a text of fewer words has none.
func (r run) eachGram(n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i+n <= len(r.words); i++ {
			if !yield(r.text[r.words[i].from:r.words[i+n-1].to]) {
				return
			}
		}
	}
}

// evalSharedNgrams is shared_ngrams(items, texts, n). The items are indexed and the texts read past them, so that the
// work is that of reading each once; the runs are compared as they are written and not by a hash.
func evalSharedNgrams(ev *evaluator, n *node, args []Val) Val {
	n64, _ := args[2].Num.Int64()
	size := int(n64)
	var items []run
	seen := map[string]bool{} // whether a run of the items stands in the texts
	bad := ev.eachRun(n, 0, args[0].List, func(item run) bool {
		items = append(items, item)
		for gram := range item.eachGram(size) {
			seen[gram] = false
			if len(seen) > maxGrams {
				ev.addIssue("too_complex", args[0].Pointer(), "the items of shared_ngrams have more than %d different "+
					"runs of %d words", maxGrams, size)
				return false
			}
		}
		return true
	})
	if bad == nil {
		bad = ev.eachRun(n, 1, args[1].List, func(text run) bool {
			for gram := range text.eachGram(size) {
				if _, known := seen[gram]; known {
					seen[gram] = true
				}
			}
			return true
		})
	}
	if bad != nil {
		return *bad
	}
	shared := 0
	for _, item := range items {
		for gram := range item.eachGram(size) {
			if seen[gram] {
				shared++
				break
			}
		}
	}
	return integerValue(shared)
}

// eachRun makes the texts of an argument ready, one after the other. A null leaves the count open, and anything but a
// text is an issue.
func (ev *evaluator) eachRun(n *node, arg int, texts []Val, use func(run) bool) *Val {
	for _, v := range texts {
		bad := Absent(tooMuchWork)
		switch {
		case v.Kind == Missing:
			bad = Absent(errNullItem.Error())
		case v.Kind != Str:
			bad = ev.typeMismatch(n.args[arg], v, tStr, "shared_ngrams")
		default:
			if !ev.chargeWork(1 + len(v.Str)/64) {
				return &bad
			}
			if r, ok := runOf(v.Str, ev.chargeWork); ok && use(r) {
				continue
			}
		}
		return &bad
	}
	return nil
}

// checkSharedNgrams: runs of one word are vocabulary, and of a hundred nothing is found.
func checkSharedNgrams(_ *builder, n *node) {
	size := n.args[2]
	if i, ok := size.lit.Num.Int64(); !ok || i < 2 || i > 100 {
		refuse(size.place, "write 13", "n of shared_ngrams must be a whole number from 2 to 100")
	}
}
