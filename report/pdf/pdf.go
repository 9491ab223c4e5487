// Package pdf renders a receipt as a paper to file, in the letters of Latin, Greek and Cyrillic, with a seal, a QR code
// and every finding.
//
// A paper looks like an approval, so three things are held: a receipt that does not verify never has the look of one
// that does (TestPDFSoundIsGold and the tests beside it), hostile text never reaches the structure of the file
// (TestPDFHostile), and the same payload and place give the same bytes everywhere.
package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
	"github.com/go-pdf/fpdf"
	"rsc.io/qr"
)

// Place is where a receipt is published, and what is known of it there. URL is the address of the page that shows it,
// and stands on the paper as text and as a QR code; without one the code holds the receipt's hash.
type Place struct {
	URL      string
	Standing Standing
}

// Write renders a receipt as a paper to file: the same payload and place give the same bytes, on every machine and at
// any time.
//
// A receipt that does not verify (Standing.Fails) is stamped across every page, and one that was held to no ledger
// says so in a band; neither has the look of an approved one. All else comes from the payload, which are the bytes of
// the receipt's file; receipt is what ledger.Parse gives for them, and a pair that does not belong together is
// refused, so that the hash on the paper is the hash of what the paper says. Text is set in Latin, Greek and Cyrillic
// letters; any other character stands there as <U+4E2D>.
func Write(w io.Writer, receipt *ledger.Receipt, payload []byte, at Place) error {
	p, err := newPaper(receipt, payload, at)
	if err != nil {
		return fmt.Errorf("pdf: %w", err)
	}
	p.writeFront()
	p.writeBody()
	p.framePages()
	if err := p.f.Output(w); err != nil {
		return fmt.Errorf("pdf: %w", err)
	}
	return nil
}

// The sheet is an A4 one; places are in millimetres from its upper left corner, sizes of letters in points.
const (
	pageWidth  = 210.0
	pageHeight = 297.0
	marginSide = 18.0
	marginTop  = 24.0
	marginEnd  = 272.0 // the lowest line of text
	textWidth  = pageWidth - 2*marginSide
)

// paper is a PDF being written.
type paper struct {
	typesetter
	f    *fpdf.Fpdf
	r    *ledger.Receipt
	hash string // of the payload
	at   Standing
	code *qr.Code
	url  string  // "" if the receipt is not published
	y    float64 // where the next line begins
	font style   // the font that the page's content is at
	have [len(faces)]bool
}

func newPaper(r *ledger.Receipt, payload []byte, at Place) (*paper, error) {
	if err := refuseForeign(r, payload, at.Standing); err != nil {
		return nil, err
	}
	p := &paper{r: r, hash: canonical.SHA256Hex(payload), url: at.URL, at: at.Standing}
	var err error
	if p.faces, err = measure(); err != nil {
		return nil, err
	}
	if p.code, err = encodeQR(at.URL, p.hash); err != nil {
		return nil, err
	}
	minted, err := time.Parse(time.RFC3339, r.MintedAt)
	if err != nil {
		return nil, err
	}
	p.openDocument(minted)
	return p, nil
}

// refuseForeign refuses a receipt that is not the one of the payload, and one that could not have been minted on a
// paper that does not say so.
func refuseForeign(r *ledger.Receipt, payload []byte, at Standing) error {
	same, err := canonical.Marshal(*r)
	if err != nil {
		return err
	}
	if !bytes.Equal(same, payload) {
		return errors.New("the receipt is not the one of the payload")
	}
	if len(at.Fails) == 0 {
		_, err = ledger.Parse(payload)
	}
	return err
}

// maxURL is the longest address that a QR code of the paper's size holds readably.
const maxURL = 300

// encodeQR makes the QR code: of the address, or of the hash where there is none.
func encodeQR(address, hash string) (*qr.Code, error) {
	text := "sha256:" + hash
	if address != "" {
		u, err := url.Parse(address)
		switch {
		case err != nil:
			return nil, err
		case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
			return nil, fmt.Errorf(
				"%q is no address of a page; it must begin with https:// or http://",
				report.CleanName(address),
			)
		case len(address) > maxURL:
			return nil, fmt.Errorf("the address has %d characters, a QR code on paper holds %d", len(address), maxURL)
		case slices.ContainsFunc([]byte(address), func(c byte) bool { return c <= ' ' || c >= 0x7F }):
			return nil, fmt.Errorf("%q holds characters that must be percent-encoded in an address",
				report.CleanName(address))
		}
		text = address
	}
	return qr.Encode(text, qr.M)
}

// openDocument begins the document. Its dates are the receipt's, and nothing in it is random.
func (p *paper) openDocument(minted time.Time) {
	f := fpdf.New("P", "mm", "A4", "")
	f.SetCatalogSort(true)
	f.SetCreationDate(minted)
	f.SetModificationDate(minted)
	f.SetProducer("referee", true)
	f.SetTitle(p.at.titleOf(p.r.ID), true)
	f.SetSubject("SHA-256 "+p.hash, true)
	f.SetLang("en")
	f.SetMargins(0, 0, 0)
	f.SetAutoPageBreak(false, 0)
	p.f = f
	p.beginPage()
}

// setFont changes to a font, which is embedded when it is first needed.
func (p *paper) setFont(s style) {
	a := faces[s.face]
	if !p.have[s.face] {
		// A copy: while it cuts a font, the library writes into it.
		p.f.AddUTF8FontFromBytes(a.family, a.style, slices.Clone(a.ttf))
		p.have[s.face] = true
	}
	p.f.SetFont(a.family, a.style, s.size)
	p.f.SetTextColor(s.color[0], s.color[1], s.color[2])
	p.font = s
}

// beginPage begins a page.
func (p *paper) beginPage() {
	p.f.AddPage()
	p.font = style{}
	p.y = marginTop
}

// needHeight begins a page if the height is not free on this one.
func (p *paper) needHeight(height float64) {
	if p.y+height > marginEnd {
		p.beginPage()
	}
}

// framePages puts a header and a footer on every page, now that their number is known.
func (p *paper) framePages() {
	n := p.f.PageCount()
	small := style{size: 7.5, color: grey}
	code := style{face: mono, size: 7, color: grey}
	for i := 1; i <= n; i++ {
		p.f.SetPage(i)
		p.font = style{}
		if i > 1 {
			p.setText(marginSide, 15, style{face: bold, size: 7.5, color: grey}, paperTitles[p.r.Schema])
			p.setTextRight(pageWidth-marginSide, 15, style{face: bold, size: 7.5, color: black},
				strings.ToUpper(p.bandText().title))
			p.ruleLine(17.5, light)
		}
		p.ruleLine(281, light)
		p.setText(marginSide, 286, code, "sha256 "+p.hash)
		p.setTextRight(pageWidth-marginSide, 286, small, fmt.Sprintf("%s   page %d of %d", p.r.ID, i, n))
		p.stampNotVerified()
	}
}

// drawCode is the QR code, size millimetres wide.
func (p *paper) drawCode(code *qr.Code, x, y, size float64) {
	unit := size / float64(code.Size)
	p.setFill(black)
	for row := range code.Size {
		for col := 0; col < code.Size; col++ {
			from := col
			for col < code.Size && code.Black(col, row) {
				col++
			}
			if col > from {
				p.f.Rect(x+float64(from)*unit, y+float64(row)*unit, float64(col-from)*unit, unit, "F")
			}
		}
	}
	if p.url != "" {
		p.f.LinkString(x, y, size, size, p.url)
	}
}
