package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/gate/audit"
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
2 bad usage; 3 the ledger, or the forge's record, could not be read.`

func ledgerVerifyCommand() *command {
	c := newCommand("ledger verify", "[REPO]", "verify the chain, and say how far that reaches", 1)
	c.long = verifyLong
	c.examples = []string{"referee ledger verify", "referee ledger verify --remember",
		"referee ledger verify --base main", "referee ledger verify receipts.git --pin pin.json",
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
	f.StringVar(&o.runs, "runs", "runs/**/run.json", "the manifests of runs: `PATTERN`, with --base or --online, "+
		"which else asks the configuration")
	f.BoolVar(&o.full, "full", false, "compare every commit with the one before it")
	f.BoolVar(&o.online, "online", false, "compare with the forge's record of reviews and merges")
	o.forge.addTo(f)
	c.choiceFlag(&o.format, "format", "table", "`FORMAT`", []string{"table", "json"})
	o.where.placeFlags(f)
	o.where.bulkFlag(f)
	c.run = func(a *app, args []string) error {
		if len(args) == 1 {
			o.where.repo = args[0]
		}
		return o.run(a)
	}
	return c
}

// check refuses flags that cannot be meant.
func (o *verifyOptions) check() error {
	switch {
	case !o.online && o.forge.strange() != "":
		return usagef("--%s needs --online", o.forge.strange())
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
	if err := o.check(); err != nil {
		return err
	}
	s := &session{app: a, options: o, pins: gitstore.Pins{Dir: a.stateDir()}, seen: []ledger.Level{ledger.L1}}
	defer s.close()
	if err := s.open(); err != nil {
		return err
	}
	if err := s.verify(); err != nil {
		return err
	}
	if o.remember && s.result.OK() {
		if err := s.pins.Save(s.k.location, s.k.branch, s.result.Head); err != nil {
			return toolf("%w", err)
		}
	}
	if err := s.print(); err != nil {
		return err
	}
	switch {
	case s.result.OK():
		return nil
	case unreadOnly(s.result.Problems):
		return &failure{code: exitTool}
	}
	return &failure{code: exitRules}
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

// session is one verification.
type session struct {
	*app
	options *verifyOptions
	pins    gitstore.Pins
	known   []ledger.Pin
	root    *rootPin
	seen    []ledger.Level // levels that were looked at
	k       *kept
	forge   *forgeSide // nil without --online
	result  *ledger.Verification
}

// close removes what was fetched.
func (s *session) close() {
	if s.forge != nil {
		s.forge.close()
	}
	if s.k != nil {
		_ = s.k.Close() // a directory of temporary files
	}
}

// open gathers what is known of the ledger. One that was seen before and is gone now was cut off, not forgotten.
func (s *session) open() error {
	o := s.options
	if (o.remember || o.since) && s.pins.Dir == "" {
		return usagef("HOME is not set: nowhere to remember a ledger")
	}
	if err := s.readPin(); err != nil {
		return err
	}
	k, err := s.place()
	if err != nil {
		return err
	}
	s.k = k
	if s.pins.Dir == "" {
		return nil
	}
	if pin, ok := s.pins.Load(k.location, k.branch); ok {
		s.known = append(s.known, pin)
	} else if o.since {
		return usagef("no remembered state of this ledger").hint("run `referee ledger verify --remember` once")
	}
	return nil
}

// place opens the ledger, and with --online the forge: then the ledger is the forge's own unless a copy is named.
func (s *session) place() (k *kept, err error) {
	o := s.options
	if !o.online {
		return s.reach(&o.where)
	}
	if s.forge, err = s.openForge(&o.forge, o.base); err != nil {
		return nil, err
	}
	for _, pin := range s.forge.genesis() {
		s.look(ledger.L3)
		s.known = append(s.known, pin)
	}
	if o.where.repo != "" {
		return s.reach(&o.where)
	}
	return s.own()
}

// rootPin is a pin that was given as COUNT:ROOT.
type rootPin struct {
	count int64
	root  string
}

var rootPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^([1-9][0-9]{0,9}):([0-9a-f]{64})$`) })

// readPin reads --pin.
func (s *session) readPin() error {
	word := s.options.pin
	if word == "" {
		return nil
	}
	s.look(ledger.L2)
	if m := rootPattern().FindStringSubmatch(word); m != nil {
		count, err := strconv.ParseInt(m[1], 10, 64)
		s.root = &rootPin{count, m[2]}
		return err
	}
	b, err := os.ReadFile(word)
	if err != nil {
		return usagef("--pin %s is neither COUNT:ROOT nor a file that can be read",
			word).hint("`referee ledger head` prints a ledger's pin")
	}
	b = []byte(strings.TrimSuffix(string(b), "\n"))
	pin, err := ledger.ParsePin(b)
	if head, asHead := ledger.ParseHead(b); asHead == nil {
		pin, err = ledger.PinOf(head, ""), nil
	}
	if err != nil {
		return usagef("--pin %s: %w", word, err).hint("`referee ledger head --format json` writes such a file")
	}
	pin.Level, pin.Source = ledger.L2, "the pin in "+word
	s.known = append(s.known, pin)
	return nil
}

func (s *session) look(l ledger.Level) {
	if !slices.Contains(s.seen, l) {
		s.seen = append(s.seen, l)
	}
}

// verify looks at all of it, or at what came after the remembered state.
func (s *session) verify() error {
	if slices.ContainsFunc(s.known, func(p ledger.Pin) bool { return p.Level == ledger.L2 }) {
		s.look(ledger.L2)
	}
	if s.options.since {
		return s.verifySince()
	}
	var err error
	if s.result, err = s.whole(s.k, s.known); err != nil {
		return err
	}
	if err := s.complete(); err != nil {
		return err
	}
	if s.root != nil {
		s.add(s.root.against(s.result))
	}
	if s.options.against == "" {
		s.settle()
		return nil
	}
	return s.compare()
}

// compare verifies the other copy too, and holds the two together.
func (s *session) compare() error {
	s.look(ledger.L5)
	other := s.options.where
	other.repo = s.options.against
	copied, err := s.reach(&other)
	if err != nil {
		return err
	}
	defer copied.Close()
	theirs, err := s.whole(copied, nil)
	if err != nil {
		return err
	}
	for _, p := range theirs.Problems {
		p.Message = "in the other copy: " + p.Message
		s.add(&p)
	}
	for _, p := range ledger.Compare(s.result, theirs) {
		s.add(&p)
	}
	s.settle()
	return nil
}

// complete holds the ledger to the base branch: every merged run has its live receipt, or an entry that says it has
// none.
func (s *session) complete() error {
	o := s.options
	if o.base == "" || o.online { // with --online, the base is the forge's
		return nil
	}
	repo, done, err := s.all(s.k, &o.where)
	if err != nil {
		return err
	}
	defer done()
	commits := map[string]string{}
	for _, name := range []string{o.base, s.k.Ref()} {
		commit, err := repo.Resolve(name)
		if err != nil {
			return toolf("reading %s: %w", name, err)
		}
		if commit == "" {
			return usagef("%s: not found in %s", name, s.k.location).hint("--base names a branch or commit of the " +
				"repository that holds the ledger")
		}
		commits[name] = commit
	}
	problems, err := repo.Complete(s.ctx, commits[s.k.Ref()], gitstore.Base{Commit: commits[o.base],
		IsRun: audit.Manifests(o.runs), Read: audit.MergedRun(flightsheets.FS(), "flight_sheets")})
	if err != nil {
		return toolf("reading %s: %w", o.base, err)
	}
	for _, p := range problems {
		s.add(&p)
	}
	return nil
}

func (s *session) add(p *ledger.Problem) {
	if p != nil {
		s.result.Problems = append(s.result.Problems, *p)
	}
}

// settle says which level was reached: the highest that was looked at, if nothing is wrong.
func (s *session) settle() {
	s.result.Level = 0
	if s.result.OK() {
		s.result.Level = slices.Max(s.seen)
	}
}

// whole verifies one copy as a whole. What is behind a URL is fetched for that, and removed again.
func (s *session) whole(k *kept, pins []ledger.Pin) (*ledger.Verification, error) {
	repo, commit, done, err := s.newest(k)
	if err != nil {
		return nil, err
	}
	defer done()
	switch {
	case commit == "" && len(pins) == 0 && s.root == nil:
		return nil, usagef("no ledger found: no %s", k.name).hint("--branch names the branch that holds it")
	case commit == "":
		return ledger.Verify(s.ctx, ledger.FileTree{}, ledger.Options{Pins: pins})
	}
	bar := s.newBar("verifying")
	v, err := repo.Verify(s.ctx, commit, gitstore.VerifyOptions{Pins: pins, Full: s.options.full, Progress: bar.set})
	bar.end()
	if err != nil {
		return nil, toolf("verifying %s: %w", k.name, err)
	}
	if s.forge != nil && k == s.k && v.OK() {
		s.result = v
		err = s.compareOnline(repo, commit)
	}
	return v, err
}

// newest gives the newest commit of a ledger, "" if there is none, and a repository that holds it. The function given
// back removes what was fetched.
func (s *session) newest(k *kept) (repo *gitstore.Repo, commit string, done func(), err error) {
	if s.forge != nil && s.forge.ledger != nil && k == s.k {
		if repo, commit, err = s.fetched(); err != nil {
			err = toolf("fetching %s: %w", k.name, err)
		}
		return repo, commit, func() {}, err
	}
	if repo, done, err = s.all(k, &s.options.where); err != nil {
		return nil, "", nil, err
	}
	if commit, err = repo.Resolve(k.Ref()); err != nil {
		done()
		return nil, "", nil, toolf("reading %s: %w", k.name, err)
	}
	return repo, commit, done, nil
}

// against holds the entries to a root.
func (p *rootPin) against(v *ledger.Verification) *ledger.Problem {
	have := int64(len(v.Hashes))
	if p.count > have {
		return &ledger.Problem{Code: ledger.CodeTruncated, Level: ledger.L2, Seq: p.count - 1,
			Message: fmt.Sprintf("--pin knows %d entries, the ledger has %d", p.count, have)}
	}
	root, err := v.Leaves.Root(p.count)
	if err != nil || root != p.root {
		return &ledger.Problem{Code: ledger.CodePinRoot, Level: ledger.L2, Seq: p.count - 1,
			Message: fmt.Sprintf("--pin knows the root %.8s…, here it is %.8s…", p.root, root)}
	}
	return nil
}

// verifySince continues from the remembered state. Its right edge is read from the commit that made it, and believed
// because it makes the root that is remembered.
func (s *session) verifySince() error {
	pin := s.known[len(s.known)-1]
	if pin.Count < 0 {
		s.result = &ledger.Verification{}
		s.add(&ledger.Problem{Code: ledger.CodePinUnusable, Level: ledger.L2, Seq: -1, Message: pin.Source})
		return nil
	}
	var err error
	if s.k.at, err = s.k.Head(s.ctx); err != nil {
		return toolf("reading %s: %w", s.k.name, err)
	}
	at, err := s.stateAt(pin)
	if err != nil {
		return err
	}
	if at == nil {
		s.result = &ledger.Verification{}
		s.add(&ledger.Problem{Code: ledger.CodePinTip, Level: ledger.L2, Seq: pin.Count - 1,
			Message: fmt.Sprintf("%s knows the entry %.8s… with the root %.8s…, and no commit has it", pin.Source,
				pin.Tip, pin.Root)})
		return nil
	}
	if s.result, err = ledger.VerifySince(s.ctx, s.k, s.k.at, *at); err != nil {
		return toolf("verifying %s: %w", s.k.name, err)
	}
	return nil
}

// stateAt gives the head of the commit that the pin was made on, nil if there is none.
func (s *session) stateAt(pin ledger.Pin) (*ledger.Head, error) {
	if pin.Tip == ledger.NoParent {
		h := ledger.NewHead()
		return &h, nil
	}
	if h := s.k.at.Head; h.Tip == pin.Tip && h.Root == pin.Root && h.Count == pin.Count {
		return &h, nil
	}
	if s.k.at.ID == "" || s.k.Repo() == nil {
		return nil, nil
	}
	for c, err := range s.k.Repo().Commits(s.ctx, s.k.at.ID) {
		if err != nil {
			return nil, toolf("reading the commits of %s: %w", s.k.name, err)
		}
		stated, err := ledger.ParseMessage(c.Message)
		if err != nil || stated.Hash != pin.Tip {
			if err == nil && stated.Seq < pin.Count-1 {
				return nil, nil
			}
			continue
		}
		at, err := s.k.At(s.ctx, c.ID)
		if err != nil || at.Head.Count != pin.Count || at.Head.Root != pin.Root {
			return nil, nil
		}
		return &at.Head, nil
	}
	return nil, nil
}

// print prints the result.
func (s *session) print() error {
	if s.options.format == "json" {
		return s.printJSON(s.record())
	}
	p := &page{}
	r := s.result
	p.line("%s", s.k.name)
	p.entry("entries", receiptColumn, strconv.FormatInt(r.Head.Count, 10))
	p.entry("tip", receiptColumn, r.Head.Tip)
	p.entry("root", receiptColumn, r.Head.Root)
	s.forge.entries(p)
	if !r.OK() {
		p.section(fmt.Sprintf("NOT VERIFIED: %s", plural(len(r.Problems), "problem")))
		for i, problem := range r.Problems {
			p.problem(problem)
			// once for those that follow one another
			if i == len(r.Problems)-1 || remedy(problem) != remedy(r.Problems[i+1]) {
				p.labelled(receiptColumn-3, "→", remedy(problem))
			}
		}
		return s.app.print(p.b.String())
	}
	p.section(fmt.Sprintf("%s reached: %s", r.Level, s.says()))
	if why := s.forge.unpinned(slices.Contains(s.seen, ledger.L3)); why != "" {
		p.text("", why)
	}
	p.line("Not seen by this verification:")
	for _, what := range ledger.Unseen(s.seen) {
		p.text("  - ", what)
	}
	if s.options.remember {
		p.section("Remembered; the next verification holds the ledger to it.")
	}
	return s.app.print(p.b.String())
}

// says words the levels that were looked at.
func (s *session) says() string {
	if s.options.since {
		return "the new entries extend what was seen here before"
	}
	return s.result.Level.Says()
}

// remedy is what to do about a problem.
func remedy(problem ledger.Problem) string {
	about, _ := problem.Code.Of()
	return about.Remedy
}

// problem writes one problem and its place.
func (p *page) problem(problem ledger.Problem) {
	place := problem.Path
	if place == "" && problem.Seq >= 0 {
		place = fmt.Sprintf("entry %d", problem.Seq)
	}
	about, _ := problem.Code.Of()
	p.text("  "+string(problem.Code)+"  ", about.Title)
	p.labelled(receiptColumn-3, "", place)
	p.labelled(receiptColumn-3, "", problem.Message)
}

// verifyRecord is the result as json.
type verifyRecord struct {
	OK       bool            `json:"ok"`
	Level    string          `json:"level"` // reached; "" if something is wrong
	LookedAt []string        `json:"looked_at"`
	Entries  int64           `json:"entries"`
	Tip      string          `json:"tip"`
	Root     string          `json:"root"`
	Problems []problemRecord `json:"problems"`
	Blind    []string        `json:"not_seen"`
	Forge    *forgeRecord    `json:"forge,omitempty"`
}

type problemRecord struct {
	Code    ledger.Code `json:"code"`
	Level   string      `json:"level"`
	Path    string      `json:"path,omitempty"`
	Seq     *int64      `json:"seq,omitempty"`
	Message string      `json:"message"`
}

func (s *session) record() verifyRecord {
	r := s.result
	v := verifyRecord{OK: r.OK(), Entries: r.Head.Count, Tip: r.Head.Tip, Root: r.Head.Root,
		Problems: []problemRecord{}, Blind: ledger.Unseen(s.seen), LookedAt: []string{}, Forge: s.forge.record()}
	if v.OK {
		v.Level = r.Level.String()
	}
	for _, l := range slices.Sorted(slices.Values(s.seen)) {
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
