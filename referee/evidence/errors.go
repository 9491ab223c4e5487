package evidence

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/nearest"
)

// What can be wrong with evidence. Every error of this package is a *Error that wraps one of them.
var (
	ErrNoManifest = errors.New("no manifest")                          // a bare submission: nothing is declared (S61)
	ErrUndeclared = errors.New("evidence is not declared")             // the reference names no declared id
	ErrMissing    = errors.New("evidence file is missing")             // declared, but not in the run folder
	ErrNotHeld    = errors.New("evidence is not held")                 // a url without snapshot (S66)
	ErrRefused    = errors.New("evidence is refused")                  // a path or file that is not read
	ErrTooLarge   = errors.New("evidence is too large")                // to be hashed, or to be read
	ErrSelector   = errors.New("selector is not understood")           // the fragment cannot be parsed
	ErrNoHit      = errors.New("selector does not hit")                // it is understood and nothing is there
	ErrContent    = errors.New("evidence is not what its format says") // not UTF-8, bad JSON, ragged CSV
	ErrStat       = errors.New("statistic cannot be computed")         // unknown statistic or column, or not a number
	ErrNoNumber   = errors.New("no number stands there")               // where a reference must cite one (S62)
	ErrAmbiguous  = errors.New("several numbers stand there")          // where a reference must cite one
)

// Error says what is wrong with which evidence. Code is stable: no_manifest, undeclared, missing_file, not_held,
// refused, too_large, bad_selector, no_hit, bad_content, bad_stat, not_a_number, ambiguous.
type Error struct {
	Code    string
	ID      string // of the item, as referred to
	Path    string // of the item, if it has one
	Message string
	cause   error
}

// Error names the evidence, what is wrong and what would be right. Foreign text stands in it quoted and shortened.
func (e *Error) Error() string {
	if e.ID == "" {
		return e.Message
	}
	return "evidence " + quoteForMessage(e.ID) + ": " + e.Message
}

// Unwrap is the sentinel.
func (e *Error) Unwrap() error { return e.cause }

var codes = map[error]string{
	ErrMissing: "missing_file", ErrNotHeld: "not_held", ErrRefused: "refused", ErrTooLarge: "too_large",
	ErrSelector: "bad_selector",
	ErrNoHit:    "no_hit", ErrContent: "bad_content", ErrStat: "bad_stat", ErrNoNumber: "not_a_number",
	ErrAmbiguous: "ambiguous",
}

// itemError is an error about an item.
func (i *Item) itemError(cause error, format string, args ...any) *Error {
	return &Error{Code: codes[cause], ID: i.ID, Path: i.heldPath(), Message: fmt.Sprintf(format, args...), cause: cause}
}

func (s *Set) undeclaredError(id string) *Error {
	hint := "run.json declares no evidence"
	// looking for what was meant takes longer than saying that it is not there
	if s.undeclareds++; s.undeclareds > maxHints {
		return &Error{Code: "undeclared", ID: id, Message: "not declared in run.json", cause: ErrUndeclared}
	}
	ids := s.IDs()
	if near := nearest.Word(id, ids); near != "" {
		hint = "did you mean " + quoteForMessage(near) + "?"
	} else if len(ids) > 0 {
		hint = "declared: " + listNames(ids)
	}
	return &Error{Code: "undeclared", ID: id, Message: "not declared in run.json; " + hint, cause: ErrUndeclared}
}

// quoteForMessage quotes foreign text for a message: shortened, and with everything escaped that does not print.
func quoteForMessage(s string) string {
	const most = 60
	n := 0
	for i := range s {
		if n++; n > most {
			s = s[:i] + "…"
			break
		}
	}
	return strconv.Quote(s)
}

// listNames shows at most ten names.
func listNames(names []string) string { return listOf(names, len(names)) }

// maxShown is how many names a message lists, maxHints how many references that lead nowhere are looked at for what was
// meant.
const (
	maxShown = 10
	maxHints = 100
)

// listOf is list of the first of so many names.
func listOf(names []string, all int) string {
	var shown []string
	for _, n := range names[:min(maxShown, len(names))] {
		shown = append(shown, quoteForMessage(n))
	}
	if more := all - maxShown; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}
