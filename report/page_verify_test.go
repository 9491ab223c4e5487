package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

func TestPageGood(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 12, storetest.Sample)
	address := lay(t, entries).serve(t)
	visit(t, ctx, address+"#"+canonical.SHA256Hex(entries[5]))
	if state, codes := settled(t, ctx); state != "good" || len(codes) > 0 {
		t.Fatalf("%s, %q", state, codes)
	}
	text := ask[string](t, ctx, `document.body.innerText`)
	for _, want := range []string{"12 receipts agree with each other", "DCR-000005-", "JELLY", "rosa",
		"permission maintain", "the claim is 2.4 % above", "state 1.303",
		"site_visited", "added in the pull request by agent-owner", canonical.SHA256Hex(entries[5]),
		canonical.SHA256Hex(entries[4]), ledger.L1.Blind()[0], ledger.L1.Blind()[1]} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	shot(t, ctx, "page-good", 1100, 1400, false)
	shot(t, ctx, "page-dark", 1100, 1400, true)
	shot(t, ctx, "page-phone", 390, 844, false)
	visit(t, ctx, address+"#all")
	if state, codes := settled(t, ctx); state != "good" || len(codes) > 0 {
		t.Fatalf("the whole ledger: %s, %q", state, codes)
	}
	shot(t, ctx, "page-all", 1100, 900, false)
	press(t, ctx, `#entries li:last-child button`)
	await(t, ctx, `!document.getElementById('receipt').hidden`)
	if text := ask[string](t, ctx, `document.getElementById('receipt').innerText`); !strings.Contains(text,
		"DCR-000000-") || !strings.Contains(text, "the claim is 2.4 % above") {
		t.Errorf("an entry of the list is not shown whole: %q", CleanStart(text, 200))
	}
}

// TestPageTampered publishes what no honest writer publishes. The codes are those of package ledger, stated by hand.
func TestPageTampered(t *testing.T) {
	ctx := tab(t)
	other := chain(t, 6, func(n int64) ledger.Receipt { return storetest.Sample(n + 50) })
	type attack struct {
		name   string
		change func(entries [][]byte) ([][]byte, func(branch))
		opened int
		want   []string
	}
	path := func(entries [][]byte, seq int) string {
		return ledger.Place{Class: ledger.HashAlias, Hash: canonical.SHA256Hex(entries[seq])}.String()
	}
	files := func(change func([][]byte, branch)) func([][]byte) ([][]byte, func(branch)) {
		return func(e [][]byte) ([][]byte, func(branch)) { return e, func(b branch) { change(e, b) } }
	}
	last := func(change func([]byte) []byte) func([][]byte) ([][]byte, func(branch)) {
		return func(e [][]byte) ([][]byte, func(branch)) {
			return append(slices.Clone(e[:5]), change(e[5])), func(branch) {}
		}
	}
	set := func(key string, value any) func([]byte) []byte {
		return func(b []byte) []byte { return edit(t, b, member(key, value)) }
	}
	for _, a := range []attack{
		{"edited byte of another entry", files(func(e [][]byte, b branch) {
			b[path(e, 3)] = bytes.Replace(e[3], []byte("2.4 %"), []byte("0.4 %"), 1)
		}), 5, []string{"LDG-105", "LDG-302"}},
		{"edited byte of the receipt opened", files(func(e [][]byte, b branch) {
			b[path(e, 5)] = bytes.Replace(e[5], []byte("2.4 %"), []byte("0.4 %"), 1)
		}), 5, []string{"LDG-105", "LDG-110"}},
		{"not canonical", last(func(b []byte) []byte { return append(b, '\n') }), 5, []string{"LDG-104"}},
		{"dropped from the middle", files(func(e [][]byte, b branch) { delete(b, path(e, 2)) }), 5,
			[]string{"LDG-201"}},
		{"wrong parent", last(set("parent_hash", canonical.SHA256Hex(other[4]))), 5, []string{"LDG-201"}},
		{"wrong tree", last(set("log", map[string]any{"count": 5, "root": canonical.SHA256Hex(nil)})), 5,
			[]string{"LDG-204"}},
		{"HEAD of another ledger", files(func(_ [][]byte, b branch) { b["HEAD.json"] = headOf(t, other) }), 5,
			[]string{"LDG-201"}},
		{"HEAD with another count",
			files(func(e [][]byte, b branch) { b["HEAD.json"] = headOf(t, append([][]byte{e[0]}, e...)) }), 5,
			[]string{"LDG-108", "LDG-302"}},
		{"HEAD that contradicts itself", files(func(_ [][]byte, b branch) {
			b["HEAD.json"] = bytes.Replace(b["HEAD.json"], []byte(`"count":6`), []byte(`"count":7`), 1)
		}), 5, []string{"LDG-301"}},
		{"no HEAD", files(func(_ [][]byte, b branch) { delete(b, "HEAD.json") }), 5, []string{"LDG-301"}},
		{"cut off at the end, then opened", files(func(e [][]byte, b branch) { b["HEAD.json"] = headOf(t, e[:4]) }), 5,
			[]string{"LDG-111"}},
		{"other bytes by place", files(func(e [][]byte, b branch) {
			b[ledger.Place{Class: ledger.EntryFile, Seq: 5, Hash: canonical.SHA256Hex(e[5])}.String()] = e[4]
		}), 5, []string{"LDG-110"}},
		{"no path by pull request", files(func(e [][]byte, b branch) {
			delete(b, ledger.Place{Class: ledger.PullAlias, Seq: 5, Pull: 6, Hash: canonical.SHA256Hex(e[5])}.String())
		}), 5, []string{"LDG-109"}},
		{"no approval", last(set("approval", nil)), 5, []string{"LDG-107"}},
		{"unknown schema", last(set("schema", "defendablecloud.eval-receipt/v2")), 5, []string{"LDG-106"}},
		{"unknown member", last(set("zeal", "x")), 5, []string{"LDG-107"}},
		{"the same sign-off twice", last(func(b []byte) []byte {
			return edit(t, b, func(v map[string]any) { v["idempotency_key"] = storetest.Sample(2).IdempotencyKey })
		}), 5, []string{"LDG-205"}},
		{"approved for other evidence", last(func(b []byte) []byte {
			return edit(t, b, func(v map[string]any) {
				v["evidence"].([]any)[0].(map[string]any)["sha256"] = canonical.SHA256Hex(nil)
			})
		}), 5, []string{"LDG-107"}},
		{"carried to other evidence", func(e [][]byte) ([][]byte, func(branch)) {
			r := storetest.Carried(storetest.Sample(4), canonical.SHA256Hex(e[4]))
			r.Evidence = storetest.Sample(8).Evidence
			return chain(t, 6, func(n int64) ledger.Receipt {
				if n < 5 {
					return storetest.Sample(n)
				}
				return storetest.Key(r)
			}), func(branch) {}
		}, 5, []string{"LDG-207"}},
		{"another repository", last(set("repository", map[string]any{"id": 1, "name": "other/work"})), 5,
			[]string{"LDG-206"}},
		{"another genesis", files(func(_ [][]byte, b branch) {
			b["LEDGER.json"] = edit(t, b["LEDGER.json"],
				func(v map[string]any) { v["genesis"] = canonical.SHA256Hex(other[0]) })
		}), 5, []string{"LDG-304"}},
		{"no LEDGER.json", files(func(_ [][]byte, b branch) { delete(b, "LEDGER.json") }), 5, []string{"LDG-303"}},
	} {
		t.Run(a.name, func(t *testing.T) {
			entries, change := a.change(chain(t, 6, storetest.Sample))
			b := lay(t, entries)
			change(b)
			visit(t, ctx, b.serve(t)+"#"+canonical.SHA256Hex(entries[a.opened]))
			state, codes := settled(t, ctx)
			if state != "bad" || !slices.Equal(codes, a.want) {
				t.Errorf("%s, %q, want %q: %s", state, codes, a.want,
					ask[string](t, ctx, `document.getElementById('outcome').innerText`))
			}
			if a.name == "edited byte of another entry" {
				shot(t, ctx, "page-bad", 1100, 1200, false)
			}
		})
	}
}

// member sets a member of a text, or takes it away.
func member(key string, value any) func(map[string]any) {
	return func(v map[string]any) {
		if v[key] = value; value == nil {
			delete(v, key)
		}
	}
}

// TestPageRevoked opens a receipt that a later entry takes back.
func TestPageRevoked(t *testing.T) {
	ctx := tab(t)
	entries := chain(t, 3, storetest.Sample)
	first := canonical.SHA256Hex(entries[1])
	entries = chain(t, 4, func(n int64) ledger.Receipt {
		if n < 3 {
			return storetest.Sample(n)
		}
		r := storetest.Sample(1)
		r.Kind, r.Approval.Decision, r.RefersTo = ledger.Revoked, ledger.Revoked, first
		return storetest.Key(r)
	})
	address := lay(t, entries).serve(t)
	visit(t, ctx, address+"#"+first)
	if state, codes := settled(t, ctx); state != "good" {
		t.Fatalf("%s, %q", state, codes)
	}
	if text := ask[string](t, ctx,
		`document.querySelector('#receipt .alarm')?.innerText ?? ''`); !strings.Contains(text,
		"Entry 3 of this ledger says of this receipt: revoked") {
		t.Errorf("the page says %q of a revoked receipt", text)
	}
	shot(t, ctx, "page-revoked", 1100, 1200, false)
	visit(t, ctx, address+"#"+canonical.SHA256Hex(entries[3]))
	settled(t, ctx)
	shot(t, ctx, "page-revocation", 1100, 1200, true)
}

func TestPageUnknownHash(t *testing.T) {
	ctx := tab(t)
	visit(t, ctx, lay(t, chain(t, 2, storetest.Sample)).serve(t)+"#"+strings.Repeat("ab", 32))
	if state, _ := settled(t, ctx); state != "bad" {
		t.Error("a receipt that is not there is good")
	}
	if text := ask[string](t, ctx, `document.body.innerText`); !strings.Contains(text,
		"This ledger holds no receipt "+strings.Repeat("ab", 32)) {
		t.Errorf("the page says %q", CleanStart(text, 300))
	}
}

// TestPageHostile puts scripts and markup into every free string of a receipt.
func TestPageHostile(t *testing.T) {
	ctx := tab(t)
	more := []string{`<script>alert(1)</script>`, `<img src=x onerror=alert(2)>`, `"><svg onload=alert(3)>`,
		`javascript:alert(4)`, `</style><style>*{display:none}`,
		`{{constructor.constructor('alert(5)')()}}`, `<a href="javascript:alert(6)">x</a>`,
		`<iframe srcdoc="<script>alert(7)</script>">`, "__proto__"}
	for i, text := range append(more, attacks...) {
		b := chain(t, 1, func(int64) ledger.Receipt {
			r := storetest.WithForeignNames(storetest.Sample(2))
			r.Run.Project = "x"
			storetest.Spoil(&r, text)
			r.Assignment.SHA256 = canonical.SHA256Hex([]byte(text))
			oneRule(r.Verdict)
			return storetest.Key(r)
		})
		visit(t, ctx, lay(t, b).serve(t)+"#"+canonical.SHA256Hex(b[0]))
		if state, codes := settled(t, ctx); state != "good" {
			t.Errorf("%q: %s, %q", text, state, codes)
		}
		if n := ask[int](t, ctx, `window.pwned`); n > 0 {
			t.Fatalf("%q was executed", text)
		}
		if n := ask[int](t, ctx, `document.querySelectorAll('script, style, img, iframe, object, embed, link, base, `+
			`[onerror], [onload], article a, #outcome a').length`); n != 2 {
			t.Errorf("%q made %d elements that load or run, the page has 2", text, n)
		}
		if hidden := ask[string](t, ctx, `(document.body.textContent.replaceAll('\n', `+
			`'').match(/[\p{C}\p{Zl}\p{Zp}]/u) ?? [''])[0]`); hidden != "" {
			t.Errorf("%q: %q is on the page", text, hidden)
		}
		if i < len(more) && !ask[bool](t, ctx,
			`document.getElementById('receipt').innerText.includes(`+quote(text)+`)`) {
			t.Errorf("%q is not shown as text", text)
		}
		if i == 1 {
			shot(t, ctx, "page-hostile", 1100, 1200, false)
		}
	}
}

// TestPageReferences follows a cook and an incident to the receipts that they stand on.
func TestPageReferences(t *testing.T) {
	ctx := tab(t)
	begin := func(n int64) ledger.Receipt { // 96.4, then 100
		r := storetest.Sample(n)
		if n == 1 {
			return storetest.Clean(r)
		}
		return r
	}
	first := chain(t, 2, begin)
	build := func(change func(cook, incident *ledger.Receipt)) [][]byte {
		cook, incident := storetest.CookSample(), storetest.IncidentSample()
		cook.Cook.EvalBefore, cook.Cook.EvalAfter, cook.Cook.Lift = "96.4", "100", "3.6"
		cook.Cook.Before, cook.Cook.After = canonical.SHA256Hex(first[0]), canonical.SHA256Hex(first[1])
		incident.Incident.Receipts = []string{canonical.SHA256Hex(first[0])}
		change(&cook, &incident)
		return chain(t, 4, func(n int64) ledger.Receipt {
			switch n {
			case 2:
				return storetest.Key(cook)
			case 3:
				return storetest.Key(incident)
			}
			return begin(n)
		})
	}
	for _, c := range []struct {
		name   string
		change func(cook, incident *ledger.Receipt)
		want   []string
		says   []string
	}{
		{"good", func(_, _ *ledger.Receipt) {}, nil, []string{"3.6 (from 96.4 to 100)", "48123 pairs"}},
		{"a cook before its receipts", func(c, _ *ledger.Receipt) { c.Cook.Before = canonical.SHA256Hex(nil) },
			[]string{"LDG-207"}, []string{"not an earlier entry of this ledger"}},
		{"a cook with another score", func(c, _ *ledger.Receipt) { c.Cook.EvalBefore, c.Cook.Lift = "96.3", "3.7" },
			[]string{"LDG-207"}, []string{"another score"}},
		{"an incident about nothing", func(_, i *ledger.Receipt) { i.Incident.Receipts[0] = canonical.SHA256Hex(nil) },
			[]string{"LDG-207"}, []string{"the incident names"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries := build(c.change)
			address := lay(t, entries).serve(t)
			visit(t, ctx, address+"#"+canonical.SHA256Hex(entries[2]))
			state, codes := settled(t, ctx)
			text := ask[string](t, ctx, `document.body.innerText`)
			if (state == "good") != (c.want == nil) || !slices.Equal(codes, c.want) {
				t.Errorf("%s, %q, want %q", state, codes, c.want)
			}
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q", want)
				}
			}
			if c.want != nil {
				return
			}
			shot(t, ctx, "page-cook", 1100, 1200, false)
			visit(t, ctx, address+"#"+canonical.SHA256Hex(entries[3]))
			settled(t, ctx)
			shot(t, ctx, "page-incident", 390, 844, true)
			visit(t, ctx, address+"#"+canonical.SHA256Hex(entries[0]))
			settled(t, ctx)
			if text := ask[string](t, ctx, `document.getElementById('receipt').innerText`); !strings.Contains(text,
				"An incident, entry 3, names this receipt") {
				t.Error("the page does not say that an incident names the receipt")
			}
		})
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestPageCorpus runs testdata/canonical in the page's own checker: the verdicts and rules are the index's, stated by
// hand.
func TestPageCorpus(t *testing.T) {
	ctx := tab(t)
	visit(t, ctx, lay(t, nil).serve(t))
	corpus := filepath.Join("..", "testdata", "canonical")
	index, err := os.ReadFile(filepath.Join(corpus, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ File, Rule string }
	if err := json.Unmarshal(index, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 150 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		b, err := os.ReadFile(filepath.Join(corpus, v.File))
		if err != nil {
			t.Fatal(err)
		}
		got := ask[string](t, ctx, fmt.Sprintf(`canonicalError(Uint8Array.from(atob(%q), (c) => `+
			`c.charCodeAt(0)))?.rule ?? ''`, base64.StdEncoding.EncodeToString(b)))
		if got != v.Rule {
			t.Errorf("%s: the page says %q, want %q", v.File, got, v.Rule)
		}
	}
}

// TestPageLongChain follows 2,000 receipts with a progress display, or 320, which is more than the page walks unasked.
func TestPageLongChain(t *testing.T) {
	ctx := tab(t)
	count, said := 320, "320"
	if everyDocument {
		count, said = 2000, "2,000"
	}
	entries := chain(t, count, storetest.Sample)
	hash := canonical.SHA256Hex(entries[count*5/8])
	visit(t, ctx, lay(t, entries).serve(t)+"#"+hash)
	if state, codes := settled(t, ctx); state != "good" {
		t.Fatalf("%s, %q", state, codes)
	}
	begin := time.Now()
	press(t, ctx, `#walk`)
	await(t, ctx, `document.getElementById('bar').value > 100 && !document.getElementById('progress').hidden`)
	shot(t, ctx, "page-progress", 1100, 700, false)
	if state, codes := settled(t, ctx); state != "good" || len(codes) > 0 {
		t.Fatalf("%s, %q", state, codes)
	}
	t.Logf("%s receipts in %v", said, time.Since(begin))
	if text := ask[string](t, ctx, `document.getElementById('outcome').innerText`); !strings.Contains(text,
		said+" receipts agree with each other") {
		t.Errorf("the page says %q", CleanStart(text, 200))
	}
}

// TestPageStop stops a long verification; nothing is concluded.
func TestPageStop(t *testing.T) {
	ctx := tab(t)
	visit(t, ctx, lay(t, chain(t, 1500, storetest.Sample)).serve(t)+"#all")
	await(t, ctx, `document.getElementById('bar').value > 20`)
	press(t, ctx, `#stop`)
	time.Sleep(400 * time.Millisecond)
	if state := ask[string](t, ctx,
		`document.body.dataset.state + document.getElementById('outcome').hidden`); state != "idletrue" {
		t.Errorf("the page is %s after stopping", state)
	}
}

// oneRule makes a verdict that of findings which all name one rule.
func oneRule(v *ledger.Verdict) {
	v.Counts.Satisfied += v.Counts.Flagged - 1
	v.Counts.Flagged = 1
	tenths := v.Counts.Satisfied * 1000 / v.Counts.Declared
	v.Score = strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0")
	v.ScoreFraction = fmt.Sprintf("%d/%d", v.Counts.Satisfied, v.Counts.Declared)
}
