package gate

import "github.com/defendableos/referee/internal/githubapi"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Client is a repository at GitHub, by its API; githubstore.NewClient makes one.
	Client = githubapi.Client
	// Check is a check run.
	Check = githubapi.Check
)
