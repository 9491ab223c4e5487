package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/gate/internal/gatetest"
	"github.com/defendableos/referee/ledger"
)

func TestAnnounced(t *testing.T) {
	line := AnnouncedLine([]ledger.Entry{gatetest.Entry(13, "b"), gatetest.Entry(12, "a"), gatetest.Entry(13, "b")})
	if want := "<!-- referee:receipts 12:" + gatetest.HashOf("a") + " 13:" + gatetest.HashOf("b") +
		" -->"; line != want {
		t.Errorf("%s\nwant %s", line, want)
	}
	if got := AnnouncedLine(nil); got != "" {
		t.Errorf("no receipts: %q", got)
	}
	want := []ledger.Pin{
		{Level: ledger.L3, Count: 13, Tip: gatetest.HashOf("a")},
		{Level: ledger.L3, Count: 14, Tip: gatetest.HashOf("b")},
	}
	for _, body := range []string{line, line + "\r\n<!-- referee:x -->\r\n\r\ntext", "<!-- referee:review v1 head " +
		"-->\n" + line + "\n\ntext\n" + AnnouncedLine([]ledger.Entry{gatetest.Entry(1, "c")})} {
		if got, err := ParseAnnounced(body); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", body, got, err)
		}
	}
	var many []ledger.Entry
	for n := range int64(maxAnnounced + 7) {
		many = append(many, gatetest.Entry(n, fmt.Sprintf("%x", n%16)))
	}
	got, err := ParseAnnounced(AnnouncedLine(many))
	if err != nil || len(got) != 200 || got[0].Count != 8 || got[199].Count != 207 {
		t.Errorf("many: %d, %v", len(got), err)
	}
}

// TestAnnouncedRefusals: text below the block of markers announces nothing; a line in it that was changed is an error,
// never nothing.
func TestAnnouncedRefusals(t *testing.T) {
	good := "1:" + gatetest.HashOf("a")
	for _, body := range []string{"", "hello", "hello\n<!-- referee:receipts " + good + " -->",
		"<!-- referee:review -->\n\n<!-- referee:receipts " + good + " -->", " <!-- referee:receipts " + good +
			" -->"} {
		if got, err := ParseAnnounced(body); got != nil || err != nil {
			t.Errorf("%q announces %v, %v", body, got, err)
		}
	}
	for line, want := range map[string]string{
		"<!-- referee:receipts -->":                                                      "must be",
		"<!-- referee:receipts":                                                          "must be",
		"<!-- referee:receipts " + good:                                                  "must be",
		"<!-- referee:receipts " + good + " --> text":                                    "must be",
		"<!-- referee:receipts  " + good + " -->":                                        "announced as",
		"<!-- referee:receipts 01:" + gatetest.HashOf("a") + " -->":                      "announced as",
		"<!-- referee:receipts 1:" + gatetest.HashOf("A") + " -->":                       "announced as",
		"<!-- referee:receipts 1:" + gatetest.HashOf("a")[1:] + " -->":                   "announced as",
		"<!-- referee:receipts 1000000000:" + gatetest.HashOf("a") + " -->":              "announced as",
		"<!-- referee:receipts " + good + " " + good + " -->":                            "order of the chain",
		"<!-- referee:receipts 2:" + gatetest.HashOf("b") + " " + good + " -->":          "order of the chain",
		"<!-- referee:receipts " + good + " -->\n<!-- referee:receipts " + good + " -->": "twice",
		"<!-- referee:receipts " + strings.Repeat(good+" ", 201) + "-->":                 "1 to 200",
	} {
		if got, err := ParseAnnounced(line); got != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.120q: %v, %v; want %q", line, got, err, want)
		}
	}
}

// FuzzParseAnnounced: whatever is read is what AnnouncedLine writes of it.
func FuzzParseAnnounced(f *testing.F) {
	f.Add("<!-- referee:receipts 12:" + gatetest.HashOf("a") + " 13:" + gatetest.HashOf("b") + " -->\nx")
	f.Add("<!-- referee:review -->\n<!-- referee:receipts 1:x -->")
	f.Fuzz(func(t *testing.T, body string) {
		pins, err := ParseAnnounced(body)
		if err != nil && pins != nil {
			t.Fatalf("%q: pins beside an error", body)
		}
		var entries []ledger.Entry
		for _, p := range pins {
			entries = append(entries, ledger.Entry{Hash: p.Tip, Receipt: &ledger.Receipt{Seq: p.Count - 1}})
		}
		if line := AnnouncedLine(entries); !strings.Contains(body, line) {
			t.Fatalf("%q was read, and would be written as %q", body, line)
		}
	})
}
