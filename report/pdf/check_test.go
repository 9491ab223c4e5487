package pdf

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/defendableos/referee/report"
	"golang.org/x/text/unicode/norm"
)

// read takes a PDF apart with nothing of the library that wrote it: the text of each page, line by line.
func readPDF(t testing.TB, pdf []byte) (pages []string) {
	t.Helper()
	for at := 0; ; {
		begin := bytes.Index(pdf[at:], []byte("\nstream\n"))
		if begin < 0 {
			return pages
		}
		at += begin + len("\nstream\n")
		z, err := zlib.NewReader(bytes.NewReader(pdf[at:]))
		if err != nil {
			continue // a stream that is not compressed: a map of characters
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(" Tj ET")) {
			pages = append(pages, drawn(b))
		}
	}
}

var show = regexp.MustCompile(`(?s)Td \((.*?)\) Tj ET`)

// drawn gives the strings of a page: UTF-16 with the escapes of PDF.
func drawn(content []byte) string {
	var b strings.Builder
	for _, m := range show.FindAllSubmatch(content, -1) {
		raw := regexp.MustCompile(`(?s)\\(.)`).ReplaceAllFunc(m[1], func(e []byte) []byte {
			if e[1] == 'r' {
				return []byte{'\r'}
			}
			return e[1:]
		})
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
		}
		b.WriteString(string(utf16.Decode(units)) + "\n")
	}
	return b.String()
}

// squeeze leaves out what wrapping changes.
func squeeze(s string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(norm.NFC.String(s))
}

func TestPDFSaysAll(t *testing.T) {
	all := map[string][]string{
		"short": {
			"DCR-000000-",
			"APPROVED",
			"JELLY",
			"96.4",
			"27 of 28",
			"0 · 1 · 0",
			"rosa",
			"permission maintain",
			"2 November 2026, 09:30:00 UTC",
			"cre-acquisition-underwriting 1.2.0",
			"semantics 1",
			"underwriter",
			"example-70b",
			"site_visited",
			"satisfied",
			"math.mismatch",
			"the claim is 2.4 % above",
			"claimed 1.334",
			"recomputed 1.303",
			"state 1.303",
			"evidence/t12.csv",
			"1.2 kB",
			"agent-owner",
			"none: this is the first entry",
			published,
			"referee receipt verify",
			ledger.EntryDir(0) + "/000000000-",
			"refs/heads/main",
			"1.84 USD",
		},
		"cook": {
			"RECEIPT OF A TRAINING RUN",
			"11.75",
			"from 71.5 to 83.25",
			"example-9b-underwriting",
			"oak-street-pairs",
			"48123 pairs",
			"112.40 USD",
		},
		"incident": {
			"RECEIPT OF AN INCIDENT",
			"spend breach",
			"HIGH",
			"Cap 50.00 USD",
			"lane locked, human approval required",
			"open, opened 2 November 2026, 08:00:00 UTC",
		},
		"self-signed": {"HONEY", "Self-signed", "Findings: none"},
		"revoked":     {"REVOKED", "Nobody may rely on", "Refers to"},
		"local":       {"no forge confirms"},
		"carried":     {"CARRIED OVER"},
		"superseded":  {"SUPERSEDED", "Observed, not signed", "pull_request_target"},
		"withdrawn":   {"WITHDRAWN"},
		"merged":      {"MERGED", canonical.SHA256Hex([]byte("merge"))[:40]},
		"unreceipted": {"UNRECEIPTED", "no human's approval is known"},
	}
	for what, wants := range all {
		r := storetest.Samples()[what]
		if what == "local" {
			r.Approval.Approver.Permission = "local"
		}
		parsed, payload := minted(t, r)
		text := squeeze(strings.Join(readPDF(t,
			render(t, r, Place{URL: published, Standing: Standing{InLedger: true}})), ""))
		wants = append(
			wants,
			canonical.SHA256Hex(payload),
			parsed.ID,
			parsed.Submission.SHA256,
			parsed.FlightSheet.SHA256,
			parsed.RefersTo,
		)
		if parsed.Approval != nil {
			wants = append(wants, parsed.Approval.SubjectDigest, parsed.Approval.Review.BodySHA256, parsed.ReportDigest)
		}
		for _, e := range parsed.Evidence {
			wants = append(wants, e.SHA256)
		}
		for _, want := range wants {
			if !strings.Contains(text, squeeze(want)) {
				t.Errorf("%s: %q is not on the paper", what, want)
			}
		}
	}
}

func TestPDFNames(t *testing.T) {
	text := squeeze(strings.Join(readPDF(t, render(t, storetest.Samples()["names"], Place{})), ""))
	for _, s := range storetest.ForeignNames() {
		if !strings.Contains(text, squeeze(s)) {
			t.Errorf("%s is not on the paper as it is", s)
		}
	}
	// U+4E2D U+6587 and U+1F41D: Chinese and a bee, in no font of the paper.
	for _, want := range []string{"<U+4E2D>", "<U+6587>", "<U+0E44>", "<U+05E2>", "<U+1F41D>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not on the paper", want)
		}
	}
}

func TestPDFPages(t *testing.T) {
	r := storetest.Samples()["findings-200"]
	parsed, _ := minted(t, r)
	pages := readPDF(t, render(t, r, Place{}))
	if len(pages) < 20 {
		t.Fatalf("%d pages", len(pages))
	}
	for i, page := range pages {
		want := fmt.Sprintf("%s   page %d of %d", parsed.ID, i+1, len(pages))
		if !strings.Contains(page, want) {
			t.Errorf("page %d does not say %q", i+1, want)
		}
		if i > 0 && !strings.Contains(page, "RECEIPT OF AN AUDIT") {
			t.Errorf("page %d has no header", i+1)
		}
		if i > 2 && i < len(pages)-2 && !strings.Contains(page, "RULE AND PLACE") {
			t.Errorf("page %d does not repeat the head of the table", i+1)
		}
	}
	all := squeeze(strings.Join(pages, ""))
	for _, want := range []string{"rule_0,", "rule_199,", "Findings:200", "/calculations/199/result"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not on the paper", want)
		}
	}
}

// TestPDFCutFindings holds that what a receipt does not hold is said to be missing.
func TestPDFCutFindings(t *testing.T) {
	text := squeeze(strings.Join(readPDF(t, render(t, storetest.WithFindings(storetest.Sample(1), 230), Place{})), ""))
	if !strings.Contains(text, squeeze("30 more stand in the report")) || !strings.Contains(text, "Findings:230") {
		t.Error("the paper does not say that 30 findings are missing")
	}
}

// TestPDFSameBytes renders again: in this process, in many goroutines, and in another process.
func TestPDFSameBytes(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPDFSamples$", "-papers", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for what, r := range storetest.Samples() {
		want := sha256.Sum256(render(t, r, Place{URL: published}))
		other, err := os.ReadFile(filepath.Join(dir, what+".pdf"))
		if err != nil {
			t.Fatal(err)
		}
		if sha256.Sum256(other) != want {
			t.Errorf("%s: another process gives other bytes", what)
		}
		parsed, payload := minted(t, r)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				var out bytes.Buffer
				if err := Write(&out, parsed, payload, Place{URL: published}); err != nil ||
					sha256.Sum256(out.Bytes()) != want {
					t.Errorf("%s: other bytes the next time: %v", what, err)
				}
			})
		}
		wg.Wait()
	}
}

func TestPDFHostile(t *testing.T) {
	more := []string{
		") Tj ET Q /JavaScript (alert) \\",
		">> endobj 1 0 obj << /OpenAction",
		"\\) \\( %PDF-1.7\r%%EOF",
		strings.Repeat("W", 1500),
	}
	for _, attack := range append(more, storetest.HostileTexts()...) {
		for _, what := range []string{"short", "incident", "cook", "merged"} {
			r := storetest.Samples()[what]
			storetest.Spoil(&r, attack)
			if r.Assignment != nil {
				r.Assignment.SHA256 = canonical.SHA256Hex([]byte(attack))
			}
			pdf := render(t, r, Place{})
			for _, word := range []string{"/JavaScript", "/JS", "/URI", "/Launch", "/OpenAction", "/Filespec"} {
				if bytes.Contains(pdf, []byte(word)) {
					t.Errorf("%q reached the structure of the paper", word)
				}
			}
			for _, page := range readPDF(t, pdf) {
				for _, c := range page {
					if shown := string(c); c != '\n' && (report.Clean(shown) != shown || c == utf8.RuneError) {
						t.Errorf("%q: U+%04X on the paper", report.CleanStart(attack, 30), c)
					}
				}
			}
		}
	}
}

func TestPDFRefuses(t *testing.T) {
	r, payload := minted(t, storetest.Sample(0))
	other, _ := minted(t, storetest.Sample(1))
	for what, c := range map[string]struct {
		r   *ledger.Receipt
		b   []byte
		url string
	}{
		"is not the one of the payload":             {other, payload, ""},
		"it must begin with https:// or http://":    {r, payload, "javascript:alert(1)"},
		"no address of a page":                      {r, payload, "https:///no-host"},
		"must be percent-encoded":                   {r, payload, "https://example.com/a b"},
		"a QR code on paper holds 300":              {r, payload, "https://example.com/" + strings.Repeat("a", 300)},
		"the receipt is not the one of the payload": {r, append([]byte(" "), payload...), ""},
	} {
		var out bytes.Buffer
		if err := Write(&out, c.r, c.b, Place{URL: c.url}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
		if out.Len() > 0 {
			t.Errorf("%q: %d bytes were written", what, out.Len())
		}
	}
}

// TestKindsAreNamed holds that whatever a receipt can be is called something.
func TestKindsAreNamed(t *testing.T) {
	for _, k := range ledger.Kinds() {
		if kinds[k].title == "" || kinds[k].says == "" {
			t.Errorf("the kind %q has no words", k)
		}
	}
	for _, s := range []string{ledger.EvalSchema, ledger.CookSchema, ledger.IncidentSchema} {
		if paperTitles[s] == "" {
			t.Errorf("the schema %q has no title", s)
		}
	}
}

// TestGradesTellInGrey holds the colours of the severities apart by lightness alone (ITU-R BT.601), as on paper
// printed in grey.
func TestGradesTellInGrey(t *testing.T) {
	lightness := func(c color) int { return (299*c[0] + 587*c[1] + 114*c[2]) / 1000 }
	names := []string{"honey", "unsigned", "jelly", "propolis"} // from light to dark
	for i := 1; i < len(names); i++ {
		a, b := lightness(grades[names[i-1]].color), lightness(grades[names[i]].color)
		if a-b < 15 {
			t.Errorf("%s has the lightness %d, %s %d", names[i-1], a, names[i], b)
		}
	}
}

func FuzzWrap(f *testing.F) {
	for _, s := range append(storetest.ForeignNames(), storetest.HostileTexts()...) {
		f.Add(s, 40.0)
	}
	all, err := measure()
	if err != nil {
		f.Fatal(err)
	}
	set := typesetter{all}
	f.Fuzz(func(t *testing.T, s string, width float64) {
		if !(width > 5 && width < 500) {
			return
		}
		s = set.fitForPaper(s)
		lines := set.wrapLine(plain, 9, s, width)
		if squeeze(strings.Join(lines, "")) != squeeze(s) {
			t.Errorf("%q is wrapped to %q", s, lines)
		}
		for _, line := range lines {
			// A space at the end of a line, and a mark that stands on it, may hang over.
			hanging := func(r rune) bool { return r == ' ' || unicode.Is(unicode.Mn, r) }
			if w := set.textWidthIn(plain, 9, strings.TrimRightFunc(line, hanging)); w > width+0.01 {
				t.Errorf("%q is %.2f wide, not %.2f", line, w, width)
			}
			var b strings.Builder
			for _, part := range set.splitRuns(plain, line) {
				b.WriteString(part.text)
			}
			if b.String() != line {
				t.Errorf("the runs of %q are %q", line, b.String())
			}
		}
	})
}
