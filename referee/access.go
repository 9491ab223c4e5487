package referee

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
)

// inputPointer is where an input stands in a submission.
func inputPointer(name string) string { return strictjson.JoinPointer("/inputs", name) }

// normalName is the form in which names are compared (S18).
func normalName(s string) string { return formula.NormalName(s) }

// placeholders stand where a reference should and name nothing (S30).
var placeholders = map[string]bool{"n/a": true, "na": true, "tbd": true, "-": true, "todo": true, "?": true,
	"none": true, "null": true, "unknown": true}

// blankReference reports whether a reference is empty or a placeholder.
func blankReference(s string) bool {
	s = strings.ToLower(strings.TrimSpace(legible.Fold(s)))
	return s == "" || placeholders[s]
}

// isBlank reports whether a value counts as empty (S30): null, "", white space, what nobody sees (S80), [] and {};
// 0 and false are not.
func isBlank(v *strictjson.Value) bool {
	if v.IsMissing() {
		return true
	}
	switch v.Kind {
	case strictjson.String:
		return legible.Blank(v.Text)
	case strictjson.Array:
		return len(v.Items) == 0
	case strictjson.Object:
		return len(v.Members) == 0
	}
	return false
}

// hashText is the SHA-256 of s in lower-case hex. Callers put a domain and its version in front.
func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
