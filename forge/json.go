package forge

import (
	"strconv"

	"github.com/defendableos/referee/internal/strictjson"
)

func jsonString(s string) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.String, Text: s}
}

func jsonNumber(s string) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.Number, Text: s}
}

func jsonBool(b bool) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.Bool, Text: strconv.FormatBool(b)}
}

func jsonNull() *strictjson.Value { return &strictjson.Value{Kind: strictjson.Null} }

func jsonArray(items ...*strictjson.Value) *strictjson.Value {
	return &strictjson.Value{Kind: strictjson.Array, Items: items}
}

func jsonStrings(words []string) *strictjson.Value {
	out := jsonArray()
	for _, w := range words {
		out.Items = append(out.Items, jsonString(w))
	}
	return out
}

// jsonObject makes an object of keys and values in turn; a nil value is left out.
func jsonObject(pairs ...any) *strictjson.Value {
	out := &strictjson.Value{Kind: strictjson.Object}
	for i := 0; i+1 < len(pairs); i += 2 {
		if v, _ := pairs[i+1].(*strictjson.Value); v != nil {
			out.Set(pairs[i].(string), v)
		}
	}
	return out
}
