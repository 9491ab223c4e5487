package canonical_test

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/canonical"
)

type box struct {
	part
	Name  string   `json:"name" is:"word"`
	Words []string `json:"words,omitempty" is:"word"`
	List  []part   `json:"list"`
	In    *part    `json:"in,omitempty"`
	OK    bool     `json:"ok,omitempty"`
	Skip  string   `json:"skip,omitempty" scan:"-"`
}

type part struct {
	N    int64  `json:"n"`
	Tier string `json:"tier,omitempty" is:"tier"`
}

var decoder = canonical.NewDecoder(reflect.TypeFor[box](), map[string]*canonical.Form{
	"word": {Check: func(b []byte) bool { return len(b) > 0 && len(b) < 10 }, Want: "a word"},
	"tier": {Enum: []string{"high", "mid", "low"}},
})

func TestDecode(t *testing.T) {
	in := `{"in":{"n":7,"tier":"mid"},"list":[{"n":1},{"n":2,"tier":"low"}],"n":3,"name":"a\"\n\u001f\\é","ok":true,` +
		`"skip":"s","words":["x","y"]}`
	want := box{part: part{N: 3}, Name: "a\"\n\x1f\\é", Words: []string{"x", "y"}, List: []part{{N: 1}, {2, "low"}},
		In: &part{7, "mid"}, OK: true, Skip: "s"}
	var got box
	if err := decoder.Decode([]byte(in), canonical.Receipt, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v\nwant %+v", got, err, want)
	}
	want.Skip = ""
	got = box{}
	passed := map[string]string{}
	keep := func(key string, value []byte) { passed[key] = string(value) }
	if err := decoder.Scan([]byte(in), canonical.Receipt, &got, keep); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v\nwant %+v", got, err, want)
	}
	if want := map[string]string{"skip": `"s"`}; !maps.Equal(passed, want) {
		t.Errorf("passed over %v, want %v", passed, want)
	}
	back, err := canonical.Marshal(box{part: part{N: 3}, Name: "a\"\n\x1f\\é", Words: []string{"x", "y"},
		List: []part{{N: 1}, {2, "low"}}, In: &part{7, "mid"}, OK: true, Skip: "s"})
	if err != nil || string(back) != in {
		t.Errorf("%s, %v", back, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"list":[],"n":3,"nam":"x"}`:             `unknown key "nam"; did you mean "name"?`,
		`{"list":[],"n":3,"name":"x","zzzzzz":1}`: `unknown key "zzzzzz"; known are in, list, n, name`,
		`{"list":[],"name":"x"}`:                  `the member "n" is missing`,
		`{}`:                                      `the member "list" is missing`,
		`{"list":[{"n":1},{"n":2,"tier":"hihg"}],"n":3}`: `"/list/1/tier": "hihg" is not one of high, mid, ` +
			`low; did you mean "high"?`,
		`{"list":[],"n":3,"name":""}`: `"/name": "" is not a word`,
		`{"list":[],"n":3,"name":"x","words":["a","b","` + strings.Repeat("x", 10) +
			`"]}`: `"/words/2": "xxxxxxxxxx" is not a word`,
		`{"list":{},"n":3,"name":"x"}`:            `"/list": an object, an array is expected`,
		`{"list":[1],"n":3,"name":"x"}`:           `"/list/0": an integer, an object is expected`,
		`{"list":[],"n":"3","name":"x"}`:          `"/n": a string, an integer is expected`,
		`{"list":[],"n":-3,"name":"x"}`:           `"/n": a negative number`,
		`{"list":[],"n":true,"name":"x"}`:         `"/n": true or false, an integer is expected`,
		`{"list":[],"n":3,"name":[]}`:             `"/name": an array, a string is expected`,
		`{"list":[],"n":3,"name":"x","ok":false}`: `"/ok": an empty member`,
		`{"list":[],"n":3,"name":"x","ok":1}`:     `"/ok": an integer, true or false is expected`,
		`{"list":[],"n":3,"name":"x","skip":""}`:  `"/skip": an empty member`,
		`{"list":[],"n":3,"name":"x","words":[]}`: `"/words": an empty member`,
		`{"in":{},"list":[],"n":3,"name":"x"}`: `"/in": the member "n" is ` +
			`missing`,
		`{"list":[],"n":3, "name":"x"}`: `white space`,
	} {
		got := box{Name: "as it was"}
		err := decoder.Decode([]byte(in), canonical.Receipt, &got)
		var e *canonical.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
		if got.Name != "as it was" || got.N != 0 {
			t.Errorf("%s: something was filled in: %+v", in, got)
		}
		if again := decoder.Scan([]byte(in), canonical.Receipt, &got, func(string, []byte) {}); again == nil ||
			again.Error() != err.Error() {
			t.Errorf("%s: Scan says %v, Decode %v", in, again, err)
		}
	}
}

// FuzzDecode holds that a text that decodes is what the writer gives for the value.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"in":{"n":7,"tier":"mid"},"list":[{"n":1},{"n":2,"tier":"low"}],"n":3,"name":"a\"\n\u001f\\é",` +
		`"ok":true,"skip":"s","words":["x","y"]}`))
	f.Add([]byte(`{"list":[],"n":0,"name":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v box
		if decoder.Decode(b, canonical.Receipt, &v) != nil {
			return
		}
		if back, err := canonical.Marshal(v); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%s\ncomes back as\n%s, %v", b, back, err)
		}
	})
}
