package memory

import "github.com/defendableos/referee/internal/githubapi"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Story is what the forge tells of a pull request at one moment.
	Story = githubapi.Story
)
