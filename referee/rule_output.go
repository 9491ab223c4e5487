package referee

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// runFinalOutputConsistent: the final output agrees with the gates in all directions (S48, S75). It runs after the
// gates.
func runFinalOutputConsistent(a *audit, r *Rule) outcome {
	v := a.doc.Get("final_output")
	word := outcomeWord(v)
	said := ""
	switch {
	case word == "PASS" && a.failures.highGate:
		said = "a high gate fails"
	case word == "PASS" && a.failures.midGate:
		said = "a gate of tier mid fails"
	case word == "REVIEW" && a.failures.highGate:
		said = "a high gate fails"
	case word == "FAIL" && !a.failures.gate && a.undecidedGate("FAIL").status == Pass:
		said = "no gate fails"
	case word == "PASS" || word == "REVIEW":
		return a.undecidedGate(word)
	}
	if said == "" {
		return passed
	}
	a.addFinding(r, Finding{Code: "policy.final_output_inconsistent", Tier: Mid, Bucket: WorkDefect,
		Pointer: "/final_output",
		Message: fmt.Sprintf("final_output says %s while %s", word, said), Fix: &Fix{Text: r.Fix}})
	return flagged
}

// undecidedGate: a word is neither right nor wrong while a high gate is undecided, so it does not count as satisfied
// (S51).
func (a *audit) undecidedGate(word string) outcome {
	for i, ch := range a.checks {
		if a.Sheet.Rules[i].Stage == StagePolicy && ch.Status == Skip && ch.Tier == High {
			return outcome{status: Skip, blockedBy: ch.ID,
				reason: fmt.Sprintf("final_output says %s while the high gate %s is undecided", word, ch.ID)}
		}
	}
	return passed
}

// outcomeWord is PASS, REVIEW or FAIL as the final output says it, "" where it says none of them.
func outcomeWord(v *strictjson.Value) string {
	if s, ok := v.Str(); ok {
		return leadingWord(s)
	}
	for _, name := range []string{"decision", "status", "result", "outcome", "recommendation", "verdict"} {
		if s, ok := v.Get(name).Str(); ok {
			if word := leadingWord(s); word != "" {
				return word
			}
		}
	}
	return ""
}

var outcomeLabel = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^(?:the\s+)?(?:final\s+)?(?:recommendation|decision|outcome|result|status|verdict|output)\s*(?:is|[:=–—-])\s*`)
})

// outcomeWords are the words of S75 and what people write for them.
var outcomeWords = map[string]string{"PASS": "PASS", "PASSED": "PASS", "PASSES": "PASS", "REVIEW": "REVIEW",
	"FAIL": "FAIL", "FAILED": "FAIL", "FAILS": "FAIL"}

// leadingWord reads the word that a text begins with, before punctuation and reasons: "PASS.", "**PASS** - all gates
// hold", "Decision: PASS". "PASS-through" and "passing" are other words.
func leadingWord(s string) string {
	s = strings.TrimLeftFunc(legible.Fold(s), notLetter)
	s = strings.TrimLeftFunc(s[len(outcomeLabel().FindString(s)):], notLetter)
	end := strings.IndexFunc(s, notLetter)
	if end < 0 {
		end = len(s)
	}
	next, size := utf8.DecodeRuneInString(s[end:])
	after, _ := utf8.DecodeRuneInString(s[end+size:])
	if unicode.IsDigit(next) || next == '_' || (next == '-' || next == '‑') && unicode.IsLetter(after) {
		return ""
	}
	return outcomeWords[strings.ToUpper(s[:end])]
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }
