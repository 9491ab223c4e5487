package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/report"
)

// completionsOf asks as a shell's script does and returns the words without their descriptions, and the directive.
func completionsOf(t *testing.T, words ...string) (offered []string, directive string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	noEnvironment := func(string) string { return "" }
	args := append([]string{"__complete"}, words...)
	if code := run(context.Background(), args, noEnvironment, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("%q: exit code %d: %s", words, code, &stderr)
	}
	for line := range strings.Lines(stdout.String()) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if rest, ok := strings.CutPrefix(word, ":"); ok {
			return offered, rest
		}
		offered = append(offered, word)
	}
	t.Fatalf("%q: the answer has no directive: %s", words, &stdout)
	return nil, ""
}

// The directives of cobra's protocol (its ShellCompDirective).
const (
	offerFilesToo = "0"
	offerNoFiles  = "4"
	offerEndings  = "8"
	offerFolders  = "16"
)

func TestCompletions(t *testing.T) {
	files, err := filepath.Glob("../../flight_sheets/fly-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("the library has no sheets that begin with fly-: %v", err)
	}
	var flySlugs []string
	for _, f := range files {
		flySlugs = append(flySlugs, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	for _, c := range []struct {
		words     []string
		offered   []string
		directive string
	}{
		{[]string{"sheet", "sh"}, []string{"show"}, offerNoFiles},
		{[]string{"sheet", "show", "fly-"}, flySlugs, offerFilesToo},
		{[]string{"sheet", "show", "math-steps", "fly-"}, nil, offerNoFiles},
		{[]string{"audit", "--sheet", "fly-"}, flySlugs, offerFilesToo},
		{[]string{"audit", ""}, []string{"json", "jsonl"}, offerEndings},
		{[]string{"audit", "--format", ""}, report.Formats(), offerNoFiles},
		{[]string{"audit", "--fail-on", "m"}, []string{"mid"}, offerNoFiles},
		{[]string{"audit", "--flight-sheets", ""}, nil, offerFolders},
		{[]string{"audit", "--sheet", "math-steps", "--explain", "json_v"}, []string{"json_valid"}, offerNoFiles},
		{[]string{"audit", "--explain", "json_v"}, nil, offerNoFiles},
		{[]string{"summary", "--by", ""}, []string{"sheet", "agent"}, offerNoFiles},
		{[]string{"rules", "for_e"}, []string{"for_each"}, offerNoFiles},
		{[]string{"rules", "math.mism"}, []string{"math.mismatch"}, offerNoFiles},
		{[]string{"help", "ledger", "ver"}, []string{"verify"}, offerNoFiles},
		{[]string{"completion", "z"}, []string{"zsh"}, offerNoFiles},
		{[]string{"version", ""}, nil, offerNoFiles},
	} {
		offered, directive := completionsOf(t, c.words...)
		if !slices.Equal(offered, c.offered) || directive != c.directive {
			t.Errorf("%q: offers %q (%s), want %q (%s)", c.words, offered, directive, c.offered, c.directive)
		}
	}
}

// The names of files in a pull request's folder of sheets reach a reviewer's shell: only slugs do.
func TestCompletionsOfHostileSheets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"zz-own", "zz-$(reboot)", "zz-a\nzz-b", "zz-\x1b[2J", "zz-\u202etfel"} {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	offered, _ := completionsOf(t, "sheet", "lint", "--flight-sheets", dir, "zz-")
	if want := []string{"zz-own"}; !slices.Equal(offered, want) {
		t.Errorf("offers %q, want %q", offered, want)
	}
}

// A completer for a command or a flag that does not exist completes nothing.
func TestCompletersNameCommandsAndFlags(t *testing.T) {
	flags := map[string]bool{}
	names := map[string]bool{}
	for _, c := range allCommands() {
		names[c.name] = true
		c.flags.VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for name := range argumentCompleters {
		if !names[name] {
			t.Errorf("argumentCompleters has %q, which is not a command", name)
		}
	}
	for name := range flagCompleters {
		if !flags[name] {
			t.Errorf("flagCompleters has --%s, which is not a flag", name)
		}
	}
	for name, instead := range replacedCommands {
		if names[name] || !names[instead] {
			t.Errorf("replacedCommands sends %q to %q", name, instead)
		}
	}
	for name, instead := range otherNames {
		if names[name] || !names[instead[0]] {
			t.Errorf("otherNames sends %q to %q", name, instead)
		}
	}
}
