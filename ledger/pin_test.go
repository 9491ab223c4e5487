package ledger_test

import (
	"slices"
	"testing"

	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// TestPins holds that a pin shows what L1 cannot see.
func TestPins(t *testing.T) {
	before := verifyForged(t, sixEntryLedger(t))
	seen := ledger.PinOf(before.Head, "what was seen here")
	genesis := ledger.Pin{Level: ledger.L3, Source: "the configuration", Count: 1, Tip: before.Hashes[0]}
	review := ledger.Pin{Level: ledger.L3, Source: "review 1004", Count: 5, Tip: before.Hashes[4]}
	short := func(f *forge) { f.truncateLedger() }
	anew := func(from int64) func(*forge) {
		return func(f *forge) { f.rewriteFrom(from, func(r *ledger.Receipt) { r.Agent.Model = "example-99b" }) }
	}
	for name, c := range map[string]struct {
		attack func(*forge)
		pin    ledger.Pin
		codes  []ledger.Code
	}{
		"good, seen":         {func(*forge) {}, seen, codes()},
		"good, genesis":      {func(*forge) {}, genesis, codes()},
		"good, review":       {func(*forge) {}, review, codes()},
		"grown":              {func(f *forge) { f.appendUnchecked(storetest.Sample(70)) }, seen, codes()},
		"empty pin":          {func(*forge) {}, ledger.PinOf(ledger.NewHead(), "nothing"), codes()},
		"truncated":          {short, seen, codes(ledger.CodeTruncated)},
		"truncated, review":  {short, review, codes(ledger.CodePinMissing)},
		"truncated, genesis": {short, genesis, codes()},
		"rewritten":          {anew(2), seen, codes(ledger.CodePinTip)},
		"rewritten, review":  {anew(2), review, codes(ledger.CodePinTip)},
		"rewritten, genesis": {anew(2), genesis, codes()},
		"new genesis":        {anew(0), genesis, codes(ledger.CodePinGenesis)},
		"a lying root": {func(*forge) {}, ledger.Pin{Level: ledger.L2, Count: 3, Tip: before.Hashes[2],
			Root: hashA}, codes(ledger.CodePinRoot)},
		"an unusable pin": {func(*forge) {}, ledger.Pin{Level: ledger.L2, Count: 3, Tip: "x"},
			codes(ledger.CodePinUnusable)},
		"an unusable root": {func(*forge) {}, ledger.Pin{Level: ledger.L2, Count: 3, Tip: hashA, Root: "x"},
			codes(ledger.CodePinUnusable)},
		"an unusable count": {func(*forge) {}, ledger.Pin{Level: ledger.L2, Count: -3, Tip: hashA},
			codes(ledger.CodePinUnusable)},
	} {
		f := sixEntryLedger(t)
		c.attack(f)
		v := verifyForged(t, f, c.pin)
		if !slices.Equal(problemCodes(v), c.codes) {
			t.Errorf("%s: %v, want %v", name, v.Problems, c.codes)
		}
		if v.OK() && v.Level != c.pin.Level {
			t.Errorf("%s: reached %s, want %s", name, v.Level, c.pin.Level)
		}
		if !v.OK() && v.Problems[0].Level != c.pin.Level {
			t.Errorf("%s: the problem has level %s, want %s", name, v.Problems[0].Level, c.pin.Level)
		}
	}
}

func TestParsePin(t *testing.T) {
	p := ledger.Pin{Count: 3, Tip: hashA, Root: hashB}
	b, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ledger.ParsePin(b); err != nil || back != p {
		t.Errorf("%+v, %v", back, err)
	}
	for _, bad := range []string{"", "{}", `{"count":0,"tip":"` + hashA + `"}`, `{"count":-1,"tip":"` + hashA + `"}`,
		`{"count":1,"tip":"x"}`, string(b) + "\n"} {
		if back, err := ledger.ParsePin([]byte(bad)); err == nil || back != (ledger.Pin{}) {
			t.Errorf("%q: %+v", bad, back)
		}
	}
}

func FuzzParsePin(f *testing.F) {
	f.Add([]byte(`{"count":3,"root":"` + hashB + `","tip":"` + hashA + `"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ledger.ParsePin(b)
		if err != nil {
			return
		}
		if again, err := p.Marshal(); err != nil || string(again) != string(b) {
			t.Errorf("%s comes back as %s, %v", b, again, err)
		}
	})
}
