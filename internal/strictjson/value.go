// Package strictjson reads one JSON document from hostile bytes in one strict pass (semantics S11, S46) and keeps,
// for every value, its source text, its line and column and its JSON Pointer.
package strictjson

// Kind is the JSON type of a Value.
type Kind uint8

// The JSON types.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Pos is a place in the source. Offset counts bytes from 0; Line and Col count from 1, Col in Unicode code points.
type Pos struct{ Offset, Line, Col int }

// Value is one JSON value with the place it stands at. It is never changed after Parse.
type Value struct {
	Kind Kind
	// OutOfRange says that a Number breaks the bound of S11; such a value counts as missing.
	OutOfRange bool
	// place in an Array parent; it stands here because a document's values are most of what an audit holds
	index int32
	// Text is the decoded text of a String, the token as written of a Number, "true" or "false" of a Bool.
	Text string
	// Items are the elements of an Array.
	Items []*Value
	// Members are the members of an Object, in document order. Keys are unique.
	Members []Member
	// Pos is the place of the value's first byte, End the byte offset after its last.
	Pos Pos
	End int

	places map[string]int // of the members by name, where there are many

	up  *Value // nil at the root
	key string // name in an Object parent
}

// Member is one name and value of an Object.
type Member struct {
	Key    string
	KeyPos Pos
	Value  *Value
}

// Limits bound what Parse accepts.
type Limits struct {
	MaxBytes  int  // bytes of the whole document
	MaxDepth  int  // nested arrays and objects
	MaxValues int  // values of all kinds together
	Object    bool // the root must be an object
}

// The limits in force: a submission (or a line of a .jsonl file) and a flight sheet or manifest (S46).
var (
	SubmissionLimits = Limits{MaxBytes: 5 << 20, MaxDepth: 64, MaxValues: 500_000, Object: true}
	DocumentLimits   = Limits{MaxBytes: 5 << 20, MaxDepth: 64, MaxValues: 500_000, Object: true}
)

// Error is a refusal. Code is stable ("duplicate_key", "invalid_utf8", "lone_surrogate", "bom", "depth", "size",
// "trailing_data", "not_an_object", "syntax", "empty", "values", "names"); Message says what, where and what would be
// right.
type Error struct {
	Code    string
	Pos     Pos
	Pointer string // of the innermost value being read
	Message string
}
