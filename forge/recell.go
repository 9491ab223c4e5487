package forge

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// restateCells writes the changed inputs into the evidence that holds them, where it holds their old values: a trip
// changes the world, and the documents of another world say other things. What a submission hashes of a file is hashed
// anew.
func (w *worked) restateCells(r *reworking) {
	for _, in := range r.sheet.Inputs {
		now, moved := r.moved[in.Name]
		if !moved || now.IsMissing() {
			continue
		}
		for _, p := range in.From {
			i := slices.IndexFunc(w.files, func(f referee.ExampleFile) bool { return f.ID == p.Evidence })
			e := slices.IndexFunc(r.sheet.Evidence, func(e referee.EvidenceItem) bool { return e.ID == p.Evidence })
			if i < 0 || e < 0 {
				continue
			}
			if r.sheet.Evidence[e].Kind == "json" {
				w.rewriteFile(i, memberChanged(w.files[i].Text, pointerOf(in, p), scalarText(r.oldInput(in.Name)), now))
				continue
			}
			if r.sheet.Evidence[e].Kind != "table" {
				continue
			}
			names := append([]string{in.Name}, in.Aliases...)
			if p.Row != "" {
				names = []string{p.Row}
			}
			cell := cellChange{key: r.sheet.Evidence[e].Key, names: names, column: p.Column,
				old: scalarText(r.oldInput(in.Name)), now: scalarText(now)}
			w.rewriteFile(i, cell.changedText(w.files[i].Text))
		}
	}
}

func pointerOf(in referee.Input, p referee.Place) string {
	if p.Pointer == "" {
		return strictjson.JoinPointer("", in.Name)
	}
	return p.Pointer
}

// memberChanged is a JSON file with another value at a pointer, where it holds the old one; all other bytes stay.
func memberChanged(text, pointer, old string, now *strictjson.Value) string {
	doc, err := strictjson.Parse([]byte(text), strictjson.DocumentLimits)
	if err != nil {
		return text
	}
	v := doc.At(pointer)
	if v == nil || v.Text != old {
		return text
	}
	return text[:v.Pos.Offset] + string(now.Encode()) + text[v.End:]
}

// rewriteFile gives a file another text, and the submission its hash.
func (w *worked) rewriteFile(i int, text string) {
	old := w.files[i].Text
	if text == old {
		return
	}
	w.files[i].Text = text
	hashes := w.submission.Get("evidence_sha256")
	if hashes == nil {
		return
	}
	for j, m := range hashes.Members {
		if m.Value.Text == hashOf(old) {
			hashes.Members[j].Value = jsonString(hashOf(text))
		}
	}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// scalarText is a value as a cell holds it.
func scalarText(v *strictjson.Value) string {
	if v == nil {
		return ""
	}
	return v.Text
}

// cellChange is one cell of a CSV file that gets another value.
type cellChange struct {
	key    string
	names  []string // of the row, any of them
	column string
	old    string
	now    string
}

// changedText is the file with the change; other rows keep their bytes.
func (c *cellChange) changedText(text string) string {
	rows := csv.NewReader(strings.NewReader(text))
	rows.FieldsPerRecord = -1
	header, err := rows.Read()
	if err != nil {
		return text
	}
	key, column := slices.Index(header, c.key), slices.Index(header, c.column)
	for from := int(rows.InputOffset()); key >= 0 && column >= 0; from = int(rows.InputOffset()) {
		row, err := rows.Read()
		if err != nil {
			return text
		}
		if max(key, column) < len(row) && c.isNamed(row[key]) && sameText(row[column], c.old) {
			row[column] = c.now
			var line bytes.Buffer
			out := csv.NewWriter(&line)
			if out.Write(row) != nil {
				return text
			}
			out.Flush()
			return text[:from] + line.String() + text[int(rows.InputOffset()):]
		}
	}
	return text
}

// sameText compares cells, numbers by value: 481.0 is 481.
func sameText(x, y string) bool {
	n, err1 := decimal.Parse(strings.TrimSpace(x))
	m, err2 := decimal.Parse(strings.TrimSpace(y))
	if err1 == nil && err2 == nil {
		return decimal.Cmp(n, m) == 0
	}
	return x == y
}

func (c *cellChange) isNamed(key string) bool {
	return slices.ContainsFunc(c.names, func(name string) bool {
		return strings.EqualFold(strings.TrimSpace(name),
			strings.TrimSpace(key))
	})
}
