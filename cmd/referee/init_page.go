package main

import (
	"slices"
	"strings"
)

// initPage says what was written and what comes next, in the order in which it has to be done.
func initPage(w *setupWriter, o initOptions, ledger string) string {
	p := &page{}
	for _, name := range setupNames(w, o) {
		about := "written"
		if slices.Contains(w.left, name) {
			about = "left as it is: it stands already"
		}
		p.entry(name, 40, about)
	}
	p.section("1. Merge this to " + o.branch + " first: the gate runs from there, not from a pull request.")
	p.line("git add .github && git commit -m \"Set the gate up\"")
	p.text("", firstRun+" is for a pull request: a run on "+o.branch+" without a receipt is reported.")
	p.section("2. Protect the branches (gh is GitHub's own command, as an administrator):")
	for _, file := range []string{"protect-default.json", "protect-ledger.json"} {
		p.line("gh api --method POST 'repos/{owner}/{repo}/rulesets' --input - <<'JSON'")
		for line := range strings.Lines(ruleset(file, ledger)) {
			p.line("%s", strings.TrimSuffix(line, "\n"))
		}
		p.line("JSON")
	}
	p.line(`gh api --method PUT 'repos/{owner}/{repo}/actions/permissions/workflow' \`)
	p.line(`  -f default_workflow_permissions=read -F can_approve_pull_request_reviews=false`)
	p.b.WriteString("\n")
	p.text("", "15368 is the app behind a workflow's own token on github.com. On another server, or with an App of your own, put that one's id there. "+
		"Write into .github/CODEOWNERS who owns /.github/ and /flight_sheets/.")
	p.section("3. Open a pull request with a run:")
	p.line("git switch -c first-run && git add %s", firstRun)
	p.text("", firstRun+"/INSTRUCTIONS.md is what to give the agent; `referee audit "+firstRun+"` says what is still to be filled. `referee run new` writes the next one.")
	p.section("`referee doctor` says what is still missing.")
	return p.b.String()
}

// setupNames are what init is about, in the order of its help.
func setupNames(w *setupWriter, o initOptions) []string {
	var names []string
	for _, f := range setup(o, actionPin{}) {
		names = append(names, f.name)
	}
	return append(names, firstRun)
}

// ruleset is the body of a request that protects a branch.
func ruleset(name, ledger string) string {
	text, err := setupFiles.ReadFile("setup/" + name)
	if err != nil {
		panic(err) // a file of this program's own
	}
	return strings.ReplaceAll(string(text), "@LEDGER@", quoted("refs/heads/"+ledger))
}
