package report

import (
	"bytes"
	_ "embed"
)

// verifyHTML is put together from its parts under page/ (TestVerifyPageIsBuilt).
//
//go:embed page/verify.html
var verifyHTML []byte

// VerifyPage is verify.html: one file that verifies receipts in a browser, by file or from the branch that it is
// published on. It loads nothing from anywhere else, computes with WebCrypto only, and shows every text of a receipt as
// text; its policy (Content-Security-Policy) allows the script and the style in it by their hashes, fetching from its
// own origin, and nothing else.
func VerifyPage() []byte { return bytes.Clone(verifyHTML) }
