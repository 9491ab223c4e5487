package memory

import (
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/githubapi"
)

// reviewTextOf is a text of the gate's review that keeps something.
func reviewTextOf(m Memory) string {
	return Marker{
		Pull:    3,
		Digest:  strings.Repeat("0", 64),
		RunID:   1,
		Attempt: 1,
	}.String() + "\n" + m.MarkerLines() + m.Heads.Line() + "\n\ntext\n"
}

// TestRecollect: the memory is believed only where it is our own word, and a lost one stays lost.
func TestRecollect(t *testing.T) {
	kept := Memory{Pushers: Pushers{"rosa"}, Heads: Heads{}.Add(digitSHA("1"), []string{"runs/a"})}
	const us = "gate[bot]"
	story := func(edit func(*githubapi.Story)) githubapi.Story {
		s := githubapi.Story{
			Viewer:  us,
			Own:     map[int64]string{7: reviewTextOf(kept)},
			Edited:  map[int64]bool{7: true},
			Editors: map[int64]string{7: us},
		}
		edit(&s)
		return s
	}
	by := func(id int64, who string) func(*githubapi.Story) {
		return func(s *githubapi.Story) { s.Edited[id], s.Editors[id] = true, who }
	}
	for _, c := range []struct {
		what    string
		edit    func(*githubapi.Story)
		pushers string
		failed  int
		lost    string
	}{
		{"as we wrote it last", func(*githubapi.Story) {}, "rosa", 1, ""},
		{"as we wrote it at first", func(s *githubapi.Story) { s.Edited[7], s.Editors[7] = false, "" }, "rosa", 1, ""},
		{"no review yet", func(s *githubapi.Story) { clear(s.Own) }, "", 0, ""},
		{"edited by somebody", by(7, "mallory"), "", 2, "mallory"},
		{"edited by an account that is gone", by(7, ""), "", 2, someone},
		{"lost before", func(s *githubapi.Story) {
			s.Own[7] = reviewTextOf(Memory{Lost: "mallory",
				Pushers: Pushers{"wim"}})
		}, "wim", 2, "mallory"},
		{"lost before, by an account that is gone",
			func(s *githubapi.Story) { s.Own[7] = reviewTextOf(Memory{Lost: someone}) }, "", 2, someone},
		{"the marker of another pull request", func(s *githubapi.Story) {
			s.Own[7] = strings.Replace(s.Own[7], "pull=3",
				"pull=4", 1)
		}, "", 0, ""},
		{"edited, and without its marker", func(s *githubapi.Story) { by(7, "mallory")(s); s.Own[7] = "text" }, "", 2,
			"mallory"},
		{"two of ours", func(s *githubapi.Story) {
			s.Own[9] = reviewTextOf(Memory{Pushers: Pushers{"wim"}, Heads: Heads{}.Add(digitSHA("2"), []string{"runs/a"})})
		}, "rosa wim", 2, ""},
		{"two of ours, one edited", func(s *githubapi.Story) { s.Own[9] = reviewTextOf(Memory{}); by(9, "mallory")(s) }, "",
			2, "mallory"},
		{"another workflow's review, edited", func(s *githubapi.Story) { s.Own[9] = "a linter's"; by(9, "mallory")(s) },
			"rosa", 1, ""},
		{"somebody else's review, edited", by(9, "mallory"), "rosa", 1, ""},
	} {
		got := Recollect(story(c.edit), 3)
		if strings.Join(got.Pushers, " ") != c.pushers || got.FailedRevisions("runs/a", "") != c.failed ||
			got.Lost != c.lost ||
			(got.LostReason() == "") != (c.lost == "") {
			t.Errorf("%s: %+v, failed %d", c.what, got, got.FailedRevisions("runs/a", ""))
		}
	}
}

// FuzzRecollect: nothing panics; a memory that is written back is read as it was; what somebody else edited tells
// nothing.
func FuzzRecollect(f *testing.F) {
	f.Add(reviewTextOf(Memory{Lost: "mallory", Pushers: Pushers{"rosa", "*"}}), "gate[bot]")
	f.Add("<!-- referee:lost -->\n", "mallory")
	f.Fuzz(func(t *testing.T, body, editor string) {
		s := githubapi.Story{
			Viewer:  "gate[bot]",
			Own:     map[int64]string{1: body},
			Edited:  map[int64]bool{1: true},
			Editors: map[int64]string{1: editor},
		}
		m := Recollect(s, 3)
		if editor != s.Viewer && (m.Lost == "" || len(m.Pushers) > 0 || m.Heads.Line() != "") {
			t.Errorf("%q, edited by %q: %+v", body, editor, m)
		}
		s.Own[1], s.Editors[1] = reviewTextOf(m), s.Viewer
		again := Recollect(s, 3)
		if !slices.Equal(again.Pushers, m.Pushers) || again.Heads.Line() != m.Heads.Line() ||
			(again.Lost == "") != (m.Lost == "") {
			t.Errorf("%+v is read as %+v", m, again)
		}
	})
}
