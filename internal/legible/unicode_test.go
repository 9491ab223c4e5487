package legible

import (
	"bufio"
	"compress/bzip2"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// unicodeData opens a file of the Unicode Character Database as Debian's package unicode-data installs it. The release's own check needs it;
// elsewhere what rests on it is passed over.
func unicodeData(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(filepath.Join("/usr/share/unicode", name))
	if err != nil {
		if os.Getenv("REFEREE_CI") != "" {
			t.Fatalf("install unicode-data: %v", err)
		}
		t.Skipf("needs unicode-data: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	if strings.HasSuffix(name, ".bz2") {
		return bzip2.NewReader(f)
	}
	return f
}

// fields yields the fields of each line of a file of the database, without its comments.
func fields(t *testing.T, name string, use func([]string)) {
	t.Helper()
	lines := bufio.NewScanner(unicodeData(t, name))
	n := 0
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" || line[0] == '@' {
			continue
		}
		parts := strings.Split(line, ";")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		use(parts)
		n++
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Fatalf("%s: %d lines, %v", name, n, err)
	}
}

// points reads code points as the database writes them: 0041 0301.
func points(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for f := range strings.FieldsSeq(s) {
		n, err := strconv.ParseUint(f, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteRune(rune(n))
	}
	return b.String()
}

// spread reads one code point or a range of them: 200B..200F.
func spread(t *testing.T, s string, use func(rune)) {
	t.Helper()
	first, last, ranged := strings.Cut(s, "..")
	if !ranged {
		last = first
	}
	for r := []rune(points(t, first))[0]; r <= []rune(points(t, last))[0]; r++ {
		use(r)
	}
}

// property is the set of code points that a file gives a property.
func property(t *testing.T, file, name string) map[rune]bool {
	set := map[rune]bool{}
	fields(t, file, func(f []string) {
		if f[1] == name {
			spread(t, f[0], func(r rune) { set[r] = true })
		}
	})
	return set
}

// TestUnicodeNormalization holds Fold to the 18,000 lines of NormalizationTest.txt: texts that are the same by Unicode's canonical rules are seen
// as the same, and what Fold does not map itself it normalises to NFKC.
func TestUnicodeNormalization(t *testing.T) {
	own := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool {
			to, how := look(r)
			return how != isKept || to != r
		})
	}
	fields(t, "NormalizationTest.txt.bz2", func(f []string) {
		source, nfc, nfd, nfkc := points(t, f[0]), points(t, f[1]), points(t, f[2]), points(t, f[3])
		if Composed(source) != nfc || Decomposed(source) != nfd {
			t.Errorf("%+q is not normalised as Unicode says", source)
		}
		if Fold(source) != Fold(nfc) || Fold(source) != Fold(nfd) {
			t.Errorf("%+q, %+q and %+q are one text, and fold to %+q, %+q and %+q", source, nfc, nfd, Fold(source), Fold(nfc), Fold(nfd))
		}
		if !own(source) && !own(nfkc) && Fold(source) != nfkc {
			t.Errorf("Fold(%+q) = %+q, want %+q", source, Fold(source), nfkc)
		}
	})
}

// TestUnicodeIgnorable holds Ignorable to DerivedCoreProperties.txt: the property, and beyond it what legible.go names.
func TestUnicodeIgnorable(t *testing.T) {
	set := property(t, "DerivedCoreProperties.txt", "Default_Ignorable_Code_Point")
	for r := rune(0); r <= unicode.MaxRune; r++ {
		extra := unicode.Is(unicode.Cc, r) && !strings.ContainsRune("\t\n\v\f\r\u0085", r) || r >= 0xFFF9 && r <= 0xFFFB || r == 0x1D159
		if Ignorable(r) != (set[r] || extra) {
			t.Errorf("Ignorable(U+%04X) = %v", r, Ignorable(r))
		}
	}
}

// TestUnicodeDashes holds dash to PropList.txt, and digits to UnicodeData.txt.
func TestUnicodeDashes(t *testing.T) {
	set := property(t, "PropList.txt", "Dash")
	for r := range set {
		if wavy := r == 0x2053 || r == 0x301C || r == 0x3030 || r == 0x30A0; dash(r) == wavy {
			t.Errorf("dash(U+%04X) = %v", r, dash(r))
		}
	}
	fields(t, "UnicodeData.txt", func(f []string) {
		want, err := strconv.Atoi(f[6])
		if f[6] == "" || err != nil {
			want = -1
		}
		if r := []rune(points(t, f[0]))[0]; int(digit(r)) != want && f[2] != "Cs" {
			t.Errorf("digit(U+%04X) = %d, want %d", r, digit(r), want)
		}
	})
}

// TestUnicodeSequences: no emoji and no standardized variant of Unicode's own lists hides anything.
func TestUnicodeSequences(t *testing.T) {
	hidesNothing := func(s string) {
		if found := Find("a " + s + " b"); len(found) > 0 {
			t.Errorf("%+q hides nothing: %+v", s, found)
		}
	}
	for _, file := range []string{"emoji/emoji-test.txt", "emoji/emoji-zwj-sequences.txt", "emoji/emoji-variation-sequences.txt", "StandardizedVariants.txt"} {
		fields(t, file, func(f []string) {
			if s := points(t, f[0]); !strings.HasSuffix(file, "variation-sequences.txt") || s[0] >= 0x80 {
				hidesNothing(s)
			}
		})
	}
	fields(t, "emoji/emoji-sequences.txt", func(f []string) {
		if !strings.Contains(f[0], "..") {
			hidesNothing(points(t, f[0]))
		}
	})
}

// TestLookalikes: every letter of the tables has the script that it is listed under, and none is the same letter by another form.
func TestLookalikes(t *testing.T) {
	for list, want := range map[string]script{cyrillicLookalikes: cyrillic, greekLookalikes: greek, greekNear: greek} {
		for _, r := range list {
			if scriptOf(r) != want || norm.NFKC.String(string(r)) != string(r) && r != 'ϲ' && r != 'Ϲ' {
				t.Errorf("%c (U+%04X)", r, r)
			}
		}
	}
}
