package memory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
	"github.com/defendableos/referee/ledger"
)

// maxAnnounced is how many receipts one review announces: 15 kB of the 60,000 that a body may have. Where a pull
// request has more, the newest are announced; each binds all before it by its parent_hash.
const maxAnnounced = 200

// announcedBegins is what the machine-readable line begins with.
const announcedBegins = "<!-- referee:receipts "

// AnnouncedLine is the line by which the gate's review announces the receipts of its pull request, in the order of the
// chain:
//
//	<!-- referee:receipts 12:<hash> 13:<hash> -->
//
// It stands in the block of markers that the review begins with, so that no text of a submission can stand before it.
// Without receipts it is "".
func AnnouncedLine(receipts []ledger.Entry) string {
	if len(receipts) == 0 {
		return ""
	}
	sorted := slices.Clone(receipts)
	slices.SortFunc(sorted, func(a, b ledger.Entry) int { return int(a.Receipt.Seq - b.Receipt.Seq) })
	sorted = slices.CompactFunc(sorted, func(a, b ledger.Entry) bool { return a.Hash == b.Hash })
	var b strings.Builder
	b.WriteString(announcedBegins)
	for _, e := range sorted[max(0, len(sorted)-maxAnnounced):] {
		fmt.Fprintf(&b, "%d:%s ", e.Receipt.Seq, e.Hash)
	}
	return b.String() + "-->"
}

// announced is one receipt of the line.
var announced = pattern.New(`^(0|[1-9][0-9]{0,8}):([0-9a-f]{64})$`)

// ParseAnnounced gives the receipts that a review of the gate announces, as pins of level L3. Only the block of markers
// at the top is read: what stands below is text. A line that begins as AnnouncedLine's and is none, or a second one, is
// an error: somebody changed it.
func ParseAnnounced(body string) ([]ledger.Pin, error) {
	var line string
	for l := range strings.Lines(body) {
		l = strings.TrimRight(l, "\r\n")
		if !strings.HasPrefix(l, "<!-- referee") {
			break
		}
		if !strings.HasPrefix(l, strings.TrimSpace(announcedBegins)) {
			continue
		}
		if line != "" {
			return nil, fmt.Errorf("receipts are announced twice; a review announces them in one line")
		}
		line = l
	}
	if line == "" {
		return nil, nil
	}
	return parseAnnounced(line)
}

// parseAnnounced reads the line. It accepts exactly what AnnouncedLine writes.
func parseAnnounced(line string) ([]ledger.Pin, error) {
	list, begins := strings.CutPrefix(line, announcedBegins)
	list, ends := strings.CutSuffix(list, " -->")
	words := strings.Split(list, " ")
	if !begins || !ends || len(words) > maxAnnounced {
		return nil, fmt.Errorf(
			"the line that announces receipts must be %s<seq>:<hash> … --> with 1 to %d receipts",
			announcedBegins,
			maxAnnounced,
		)
	}
	var pins []ledger.Pin
	for _, w := range words {
		m := announced.FindStringSubmatch(w)
		if m == nil {
			return nil, fmt.Errorf("a receipt is announced as <seq>:<64 hex digits>, not %.80q", w)
		}
		seq, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the seq %q: %w", m[1], err)
		}
		if len(pins) > 0 && pins[len(pins)-1].Count > seq {
			return nil, fmt.Errorf(
				"receipts are announced in the order of the chain: %d comes after %d",
				seq,
				pins[len(pins)-1].Count-1,
			)
		}
		pins = append(pins, ledger.Pin{Level: ledger.L3, Count: seq + 1, Tip: m[2]})
	}
	return pins, nil
}
