package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestEditsOfACopy(t *testing.T) {
	const src = `{"a":1,"b":[1,{"c":2}],"d":null}`
	root := mustParse(t, src)
	copied := root.Clone()
	copied.Set("a", &Value{Kind: String, Text: "x"})
	copied.Set("e", &Value{Kind: Bool, Text: "true"})
	copied.Get("b").Items[1].Set("c", &Value{Kind: Number, Text: "3"})
	if !copied.Remove("d") || copied.Remove("d") || copied.Remove("z") {
		t.Error("Remove does not say whether there was a member")
	}
	for got, want := range map[*Value]string{
		copied:                             `{"a":"x","b":[1,{"c":3}],"e":true}`,
		root.With("b", &Value{Kind: Null}): `{"a":1,"b":null,"d":null}`,
		root.Without("b"):                  `{"a":1,"d":null}`,
		root.Without("z"):                  src,
		root.Get("b").WithItem(0, &Value{Kind: Null}): `[null,{"c":2}]`,
		root: src, // none of it has changed the document
	} {
		if s := string(got.Encode()); s != want {
			t.Errorf("%s, want %s", s, want)
		}
	}
}

// A parsed object with many members knows their places by name; an edit must not leave that behind.
func TestEditOfALargeObject(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	root := mustParse(t, "{"+b.String()[1:]+"}")
	root.Remove("k3")
	root.Set("new", &Value{Kind: Null})
	if root.Get("k3") != nil || root.Get("new") == nil || root.Get("k39").Text != "39" || root.Get("k4").Text != "4" {
		t.Error("a member is not found where the edit put it")
	}
}

// encoding/json reads back what Encode writes: the same texts, whatever stands in them.
func TestEncodedTexts(t *testing.T) {
	for _, text := range []string{"", "a/b", `"\`, "\b\t\n\f\r", "\x00\x1f\x7f", "é€😀", "\u2028\u202e", "<&>"} {
		b := (&Value{Kind: Object, Members: []Member{{Key: text, Value: &Value{Kind: String, Text: text}}}}).Encode()
		var got map[string]string
		if err := json.Unmarshal(b, &got); err != nil || len(got) != 1 || got[text] != text {
			t.Errorf("%q is written %s and read as %q, %v", text, b, got, err)
		}
		if back := mustParse(t, string(b)); !bytes.Equal(back.Encode(), b) || back.TextOf(text) != text {
			t.Errorf("%q does not come back from %s", text, b)
		}
	}
}
