package canonical

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/defendableos/referee/internal/legible"
)

// Sanitize puts a visible sign in the place of whatever a canonical string must not hold: "<U+202E>" for a forbidden
// code point, "<0xFF>" for a byte that is not UTF-8. It says whether anything was replaced.
func Sanitize(s string) (out string, changed bool) {
	at := unsafeAt(s)
	if at < 0 {
		return s, false
	}
	var b strings.Builder
	for ; at >= 0; at = unsafeAt(s) {
		b.WriteString(s[:at])
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && n <= 1 {
			fmt.Fprintf(&b, "<0x%02X>", s[at])
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
		s = s[at+n:]
	}
	b.WriteString(s)
	return b.String(), true
}

// unsafeAt is the offset of the first thing that Sanitize replaces, -1 if there is none.
func unsafeAt(s string) int {
	for i := 0; i < len(s); {
		if s[i] < 0x7F {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 || Forbidden(r) {
			return i
		}
		i += n
	}
	return -1
}

// SHA256Hex is the SHA-256 of b in lower-case hexadecimal digits, as every hash of the ledger is written.
func SHA256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// CheckHash refuses whatever is not 64 lower-case hexadecimal digits.
func CheckHash(s string) error {
	if !isLowerHex(s, 2*sha256.Size) {
		return fmt.Errorf("%q is not a SHA-256 (64 lower-case hexadecimal digits)", legible.Clip(s, mostQuoted))
	}
	return nil
}

func isLowerHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// layout is the one form of a time. Go's reader takes a fraction of a second that the layout does not have, so
// CheckTime compares the length too.
const layout = "2006-01-02T15:04:05Z"

// Time writes t in the ledger's form, in UTC, cut to the second.
func Time(t time.Time) string { return t.UTC().Format(layout) }

// CheckTime refuses whatever is not a time of the form YYYY-MM-DDTHH:MM:SSZ that exists.
func CheckTime(s string) error {
	if _, err := time.Parse(layout, s); err != nil || len(s) != len(layout) {
		return fmt.Errorf("%q is not a time (YYYY-MM-DDTHH:MM:SSZ)", legible.Clip(s, mostQuoted))
	}
	return nil
}

// mostQuoted is how many characters of a foreign text a message repeats.
const mostQuoted = 80
