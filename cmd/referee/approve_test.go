package main

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// TestAsking: what a person types, and what becomes of it.
func TestAsking(t *testing.T) {
	questions := []referee.Question{{ID: "a", Text: "Is it so?", Why: "Because."}, {ID: "b", Text: "And \x1b[2Jthis?"}}
	for _, c := range []struct {
		typed string
		want  []ledger.Answer // nil: stopped
	}{
		{"y\nyes\n", []ledger.Answer{{ID: "a", Answer: "satisfied"}, {ID: "b", Answer: "satisfied"}}},
		{"maybe\n\nY\nno\n\n  too   old \n", []ledger.Answer{{ID: "a", Answer: "satisfied"},
			{ID: "b", Answer: "flag", Note: "too old"}}},
		{"n\nwrong\ny", []ledger.Answer{{ID: "a", Answer: "flag", Note: "wrong"}, {ID: "b", Answer: "satisfied"}}},
		{"y\nq\n", nil},
		{"y\n", nil},
		{"n\n", nil},
		{"", nil},
	} {
		var shown strings.Builder
		ask := &asker{in: bufio.NewReader(strings.NewReader(c.typed)), out: &shown}
		got, err := ask.askAll(questions)
		if c.want == nil {
			if !errors.Is(err, errStopped) || codeOf(err) != exitRules {
				t.Errorf("%q: %v, %v", c.typed, got, err)
			}
			continue
		}
		if err != nil || len(got) != 2 || got[0] != c.want[0] || got[1] != c.want[1] {
			t.Errorf("%q: %+v, %v", c.typed, got, err)
		}
		if strings.ContainsRune(shown.String(), 0x1b) ||
			!strings.Contains(shown.String(), "1 of 2  Is it so?\n        Because.\na [y/n/q] ") {
			t.Errorf("shown: %q", shown.String())
		}
	}
}

// TestConfirming: only a yes signs.
func TestConfirming(t *testing.T) {
	for typed, want := range map[string]error{"y\n": nil, "what\nyes\n": nil, "n\n": errStopped, "q\n": errStopped,
		"": errStopped} {
		ask := &asker{in: bufio.NewReader(strings.NewReader(typed)), out: &strings.Builder{}}
		if err := ask.askSignature("Sign?"); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

// TestNotSeen: each level that was looked at takes its own blind spots away, and no others.
func TestNotSeen(t *testing.T) {
	for _, c := range []struct {
		seen       []ledger.Level
		gone, left string
	}{
		{[]ledger.Level{ledger.L1}, "", "entries cut off"},
		{[]ledger.Level{ledger.L1, ledger.L2}, "entries cut off", "a poisoned first pin"},
		{[]ledger.Level{ledger.L1, ledger.L5}, "another history", "a forged entry"},
		{[]ledger.Level{ledger.L1, ledger.L5}, "another history", "entries cut off"},
	} {
		text := strings.Join(ledger.Unseen(c.seen), "\n")
		if c.gone != "" && strings.Contains(text, c.gone) || !strings.Contains(text, c.left) {
			t.Errorf("%v: %s", c.seen, text)
		}
	}
}
