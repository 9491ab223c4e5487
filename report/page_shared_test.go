package report_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
	"github.com/defendableos/referee/report"
	"github.com/defendableos/referee/serve"
)

// files is a ledger in memory as a serve.Source.
type files map[string][]byte

func (f files) Entry(_ context.Context, hash string) ([]byte, error) {
	return f[ledger.Place{Class: ledger.HashAlias, Hash: hash}.String()], nil
}

func (f files) Verify(ctx context.Context) (*ledger.Verification, error) {
	var tree ledger.FileTree
	for path, data := range f {
		tree = append(tree, ledger.File{Path: path, Data: data})
	}
	return ledger.Verify(ctx, tree, ledger.Options{})
}

// TestPageShared opens a share server's page in a browser.
func TestPageShared(t *testing.T) {
	ctx := report.OpenTab(t)
	entries, err := storetest.Mint(7, storetest.Sample)
	if err != nil {
		t.Fatal(err)
	}
	parent := ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(entries[2])}.String()
	for name, c := range map[string]struct {
		missing, state string
	}{
		"good":               {"", "good"},
		"without its parent": {parent, "bad"},
	} {
		t.Run(name, func(t *testing.T) {
			branch, err := storetest.Files(entries)
			if err != nil {
				t.Fatal(err)
			}
			delete(branch, c.missing)
			server := httptest.NewServer(serve.Handler(files(branch)))
			defer server.Close()
			report.VisitPage(t, ctx, server.URL+"/r/"+canonical.SHA256Hex(entries[3]))
			if state, codes := report.SettledPage(t, ctx); state != c.state {
				t.Errorf("%s, %q, want %s", state, codes, c.state)
			}
			text := report.EvaluateAsText(t, ctx, `document.getElementById('receipt').innerText`)
			if !strings.Contains(text, "DCR-000003-") {
				t.Errorf("the page shows %q", legible.Clip(text, 200))
			}
		})
	}
}
