package main

import (
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/gitstore"
)

func ledgerInitCommand() *command {
	c := newCommand("ledger init", "[DIR]", "begin an empty ledger", 1)
	c.long = `Creates the branch in the repository around this folder (or --ledger). With DIR,
which is absent or empty, makes a bare repository for the ledger alone. A ledger
that has begun is left as it is: nothing in one is ever changed. The first
` + "`referee approve`" + ` begins a ledger by itself.`
	c.examples = []string{"referee ledger init", "referee ledger init receipts.git"}
	where := ledgerFlag(c.flags)
	c.run = func(a *app, args []string) error {
		if len(args) == 1 {
			if where.repo != "" {
				return usagef("ledger init takes DIR or --ledger, not both")
			}
			if err := gitstore.Init(args[0], where.branch); err != nil {
				return usagef("cannot create a repository there: %w", err).withHint("name a folder that is absent or empty")
			}
			where.repo = args[0]
		}
		return a.beginLedger(where)
	}
	return c
}

// beginLedger makes the first commit of an empty ledger.
func (a *app) beginLedger(where *ledgerFlags) error {
	k, err := a.openStore(where)
	if err != nil {
		return err
	}
	if k.at.ID != "" {
		return usagef("the ledger, %s, already exists: it has %s", k.name, countEntries(k.at.Head.Count))
	}
	_, err = ledger.Append(a.ctx, k, ledger.Retry{}, func(at ledger.Snapshot) (ledger.Draft, error) {
		if at.ID != "" {
			return ledger.Draft{}, usagef("the ledger, %s, was created in the meantime", k.name)
		}
		return ledger.Draft{Papers: ledgerPapers()}, nil
	})
	if err != nil {
		return asLedgerError(err)
	}
	p := &page{}
	p.line("an empty ledger: %s", k.name)
	p.line("sign a run off: referee approve RUN --as NAME%s", ledgerArgs(where))
	return a.print(p.b.String())
}

// asLedgerError keeps an exit code that an error has, and gives it the tool's otherwise.
func asLedgerError(err error) error {
	if code := codeOf(err); code != exitTool {
		return err
	}
	return toolf("%w", err)
}

// ledgerArgs repeats where the ledger is, for a command line that is to be copied.
func ledgerArgs(f *ledgerFlags) string {
	text := ""
	if f.repo != "" {
		text += " --ledger " + f.repo
	}
	if f.branch != "ledger" {
		text += " --branch " + f.branch
	}
	return text
}
