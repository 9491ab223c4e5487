package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
)

//go:embed index.tmpl.html
var indexSource string

//go:embed index.css
var indexStyle string

// indexPage is the list. Everything of a receipt goes through plainSight, then through the template's
// escaping.
var indexPage = template.Must(template.New("index").Parse(indexSource))

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
	Style    template.CSS
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
	page := indexContent{Style: template.CSS(indexStyle), OK: v.OK(), Level: v.Level.String(), Count: legible.Count(len(v.Hashes), "entry"),
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
	var b bytes.Buffer
	if err := indexPage.Execute(&b, page); err != nil {
		writeRefusal(w, http.StatusInternalServerError, "%v", err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", indexPolicy)
	_, _ = w.Write(b.Bytes())
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
	line := indexedEntry{Seq: e.Seq, Hash: hash, ID: plainSight(e.ID), Kind: string(e.Kind), Minted: plainSight(e.MintedAt)}
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
