package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/referee/evidence"
)

// batch joins the records of a file of answers with what each was asked (--samples) and with the right answers
// (--gold), by the id of the sample.
type batch struct {
	sheet   *referee.Sheet     // of --sheet, without the questions that are asked once of the batch
	asked   []referee.Question // those
	samples *sampleFile
	gold    *sampleFile // nil: no record is compared with a right answer

	answered map[string]map[string]string // by model and sample: the record that answered
}

// sampleFile is a JSON object a line, each with its id.
type sampleFile struct {
	name  string // base name, for reports
	hash  string // SHA-256 of the file
	lines map[string]sampleLine
}

type sampleLine struct {
	bytes  []byte
	number int
}

// What a file of samples may hold: all of it is kept in memory.
const (
	maxSampleFile  = 256 << 20 // bytes
	sampleEvidence = "sample"  // the id under which a sheet reads the sample
)

// newBatch reads the files of --samples and --gold; nil without them.
func (au *auditor) newBatch() (*batch, error) {
	o := au.options
	switch {
	case o.samples == "" && o.gold == "":
		return nil, nil
	case o.samples == "":
		return nil, usagef("--gold needs --samples: what each record was asked")
	case au.sheet == nil:
		return nil, usagef("--samples needs --sheet: all records are judged by one flight sheet")
	case o.shard != "":
		return nil, usagef("--samples and --shard exclude each other").withHint("a record that is there twice, or a " +
			"sample that nobody answered, is found in the whole batch only; --jobs uses the processors of this machine")
	case au.sheet.Gold == "":
		return nil, usagef("the flight sheet %s judges no samples: it declares no gold", au.sheet.Slug)
	}
	b := &batch{answered: map[string]map[string]string{}}
	var err error
	if b.sheet, b.asked, err = au.sheet.ForBatch(); err != nil {
		return nil, sheetError(err)
	}
	if b.samples, err = readSamples(o.samples); err != nil {
		return nil, err
	}
	if o.gold != "" {
		b.gold, err = readSamples(o.gold)
	}
	return b, err
}

// readSamples reads a JSON object a line. An object without an id, and an id that is there twice, are refused.
func readSamples(name string) (*sampleFile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	if info.Size() > maxSampleFile {
		return nil, usagef("%s has %d MiB; at most %d are read", name, info.Size()>>20, maxSampleFile>>20)
	}
	f, err := os.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, toolf("opening %s: %w", name, err)
	}
	defer f.Close()
	return parseSamples(name, f)
}

func parseSamples(name string, r io.Reader) (*sampleFile, error) {
	whole := sha256.New()
	out := &sampleFile{name: filepath.Base(name), lines: map[string]sampleLine{}}
	for in := newLines(io.TeeReader(r, whole)); ; {
		line, _, err := in.nextLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, toolf("reading %s: %w", name, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := out.addLine(line, in.number); err != nil {
			return nil, err
		}
	}
	out.hash = hex.EncodeToString(whole.Sum(nil))
	if len(out.lines) == 0 {
		return nil, usagef("%s holds no sample", name)
	}
	return out, nil
}

func (f *sampleFile) addLine(line []byte, number int) error {
	doc, err := strictjson.Parse(line, strictjson.SubmissionLimits)
	if err != nil {
		return usagef("%s cannot be read: %w", lineName(f.name, number), err)
	}
	id, _ := doc.Get("id").Str()
	if id == "" {
		return usagef("%s has no id", lineName(f.name, number)).withHint("each line is an object with the sample's id")
	}
	if first, ok := f.lines[id]; ok {
		return usagef("%s has the id %q, and so has line %d", lineName(f.name, number), id, first.number)
	}
	f.lines[id] = sampleLine{line, number}
	return nil
}

// recordKey is whose answer to which sample a record is.
type recordKey struct{ model, sample string }

// caseOf is the case of one record, with its sample and its gold as evidence. A record of a sample that was never asked
// is refused. A record that cannot be read is judged as it is, without evidence: it fails.
func (b *batch) caseOf(u unit) (referee.Case, recordKey, error) {
	c := referee.Case{Sheet: b.sheet, Path: bareName(u.path), Line: u.line, Location: u.path, Bytes: u.bytes}
	doc, err := strictjson.Parse(u.bytes, strictjson.SubmissionLimits)
	if err != nil {
		return c, recordKey{}, nil
	}
	var key recordKey
	key.model, _ = doc.Get("model").Str()
	named, _ := doc.Get("sample_id").Str()
	if key.sample, _ = doc.Get("id").Str(); key.sample == "" {
		key.sample = named
	}
	if named != "" && named != key.sample {
		return c, key, rulesf("%s names two samples: id is %q, sample_id is %q", u.unitName(), key.sample,
			named).withHint("a record answers one sample; leave one of the two out")
	}
	asked, ok := b.samples.lines[key.sample]
	if !ok {
		return c, key, rulesf("%s answers the sample %q, which %s does not hold", u.unitName(), key.sample,
			b.samples.name).withHint("a record names its sample by id, as the file of --samples does")
	}
	files := evidence.Memory{}
	items := []evidence.Item{b.samples.evidenceItem(sampleEvidence, asked, files)}
	c.Notices = append(c.Notices, b.samples.fileNotice("samples"))
	if b.gold != nil {
		c.Notices = append(c.Notices, b.gold.fileNotice("gold"))
		if right, ok := b.gold.lines[key.sample]; ok {
			items = append(items, b.gold.evidenceItem(b.sheet.Gold, right, files))
		}
	}
	c.Agent = &referee.Agent{Name: key.model, Model: key.model}
	c.Run = &referee.Run{Schema: referee.RunSchema, ID: key.sample, Lane: b.sheet.Lane, Sheet: b.sheet.Slug,
		Agent: *c.Agent, Submission: c.Path, Evidence: items}
	c.Evidence = evidence.Open(files, items, evidence.Limits{})
	return c, key, nil
}

// evidenceItem is a line as evidence: a file of its own, named by its line.
func (f *sampleFile) evidenceItem(id string, line sampleLine, into evidence.Memory) evidence.Item {
	name := fmt.Sprintf("%s.%d.json", f.name, line.number)
	into[name] = line.bytes
	return evidence.Item{ID: id, Path: name, Kind: "file"}
}

// fileNotice binds the whole file into the report of every record.
func (f *sampleFile) fileNotice(what string) string {
	return fmt.Sprintf("%s: %s, SHA-256 %s", what, f.name, f.hash)
}

// admitRecord refuses a second answer of one model to one sample. It is called in the order of the records.
func (b *batch) admitRecord(key recordKey, record string) error {
	if key.sample == "" {
		return nil
	}
	of := b.answered[key.model]
	if of == nil {
		of = map[string]string{}
		b.answered[key.model] = of
	}
	if first, ok := of[key.sample]; ok {
		return rulesf("%s answers the sample %q again: %s holds an answer of %s to it", record, key.sample, first,
			modelName(key.model)).withHint("a model has one answer to a sample; leave out all others")
	}
	of[key.sample] = record
	return nil
}

// missingSamples says which samples a model did not answer: an answer that is left out would count for nothing, and the
// model would look better for it.
func (b *batch) missingSamples() []error {
	var out []error
	for _, model := range slices.Sorted(maps.Keys(b.answered)) {
		var left []string
		for _, id := range slices.Sorted(maps.Keys(b.samples.lines)) {
			if _, ok := b.answered[model][id]; !ok {
				left = append(left, id)
			}
		}
		if len(left) > 0 {
			out = append(out, rulesf("%s has not answered %d of %s: %s", modelName(model), len(left),
				countWord(len(b.samples.lines), "sample"), listShort(left)).withHint("hand in every record, also of a call "+
				"that failed; or audit with the samples that were asked"))
		}
	}
	return out
}

// listShort names the first five.
func listShort(ids []string) string {
	if len(ids) > 5 {
		return strings.Join(ids[:5], ", ") + ", …"
	}
	return strings.Join(ids, ", ")
}

func modelName(model string) string {
	if model == "" {
		return "the model without a name"
	}
	return fmt.Sprintf("%q", model)
}
