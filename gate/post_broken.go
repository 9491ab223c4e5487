package gate

import (
	"errors"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/githubapi"
	"github.com/defendableos/referee/report"
)

// BrokenCheck is a check of a pull request that could not be judged.
func BrokenCheck(name, head string, why error) githubapi.Check {
	text := "The gate could not finish its work on this commit, and so it may not be merged.\n\n" + explainError(why)
	return githubapi.Check{
		Name:       name,
		HeadSHA:    head,
		ExternalID: canonical.SHA256Hex([]byte("referee.broken/v1\n" + text)),
		Status:     "completed",
		Conclusion: "failure",
		Title:      "could not be judged",
		Summary:    text,
	}
}

// explainError is an error for people: a reason that somebody can mend, or what failed.
func explainError(err error) string {
	var b *Broken
	if errors.As(err, &b) {
		return report.Code(b.Reason, 2000)
	}
	return report.Code(err.Error(), 2000) + "\n\nRun the job again; if it fails again, its log says more."
}
