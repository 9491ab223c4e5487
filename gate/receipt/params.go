package receipt

import (
	"fmt"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// ParseParam reads the value of a parameter, which is JSON.
func ParseParam(text string) (*strictjson.Value, error) {
	doc, err := strictjson.Parse([]byte(`{"value":`+text+`}`), strictjson.DocumentLimits)
	if err != nil {
		return nil, err
	}
	return doc.Get("value"), nil
}

// WithRecordedParams is a sheet with the limits that a receipt holds, for a replay.
func WithRecordedParams(sheet *referee.Sheet, params []ledger.Param) (*referee.Sheet, error) {
	values := map[string]*strictjson.Value{}
	for _, p := range params {
		v, err := ParseParam(p.Value)
		if err != nil {
			return nil, fmt.Errorf("the recorded parameter %q cannot be read: %w", p.Name, err)
		}
		values[p.Name] = v
	}
	return sheet.WithParams(values)
}
