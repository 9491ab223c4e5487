package referee

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestReproducibility: a sheet that scores a model says by which verifiers and thresholds, and at which temperature.
//
// Source: 003 #147.
func TestReproducibility(t *testing.T) {
	const body = `"required_inputs":[{"name":"a"}],"params":{"most":{"type":"number","title":"the most","default":8}},
		"derive":[{"id":"all","expr":"a * 10"}],"scores":{"total":"all"},
		"audit_checks":[{"key":"seen","label":"Was it seen?","kind":"checklist"}],
		"eval_spec":{"rules":[{"id":"r","expr":"a <= most","tier":"high"},
			{"check":"range","id":"span","over":"inputs","limits":{"a":[0,10]}}]}`
	sheet := mustSheet(t, body)
	rep := auditText(sheet, `{"inputs":{"a":4}}`)
	info := rep.Trace.Reproducibility
	if info == nil || info.Temperature != "" || info.VerifierCount != len(info.Verifiers) {
		t.Fatalf("%+v", info)
	}
	versions := map[string]string{}
	for _, v := range info.Verifiers {
		versions[v.ID] = v.Version
	}
	if versions["span"] != "range/1" || versions["structure"] != "structure/1" || versions["schema"] != "schema/1" ||
		versions["r"] == "" {
		t.Errorf("versions %v", versions)
	}
	if _, asked := versions["seen"]; asked {
		t.Error("a question to a person is counted as a verifier")
	}
	// by hand: the limits of the trace, then each parameter in force as canonical JSON
	sum := sha256.Sum256([]byte("referee.thresholds/v1\n" + rep.Trace.Limits + "\n" + `"most":8` + "\n"))
	if want := hex.EncodeToString(sum[:]); info.ThresholdsSHA256 != want {
		t.Errorf("thresholds %s, want %s", info.ThresholdsSHA256, want)
	}
	warm := auditText(sheet, `{"inputs":{"a":4}}`, func(c *Case) { c.Agent = &Agent{Temperature: "0.7"} })
	again := auditText(sheet, `{"inputs":{"a":4}}`)
	if warm.Trace.Reproducibility.Temperature != "0.7" || again.Digest != rep.Digest || warm.Digest == rep.Digest {
		t.Errorf("temperature %+v; the sheet's own record may not change", warm.Trace.Reproducibility)
	}
}

// TestReproducibilityOnlyOfScores: a sheet that scores no model has no such record.
func TestReproducibilityOnlyOfScores(t *testing.T) {
	if rep := auditText(mustSheet(t, ratioSheet), `{}`); rep.Trace.Reproducibility != nil {
		t.Errorf("%+v", rep.Trace.Reproducibility)
	}
}

// TestModelConfidence: the profile's prior by task is shown as it stands, and no rule and no verdict changes by it.
//
// Source: 003 #148.
func TestModelConfidence(t *testing.T) {
	r, err := ParseRun([]byte(runText(`"agent":{"model":"m","temperature":0.70,"confidence_prior":{"S1_score":81.5,
		"M3_score":60,"source":"a paper, table 4","version":"2026-01","metadata":{"seed":"7","by":"the authors"}}}`)),
		"run.json")
	if err != nil {
		t.Fatal(err)
	}
	c := r.Agent.ModelConfidence
	if c == nil || c.S1Score != "81.5" || c.M1Score != "" || c.M3Score != "60" || c.Source != "a paper, table 4" ||
		c.Version != "2026-01" || len(c.Metadata) != 2 || c.Metadata[0] != (ConfidenceNote{"by", "the authors"}) ||
		r.Agent.Confidence != "" || r.Agent.Temperature != "0.7" {
		t.Errorf("%+v %+v", r.Agent, c)
	}
	sheet := mustSheet(t, ratioSheet)
	submission := ratioSubmission("110", "100", "noi / debt", "1.1")
	shown := auditText(sheet, submission, func(c *Case) { c.Agent = &r.Agent })
	bare := auditText(sheet, submission, func(c *Case) { c.Agent = &Agent{Model: "m"} })
	if shown.Agent.ModelConfidence == nil || shown.Verdict.Score != bare.Verdict.Score ||
		len(shown.Findings) != len(bare.Findings) {
		t.Errorf("the prior reached the verdict: %+v, %+v", shown.Verdict, bare.Verdict)
	}
	// a rule that asks for it sees nothing
	asks := mustSheet(t, `"eval_spec":{"rules":[{"id":"r","expr":"nonempty($stack.confidence_prior)","tier":"high"}]}`)
	if st := checkNamed(t, auditText(asks, `{}`, func(c *Case) { c.Agent = &r.Agent }), "r").Status; st == Pass {
		t.Error("a rule reads the prior")
	}
}

// agentRefusals are profiles whose figures cannot be what they are called.
var agentRefusals = []struct{ members, rule, words string }{
	{`"temperature":2.1`, "temperature", "from 0 to 2, not 2.1"},
	{`"temperature":-0.1`, "temperature", "from 0 to 2"},
	{`"temperature":"0.7"`, "type", "must be a number"},
	{`"temperature":null`, "type", "leave the member out"},
	{`"confidence_prior":"high"`, "type", "must be a number, or an object"},
	{`"confidence_prior":[80]`, "type", "must be a number, or an object"},
	{`"confidence_prior":{"S1_score":80,"source":"x"}`, "missing_key", `"version"`},
	{`"confidence_prior":{"S1_score":80,"version":"1"}`, "missing_key", `"source"`},
	{`"confidence_prior":{"source":"x","version":"1"}`, "missing_key", "S1_score, M1_score or M3_score"},
	{`"confidence_prior":{"S1_score":101,"source":"x","version":"1"}`, "confidence_prior", "from 0 to 100, not 101"},
	{`"confidence_prior":{"M1_score":"80","source":"x","version":"1"}`, "type", "must be a number"},
	{`"confidence_prior":{"S1":80,"source":"x","version":"1"}`, "unknown_key", "S1_score"},
	{`"confidence_prior":{"S1_score":80,"source":" ","version":"1"}`, "confidence_prior", "source of confidence_prior"},
	{`"confidence_prior":{"S1_score":80,"source":"x","version":"1","metadata":{"n":1}}`, "type", "must be a text"},
}

func TestAgentFigureRefusals(t *testing.T) {
	for _, c := range agentRefusals {
		_, err := ParseRun([]byte(runText(`"agent":{`+c.members+`}`)), "run.json")
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || !slices.ContainsFunc(refused.Problems, func(p Problem) bool {
			return p.Rule == c.rule && p.Line > 0 && strings.Contains(p.String(), c.words)
		}) {
			t.Errorf("%s: %v", c.members, err)
		}
	}
}
