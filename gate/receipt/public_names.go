package receipt

import "github.com/defendableos/referee/internal/strictjson"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Value is a JSON value with its place in the document.
	Value = strictjson.Value
)
