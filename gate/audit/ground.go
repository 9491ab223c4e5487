package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Ground is what a replay reads of the repository beside the run folder. What is nil is not at hand, and what rests on
// it stays at the receipt's word.
type Ground struct {
	Dir    string // the run's folder in the head's tree
	Config string // the configuration's path; "" is config.Path
	Base   fs.FS  // the commit by whose configuration and sheets was judged: pull_request.base_sha
	Fork   fs.FS  // the merge base of that and the head: what stood there already is base's evidence
}

// grounds are what an audit took from outside the run folder: the agent's profile, the limits in force, and who brought
// the evidence.
type grounds struct {
	profile  *referee.Agent
	sheet    *referee.Sheet // with the limits
	evidence func(rep *referee.Report) func(id string) (from, by string)
	word     []string // what is taken at the receipt's word, and why
}

// atWord takes everything as the receipt has it.
func atWord(r *ledger.Receipt, sheet *referee.Sheet) (grounds, error) {
	set, err := receipt.WithRecordedParams(sheet, r.Params)
	return grounds{profile: receipt.PinnedProfile(r.Agent), sheet: set,
		evidence: func(*referee.Report) func(string) (string, string) { return recordedProvenance(r) }}, err
}

func recordedProvenance(r *ledger.Receipt) func(id string) (from, by string) {
	return func(id string) (from, by string) {
		i := slices.IndexFunc(r.Evidence, func(e ledger.Evidence) bool { return e.ID == id })
		if i < 0 {
			return "local", ""
		}
		return r.Evidence[i].Provenance, r.Evidence[i].AddedBy
	}
}

// groundsOf derives what it can: the profile and the limits from the configuration on base, whose the evidence is from
// the trees of base and head. Outside a forge nobody pins a profile, and all evidence is local. An entry that nobody
// signed says which commit stood on base, not by which rules.
func groundsOf(r *ledger.Receipt, run *referee.Run, sheet *referee.Sheet, at Ground) (grounds, error) {
	g, err := atWord(r, sheet)
	switch {
	case r.Kind == ledger.Unreceipted:
		g.noteWord(
			"the profile, the limits and who added the evidence: nobody signed this entry, and it does not say by " +
				"whose rules it was audited",
		)
	case r.PullRequest == nil:
		g.profile = nil
		g.evidence = func(*referee.Report) func(string) (string, string) {
			return func(string) (string, string) { return "local", "" }
		}
		if len(r.Params) > 0 {
			g.noteWord("the limits (params): they were given on a command line")
		}
	default:
		g.fromConfig(r, run, sheet, at)
		g.fromTrees(r, at)
	}
	if g.sheet == nil {
		return g, err // the recorded limits cannot be set, and no others are known
	}
	return g, nil
}

func (g *grounds) noteWord(format string, args ...any) {
	g.word = append(g.word, fmt.Sprintf(format, args...))
}

// fromConfig reads the configuration on base for the pinned profile and the limits.
func (g *grounds) fromConfig(r *ledger.Receipt, run *referee.Run, sheet *referee.Sheet, at Ground) {
	cfg, err := at.baseConfig()
	if err != nil {
		g.noteWord("the profile and the limits (params): %v at %.12s", err, r.PullRequest.BaseSHA)
		return
	}
	g.profile = config.PinnedProfile(cfg, run.Agent.Name)
	i := slices.IndexFunc(cfg.Runs, func(rule config.RunRule) bool {
		return config.CompilePattern(rule.Path).MatchString(at.Dir + "/run.json")
	})
	if i < 0 {
		g.noteWord("the limits (params): no rule of the configuration covers %s/run.json", at.Dir)
		return
	}
	set, err := WithLimits(sheet, cfg.Runs[i])
	if err != nil {
		g.noteWord("the limits (params): %v", err)
		return
	}
	g.sheet = set
}

// baseConfig is the configuration on base. A repository without one is judged by the default.
func (at Ground) baseConfig() (*config.Config, error) {
	name := at.Config
	if name == "" {
		name = config.Path
	}
	if at.Base == nil {
		return nil, errors.New("the commit of the configuration is not available")
	}
	src, err := referee.ReadFile(at.Base, name, 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist) && at.Config == "":
		return config.Default(), nil
	case err != nil:
		return nil, fmt.Errorf("the configuration cannot be read (%w)", err)
	}
	cfg, err := config.Parse(src, name)
	if err != nil {
		return nil, fmt.Errorf("the configuration is refused (%w)", err)
	}
	return cfg, nil
}

// WithLimits is a sheet with those limits of a rule that it has.
func WithLimits(sheet *referee.Sheet, rule config.RunRule) (*referee.Sheet, error) {
	values := map[string]*strictjson.Value{}
	for name, text := range rule.Params {
		if _, err := sheet.Param(name); err != nil {
			continue // of another sheet
		}
		v, err := receipt.ParseParam(text)
		if err != nil {
			return nil, fmt.Errorf("params.%s of the configuration cannot be read: %w", name, err)
		}
		values[name] = v
	}
	return sheet.WithParams(values)
}

// fromTrees tells whose the evidence is: base's, where the merge base has the same bytes, and else the pull request's.
// Git knows no login, so that who added it stays the receipt's word; it is one person.
func (g *grounds) fromTrees(r *ledger.Receipt, at Ground) {
	if at.Fork == nil {
		g.noteWord("who added the evidence: the merge base of base and head is not available")
		return
	}
	author := ""
	for _, e := range r.Evidence {
		if author == "" && e.AddedBy != "" {
			author = e.AddedBy
		}
	}
	if author == "" {
		author = unknownAuthor // the receipt names nobody: what the pull request added cannot agree with it
	} else {
		g.noteWord("that %s added the pull request's evidence: git knows no logins", author)
	}
	g.evidence = func(rep *referee.Report) func(string) (string, string) {
		return EvidenceProvenance(at.Fork, at.Dir, rep, author)
	}
}

// unknownAuthor is no login.
const unknownAuthor = "(nobody named)"
