package ledger_test

import (
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// largeReceipt is a sample of about 8 KB.
func largeReceipt(n int64) ledger.Receipt {
	r := storetest.Sample(n)
	f := r.Findings[0]
	r.Findings = nil
	for range 13 {
		r.Findings = append(r.Findings, f)
	}
	r.FindingsTotal, r.Verdict.Risk, r.Verdict.RiskPoints = 13, ledger.Risk{Mid: 13}, 26
	return r
}

// chainOf mints n receipts into a tree.
func chainOf(tb testing.TB, n int, sample func(int64) ledger.Receipt) (ledger.FileTree, ledger.Head) {
	tb.Helper()
	head, tree, info := ledger.NewHead(), ledger.FileTree{}, ledger.Info{}
	for i := range n {
		b, err := ledger.Mint(head, sample(int64(i)))
		if err != nil {
			tb.Fatal(err)
		}
		r, err := ledger.Parse(b)
		if err != nil {
			tb.Fatal(err)
		}
		if head, err = head.Append(b); err != nil {
			tb.Fatal(err)
		}
		if i == 0 {
			info = ledger.Info{Format: ledger.InfoFormat, Genesis: head.Tip, Repository: r.Repository}
		}
		for _, p := range ledger.Places(r.Seq, head.Tip, r.Pull()) {
			tree = append(tree, ledger.File{Path: p.String(), Data: b})
		}
	}
	headFile, err := head.Format()
	if err != nil {
		tb.Fatal(err)
	}
	infoFile, err := info.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return append(tree, ledger.File{Path: ledger.HeadPath, Data: headFile}, ledger.File{Path: ledger.InfoPath,
		Data: infoFile},
		ledger.File{Path: ledger.AttributesPath, Data: []byte(ledger.Attributes)},
		ledger.File{Path: ledger.ReadmePath, Data: []byte(ledger.Readme)}), head
}

// BenchmarkVerify verifies 10,000 receipts of 8 KB; a tenth of the ledger that the bound is stated for.
func BenchmarkVerify(b *testing.B) {
	files, _ := chainOf(b, 10_000, largeReceipt)
	tree := ledger.Indexed(files)
	b.ReportAllocs()
	for b.Loop() {
		v, err := ledger.Verify(b.Context(), tree, ledger.Options{})
		if err != nil || !v.OK() {
			b.Fatal(err, v.Problems)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text, err := ledger.Mint(ledger.NewHead(), largeReceipt(0))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ledger.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMintAndAppend(b *testing.B) {
	_, head := chainOf(b, 1000, largeReceipt)
	r := largeReceipt(1000)
	b.ReportAllocs()
	for b.Loop() {
		text, err := ledger.Mint(head, r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := head.Append(text); err != nil {
			b.Fatal(err)
		}
	}
}
