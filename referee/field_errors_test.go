package referee

import (
	"reflect"
	"testing"
)

// errorsSheet compares two fields with gold, one of them an angle.
func errorsSheet(member string) string {
	list := func(name, value string) string {
		return `"` + name + `":{"value":` + value + `,"source":"x","as_of":"2026-11-21","status":"general"}`
	}
	return sheetText(`"gold":"gold",` + member + `"consts":{` + list("LIMITS", `{"speed":10,"track":20}`) + "," +
		list("ANGLES", `["track"]`) + "," + list("WRONG", `{"speed":0}`) + `},"eval_spec":{"rules":[{"check":"range",` +
		`"id":"sane","over":"states","limits":{"speed":[0,100]},"family":"range_sanity"}]}`)
}

const errorsMember = `"errors":{"predicted":"/states","right":"/states","limits":"LIMITS","angles":"ANGLES"},`

// By hand: |100.5 − 98| = 2.5 and |97 − 99.25| = 2.25; from 350 to 10 degrees the shortest arc is 20, from 5 to 359 it
// is 6. A text has no error, a row too few leaves nothing to compare, and so does a missing gold.
func TestFieldErrors(t *testing.T) {
	sheet := mustLoad(t, errorsSheet(errorsMember))
	gold := withEvidence("gold.json", `{"states":[{"speed":98,"track":10},{"speed":99.25,"track":359}]}`)
	rep := auditText(sheet, `{"states":[{"speed":100.5,"track":350},{"speed":97,"track":5}]}`, gold)
	if want := []FieldError{{"speed", "10", []string{"2.5", "2.25"}},
		{"track", "20", []string{"20", "6"}}}; !reflect.DeepEqual(rep.Errors, want) {
		t.Errorf("errors %v, want %v", rep.Errors, want)
	}
	// 100.5 is beyond 0 … 100, by less than half a span: a warning. 97 holds.
	if want := []FamilyCount{{"range_sanity", 1, 1, 0}}; !reflect.DeepEqual(rep.Compliance, want) {
		t.Errorf("facts %v, want %v", rep.Compliance, want)
	}
	rep = auditText(sheet, `{"states":[{"speed":"fast","track":9},{"track":null}]}`, gold)
	if want := []FieldError{{"track", "20", []string{"1"}}}; !reflect.DeepEqual(rep.Errors, want) {
		t.Errorf("errors %v, want %v", rep.Errors, want)
	}
	for name, rep := range map[string]*Report{
		"a row too few": auditText(sheet, `{"states":[{"speed":98,"track":10}]}`, gold),
		"a text":        auditText(sheet, `{"states":"none"}`, gold),
		"nothing":       auditText(sheet, `{}`, gold),
		"no JSON":       auditText(sheet, `{`, gold),
		"no gold":       auditText(sheet, `{"states":[{"speed":98,"track":10}]}`),
	} {
		if rep.Errors != nil {
			t.Errorf("%s: errors %v", name, rep.Errors)
		}
	}
}

func TestErrorsMemberIsRefused(t *testing.T) {
	for _, c := range []struct{ member, words string }{
		{`"errors":{"predicted":"states","right":"/states","limits":"LIMITS"},`, `must be a JSON pointer`},
		{`"errors":{"predicted":"/states","right":"","limits":"LIMITS"},`, `must be a JSON pointer`},
		{`"errors":{"predicted":"/states","right":"/states","limits":"NONE"},`, `it must name a constant with a limit`},
		{`"errors":{"predicted":"/states","right":"/states","limits":"WRONG"},`, `must be a number above 0`},
		{`"errors":{"predicted":"/states","right":"/states","limits":"LIMITS","angles":"NONE"},`, `with a list of fields`},
		{`"errors":{"predicted":"/states","right":"/states","limits":"WRONG","angles":"ANGLES"},`, `has no limit`},
	} {
		wantRefusal(t, errorsSheet(c.member), "errors", c.words)
	}
	wantRefusal(t, sheetText(errorsMember+`"eval_spec":{"rules":[{"expr":"1 == 1","id":"x"}]}`), "errors", "needs gold")
}

// A report whose facts or errors were edited is refused, as any other edit is.
func TestErrorsAreInTheDigest(t *testing.T) {
	sheet := mustLoad(t, errorsSheet(errorsMember))
	rep := auditText(sheet, `{"states":[{"speed":98,"track":10}]}`, withEvidence("gold.json",
		`{"states":[{"speed":90,"track":10}]}`))
	before := rep.digestOf()
	rep.Errors[0].Values[0] = "0"
	if rep.digestOf() == before {
		t.Error("an edited error has the same digest")
	}
	rep.Errors[0].Values[0], rep.Compliance[0].Held = "8", 99
	if rep.digestOf() == before {
		t.Error("an edited count of facts has the same digest")
	}
}
