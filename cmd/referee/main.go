// Command referee decides by a declared rulebook whether an agent's work may be used, and says why.
//
// main does nothing but call run; run finds the command in the table of commands.go. Each command is one file: a
// function that returns a *command with its flags, its help and what it does. Results go to standard output, and are
// the same bytes for the same input; everything else goes to standard error. Exit codes: 0 clean, 1 the rules say no, 2
// bad usage, configuration or sheet, 3 the tool failed.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// of the process, so not in run: tests call that side by side
	debug.SetMemoryLimit(memoryLimitFor(os.Args[1:], os.Getenv))
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
