package strictjson

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

func TestNilIsSafe(t *testing.T) {
	var v *Value
	if v.Get("a") != nil || v.At("/a") != nil || v.At("") != nil || v.Pointer() != "" || v.Any() != nil ||
		v.Source(nil) != nil || !v.IsMissing() || v.Item(0) != nil || v.Elements() != nil || v.Fields() != nil ||
		v.Name() != "" || v.TextOf("a") != "" || v.TextOrEmpty() != "" || v.Texts() != nil || v.IsTrue() ||
		v.Decimal() != nil || v.Child("a") != nil || v.Step("a") != nil || v.Clone() != nil {
		t.Error("a nil value is not simply missing")
	}
	if _, ok := v.Str(); ok {
		t.Error("a nil value has a string")
	}
	if _, ok := v.Int(); ok {
		t.Error("a nil value has a number")
	}
	v.Walk(func(*Value) bool { t.Error("walked over nil"); return true })
	if number := mustParse(t, "1"); number.Get("a") != nil || number.At("/0") != nil {
		t.Error("a number has members")
	}
}

// Each accessor answers for its own type and with nothing for every other.
func TestAccessorsKeepToTheirType(t *testing.T) {
	root := mustParse(t, `{"text":"a","yes":true,"word":"true","number":1.50,"list":["x",2,"y",["z"],null],
		"object":{"in":"side"},"huge":1e999,"digits":"7","null":null,"no":false}`)
	for _, m := range root.Members {
		v := m.Value
		if got := v.TextOrEmpty(); (got != "") != (v.Kind == String) || root.TextOf(m.Key) != got {
			t.Errorf("%s: text %q", m.Key, got)
		}
		if v.IsTrue() != (m.Key == "yes") {
			t.Errorf("%s is true: %v", m.Key, v.IsTrue())
		}
		if got := v.Decimal(); (got != nil) != (m.Key == "number") || got != nil && got.String() != "1.5" {
			t.Errorf("%s is the number %v", m.Key, got)
		}
		if got := v.Texts(); (m.Key == "list") != slices.Equal(got, []string{"x", "y"}) || m.Key != "list" && got != nil {
			t.Errorf("%s: texts %q", m.Key, got)
		}
		if len(v.Elements()) > 0 != (v.Kind == Array) || len(v.Fields()) > 0 != (v.Kind == Object) || v.Name() != m.Key {
			t.Errorf("%s: %d elements, %d fields, name %q", m.Key, len(v.Elements()), len(v.Fields()), v.Name())
		}
	}
	list := root.Get("list")
	if list.Item(1).Text != "2" || list.Item(-1) != nil || list.Item(5) != nil || list.Item(0).Name() != "" {
		t.Error("an element is not the one of its index")
	}
}

func TestInt(t *testing.T) {
	for src, want := range map[string]int64{"3": 3, "3.0": 3, "30e-1": 3, "-0": 0, "0.0": 0, "0e9": 0, "1e3": 1000,
		"9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63, "9007199254740993": 9007199254740993} {
		if got, ok := mustParse(t, src).Int(); !ok || got != want {
			t.Errorf("%s is %d, %v", src, got, ok)
		}
	}
	for _, src := range []string{"1.5", "9223372036854775808", "1e30", "1e999", `"3"`, "true", "1e-5"} {
		if got, ok := mustParse(t, src).Int(); ok {
			t.Errorf("%s is %d", src, got)
		}
	}
}

func TestEqual(t *testing.T) {
	same := [][2]string{{"1", "1.0"}, {"1", "10e-1"}, {"-0", "0"}, {"0e5", "0.00"}, {"1e999", "10e998"},
		{`"\u0061"`, `"a"`}, {`{"a":1,"b":[2]}`, `{ "b":[2.0], "a":1 }`}, {"null", "null"},
		{`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13}`,
			`{"m":13,"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12}`}}
	for _, pair := range same {
		if a, b := mustParse(t, pair[0]), mustParse(t, pair[1]); !Equal(a, b) || !Equal(b, a) {
			t.Errorf("%s and %s differ", pair[0], pair[1])
		}
	}
	differ := [][2]string{{"1", "-1"}, {"1", `"1"`}, {"9007199254740992", "9007199254740993"},
		{"0.1", "0.10000000000000001"}, {"[1,2]", "[2,1]"}, {"[1]", "[1,1]"}, {`{"a":1}`, `{"b":1}`},
		{`{"a":null}`, `{}`}, {"true", "false"}, {"null", "false"}, {"1e99999999999999", "1e99999999999998"},
		{"[]", "{}"}}
	for _, pair := range differ {
		if a, b := mustParse(t, pair[0]), mustParse(t, pair[1]); Equal(a, b) || Equal(b, a) {
			t.Errorf("%s and %s are equal", pair[0], pair[1])
		}
	}
	if !Equal(nil, nil) || Equal(nil, mustParse(t, "null")) {
		t.Error("nothing equals only nothing")
	}
}

func TestAny(t *testing.T) {
	got := mustParse(t, `{"a":[1.50,"x",true,false,null,1e5000000],"b":{}}`).Any()
	want := map[string]any{"a": []any{json.Number("1.50"), "x", true, false, nil, nil}, "b": map[string]any{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%#v", got)
	}
}

func TestWalkLeavesOut(t *testing.T) {
	var seen []string
	mustParse(t, `{"a":[1,2],"b":3}`).Walk(func(v *Value) bool {
		seen = append(seen, v.Pointer())
		return v.Kind != Array
	})
	if !reflect.DeepEqual(seen, []string{"", "/a", "/b"}) {
		t.Errorf("%v", seen)
	}
}
