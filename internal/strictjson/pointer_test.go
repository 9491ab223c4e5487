package strictjson

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// section5 is the document of RFC 6901, section 5, and what its pointers evaluate to there.
const section5 = `{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`

var section5Pointers = []struct {
	pointer string
	names   []string
	want    string
}{
	{"", nil, section5}, {"/foo", []string{"foo"}, `["bar","baz"]`}, {"/foo/0", []string{"foo", "0"}, `"bar"`},
	{"/", []string{""}, "0"}, {"/a~1b", []string{"a/b"}, "1"}, {"/c%d", []string{"c%d"}, "2"},
	{"/e^f", []string{"e^f"}, "3"}, {"/g|h", []string{"g|h"}, "4"}, {`/i\j`, []string{`i\j`}, "5"},
	{`/k"l`, []string{`k"l`}, "6"}, {"/ ", []string{" "}, "7"}, {"/m~0n", []string{"m~n"}, "8"},
}

func TestPointerOfRFC6901(t *testing.T) {
	root := mustParse(t, section5)
	for _, c := range section5Pointers {
		v := root.At(c.pointer)
		if v == nil || string(v.Source([]byte(section5))) != c.want || v.Pointer() != c.pointer {
			t.Errorf("At(%q) = %+v, want %s", c.pointer, v, c.want)
		}
		names, err := ParsePointer(c.pointer)
		if err != nil || !slices.Equal(names, c.names) {
			t.Errorf("ParsePointer(%q) = %q, %v", c.pointer, names, err)
		}
		if got := JoinPointer("", c.names...); got != c.pointer {
			t.Errorf("JoinPointer(%q) = %q, want %q", c.names, got, c.pointer)
		}
		last := ""
		if len(c.names) > 0 {
			last = c.names[len(c.names)-1]
		}
		if got := LastName(c.pointer); got != last {
			t.Errorf("LastName(%q) = %q, want %q", c.pointer, got, last)
		}
	}
}

// Section 4: ~01 is ~1 and not /, an index has no leading zero, "-" is the element that is not there yet.
func TestPointerToNothing(t *testing.T) {
	root := mustParse(t, section5)
	for _, pointer := range []string{"foo", "/foo/2", "/foo/-", "/foo/01", "/foo/-0", "/foo/+1", "/foo/0/x", "/m~n",
		"/m~2n", "/m~", "/FOO", "/foo/99999999999999999999", "/foo/", "/a~01b"} {
		if v := root.At(pointer); v != nil {
			t.Errorf("At(%q) = %+v", pointer, v)
		}
	}
	if name, ok := UnescapeToken("~01"); !ok || name != "~1" {
		t.Errorf("~01 is %q", name)
	}
}

func TestMalformedPointers(t *testing.T) {
	for pointer, want := range map[string]error{"a": ErrPointerStart, "a/b": ErrPointerStart, "#/a": ErrPointerStart,
		"~0": ErrPointerStart, "/~": ErrPointerEscape, "/a/~2": ErrPointerEscape, "/~/a": ErrPointerEscape,
		"/~~0": ErrPointerEscape} {
		if names, err := ParsePointer(pointer); !errors.Is(err, want) || names != nil {
			t.Errorf("ParsePointer(%q) = %q, %v", pointer, names, err)
		}
	}
}

func TestArrayIndex(t *testing.T) {
	for token, want := range map[string]int{"0": 0, "7": 7, "10": 10, "2147483647": 1<<31 - 1} {
		if i, ok := ArrayIndex(token); !ok || i != want {
			t.Errorf("%q is %d, %v", token, i, ok)
		}
	}
	for _, token := range []string{"", "-", "-1", "+1", "00", "01", "1 ", "0x1", "1_0", "1.0", "1e1", "٣", "2147483648"} {
		if i, ok := ArrayIndex(token); ok {
			t.Errorf("%q is %d", token, i)
		}
	}
}

func TestDeepest(t *testing.T) {
	root := mustParse(t, `{"a":[{"b":1}],"x~y":{}}`)
	for pointer, want := range map[string]string{"": "", "/a/0/b": "/a/0/b", "/a/0/c/d": "/a/0", "/a/7": "/a",
		"/z/y/x": "", "/x~0y/z": "/x~0y", "/x~y/z": "", "a": "", "/a/0/b/": "/a/0/b"} {
		if v, at := root.Deepest(pointer); at != want || v != root.At(want) {
			t.Errorf("Deepest(%q) is at %q, want %q", pointer, at, want)
		}
	}
	if parent, token, ok := CutPointer("/a~1b/c"); parent != "/a~1b" || token != "c" || !ok {
		t.Errorf("CutPointer cuts %q and %q", parent, token)
	}
	if _, _, ok := CutPointer(""); ok {
		t.Error("the root has a last token")
	}
	if got := JoinIndex("/a", 12); got != "/a/12" {
		t.Errorf("JoinIndex: %s", got)
	}
}

// FuzzPointer holds that a pointer that parses is the one that its names make, that At follows exactly those names, and
// that what is refused has no names and leads nowhere.
func FuzzPointer(f *testing.F) {
	for _, c := range section5Pointers {
		f.Add(c.pointer)
	}
	for _, pointer := range []string{"/foo/01", "/~", "/~2", "a", "//", "/foo/-", "/~01", "/foo/0/~0"} {
		f.Add(pointer)
	}
	root := mustParse(f, section5)
	f.Fuzz(func(t *testing.T, pointer string) {
		names, err := ParsePointer(pointer)
		at := root.At(pointer)
		if err != nil {
			if names != nil || at != nil {
				t.Fatalf("%q is refused, and leads to %q and %v", pointer, names, at)
			}
			return
		}
		if got := JoinPointer("", names...); got != pointer {
			t.Fatalf("%q parses as %q, which is written %q", pointer, names, got)
		}
		v := root
		for _, name := range names {
			v = v.Child(name)
		}
		if v != at || at != nil && at.Pointer() != pointer {
			t.Fatalf("%q: the names lead to %v, the pointer to %v", pointer, v, at)
		}
		if _, below := root.Deepest(pointer); !strings.HasPrefix(pointer, below) || root.At(below) == nil {
			t.Fatalf("%q: the deepest place is %q", pointer, below)
		}
	})
}
