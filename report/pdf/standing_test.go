package pdf

import (
	"bytes"
	"compress/zlib"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// goldInk is what the paper fills gold with: 214, 154, 18 of 255, as the PDF writes it.
const goldInk = "0.839 0.604 0.071 rg"

// inks gives all that a PDF draws, uncompressed.
func inks(t testing.TB, pdf []byte) string {
	t.Helper()
	var all strings.Builder
	for at := 0; ; {
		begin := bytes.Index(pdf[at:], []byte("\nstream\n"))
		if begin < 0 {
			return all.String()
		}
		at += begin + len("\nstream\n")
		z, err := zlib.NewReader(bytes.NewReader(pdf[at:]))
		if err != nil {
			continue
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(" Tj ET")) {
			all.Write(b)
		}
	}
}

// stood renders a receipt's bytes, whatever they are, with a standing.
func stood(t testing.TB, b []byte, at Standing) ([]byte, error) {
	t.Helper()
	r, err := ledger.ParseUnverified(b)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = Write(&out, r, b, Place{Standing: at})
	return out.Bytes(), err
}

// edit changes an entry as text and puts it into canonical form again.
func edit(t testing.TB, b []byte, change func(map[string]any)) []byte {
	t.Helper()
	out, err := storetest.Edit(b, change)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// keep leaves a paper to be looked at.
func keep(t testing.TB, name string, b []byte) {
	t.Helper()
	if *papersDir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*papersDir, name+".pdf"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPDFSoundIsGold: the tests below look for what a paper in order has.
func TestPDFSoundIsGold(t *testing.T) {
	_, b := minted(t, storetest.Clean(storetest.Sample(0)))
	pdf, err := stood(t, b, Standing{InLedger: true})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "sound", pdf)
	pages := readPDF(t, pdf)
	for _, want := range []string{"APPROVED\n", "HONEY\n", "Decision\n"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("%q is not on the first page", want)
		}
	}
	if !strings.Contains(inks(t, pdf), goldInk) {
		t.Error("honey is not gold")
	}
}

// TestPDFNotVerified: a receipt that does not verify is stamped on each page, says why, and nowhere looks like one
// that does.
func TestPDFNotVerified(t *testing.T) {
	_, clean := minted(t, storetest.Clean(storetest.Sample(0)))
	_, many := minted(t, storetest.WithFindings(storetest.Sample(1), 200))
	for name, b := range map[string][]byte{
		"not-verified":      clean,
		"not-verified-many": many,
		"not-verified-lie": edit(t, many,
			func(v map[string]any) { v["verdict"].(map[string]any)["severity"] = "honey" }),
	} {
		pdf, err := stood(
			t,
			b,
			Standing{InLedger: true, Fails: []string{"the ledger, branch ledger of ., does not hold it: entry 0: " +
				"another one"}},
		)
		if err != nil {
			t.Fatal(name, err)
		}
		keep(t, name, pdf)
		pages := readPDF(t, pdf)
		for i, page := range pages {
			if !strings.HasSuffix(page, "\n"+stampText+"\n") {
				t.Errorf("%s: page %d is not stamped", name, i+1)
			}
		}
		text := strings.Join(pages, "")
		for _, never := range []string{"\nAPPROVED\n", "\nHONEY\n", "signed them off", "signed it off"} {
			if strings.Contains(text, never) {
				t.Errorf("%s: %q is on the paper", name, never)
			}
		}
		if !strings.Contains(text, "Decision that the file states, not confirmed") ||
			!strings.Contains(squeeze(text), squeeze("does not hold it: entry 0: another one")) ||
			strings.Contains(inks(t, pdf), goldInk) {
			t.Errorf("%s: the reason is missing, or something is gold", name)
		}
	}
}

// TestPDFNotChecked: a file that no ledger was asked about says so in a band, and which command asks one.
func TestPDFNotChecked(t *testing.T) {
	r, b := minted(t, storetest.Clean(storetest.Sample(0)))
	pdf, err := stood(t, b, Standing{})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "not-checked", pdf)
	text := strings.Join(readPDF(t, pdf), "")
	for _, want := range []string{"NOT CHECKED\n", "Not checked against a ledger: run", "SAYS HONEY",
		r.Repository.Name} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the paper", want)
		}
	}
	if strings.Contains(text, "\nAPPROVED\n") || strings.Contains(text, "\nHONEY\n") ||
		strings.Contains(inks(t, pdf), goldInk) {
		t.Error("it looks like an approved one")
	}
}

// TestPDFLater: what a later entry says of a receipt stands in the band of its paper.
func TestPDFLater(t *testing.T) {
	_, b := minted(t, storetest.Clean(storetest.Sample(0)))
	pdf, err := stood(t, b, Standing{InLedger: true, Later: []string{"entry 3 of this ledger marks it as revoked"}})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "later", pdf)
	if page := readPDF(t, pdf)[0]; !strings.Contains(
		squeeze(page),
		squeeze("entry 3 of this ledger marks it as revoked"),
	) {
		t.Errorf("the later entry is not on the first page:\n%s", page)
	}
}

// TestPDFRefusesLies: what could not have been minted has no paper without the stamp.
func TestPDFRefusesLies(t *testing.T) {
	_, b := minted(t, storetest.Sample(0))
	lie := edit(t, b, func(v map[string]any) { v["verdict"].(map[string]any)["score"] = "100" })
	for _, at := range []Standing{{}, {InLedger: true}} {
		if pdf, err := stood(t, lie, at); err == nil || len(pdf) > 0 {
			t.Errorf("%+v: %d bytes, %v", at, len(pdf), err)
		}
	}
}
