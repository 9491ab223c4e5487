package pdf

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// writeBody is all that follows the front: decision, chain, work, audit, and how to verify it.
func (p *paper) writeBody() {
	p.writeDecision()
	p.writeChain()
	p.writeCook()
	p.writeIncident()
	p.writeWork()
	p.writeRulebook()
	p.writeAgent()
	p.writeChecklist()
	p.writeStated()
	p.writeLimits()
	p.writeAccepted()
	p.writeFindings()
	p.writeEvidence()
	p.writeAdvisory()
	p.writeWorkflow()
	p.writeHowToVerify()
}

// textSpans, hash, hashed and both make the values of pairs; what is empty gives none, so that its label is left out.
func textSpans(text string) []span {
	if text == "" {
		return nil
	}
	return []span{{style: body, text: text}}
}

func hashSpans(h string) []span {
	if h == "" {
		return nil
	}
	return []span{{style: digest, text: h}}
}

// namedSpans is a name with its hash below.
func namedSpans(text, h string) []span { return append(textSpans(text), hashSpans(h)...) }

// joinParts lists the parts that are not empty.
func joinParts(sep string, parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, report.CleanName(s))
		}
	}
	return strings.Join(out, sep)
}

// afterWord puts a word before a text, unless that is empty.
func afterWord(word, text string) string {
	if text == "" {
		return ""
	}
	return word + " " + text
}

func (p *paper) writeDecision() {
	title := "Decision"
	if !p.at.isSound() {
		title = "Decision that the file states, not confirmed"
	}
	if o := p.r.ObservedBy; o != nil {
		p.beginSection("Observed, not signed", 10)
		p.setPairs(
			pair{"Event", textSpans(joinParts(", ", o.Event, afterWord("by", o.Actor)))},
			pair{"When", textSpans(dateInWords(o.At))},
			pair{"Commit", hashSpans(o.SHA)},
		)
		return
	}
	a := p.r.Approval
	if a == nil {
		return
	}
	p.beginSection(title, 10)
	id := ""
	if a.Approver.ID > 0 {
		id = fmt.Sprintf("account %d", a.Approver.ID)
	}
	review := "outside a forge"
	if a.Review.ID > 0 {
		review = fmt.Sprintf("review %d", a.Review.ID)
	}
	p.setPairs(
		pair{"Decided by", []span{{style: strong, text: report.CleanName(a.Approver.Login)},
			{style: note, text: joinParts(", ", id, "permission "+a.Approver.Permission)}}},
		pair{"Decision", textSpans(joinParts(", ", string(a.Decision), dateInWords(a.Review.SubmittedAt)))},
		pair{"Recorded as", textSpans(review)},
		pair{"On commit", hashSpans(a.Review.CommitSHA)},
		pair{"Text, SHA-256", hashSpans(a.Review.BodySHA256)},
		pair{"Subject, SHA-256", hashSpans(a.SubjectDigest)},
	)
}

func (p *paper) writeChain() {
	p.beginSection("Place in the chain", 10)
	parent := hashSpans(p.r.ParentHash)
	if p.r.Seq == 0 {
		parent = textSpans("none: this is the first entry")
	}
	p.setPairs(
		pair{"This receipt, SHA-256", hashSpans(p.hash)},
		pair{"Entry", textSpans(fmt.Sprintf("%d (%s before it)", p.r.Seq, legible.Count(p.r.Log.Count, "entry")))},
		pair{"Parent", parent},
		pair{"Tree before, root", hashSpans(p.r.Log.Root)},
		pair{"Refers to", hashSpans(p.r.RefersTo)},
		pair{"Sign-off key", hashSpans(p.r.IdempotencyKey)},
		pair{"Published at", addressSpans(p.url)},
	)
}

func addressSpans(url string) []span {
	if url == "" {
		return nil
	}
	return []span{{style: style{face: mono, size: 7, color: black}, text: url}}
}

func (p *paper) writeWork() {
	r := p.r
	p.beginSection("Work", 10)
	repository := r.Repository.Name
	if r.Repository.ID > 0 {
		repository = fmt.Sprintf("%s (%d)", report.CleanName(repository), r.Repository.ID)
	}
	list := []pair{
		{"Repository", textSpans(repository)},
		{"Run", textSpans(joinParts("   ·   ", r.Run.ID, "lane "+r.Run.Lane, afterWord("project", r.Run.Project)))},
		{
			"Submission",
			append(namedSpans(report.CleanName(r.Submission.Path), r.Submission.SHA256),
				gitBlob(r.Submission.GitBlob)...),
		},
	}
	if pr := r.PullRequest; pr != nil {
		list = append(list, pair{"Pull request", []span{{style: body, text: fmt.Sprint(pr.Number)},
			{style: digest, text: "head " + pr.HeadSHA}, {style: digest, text: "base " + pr.BaseSHA}}})
	}
	if r.Assignment != nil {
		list = append(list, pair{"Assignment", namedSpans(r.Assignment.Text, r.Assignment.SHA256)})
	}
	p.setPairs(list...)
	if len(r.Sanitized) > 0 {
		p.setParagraph(
			note,
			"Characters that could mislead a reader were replaced visibly at "+report.CleanNames(r.Sanitized, 8)+".",
		)
	}
}

func gitBlob(id string) []span {
	if id == "" {
		return nil
	}
	return []span{{style: digest, text: "git blob " + id}}
}

func (p *paper) writeRulebook() {
	r := p.r
	p.beginSection("Rulebook", 10)
	sheet := report.CleanName(r.FlightSheet.Slug) + " " + report.CleanName(r.FlightSheet.Version)
	list := []pair{{"Flight sheet", namedSpans(sheet, r.FlightSheet.SHA256)}}
	if r.Engine != nil {
		list = append(list,
			pair{"Engine", append(textSpans("referee "+report.CleanName(r.Engine.Version)+fmt.Sprintf(", semantics %d",
				r.Semantics)),
				span{style: digest, text: "rules " + r.Engine.RegistrySHA256})},
			pair{"Report, SHA-256", hashSpans(r.ReportDigest)})
	}
	if v := r.Verdict; v != nil {
		list = append(list, pair{"Score", textSpans(joinParts(", ", v.Score+" of 100", afterWord("as a fraction",
			v.ScoreFraction),
			afterWord("decided", v.ScoreDecided), afterWord("coverage", v.Coverage), afterWord("weighted",
				v.WeightedScore)))})
		if len(v.UndecidedHigh) > 0 {
			list = append(list, pair{"Undecided high rules", textSpans(report.CleanNames(v.UndecidedHigh, 20))})
		}
	}
	p.setPairs(list...)
}

func (p *paper) writeAgent() {
	a := p.r.Agent
	if a == nil {
		return
	}
	p.beginSection("Agent", 10)
	source := "declared by the run itself"
	if a.Pinned {
		source = "pinned by the repository's configuration"
	}
	p.setPairs(
		pair{
			"Name",
			[]span{{style: body, text: joinParts("   ·   ", a.Name, a.Model, a.Provider)}, {style: note, text: source}},
		},
		pair{
			"Runs in",
			textSpans(joinParts(", ", afterWord("harness", a.Harness), afterWord("runtime", a.Runtime),
				afterWord("tier", a.CapabilityTier))),
		},
		pair{"Size", textSpans(joinParts(", ", withUnit(a.ParamsB, "billion parameters"),
			withUnit(a.ContextTokens, "tokens of context"),
			withUnit(a.VRAMGB, "GB of memory")))},
		pair{"Tools", textSpans(report.CleanNames(a.Tools, 30))},
		pair{"Modalities", textSpans(report.CleanNames(a.Modalities, 30))},
		pair{"Prior confidence", textSpans(a.ConfidencePrior)},
		pair{"Temperature", textSpans(a.Temperature)},
		pair{"Cost, as declared", textSpans(withUnit(a.CostUSD, "USD"))},
	)
}

// withUnit puts a unit behind a number, unless there is none.
func withUnit(number, of string) string {
	if number == "" {
		return ""
	}
	return number + " " + of
}

func (p *paper) writeCook() {
	c := p.r.Cook
	if c == nil {
		return
	}
	p.beginSection("Training run", 10)
	p.setPairs(
		pair{"Lift", []span{{style: strong, text: fmt.Sprintf("%s   (from %s to %s)", c.Lift, c.EvalBefore,
			c.EvalAfter)}}},
		pair{"Receipt before", hashSpans(c.Before)},
		pair{"Receipt after", hashSpans(c.After)},
		pair{"Base model", textSpans(report.CleanName(c.BaseModel))},
		pair{"Tuned model", textSpans(report.CleanName(c.TunedModel))},
		pair{"Data set", textSpans(fmt.Sprintf("%s, %d pairs", report.CleanName(c.Dataset), c.Pairs))},
		pair{"Run by", textSpans(joinParts(", ", c.Runner, withUnit(c.ComputeUSD, "USD")))},
	)
}

func (p *paper) writeIncident() {
	i := p.r.Incident
	if i == nil {
		return
	}
	p.beginSection("Incident", 10)
	var receipts []span
	for _, h := range i.Receipts {
		receipts = append(receipts, span{style: digest, text: h})
	}
	p.setPairs(
		pair{"What", []span{{style: strong, text: i.Title}}},
		pair{"Tier", []span{{style: body, mark: i.Tier}}},
		pair{"Incident", textSpans(joinParts(", ", i.ID, wordsOf(i.Kind), "lane "+i.Lane))},
		pair{"Status", textSpans(joinParts(", ", i.Status, "opened "+dateInWords(i.OpenedAt)))},
		pair{"Detail", textSpans(i.Detail)},
		pair{"Response", textSpans(wordsOf(strings.Join(i.Response, ", ")))},
		pair{"Shown by receipts", receipts},
	)
}

// wordsOf is a name of the format as words.
func wordsOf(s string) string { return strings.ReplaceAll(s, "_", " ") }

func (p *paper) writeWorkflow() {
	w := p.r.Workflow
	if w == nil {
		return
	}
	p.beginSection("Written by", 10)
	p.setPairs(
		pair{"Workflow", textSpans(fmt.Sprintf("run %d, attempt %d, on %s", w.RunID, w.RunAttempt,
			report.CleanName(w.Event)))},
		pair{"Of", append(textSpans(report.CleanName(w.Ref)), hashSpans(w.SHA)...)},
	)
}

// VerifyCommand is the command that checks a receipt by its hash: in a clone or a work tree of the repository it
// verifies the ledger and finds the receipt in it, and in a folder that holds the receipt's file alone it checks the
// file. It is what papers print.
func VerifyCommand(hash string) string { return "referee receipt verify " + hash }

// writeHowToVerify says how anybody checks the paper, and what that cannot show.
func (p *paper) writeHowToVerify() {
	p.beginSection("How to verify this receipt", 38)
	repository := report.CleanName(p.r.Repository.Name)
	p.setParagraph(body, "In a clone or a work tree of "+repository+", this verifies the whole ledger and finds the "+
		"receipt "+
		"in it. In a folder with the receipt's file alone, it checks the bytes and the form, and says that no "+
		"ledger was "+
		"seen.")
	p.y += 0.4
	p.setCommand(VerifyCommand(p.hash))
	p.y += 1.5
	file := ledger.Place{Class: ledger.EntryFile, Seq: p.r.Seq, Hash: p.hash}.String()
	p.setParagraph(note, "The receipt is the file "+file+" on the ledger's branch; its SHA-256, by any tool, is the "+
		"one on "+
		"this paper, which is a rendering of it. The page verify.html on that branch checks it in a browser. An audit "+
		"re-derives what it is given; it catches slips, not a wrong set-up, and no severity means that the work "+
		"is right.")
}

// setCommand sets a line to be typed.
func (p *paper) setCommand(text string) {
	s := style{face: mono, size: 7.2, color: black}
	lines := p.wrapSpans([]span{{style: s, text: text}}, textWidth-6)
	height := linesHeight(lines) + 2
	p.needHeight(height)
	p.setFill(pale)
	p.f.Rect(marginSide, p.y, textWidth, height, "F")
	p.drawRows(marginSide+3, p.y+1, lines)
	p.y += height + 1.8
}
