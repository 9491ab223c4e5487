package comment

import "github.com/defendableos/referee/internal/githubapi"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Check is a check run.
	Check = githubapi.Check
)
