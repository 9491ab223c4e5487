package gate

import (
	"slices"

	"github.com/defendableos/referee/gate/memory"
)

// pushActions are the actions of a pull request's event whose sender brought commits, or brought them back.
var pushActions = []string{"opened", "synchronize", "reopened"}

// withPusher adds who this event says has pushed to a pull request. The job may come late and find another head: its
// sender has pushed all the same.
func (e *Event) withPusher(have memory.Pushers, number int64) memory.Pushers {
	pull := e.Name == "pull_request" || e.Name == "pull_request_target"
	if pull && e.Pull == number && slices.Contains(pushActions, e.Action) {
		return have.With(e.Sender)
	}
	return have
}
