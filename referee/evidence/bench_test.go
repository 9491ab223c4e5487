package evidence

import (
	"strings"
	"testing"
	"testing/fstest"
)

// BenchmarkResolve is the work of one audited input: open a trailing-twelve-months table, hash it, read one cell.
func BenchmarkResolve(b *testing.B) {
	tree := fstest.MapFS{"t12.csv": {Data: []byte("item,jan,annual\n" +
		strings.Repeat("Gross potential rent,\"$104,000.00\",\"$1,248,000.00\"\n", 40))}}
	items := []Item{{ID: "t12", Path: "t12.csv"}}
	b.ReportAllocs()
	for b.Loop() {
		hit, err := Open(tree, items, Limits{}).Resolve("t12#cell=14,3")
		if _, ok := NumberIn(hit.Text); err != nil || !ok {
			b.Fatal(hit, err)
		}
	}
}

// BenchmarkFoundIn looks for many quotes in one text of 100 KB, which is normalised once.
func BenchmarkFoundIn(b *testing.B) {
	text := strings.Repeat("The subject's trailing-twelve net operating income is $920,000, before reserves.\n", 1250)
	h := newHaystack(text, strings.Split(text, "\n"))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if h.hasQuote("net operating income is $921,000", 0) {
			b.Fatal("found")
		}
	}
}
