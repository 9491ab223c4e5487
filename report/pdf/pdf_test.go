package pdf

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// papersDir is where the papers of the tests are left to be looked at.
var papersDir = flag.String("papers", "", "write the PDF papers of the tests into this directory")

const published = "https://example.github.io/ledger/verify.html#" +
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// minted is a receipt at the beginning of a chain, and its bytes.
func minted(t testing.TB, r ledger.Receipt) (*ledger.Receipt, []byte) {
	t.Helper()
	parsed, b, err := storetest.Minted(r)
	if err != nil {
		t.Fatal(err)
	}
	return parsed, b
}

func render(t testing.TB, r ledger.Receipt, at Place) []byte {
	t.Helper()
	parsed, b := minted(t, r)
	var out bytes.Buffer
	if err := Write(&out, parsed, b, at); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPDFSamples(t *testing.T) {
	for what, r := range storetest.Samples() {
		b := render(t, r, Place{URL: published})
		if *papersDir != "" {
			if err := os.WriteFile(filepath.Join(*papersDir, what+".pdf"), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func BenchmarkPDF(b *testing.B) {
	for _, n := range []int{1, 20, 200} {
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			r, payload := minted(b, storetest.WithFindings(storetest.Sample(1), n))
			b.ReportAllocs()
			for b.Loop() {
				var out bytes.Buffer
				if err := Write(&out, r, payload, Place{URL: published}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
