package referee

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/defendableos/referee/internal/legible"
)

// textSheet reads a memo in every way that a rule reads texts.
const textSheet = `"required_inputs":[{"name":"memo"},{"name":"zone"},{"name":"tags"}],
	"consts":{"ZONES":{"value":["R-1","C 2"],"source":"test","as_of":"2026-01-01","status":"general"}},
	"eval_spec":{"deterministic_checks":[{"check":"required","id":"given","paths":["inputs.memo"],"nonempty":true}],
	"rules":[
		{"id":"no_phone","expr":"not matches(memo, r\"\\b\\d{3}[- ]\\d{4}\\b\")"},
		{"id":"one_find","expr":"len(extract(memo, r\"\\d{3}-\\d{4}\")) <= 0"},
		{"id":"no_secret","expr":"not has_phrase(memo, [\"top secret\"])"},
		{"id":"filled","expr":"nonempty(memo)"},
		{"id":"zoned","expr":"zone in [\"R-1\", \"C 2\"]"},
		{"id":"same","expr":"zone == \"R-1\" or zone == \"C 2\""},
		{"id":"members","expr":"subset(tags, [\"a-b\", \"1\"])"},
		{"id":"once","expr":"unique(tags)"}]}`

func textSubmission(memo, zone, tags string) string {
	return `{"inputs":{"memo":` + memo + `,"zone":` + zone + `,"tags":` + tags + `}}`
}

// TestRulesReadWhatPeopleSee: every rule over text reads the folded text, whatever way it reads it.
func TestRulesReadWhatPeopleSee(t *testing.T) {
	sheet := mustSheet(t, textSheet)
	clean := "given pass no_phone pass one_find pass no_secret pass filled pass zoned pass same pass members pass " +
		"once pass"
	for _, c := range []struct{ memo, zone, tags, statuses string }{
		{`"a memo"`, `"R-1"`, `["a-b","1"]`, clean},
		{`"call 555\u20110123"`, `"R-1"`, `[]`, "no_phone flag one_find flag"},
		{`"call 555\u00a00123"`, `"R-1"`, `[]`, "no_phone flag one_find pass"},
		{`"call ５５５-\u200b０１２３"`, `"R-1"`, `[]`, "no_phone flag one_find flag"},
		{`"the top\u00a0sec\u200bret"`, `"R-1"`, `[]`, "no_secret flag"}, {`"ＴＯＰ\u3000ＳＥＣＲＥＴ"`, `"R-1"`, `[]`,
			"no_secret flag"},
		{`"\u200b\u2060"`, `"R-1"`, `[]`, "given flag filled flag"},
		{`"\u3164"`, `"R-1"`, `[]`, "given flag filled flag"},
		{`"m"`, `"R\u20101"`, `["a\u2011b","１"]`, "zoned pass same pass members pass once pass"},
		{`"m"`, `"C\u00a02"`, `["a-b","a\u2010b"]`, "zoned pass same pass members pass once flag"},
		{`"m"`, `"R\u200b-1"`, `["1","\u200b1"]`, "zoned pass same pass once flag"},
		{`"m"`, `"R_1"`, `["a"]`, "zoned flag same flag members flag"},
		{`"10⁶ of m² in 5½ h"`, `"R-1"`, `["x²","x2"]`, "no_phone pass once pass"},
	} {
		rep := auditText(sheet, textSubmission(c.memo, c.zone, c.tags))
		wantStatus(t, rep, strings.Fields(c.statuses)...)
	}
}

// TestHiddenText: what hides is a mid work-defect at its text, with the place in it; what only differs in form is not.
func TestHiddenText(t *testing.T) {
	sheet := mustSheet(t, textSheet)
	for _, c := range []struct{ memo, pointer, words string }{
		{`"tele\u200bphone"`, "/inputs/memo", `"tele\u200bphone" holds U+200B, which nobody sees, at character 5`},
		{`"a\bb"`, "/inputs/memo", "control character U+0008, at character 2"},
		{`"abc \u202edef\u202c"`, "/inputs/memo", "U+202E, which turns the direction"},
		{`"the p` + "а" + `ssword"`, "/inputs/memo",
			"mixes letters of Latin and Cyrillic that look alike, at character 5"},
		{`{"na\u200dme":"x"}`, "/inputs/memo/na\u200dme", `the name "na\u200dme" holds U+200D`},
		{`["x","` + strings.Repeat(`a\u200b`, 9) + `"]`, "/inputs/memo/1", "and 6 or more places more"},
		{`"` + strings.Repeat("long ", 50) + `x\u200by` + strings.Repeat(" long", 50) + `"`, "/inputs/memo", `"…`},
	} {
		rep := auditText(sheet, textSubmission(c.memo, `"R-1"`, `[]`))
		f := findingOf(t, rep, "evidence.hidden_text")
		if f.Pointer != c.pointer || f.Tier != Mid || f.Bucket != WorkDefect || f.Line != 1 ||
			rep.Verdict.RecommendedAction != "resubmit" {
			t.Errorf("%s: %+v", c.memo, f)
		}
		wantWords(t, f.Message, c.words)
		if !legible.Plain(strings.ReplaceAll(f.Message, "а", "")) && !strings.Contains(f.Message, "…") {
			t.Errorf("the message hides it again: %q", f.Message)
		}
		wantStatus(t, rep, "structure", "flag")
	}
	for _, honest := range []string{`"555\u20110123 \u00a0 µm Δp"`, `"שלום \u200f עולם"`, `"👩\u200d👧"`,
		`"ge\u00adsetzt"`, `"ＡＢＣ"`, `"a\\u200bb"`} {
		rep := auditText(sheet, textSubmission(honest, `"R-1"`, `[]`))
		for _, f := range rep.Findings {
			if f.Code == "evidence.hidden_text" {
				t.Errorf("%s hides nothing: %s", honest, f.Message)
			}
		}
	}
}

// TestEvidenceReadAsPeopleSeeIt: recounts and references fold too.
func TestEvidenceReadAsPeopleSeeIt(t *testing.T) {
	rep := auditText(mustSheet(t,
		`"eval_spec":{"evidence_checks":["evidence_references_resolve","all_claims_cited"],"rules":[
		{"id":"hits","expr":"data(\"d\", \"regex_hits\", \"note\", r\"\\d{3}-\\d{4}\") == 2"},{"id":"nulls",
		"expr":"data(\"d\", \"nulls\", \"note\") == 1"},
		{"id":"kinds","expr":"data(\"d\", \"distinct\", \"kind\") == 1"},{"id":"hist",
		"expr":"data(\"d\", \"hist\", \"kind\", \"a-b\") == 3"},
		{"id":"raw","expr":"data(\"d\", \"regex_hits\", \"note\", r\"\\x{200B}\") == 2"}]}`),
		`{"claims":[{"claim":"c","evidence_reference":"rent\u2011roll"},{"claim":"c","evidence_reference":"\u200b"}]}`,
		withEvidence("d.csv", "note,kind\n555\u20110123,a-b\n5\u200B55-0123,a\u2010b\n\u200B,a\u2011b\n",
			"rent-roll.txt", "x"))
	wantStatus(t, rep, "hits", "pass", "nulls", "pass", "kinds", "pass", "hist", "pass", "raw", "pass",
		"evidence_references_resolve", "pass", "all_claims_cited", "flag")
}

// evidenceReads reads a text, a table and a JSON document of the evidence.
const evidenceReads = `"required_inputs":[{"name":"memo"}],` +
	`"eval_spec":{"evidence_checks":["evidence_references_resolve"]}`

func citingAll(references ...string) string {
	claims := make([]string, len(references))
	for i, ref := range references {
		claims[i] = fmt.Sprintf(`{"claim":"c","evidence_reference":%q}`, ref)
	}
	return `{"inputs":{"memo":"m"},"claims":[` + strings.Join(claims, ",") + `]}`
}

// TestHiddenEvidence: evidence that a rule reads and that hides something is a mid work-defect with file, line and
// column; what nothing reads is not looked at.
func TestHiddenEvidence(t *testing.T) {
	sheet := mustSheet(t, evidenceReads)
	for _, c := range []struct {
		name, content, reference string
		line, column             int
		words                    string
	}{
		{"memo.txt", "one\nsec\u200Bret two\n", "memo#text=two", 2, 4, `near "one\nsec\u200bret two"`},
		{"memo.txt", "\uFEFFabc \u202Edef\u202C\n", "memo#line=0,1", 1, 5, "U+202E, which turns the direction"},
		{"t12.csv", "line,amount\r\nNET OPER\u0410TING INCOME,920000\r\n", "t12#cell=2,2", 2, 5,
			"mixes letters of Latin and Cyrillic"},
		{"rows.jsonl", "{\"a\":1}\n{\"a\":2,\"b\":\"x\\\\u200b\",\"c\":\"pass\\u200bword\"}\n", "rows#line=1,2", 2, 32,
			"U+200B, which nobody sees"},
		{"doc.json", "{\"k\":\n  \"a\\ud834\\udd73b\"}", "doc#/k", 2, 5, "U+1D173"},
	} {
		rep := auditText(sheet, citingAll(c.reference), withEvidence(c.name, c.content))
		f := findingOf(t, rep, "evidence.hidden_text")
		if f.File != "evidence/"+c.name || f.Line != c.line || f.Column != c.column || f.Tier != Mid ||
			f.Bucket != WorkDefect || f.Stage != StageEvidence {
			t.Errorf("%s: %+v", c.name, f)
		}
		wantWords(t, f.Message, c.words, fmt.Sprintf("evidence/%s:%d:%d", c.name, c.line, c.column))
		wantStatus(t, rep, "structure", "flag")
		if rep.Verdict.RecommendedAction != "resubmit" {
			t.Errorf("%s: %s", c.name, rep.Verdict.RecommendedAction)
		}
	}
	rep := auditText(sheet, citingAll("a#text=bb", "b#text=cc"), withEvidence("a.txt", "a\u200Ba bb", "b.txt",
		"b\u200Bb cc", "c.txt", "c\u200Bc"))
	var files []string
	for _, f := range rep.Findings {
		if f.Code == "evidence.hidden_text" {
			files = append(files, f.File)
		}
	}
	if !slices.Equal(files, []string{"evidence/a.txt", "evidence/b.txt"}) {
		t.Errorf("the files that are read and hide: %q", files)
	}
}

// TestHonestEvidence: nobody's evidence is flagged for its language, its typesetting or its byte order mark.
func TestHonestEvidence(t *testing.T) {
	sheet := mustSheet(t, evidenceReads)
	for _, text := range []string{
		"\uFEFFa,b\r\n1,2\r\n", "a\n\uFEFFb behind another file\n",
		"Donau\u00ADdampf\u00ADschiff inter\u00AD\nnational \u00A0 5\u202F000 €", "naïve café „quoted“ – dash…",
		"👩\u200D❤\uFE0F\u200D👨 🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "क्\u200Dष और क्\u200Cष",
		"می\u200Cخواهم", "שלום (PDF\u200F) עולם",
		"رقم \u200E+1 555 0123\u200F هو", "日本語とEnglishのTシャツ", "Москва, ООО «Рога» 2026, SMSка, NOI",
		"Ελληνικά κείμενα και PDF", "µm Δp αmax σyield 10⁶ m²", "\ftext of a page\f",
	} {
		text += "\nplain end\n"
		rep := auditText(sheet, citingAll("memo#text=plain%20end", "doc"), withEvidence("memo.txt", text, "doc.json",
			string(appendString(nil, text))))
		wantStatus(t, rep, "structure", "pass", "evidence_references_resolve", "pass")
		for _, f := range rep.Findings {
			t.Errorf("%q hides nothing: %s", text, f.Message)
		}
	}
}

// TestDisguisedEvidence: a Cyrillic letter in a word hides it from no rule, in the submission and in the evidence.
func TestDisguisedEvidence(t *testing.T) {
	sheet := mustSheet(t, `"required_inputs":[{"name":"memo"}],"eval_spec":{"rules":[
		{"id":"memo_clean","expr":"not matches(memo, r\"NET OPERATING INCOME\")"},
		{"id":"cells_clean","expr":"data(\"t\", \"regex_hits\", \"line\", r\"NET OPERATING INCOME\") == 0"},
		{"id":"phrase_clean","expr":"not has_phrase(memo, [\"net operating income\"])"}]}`)
	for _, c := range []struct{ text, want string }{
		{"NET OPERATING INCOME", "flag"}, {"NET OPER\u0410TING INCOME", "flag"}, {"N\u0415T \u041EPERATING \u0406NCOME",
			"flag"}, {"NET OPERATING INC\u041FME", "pass"},
		{"ЧИСТЫЙ ДОХОД", "pass"},
	} {
		rep := auditText(sheet, fmt.Sprintf(`{"inputs":{"memo":%q}}`, c.text),
			withEvidence("t.csv", "line,amount\n"+c.text+",1\n"))
		wantStatus(t, rep, "memo_clean", c.want, "cells_clean", c.want, "phrase_clean", c.want)
	}
}
