package forge

// unnoticed are the changed gates that no example or trip of their sheet notices since the inputs of the library are held (S70–S73), by sheet. Each
// wants a trip, or a reason in the sheet; one that is noticed again fails the test until it is taken out of this list.
var unnoticed = map[string][]string{
	"comp-control-evidence": {
		`cover: subset became equal`,
		`scope_recount: equal became subset`,
	},
	"comp-privacy-clocks": {
		`ropa_cover: union became intersect`,
	},
	"compute-gpu-health": {
		`xid_clear: union became intersect`,
	},
	"compute-hpl": {
		`residual_pass: threshold <= HPL_THRESHOLD was left out`,
		`residual_pass: < became <= in max(to_number(extract(evidence("out", "line=0,"), r"\)=[ \t]*(\d+\.\d+)[ \t]*\.+[ \t]*(?:PASSED|FAILED)"))) < threshold`,
		`residual_pass: threshold became 15`,
		`residual_pass: HPL_THRESHOLD became 17`,
	},
	"compute-mlperf-style": {
		`min_duration: min_duration_s >= MIN_DURATION was left out`,
		`min_duration: min_duration_s became 601`,
		`min_duration: MIN_DURATION became 599`,
	},
	"data-label-agreement": {
		`kappa_gate: only MIN_KAPPA is left of MIN_KAPPA_SAFETY if safety_critical else MIN_KAPPA`,
		`kappa_gate: MIN_KAPPA_SAFETY became 0.808`,
		`kappa_gate: MIN_KAPPA_SAFETY became 0.792`,
	},
	"data-train-test-leakage": {
		`temporal_order: the condition temporal was left out`,
	},
	"doc-plain-language": {
		`fk_gate: the condition consumer_facing was left out`,
	},
	"extract-lease-abstract": {
		`fields_cover: subset became equal`,
	},
	"genai-benchmark-report": {
		`ci_claim: <= became < in abs(ci95 - claimed_ci) <= 0.002`,
	},
	"genai-safety-redteam": {
		`coverage: subset became equal`,
	},
	"lend-atr-qm": {
		`hoepa_rate: HOEPA_SUBORDINATE became 0.08585`,
		`hoepa_rate: HOEPA_SUBORDINATE became 0.08415`,
		`status_label: HPML_SUBORDINATE became 0.03535`,
		`status_label: HPML_SUBORDINATE became 0.03465`,
	},
	"repair-fha-203k": {
		`period: STANDARD_MONTHS became 13`,
		`period: STANDARD_MONTHS became 11`,
	},
}
