package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// app is what a command may touch of the world; nothing else reads the environment, the clock or a terminal.
type app struct {
	ctx    context.Context
	getenv func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	now    func() time.Time

	tree *cobra.Command // the commands of this run
}

// run is the whole program: it returns the exit code.
func run(
	ctx context.Context,
	args []string,
	getenv func(string) string,
	stdin io.Reader,
	stdout, stderr io.Writer,
) int {
	a := &app{ctx: ctx, getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now}
	err := a.dispatchCommand(args)
	if err != nil {
		printError(stderr, err)
	}
	return codeOf(err)
}
