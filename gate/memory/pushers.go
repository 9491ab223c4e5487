package memory

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/gate/config"
)

// Pushers are the logins of who opened a pull request or pushed to it, as the events said that this gate has seen: the
// API lists commits, and not who pushed them. They are kept in the gate's own review, between one event and the next.
// "*" stands for somebody whose name could not be kept.
type Pushers []string

// MaxPushers bounds the line: who would sign off work with more hands than these?
const MaxPushers = 100

const (
	pushersBegin = "<!-- referee:pushers "
	anybody      = "*"
)

// ParsePushers reads the line from the block of markers at the top of the gate's review. What is no login stands for
// anybody: the gate wrote nothing like it.
func ParsePushers(body string) Pushers {
	var out Pushers
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "<!-- referee") {
			break
		}
		names, begins := strings.CutPrefix(line, pushersBegin)
		if !begins {
			continue
		}
		names, ends := strings.CutSuffix(names, " -->")
		if !ends {
			names = anybody
		}
		for _, login := range strings.Split(names, " ") {
			out = out.With(login)
		}
	}
	return out
}

// With adds a login, once. What is no login, and one more than are kept, is anybody.
func (p Pushers) With(login string) Pushers {
	if !config.IsLogin(login) || len(p) >= MaxPushers {
		login = anybody
	}
	if slices.Contains(p, login) || slices.Contains(p, anybody) && len(p) >= MaxPushers {
		return p
	}
	return append(slices.Clone(p), login)
}

// More reports whether somebody pushed who is not listed.
func (p Pushers) More() bool { return slices.Contains(p, anybody) }

// Line is the line, "" for nobody.
func (p Pushers) Line() string {
	if len(p) == 0 {
		return ""
	}
	return pushersBegin + strings.Join(p, " ") + " -->"
}
