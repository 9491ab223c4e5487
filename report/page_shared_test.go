package report

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/defendableos/referee/serve"
)

// Entry is serve.Source's.
func (files branch) Entry(_ context.Context, hash string) ([]byte, error) {
	return files[ledger.Place{Class: ledger.HashAlias, Hash: hash}.String()], nil
}

// Verify is serve.Source's.
func (files branch) Verify(ctx context.Context) (*ledger.Verification, error) {
	var tree ledger.FileTree
	for path, data := range files {
		tree = append(tree, ledger.File{Path: path, Data: data})
	}
	return ledger.Verify(ctx, tree, ledger.Options{})
}

// share publishes a branch by a share server and returns its address.
func (files branch) share(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(serve.Handler(files, VerifyPage()))
	t.Cleanup(server.Close)
	return server.URL
}

// TestPageShared opens a share server's page in a browser.
func TestPageShared(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 7, storetest.Sample)
	parent := ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(entries[2])}.String()
	for name, c := range map[string]struct{ missing, state string }{
		"good":               {"", "good"},
		"without its parent": {parent, "bad"},
	} {
		t.Run(name, func(t *testing.T) {
			files := lay(t, entries)
			delete(files, c.missing)
			visit(t, ctx, files.share(t)+"/r/"+canonical.SHA256Hex(entries[3]))
			if state, codes := settled(t, ctx); state != c.state {
				t.Errorf("%s, %q, want %s", state, codes, c.state)
			}
			text := ask[string](t, ctx, `document.getElementById('receipt').innerText`)
			if strings.Contains(text, "DCR-000003-") != (c.state == "good") {
				t.Errorf("the page shows %q", CleanStart(text, 200))
			}
		})
	}
}
