package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/bench"
)

// Colour is for a terminal whose user has not declined it; width is the terminal's, else 80.
func TestLook(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(key string) string {
			for i := 0; i+1 < len(pairs); i += 2 {
				if pairs[i] == key {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name     string
		terminal bool
		columns  int
		getenv   func(string) string
		want     look
	}{
		{"pipe", false, 0, env(), look{80, false}},
		{"terminal", true, 120, env(), look{120, true}},
		{"terminal of unknown width", true, 0, env(), look{80, true}},
		{"NO_COLOR", true, 100, env("NO_COLOR", "1"), look{100, false}},
		{"dumb", true, 100, env("TERM", "dumb"), look{100, false}},
	} {
		if got := lookOf(c.terminal, c.columns, c.getenv); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

// The bar appears after a second and not before, and only then touches the terminal.
func TestProgress(t *testing.T) {
	var screen bytes.Buffer
	clock := time.Unix(0, 0)
	p := newProgress(&screen, func() time.Time { return clock }, 100)
	p.addProgress(10)
	clock = clock.Add(999 * time.Millisecond)
	p.addProgress(10)
	if p.clearBar(); screen.Len() > 0 {
		t.Fatalf("something is shown before a second: %q", screen.String())
	}
	clock = clock.Add(time.Millisecond)
	p.addProgress(10)
	if !strings.Contains(screen.String(), "auditing") {
		t.Fatalf("nothing is shown after a second: %q", screen.String())
	}
	p.endBar()
	var none *progress
	none.addProgress(1) // off a terminal there is no bar, and nothing happens
	none.clearBar()
	none.endBar()
}

func TestTotalWeight(t *testing.T) {
	if got := totalWeight([]source{{size: 3}, {size: 4}}); got != 7 {
		t.Errorf("7 is %d", got)
	}
	if got := totalWeight([]source{{size: 3}, {kind: anyFile}}); got != -1 {
		t.Errorf("a source of unknown size makes the sum unknown, not %d", got)
	}
}

// Results come in the order of the items whatever the workers' speed, and no more than a few items are under way.
func TestOrdered(t *testing.T) {
	const items = 300
	emitted, got := 0, []int{}
	err := runOrdered(t.Context(), 4, func(emit func(int) bool) error {
		for i := range items {
			if !emit(i) {
				return nil
			}
			emitted++
		}
		return nil
	}, func(i int) int {
		if i%7 == 0 {
			time.Sleep(time.Millisecond)
		}
		return i * i
	}, func(sq int) error {
		got = append(got, sq)
		return nil
	})
	if err != nil || len(got) != items {
		t.Fatalf("%d results: %v", len(got), err)
	}
	for i, sq := range got {
		if sq != i*i {
			t.Fatalf("result %d is %d", i, sq)
		}
	}
}

func TestOrderedEnds(t *testing.T) {
	broken := errors.New("broken")
	endless := func(emit func(int) bool) error {
		for i := 0; emit(i); i++ {
		}
		return nil
	}
	same := func(i int) int { return i }
	if err := runOrdered(t.Context(), 2, endless, same, func(int) error { return broken }); err != broken {
		t.Errorf("an error of consume: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := runOrdered(ctx, 2, endless, same, func(int) error {
		if n++; n == 5 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	failing := func(emit func(int) bool) error { emit(1); return broken }
	if err := runOrdered(t.Context(), 2, failing, same, func(int) error { return nil }); err != broken {
		t.Errorf("an error of produce: %v", err)
	}
}

// blocked is a standard input that never comes.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

// An interrupted audit ends with 3, says that the result is a part, and leaves no file.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	first := strings.NewReader(bench.Submission(0) + "\n" + bench.Submission(1) + "\n")
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	time.AfterFunc(300*time.Millisecond, cancel)
	args := []string{"audit", "-", "--input", "jsonl", "--sheet", "bench-deal", "--flight-sheets", "../../bench/sheets",
		"--out", filepath.Join(dir, "r.json"), "--format", "json"}
	code := run(ctx, args, func(string) string { return "" }, io.MultiReader(first, blocked{}), &stdout, &stderr)
	if code != exitTool || !strings.Contains(stderr.String(),
		"interrupted after 2 submissions: the result is incomplete") ||
		!strings.Contains(stdout.String(), "INTERRUPTED") {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left behind", left[0].Name())
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestUnwritable(t *testing.T) {
	var stderr bytes.Buffer
	for _, args := range [][]string{{"audit", "../../testdata/runs"}, {"sheet", "list"}, {"rules"}, {"version"},
		{"help"}} {
		if code := run(t.Context(), args, func(string) string { return "" }, nil, full{}, &stderr); code != exitTool {
			t.Errorf("%v: exit code %d where nothing can be written", args, code)
		}
	}
	if !strings.Contains(stderr.String(), "referee: error: writing the result: no space left on device") {
		t.Errorf("%s", &stderr)
	}
}

// FuzzLines: every line of a stream comes back once, in order, and at most maxSubmission bytes of each; looking first
// changes nothing.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "\n", "a", "a\nb", "a\n\nb\n", "{}\n{}\n", " \n{}\n", "{\n}", "\r\n{}\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			want = nil
		}
		l := newLines(strings.NewReader(text))
		var got []string
		for {
			line, _, err := l.nextLine()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("lines %q, not %q", got, want)
		}
		var all strings.Builder
		err := source{path: "-", kind: anyFile}.readUnits(newLines(strings.NewReader(text)), anyFile, func(u unit) bool {
			all.Write(bytes.TrimSpace(u.bytes))
			return true
		})
		if squeeze := strings.Join(strings.Fields(text), ""); err != nil ||
			strings.Join(strings.Fields(all.String()), "") != squeeze {
			t.Fatalf("read %q of %q: %v", all.String(), text, err)
		}
	})
}

// Every submission belongs to exactly one part.
func TestPartsAreThePartition(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for position := range 20 {
			owners := 0
			for i := 1; i <= n; i++ {
				if (part{i, n}).hasPosition(position) {
					owners++
				}
			}
			if owners != 1 {
				t.Errorf("position %d of %d parts has %d owners", position, n, owners)
			}
		}
	}
}
