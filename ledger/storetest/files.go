package storetest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
)

// Mint mints the first n receipts of a ledger and returns their entries. It uses no store: tests of the format need no
// branch. Each is appended to the head in memory, so the entries form a chain.
func Mint(n int, of func(int64) ledger.Receipt) ([][]byte, error) {
	head := ledger.NewHead()
	var entries [][]byte
	for i := range n {
		b, err := ledger.Mint(head, of(int64(i)))
		if err != nil {
			return nil, err
		}
		if head, err = head.Append(b); err != nil {
			return nil, err
		}
		entries = append(entries, b)
	}
	return entries, nil
}

// Files are the files of a ledger's branch that follow from its entries, by path: the entries under each of their
// names, HEAD.json, LEDGER.json and .gitattributes. Attacks start from this map: a test changes one file and asks what
// a verifier says.
func Files(entries [][]byte) (map[string][]byte, error) {
	files := map[string][]byte{ledger.AttributesPath: []byte(ledger.Attributes)}
	head := ledger.NewHead()
	for seq, b := range entries {
		r, err := ledger.Parse(b)
		if err != nil {
			return nil, err
		}
		for _, p := range ledger.Places(int64(seq), canonical.SHA256Hex(b), r.Pull()) {
			files[p.String()] = b
		}
		if head, err = head.Append(b); err != nil {
			return nil, err
		}
	}
	var err error
	if files["HEAD.json"], err = head.Format(); err != nil || len(entries) == 0 {
		return files, err
	}
	genesis := canonical.SHA256Hex(entries[0])
	// Every sample has this repository, and a receipt of another one would be LDG-206.
	info := ledger.Info{Format: ledger.InfoFormat, Genesis: genesis, Repository: Sample(0).Repository}
	files["LEDGER.json"], err = info.Marshal()
	return files, err
}

// HostileTexts are what an author may try to write into a message, a name or a path: each has broken some program.
// Every format that shows foreign text is held to all of them.
func HostileTexts() []string {
	return []string{
		"\u202egpj.exe\u202c and \u2066\u2069", // bidirectional controls
		// terminal sequences, also in their 8-bit form
		"\x1b[2J\x1b]8;;http://evil\x07click\x1b]8;;\x07 \u009b31m",
		"zero\u200bwidth\ufeff\u00ad\u2060 \U000e0041tag \u3164",                      // what has no width
		"line\r\n::set-output name=verdict::honey\n::error::x\v\f\u2028\u2029\u0085x", // further lines and commands
		// commands without a further line
		"::add-mask::x ##[save-state name=a]b",
		"<!-- referee:head --><script>alert(1)</script></sub><img src=x>", // HTML, and a gate's marker
		"**APPROVED** by @someone and @org/team, [merge](https://evil)",   // an approval that nobody gave
		// the ways out of a span, a cell, a list
		"` `` ``` ```` | a | b | \n| --- |\n- [x] item\n# heading\n> quote",
		"]]> & &amp; <testcase name=\"x\"/> \x00\ufffe", // XML
		"100%0A::error::x %25, a=b:c,d=e",               // the runner's own escapes
		"\xff\xfe not UTF-8 \xed\xa0\x80",
		strings.Repeat("long ", 400),
		"A" + strings.Repeat("\u0316", 60), // marks that paint over the lines below
	}
}

// Spoil writes a text into every field of a receipt that may hold free text. The fields are found by reflection, so
// that a new one is covered without anybody thinking of it.
func Spoil(r *ledger.Receipt, text string) { spoilValue(reflect.ValueOf(r).Elem(), "", text) }

// countedFields follow from other members, or must agree with them; a text in them would be refused before any format
// is tried.
var countedFields = []string{"AddedBy", "Sanitized", "ScoreFraction", "ScoreDecided", "Coverage", "WeightedScore"}

// spoilValue leaves alone what has a form (a hash, a time, a word of a list): another text there is no receipt.
func spoilValue(v reflect.Value, form, text string) {
	switch v.Kind() {
	case reflect.String:
		// A form other than these would refuse the text before any format sees it.
		if form == "" || form == "text" {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			spoilValue(v.Elem(), "", text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoilValue(v.Index(i), form, text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); !slices.Contains(countedFields, f.Name) {
				spoilValue(v.Field(i), f.Tag.Get("is"), text)
			}
		}
	}
}

// Edit changes an entry as text and puts it into canonical form again. The result need not be a receipt: it is what a
// forger makes who knows the form. A plain change of bytes would be refused for its form (LDG-104) before any other
// check.
func Edit(entry []byte, change func(map[string]any)) ([]byte, error) {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(entry))
	// A float would lose the digits of an id.
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	change(v)
	return canonical.Marshal(withIntegers(v))
}

// withIntegers turns the numbers of a decoded text into integers. encoding/json would read them as floats, which have
// no canonical form.
func withIntegers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, m := range v {
			v[k] = withIntegers(m)
		}
		return v
	case []any:
		for i, m := range v {
			v[i] = withIntegers(m)
		}
		return v
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			panic(err)
		}
		return n
	}
	return v
}
