package referee

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee/formula"
)

// text is the string member key of v, or "".
func text(v *strictjson.Value, key string) string {
	s, _ := v.Get(key).Str()
	return s
}

// texts are the strings of the array member key of v.
func texts(v *strictjson.Value, key string) []string {
	var out []string
	for _, item := range items(v.Get(key)) {
		if s, ok := item.Str(); ok {
			out = append(out, s)
		}
	}
	return out
}

// truth reports whether v is the literal true.
func truth(v *strictjson.Value) bool {
	return v != nil && v.Kind == strictjson.Bool && v.Text == "true"
}

// items are the elements of an array; none of anything else.
func items(v *strictjson.Value) []*strictjson.Value {
	if v == nil {
		return nil
	}
	return v.Items
}

// members are the members of an object; none of anything else.
func members(v *strictjson.Value) []strictjson.Member {
	if v == nil {
		return nil
	}
	return v.Members
}

// num reads a JSON number in range; nil for anything else, so that text is never taken for a number (S25).
func num(v *strictjson.Value) *decimal.Num {
	if v == nil || v.Kind != strictjson.Number || v.OutOfRange {
		return nil
	}
	n, err := decimal.Parse(v.Text)
	if err != nil {
		return nil
	}
	return n
}

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

// blank reports whether a value counts as empty (S30): null, "", white space, what nobody sees (S80), [] and {};
// 0 and false are not.
func blank(v *strictjson.Value) bool {
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
