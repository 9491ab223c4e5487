package githubstore

import "github.com/defendableos/referee/internal/githubapi"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Client is a repository at GitHub, by its API.
	Client = githubapi.Client
	// ClientOptions is how the API is reached.
	ClientOptions = githubapi.Options
)

// NewClient reaches a repository's API. Nothing is sent yet.
func NewClient(o ClientOptions) (*Client, error) { return githubapi.New(o) }
