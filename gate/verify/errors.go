package verify

import (
	"errors"
	"fmt"
)

// What can keep a verification from deciding anything, beside what could not be read.
var (
	// ErrForge says that the forge did not answer, or knows no such repository.
	ErrForge = errors.New("cannot reach the forge")
	// ErrChanged says that the ledger grew while it was compared with the forge: verify it again.
	ErrChanged = errors.New("changed during the verification")
	// ErrNotLooked says that nothing wrong was found, and that the level of Options.Require was not looked at.
	ErrNotLooked = errors.New("a level that is required was not looked at")
)

// InputError says that something which the caller named is not there or cannot be meant. Any other error means that
// something could not be read.
type InputError struct {
	Input Input
	Err   error
}

// Error is the cause's text.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Input names what the caller got wrong.
type Input string

// What an InputError can be about.
const (
	InputLedger        Input = "ledger"        // none is there
	InputRepository    Input = "repository"    // cannot be opened
	InputPin           Input = "pin"           // a pin or a root that says nothing
	InputMemory        Input = "memory"        // none, where one is needed
	InputSince         Input = "since"         // nothing is remembered, or it cannot be combined
	InputBase          Input = "base"          // no such branch or commit in the copy's repository
	InputRequire       Input = "require"       // no such level
	InputForge         Input = "forge"         // the API's URL, or the repository's name
	InputForgeBase     Input = "forge base"    // not the name of a branch
	InputNoForgeBase   Input = "no forge base" // the repository has no such branch
	InputBranch        Input = "branch"        // of the ledger: not the name of a branch
	InputConfiguration Input = "configuration" // on base, and cannot be parsed
)

func inputError(about Input, format string, args ...any) error {
	return &InputError{about, fmt.Errorf(format, args...)}
}
