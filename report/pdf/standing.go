package pdf

import (
	"math"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// Standing is what is known of a receipt beyond its own bytes. The zero value is the least: nobody looked for it in a
// ledger, and its paper says so.
type Standing struct {
	InLedger bool     // a ledger was verified for reading, and holds these bytes in their place
	Fails    []string // why the receipt does not verify; with one, nothing else counts
	Later    []string // what later entries of the ledger say of it
}

// isSound reports whether a paper may say of a receipt what the receipt says of itself.
func (s Standing) isSound() bool { return s.InLedger && len(s.Fails) == 0 }

// titleOf is the title of the document.
func (s Standing) titleOf(id string) string {
	switch {
	case len(s.Fails) > 0:
		return "NOT VERIFIED: receipt " + id
	case !s.InLedger:
		return "Not checked against a ledger: receipt " + id
	}
	return "Receipt " + id
}

// bandText is what the paper calls the entry, and what it says of it.
func (p *paper) bandText() kindText {
	says := "The file calls itself \"" + string(p.r.Kind) + "\". "
	switch {
	case len(p.at.Fails) > 0:
		return kindText{"Not verified", says + "It does not verify: nobody may rely on it.", true}
	case !p.at.InLedger:
		return kindText{"Not checked", says + "Its bytes agree with themselves. Whether anybody decided so was not " +
			"seen: " +
			"anybody can write such a file.", true}
	}
	k := p.kindOf()
	k.void = k.void || len(p.at.Later) > 0
	return k
}

// maxReasons is how many reasons the front of a paper lists.
const maxReasons = 6

// bandLines are what the band says in bold.
func (s Standing) bandLines(r *ledger.Receipt, hash string) []string {
	switch {
	case len(s.Fails) > 0:
		return s.Fails[:min(len(s.Fails), maxReasons)]
	case !s.InLedger:
		return []string{
			"Not checked against a ledger: run " + VerifyCommand(hash) + " in a clone of " +
				report.CleanName(r.Repository.Name),
		}
	}
	return s.Later[:min(len(s.Later), maxReasons)]
}

// The stamp is a line of large letters from the lower left to the upper right. It is nearly clear, so that what is
// below can still be read.
const (
	stampText  = "NOT VERIFIED"
	stampSize  = 76.0
	stampAngle = 52.0
	stampAlpha = 0.34
)

// stampNotVerified puts NOT VERIFIED across the page, if the receipt is not.
func (p *paper) stampNotVerified() {
	if len(p.at.Fails) == 0 {
		return
	}
	ink := style{face: bold, size: stampSize, color: rust}
	sin, cos := math.Sincos(stampAngle * math.Pi / 180)
	half := p.textWidthIn(ink.face, ink.size, stampText) / 2
	x, y := pageWidth/2-half*cos, pageHeight/2+half*sin
	p.f.SetAlpha(stampAlpha, "Normal")
	p.f.TransformBegin()
	p.f.TransformRotate(stampAngle, x, y)
	p.setText(x, y, ink, stampText)
	p.f.TransformEnd()
	p.f.SetAlpha(1, "Normal")
}

// fitText makes a text smaller until it fits a width.
func (p *paper) fitText(s style, text string, width float64) style {
	for s.size > 6 && p.textWidthIn(s.face, s.size, text) > width {
		s.size--
	}
	return s
}
