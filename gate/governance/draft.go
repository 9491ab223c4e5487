package governance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/referee"
)

// incidentDrafter writes the incident of one agent: the run folder of an incident, as a patch that `git apply` takes.
// Everything in it is ASCII without the characters that a comment's markup or a cleaner of text would touch, so that it
// is the same bytes after it was posted and copied: the hashes in it are of the evidence in it.
type incidentDrafter struct {
	cfg   *config.Config
	at    time.Time
	agent string
}

// incident is what a kind of violation says.
type incident struct {
	kind, sheet  string
	inputs       map[string]any
	calculations []map[string]any
	claims       []map[string]string
	evidence     []evidenceFile
	final        string
	about        map[string]any // the receipt's incident member
}

// evidenceFile is a file that the gate writes from what it saw.
type evidenceFile struct{ id, name, title, text string }

// writePatch writes the incident as a run folder.
func (d *incidentDrafter) writePatch(in incident) string {
	dir, placed := d.runFolder(in)
	manifest := map[string]any{
		"schema":       referee.RunSchema,
		"id":           path.Base(dir),
		"lane":         "incident",
		"flight_sheet": in.sheet,
		"project":      "governance",
		"submission":   "submission.json",
	}
	var evidence []map[string]string
	hashes := map[string]string{}
	var files strings.Builder
	for _, e := range in.evidence {
		evidence = append(
			evidence,
			map[string]string{"id": e.id, "path": "evidence/" + e.name, "kind": "file", "title": e.title},
		)
		hashes[e.id] = canonical.SHA256Hex([]byte(e.text))
		files.WriteString(newFile(dir+"/evidence/"+e.name, e.text))
	}
	manifest["evidence"] = evidence
	in.about["id"], in.about["kind"], in.about["status"], in.about["opened_at"] = path.Base(
		dir,
	), in.kind, "open", d.at.Format(
		receipt.TimeFormat,
	)
	submission := map[string]any{
		"assignment_id":   in.sheet,
		"inputs":          in.inputs,
		"calculations":    in.calculations,
		"claims":          in.claims,
		"evidence_sha256": hashes,
		"final_output":    in.final,
		"incident":        in.about,
	}
	return d.patchHeading(
		in,
		placed,
	) + newFile(
		dir+"/run.json",
		plainJSON(manifest),
	) + newFile(
		dir+"/submission.json",
		plainJSON(submission),
	) + files.String()
}

// patchHeading tells a person what to do with it; git passes over lines before the first file.
func (d *incidentDrafter) patchHeading(in incident, placed bool) string {
	var b strings.Builder
	b.WriteString(
		"A draft. Save it as incident.patch, run `git apply incident.patch` on a branch from the base, read it, " +
			"correct what is wrong, and open a pull request.\n",
	)
	if !placed {
		fmt.Fprintf(
			&b,
			"No entry of runs in %s lets the sheet %s judge a run: add {path: \"incidents/*/run.json\", sheets: "+
				"[%s], lane: incident} first.\n",
			config.Path,
			in.sheet,
			in.sheet,
		)
	}
	return b.String()
}

// runFolder is where the configuration lets this sheet judge; placed is false where it does so nowhere.
func (d *incidentDrafter) runFolder(in incident) (dir string, placed bool) {
	id := strings.ReplaceAll(in.kind, "_", "-") + "-" + agentSlug(d.agent) + "-" + d.at.Format("20060102")
	for i, rule := range d.cfg.Runs {
		dir := path.Join(config.PatternRoot(rule.Path), id)
		covers := func(r config.RunRule) bool { return config.CompilePattern(r.Path).MatchString(dir + "/run.json") }
		if covers(rule) && !slices.ContainsFunc(d.cfg.Runs[:i], covers) &&
			(rule.Lane == "" || rule.Lane == "incident") &&
			listsSheet(rule.Sheets, in.sheet) {
			return dir, true
		}
	}
	return "incidents/" + id, false
}

// listsSheet reports whether a list of sheets lets one of this name judge, whatever its version.
func listsSheet(list []string, sheet string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		slug, _ := referee.SplitSheet(entry)
		return entry == "*" || slug == sheet
	})
}

var notSlug = pattern.New(`[^a-z0-9]+`)

// agentSlug makes an agent's name a part of a file's name. What it loses, the hash keeps apart.
func agentSlug(name string) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.Trim(s[:min(len(s), 24)]+"-"+canonical.SHA256Hex([]byte(name))[:8], "-")
}

// newFile is a patch that adds a file. Its text ends in a line break.
func newFile(name, text string) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n",
		name,
		name,
		name,
		strings.Count(text, "\n"),
	)
	for line := range strings.Lines(text) {
		b.WriteString("+" + line)
	}
	return b.String()
}

// plainJSON writes JSON in lines, in ASCII, with the characters escaped that mean something in a comment.
func plainJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("gate: a draft of texts and numbers cannot be written: %v", err))
	}
	var out strings.Builder
	for _, r := range b.String() {
		switch {
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		case r >= 0x7f || strings.ContainsRune("@`|~", r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

var notToken = pattern.New(`[^A-Za-z0-9.;:_ -]+`)

// safeToken is a text as it may stand in a cell of a table or a line of a log: nothing that ends either.
func safeToken(s string) string { return notToken.ReplaceAllString(keepRunes(s, 200), "_") }

// csvRows writes a table as CSV.
func csvRows(head string, cells ...[]string) string {
	out := head + "\n"
	for _, c := range cells {
		out += strings.Join(c, ",") + "\n"
	}
	return out
}

// sheetTime is a time as the sheets read it.
func sheetTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
