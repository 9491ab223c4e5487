package pdf

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/report"
)

// namesTTF holds the Latin, Greek and Cyrillic letters that the Go fonts lack (names.txt).
//
//go:embed names.ttf
var namesTTF []byte

// face is one of the paper's fonts.
type face uint8

// The faces. Letters that one of the first three lacks are set in names.
const (
	plain face = iota
	bold
	mono
	letters
)

// faces are the fonts by the names that the paper knows them by.
var faces = [...]struct {
	family, style string
	ttf           []byte
}{
	{"go", "", goregular.TTF},
	{"go", "B", gobold.TTF},
	{"mono", "", gomono.TTF},
	{"names", "", namesTTF},
}

// widest is the end of the characters that a face may hold; every font of the paper ends before it.
const widest = 0xA800

// advances are the widths of a face's characters in thousandths of its size, 0 where it has none.
type advances [widest]uint16

// measure reads the widths of all faces once.
var measure = sync.OnceValues(func() (*[len(faces)]advances, error) {
	all := new([len(faces)]advances)
	for i, f := range faces {
		if err := all[i].readFont(f.ttf); err != nil {
			return nil, fmt.Errorf("font %s%s: %w", f.family, f.style, err)
		}
	}
	return all, nil
})

func (a *advances) readFont(ttf []byte) error {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		return err
	}
	var buf sfnt.Buffer
	for r := rune(' '); r < widest; r++ {
		if r >= 0x3000 && r < 0xA640 {
			continue // no letter of the three scripts stands there
		}
		glyph, err := f.GlyphIndex(&buf, r)
		if err != nil || glyph == 0 {
			continue
		}
		width, err := f.GlyphAdvance(&buf, glyph, fixed.I(1000), font.HintingNone)
		if err != nil {
			return err
		}
		a[r] = uint16(max(1, width.Round())) // a mark has no width, and is there all the same
	}
	return nil
}

// typesetter measures text, wraps it and says which font has which letter.
type typesetter struct{ faces *[len(faces)]advances }

// hasGlyph says whether a face holds a character.
func (t typesetter) hasGlyph(f face, r rune) bool { return r < widest && t.faces[f][r] > 0 }

// fitForPaper makes a text fit for the paper: clean (Clean), composed as far as letters compose, and what no font of
// the paper has, which is whatever is neither Latin nor Greek nor Cyrillic, escaped visibly.
func (t typesetter) fitForPaper(s string) string {
	s = legible.Composed(report.Clean(s))
	if strings.IndexFunc(s, t.isAbsent) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if t.isAbsent(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (t typesetter) isAbsent(r rune) bool { return !t.hasGlyph(plain, r) && !t.hasGlyph(letters, r) }

// faceOf is the face that a character is set in.
func (t typesetter) faceOf(f face, r rune) face {
	if t.hasGlyph(f, r) {
		return f
	}
	return letters
}

// millimetre is a point, the unit of sizes, in the unit of places.
const millimetre = 25.4 / 72

// textWidthIn is how wide a text is at a size, in millimetres.
func (t typesetter) textWidthIn(f face, size float64, s string) float64 {
	sum := 0
	for _, r := range s {
		sum += t.advance(f, r)
	}
	return float64(sum) / 1000 * size * millimetre
}

func (t typesetter) advance(f face, r rune) int {
	if r >= widest || unicode.Is(unicode.Mn, r) {
		return 0
	}
	return int(t.faces[t.faceOf(f, r)][r])
}

// wrapLine breaks a text into lines that are no wider than width: at spaces, and inside of words that are longer than a
// line.
func (t typesetter) wrapLine(f face, size float64, s string, width float64) []string {
	room := int(width / millimetre / size * 1000)
	var lines []string
	start, last, used, sinceLast := 0, -1, 0, 0 // of the line; last is the space that it may break at
	for i, r := range s {
		w := t.advance(f, r)
		breaks := r == ' ' && !markFollows(s[i+1:])
		if breaks {
			last, sinceLast = i, 0
		}
		for used+w > room && r != ' ' && i > start && w > 0 {
			if last > start {
				lines = append(lines, s[start:last])
				start, used = last+1, sinceLast
			} else {
				lines = append(lines, s[start:i])
				start, used = i, 0
			}
			last = -1
		}
		used += w
		if !breaks {
			sinceLast += w
		}
	}
	return append(lines, s[start:])
}

// markFollows says whether a text begins with a mark: a space before it carries it, and is no place for a break
// (UAX #14, LB9).
func markFollows(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(unicode.Mn, r)
}

// run is a part of a line that one font holds.
type run struct {
	face face
	text string
}

// splitRuns splits a line by font.
func (t typesetter) splitRuns(f face, s string) []run {
	var all []run
	start, now := 0, f
	for i, r := range s {
		if next := t.faceOf(f, r); next != now {
			if i > start {
				all = append(all, run{now, s[start:i]})
			}
			start, now = i, next
		}
	}
	if start < len(s) {
		all = append(all, run{now, s[start:]})
	}
	return all
}
