package verify

import "github.com/defendableos/referee/internal/githubapi"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Client is a repository at GitHub, by its API; githubstore.NewClient makes one.
	Client = githubapi.Client
	// Review is a review as the forge has it.
	Review = githubapi.Review
	// WorkflowRun is a run of a workflow as the forge has it.
	WorkflowRun = githubapi.WorkflowRun
)
