package audit

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/internal/gatetest"
)

func runDirs(p *Plan) (out []string) {
	for _, r := range p.Runs {
		out = append(out, r.Dir)
	}
	return out
}

func TestPlan(t *testing.T) {
	base := gatetest.Tree("runs/a/run.json=1", "runs/a/submission.json=1", "runs/gone/run.json=1", "README.md=1")
	head := gatetest.Tree(
		"runs/a/run.json=1",
		"runs/a/submission.json=2",
		"runs/deep/er/b/run.json=1",
		"runs/b/run.json=1",
		"runs/b/evidence/t.csv=1",
		"README.md=2",
		".github/referee.yml=x",
		"flight_sheets/s.json=x",
	)
	p, err := MakePlan(base, head, config.Default())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"runs/a", "runs/b", "runs/deep/er/b"}; !slices.Equal(runDirs(p), want) {
		t.Errorf("runs %q, want %q", runDirs(p), want)
	}
	if !slices.Equal(p.Removed, []string{"runs/gone"}) || len(p.Refusals) != 0 ||
		!slices.Equal(p.Rulebook, []string{config.Path, "flight_sheets"}) {
		t.Errorf("removed %q, refusals %v, rulebook %q", p.Removed, p.Refusals, p.Rulebook)
	}
}

// TestPlanStrays: a file under a runs root without a run is a failure, never skipped (gate.md).
func TestPlanStrays(t *testing.T) {
	p, err := MakePlan(
		gatetest.Tree("runs/old.txt=1"),
		gatetest.Tree("runs/old.txt=1", "runs/new.txt=1", "runs/x/submission.json=1", "docs/x=1"),
		config.Default(),
	)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, r := range p.Refusals {
		paths = append(paths, r.Path)
	}
	if want := []string{"runs/new.txt", "runs/x/submission.json"}; !slices.Equal(paths, want) {
		t.Errorf("refusals %q, want %q", paths, want)
	}
}

// TestPlanLinks: a run folder that is a symlink, or holds one, is not followed; the link itself is a stray or refused
// at its audit.
func TestPlanLinks(t *testing.T) {
	head := gatetest.Tree("runs/a/run.json=1")
	head["runs/link"] = &fstest.MapFile{Data: []byte("../secret"), Mode: fs.ModeSymlink | 0o777}
	p, err := MakePlan(gatetest.Tree("runs/a/run.json=1"), head, config.Default())
	if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Path != "runs/link" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPlanRules(t *testing.T) {
	cfg := config.Default()
	cfg.Runs = []config.RunRule{
		{Path: "deals/*/run.json", Sheets: []string{"a"}},
		{Path: "deals/**/run.json", Sheets: []string{"b"}},
	}
	p, err := MakePlan(gatetest.Tree(), gatetest.Tree("deals/x/run.json=1", "deals/x/y/run.json=1"), cfg)
	if err != nil || len(p.Runs) != 2 || p.Runs[0].Rule.Sheets[0] != "a" || p.Runs[1].Rule.Sheets[0] != "b" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPlanLimits(t *testing.T) {
	head := fstest.MapFS{}
	for i := range maxTreeFiles + 1 {
		head[fmt.Sprintf("runs/a/evidence/%d", i)] = &fstest.MapFile{}
	}
	if _, err := MakePlan(gatetest.Tree(), head, config.Default()); err == nil ||
		!strings.Contains(err.Error(), "more than 50000 files") {
		t.Errorf("%v", err)
	}
}
