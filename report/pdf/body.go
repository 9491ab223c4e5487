package pdf

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// body is all that follows the front: decision, chain, work, audit, and how to verify it.
func (p *paper) body() {
	p.decision()
	p.chain()
	p.cook()
	p.incident()
	p.work()
	p.rulebook()
	p.agent()
	p.checklist()
	p.stated()
	p.limits()
	p.accepted()
	p.findings()
	p.evidence()
	p.advisory()
	p.workflow()
	p.verify()
}

// said, hash, hashed and both make the values of pairs; what is empty gives none, so that its label is left out.
func said(text string) []span {
	if text == "" {
		return nil
	}
	return []span{{style: body, text: text}}
}

func hash(h string) []span {
	if h == "" {
		return nil
	}
	return []span{{style: digest, text: h}}
}

// named is a name with its hash below.
func named(text, h string) []span { return append(said(text), hash(h)...) }

// joined lists the parts that are not empty.
func joined(sep string, parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, report.CleanName(s))
		}
	}
	return strings.Join(out, sep)
}

// after puts a word before a text, unless that is empty.
func after(word, text string) string {
	if text == "" {
		return ""
	}
	return word + " " + text
}

func (p *paper) decision() {
	title := "Decision"
	if !p.at.sound() {
		title = "Decision that the file states, not confirmed"
	}
	if o := p.r.ObservedBy; o != nil {
		p.section("Observed, not signed", 10)
		p.pairs(
			pair{"Event", said(joined(", ", o.Event, after("by", o.Actor)))},
			pair{"When", said(date(o.At))},
			pair{"Commit", hash(o.SHA)},
		)
		return
	}
	a := p.r.Approval
	if a == nil {
		return
	}
	p.section(title, 10)
	id := ""
	if a.Approver.ID > 0 {
		id = fmt.Sprintf("account %d", a.Approver.ID)
	}
	review := "outside a forge"
	if a.Review.ID > 0 {
		review = fmt.Sprintf("review %d", a.Review.ID)
	}
	p.pairs(
		pair{"Decided by", []span{{style: strong, text: report.CleanName(a.Approver.Login)},
			{style: note, text: joined(", ", id, "permission "+a.Approver.Permission)}}},
		pair{"Decision", said(joined(", ", string(a.Decision), date(a.Review.SubmittedAt)))},
		pair{"Recorded as", said(review)},
		pair{"On commit", hash(a.Review.CommitSHA)},
		pair{"Text, SHA-256", hash(a.Review.BodySHA256)},
		pair{"Subject, SHA-256", hash(a.SubjectDigest)},
	)
}

func (p *paper) chain() {
	p.section("Place in the chain", 10)
	parent := hash(p.r.ParentHash)
	if p.r.Seq == 0 {
		parent = said("none: this is the first entry")
	}
	p.pairs(
		pair{"This receipt, SHA-256", hash(p.hash)},
		pair{"Entry", said(fmt.Sprintf("%d (%s before it)", p.r.Seq, legible.Count(p.r.Log.Count, "entry")))},
		pair{"Parent", parent},
		pair{"Tree before, root", hash(p.r.Log.Root)},
		pair{"Refers to", hash(p.r.RefersTo)},
		pair{"Sign-off key", hash(p.r.IdempotencyKey)},
		pair{"Published at", address(p.url)},
	)
}

func address(url string) []span {
	if url == "" {
		return nil
	}
	return []span{{style: style{face: mono, size: 7, color: black}, text: url}}
}

func (p *paper) work() {
	r := p.r
	p.section("Work", 10)
	repository := r.Repository.Name
	if r.Repository.ID > 0 {
		repository = fmt.Sprintf("%s (%d)", report.CleanName(repository), r.Repository.ID)
	}
	list := []pair{
		{"Repository", said(repository)},
		{"Run", said(joined("   ·   ", r.Run.ID, "lane "+r.Run.Lane, after("project", r.Run.Project)))},
		{
			"Submission",
			append(named(report.CleanName(r.Submission.Path), r.Submission.SHA256), gitBlob(r.Submission.GitBlob)...),
		},
	}
	if pr := r.PullRequest; pr != nil {
		list = append(list, pair{"Pull request", []span{{style: body, text: fmt.Sprint(pr.Number)},
			{style: digest, text: "head " + pr.HeadSHA}, {style: digest, text: "base " + pr.BaseSHA}}})
	}
	if r.Assignment != nil {
		list = append(list, pair{"Assignment", named(r.Assignment.Text, r.Assignment.SHA256)})
	}
	p.pairs(list...)
	if len(r.Sanitized) > 0 {
		p.paragraph(
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

func (p *paper) rulebook() {
	r := p.r
	p.section("Rulebook", 10)
	sheet := report.CleanName(r.FlightSheet.Slug) + " " + report.CleanName(r.FlightSheet.Version)
	list := []pair{{"Flight sheet", named(sheet, r.FlightSheet.SHA256)}}
	if r.Engine != nil {
		list = append(list,
			pair{"Engine", append(said("referee "+report.CleanName(r.Engine.Version)+fmt.Sprintf(", semantics %d",
				r.Semantics)),
				span{style: digest, text: "rules " + r.Engine.RegistrySHA256})},
			pair{"Report, SHA-256", hash(r.ReportDigest)})
	}
	if v := r.Verdict; v != nil {
		list = append(list, pair{"Score", said(joined(", ", v.Score+" of 100", after("as a fraction", v.ScoreFraction),
			after("decided", v.ScoreDecided), after("coverage", v.Coverage), after("weighted", v.WeightedScore)))})
		if len(v.UndecidedHigh) > 0 {
			list = append(list, pair{"Undecided high rules", said(report.CleanNames(v.UndecidedHigh, 20))})
		}
	}
	p.pairs(list...)
}

func (p *paper) agent() {
	a := p.r.Agent
	if a == nil {
		return
	}
	p.section("Agent", 10)
	source := "declared by the run itself"
	if a.Pinned {
		source = "pinned by the repository's configuration"
	}
	p.pairs(
		pair{
			"Name",
			[]span{{style: body, text: joined("   ·   ", a.Name, a.Model, a.Provider)}, {style: note, text: source}},
		},
		pair{
			"Runs in",
			said(joined(", ", after("harness", a.Harness), after("runtime", a.Runtime),
				after("tier", a.CapabilityTier))),
		},
		pair{"Size", said(joined(", ", unit(a.ParamsB, "billion parameters"),
			unit(a.ContextTokens, "tokens of context"),
			unit(a.VRAMGB, "GB of memory")))},
		pair{"Tools", said(report.CleanNames(a.Tools, 30))},
		pair{"Modalities", said(report.CleanNames(a.Modalities, 30))},
		pair{"Prior confidence", said(a.ConfidencePrior)},
		pair{"Cost, as declared", said(unit(a.CostUSD, "USD"))},
	)
}

// unit puts a unit behind a number, unless there is none.
func unit(number, of string) string {
	if number == "" {
		return ""
	}
	return number + " " + of
}

func (p *paper) cook() {
	c := p.r.Cook
	if c == nil {
		return
	}
	p.section("Training run", 10)
	p.pairs(
		pair{"Lift", []span{{style: strong, text: fmt.Sprintf("%s   (from %s to %s)", c.Lift, c.EvalBefore,
			c.EvalAfter)}}},
		pair{"Receipt before", hash(c.Before)},
		pair{"Receipt after", hash(c.After)},
		pair{"Base model", said(report.CleanName(c.BaseModel))},
		pair{"Data set", said(fmt.Sprintf("%s, %d pairs", report.CleanName(c.Dataset), c.Pairs))},
		pair{"Run by", said(joined(", ", c.Runner, unit(c.ComputeUSD, "USD")))},
	)
}

func (p *paper) incident() {
	i := p.r.Incident
	if i == nil {
		return
	}
	p.section("Incident", 10)
	var receipts []span
	for _, h := range i.Receipts {
		receipts = append(receipts, span{style: digest, text: h})
	}
	p.pairs(
		pair{"What", []span{{style: strong, text: i.Title}}},
		pair{"Tier", []span{{style: body, mark: i.Tier}}},
		pair{"Incident", said(joined(", ", i.ID, words(i.Kind), "lane "+i.Lane))},
		pair{"Status", said(joined(", ", i.Status, "opened "+date(i.OpenedAt)))},
		pair{"Detail", said(i.Detail)},
		pair{"Response", said(words(strings.Join(i.Response, ", ")))},
		pair{"Shown by receipts", receipts},
	)
}

// words is a name of the format as words.
func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

func (p *paper) workflow() {
	w := p.r.Workflow
	if w == nil {
		return
	}
	p.section("Written by", 10)
	p.pairs(
		pair{"Workflow", said(fmt.Sprintf("run %d, attempt %d, on %s", w.RunID, w.RunAttempt,
			report.CleanName(w.Event)))},
		pair{"Of", append(said(report.CleanName(w.Ref)), hash(w.SHA)...)},
	)
}

// VerifyCommand is the command that checks a receipt by its hash: in a clone or a work tree of the repository it
// verifies the ledger and finds the receipt in it, and in a folder that holds the receipt's file alone it checks the
// file. It is what papers print.
func VerifyCommand(hash string) string { return "referee receipt verify " + hash }

// verify says how anybody checks the paper, and what that cannot show.
func (p *paper) verify() {
	p.section("How to verify this receipt", 38)
	repository := report.CleanName(p.r.Repository.Name)
	p.paragraph(body, "In a clone or a work tree of "+repository+", this verifies the whole ledger and finds the "+
		"receipt "+
		"in it. In a folder with the receipt's file alone, it checks the bytes and the form, and says that no "+
		"ledger was "+
		"seen.")
	p.y += 0.4
	p.command(VerifyCommand(p.hash))
	p.y += 1.5
	file := ledger.Place{Class: ledger.EntryFile, Seq: p.r.Seq, Hash: p.hash}.String()
	p.paragraph(note, "The receipt is the file "+file+" on the ledger's branch; its SHA-256, by any tool, is the "+
		"one on "+
		"this paper, which is a rendering of it. The page verify.html on that branch checks it in a browser. An audit "+
		"re-derives what it is given; it catches slips, not a wrong set-up, and no severity means that the work "+
		"is right.")
}

// command sets a line to be typed.
func (p *paper) command(text string) {
	s := style{face: mono, size: 7.2, color: black}
	lines := p.rows([]span{{style: s, text: text}}, textWidth-6)
	height := tall(lines) + 2
	p.need(height)
	p.fill(pale)
	p.f.Rect(marginSide, p.y, textWidth, height, "F")
	p.put(marginSide+3, p.y+1, lines)
	p.y += height + 1.8
}
