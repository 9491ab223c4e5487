package main

import (
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/report"
)

// ledgerPapers are what the first commit of a ledger also holds.
func ledgerPapers() []ledger.File {
	return []ledger.File{{Path: ledger.PagePath, Data: report.VerifyPage()}}
}
