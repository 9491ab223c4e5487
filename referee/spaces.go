package referee

import (
	"fmt"
	"slices"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/referee/evidence"
	"github.com/defendableos/referee/referee/policy"
)

// objectValue makes a value with these members: name, value, name, value …
func objectValue(pairs ...any) policy.Val {
	v := policy.Val{Kind: policy.Obj, Members: make([]policy.Entry, 0, len(pairs)/2)}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Members = append(v.Members, policy.Entry{Key: pairs[i].(string), Val: pairs[i+1].(policy.Val)})
	}
	return v
}

func listOf(items []policy.Val) policy.Val { return policy.Val{Kind: policy.List, List: items} }

func wholeNumber(n int) policy.Val { return policy.Number(decimal.FromInt(int64(n))) }

// optionalText is a text, or missing where the profile is silent.
func optionalText(s string) policy.Val {
	if s == "" {
		return policy.Absent("profile incomplete")
	}
	return policy.Text(s)
}

// stackSpace is $stack: the agent's profile, unknown members missing.
func (a *audit) stackSpace() policy.Val {
	if a.Agent == nil {
		return policy.Absent("no agent profile")
	}
	p := a.Agent
	v := objectValue("name", optionalText(p.Name), "model", optionalText(p.Model), "provider", optionalText(p.Provider),
		"harness", optionalText(p.Harness),
		"runtime", optionalText(p.Runtime), "capability_tier", optionalText(p.CapabilityTier), "params_b",
		decimalVal(p.ParamsB),
		"context_tokens", decimalVal(p.ContextTokens), "vram_gb", decimalVal(p.VRAMGB))
	if p.ToolsKnown {
		v.Members = append(v.Members, policy.Entry{Key: "tools", Val: textList(p.Tools)})
	}
	return v
}

func textList(words []string) policy.Val {
	out := make([]policy.Val, len(words))
	for i, w := range words {
		out[i] = policy.Text(w)
	}
	return listOf(out)
}

// evidenceSpace is $evidence: a row for every declared item.
func (a *audit) evidenceSpace() policy.Val {
	if a.Evidence == nil {
		return policy.Absent(errNoManifest.Error())
	}
	var rows []policy.Val
	for _, id := range a.Evidence.IDs() {
		f, err := a.Evidence.File(id)
		held := policy.Truth(err == nil)
		if err != nil {
			rows = append(rows, objectValue("id", policy.Text(id), "held", held))
			continue
		}
		rows = append(rows, objectValue("id", policy.Text(id), "held", held, "kind", policy.Text(f.Kind), "sha256",
			policy.Text(f.SHA256), "bytes", wholeNumber(int(f.Bytes))))
	}
	return listOf(rows)
}

// flagSpace is $flags: the findings so far, so a rule sees those of the rules before it.
func (a *audit) flagSpace() policy.Val {
	rows := make([]policy.Val, len(a.findings))
	for i, f := range a.findings {
		rows[i] = objectValue("code", policy.Text(f.Code), "tier", policy.Text(string(f.Tier)), "bucket",
			policy.Text(string(f.Bucket)), "stage", policy.Text(string(f.Stage)), "pointer", policy.Text(f.Pointer))
	}
	return listOf(rows)
}

// atomSpace is $atoms: every fact verified so far.
func (a *audit) atomSpace() policy.Val {
	if a.recorded > len(a.atoms) {
		return policy.Absent(fmt.Sprintf("the audit has %d facts, and no more than %d are kept", a.recorded,
			len(a.atoms)))
	}
	rows := a.atomRows
	for _, at := range a.atoms[len(rows):] {
		rows = append(rows, objectValue("id", policy.Text(at.ID), "type", policy.Text(at.Type), "field",
			policy.Text(at.Field), "pass",
			policy.Truth(at.Pass),
			"severity", policy.Text(at.Severity), "scope", policy.Text(at.Scope)))
	}
	a.atomRows = rows
	return listOf(slices.Clip(rows))
}

// statVal turns a recount into a value.
func statVal(got evidence.StatResult) policy.Val {
	switch {
	case got.Num != nil:
		return policy.Number(got.Num)
	case got.Missing:
		return policy.Absent("evidence holds nothing to count there")
	}
	return policy.Text(got.Text)
}
