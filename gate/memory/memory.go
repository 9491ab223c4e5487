package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/internal/githubapi"
)

// Memory is what the gate keeps in its own review of a pull request between one event and the next: who pushed, and
// which heads failed.
//
// It is believed only as far as it is the gate's own word. The review is one that this token's account wrote, not one
// that looks like it; its text is the one of the moment at which GitHub was asked who edited it last; and if that was
// anybody else, also somebody whose account is gone, the memory is lost. A lost memory stays lost: the gate says so in
// the block of markers of what it writes next, and else the next job would believe an empty one. While it is lost
// nobody's review counts, and every failing run waits for a human's decision; a new pull request begins a new memory.
type Memory struct {
	Pushers Pushers
	Heads   Heads
	Lost    string // who edited it, in words; "" where it can be believed
	Body    string // of our oldest review, "" where somebody else has edited one of ours since
}

const (
	lostBegin = "<!-- referee:lost "
	lostEnd   = " -->"
	someone   = "somebody whose account is gone"
)

// ownReviews are the gate's own reviews of this pull request, the oldest first: this token's account wrote them, and
// they begin with the marker, as they are at the moment of the story.
func ownReviews(story githubapi.Story, pull int64) []int64 {
	var out []int64
	for id, body := range story.Own {
		if m, ok := ParseMarker(body); ok && m.Pull == pull {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Recollect reads what our own reviews keep. Two jobs that began at once may have made two: what both say is taken.
// Where none begins with the marker, a review of ours that somebody else edited may have been it.
func Recollect(story githubapi.Story, pull int64) Memory {
	var m Memory
	ids := ownReviews(story, pull)
	marked := len(ids) > 0
	if !marked {
		for id := range story.Own {
			ids = append(ids, id)
		}
		slices.Sort(ids)
	}
	for _, id := range ids {
		if by := foreignEditor(story, id); by != "" {
			return Memory{Lost: by}
		}
		if !marked {
			continue
		}
		body := story.Own[id]
		m.Body = cmp.Or(m.Body, body)
		for _, login := range ParsePushers(body) {
			m.Pushers = m.Pushers.With(login)
		}
		m.Heads = m.Heads.mergedWith(ParseHeads(body))
		m.Lost = cmp.Or(m.Lost, parseLost(body))
	}
	return m
}

// foreignEditor is who, other than we, edited a review of ours last; "" for nobody.
func foreignEditor(story githubapi.Story, id int64) string {
	switch by := story.Editors[id]; {
	case !story.Edited[id] || by == story.Viewer:
		return ""
	case by == "":
		return someone
	default:
		return by
	}
}

// parseLost reads the line of a lost memory from the block of markers.
func parseLost(body string) string {
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "<!-- referee") {
			break
		}
		if by, ok := strings.CutPrefix(line, lostBegin); ok {
			if by = strings.TrimSuffix(by, lostEnd); config.IsLogin(by) {
				return by
			}
			return someone
		}
	}
	return ""
}

// MarkerLines are those that the next review keeps, each with its line end.
func (m Memory) MarkerLines() string {
	out := ""
	if m.Lost != "" {
		by := m.Lost
		if !config.IsLogin(by) {
			by = anybody
		}
		out = lostBegin + by + lostEnd + "\n"
	}
	if pushers := m.Pushers.Line(); pushers != "" {
		out += pushers + "\n"
	}
	return out
}

// LostReason is why nobody's review counts; "" where the memory is believed.
func (m Memory) LostReason() string {
	if m.Lost == "" {
		return ""
	}
	return fmt.Sprintf(
		"the gate's review of this pull request was edited by %s, so who pushed here and what failed before is no "+
			"longer known: open a new pull request, and leave the gate's review as it is",
		m.Lost,
	)
}

// FailedRevisions is how many earlier audits of a run failed. What is not known any more counts as failed as often as a
// human may be asked for.
func (m Memory) FailedRevisions(dir, head string) int {
	n := m.Heads.Failed(dir, head)
	if m.Lost != "" {
		n = max(n, MaxRevisions)
	}
	return n
}
