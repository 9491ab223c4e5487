package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/defendableos/referee/gate/config"
	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// setParams is the sheet with the limits that the rule sets. A limit that this sheet does not have is one of another
// sheet of the rule; one that no sheet of it has is refused, because a misspelt limit is not in force.
func setParams(sheet *referee.Sheet, rule config.RunRule, library *referee.Library) (*referee.Sheet, error) {
	values := map[string]*strictjson.Value{}
	for _, name := range slices.Sorted(maps.Keys(rule.Params)) {
		if _, err := sheet.Param(name); err != nil {
			if !anotherHas(name, rule, library) {
				return nil, fmt.Errorf("%s sets params.%s for %s: %w", config.Path, name, rule.Path, err)
			}
			continue
		}
		v, err := receipt.ParseParam(rule.Params[name])
		if err != nil {
			return nil, fmt.Errorf("%s: params.%s cannot be read: %w", config.Path, name, err)
		}
		values[name] = v
	}
	return sheet.WithParams(values)
}

// anotherHas reports whether a sheet that the rule allows has a parameter of this name.
func anotherHas(name string, rule config.RunRule, library *referee.Library) bool {
	sheets, _ := library.Load()
	return slices.ContainsFunc(sheets, func(s *referee.Sheet) bool {
		if s == nil || !allowsSheet(rule.Sheets, s) {
			return false
		}
		_, err := s.Param(name)
		return err == nil
	})
}
