package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/defendableos/referee/internal/gitobject"
)

// manyBlobs makes a repository with n blobs of different sizes and gives it as git reads it, with the blobs.
func manyBlobs(t *testing.T, n int) (*gitBinary, []gitobject.Object) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git binary")
	}
	dir := initBare(t)
	var in bytes.Buffer
	blobs := make([]gitobject.Object, n)
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("blob %d, ", i), i%700*4)
		blobs[i] = gitobject.New(gitobject.Blob, []byte(text))
		fmt.Fprintf(&in, "blob\ndata %d\n%s\n", len(text), text)
	}
	fmt.Fprint(&in, "done\n")
	cmd := exec.Command(git, "--git-dir", dir, "fast-import", "--quiet", "--done")
	cmd.Stdin = &in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return &gitBinary{git: git, objects: dir + "/objects"}, blobs
}

func objectIDs(objects []gitobject.Object) (all []string) {
	for _, o := range objects {
		all = append(all, o.ID)
	}
	return all
}

// TestAbreast holds that two processes give what one gives, in the order of the list, whatever its length is beside
// the stretches.
func TestAbreast(t *testing.T) {
	g, blobs := manyBlobs(t, 3*stretch+7)
	for _, n := range []int{0, 1, 2*stretch - 1, 2 * stretch, 2*stretch + 1, 3*stretch + 7} {
		i := 0
		for o, err := range g.bodies(t.Context(), objectIDs(blobs[:n])) {
			if err != nil || o.ID != blobs[i].ID || o.Kind != gitobject.Blob || !bytes.Equal(o.Data, blobs[i].Data) {
				t.Fatalf("of %d, number %d: %s %s, %v", n, i, o.Kind, o.ID, err)
			}
			g.spare.giveBuffer(o.Data)
			i++
		}
		if i != n {
			t.Errorf("%d of %d objects", i, n)
		}
		i = 0
		for size, err := range g.sizes(t.Context(), objectIDs(blobs[:n])) {
			if err != nil || size != int64(len(blobs[i].Data)) {
				t.Fatalf("of %d, number %d: size %d, %v", n, i, size, err)
			}
			i++
		}
		if i != n {
			t.Errorf("%d of %d sizes", i, n)
		}
	}
}

// TestAbreastStops holds that a missing object, a reader who has seen enough and a cancelled context end both
// processes, the first with its error at its place.
func TestAbreastStops(t *testing.T) {
	g, blobs := manyBlobs(t, 3*stretch)
	before := runtime.NumGoroutine()
	list := objectIDs(blobs)
	for _, missing := range []int{0, stretch - 1, stretch, 2*stretch + 100, 3*stretch - 1} {
		broken := slices.Clone(list)
		broken[missing] = strings.Repeat("d", 40)
		i := 0
		for o, err := range g.bodies(t.Context(), broken) {
			if i == missing {
				if !errors.Is(err, ErrMissing) {
					t.Errorf("at %d: %v", i, err)
				}
				break
			}
			if err != nil || o.ID != list[i] {
				t.Fatalf("missing %d, at %d: %s, %v", missing, i, o.ID, err)
			}
			i++
		}
		if i != missing {
			t.Errorf("ended at %d, the missing object is number %d", i, missing)
		}
		i = 0
		for size, err := range g.sizes(t.Context(), broken) {
			if err != nil || (size < 0) != (i == missing) {
				t.Errorf("missing %d, at %d: size %d, %v", missing, i, size, err)
			}
			i++
		}
	}
	for range g.bodies(t.Context(), list) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range g.bodies(ctx, list) {
		cancel()
		last = err
	}
	if last == nil {
		t.Error("a cancelled reading ended as if it were whole")
	}
	last = nil
	for _, err := range g.sizes(ctx, list) {
		last = err
	}
	if last == nil {
		t.Error("a cancelled asking for sizes ended as if it were whole")
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(
		10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
