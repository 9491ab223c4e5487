package main

import "github.com/defendableos/referee/referee"

func sheetSchemaCommand() *command {
	c := newCommand("sheet schema", "", "print the JSON Schema of flight sheets, for editors", 0)
	c.long = "Made from the rule registry. In Visual Studio Code, name the file under\n\"json.schemas\" with " +
		"fileMatch \"flight_sheets/*.json\"."
	c.examples = []string{"referee sheet schema > .vscode/flight-sheet.schema.json"}
	c.run = func(a *app, _ []string) error { return a.print(string(referee.SheetJSONSchema())) }
	return c
}
