package referee

import (
	"regexp"
	"strings"
	"sync"

	"github.com/defendableos/referee/internal/decimal"
)

// unitScale is what a number in these units is divided by to become canonical (S10): 100 for percent, 10,000 for basis
// points, else 1.
func unitScale(units string) *decimal.Num {
	switch strings.ToLower(strings.TrimSpace(units)) {
	case "%", "percent", "pct", "per cent", "percentage":
		return hundred
	case "bps", "basis points", "bp":
		return tenThousand
	}
	return one
}

var (
	currencyUnit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Z]{3}|\$|€|£|¥|dollars|dollar|us dollars)(\s*/\s*\w+)?$`)
	})
	plainUnits = map[string]bool{"ratio": true, "x": true, "%": true, "percent": true, "pct": true, "bps": true,
		"count": true, "years": true, "months": true, "sqft": true}
	moneyTokens = map[string]bool{"noi": true, "income": true, "revenue": true, "expense": true, "price": true,
		"cost": true, "payment": true, "debt_service": true,
		"loan": true, "proceeds": true, "cash_flow": true, "rent": true, "value": true, "fee": true, "tax": true,
		"principal": true, "egi": true, "gpr": true}
)

// isoCurrency lists the ISO 4217 codes that are in use, so that three capital letters of another kind ("KWH") are no
// currency.
var isoCurrency = func() map[string]bool {
	out := map[string]bool{}
	for code := range strings.FieldsSeq(
		`AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF
		CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
		HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD
		MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN
		PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY
		TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG`) {
		out[code] = true
	}
	return out
}()

// isMonetary decides whether a number is money (S9): what the sheet says, else its units, else a word of its name.
func isMonetary(said *bool, units, name string) bool {
	if said != nil {
		return *said
	}
	units = strings.TrimSpace(units)
	if m := currencyUnit().FindStringSubmatch(units); m != nil && (m[1][0] < 'A' || m[1][0] > 'Z' ||
		isoCurrency[m[1]]) {
		return true
	}
	if plainUnits[strings.ToLower(units)] {
		return false
	}
	n := normalName(name)
	if moneyTokens[n] {
		return true
	}
	tokens := strings.Split(n, "_")
	for i, t := range tokens {
		if moneyTokens[t] || (i+1 < len(tokens) && moneyTokens[t+"_"+tokens[i+1]]) {
			return true
		}
	}
	return false
}
