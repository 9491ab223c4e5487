package gate

import (
	"slices"

	"github.com/defendableos/referee/gate/memory"
)

// pushActions are the actions of a pull request's event whose sender brought commits, or brought them back.
var pushActions = []string{"opened", "synchronize", "reopened"}

// pushed adds who this job's event says has pushed. The job may come late and find another head: its sender has pushed all the same.
func (p *pulled) pushed(have memory.Pushers) memory.Pushers {
	e := p.j.Event
	pull := e.Name == "pull_request" || e.Name == "pull_request_target"
	if pull && e.Pull == p.pr.Number && slices.Contains(pushActions, e.Action) {
		return have.With(e.Sender)
	}
	return have
}
