package main

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// paramFlags are the limits that the command line sets (S71). Several sheets may be audited at a time: each takes those
// that it has, and one that none of them has is refused in the end.
type paramFlags struct {
	given []string // NAME=VALUE

	mu   sync.Mutex
	used map[string]bool
}

func paramsFlag(flags *pflag.FlagSet) *paramFlags {
	p := &paramFlags{used: map[string]bool{}}
	flags.StringArrayVar(&p.given, "param", nil, "a limit that the flight sheet leaves to you: `NAME=VALUE`; may "+
		"be\nrepeated. A list is written a,b; anything else than a word as JSON")
	return p
}

// checkSyntax refuses what cannot be read whatever the sheet is.
func (p *paramFlags) checkSyntax() error {
	var names []string
	for _, g := range p.given {
		name, _, ok := strings.Cut(g, "=")
		if !ok || name == "" {
			return usagef("--param %q must be NAME=VALUE, such as slo_p99_ms=300", g)
		}
		if slices.Contains(names, name) {
			return usagef("--param sets %s twice", name)
		}
		names = append(names, name)
	}
	return nil
}

// sheetWith is the sheet with the parameters of it that the command line sets. strict refuses one that it does not
// have.
func (p *paramFlags) sheetWith(sheet *referee.Sheet, strict bool) (*referee.Sheet, error) {
	if p == nil {
		p = &paramFlags{}
	}
	values := map[string]*strictjson.Value{}
	for _, g := range p.given {
		name, text, _ := strings.Cut(g, "=")
		param, err := sheet.Param(name)
		if err != nil && strict {
			return nil, paramError(err)
		}
		if err != nil {
			continue
		}
		v, err := param.ParseParam(text)
		if err != nil {
			return nil, paramError(err)
		}
		values[name] = v
		p.mu.Lock()
		p.used[name] = true
		p.mu.Unlock()
	}
	with, err := sheet.WithParams(values)
	if err != nil {
		return nil, paramError(err)
	}
	return with, nil
}

// checkAllUsed refuses a parameter that no sheet of the audit has: a limit that was misspelt is not in force.
func (p *paramFlags) checkAllUsed() error {
	for _, g := range p.given {
		if name, _, _ := strings.Cut(g, "="); !p.used[name] {
			return usagef("--param %s: no flight sheet used here has that parameter",
				name).withHint("`referee sheet show SLUG` lists a sheet's parameters")
		}
	}
	return nil
}

// paramError gives a refused parameter its exit code and its hint.
func paramError(err error) error {
	var refused *referee.ParamError
	if errors.As(err, &refused) {
		return usagef("%s", refused.Message).withHint("%s", refused.Hint)
	}
	return usagef("%w", err)
}
