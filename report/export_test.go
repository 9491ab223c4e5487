package report

// What tests of other packages' pages need of the browser.
var (
	OpenTab        = tab
	VisitPage      = visit
	SettledPage    = settled
	EvaluateAsText = ask[string]
)
