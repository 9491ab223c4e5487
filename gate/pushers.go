package gate

import (
	"slices"
	"strings"
)

// Pushers are the logins of who opened a pull request or pushed to it, as the events said that this gate has seen: the API lists commits, and not
// who pushed them. They are kept in the gate's own review, between one event and the next.
type Pushers []string

// maxPushers bounds the line: who would sign off work with more hands than these?
const maxPushers = 100

const pushersBegin = "<!-- referee:pushers "

var loginForm = newPattern(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?$`)

// ParsePushers reads the line from the block of markers at the top of the gate's review. A line that is none names nobody.
func ParsePushers(body string) Pushers {
	var out Pushers
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "<!-- referee") {
			break
		}
		names, begins := strings.CutPrefix(line, pushersBegin)
		names, ends := strings.CutSuffix(names, " -->")
		if !begins || !ends {
			continue
		}
		for _, login := range strings.Split(names, " ") {
			out = out.With(login)
		}
	}
	return out
}

// With adds a login, once. What is no login is left out.
func (p Pushers) With(login string) Pushers {
	if !loginForm.MatchString(login) || slices.Contains(p, login) || len(p) == maxPushers {
		return p
	}
	return append(slices.Clone(p), login)
}

// Line is the line, "" for nobody.
func (p Pushers) Line() string {
	if len(p) == 0 {
		return ""
	}
	return pushersBegin + strings.Join(p, " ") + " -->"
}

// pusher is who this job's event says has pushed.
func (p *pulled) pusher() string {
	e := p.j.Event
	if e.Pull == p.pr.Number && (e.Action == "opened" || e.Action == "synchronize" || e.Action == "reopened") && e.HeadSHA == p.pr.HeadSHA {
		return e.Sender
	}
	return ""
}
