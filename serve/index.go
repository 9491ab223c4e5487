package serve

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
)

//go:embed index.css
var indexStyle string

// indexPolicy allows the one style of the page, by its hash, and nothing else: no script, no image, no form.
var indexPolicy = func() string {
	sum := sha256.Sum256([]byte(indexStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// indexLength is how many entries one page of the list shows: each is read from the ledger.
const indexLength = 200

// indexedRun is a run with its entries on this page, newest first.
type indexedRun struct {
	ID, Lane, Severity string
	Entries            []indexedEntry
}

// indexedEntry is one line of the list.
type indexedEntry struct {
	Seq                                     int64
	Hash, ID, Kind, Severity, Score, Agent  string
	Sheet, Minted, Pull, High, Mid, LowRisk string
}

// indexContent is what the page shows.
type indexContent struct {
	OK       bool
	Level    string
	Problems []string
	Count    string // of the entries, in words
	Runs     []indexedRun
	Older    int // the first entry that is not on this page; 0 for none
}

// serveIndex lists the newest runs with their verdicts and receipts, or those before an entry. What does not verify is
// listed all the same, under the sentence that says so.
func (s *shareServer) serveIndex(w http.ResponseWriter, r *http.Request) {
	v, err := s.freshVerification(r.Context())
	if err != nil {
		writeRefusal(w, http.StatusInternalServerError, "the ledger cannot be verified: %v", err)
		return
	}
	end := len(v.Hashes)
	if text := r.URL.Query().Get("before"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > end {
			writeRefusal(w, http.StatusBadRequest, "before=%s must be the number of an entry, from 1 to %d", text, end)
			return
		}
		end = n
	}
	page := indexContent{OK: v.OK(), Level: v.Level.String(), Count: legible.Count(len(v.Hashes), "entry"),
		Older: max(0, end-indexLength)}
	for i, p := range v.Problems {
		if i == 20 {
			page.Problems = append(page.Problems, fmt.Sprintf("and %d more", len(v.Problems)-i))
			break
		}
		page.Problems = append(page.Problems, plainSight(p.String()))
	}
	for seq := end - 1; seq >= page.Older; seq-- {
		if err := s.addToIndex(r, &page, v.Hashes[seq]); err != nil {
			writeRefusal(w, http.StatusInternalServerError, "the ledger cannot be read: entry %d: %v", seq, err)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", indexPolicy)
	_, _ = w.Write([]byte(page.writeHTML())) // a client that has gone is told nothing
}

// addToIndex adds an entry to its run. A run stands where its newest entry is.
func (s *shareServer) addToIndex(r *http.Request, page *indexContent, hash string) error {
	b, err := s.src.Entry(r.Context(), hash)
	switch {
	case err != nil:
		return err
	case b == nil || canonical.SHA256Hex(b) != hash:
		return fmt.Errorf("the bytes of %s are not there", hash)
	}
	e, err := ledger.Parse(b)
	if err != nil {
		return err
	}
	line := indexedEntry{Seq: e.Seq, Hash: hash, ID: plainSight(e.ID), Kind: string(e.Kind),
		Minted: plainSight(e.MintedAt)}
	if e.PullRequest != nil {
		line.Pull = "#" + strconv.FormatInt(e.PullRequest.Number, 10)
	}
	if e.Agent != nil {
		line.Agent = plainSight(e.Agent.Name)
	}
	if e.Audited() {
		line.Severity, line.Score = plainSight(e.Verdict.Severity), plainSight(e.Verdict.Score)
		line.High, line.Mid = strconv.Itoa(e.Verdict.Risk.High), strconv.Itoa(e.Verdict.Risk.Mid)
		line.LowRisk = strconv.Itoa(e.Verdict.Risk.Low)
		line.Sheet = plainSight(e.FlightSheet.Slug + "@" + e.FlightSheet.Version)
	}
	run := page.runOf(plainSight(e.Run.ID), plainSight(e.Run.Lane))
	if run.Severity == "" {
		run.Severity = line.Severity
	}
	run.Entries = append(run.Entries, line)
	return nil
}

// runOf finds a run on the page, or begins it.
func (p *indexContent) runOf(id, lane string) *indexedRun {
	for i := range p.Runs {
		if p.Runs[i].ID == id && p.Runs[i].Lane == lane {
			return &p.Runs[i]
		}
	}
	p.Runs = append(p.Runs, indexedRun{ID: id, Lane: lane})
	return &p.Runs[len(p.Runs)-1]
}

// plainSight is visible, and shows the characters without a shape too, which a receipt may hold: on a list, two names
// that look alike are one name to whoever reads it.
func plainSight(text string) string {
	var b strings.Builder
	for _, c := range visible(text) {
		if unicode.IsControl(c) || legible.Ignorable(c) {
			fmt.Fprintf(&b, "<U+%04X>", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

const indexHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Runs and receipts</title>
<style>`

const indexColumns = "<table>\n<tr><th>receipt</th><th>entry</th><th>verdict</th><th>score</th>" +
	"<th>high, mid, low</th><th>agent</th><th>sheet</th><th>pull request</th><th>minted</th></tr>\n"

// writeHTML writes the page. Every text of the ledger goes through html.EscapeString, in cells and in attributes.
func (p *indexContent) writeHTML() string {
	var b strings.Builder
	b.WriteString(indexHead + indexStyle + "</style>\n</head>\n<body>\n<h1>Runs and receipts</h1>\n")
	if p.OK {
		fmt.Fprintf(&b, "<p>%s, verified to level %s on this server. Each receipt's page checks it in your browser.</p>\n",
			html.EscapeString(p.Count), html.EscapeString(p.Level))
	} else {
		b.WriteString("<p class=\"wrong\">This ledger does not verify. Rely on nothing below.</p>\n<ul>\n")
		for _, problem := range p.Problems {
			b.WriteString("<li>" + html.EscapeString(problem) + "</li>\n")
		}
		b.WriteString("</ul>\n")
	}
	for _, run := range p.Runs {
		run.writeTo(&b)
	}
	if len(p.Runs) == 0 {
		b.WriteString("<p>The ledger has no entry yet.</p>\n")
	}
	if p.Older > 0 {
		fmt.Fprintf(&b, "<p><a href=\"/?before=%d\">older entries</a></p>\n", p.Older)
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

// writeTo writes a run: its heading, and a line for each entry.
func (r *indexedRun) writeTo(b *strings.Builder) {
	b.WriteString("<h2>" + html.EscapeString(r.ID+" · "+r.Lane))
	if severity := html.EscapeString(r.Severity); severity != "" {
		fmt.Fprintf(b, ` · <span class="%s">%s</span>`, severity, severity)
	}
	b.WriteString("</h2>\n" + indexColumns)
	for _, e := range r.Entries {
		risk := ""
		if e.High != "" {
			risk = e.High + ", " + e.Mid + ", " + e.LowRisk
		}
		severity := html.EscapeString(e.Severity)
		fmt.Fprintf(b, `<tr><td><a href="/r/%s">%s</a></td><td>%s</td><td class="%s">%s</td>`,
			html.EscapeString(e.Hash), html.EscapeString(e.ID), html.EscapeString(e.Kind), severity, severity)
		for _, cell := range []string{e.Score, risk, e.Agent, e.Sheet, e.Pull, e.Minted} {
			b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}
