package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// asProcesses has the scripts start a process for every command, as a user does: .ci/run does. Without it, "code" calls
// run in this process, and "exec referee" starts one still.
var asProcesses = os.Getenv("REFEREE_CI") == "1"

// placeHeld is held while a command has the working directory and the environment of this process for its own.
var placeHeld sync.Mutex

// handedDown are the variables that a command may hand down to git, with what testscript sets.
var handedDown = []string{"HOME", "PATH", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "GIT_AUTHOR_NAME",
	"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL",
	"GIT_CONFIG_NOSYSTEM", "GIT_DIR"}

// executeProcess starts referee and gives its exit code and standard error.
func executeProcess(ts *testscript.TestScript, args []string) (code int, stderr string) {
	if err := ts.Exec("referee", args...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("referee cannot be run: %v", err)
		}
		code = exit.ExitCode()
	}
	return code, ts.ReadFile("stderr")
}

// executeInProcess calls run where the script is, with the script's environment and nothing on standard input.
func executeInProcess(ts *testscript.TestScript, args []string) (code int, stderr string) {
	placeHeld.Lock()
	defer placeHeld.Unlock()
	restore := takePlace(ts)
	defer restore()
	var out, complaints bytes.Buffer
	code = run(context.Background(), args, ts.Getenv, strings.NewReader(""), &out, &complaints)
	_, err := ts.Stdout().Write(out.Bytes())
	ts.Check(err)
	_, err = ts.Stderr().Write(complaints.Bytes())
	ts.Check(err)
	return code, complaints.String()
}

// takePlace gives this process the script's directory and environment, and a function that gives them back.
func takePlace(ts *testscript.TestScript) (restore func()) {
	dir, err := os.Getwd()
	ts.Check(err)
	before := os.Environ()
	os.Clearenv()
	for _, name := range handedDown {
		if v := ts.Getenv(name); v != "" {
			ts.Check(os.Setenv(name, v))
		}
	}
	ts.Check(os.Setenv("PWD", ts.MkAbs(".")))
	ts.Check(os.Chdir(ts.MkAbs(".")))
	return func() {
		os.Clearenv()
		for _, pair := range before {
			name, value, _ := strings.Cut(pair, "=")
			ts.Check(os.Setenv(name, value))
		}
		ts.Check(os.Chdir(dir))
	}
}

// scriptTexts are the scripts by name.
var scriptTexts sync.Map

// readsStdin reports whether a script puts something on standard input, which only a process is given.
func readsStdin(ts *testscript.TestScript) bool {
	if known, ok := scriptTexts.Load(ts.Name()); ok {
		return known.(bool)
	}
	b, err := os.ReadFile(filepath.Join(scriptDir, ts.Name()+".txtar"))
	ts.Check(err)
	reads := strings.Contains("\n"+string(b), "\nstdin ")
	scriptTexts.Store(ts.Name(), reads)
	return reads
}
