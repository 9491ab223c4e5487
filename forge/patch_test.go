package forge

import (
	"errors"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

func parse(t testing.TB, src string) *strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(src), strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 64})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

// TestPatch: the cases whose operations are add, remove and replace of RFC 6902's appendix A, and the refusals of RFC
// 6901 and 6902.
func TestPatch(t *testing.T) {
	tests := []struct{ name, doc, op, path, value, want, refused string }{
		{"A.1 add a member", `{"foo":"bar"}`, "add", "/baz", `"qux"`, `{"foo":"bar","baz":"qux"}`, ""},
		{"A.2 add an item", `{"foo":["bar","baz"]}`, "add", "/foo/1", `"qux"`, `{"foo":["bar","qux","baz"]}`, ""},
		{"A.3 remove a member", `{"baz":"qux","foo":"bar"}`, "remove", "/baz", "", `{"foo":"bar"}`, ""},
		{"A.4 remove an item", `{"foo":["bar","qux","baz"]}`, "remove", "/foo/1", "", `{"foo":["bar","baz"]}`, ""},
		{"A.5 replace", `{"baz":"qux","foo":"bar"}`, "replace", "/baz", `"boo"`, `{"baz":"boo","foo":"bar"}`, ""},
		{"A.10 a nested object", `{"foo":"bar"}`, "add", "/child", `{"grandchild":{}}`,
			`{"foo":"bar","child":{"grandchild":{}}}`, ""},
		{"A.12 no parent", `{"foo":"bar"}`, "add", "/baz/bat", `"qux"`, "", "nothing at"},
		{"A.14 tilde", `{"/":9,"~1":10}`, "replace", "/~01", `11`, `{"/":9,"~1":11}`, ""},
		{"A.16 append", `{"foo":["bar"]}`, "add", "/foo/-", `["abc","def"]`, `{"foo":["bar",["abc","def"]]}`, ""},
		{"add replaces", `{"a":1}`, "add", "/a", `2`, `{"a":2}`, ""},
		{"the whole", `{"a":1}`, "replace", "", `[1.50]`, `[1.50]`, ""},
		{"remove the whole", `{"a":1}`, "remove", "", ``, "", "cannot be removed"},
		{"no such member", `{"a":1}`, "remove", "/b", ``, "", `no member "b"`},
		{"no such member to replace", `{"a":1}`, "replace", "/b", `1`, "", `no member "b"`},
		{"past the end", `[1]`, "add", "/2", `1`, "", `no item "2"`},
		{"remove past the end", `[1]`, "remove", "/1", ``, "", `no item "1"`},
		{"remove at -", `[1]`, "remove", "/-", ``, "", `no item "-"`},
		{"leading zero", `[1,2]`, "remove", "/01", ``, "", `no item "01"`},
		{"into a number", `{"a":1}`, "add", "/a/b", `1`, "", "neither an object nor an array"},
		{"no slash", `{"a":1}`, "add", "a", `1`, "", "begins with /"},
		{"bad tilde", `{"a":1}`, "add", "/~2", `1`, "", "~ is written ~0"},
		{"unknown operation", `{"a":1}`, "move", "/a", `1`, "", "known: add"},
		{"no value", `{"a":1}`, "add", "/a", ``, "", "needs a value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := referee.PatchOp{Op: tt.op, Path: tt.path}
			if tt.value != "" {
				op.Value = parse(t, tt.value)
			}
			got, err := applyPatch(parse(t, tt.doc).Clone(), []referee.PatchOp{op})
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Fatalf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := string(got.Encode()); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

// FuzzPatch: no document and no operation panics, what is written is strict JSON again, and adding a member and taking
// it away leaves the document as it was.
func FuzzPatch(f *testing.F) {
	f.Add(`{"a":[1,2.50,{"b":null}]}`, "add", "/a/1", `{"x":"\u0007"}`)
	f.Add(`[]`, "add", "/-", `1e9`)
	f.Add(`{"":{"~":0}}`, "replace", "//~0", `"\ud83d\ude00"`)
	f.Add(`{"a":1}`, "remove", "/a", `0`)
	f.Fuzz(func(t *testing.T, doc, op, path, value string) {
		lim := strictjson.Limits{MaxBytes: 1 << 16, MaxDepth: 64}
		d, err := strictjson.Parse([]byte(doc), lim)
		v, err2 := strictjson.Parse([]byte(value), lim)
		if err := errors.Join(err, err2); err != nil {
			return
		}
		before := string(d.Encode())
		got, err := applyPatch(d.Clone(), []referee.PatchOp{{Op: op, Path: path, Value: v}})
		if string(d.Encode()) != before {
			t.Fatal("the original was changed")
		}
		if err != nil {
			return
		}
		back, err := strictjson.Parse(got.Encode(), strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 128})
		if err != nil || !strictjson.Equal(back, got) {
			t.Fatalf("%s is not read back: %v", got.Encode(), err)
		}
		if op == "add" && path != "" && d.At(path) == nil && !strings.HasSuffix(path, "/-") {
			undone, err := applyPatch(got, []referee.PatchOp{{Op: "remove", Path: path}})
			if err != nil || !strictjson.Equal(undone, d) {
				t.Fatalf("undone: %v", err)
			}
		}
	})
}
