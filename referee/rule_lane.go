package referee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/decimal"
	"github.com/defendableos/referee/internal/strictjson"
)

// requirement is one thing that the stack must have. need returns whether the profile meets it; known is false when the
// profile does not say, which is never a failure (S42).
type requirement struct {
	id, want string
	need     func(p *Agent) (met, known bool, has string)
}

// capabilityMinimum is the least number of parameters, in billions, of a recognised capability tier; it satisfies a
// parameter minimum without a declared count (S42; edge 3–4B, small 7–14B, mid 27–34B, frontier 70B and more).
var capabilityMinimum = map[string]*decimal.Num{"edge": decimal.FromInt(3), "small": decimal.FromInt(7),
	"mid": decimal.FromInt(27), "frontier": decimal.FromInt(70)}

// loadLane adds a rule for every lane requirement.
func (l *loader) loadLane() {
	v := l.sheet.Doc.Get("lane_requirements")
	for _, q := range l.loadRequirements(v) {
		l.addRequirement(q, v)
	}
}

func (l *loader) addRequirement(q requirement, v *strictjson.Value) {
	r := &Rule{ID: "lane." + q.id, Label: "the stack has " + q.want, Kind: "stack_fit", Category: "lane",
		Stage: StageLane, Tier: High, v: v, Text: q.want,
		Why: "A stack below the lane cannot be held to its work.", Fix: "run the assignment on a stack that has " +
			q.want}
	r.run = func(a *audit, r *Rule) outcome { return a.stackMeets(r, []requirement{q}) }
	l.addRule(r)
}

// loadRequirements reads lane_requirements.
func (l *loader) loadRequirements(v *strictjson.Value) []requirement {
	var out []requirement
	add := func(key string, q requirement) {
		if v.Get(key) != nil {
			out = append(out, q)
		}
	}
	add("min_params_b", needParams(v.Get("min_params_b").Decimal()))
	add("min_context_tokens", needNumber("min_context_tokens", "context tokens", v.Get("min_context_tokens").Decimal(),
		func(p *Agent) string { return p.ContextTokens }))
	add("required_tools", needAll("required_tools", "tools", v.Get("required_tools").Texts(),
		func(p *Agent) ([]string, bool) { return p.Tools, p.ToolsKnown || len(p.Tools) > 0 }))
	add("required_modalities", needAll("required_modalities", "modalities", v.Get("required_modalities").Texts(),
		func(p *Agent) ([]string, bool) { return p.Modalities, p.ModalitiesKnown || len(p.Modalities) > 0 }))
	add("min_vram_gb", needNumber("min_vram_gb", "GB of GPU memory", v.Get("min_vram_gb").Decimal(),
		func(p *Agent) string { return p.VRAMGB }))
	add("allowed_runtimes", needOneOf("allowed_runtimes", "runtime", v.Get("allowed_runtimes").Texts(),
		func(p *Agent) string { return p.Runtime }))
	add("capability_tier", needClass("capability_tier", v.TextOf("capability_tier")))
	return out
}

func needParams(least *decimal.Num) requirement {
	q := needNumber("min_params_b", "billion parameters", least, func(p *Agent) string { return p.ParamsB })
	byNumber := q.need
	q.need = func(p *Agent) (bool, bool, string) {
		if met, known, has := byNumber(p); known {
			return met, known, has
		}
		class := capabilityMinimum[p.CapabilityTier]
		if class != nil && least != nil && decimal.Cmp(class, least) >= 0 {
			return true, true, "capability tier " + p.CapabilityTier
		}
		return false, false, ""
	}
	return q
}

func needNumber(id, unit string, least *decimal.Num, of func(*Agent) string) requirement {
	if least == nil {
		least = zero
	}
	return requirement{id: id, want: fmt.Sprintf("at least %s %s", shownNumber(least), unit),
		need: func(p *Agent) (bool, bool, string) {
			n, err := decimal.Parse(of(p))
			if err != nil {
				return false, false, ""
			}
			return decimal.Cmp(n, least) >= 0, true, shownNumber(n)
		}}
}

func needAll(id, what string, need []string, of func(*Agent) ([]string, bool)) requirement {
	return requirement{id: id, want: what + " " + strings.Join(need, ", "), need: func(p *Agent) (bool, bool, string) {
		has, known := of(p)
		for _, n := range need {
			if !slices.ContainsFunc(has, func(h string) bool { return normalName(h) == normalName(n) }) {
				return false, known, joinListed(has)
			}
		}
		return true, known, joinListed(has)
	}}
}

func needOneOf(id, what string, allowed []string, of func(*Agent) string) requirement {
	return requirement{id: id, want: what + " " + strings.Join(allowed, " or "),
		need: func(p *Agent) (bool, bool, string) {
			has := of(p)
			return slices.ContainsFunc(allowed, func(w string) bool { return normalName(w) == normalName(has) }),
				has != "",
				has
		}}
}

func needClass(id, least string) requirement {
	return requirement{id: id, want: "capability tier " + least + " or above",
		need: func(p *Agent) (bool, bool, string) {
			has := slices.Index(classes, p.CapabilityTier)
			return has >= slices.Index(classes, least), has >= 0, p.CapabilityTier
		}}
}

// stackMeets holds the profile against requirements: below is a flag, unknown is skip "profile incomplete".
func (a *audit) stackMeets(r *Rule, list []requirement) outcome {
	if a.Agent == nil {
		return skipOutcome("no_manifest: a bare submission names no agent")
	}
	out := passed
	for _, q := range list {
		met, known, has := q.need(a.Agent)
		if !known {
			if out.status == Pass {
				out = skipOutcome("profile incomplete: it does not say whether the stack has %s", q.want)
			}
			continue
		}
		id := a.addAtom("stack."+q.id, q.id, met, atomSeverity(r.Tier), "sample", q.want)
		if !met {
			a.addFinding(r, Finding{Code: "lane." + q.id, Atoms: []string{id},
				Message: fmt.Sprintf("the stack has %s; the lane needs %s", clipText(has), q.want), Fix: fixOf(r)})
			out = flagged
		}
	}
	return out
}

// compileStackFit is the check-object form of lane requirements, and the requirement that two models differ.
func (l *loader) compileStackFit(r *Rule, v *strictjson.Value) {
	var list []requirement
	if c := v.TextOf("min_class"); c != "" {
		if !slices.Contains(classes, c) {
			l.problems.addNear(v.Get("min_class"), "unknown_word", c, classes, "unknown capability tier %q", c)
		}
		list = append(list, needClass("min_class", c))
	}
	if n := v.Get("min_params_b").Decimal(); n != nil {
		list = append(list, needParams(n))
	}
	if n := v.Get("min_context").Decimal(); n != nil {
		list = append(list, needNumber("min_context", "context tokens", n,
			func(p *Agent) string { return p.ContextTokens }))
	}
	if tools := v.Get("tools").Texts(); tools != nil {
		list = append(list, needAll("tools", "tools", tools, func(p *Agent) ([]string, bool) {
			return p.Tools,
				p.ToolsKnown || len(p.Tools) > 0
		}))
	}
	if n := v.Get("min_vram_gb").Decimal(); n != nil {
		list = append(list, needNumber("min_vram_gb", "GB of GPU memory", n, func(p *Agent) string { return p.VRAMGB }))
	}
	other := l.loadExpr(v.Get("different_from"), r.ID+": different_from")
	if len(list) == 0 && other == nil {
		l.problems.addProblem(v, "missing_key", "a stack_fit check needs at least one requirement")
	}
	r.Text = "the stack meets the lane"
	r.run = func(a *audit, r *Rule) outcome {
		out := a.stackMeets(r, list)
		if other == nil || a.Agent == nil {
			return out
		}
		res := other.Eval(a.env)
		if res.Val.Str == "" || a.Agent.Model == "" {
			return worseOutcome(out, skipOutcome("profile incomplete: the two models are not both named"))
		}
		if normalName(res.Val.Str) == normalName(a.Agent.Model) {
			a.addFinding(r, Finding{Code: "lane.different_from", Pointer: res.Val.Pointer(),
				Message: fmt.Sprintf("the model %q must differ from %q", clipText(a.Agent.Model), clipText(res.Val.Str)),
				Fix:     fixOf(r)})
			return flagged
		}
		return out
	}
}
