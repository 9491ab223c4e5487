package main

import (
	"fmt"
	"strings"

	"github.com/defendableos/referee/ledger"
)

// receiptColumn is where the values of a receipt begin; a hash of 64 digits ends within 80 columns.
const receiptColumn = 14

// receiptLines says what a sign-off left in the ledger.
func receiptLines(e *ledger.Entry, where string, again bool) string {
	p := &page{}
	p.line("")
	p.line("receipt %d  %s", e.Receipt.Seq, e.Receipt.ID)
	if again {
		p.writeEntry("again", receiptColumn, "this sign-off was already in the ledger; nothing was written")
	}
	p.writeEntry("run", receiptColumn,
		e.Receipt.Run.ID+" by "+e.Receipt.FlightSheet.Slug+"@"+e.Receipt.FlightSheet.Version)
	p.writeEntry("verdict", receiptColumn, verdictText(e.Receipt))
	p.writeEntry(string(e.Receipt.Kind), receiptColumn, signedText(e.Receipt))
	p.writeEntry("sha256", receiptColumn, e.Hash)
	p.writeEntry("kept in", receiptColumn, where)
	return p.b.String()
}

// verdictText is a receipt's verdict in a few words.
func verdictText(r *ledger.Receipt) string {
	if r.Verdict == nil {
		return "no audit in this entry"
	}
	v := r.Verdict
	return fmt.Sprintf("%s, score %s; %d high, %d mid, %d low", v.Severity, v.Score, v.Risk.High, v.Risk.Mid,
		v.Risk.Low)
}

// signedText says who decided, or what event made the entry.
func signedText(r *ledger.Receipt) string {
	if r.Approval == nil && r.ObservedBy == nil {
		return "nobody" // in a receipt that does not verify
	}
	if r.Approval == nil {
		return r.ObservedBy.Event + " at " + r.ObservedBy.At
	}
	by := r.Approval.Approver
	text := fmt.Sprintf("by %s (%s) at %s", by.Login, by.Permission, r.MintedAt)
	if r.SelfSigned {
		text += ", self-signed"
	}
	return text
}

// receiptPage is a receipt for people with what is known of it. What was held to no ledger, or does not verify, says
// so before and after everything else, and nowhere names a decision as one that was taken.
func receiptPage(h *held) string {
	p := &page{}
	stamp, kind := "", string(h.Receipt.Kind)
	switch {
	case len(h.standing.Fails) > 0:
		stamp, kind = "NOT VERIFIED", "says "+kind
		p.line("%s", stamp)
		for _, why := range h.standing.Fails {
			p.text("  - ", why)
		}
		p.line("")
	case h.isRightAlone():
		stamp, kind = h.uncheckedLine(), "says "+kind
		p.text("", stamp)
		p.line("")
	}
	for _, later := range h.standing.Later {
		p.text("", "TAKE NOTE: "+later)
	}
	writeReceipt(p, h, kind)
	if stamp != "" {
		p.line("")
		p.text("", stamp)
	}
	return p.b.String()
}

// writeReceipt writes a whole receipt. Kind is the word for what it states.
func writeReceipt(p *page, h *held, kind string) {
	r := h.Receipt
	p.line("receipt %d  %s  %s", r.Seq, r.ID, kind)
	checked := ""
	if h.standing.InLedger {
		checked = "in the ledger, " + h.where + ": its bytes, its place, its neighbours and the end of the chain"
	}
	for _, f := range [][2]string{
		{"sha256", h.Hash}, {"checked", checked}, {"parent", r.ParentHash},
		{"log", fmt.Sprintf("%s before it, root %.16s…", countEntries(r.Log.Count), r.Log.Root)},
		{"minted", r.MintedAt}, {"repository", r.Repository.Name}, {"pull request", pullText(r)},
		{"refers to", r.RefersTo},
		{"run", r.Run.ID + " (lane " + r.Run.Lane + ")"}, {"project", r.Run.Project}, {"agent", agentText(r.Agent)},
		{"sheet", r.FlightSheet.Slug + "@" + r.FlightSheet.Version}, {"", r.FlightSheet.SHA256},
		{"submission", r.Submission.Path}, {"", r.Submission.SHA256}, {"verdict", verdictText(r)},
		{kind, signedText(r)}, {"report", r.ReportDigest},
	} {
		if f[1] != "" {
			p.writeEntry(f[0], receiptColumn+2, f[1])
		}
	}
	printCookOrIncident(p, r)
	printLists(p, r)
}

func pullText(r *ledger.Receipt) string {
	if r.PullRequest == nil {
		return ""
	}
	return fmt.Sprintf("%d at %s", r.PullRequest.Number, r.PullRequest.HeadSHA)
}

func agentText(a *ledger.Agent) string {
	if a == nil {
		return ""
	}
	var parts []string
	for _, s := range []string{a.Name, a.Model, a.Provider, a.Harness} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if a.Pinned {
		parts = append(parts, "pinned by the configuration")
	}
	return strings.Join(parts, ", ")
}

// printCookOrIncident shows what a cook or an incident receipt holds.
func printCookOrIncident(p *page, r *ledger.Receipt) {
	if c := r.Cook; c != nil {
		p.beginSection("Cook")
		p.writeEntry("lift", receiptColumn+2, fmt.Sprintf("%s: %s before, %s after, %d pairs", c.Lift, c.EvalBefore,
			c.EvalAfter, c.Pairs))
		p.writeEntry("before", receiptColumn+2, c.Before)
		p.writeEntry("after", receiptColumn+2, c.After)
		p.writeEntry("model", receiptColumn+2, c.BaseModel+" on "+c.Dataset+", by "+c.Runner)
		p.writeLabelled(receiptColumn+2, "tuned model:", c.TunedModel)
	}
	if in := r.Incident; in != nil {
		p.beginSection("Incident")
		p.writeEntry(in.Kind, receiptColumn+2, in.Tier+", "+in.Status+", lane "+in.Lane+": "+in.Title)
		p.writeLabelled(receiptColumn+2, "", in.Detail)
		p.writeLabelled(receiptColumn+2, "response:", strings.Join(in.Response, ", "))
		for _, hash := range in.Receipts {
			p.writeLabelled(receiptColumn+2, "", hash)
		}
	}
}

// printLists shows the answers, waivers, findings and evidence.
func printLists(p *page, r *ledger.Receipt) {
	if len(r.Checklist) > 0 {
		p.beginSection("Checklist")
	}
	for _, c := range r.Checklist {
		p.writeEntry(c.ID, wide, strings.TrimSuffix(c.Answer+": "+c.Note, ": "))
	}
	if len(r.Stated) > 0 {
		p.beginSection("Figures from the agent alone, confirmed by the signer")
	}
	for _, f := range r.Stated {
		p.writeEntry(f.Name, wide, f.Value)
	}
	if len(r.Params) > 0 {
		p.beginSection("Limits in force")
	}
	for _, l := range r.Params {
		p.writeEntry(l.Name, wide, l.Value)
	}
	if len(r.Accepted) > 0 {
		p.beginSection("Accepted")
	}
	for _, w := range r.Accepted {
		p.writeEntry(w.RuleID, wide, w.Reason+" ("+w.By+")")
	}
	if r.FindingsTotal > 0 {
		p.beginSection(fmt.Sprintf("Findings (%d of %d)", len(r.Findings), r.FindingsTotal))
	}
	for _, f := range r.Findings {
		p.writeEntry(f.Tier, 8, f.Code+", "+f.Bucket)
		p.writeLabelled(8, "", f.Message)
	}
	if len(r.Evidence) > 0 {
		p.beginSection("Evidence")
	}
	for _, e := range r.Evidence {
		p.writeEntry(e.ID, receiptColumn+2, strings.TrimSpace(e.Status+" "+e.Path+" ("+e.Provenance+")"))
		p.writeLabelled(receiptColumn+2, "", e.SHA256)
	}
}
