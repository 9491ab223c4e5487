package main

// allCommands lists every command in the order in which help shows them. A new command is a file of its own with a
// function that returns a *command, and a line here; a name of two words puts it into a group, which needs nothing
// else.
func allCommands() []*command {
	return []*command{
		demoCommand(),
		initCommand(),
		doctorCommand(),
		auditCommand(),
		approveCommand(),
		runNewCommand(),
		runAttachCommand(),
		sheetListCommand(),
		sheetShowCommand(),
		sheetPromptCommand(),
		sheetLintCommand(),
		sheetTestCommand(),
		sheetNewCommand(),
		sheetDiffCommand(),
		sheetFmtCommand(),
		sheetIndexCommand(),
		sheetSchemaCommand(),
		rulesCommand(),
		ledgerInitCommand(),
		ledgerVerifyCommand(),
		ledgerLogCommand(),
		ledgerHeadCommand(),
		ledgerProveCommand(),
		ledgerExportCommand(),
		receiptShowCommand(),
		receiptVerifyCommand(),
		receiptPDFCommand(),
		receiptReplayCommand(),
		summaryCommand(),
		serveCommand(),
		gateCommand(),
		completionCommand(),
		docsCommandsCommand(),
		docsManCommand(),
		versionCommand(),
		helpCommand(),
	}
}

// groups says in one line what the commands of a group are about.
var groups = map[string]string{
	"run":     "run folders: what an agent hands in",
	"sheet":   "flight sheets: the rulebooks",
	"ledger":  "the chain of receipts",
	"receipt": "one receipt: print, check, render, derive again",
	"docs":    "the commands themselves, as documents",
}
