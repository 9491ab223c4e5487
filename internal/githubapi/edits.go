package githubapi

import (
	"context"
	"fmt"
	"strings"
)

// edits asks what the REST API does not tell: whether the body of a review was edited after it was submitted. Anybody who may write to a
// repository may edit the body of anybody's review there.
const edits = `query($owner:String!,$name:String!,$number:Int!,$after:String){repository(owner:$owner,name:$name){pullRequest(number:$number){headRefOid state isDraft baseRefName ` +
	`reviews(first:100,after:$after){pageInfo{hasNextPage endCursor} nodes{fullDatabaseId lastEditedAt}}}}}`

type editsPage struct {
	Data struct {
		Repository struct {
			PullRequest *struct {
				Head    string `json:"headRefOid"`
				State   string `json:"state"`
				Draft   bool   `json:"isDraft"`
				Base    string `json:"baseRefName"`
				Reviews struct {
					PageInfo struct {
						HasNextPage bool   `json:"hasNextPage"`
						EndCursor   string `json:"endCursor"`
					} `json:"pageInfo"`
					Nodes []struct {
						ID     string  `json:"fullDatabaseId"`
						Edited *string `json:"lastEditedAt"`
					} `json:"nodes"`
				} `json:"reviews"`
			} `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// Edits is what the GraphQL API tells of a pull request at one moment.
type Edits struct {
	HeadSHA string
	State   string // open, closed, merged
	Draft   bool
	BaseRef string
	Edited  map[int64]bool // of every review by its id: whether the body was edited since it was submitted
}

// Edits asks which reviews were edited, and where the pull request stands at that moment. It is the one question that is put to the GraphQL
// API, for the REST API has no answer.
func (c *Client) Edits(ctx context.Context, number int64) (Edits, error) {
	out := Edits{Edited: map[int64]bool{}}
	var after *string
	for range maxPages {
		page, err := c.editsPage(ctx, number, after)
		if err != nil {
			return Edits{}, err
		}
		pull := page.Data.Repository.PullRequest
		if pull == nil {
			return Edits{}, failed("the edits of the reviews", errOther)
		}
		out.HeadSHA, out.State, out.Draft, out.BaseRef = pull.Head, strings.ToLower(pull.State), pull.Draft, pull.Base
		reviews := pull.Reviews
		for _, n := range reviews.Nodes {
			var id int64
			if _, err := fmt.Sscan(n.ID, &id); err != nil {
				return Edits{}, failed("the edits of the reviews", errOther)
			}
			out.Edited[id] = n.Edited != nil
		}
		if !reviews.PageInfo.HasNextPage {
			return out, nil
		}
		after = &reviews.PageInfo.EndCursor
	}
	return Edits{}, fmt.Errorf("the edits of the reviews: %w", ErrTooMany)
}

func (c *Client) editsPage(ctx context.Context, number int64, after *string) (*editsPage, error) {
	at := *c.transport.base
	at.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, "/"), "/v3") + "/graphql" // /api/v3 beside /api/graphql on an Enterprise Server
	req, err := c.gh.NewRequest("POST", at.String(), map[string]any{"query": edits,
		"variables": map[string]any{"owner": c.owner, "name": c.name, "number": number, "after": after}})
	if err != nil {
		return nil, err
	}
	page := &editsPage{}
	if _, err := c.gh.Do(reads(ctx), req, page); err != nil {
		return nil, failed("the edits of the reviews", err)
	}
	if len(page.Errors) > 0 {
		return nil, &Error{Status: 200, Method: "POST", Path: "/graphql", Kind: Refused, Message: c.transport.clean(page.Errors[0].Message)}
	}
	return page, nil
}
