package ledger

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/golden"
)

const (
	tableBegins = "<!-- codes: written by go test ./ledger -run TestReceiptsDocument -update -->\n"
	tableEnds   = "<!-- end of codes -->\n"
)

// TestReceiptsDocument holds the table of codes in docs/receipts.md to Codes.
func TestReceiptsDocument(t *testing.T) {
	const path = "../docs/receipts.md"
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(src), tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		t.Fatalf("%s has no place for the codes", path)
	}
	var b strings.Builder
	b.WriteString("\n| code | level | says | why it matters | what to do |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range Codes() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Code, c.Level, c.Title, c.Why, c.Remedy)
	}
	want := before + tableBegins + b.String() + "\n" + tableEnds + after
	if golden.Updating() {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(src) {
		t.Errorf("%s is not in step with Codes: run go test ./ledger -run TestReceiptsDocument -update", path)
	}
}
