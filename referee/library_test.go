package referee

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// TestVersionIn: npm's meaning of ^ and ~ (semver.org for the order); a pre-release only by its whole name.
func TestVersionIn(t *testing.T) {
	for _, c := range []struct {
		version, want string
		in            bool
	}{
		{"1.2.3", "", true}, {"1.2.3", "*", true}, {"1.2.3", "1.2.3", true}, {"1.2.3", "1.2.4", false},
		{"1.2.3", "1.2", true}, {"1.2.3", "1", true}, {"1.2.3", "2", false},
		{"1.2.3", "^1.2.0", true}, {"1.2.3", "^1.3.0", false}, {"2.0.0", "^1.2.0", false}, {"1.10.0", "^1.9.0", true},
		{"0.2.3", "^0.2.1", true}, {"0.3.0", "^0.2.1", false},
		{"1.2.3", "~1.2.0", true}, {"1.3.0", "~1.2.0", false}, {"1.2.3", "~1.2.4", false},
		{"1.2.3-rc.1", "1.2.3-rc.1", true}, {"1.2.3-rc.1", "^1.2.0", false}, {"1.2.3", "latest", false},
		{"1.2.3", "1.2.3.4", false}, {"1.2.3", "^", false},
	} {
		if got := VersionIn(c.version, c.want); got != c.in {
			t.Errorf("%s in %q: %t, want %t", c.version, c.want, got, c.in)
		}
	}
}

func TestLibrary(t *testing.T) {
	sheet := func(slug, version string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(
			strings.Replace(strings.Replace(sheetText(`"eval_spec":{"deterministic_checks":["json_valid"]}`),
				"test-sheet", slug, 1), "1.0.0", version, 1))}
	}
	embedded := fstest.MapFS{"alpha.json": sheet("alpha", "1.0.0"), "beta.json": sheet("beta", "1.0.0")}
	own := fstest.MapFS{"beta.json": sheet("beta", "2.0.0"), "gamma.json": sheet("other", "1.0.0"),
		"delta.json": {Data: []byte(`{"slug":1}`)}, "note.txt": {Data: []byte("no sheet")}}
	lib := NewLibrary(embedded, own, "flight_sheets")
	if got := strings.Join(lib.Slugs(), " "); got != "alpha beta delta gamma" {
		t.Errorf("slugs %s", got)
	}
	beta, err := lib.Find("beta")
	if err != nil || beta.Version != "2.0.0" || !beta.Shadows || beta.Origin != "repository" {
		t.Errorf("%+v %v", beta, err)
	}
	if alpha, err := lib.Find("alpha@^1"); err != nil || alpha.Shadows || alpha.Origin != "library" {
		t.Errorf("%+v %v", alpha, err)
	}
	if again, _ := lib.Find("beta"); again != beta {
		t.Error("a sheet is loaded twice")
	}
	for ref, want := range map[string]string{"beta@1.0.0": "active version of beta is 2.0.0",
		"alhpa": `did you mean "alpha"?`, "nothing-like-it": "referee sheet list",
		"../secret": "no such flight sheet"} {
		if _, err := lib.Find(ref); !errors.Is(err, ErrNoSheet) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	var refused *RefusedError
	if _, err := lib.Find("gamma"); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "name the file other.json") {
		t.Errorf("a file under another name: %v", err)
	}
	if _, err := lib.Find("delta"); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "flight_sheets/delta.json") {
		t.Errorf("a sheet that is refused: %v", err)
	}
	sheets, errs := lib.Load()
	for i, slug := range lib.Slugs() {
		want, wantErr := lib.Find(slug)
		if sheets[i] != want || errs[i] != wantErr || (want == nil) == (wantErr == nil) {
			t.Errorf("loaded all at once, %s is %v (%v)", slug, sheets[i], errs[i])
		}
	}
	if len(sheets) != 4 || errs[0] != nil || errs[2] == nil {
		t.Errorf("%d sheets, %v", len(sheets), errs)
	}
	if len(lib.loaded) != 4 {
		t.Errorf("%d names are kept: an unknown one is among them", len(lib.loaded))
	}
}

// TestCanonicalJSON: RFC 8785's order and escapes, numbers by value; two spellings of one sheet are one, two values are
// two.
func TestCanonicalJSON(t *testing.T) {
	for src, want := range map[string]string{
		`{ "b" : 1.50, "a" : [true, null, "x"] }`:           `{"a":[true,null,"x"],"b":1.5}`,
		`{"n":[1e2,100.0,0.000,-0,1E-2,12345678901234567]}`: `{"n":[100,100,0,0,0.01,12345678901234567]}`,
		`{"s":"\u0041\u00e9\/\"\\\b\f\n\r\t\u001f"}`:        `{"s":"Aé/\"\\\b\f\n\r\t\u001f"}`,
		`{"é":1,"z":2,"Z":3}`:                               `{"Z":3,"z":2,"é":1}`,
		`{}`:                                                `{}`,
	} {
		v := mustParse(t, []byte(src))
		if got := string(canonicalJSON(v)); got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

// TestSelectPath: what a path names, and where it breaks off.
func TestSelectPath(t *testing.T) {
	doc := mustParse(t, []byte(`{"rows":[{"a":{"b":1}},{"a":{}}],"x/y":{"~":2},"none":null}`))
	for path, want := range map[string]string{"rows[0].a.b": "/rows/0/a/b=1",
		"rows[*].a.b": "/rows/0/a/b=1 /rows/1/a/b=", "/x~1y/~0": "/x~1y/~0=2", "none.more": "/none/more=",
		"gone[*].a": "/gone/*/a=", "rows[7]": "/rows/7="} {
		var got []string
		for _, hit := range selectPath(doc, path) {
			text := hit.Pointer + "="
			if hit.Value != nil {
				text += hit.Value.Text
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s names %v, want %s", path, got, want)
		}
	}
}
