package gate

import (
	"context"
	"fmt"

	"github.com/defendableos/referee/gate/comment"
	"github.com/defendableos/referee/gate/outcome"
)

// maxSiblings is how many other open pull requests of one head are decided about; with more, nothing is green.
const maxSiblings = 5

// judgeSiblings decides about every other open pull request that has this head. Checks belong to a commit and not to a
// pull request: without this, what somebody signed for one base would be green for another.
func (p judgedPull) judgeSiblings(ctx context.Context) (siblings []outcome.Sibling) {
	for i, n := range p.story.Siblings {
		s := outcome.Sibling{Pull: n}
		if i >= maxSiblings {
			s.Why = fmt.Sprintf(
				"more than %d open pull requests have this head: close those that are not needed",
				maxSiblings,
			)
		} else if other, err := p.job.viewPull(ctx, n); err != nil {
			s.Why = "it could not be judged: " + err.Error()
		} else {
			s.Passes, s.Signed = other.out.AuditPasses(), other.out.Signed()
			if !s.Signed {
				s.Why = comment.SignOffTitle(&other.out)
			}
		}
		siblings = append(siblings, s)
	}
	return siblings
}
