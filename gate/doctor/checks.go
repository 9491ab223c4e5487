package doctor

// doctorCheck is one check of a repository's settings: what is looked at, and beside it why it matters and what to do.
type doctorCheck struct {
	id     string
	needs  []Source // without which nothing can be said
	look   func(*checkup) doctorFinding
	why    string
	remedy string
}

// doctorChecks are all checks, in the order in which a new repository is set up.
var doctorChecks = []doctorCheck{
	{"actions.enabled", []Source{FromActions}, (*checkup).actionsEnabled,
		"Without Actions the gate never runs.",
		"Settings → Actions → General: allow actions."},
	{"workflow.present", []Source{FromFiles}, (*checkup).workflowPresent,
		"The workflow that judges a pull request is the default branch's.",
		"`referee init`, and merge what it writes to the default branch."},
	{"workflow.events", []Source{FromFiles}, (*checkup).workflowEvents,
		"pull_request and pull_request_review run the workflow file of the pull request itself: an agent with a " +
			"branch can edit the gate that judges it, and a fork's token may not write.",
		"Run referee.yml on pull_request_target and on workflow_run of referee-review, as `referee init` writes them."},
	{"workflow.permissions", []Source{FromFiles}, (*checkup).workflowPermissions,
		"Without these the gate cannot post its checks, its review and its issues, or append receipts.",
		"permissions: contents, checks, pull-requests and issues: write, actions: read."},
	{"workflow.self_sign", []Source{FromFiles}, (*checkup).workflowSelfSign,
		"A run that was started by hand can be re-run by others after a push. Its title says which head and " +
			"digest were meant, and nothing else is signed.",
		"Take run-name and the inputs of workflow_dispatch as `referee init` writes them."},
	{"action.pinned", []Source{FromFiles}, (*checkup).actionPinned,
		"A tag or a branch can be moved to other code; a commit cannot.",
		"uses: defendableos/referee@<the release's full commit> # its version"},
	{"config", []Source{FromFiles}, (*checkup).configReads,
		"With a configuration that cannot be read every audit fails; a base that it does not list is judged by " +
			"the default branch's.",
		"Correct .github/referee.yml on the default branch; every key is in docs/setup.md."},
	{"sheets", []Source{FromFiles}, (*checkup).sheetsLoad,
		"A run whose flight sheet does not load cannot be audited, and fails.",
		"`referee sheet lint` shows every refusal; `referee sheet list` lists the sheets."},
	{"sheets.any", []Source{FromFiles}, (*checkup).sheetsAny,
		"A pull request that may choose its rulebook takes the one that suits it.",
		"List them in .github/referee.yml: runs: [{path: \"runs/**/run.json\", sheets: " +
			"[cre-multifamily-agency]}]; \"*\" is right where any of them will do."},
	{"checks.required", []Source{FromFiles}, (*checkup).checksRequired,
		"A check that is not required does not block a merge.",
		"Require both checks in a ruleset for the default branch: `referee init` prints the `gh api` line."},
	{"checks.job", []Source{FromFiles}, (*checkup).checksJob,
		"A job's conclusion belongs to the event that it ran for. A review runs another job, on the default " +
			"branch: it makes the checks green, and the required job stays red.",
		"In the ruleset's required_status_checks put {\"context\": \"referee / audit\", \"integration_id\": " +
			"15368} (or your App's id) in the place of the job."},
	{"checks.names", []Source{FromFiles}, (*checkup).checksNames,
		"A job's check and the gate's belong to the same app: of two with one name GitHub takes the newer.",
		"Give the job another name."},
	{"checks.source", nil, (*checkup).checksSource,
		"If a required check may come from any source, anyone who can push can post a status of that name.",
		"Name the source of each required check in the ruleset: integration_id 15368 (GitHub Actions on " +
			"github.com), or your App's id."},
	{"checks.token", nil, (*checkup).checksToken,
		"Every check made with the plain token belongs to one app: any workflow that an agent manages to add can " +
			"forge both checks, and no ruleset can tell.",
		"`referee init --app APP_ID`: the action gets an App's token, and the checks are required of that App."},
	{"app.key", []Source{FromFiles}, (*checkup).appKey,
		"Whoever has the App's key can act as the App: a workflow that somebody pushes to a branch reads every " +
			"secret of the repository.",
		"Keep the key in an environment that only the default branch may use, and nowhere else: `referee init " +
			"--app APP_ID` prints how."},
	{"reviews.required", nil, (*checkup).reviewsRequired,
		"A merge without an approving review has no sign-off behind it.",
		"Require pull requests with at least as many approvals as approval.count."},
	{"reviews.stale", nil, (*checkup).reviewsStale,
		"After a push GitHub may show an approval of older bytes beside the new head.",
		"Dismiss stale approvals when new commits are pushed (dismiss_stale_reviews_on_push)."},
	{"files.owned", []Source{FromFiles}, (*checkup).filesOwned,
		"Who can change the workflows, the configuration or the sheets decides what passes.",
		"Name owners of /.github/ and of the sheets' folder in .github/CODEOWNERS, and require their review."},
	{"actions.approve", []Source{FromWorkflows}, (*checkup).actionsApprove,
		"A workflow could approve a pull request in a person's place.",
		"Turn \"Allow GitHub Actions to create and approve pull requests\" off."},
	{"actions.token", []Source{FromWorkflows}, (*checkup).actionsToken,
		"A workflow that does not declare its permissions may write, even to the ledger.",
		"Settings → Actions → General → Workflow permissions: read."},
	{"ledger.rules", nil, (*checkup).ledgerRules,
		"A ledger that can be force-pushed or deleted can be rewritten.",
		"A ruleset for the ledger's branch with deletion and non_fast_forward that nobody may bypass, and nothing " +
			"that stops the gate's own push: `referee init` prints the `gh api` line."},
	{"ledger.push", nil, (*checkup).ledgerPush,
		"A forged entry turns no check green: the gate judges from the reviews that it reads at that time. But it " +
			"stops every sign-off until the branch is restored (docs/setup.md says how).",
		"A GitHub App that alone may push there: `referee init --app APP_ID` prints the rulesets, the workflow " +
			"and where its key belongs. With the workflow's own token every workflow is the same app, and no " +
			"ruleset can tell the gate's."},
	{"workflows.head", []Source{FromFiles}, (*checkup).workflowsHead,
		"A workflow that runs with this repository's token, and takes files from the pull request, hands the " +
			"token to its author.",
		"Use pull_request, or permissions that read only, or do not check the pull request out."},
	{"workflows.write", []Source{FromFiles}, (*checkup).workflowsWrite,
		"A workflow with contents: write can append to the ledger, and so can whatever it installs.",
		"Give such a workflow contents: write in the one job that needs it, or an App's token of its own."},
}
