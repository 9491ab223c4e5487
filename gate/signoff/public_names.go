package signoff

import "github.com/defendableos/referee/internal/githubapi"

// The names by which an importer of this package can say the internal types that it meets here.
type (
	// Review is a review as the forge has it.
	Review = githubapi.Review
	// PullRequest is a pull request as the forge has it.
	PullRequest = githubapi.PullRequest
	// Commit is a commit of a pull request.
	Commit = githubapi.Commit
	// TimelineEvent is what happened on a pull request.
	TimelineEvent = githubapi.TimelineEvent
)
