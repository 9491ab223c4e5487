package policy

import (
	"fmt"
	"sync/atomic"

	"github.com/defendableos/referee/internal/decimal"
)

// The constants of WCAG 2.x's relative luminance. 0.04045 is sRGB's own threshold; WCAG's older 0.03928 lies between
// the same two of the 256 channel values, so both give the same luminance.
var (
	channelMax = decimal.FromInt(255)
	threshold  = decimal.MustParse("0.04045")
	linear     = decimal.MustParse("12.92")
	offset     = decimal.MustParse("0.055")
	stretch    = decimal.MustParse("1.055")
	gamma      = decimal.MustParse("2.4")
	flare      = decimal.MustParse("0.05")
	weights    = [3]*decimal.Num{decimal.MustParse("0.2126"), decimal.MustParse("0.7152"), decimal.MustParse("0.0722")}
)

// evalContrast is WCAG's contrast ratio of two colours #rrggbb: (lighter + 0.05) / (darker + 0.05).
func evalContrast(ev *evaluator, n *node, args []Val) Val {
	var lum [2]*decimal.Num
	for i := range lum {
		rgb, ok := parseColour(args[i].Str)
		if !ok {
			text, _ := printText(n.args[i])
			ev.addIssue("operand_type", args[i].Pointer(), "%s is %s, and contrast takes colours like #1a1a1a", text,
				args[i])
			return Absent("it is not a colour #rrggbb")
		}
		ev.chargeWork(200)
		l, err := luminanceOf(rgb)
		if err != nil {
			return ev.undefinedResult(n, err)
		}
		lum[i] = l
	}
	if decimal.Cmp(lum[0], lum[1]) < 0 {
		lum[0], lum[1] = lum[1], lum[0]
	}
	return ev.numberResult(n)(decimal.Quo(lum[0], lum[1]))
}

func parseColour(s string) (rgb [3]int64, ok bool) {
	if len(s) != 7 || s[0] != '#' {
		return rgb, false
	}
	for _, c := range s[1:] {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return rgb, false
		}
	}
	_, err := fmt.Sscanf(s, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2])
	return rgb, err == nil
}

// luminanceOf is the relative luminance with the flare of 0.05 added.
func luminanceOf(rgb [3]int64) (*decimal.Num, error) {
	sum := flare
	for i, c := range rgb {
		v, err := linearChannel(c)
		if err != nil {
			return nil, err
		}
		if v, err = decimal.Mul(v, weights[i]); err != nil {
			return nil, err
		}
		if sum, err = decimal.Add(sum, v); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// linearChannels are the values of channel that were asked for: 256 constants, whose power of 2.4 is what luminance
// costs.
var linearChannels [256]atomic.Pointer[decimal.Num]

// linearChannel is channel of 0 to 255, each worked out once.
func linearChannel(c int64) (*decimal.Num, error) {
	if v := linearChannels[c].Load(); v != nil {
		return v, nil
	}
	v, err := linearisedChannel(c)
	if err == nil {
		linearChannels[c].Store(v)
	}
	return v, err
}

func linearisedChannel(c int64) (*decimal.Num, error) {
	v, err := decimal.Quo(decimal.FromInt(c), channelMax)
	if err != nil || decimal.Cmp(v, threshold) <= 0 {
		if err == nil {
			v, err = decimal.Quo(v, linear)
		}
		return v, err
	}
	if v, err = decimal.Add(v, offset); err != nil {
		return nil, err
	}
	if v, err = decimal.Quo(v, stretch); err != nil {
		return nil, err
	}
	return decimal.Pow(v, gamma)
}
