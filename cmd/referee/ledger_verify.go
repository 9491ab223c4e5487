package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// verifyOptions are the flags of referee ledger verify.
type verifyOptions struct {
	where                         ledgerFlags
	pin, against, format          string
	base, runs                    string
	remember, since, online, full bool
	forge                         forgeFlags
}

const verifyLong = `Says which level it reached, and what it cannot see there:
  L1  bytes, chain and tree agree with themselves; nothing else stands there
  L2  the chain extends a pin: --pin, or what --remember kept earlier
  L3  agrees with the genesis that the configuration on base pins, and with the
      receipts that the gate's reviews announce (--online)
  L4  agrees with the forge's record of reviews and merges (--online)
  L5  agrees with another copy (--against)
--online verifies the forge's own ledger, or the copy in REPO, and asks once for
the reviews of each pull request. What it could not read is LDG-606, never a
pass. It needs a token that may read pull requests, and contents if private.
--since looks only at what came after the remembered state, at any size of the
ledger. Exit codes: 0 nothing is wrong; 1 a problem, each with its LDG code;
2 bad usage; 3 the ledger, or the forge's record, could not be read.
Several ledgers are verified one after the other, and the exit code is the worst
of them; --format json writes a line for each.`

func ledgerVerifyCommand() *command {
	c := newCommand("ledger verify", "[REPO…]", "verify the chain, and say how far that reaches", -1)
	c.long = verifyLong
	c.examples = []string{"referee ledger verify", "referee ledger verify --remember",
		"referee ledger verify --base main", "referee ledger verify receipts.git --pin pin.json",
		"referee ledger verify shop.git depot.git --remember",
		"referee ledger verify --against https://example.org/mirror.git", "referee ledger verify --since",
		"referee ledger verify --online --repo acme/work",
		"referee ledger verify . --online --repo acme/work --api https://git.example.org/api/v3 --token-env GH_TOKEN"}
	o := &verifyOptions{}
	f := c.flags
	f.StringVar(&o.pin, "pin", "", "hold it to a `PIN`: a file of `referee ledger head --format json`, or COUNT:ROOT")
	f.BoolVar(&o.remember, "remember", false, "remember the state that was verified, for the next time")
	f.BoolVar(&o.since, "since", false, "look only at what came after the remembered state")
	f.StringVar(&o.against, "against", "", "compare with another copy in `REPO`, which is verified too")
	f.StringVar(&o.base, "base", "", "hold it to `REF`, a branch or commit: each merged run has its receipt; with "+
		"--online, a branch at the forge")
	f.StringVar(&o.runs, "runs", verify.DefaultRuns, "the manifests of runs: `PATTERN`, with --base or --online, "+
		"which else asks the configuration")
	f.BoolVar(&o.full, "full", false, "compare every commit with the one before it")
	f.BoolVar(&o.online, "online", false, "compare with the forge's record of reviews and merges")
	o.forge.addTo(f)
	c.choiceFlag(&o.format, "format", "table", "`FORMAT`", []string{"table", "json"})
	o.where.placeFlags(f)
	o.where.bulkFlag(f)
	c.run = func(a *app, args []string) error {
		switch len(args) {
		case 0:
			return o.run(a)
		case 1:
			o.where.repo = args[0]
			return o.run(a)
		}
		return o.runMany(a, args)
	}
	return c
}

// checkFlags refuses flags that cannot be meant.
func (o *verifyOptions) checkFlags() error {
	switch {
	case !o.online && o.forge.flagWithoutOnline() != "":
		return usagef("--%s needs --online", o.forge.flagWithoutOnline())
	case o.since && o.online:
		return usagef("--since and --online exclude each other: --since checks nothing older than the remembered state")
	case o.since && o.base != "":
		return usagef("--since and --base exclude each other: --since checks nothing older than the remembered state")
	case o.since && (o.pin != "" || o.against != "" || o.full):
		return usagef("--since excludes --pin, --against and --full: it checks nothing older than the remembered state")
	}
	return nil
}

func (o *verifyOptions) run(a *app) error {
	s, err := o.verify(a)
	if s != nil {
		defer s.closeCopies()
	}
	if err != nil {
		return err
	}
	if err := s.printResult(); err != nil {
		return err
	}
	return s.outcomeError()
}

// verify looks at one ledger. The session is to be closed, also where there is an error.
func (o *verifyOptions) verify(a *app) (*session, error) {
	if err := o.checkFlags(); err != nil {
		return nil, err
	}
	s := &session{app: a, options: o}
	if err := s.openCopies(); err != nil {
		return s, err
	}
	var err error
	bar := a.newBar("verifying")
	s.looks.Progress = bar.setProgress
	s.result, err = s.copied.Verify(a.ctx, s.looks)
	bar.endBar()
	if err != nil {
		return s, verifyFailure(err)
	}
	return s, nil
}

// outcomeError is the exit code of a result.
func (s *session) outcomeError() error {
	switch {
	case s.result.OK():
		return nil
	case s.result.Unread():
		return &failure{code: exitTool}
	}
	return &failure{code: exitRules}
}

// verifyFailure gives an error of package verify its exit code, and says which flag would mend it.
func verifyFailure(err error) error {
	var in *verify.InputError
	switch {
	case errors.Is(err, verify.ErrChanged):
		return toolf("%w", err).withHint("run it again")
	case errors.Is(err, verify.ErrForge):
		return toolf("%w", err).withHint("nothing was verified; set --repo, --api and --token-env")
	case !errors.As(err, &in):
		return toolf("%w", err)
	}
	switch in.Input {
	case verify.InputLedger:
		return usagef("%w", err).withHint("--branch names the branch that holds it")
	case verify.InputSince:
		return usagef("%w", err).withHint("run `referee ledger verify --remember` once")
	case verify.InputBase:
		return usagef("%w", err).withHint("--base names a branch or commit of the repository that holds the ledger")
	case verify.InputForgeBase:
		return usagef("--base with --online names a branch at the forge: %w", err)
	case verify.InputNoForgeBase:
		return usagef("%w", err).withHint("--base names the branch that work is merged into")
	}
	return usagef("%w", err)
}

// stateDir is where the pins of this user are kept.
func (a *app) stateDir() string {
	for _, v := range []struct{ name, below string }{{"XDG_STATE_HOME", "referee/pins"},
		{"HOME", ".local/state/referee/pins"}, {"LOCALAPPDATA", "referee/pins"}} {
		if dir := a.getenv(v.name); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(v.below))
		}
	}
	return ""
}

// session is one verification as a user asked for it.
type session struct {
	*app
	options *verifyOptions
	looks   verify.Options
	copied  *verify.Copy
	result  *verify.Result
}

// closeCopies removes what was fetched.
func (s *session) closeCopies() {
	for _, c := range []*verify.Copy{s.copied, s.looks.Against} {
		if c != nil {
			_ = c.Close() // a directory of temporary files
		}
	}
	if s.looks.Forge != nil {
		_ = s.looks.Forge.Close() // likewise
	}
}

// openCopies reaches the ledger, and what it is held to.
func (s *session) openCopies() error {
	o := s.options
	memory := gitstore.Pins{Dir: s.stateDir()}
	if (o.remember || o.since) && memory.Dir == "" {
		return usagef("HOME is not set: nowhere to remember a ledger")
	}
	s.looks = verify.Options{Memory: memory, Remember: o.remember, Since: o.since, Full: o.full}
	if err := s.readPin(); err != nil {
		return err
	}
	if err := s.openPlace(); err != nil {
		return err
	}
	if o.against == "" {
		return nil
	}
	other := o.where
	other.repo = o.against
	k, err := s.reachLedger(&other)
	if err == nil {
		s.looks.Against = k.verifyCopy(&other)
	}
	return err
}

// openPlace opens the ledger, and with --online the forge: then the ledger is the forge's own unless a copy is named.
func (s *session) openPlace() (err error) {
	o := s.options
	if o.online {
		if s.looks.Forge, err = s.openForge(o); err != nil {
			return err
		}
	} else {
		s.looks.Base, s.looks.Runs = o.base, o.runs
	}
	if o.online && o.where.repo == "" {
		return s.forgesOwn()
	}
	k, err := s.reachLedger(&o.where)
	if err == nil {
		s.copied = k.verifyCopy(&o.where)
	}
	return err
}

var rootPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^([1-9][0-9]{0,9}):([0-9a-f]{64})$`) })

// readPin reads --pin.
func (s *session) readPin() error {
	word := s.options.pin
	if word == "" {
		return nil
	}
	if m := rootPattern().FindStringSubmatch(word); m != nil {
		count, err := strconv.ParseInt(m[1], 10, 64)
		s.looks.Root = &verify.Root{Count: count, Root: m[2], Source: "--pin"}
		return err
	}
	b, err := os.ReadFile(word)
	if err != nil {
		return usagef("--pin %s is neither COUNT:ROOT nor a file that can be read",
			word).withHint("`referee ledger head` prints a ledger's pin")
	}
	b = []byte(strings.TrimSuffix(string(b), "\n"))
	pin, err := ledger.ParsePin(b)
	if head, asHead := ledger.ParseHead(b); asHead == nil {
		pin, err = ledger.PinOf(head, ""), nil
	}
	if err != nil {
		return usagef("--pin %s: %w", word, err).withHint("`referee ledger head --format json` writes such a file")
	}
	pin.Level, pin.Source = ledger.L2, "the pin in "+word
	s.looks.Pins = []ledger.Pin{pin}
	return nil
}

// printResult prints the result.
func (s *session) printResult() error {
	if s.options.format == "json" {
		return s.printJSON(s.resultRecord())
	}
	p := &page{}
	r := s.result
	p.line("%s", s.copied.Name)
	p.writeEntry("entries", receiptColumn, strconv.FormatInt(r.Head.Count, 10))
	p.writeEntry("tip", receiptColumn, r.Head.Tip)
	p.writeEntry("root", receiptColumn, r.Head.Root)
	p.writeCompared(r.Compared)
	if !r.OK() {
		p.beginSection(fmt.Sprintf("NOT VERIFIED: %s", countWord(len(r.Problems), "problem")))
		for i, problem := range r.Problems {
			p.writeProblem(problem)
			// once for those that follow one another
			if i == len(r.Problems)-1 || remedyFor(problem) != remedyFor(r.Problems[i+1]) {
				p.writeLabelled(receiptColumn-3, "→", remedyFor(problem))
			}
		}
		return s.app.print(p.b.String())
	}
	p.beginSection(fmt.Sprintf("%s reached: %s", r.Level, s.levelsText()))
	if why := s.unpinnedText(); why != "" {
		p.text("", why)
	}
	p.line("Not seen by this verification:")
	for _, what := range r.Unseen() {
		p.text("  - ", what)
	}
	if s.options.remember {
		p.beginSection("Remembered; the next verification holds the ledger to it.")
	}
	return s.app.print(p.b.String())
}

// levelsText words the levels that were looked at.
func (s *session) levelsText() string {
	if s.options.since {
		return "the new entries extend what was seen here before"
	}
	return s.result.Level.Says()
}

// remedyFor is what to do about a problem.
func remedyFor(problem ledger.Problem) string {
	about, _ := problem.Code.Of()
	return about.Remedy
}

// writeProblem writes one problem and its place.
func (p *page) writeProblem(problem ledger.Problem) {
	place := problem.Path
	if place == "" && problem.Seq >= 0 {
		place = fmt.Sprintf("entry %d", problem.Seq)
	}
	about, _ := problem.Code.Of()
	p.text("  "+string(problem.Code)+"  ", about.Title)
	p.writeLabelled(receiptColumn-3, "", place)
	p.writeLabelled(receiptColumn-3, "", problem.Message)
}

// verifyRecord is the result as json.
type verifyRecord struct {
	OK       bool             `json:"ok"`
	Level    string           `json:"level"` // reached; "" if something is wrong
	LookedAt []string         `json:"looked_at"`
	Entries  int64            `json:"entries"`
	Tip      string           `json:"tip"`
	Root     string           `json:"root"`
	Problems []problemRecord  `json:"problems"`
	Blind    []string         `json:"not_seen"`
	Forge    *verify.Compared `json:"forge,omitempty"`
}

type problemRecord struct {
	Code    ledger.Code `json:"code"`
	Level   string      `json:"level"`
	Path    string      `json:"path,omitempty"`
	Seq     *int64      `json:"seq,omitempty"`
	Message string      `json:"message"`
}

func (s *session) resultRecord() verifyRecord {
	r := s.result
	v := verifyRecord{OK: r.OK(), Entries: r.Head.Count, Tip: r.Head.Tip, Root: r.Head.Root,
		Problems: []problemRecord{}, Blind: r.Unseen(), LookedAt: []string{}, Forge: r.Compared}
	if v.OK {
		v.Level = r.Level.String()
	}
	for _, l := range r.Looked {
		v.LookedAt = append(v.LookedAt, l.String())
	}
	for _, p := range r.Problems {
		out := problemRecord{Code: p.Code, Level: p.Level.String(), Path: p.Path, Message: p.Message}
		if p.Seq >= 0 {
			out.Seq = &p.Seq
		}
		v.Problems = append(v.Problems, out)
	}
	if canonical.CheckHash(v.Root) != nil {
		v.Root = ""
	}
	return v
}
