package pdf

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
	"github.com/go-pdf/fpdf"
)

// kindText is what a kind of entry is called, and what it says.
type kindText struct {
	title, says string
	void        bool // says that nobody may rely on something
}

// kinds has every kind of entry (TestKindsAreNamed).
var kinds = map[ledger.Kind]kindText{
	ledger.Approved: {"Approved", "A human looked at the audit of these bytes and signed them off.", false},
	ledger.Carried: {
		"Carried over",
		"The same bytes after a rebase. The approval is the one of the receipt that this entry refers to.",
		false,
	},
	ledger.Amended: {
		"Amended",
		"The review that approved was edited afterwards. Nobody may rely on the receipt that this entry refers to.",
		true,
	},
	ledger.Revoked: {
		"Revoked",
		"The approval was withdrawn. Nobody may rely on the receipt that this entry refers to.",
		true,
	},
	ledger.Rejected: {
		"Rejected",
		"A human looked at the audit of these bytes and said no. They are not signed off.",
		true,
	},
	ledger.Superseded: {
		"Superseded",
		"Other bytes took the place of these. The receipt that this entry refers to is about bytes that nobody " +
			"proposes " +
			"any more.",
		true,
	},
	ledger.Withdrawn: {"Withdrawn", "The proposal was closed without a merge.", true},
	ledger.Merged:    {"Merged", "The bytes that the receipt refers to, signed off before, were merged.", false},
	ledger.Unreceipted: {
		"Unreceipted",
		"These bytes are on the base branch, and no human's approval is known for them.",
		true,
	},
}

func (p *paper) kindOf() kindText { return kinds[p.r.Kind] }

// paperTitles are what receipts of a schema are called.
var paperTitles = map[string]string{
	ledger.EvalSchema:     "RECEIPT OF AN AUDIT",
	ledger.CookSchema:     "RECEIPT OF A TRAINING RUN",
	ledger.IncidentSchema: "RECEIPT OF AN INCIDENT",
}

// codeSize is the width of the QR code.
const codeSize = 29.0

// writeFront is the head of the first page: what this is, and what it says in one look.
func (p *paper) writeFront() {
	p.setFill(black)
	p.f.Rect(marginSide, 15, textWidth, 0.9, "F")
	p.setText(marginSide, 23, style{face: bold, size: 8.5, color: grey}, paperTitles[p.r.Schema])
	p.setText(marginSide, 33.5, style{face: bold, size: 23, color: black}, p.r.ID)
	p.y = 38
	width := textWidth - codeSize - 8
	lines := p.wrapSpans([]span{
		{style: style{size: 10, color: black}, text: strings.Join(p.workNames(), "   ·   ")},
		{
			style: style{size: 9, color: grey},
			text:  "Minted " + dateInWords(p.r.MintedAt) + ", entry " + fmt.Sprint(p.r.Seq) + " of its ledger",
		},
	}, width)
	p.drawRows(marginSide, p.y, lines)
	x := pageWidth - marginSide - codeSize
	p.drawCode(p.code, x, 19.5, codeSize)
	caption := "this receipt's page"
	if p.url == "" {
		caption = "this receipt's hash"
	}
	p.setTextRight(pageWidth-marginSide, 52, style{size: 6.6, color: grey}, caption)
	p.y = max(p.y+linesHeight(lines), 53) + 3
	p.drawStatusBand()
	p.drawVerdict()
}

// workNames names the work on the front page.
func (p *paper) workNames() []string {
	parts := []string{p.r.Repository.Name}
	if p.r.PullRequest != nil {
		parts = append(parts, fmt.Sprintf("pull request %d", p.r.PullRequest.Number))
	}
	parts = append(parts, "run "+p.r.Run.ID)
	for i := range parts {
		parts[i] = report.CleanName(parts[i])
	}
	return parts
}

// dateInWords is a time of a receipt as people write it.
func dateInWords(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return t.Format("2 January 2006, 15:04:05 UTC")
}

// drawStatusBand is the band that says what kind of entry this is; one that takes something back is framed.
func (p *paper) drawStatusBand() {
	k := p.bandText()
	spans := []span{{style: body, text: k.says}}
	for _, line := range p.at.bandLines(p.r, p.hash) {
		spans = append(spans, span{style: strong, text: line})
	}
	if p.r.SelfSigned {
		spans = append(spans, span{
			style: strong,
			text:  "Self-signed: an administrator signed this off alone, without a review by another person.",
		})
	}
	if p.r.Approval != nil && p.r.Approval.Approver.Permission == "local" {
		spans = append(
			spans,
			span{style: body, text: "Signed off on a computer of the signer's own: no forge confirms who the " +
				"signer is."},
		)
	}
	title := style{face: bold, size: 15, color: black}
	left := 5 + p.textWidthIn(title.face, title.size, strings.ToUpper(k.title)) + 7
	lines := p.wrapSpans(spans, textWidth-left-5)
	height := max(linesHeight(lines), 7) + 5
	if k.void {
		p.setStroke(black, 0.9)
		p.f.Rect(marginSide+0.45, p.y+0.45, textWidth-0.9, height-0.9, "D")
	} else {
		p.setFill(pale)
		p.f.Rect(marginSide, p.y, textWidth, height, "F")
	}
	p.setText(marginSide+5, p.y+height/2+1.9, title, strings.ToUpper(k.title))
	p.drawRows(marginSide+left, p.y+(height-linesHeight(lines))/2, lines)
	p.y += height + 3
}

// grade is how a severity looks and what it means.
type grade struct {
	color color
	says  string
}

var grades = map[string]grade{
	"honey":    {gold, "No rule is flagged, every question is answered, and a human signed it off."},
	"jelly":    {plum, "There are findings, none of them high or critical."},
	"propolis": {rust, "At least one finding is high or critical."},
	"unsigned": {silver, "No rule is flagged, and nobody has signed it off."},
}

// drawVerdict is the panel with the severity as a word, a colour and a sign that also tells on grey paper, and the
// numbers.
func (p *paper) drawVerdict() {
	v := p.r.Verdict
	if v == nil {
		return
	}
	const height = 27.0
	g, word, sign := grades[v.Severity], v.Severity, v.Severity
	if !p.at.isSound() {
		g, word, sign = grade{silver, "What the file says, and nobody has confirmed."}, "says "+v.Severity, ""
	}
	p.setStroke(light, 0.3)
	p.f.Rect(marginSide, p.y, textWidth, height, "D")
	p.setFill(g.color)
	p.f.Rect(marginSide, p.y, 2.2, height, "F")
	p.drawComb(marginSide+14, p.y+height/2, 8, sign)
	shown := strings.ToUpper(p.fitForPaper(word))
	p.setText(marginSide+26, p.y+11, p.fitText(style{face: bold, size: 19, color: black}, shown, 66), shown)
	p.drawRows(marginSide+26, p.y+14.5, p.wrapSpans([]span{{style: style{size: 8.4, color: black}, text: g.says}}, 62))
	p.drawFigures(marginSide+96, p.y)
	p.y += height
}

// drawFigures are the verdict's figures, in a grid beside the word.
func (p *paper) drawFigures(x, y float64) {
	v := p.r.Verdict
	cells := [][2]string{
		{p.fitForPaper(v.Score), "score of 100"},
		{fmt.Sprintf("%d of %d", v.Counts.Satisfied, v.Counts.Declared), "rules satisfied"},
		{fmt.Sprintf("%d · %d · %d", v.Risk.High, v.Risk.Mid, v.Risk.Low), "high · mid · low"},
		{fmt.Sprint(v.Counts.Flagged), "rules flagged"},
		{fmt.Sprintf("%d · %d", v.Counts.Skipped, v.Counts.Open), "skipped · open"},
		{p.fitForPaper(v.RecommendedAction), "recommended"},
	}
	for i, c := range cells {
		cx, cy := x+float64(i%3)*26, y+float64(i/3)*12.5
		p.setText(cx, cy+7.5, style{face: bold, size: 11, color: black}, report.CleanStart(c[0], 14))
		p.setText(cx, cy+11, style{size: 7.2, color: grey}, c[1])
	}
}

// drawComb is the sign of a severity, a cell of a honeycomb: full for honey, half full for jelly, barred for propolis,
// empty for what nobody signed.
func (p *paper) drawComb(x, y, radius float64, severity string) {
	g, ok := grades[severity]
	if !ok {
		g = grade{color: silver}
	}
	p.setStroke(g.color, 0.9)
	p.setFill(g.color)
	switch severity {
	case "honey":
		p.f.Polygon(hexagonPoints(x, y, radius), "FD")
	case "jelly":
		h := hexagonPoints(x, y, radius)
		p.f.Polygon([]fpdf.PointType{{X: h[5].X, Y: y}, {X: h[1].X, Y: y}, h[2], h[3], h[4]}, "F")
		p.f.Polygon(h, "D")
	case "propolis":
		p.f.Polygon(hexagonPoints(x, y, radius), "FD")
		p.setStroke(white, 1.5)
		d := radius * 0.42
		p.f.Line(x-d, y-d, x+d, y+d)
		p.f.Line(x-d, y+d, x+d, y-d)
	default:
		p.f.Polygon(hexagonPoints(x, y, radius), "D")
	}
}

// hexagonPoints has its points above and below; the first is the upper one, the others follow clockwise.
func hexagonPoints(x, y, radius float64) []fpdf.PointType {
	points := make([]fpdf.PointType, 6)
	for i := range points {
		sin, cos := math.Sincos(float64(i) * math.Pi / 3)
		points[i] = fpdf.PointType{X: x + radius*sin, Y: y - radius*cos}
	}
	return points
}

// drawTierSign is a tier as a word in a box: full, half and empty.
func (p *paper) drawTierSign(x, y float64, tier string) {
	const width, height = 11.0, 3.9
	text := style{face: bold, size: 7, color: white}
	switch tier {
	case "high":
		p.setFill(rust)
		p.f.Rect(x, y+0.1, width, height, "F")
	case "mid":
		p.setFill(light)
		p.f.Rect(x, y+0.1, width, height, "F")
		text.color = black
	default:
		p.setStroke(silver, 0.3)
		p.f.Rect(x+0.15, y+0.25, width-0.3, height-0.3, "D")
		text.color = black
	}
	word := strings.ToUpper(p.fitForPaper(tier))
	p.setText(x+(width-p.textWidthIn(bold, text.size, word))/2, y+3, text, word)
}
