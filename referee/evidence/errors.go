package evidence

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
)

// Error says what is wrong with which evidence. Code is stable: no_manifest, undeclared, missing_file, not_held, refused,
// too_large, bad_selector, no_hit, bad_content, bad_stat.
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
	return "evidence " + show(e.ID) + ": " + e.Message
}

// Unwrap is the sentinel.
func (e *Error) Unwrap() error { return e.cause }

var codes = map[error]string{
	ErrMissing: "missing_file", ErrNotHeld: "not_held", ErrRefused: "refused", ErrTooLarge: "too_large", ErrSelector: "bad_selector",
	ErrNoHit: "no_hit", ErrContent: "bad_content", ErrStat: "bad_stat",
}

// wrong is an error about an item.
func (i *Item) wrong(cause error, format string, args ...any) *Error {
	return &Error{Code: codes[cause], ID: i.ID, Path: i.path(), Message: fmt.Sprintf(format, args...), cause: cause}
}

func (s *Set) undeclared(id string) *Error {
	ids := s.IDs()
	hint := "run.json declares no evidence"
	if near := nearest(id, ids); near != "" {
		hint = "did you mean " + show(near) + "?"
	} else if len(ids) > 0 {
		hint = "declared: " + list(ids)
	}
	return &Error{Code: "undeclared", ID: id, Message: "not declared in run.json; " + hint, cause: ErrUndeclared}
}

// show quotes foreign text for a message: shortened, and with everything escaped that does not print.
func show(s string) string {
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

// list shows at most ten names.
func list(names []string) string {
	const most = 10
	var shown []string
	for _, n := range names[:min(most, len(names))] {
		shown = append(shown, show(n))
	}
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

// nearest is the known name that was probably meant: equal but for case, or at most a third of its letters away. Where names
// are many or long nothing is suggested, so that a submission full of wrong references costs no time.
func nearest(name string, known []string) string {
	const longest, most = 60, 200
	if len(name) > longest || len(known) > most {
		return ""
	}
	best, bestAway := "", 1<<30
	for _, k := range known {
		if len(k) > longest {
			continue
		}
		away := distance(strings.ToLower(name), strings.ToLower(k))
		if away <= max(1, len(k)/3) && away < bestAway {
			best, bestAway = k, away
		}
	}
	return best
}

// distance counts the bytes to insert, delete or change (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{change, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
