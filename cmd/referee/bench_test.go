package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/defendableos/referee/bench"
)

// benchAudit audits n submissions of 1.6 KB (schema, three recomputed calculations, six gates) as the command does.
func benchAudit(b *testing.B, n int, format string) {
	var src strings.Builder
	for i := range n {
		src.WriteString(bench.Submission(i) + "\n")
	}
	args := []string{"audit", "-", "--sheet", "bench-deal", "--flight-sheets", "../../bench/sheets", "--format", format}
	b.SetBytes(int64(src.Len()))
	b.ReportAllocs()
	for b.Loop() {
		var stderr bytes.Buffer
		if code := run(context.Background(), args, func(string) string { return "" }, strings.NewReader(src.String()),
			io.Discard, &stderr); code != exitRules && n >= 4 {
			b.Fatalf("exit code %d: %s", code, &stderr)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/submission")
}

func BenchmarkAudit1(b *testing.B)         { benchAudit(b, 1, "json") }
func BenchmarkAudit1000(b *testing.B)      { benchAudit(b, 1000, "json") }
func BenchmarkAudit1000Table(b *testing.B) { benchAudit(b, 1000, "table") }
func BenchmarkAudit10000(b *testing.B)     { benchAudit(b, 10000, "json") }
