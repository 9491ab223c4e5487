package main

import (
	"context"
	"net"

	"github.com/defendableos/referee/gate/verify"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
	"github.com/defendableos/referee/serve"
)

const serveLong = `Read-only, over a ledger that is read anew when its branch moves:
  GET /                runs and receipts, each with a link to its page
  GET /share/{hash}    a receipt's bytes, its place, and whether it is verified
  GET /r/{hash}        the page that shows it and checks it in the browser
  GET /ledger/verify   {ok, level, receipts_checked, errors[]}
It listens on this machine alone unless --addr says otherwise, answers to
addresses and to localhost, to other names only where --host says so, and ends
when it is interrupted.`

func serveCommand() *command {
	c := newCommand("serve", "", "serve the ledger's receipts for reading", 0)
	c.long = serveLong
	c.examples = []string{"referee serve", "referee serve --ledger receipts.git --addr 127.0.0.1:8080"}
	addr := c.flags.String("addr", "127.0.0.1:8321", "`HOST:PORT` to listen on; port 0 is any free one")
	host := c.flags.String("host", "", "`NAME` that it answers to as well, such as the one of a proxy before it")
	where := ledgerFlag(c.flags)
	where.bulkFlag(c.flags)
	c.run = func(a *app, _ []string) error {
		k, err := a.openLedger(where)
		if err != nil {
			return err
		}
		defer k.Close()
		listens, _, err := net.SplitHostPort(*addr)
		if err != nil {
			return usagef("--addr %q must be HOST:PORT, such as 127.0.0.1:8321", *addr)
		}
		l, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", *addr)
		if err != nil {
			return toolf("listening on %s: %w", *addr, err)
		}
		if err := a.print("http://" + l.Addr().String() + "/r/" + k.at.Head.Tip + "\n"); err != nil {
			return err
		}
		if err := serve.Run(a.ctx, l, serve.Handler(&shared{k, where}, report.VerifyPage(), listens,
			*host)); err != nil {
			return toolf("serving: %w", err)
		}
		return nil
	}
	return c
}

// shared is a ledger as the share server reads it: always the newest state.
type shared struct {
	k     *kept
	where *ledgerFlags
}

// Entry is serve.Source's.
func (s *shared) Entry(ctx context.Context, hash string) ([]byte, error) {
	at, err := s.k.Head(ctx)
	if err != nil {
		return nil, err
	}
	e, err := ledger.Lookup(ctx, s.k, at, hash)
	if err != nil || e == nil {
		return nil, err
	}
	return e.Bytes, nil
}

// Verify is serve.Source's. It shows no progress: nobody watches a server.
func (s *shared) Verify(ctx context.Context) (*ledger.Verification, error) {
	v, err := s.k.verifyCopy(s.where).Verify(ctx, verify.Options{})
	if err != nil {
		return nil, err
	}
	return v.Verification, nil
}
