package main

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// forgeFlags say which forge a ledger is compared with.
type forgeFlags struct {
	repo, api, tokenEnv, app string
	maxWait                  time.Duration
	set                      *pflag.FlagSet
}

// addTo adds the flags to a command.
func (f *forgeFlags) addTo(flags *pflag.FlagSet) {
	f.set = flags
	flags.StringVar(&f.repo, "repo", "", "with --online, `OWNER/NAME` at the forge (default: $GITHUB_REPOSITORY)")
	flags.StringVar(&f.api, "api", "", "with --online, `URL` of the API (default: $GITHUB_API_URL, "+
		"https://api.github.com)")
	flags.StringVar(&f.tokenEnv, "token-env", "GITHUB_TOKEN",
		"with --online, the environment variable `NAME` that holds the token")
	flags.StringVar(&f.app, "app", "github-actions", "with --online, the `SLUG` of the app as which the gate posts")
	flags.DurationVar(&f.maxWait, "max-wait", githubapi.DefaultMaxWait,
		"with --online, the API, and each connection to git, wait so long for rate limits and failing servers")
}

// flagWithoutOnline gives a flag that was set and means nothing without --online.
func (f *forgeFlags) flagWithoutOnline() string {
	for _, name := range []string{"repo", "api", "token-env", "app", "max-wait"} {
		if f.set.Changed(name) {
			return name
		}
	}
	return ""
}

// openForge reaches the repository at the forge as the flags and the environment say.
func (a *app) openForge(o *verifyOptions) (*verify.Forge, error) {
	f := &o.forge
	name := cmp.Or(f.repo, a.getenv("GITHUB_REPOSITORY"))
	if name == "" {
		return nil, usagef("--online needs a repository").withHint("use --repo OWNER/NAME; in a workflow, " +
			"GITHUB_REPOSITORY sets it")
	}
	token := a.getenv(f.tokenEnv)
	if token == "" && f.set.Changed("token-env") {
		return nil, usagef("--token-env %s: the variable is not set, or is empty", f.tokenEnv)
	}
	with := verify.ForgeOptions{API: cmp.Or(f.api, a.getenv("GITHUB_API_URL")), Repository: name, Token: token,
		App: f.app, Base: o.base, MaxWait: f.maxWaitOption(), Git: o.where.gitPath()}
	if f.set.Changed("runs") {
		with.Runs = o.runs
	}
	forge, err := verify.OpenForge(a.ctx, with)
	if err != nil {
		return nil, verifyFailure(err)
	}
	return forge, nil
}

// maxWaitOption is the bound on the waits as the clients know it, in which 0 is the usual.
func (f *forgeFlags) maxWaitOption() time.Duration {
	if f.maxWait == 0 {
		return -1
	}
	return f.maxWait
}

// forgesOwn opens the ledger that the forge itself keeps, where --branch or the configuration says.
func (s *session) forgesOwn() (err error) {
	o, branch := s.options, ""
	if o.forge.set.Changed("branch") {
		if err := gitstore.CheckBranch(o.where.branch); err != nil {
			return usagef("the ledger's branch: %w", err)
		}
		branch = o.where.branch
	}
	if s.copied, err = s.looks.Forge.Ledger(branch); err != nil {
		return verifyFailure(err)
	}
	o.where.branch = s.copied.Branch // that of the other copy too, with --against
	return nil
}

// writeCompared says with whom the ledger was compared.
func (p *page) writeCompared(c *verify.Compared) {
	if c == nil {
		return
	}
	p.writeEntry("forge", receiptColumn, c.Site+"/"+c.Repository)
	p.writeEntry("base", receiptColumn, c.Base+" "+c.BaseSHA)
	p.writeEntry("genesis", receiptColumn, cmp.Or(c.Genesis, "not pinned: ledger.genesis in "+config.Path+" would"))
	p.writeEntry("announced", receiptColumn, countWord(c.Announced,
		"receipt")+" in the reviews of "+countWord(c.PullRequests,
		"pull request"))
	p.writeEntry("requests", receiptColumn, strconv.Itoa(c.Requests))
}

// unpinnedText says that L3 was not looked at although the forge was asked.
func (s *session) unpinnedText() string {
	r := s.result
	if r.Compared == nil || slices.Contains(r.Looked, ledger.L3) {
		return ""
	}
	return "L3 was not looked at: the configuration on " + r.Compared.Base + " pins no genesis, and no review of " +
		s.options.forge.app + "[bot] announces a receipt."
}
