package main

import (
	"fmt"
	"slices"
	"strings"
)

// initPage says what was written and what comes next, in the order in which it has to be done.
func initPage(w *setupWriter, o initOptions, ledger string) string {
	p := &page{}
	for _, name := range setupNames(w, o) {
		about := "written"
		if slices.Contains(w.left, name) {
			about = "kept: it already exists"
		}
		p.writeEntry(name, 40, about)
	}
	steps := []func(*page, initOptions, string) string{mergeStep, protectStep, firstRunStep}
	if o.app != "" {
		steps = slices.Insert(steps, 0, appStep)
	}
	for i, step := range steps {
		body := &page{}
		title := step(body, o, ledger)
		p.beginSection(fmt.Sprintf("%d. %s", i+1, title))
		p.b.WriteString(body.b.String())
	}
	p.beginSection("`referee doctor` says what is still missing.")
	return p.b.String()
}

// The steps of a set-up: each writes what is to be done, and gives its title.

func appStep(p *page, o initOptions, ledger string) string {
	p.text("", "Install it in this repository. It needs the permissions contents, checks, pull requests and issues: "+
		"write, and actions: read, and no webhook. "+
		"Its key belongs in an environment that only "+o.branch+" may use: a secret of the repository can be read by "+
		"a workflow on any branch.")
	p.writeRequest("PUT", "environments/referee", setupText("environment.json", o, ledger))
	p.line(`gh api --method POST \`)
	p.line(`  'repos/{owner}/{repo}/environments/referee/deployment-branch-policies' \`)
	p.line(`  -f type=branch -f 'name=%s'`, o.branch)
	p.line(`gh secret set %s --env referee < the-app.private-key.pem`, appSecret)
	return "Install the App " + o.app + ", and keep its key out of the reach of branches:"
}

// appSecret is the secret that holds the key of the App.
const appSecret = "REFEREE_APP_KEY"

func mergeStep(p *page, o initOptions, _ string) string {
	p.line("git add .github && git commit -m \"Set the gate up\"")
	p.text("", firstRun+" is for a pull request: a run on "+o.branch+" without a receipt is reported.")
	return "Merge this to " + o.branch + " first: the gate runs from there, not from a pull request."
}

func protectStep(p *page, o initOptions, ledger string) string {
	for _, file := range rulesetFiles(o) {
		p.writeRequest("POST", "rulesets", setupText(file, o, ledger))
	}
	p.line(`gh api --method PUT 'repos/{owner}/{repo}/actions/permissions/workflow' \`)
	p.line(`  -f default_workflow_permissions=read -F can_approve_pull_request_reviews=false`)
	p.b.WriteString("\n")
	p.text("", "Write into .github/CODEOWNERS who owns /.github/ and /flight_sheets/.")
	if o.app == "" {
		p.text("", plainToken)
	}
	return "Protect the branches (gh is GitHub's own command, as an administrator):"
}

// plainToken is what no ruleset can stop where the gate works with the workflow's own token.
const plainToken = "15368 is the app behind a workflow's own token on github.com; elsewhere `gh api " +
	"apps/github-actions --jq .id` says its id. " +
	"With that token nothing keeps somebody who can push from appending a forged entry to the ledger, or from making " +
	"a check of the same name with a workflow of their own. " +
	"A forged entry turns no check green, but stops every sign-off until the branch is restored. `referee init --app " +
	"APP_ID` is the set-up in which a GitHub App of yours alone may do both."

func firstRunStep(p *page, _ initOptions, _ string) string {
	p.line("git switch -c first-run && git add %s", firstRun)
	p.text("", firstRun+"/INSTRUCTIONS.md is what to give the agent; `referee audit "+firstRun+"` says what is still "+
		"to be filled. `referee run new` writes the next one.")
	return "Open a pull request with a run:"
}

// writeRequest writes a request of gh with its body.
func (p *page) writeRequest(method, path, body string) {
	call := fmt.Sprintf("gh api --method %s 'repos/{owner}/{repo}/%s'", method, path)
	input := " --input - <<'JSON'"
	if len(call)+len(input) > pageWidth {
		input = " \\\n " + input
	}
	for line := range strings.Lines(call + input) {
		p.line("%s", strings.TrimSuffix(line, "\n"))
	}
	for line := range strings.Lines(body) {
		p.line("%s", strings.TrimSuffix(line, "\n"))
	}
	p.line("JSON")
}

// setupNames are what init is about, in the order of its help.
func setupNames(w *setupWriter, o initOptions) []string {
	var names []string
	for _, f := range filesOfSetup(o, actionPin{}) {
		names = append(names, f.name)
	}
	return append(names, firstRun)
}

// rulesetFiles are the rulesets of a set-up. Two hold the ledger's branch where an App writes there: it alone may
// append, and even it may not rewrite what stands.
func rulesetFiles(o initOptions) []string {
	files := []string{"protect-default.json", "protect-ledger.json"}
	if o.app != "" {
		files = append(files, "protect-ledger-app.json")
	}
	return files
}

// actionsAppID is GitHub Actions on github.com: every check made with a workflow's own token is its.
const actionsAppID = "15368"

// setupText is the body of a request that sets a repository up.
func setupText(name string, o initOptions, ledger string) string {
	text, err := setupFiles.ReadFile("setup/" + name)
	if err != nil {
		panic(err) // a file of this program's own
	}
	app := o.app
	if app == "" {
		app = actionsAppID
	}
	return strings.NewReplacer("@LEDGER@", quoteJSON("refs/heads/"+ledger), "@APP_ID@", app).Replace(string(text))
}
