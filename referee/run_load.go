package referee

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/evidence"
)

var evidenceKinds = []string{"file", "note", "url", "observation", "tool_output", "model_output", "log"}

// agentRecord is the profile in run.json.
var agentRecord = &record{Name: "agent", Fields: []field{
	{Name: "name", Type: "string", Doc: "the agent's name"}, {Name: "model", Type: "string",
		Doc: "the model it ran on"}, {Name: "provider", Type: "string", Doc: "who serves the model"},
	{Name: "harness", Type: "string", Doc: "what ran the agent"}, {Name: "runtime", Type: "string",
		Doc: "what ran the model"}, {Name: "tools", Type: "strings", Doc: "tools it had"},
	{Name: "modalities", Type: "strings", Doc: "modalities the model reads"}, {Name: "capability_tier", Type: "string",
		Doc: "edge, small, mid or frontier", Enum: classes},
	{Name: "params_b", Type: "number", Doc: "billions of parameters"}, {Name: "context_tokens", Type: "number",
		Doc: "context window in tokens"}, {Name: "vram_gb", Type: "number", Doc: "GPU memory in gigabytes"},
	{Name: "temperature", Type: "number", Doc: "temperature that the model sampled with, 0 to 2"},
	{Name: "confidence_prior", Type: "any",
		Doc: "the model's own confidence, a number, or its scores by task with source and version; shown in " +
			"profiles, never in a verdict"},
}}

// runRecord is run.json (formats.md).
var runRecord = &record{Name: "run.json", Fields: []field{
	{Name: "schema", Type: "string", Doc: "names the format", Required: true, Enum: []string{RunSchema}},
	{Name: "id", Type: "string", Doc: "the run's id, the name of its folder", Required: true},
	{Name: "lane", Type: "string", Doc: "what kind of work it is", Required: true, Enum: lanes},
	{Name: "flight_sheet", Type: "string", Doc: "slug, or slug@version", Required: true},
	{Name: "project", Type: "string", Doc: "what the work belongs to"},
	{Name: "agent", Type: "object", Doc: "the agent's profile", Of: agentRecord},
	{Name: "assignment", Type: "string", Doc: "what the agent was asked; the sheet's instructions otherwise"},
	{Name: "submission", Type: "string", Doc: "path of the submission, default submission.json"},
	{Name: "evidence", Type: "array", Doc: "what the agent was given", Of: &record{Name: "an evidence item",
		Fields: []field{
			{Name: "id", Type: "string", Doc: "the name that claims cite", Required: true},
			{Name: "path", Type: "string", Doc: "file inside the run folder"},
			{Name: "kind", Type: "string", Doc: "what it is", Enum: evidenceKinds},
			{Name: "title", Type: "string", Doc: "its title"},
			{Name: "text", Type: "string", Doc: "a note's own text"},
			{Name: "url", Type: "string", Doc: "where it was found"},
			{Name: "snapshot", Type: "string", Doc: "file with what the url showed"}}}},
	{Name: "operator", Type: "string", Doc: "GitHub login of the person who ran the agent"},
	{Name: "cost_usd", Type: "string", Doc: "what the run cost, as a decimal"},
	{Name: "revision_of", Type: "string", Doc: "SHA-256 of the receipt or submission that this run revises"},
}}

// Counted repetitions make long programs, and a bare submission has no manifest: they are compiled when a manifest is
// read.
var (
	runID = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`) })
	costNumber = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^(0|[1-9][0-9]{0,11})(\.[0-9]{1,6})?$`) })
)

// ParseRun reads run.json strictly: unknown members, other schemas and paths out of the folder are refused, all at
// once, with their places (*RefusedError, or *strictjson.Error). file names it in messages.
func ParseRun(src []byte, file string) (*Run, error) {
	doc, err := strictjson.Parse(src, strictjson.DocumentLimits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	problems := &Problems{File: file}
	runRecord.checkValue(doc, problems)
	checkAgentFigures(doc.Get("agent"), problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	r := &Run{Schema: doc.TextOf("schema"), ID: doc.TextOf("id"), Lane: doc.TextOf("lane"),
		Sheet: doc.TextOf("flight_sheet"), Project: doc.TextOf("project"),
		Assignment: doc.TextOf("assignment"), Submission: doc.TextOf("submission"), Operator: doc.TextOf("operator"),
		CostUSD: doc.TextOf("cost_usd"), RevisionOf: doc.TextOf("revision_of")}
	if r.Submission == "" {
		r.Submission = "submission.json"
	}
	r.Agent = agentOf(doc.Get("agent"))
	for _, v := range doc.Get("evidence").Elements() {
		r.Evidence = append(r.Evidence, evidence.Item{ID: v.TextOf("id"), Path: v.TextOf("path"), Kind: v.TextOf("kind"),
			Title: v.TextOf("title"), Text: v.TextOf("text"), URL: v.TextOf("url"),
			Snapshot: v.TextOf("snapshot"), Pos: v.Pos})
	}
	r.checkRun(doc, problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// checkRun holds what the record cannot say.
func (r *Run) checkRun(doc *strictjson.Value, problems *Problems) {
	if !runID().MatchString(r.ID) {
		problems.addProblem(doc.Get("id"), "id",
			"run id %q must be letters, digits, dots, dashes or underscores, at most 128",
			clipText(r.ID))
	}
	if slug, _ := SplitSheet(r.Sheet); legible.Blank(slug) {
		problems.addProblem(doc.Get("flight_sheet"), "flight_sheet",
			"flight_sheet is %q: it must be the slug of a flight sheet, or slug@version", clipText(r.Sheet))
	}
	if r.CostUSD != "" && !costNumber().MatchString(r.CostUSD) {
		problems.addProblem(doc.Get("cost_usd"), "cost_usd", "cost_usd %q must be a plain decimal such as %q",
			clipText(r.CostUSD),
			"1.84")
	}
	if r.RevisionOf != "" && !isHash(r.RevisionOf) {
		problems.addProblem(doc.Get("revision_of"), "revision_of", "revision_of must be a SHA-256 in lower-case hex")
	}
	if err := insideRun(r.Submission); err != nil {
		problems.addProblem(doc.Get("submission"), "path", "submission: %v", err)
	}
	if n := len(r.Evidence); n > maxEvidence {
		problems.addProblem(doc.Get("evidence"), "evidence", "%d items of evidence; at most %d are read: join what belongs "+
			"together", n, maxEvidence)
	}
	for _, v := range doc.Get("evidence").Elements() {
		if p := v.TextOf("path"); p != "" && path.Clean(p) == path.Clean(r.Submission) {
			problems.addProblem(v, "evidence", "the submission cannot be its own evidence")
		}
	}
}

// insideRun refuses a path that could leave the run folder.
func insideRun(p string) error {
	switch {
	case !fs.ValidPath(p) || p == ".":
		return fmt.Errorf("%q must be a path inside the run folder, with forward slashes and no dots for folders",
			clipText(p))
	case strings.ContainsAny(p, "\\\x00") ||
		strings.ContainsFunc(p, func(c rune) bool { return c < 0x20 || c == 0x7f }):
		return fmt.Errorf("%q holds a backslash or a control character", clipText(p))
	}
	return nil
}

// agentOf reads a profile; members that are absent stay unknown.
func agentOf(v *strictjson.Value) Agent {
	number := func(key string) string {
		if n := v.Get(key).Decimal(); n != nil {
			return n.String()
		}
		return ""
	}
	return Agent{Name: v.TextOf("name"), Model: v.TextOf("model"), Provider: v.TextOf("provider"),
		Harness: v.TextOf("harness"), Runtime: v.TextOf("runtime"),
		CapabilityTier: v.TextOf("capability_tier"), ParamsB: number("params_b"),
		ContextTokens: number("context_tokens"), VRAMGB: number("vram_gb"), Confidence: number("confidence_prior"),
		Temperature: number("temperature"), ModelConfidence: modelConfidenceOf(v.Get("confidence_prior")),
		Tools: v.Get("tools").Texts(), Modalities: v.Get("modalities").Texts(), ToolsKnown: v.Get("tools") != nil,
		ModalitiesKnown: v.Get("modalities") != nil}
}

// RunFolder is a run as read from a tree: its manifest, its submission's bytes, its evidence and its advisory files.
type RunFolder struct {
	Run      *Run
	Bytes    []byte         // the submission, cut where it is longer than any reader takes
	Ref      *SubmissionRef // identity of the whole file, where Bytes is cut
	Evidence *evidence.Set
	Advisory []FileRef
}

// maxManifest and maxSubmission bound what is read of a run folder before anything is parsed; one byte more than the
// limit is read, so that the reader refuses it by name.
const (
	maxManifest   = 1 << 20
	maxSubmission = 5<<20 + 1
	maxEvidence   = 1000 // items of evidence
)

// OpenRun reads a run folder from a tree (os.Root's, or git objects). Symlinks and anything that is not a regular file
// are refused.
func OpenRun(tree fs.FS) (*RunFolder, error) {
	src, err := ReadFile(tree, "run.json", maxManifest)
	if err != nil {
		return nil, err
	}
	run, err := ParseRun(src, "run.json")
	if err != nil {
		return nil, err
	}
	f := &RunFolder{Run: run, Evidence: evidence.Open(tree, run.Evidence, evidence.Limits{})}
	if f.Bytes, err = ReadFile(tree, run.Submission, maxSubmission); err != nil {
		return nil, err
	}
	if len(f.Bytes) == maxSubmission {
		if f.Ref, err = hashLargeSubmission(tree, run.Submission); err != nil {
			return nil, err
		}
	}
	f.Advisory, err = hashAdvisory(tree)
	return f, err
}

// hashAdvisory hashes the opinions under advisory/: shown, bound, never judged.
func hashAdvisory(tree fs.FS) ([]FileRef, error) {
	names, err := fs.Glob(tree, "advisory/*.json")
	if err != nil {
		return nil, fmt.Errorf("reading advisory files: %w", err)
	}
	slices.Sort(names)
	var out []FileRef
	for _, name := range names {
		b, err := ReadFile(tree, name, maxManifest)
		if err != nil {
			return nil, err
		}
		out = append(out, FileRef{Path: name, SHA256: hashText(string(b))})
	}
	return out, nil
}

// Case prepares the audit of a run folder by a sheet. profile is the pinned profile, or nil for the run's own.
func (f *RunFolder) Case(sheet *Sheet, profile *Agent) Case {
	agent := &f.Run.Agent
	c := Case{Sheet: sheet, Run: f.Run, Evidence: f.Evidence, Path: f.Run.Submission, Bytes: f.Bytes, Ref: f.Ref,
		Agent: agent, Advisory: f.Advisory}
	if profile != nil {
		c.Agent, c.Declared = profile, agent
	}
	return c
}

// SplitSheet splits "slug@version"; version is "" where only the slug is given.
func SplitSheet(ref string) (slug, version string) {
	slug, version, _ = strings.Cut(ref, "@")
	return slug, version
}
