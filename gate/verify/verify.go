package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

// Options say what a ledger is held to beside itself, and how it is read. The zero value is L1.
type Options struct {
	Open     gitstore.Options // how Ledger opens the location; who calls Copy.Verify has it open
	Pins     []ledger.Pin     // what is known of it from before: L2 unless a pin says L3
	Root     *Root            // L2, for who kept no more than a root
	Memory   gitstore.Pins    // L2: where good states are remembered; a zero Dir remembers nothing
	Remember bool             // remember this state if nothing is wrong; needs Memory
	Since    bool             // look only at what came after the one pin, or after what is remembered
	Against  *Copy            // L5: another copy, which is verified too
	Base     string           // a branch or commit of the copy's repository: each run merged there has its receipt
	Runs     string           // pattern of the manifests on Base; DefaultRuns if empty
	Forge    *Forge           // L3 and L4; its base takes the place of Base
	Require  ledger.Level     // a verification that did not look at this level is an error; 0 asks for none
	Full     bool             // compare every commit with the one before it

	Progress func(done, total int) // called now and then, for each copy; may be nil
}

// DefaultRuns is where a repository keeps the manifests of runs unless it says otherwise.
const DefaultRuns = "runs/**/run.json"

// Root is the root over the first Count entries, kept from before.
type Root struct {
	Count  int64
	Root   string
	Source string // for messages; "the root" if empty
}

// Result is what a verification found. The levels are those of package ledger; Level is 0 unless nothing is wrong.
type Result struct {
	*ledger.Verification
	Looked   []ledger.Level // that were looked at, in order
	Compared *Compared      // with which forge; nil without Options.Forge
}

// Unseen words what no level that was looked at can see.
func (r *Result) Unseen() []string { return ledger.Unseen(r.Looked) }

// Unread reports whether the only thing wrong is that something could not be read: neither a pass nor a fault of the
// ledger.
func (r *Result) Unread() bool {
	return !r.OK() && !slices.ContainsFunc(r.Problems,
		func(p ledger.Problem) bool { return p.Code != ledger.CodeOnlineUnread })
}

// Ledger verifies the ledger at a location: a folder of a git repository, or a URL.
func Ledger(ctx context.Context, location string, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c, err := Open(location, o.Open)
	if err != nil {
		return nil, err
	}
	result, err := c.Verify(ctx, o)
	if err := errors.Join(err, c.Close()); err != nil {
		return nil, err
	}
	return result, nil
}

// Verify verifies one copy of a ledger.
func (c *Copy) Verify(ctx context.Context, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	v := &verification{ctx: ctx, o: o, copied: c, looked: []ledger.Level{ledger.L1}}
	if err := v.gather(); err != nil {
		return nil, err
	}
	look := v.wholeLedger
	if o.Since {
		look = v.newEntries
	}
	if err := look(); err != nil {
		return nil, err
	}
	return v.finish()
}

// verification is one on its way.
type verification struct {
	ctx    context.Context
	o      Options
	copied *Copy
	pins   []ledger.Pin
	looked []ledger.Level
	result *ledger.Verification
}

// look notes that a level was looked at.
func (v *verification) look(l ledger.Level) {
	if !slices.Contains(v.looked, l) {
		v.looked = append(v.looked, l)
	}
}

func (v *verification) report(p *ledger.Problem) {
	if p != nil {
		v.result.Problems = append(v.result.Problems, *p)
	}
}

// gather collects what is known from before: by the caller, by base, and by the memory.
func (v *verification) gather() error {
	v.pins = slices.Clone(v.o.Pins)
	for i := range v.pins {
		if v.pins[i].Level == 0 {
			v.pins[i].Level = ledger.L2
		}
		if v.pins[i].Source == "" {
			v.pins[i].Source = "the pin"
		}
	}
	if v.o.Forge != nil {
		v.pins = append(v.pins, v.o.Forge.genesis()...)
	}
	if v.o.Memory.Dir != "" {
		if pin, ok := v.o.Memory.Load(v.copied.Location, v.copied.Branch); ok {
			v.pins = append(v.pins, pin)
		}
	}
	if v.o.Since && len(v.pins) == 0 {
		return inputError(InputSince, "no remembered state of this ledger")
	}
	if v.o.Root != nil {
		v.look(ledger.L2)
	}
	for _, p := range v.pins {
		v.look(p.Level)
	}
	return nil
}

// wholeLedger looks at all of it, and at all that it is held to.
func (v *verification) wholeLedger() error {
	repo, commit, done, err := v.copied.newest(v.ctx)
	if err != nil {
		return err
	}
	defer done()
	if v.result, err = v.verifyCopy(v.copied, repo, commit, v.pins); err != nil {
		return err
	}
	if v.o.Forge != nil && commit != "" && v.result.OK() {
		if err := v.compareOnline(repo, commit); err != nil {
			return err
		}
	}
	if v.o.Base != "" {
		if err := v.compareBase(repo, commit); err != nil {
			return err
		}
	}
	if v.o.Root != nil {
		v.report(v.o.Root.against(v.result))
	}
	if v.o.Against != nil {
		if err := v.compareCopy(v.o.Against); err != nil {
			return err
		}
	}
	v.result.Level = 0
	if v.result.OK() {
		v.result.Level = slices.Max(v.looked)
	}
	return nil
}

// verifyCopy verifies one copy as a whole. One that is not there was cut off if something is known of it.
func (v *verification) verifyCopy(
	c *Copy,
	repo *gitstore.Repo,
	commit string,
	pins []ledger.Pin,
) (*ledger.Verification, error) {
	known := len(pins) > 0 || c == v.copied && v.o.Root != nil
	switch {
	case commit == "" && !known:
		return nil, inputError(InputLedger, "no ledger found: no %s", c.Name)
	case commit == "":
		return ledger.Verify(v.ctx, ledger.FileTree{}, ledger.Options{Pins: pins})
	}
	result, err := repo.Verify(v.ctx, commit, gitstore.VerifyOptions{Pins: pins, Full: v.o.Full,
		Progress: v.o.Progress})
	if err != nil {
		return nil, fmt.Errorf("verifying %s: %w", c.Name, err)
	}
	return result, nil
}

// compareCopy verifies another copy too, and holds the two together.
func (v *verification) compareCopy(other *Copy) error {
	v.look(ledger.L5)
	repo, commit, done, err := other.newest(v.ctx)
	if err != nil {
		return err
	}
	defer done()
	theirs, err := v.verifyCopy(other, repo, commit, nil)
	if err != nil {
		return err
	}
	for _, p := range theirs.Problems {
		p.Message = "in the other copy: " + p.Message
		v.report(&p)
	}
	for _, p := range ledger.Compare(v.result, theirs) {
		v.report(&p)
	}
	return nil
}

// against holds the entries to a root.
func (r *Root) against(v *ledger.Verification) *ledger.Problem {
	source := r.Source
	if source == "" {
		source = "the root"
	}
	have := int64(len(v.Hashes))
	if r.Count > have {
		return &ledger.Problem{Code: ledger.CodeTruncated, Level: ledger.L2, Seq: r.Count - 1,
			Message: fmt.Sprintf("%s knows %d entries, the ledger has %d", source, r.Count, have)}
	}
	root, err := v.Leaves.Root(r.Count)
	if err != nil || root != r.Root {
		return &ledger.Problem{Code: ledger.CodePinRoot, Level: ledger.L2, Seq: r.Count - 1,
			Message: fmt.Sprintf("%s knows the root %.8s…, here it is %.8s…", source, r.Root, root)}
	}
	return nil
}

// finish makes the result, and remembers a good state.
func (v *verification) finish() (*Result, error) {
	slices.Sort(v.looked)
	r := &Result{Verification: v.result, Looked: v.looked, Compared: v.o.Forge.compared()}
	if l := v.o.Require; l > 0 && r.OK() && !slices.Contains(v.looked, l) {
		return nil, fmt.Errorf("%s: %w: %s", v.copied.Name, ErrNotLooked, l)
	}
	if v.o.Remember && r.OK() {
		if err := v.o.Memory.Save(v.copied.Location, v.copied.Branch, r.Head); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// check refuses options that cannot be meant.
func (o *Options) check() error {
	for _, p := range o.Pins {
		if p.Count == 0 && p.Tip != ledger.NoParent {
			return inputError(InputPin, "a pin says nothing: it has neither a count nor the tip of an empty ledger")
		}
	}
	switch {
	case o.Root != nil && (o.Root.Count < 1 || canonical.CheckHash(o.Root.Root) != nil):
		return inputError(InputPin, "the root %q over %d entries: want a SHA-256 in hexadecimal digits, and a count",
			o.Root.Root, o.Root.Count)
	case (o.Remember || o.Since && len(o.Pins) == 0) && o.Memory.Dir == "":
		return inputError(InputMemory, "nowhere to remember a ledger: Memory names no directory")
	case o.Since && (o.Root != nil || o.Against != nil || o.Base != "" || o.Forge != nil || o.Full):
		return inputError(InputSince, "Since excludes Root, Against, Base, Forge and Full: it checks nothing older")
	case o.Since && len(o.Pins) > 0 && (len(o.Pins) > 1 || o.Memory.Dir != ""):
		return inputError(InputSince, "Since goes on from one state: give it one pin, or a Memory")
	case o.Base != "" && o.Forge != nil:
		return inputError(InputBase, "Base and Forge exclude each other: the forge has its own base")
	case o.Require < 0 || o.Require > ledger.L5:
		return inputError(InputRequire, "Require is %d: the levels are 1 to 5", int(o.Require))
	}
	return nil
}
