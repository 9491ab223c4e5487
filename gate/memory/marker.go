package memory

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/defendableos/referee/gate/internal/pattern"
)

// Marker is the first line of the one review that the gate keeps: by it, and by its author, the review is found again.
// It says which run of the workflow wrote the text, so that an older run never overwrites a newer one's.
type Marker struct {
	Pull           int64
	Head, Digest   string
	RunID, Attempt int64
}

// markerLine is exact: another text at the top of a review is somebody else's review.
var markerLine = pattern.New(
	`^<!-- referee:review/v1 pull=(0|[1-9]\d{0,17}) head=([0-9a-f]{0,64}) digest=([0-9a-f]{64}) run=(0|[1-9]\d{0,17}) ` +
		`attempt=(0|[1-9]\d{0,17}) -->$`,
)

// String is the line, without its break. ParseMarker reads it.
func (m Marker) String() string {
	return fmt.Sprintf(
		"<!-- referee:review/v1 pull=%d head=%s digest=%s run=%d attempt=%d -->",
		m.Pull,
		m.Head,
		m.Digest,
		m.RunID,
		m.Attempt,
	)
}

// ParseMarker reads the marker at the very top of a review's body. One anywhere else is text that somebody put there.
func ParseMarker(body string) (Marker, bool) {
	line, _, _ := strings.Cut(body, "\n")
	m := markerLine.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
	if m == nil {
		return Marker{}, false
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(m[i], 10, 64) // at most 18 digits
		return n
	}
	return Marker{Pull: number(1), Head: m[2], Digest: m[3], RunID: number(4), Attempt: number(5)}, true
}

// Newer reports whether m was written by a later run of the workflow, or a later attempt of the same run.
func (m Marker) Newer(than Marker) bool {
	return cmp.Or(cmp.Compare(m.RunID, than.RunID), cmp.Compare(m.Attempt, than.Attempt)) > 0
}
