package policy

import (
	"slices"
	"testing"
)

// TestTextMetrics holds the frozen tokenizer to counts made by hand: words, sentences, syllables, sentences with a
// passive, words of the longest sentence, and the Flesch-Kincaid grade from them (0.39 w/s + 11.8 y/w − 15.59, worked
// on paper).
func TestTextMetrics(t *testing.T) {
	for _, c := range []struct {
		text                                          string
		words, sentences, syllables, passive, longest int
		grade                                         string
	}{
		{"The cat sat. It ran!", 5, 2, 5, 0, 3, "-2.815"}, // 0.975 + 11.8 − 15.59
		// Dr Smith paid 1,200.50 on Jan 5 i e early | Well-known | Don't: 10 + 1 + 1 words; early and well-known have 2
		// syllables.
		{"Dr. Smith paid $1,200.50 on Jan. 5, i.e. early. Well-known? Don't!", 12, 3, 14, 0, 10, ""},
		// 6 + 8 + 3 + 3 + 3
		{"The notice was not sent. He will be quickly notified. It is red. They got paid. We send it.", 19, 5, 23, 3, 5,
			""},
		// 1.17 + 11.8 − 15.59
		{`He said "Stop." Then he left.`, 6, 2, 6, 0, 3, "-2.62"},
		// 1.56 + 17.7 − 15.59
		{"Pi is 3.14 exactly", 4, 1, 6, 0, 4, "3.67"},
		// officials: o, i, ia
		{"J. Smith met U.S. officials. Done", 7, 2, 9, 0, 6, ""},
		// 0.78 + 11.8 − 15.59
		{"So do I. Next", 4, 2, 4, 0, 3, "-3.01"},
		{"One line\nand the next", 5, 1, 5, 0, 5, ""},
		{"", 0, 0, 0, 0, 0, ""}, {"... !?", 0, 0, 0, 0, 0, ""},
	} {
		words, count, syllable, passives, longest := measureText(c.text)
		if got, want := []int{words, count, passives, longest}, []int{c.words, c.sentences, c.passive,
			c.longest}; !slices.Equal(got, want) {
			t.Errorf("%q: words, sentences, passives, longest %v, want %v", c.text, got, want)
		}
		if syllable != c.syllables {
			t.Errorf("%q: %d syllables, want %d", c.text, syllable, c.syllables)
		}
		if c.grade == "" {
			continue
		}
		if g, err := fkGrade(c.text); err != nil || g.String() != c.grade {
			t.Errorf("%q: grade %v %v, want %s", c.text, g, err, c.grade)
		}
	}
	if _, err := fkGrade(""); err == nil {
		t.Error("the grade of an empty text is defined")
	}
	if p, err := passiveShare("It was sent. We sent it."); err != nil || p.String() != "0.5" {
		t.Errorf("passive share %v %v", p, err)
	}
}

func TestSyllables(t *testing.T) {
	for word, want := range map[string]int{"the": 1, "make": 1, "table": 2, "people": 2, "queue": 1, "café": 2,
		"naïve": 1 /* ai is one group */, "tree": 1, "rhythm": 1, "amortization": 5, "42": 1, "b": 1, "e": 1,
		"ale": 1} {
		if got := countSyllables(word); got != want {
			t.Errorf("%s has %d syllables, want %d", word, got, want)
		}
	}
}

func TestQuotedWords(t *testing.T) {
	for text, want := range map[string]int{`Replace with "Tenant shall pay rent" or “pay now”.`: 4, `no quotes`: 0,
		`an "open one`: 0, `„so sagt man“ here`: 3, `"" ""`: 0} {
		if got := quotedWords(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestNumbersIn(t *testing.T) {
	text := "NOI is $1,815,000.50, up 4.2% in 2026; T12 Q3 (88,000) 1,23 12,3456 007 v2.0 -5."
	want := []string{"1815000.50", "4.2", "2026", "88000", "1", "23", "12", "3456", "007", "5"}
	if got := numbersIn(text); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestPhraseIn(t *testing.T) {
	for _, c := range []struct {
		text, phrase string
		want         bool
	}{
		{"You SHOULD\n review it", "should review", true}, {"You should reviewer", "should review", false},
		{"Wemay want to", "may want to", false},
		{"may wanted, may want to.", "may want to", true}, {"the parties’ duty", "parties' duty", true},
		{"anything", "", false}, {"naïveté, naïve", "naïve", true}, {"Ünaïve", "naïve", false},
	} {
		if got := phraseIn(foldPhrase(c.text), foldPhrase(c.phrase)); got != c.want {
			t.Errorf("%q in %q: %v", c.phrase, c.text, got)
		}
	}
}

// TestTextFunctions: by hand.
func TestTextFunctions(t *testing.T) {
	names, env := exampleNames(t), exampleEnv(t)
	for src, want := range map[string]Truth3{
		`extract("a1 b22 a1", r"[a-z](\d+)") == ["1", "22", "1"]`:       True,
		`extract("a1 b22", r"[a-z](\d+)", 0) == ["a1", "b22"]`:          True,
		`extract("a1", r"\d") == ["1"]`:                                 True,
		`extract("x", r"\d") == []`:                                     True,
		`matches("Internal", "internal")`:                               False,
		`matches("Internal", "(?i)internal")`:                           True,
		`contains("Governing Law", "Law") and not contains("Law", "")`:  True,
		`after("a | b | c", "| ") == "c" and after("a", "|") == ""`:     True,
		`lower("ÀB") == "àb"`:                                           True,
		`normalise(" A  b. ", "case", "space", "strip") == "a b"`:       True,
		`normalise(["A", "b"], "case") == ["a", "b"]`:                   True,
		`to_number(["1", "2.50"]) == [1, 2.5]`:                          True,
		`to_number(" 7 ") == 7`:                                         True,
		`to_number("1,000") == 1000`:                                    Unknown,
		`numbers("007 and 1,000") == [7, 1000]`:                         True,
		`abs(-210000) in numbers("Taxes (210,000)")`:                    True,
		`found_in("NET  operating\nincome", memo)`:                      True,
		`found_in("Section 4, which is not there", memo)`:               False,
		`has_phrase("one should review it", HEDGE)`:                     True,
		`has_phrase("one should reviewer it", HEDGE)`:                   False,
		`quoted_words(memo) == 2`:                                       True,
		`contrast("#fff", "#000000") > 1`:                               Unknown,
		`max_sentence_words("One two. Three.") == 2`:                    True,
		`words("One two. Three.") == 3 and sentences("One. Two.") == 2`: True,
		`fk_grade("") > 1 or passive_pct("") > 1`:                       Unknown,
		`lookup(LIMITS, "rural") > 1`:                                   Unknown,
		`band(1.5, STEPS) == 0.37 and band(2, STEPS) == 0.4`:            True,
		`band(-1, STEPS) == 0.31`:                                       Unknown,
		`band(1, [(2, 1 / 0), (0, "low")]) == "low"`:                    True,
		`piecewise(-5, CURVE) == 100 and piecewise(900, CURVE) == 0`:    True,
		`piecewise(350, CURVE) == 75 and piecewise(700, CURVE) == 50`:   True,
		`range_ratio(15, 0, 10) == 2 and range_ratio(5, 0, 10) == 0`:    True,
		`range_ratio(1, 5, 5) > 0`:                                      Unknown,
		`angdiff(350, 10) == 20 and angdiff(10, 350) == 20`:             True,
		`angdiff(0, 180) == 180 and angdiff(-90, 270) == 0`:             True,
		`round(2.5) == 2 and round(3.5) == 4 and round(1.005, 2) == 1`:  True,
		`round(1234, -2) == 1200`:                                       True,
		`npv(0.1, [-100, 110]) == 0 and approx(irr([-100, 110]), 0.1)`:  True,
		`approx(pmt(0.005, 360, 500000), 2997.7526257637846, 1e-12)`:    True, // sheets.json, fin-amortization
		`approx(rate(360, 2997.7526257637846, 500000), 0.005, 1e-9)`:    True,
		`min(3, 1, 2) == 1 and max([3, 1]) == 3 and avg(1, 2) == 1.5`:   True,
		`min([]) == 1`: Unknown,
		`sum([]) == 0`: True,
		`min("2026-02-01", "2026-01-31") == "2026-01-31"`:                True,
		`-7 // 2 == -4 and -7 % 3 == 2`:                                  True,
		`floor(-1.5) == -2 and ceil(-1.5) == -1`:                         True,
		`degrees(atan2(1, 0)) == 90`:                                     True,
		`lookup(LIMITS, "rural", "flag") > 1 or not cash_out`:            True,
		`all_nonempty(field("claims"), "evidence_reference")`:            False, // N/A is a placeholder
		`field("claims[*].evidence_reference") != given or not cash_out`: Unknown,
	} {
		e, err := ParseText(src, names)
		if err != nil {
			if want != Unknown {
				t.Errorf("%s: %v", src, err)
			}
			continue
		}
		roundTrip(t, e, names)
		if r := e.Eval(env); r.Truth != want {
			t.Errorf("%s is %v, want %v: %+v", src, r.Truth, want, r.Issues)
		}
	}
	r := mustParse(t, `lookup(LIMITS, "rural", "flag") > 1`, names).Eval(env)
	if len(r.Issues) != 1 || r.Issues[0].Code != "lookup_missing" || r.Issues[0].Message != `no key "rural" in LIMITS` {
		t.Errorf("%+v", r.Issues)
	}
}

// TestContrast: computed with Python's decimal at 60 digits; black on white is 21 by definition.
func TestContrast(t *testing.T) {
	for _, c := range []struct{ fg, bg, want string }{
		{"#000000", "#ffffff", "21"}, {"#767676", "#ffffff", "4.542224959605254124028413232"},
		{"#777777", "#FFFFFF", "4.478089453577215550904294599"},
		{"#1a73e8", "#ffffff", "4.505031181033489769900226184"}, {"#0a0b0c", "#0d0a01", "1.0048218255051547234078997"},
		{"#ff0000", "#00ff00", "2.913937547600913937547600914"},
	} {
		r := mustParse(t, `contrast("`+c.fg+`", "`+c.bg+`") > 0`, exampleNames(t)).Eval(exampleEnv(t))
		if got := r.Sides[0].Num.String(); got != c.want {
			t.Errorf("%s on %s is %s, want %s", c.fg, c.bg, got, c.want)
		}
	}
}
