package forge

//go:generate go test . -run ^TestIndexInStep$ -update

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	flightsheets "github.com/defendableos/referee/flight_sheets"
	"github.com/defendableos/referee/internal/golden"
	"github.com/defendableos/referee/referee"
)

// TestIndexHostile: what a sheet says is text on the page, wherever it stands.
func TestIndexHostile(t *testing.T) {
	const evil = `</article><script>alert(1)</script>`
	sheet := loadSheet(t, strings.Replace(sketch(gate("g", "a >= 1"), ""), `"name": "S"`,
		`"name": "`+evil+`", "summary": "\" onload=\"x", "purpose": "{{.}}"`, 1))
	page, err := Index([]*referee.Sheet{sheet})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), evil) || strings.Contains(string(page), `" onload="x`) ||
		strings.Count(string(page), "<script") != 1 {
		t.Error("a sheet's words became the page's")
	}
	for _, far := range []string{"src=", "<link", "@import", "url(", "fetch("} {
		if strings.Contains(string(page), far) {
			t.Errorf("the page needs something else: %s", far)
		}
	}
}

func library(t *testing.T) []*referee.Sheet {
	t.Helper()
	var out []*referee.Sheet
	for _, slug := range flightsheets.Names() {
		out = append(out, librarySheet(t, slug))
	}
	return out
}

// TestIndexInBrowser opens the page from a file in a headless browser, where there is one, and uses it.
func TestIndexInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium here")
	}
	sheets := library(t)
	page, err := Index(sheets)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(browser),
		chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.WindowSize(390, 844))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, stop = chromedp.NewContext(ctx)
	defer stop()
	ctx, stop = context.WithTimeout(ctx, time.Minute)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+file+"#cre-multifamily-agency")); err != nil {
		t.Fatal(err)
	}
	const shown = `document.querySelectorAll("article:not([hidden])").length`
	// search types into the search box and says how many sheets are left.
	search := func(words string) int {
		return ask[int](
			t, ctx,
			`(function () { var q = document.getElementById("q"); q.value = "`+words+`"; `+
				`q.dispatchEvent(new Event("input")); return `+shown+` })()`)
	}
	if n := ask[int](t, ctx, shown); n != len(sheets) {
		t.Errorf("%d of %d sheets are shown", n, len(sheets))
	}
	if !ask[bool](t, ctx, `document.querySelector("#cre-multifamily-agency details").open`) {
		t.Error("the sheet of the address is not opened")
	}
	if ask[bool](t, ctx, `document.documentElement.scrollWidth > window.innerWidth`) {
		t.Error("the page is wider than a phone")
	}
	if n := search("dscr_gate 4660 fannie"); n != 1 {
		t.Errorf("%d sheets are found", n)
	}
	if count := ask[string](t, ctx, `document.getElementById("count").textContent`); count != "1 sheet" {
		t.Errorf("it counts %q", count)
	}
	if n := search("no-such-word"); n != 0 {
		t.Errorf("%d sheets have no such word", n)
	}
	compute := 0
	for _, s := range sheets {
		if s.Lane == "compute" {
			compute++
		}
	}
	search("")
	if n := ask[int](t, ctx, `(function () { var l = document.getElementById("lane"); l.value = "compute"; `+
		`l.dispatchEvent(new Event("change")); return `+shown+` })()`); n != compute {
		t.Errorf("%d of %d sheets of a lane are shown", n, compute)
	}
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestIndexInStep: the page in the repository is the one that the library gives today.
func TestIndexInStep(t *testing.T) {
	want, err := Index(library(t))
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, filepath.FromSlash("../docs/library/index.html"), want)
}
