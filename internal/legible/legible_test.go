package legible

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestFold: what each form is seen as, by hand.
func TestFold(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"555-0123\t\n\r\f", "555-0123\t\n\r\f"},
		{"555\u2011012\u20101234", "555-012-1234"}, {"a\u2013b\u2014c\u2212d\uFF0De\u00ADf", "a-b-c-d-ef"},
		{"555\u00A0012\u202F3456\u3000\u2007x", "555 012 3456  x"}, {"a\u2028b\u2029c\u0085d", "a\nb\nc\nd"},
		{"５５５－０１２－３４５６", "555-012-3456"}, {"٠١٢٣٤٥٦٧٨٩ ०१२३ ৪৫ 𝟞𝟟 𞥐", "0123456789 0123 45 67 0"},
		{"5\u200B5\u200C5\u200D5\u2060\uFEFF5\u180E5", "555555"}, {"a\x00b\x1B[1mc\x7Fd\u0080", "ab[1mcd"},
		{"\u202Eabc\u202C \u2066x\u2069", "abc x"}, {"ﬁ ㎡ ℃ № …", "fi m2 °C No ..."},
		{"10⁶ m² H₂O x₁₀ (a)² 10⁻⁶ 5½ ¾", "10⁶ m² H₂O x₁₀ (a)² 10⁻⁶ 5½ ¾"},
		{"⁵⁵⁵⁻⁰¹²³", "555-0123"}, {"5⁵5", "555"}, {"555⁵⁵⁵⁵⁵", "55555555"}, {"x ²", "x 2"}, {"5⁵\u200B⁵", "555"},
		{"5️⃣5️⃣5️⃣", "555"}, {"①② ⑴", "12 (1)"}, {"e\u0301 e\u200B\u0301 Å", "é é Å"}, {"’“”«»", "’“”«»"},
		{"〜 ー ・", "〜 ー ・"},
		{"NЕT ОPERАTING ІNCOME", "NET OPERATING INCOME"}, {"heӀӀo", "hello"}, {"Іncome", "Income"},
		{"pay рау now", "pay pay now"}, {"Чистый доход NOI, ОСК", "Чистый доход NOI, ОСК"},
		{"gοϲern", "gocern"}, {"p𝛼ssword", "password"}, {"αmax Δp σyield", "αmax Δp σyield"}, {"passwסrd", "password"},
		{"הAPI של", "הAPI של"}, {"раддword а\u0301x", "paддword áx"}, {"kο㎏а", "kokga"},
		{"\u3164\u115F\u2800", " "}, {"日本 한국어 עברית", "日本 한국어 עברית"}, {"µm", "μm"}, {"\xff5\u200B5", "\xff55"},
	} {
		if got := Fold(c.in); got != c.want {
			t.Errorf("Fold(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestBlank: what shows nothing is nothing.
func TestBlank(t *testing.T) {
	for _, s := range []string{"", " \t\n", "\u200B", "\u00A0\u3000", "\u3164", "\uFEFF\u2060", "\u2800", "\U000E0041",
		"\u00AD", "\x00"} {
		if !Blank(s) {
			t.Errorf("%q shows nothing", s)
		}
	}
	for _, s := range []string{"0", "-", "é", "·", "🙂", "ー"} {
		if Blank(s) {
			t.Errorf("%q shows something", s)
		}
	}
}

// TestOriginal: a place of the folded text leads back to where it was written.
func TestOriginal(t *testing.T) {
	for _, c := range []struct{ in, find, want string }{
		{"plain 555-0123 text", "555-0123", "555-0123"}, {"call 5\u200B55\u20110123 now", "555-0123",
			"5\u200B55\u20110123"},
		{"ruf ５５５－０１２３ an", "555-0123", "５５５－０１２３"}, {"über e\u0301a fi", "éa", "e\u0301a"},
		{"der ﬁnale", "inal", "ﬁnal"},
		{"10⁶ 5½ x", "5½", "5½"}, {"⁵⁵⁵⁻⁰¹²³!", "5-0", "⁵⁻⁰"}, {"\u200B\u200Ba\u200Bb\u200B", "ab", "a\u200Bb"},
		{strings.Repeat("é", 5000) + "x\u200By", "xy", "x\u200By"},
		{"net іncоme 5", "income", "іncоme"}, {"é p𝛼s\u200Bsword é", "assw", "𝛼s\u200Bsw"},
	} {
		f := Map(c.in)
		at := strings.Index(f.Text, c.find)
		if at < 0 {
			t.Errorf("%q is not in %q", c.find, f.Text)
			continue
		}
		from, to := f.Original(at, at+len(c.find))
		if got := c.in[from:to]; got != c.want {
			t.Errorf("%q in %q was written %q, want %q", c.find, c.in, got, c.want)
		}
	}
}

// TestNames: patterns that are about the text as it was written.
func TestNames(t *testing.T) {
	for pattern, want := range map[string]bool{
		`\d{3}-\d{4}`: false, `[–—]`: true, `\x{200B}`: true, `\x{e9}`: false, `\xA0`: true, `\\x{200B}`: false,
		`é`: false, "\u200b": true, `[\x00-\x08]`: true,
		`\p{L}`: false, `\x41`: false, `\x{ZZ}`: false, `\`: false, `a\x`: false, `\x{110000000}`: false, `\101`: false,
		`\12`: false, `\7`: true,
	} {
		if got := Names(pattern); got != want {
			t.Errorf("Names(%q) = %v", pattern, got)
		}
	}
}

// hiding are texts that do not show what they hold, with the place in code points and a word of what is said of it.
var hiding = []struct {
	text string
	char int
	what string
}{
	{"tele\u200Bphone", 5, "U+200B"}, {"555\u200B-0123", 4, "nobody sees"}, {"\u200B", 1, "U+200B"},
	{"pass\u200Dword", 5, "U+200D"}, {"pass\u200Cword", 5, "U+200C"},
	{"a\u2060b", 2, "U+2060"}, {"555\u00AD0123", 4, "U+00AD"}, {"p\u00ADa\u00ADy", 2, "U+00AD"},
	{"x\uFEFFy", 2, "U+FEFF"}, {"a\x00b", 2, "control character U+0000"}, {"a\x1B[31mb", 2, "U+001B"},
	{"abc \u202Edef\u202C", 5, "turns the direction"}, {"user\u2066\u2069name", 5, "turns"}, {"a\u200Fb", 2, "turns"},
	{"\u2067abc\u2069", 1, "turns"}, {"\u2066abc", 1, "turns"},
	{"שלום pass\u200Fword", 10, "turns"}, {"שלום \u202Eabc\u202C", 6, "turns"}, {"שלום \u206710-20\u2069", 6, "turns"},
	{"שלום\nabc \u200Fdef", 10, "turns"},
	{"a\uFE0Fb", 2, "U+FE0F"}, {"🙂\uFE0F\uFE0F", 3, "U+FE0F"}, {"🙂\U000E0100", 2, "U+E0100"},
	{"hi\U000E0041\U000E0042", 3, "U+E0041"}, {"🏴\U000E0067\U000E0062", 2, "U+E0067"},
	{"\u3164", 1, "U+3164"}, {"a\u115Fb", 2, "U+115F"}, {"pass\u2062word", 5, "U+2062"}, {"500\u206300", 4, "U+2063"},
	{"a\u034Fb", 2, "U+034F"},
	{"The pаssword", 5, "Cyrillic"}, {"gοverning law", 1, "Greek"}, {"pαssword", 1, "Latin and Greek"},
	{"νalues", 1, "Greek"}, {"Ηeight", 1, "Greek"}, {"раyment", 1, "Cyrillic"},
	{"կoօ", 1, "another script"}, {"pay рау now", 5, "look Latin"}, {"the ΑΒΕ of it", 5, "Greek"},
}

// TestFind: each is found where it stands.
func TestFind(t *testing.T) {
	for _, c := range hiding {
		found := Find(c.text)
		if len(found) == 0 {
			t.Errorf("%q hides something", c.text)
			continue
		}
		h := found[0]
		if h.Char != c.char || !strings.Contains(h.What, c.what) || utf8.RuneCountInString(c.text[:h.At])+1 != h.Char {
			t.Errorf("%q: %+v, want character %d, %q", c.text, h, c.char, c.what)
		}
	}
	if n := len(Find(strings.Repeat("a\u200B", 500))); n != maxHidden {
		t.Errorf("%d places are listed", n)
	}
}

// plainly are texts that hide nothing: languages as they are written, typesetting, formulas, emoji.
var plainly = []string{
	"", "plain", "naïve café Zürich 5 € “quoted” – dash…",
	"µm 5 µs Δp = 3 kΩ λmax σ_x αβ β-blocker ρgh ΔT Δv TNFα IFNγ PPARγ RORγt cosα αmax NFκB σyield ηtotal 10⁶ m²",
	"5 µm, 3 Ω, 20 °C, x² + y² ≤ r², ∑ᵢ xᵢ, ∂p/∂t, f\u2061(x), 2\u2062x", "Donau\u00ADdampf\u00ADschiff",
	"ge\u00ADset\u00ADzt", "\uFEFFwith a mark",
	"שלום עולם", "הסכום הוא 1,250.50 ש״ח", "שלום (PDF\u200F) עולם", "הAPI של בWindows", "مرحبا بالعالم ١٢٣٤",
	"رقم الهاتف \u200E+1 555 0123\u200F هو", "می\u200Cخواهم کتاب\u200Cها", "שם \u2068John\u2069 כאן",
	"Hello \u2068John\u2069!",
	"עברית \u202Aabc\u202C", "name \u2067שלום\u2069 end", "क्\u200Dष और क्\u200Cष", "ශ්\u200Dරී ලංකාව", "ภาษา\u200Bไทย",
	"ខ្មែរ\u200Bភាសា", "日本語とEnglishのTシャツ", "ＡＢＣ１２３", "葛\U000E0100城市", "한국어 PDF파일",
	"Skypeшный бизнес", "x𝛼 + 𝑥𝛼𝑦 and γ, cosσ, kσT", "Владивосток ОСК NOI", "العقد PDF و API", "ไทยPDFไทย", "हिन्दीPDF",
	"ΣΑΕ και ΟΤΕ, η ΑΒΕ", "СССР, ОАО «ТМК», ООО",
	"Привет, мир", "Это SMSка и VIPов, PDF-файл, iPhone'ом", "Москва, а не Рим: со своей осой",
	"Ελληνικά κείμενα και PDF", "Հայերեն", "ქართული",
	"👩\u200D❤\uFE0F\u200D👨 🏳\uFE0F\u200D🌈 👍🏽 1\uFE0F\u20E3 ©\uFE0F ™\uFE0F ℹ\uFE0F " +
		"🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "✔\uFE0E", "ᠮᠣᠩᠭᠣᠯ\u180Eᠠ",
	"line one\r\nline\ttwo\fpage",
}

// TestFindsNothing: nobody is flagged for a language.
func TestFindsNothing(t *testing.T) {
	for _, s := range plainly {
		if found := Find(s); len(found) > 0 {
			t.Errorf("%q hides nothing: %+v", s, found)
		}
	}
}

// TestDigits: every set of ten stands whole in one range of the table, in order.
func TestDigits(t *testing.T) {
	for _, s := range unicode.Nd.R16 {
		if s.Stride != 1 || (s.Hi-s.Lo+1)%10 != 0 {
			t.Errorf("U+%04X to U+%04X", s.Lo, s.Hi)
		}
	}
	for _, s := range unicode.Nd.R32 {
		if s.Stride != 1 || (s.Hi-s.Lo+1)%10 != 0 {
			t.Errorf("U+%04X to U+%04X", s.Lo, s.Hi)
		}
	}
}

// FuzzFold: folding again changes nothing, the way back stays in the text, and looking for what is hidden stays in it
// too.
func FuzzFold(f *testing.F) {
	for _, s := range plainly {
		f.Add(s)
	}
	for _, c := range hiding {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		m := Map(s)
		if m.Text != once {
			t.Fatalf("Map gives %q, Fold %q", m.Text, once)
		}
		if utf8.ValidString(s) && Fold(once) != once {
			t.Fatalf("%q folds to %q, and that to %q", s, once, Fold(once))
		}
		for i := range once {
			for _, to := range []int{i + 1, len(once)} {
				if a, b := m.Original(i, to); a < 0 || b > len(s) || a > b {
					t.Fatalf("%q[%d:%d] was written at %d to %d of %d", once, i, to, a, b, len(s))
				}
			}
		}
		for _, h := range Find(s) {
			if h.At < 0 || h.At >= len(s) || h.Char < 1 {
				t.Fatalf("%q: %+v", s, h)
			}
		}
	})
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äöü…"}, {"€€", 1, "€…"}, {"x", 0, "…"}, {"", 0, ""},
	} {
		if got := Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, c := range map[string]struct {
		n    int64
		noun string
	}{"0 rows": {0, "row"}, "1 row": {1, "row"}, "2 rows": {2, "row"}, "1 entry": {1, "entry"},
		"3 entries": {3, "entry"}} {
		if got := Count(c.n, c.noun); got != want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.noun, got, want)
		}
	}
}
