package verify

import (
	"fmt"

	"github.com/defendableos/referee/ledger"
)

// newEntries continues from the one pin that there is. Its right edge is read from the commit that made it, and
// believed because it makes the root that the pin knows.
func (v *verification) newEntries() error {
	pin, c := v.pins[len(v.pins)-1], v.copied
	if pin.Count < 0 {
		v.result = &ledger.Verification{}
		v.report(&ledger.Problem{Code: ledger.CodePinUnusable, Level: ledger.L2, Seq: -1, Message: pin.Source})
		return nil
	}
	now, err := c.Store.Head(v.ctx)
	if err != nil {
		return fmt.Errorf("reading %s: %w", c.Name, err)
	}
	at, err := v.stateAt(pin, now)
	if err != nil {
		return err
	}
	if at == nil {
		v.result = &ledger.Verification{}
		v.report(&ledger.Problem{Code: ledger.CodePinTip, Level: ledger.L2, Seq: pin.Count - 1,
			Message: fmt.Sprintf("%s knows the entry %.8s… with the root %.8s…, and no commit has it", pin.Source,
				pin.Tip, pin.Root)})
		return nil
	}
	if v.result, err = ledger.VerifySince(v.ctx, c.Store, now, *at); err != nil {
		return fmt.Errorf("verifying %s: %w", c.Name, err)
	}
	return nil
}

// stateAt gives the head of the commit that the pin was made on, nil if there is none.
func (v *verification) stateAt(pin ledger.Pin, now ledger.Snapshot) (*ledger.Head, error) {
	if pin.Tip == ledger.NoParent {
		h := ledger.NewHead()
		return &h, nil
	}
	if h := now.Head; h.Tip == pin.Tip && h.Root == pin.Root && h.Count == pin.Count {
		return &h, nil
	}
	store := v.copied.Store
	if now.ID == "" || store.Repo() == nil {
		return nil, nil
	}
	for c, err := range store.Repo().Commits(v.ctx, now.ID) {
		if err != nil {
			return nil, fmt.Errorf("reading the commits of %s: %w", v.copied.Name, err)
		}
		stated, err := ledger.ParseMessage(c.Message)
		if err != nil || stated.Hash != pin.Tip {
			if err == nil && stated.Seq < pin.Count-1 {
				return nil, nil
			}
			continue
		}
		at, err := store.At(v.ctx, c.ID)
		if err != nil || at.Head.Count != pin.Count || at.Head.Root != pin.Root {
			return nil, nil
		}
		return &at.Head, nil
	}
	return nil, nil
}
