# What bench/sheets/bench-deal.json says, in Rego: the shape, three recomputed calculations, six gates. Rego has floats and no power
# operator: (1 + rate/12)^360 is written as repeated squaring, which a rulebook's author would have to do for every exponent.
package main

import rego.v1

required := {"assignment_id", "agent_summary", "inputs", "claims", "calculations", "risks", "final_output"}

required_inputs := {"loan", "rate", "amort_months", "value", "noi", "units", "occupancy"}

required_calculation := {"name", "formula", "inputs", "result", "units"}

deny contains msg if {
	some key in required
	not has(input, key)
	msg := sprintf("%s is missing", [key])
}

deny contains msg if {
	some key in required_inputs
	not number_at(input.inputs, key)
	msg := sprintf("inputs.%s is missing or no number", [key])
}

deny contains msg if {
	some i, claim in input.claims
	some key in {"claim", "evidence_reference"}
	not text_at(claim, key)
	msg := sprintf("claims[%d].%s is missing or no text", [i, key])
}

deny contains msg if {
	some i, calculation in input.calculations
	some key in required_calculation
	not has(calculation, key)
	msg := sprintf("calculations[%d].%s is missing", [i, key])
}

deny contains "fewer than three calculations" if count(input.calculations) < 3

deny contains "a risk is no text" if {
	some risk in input.risks
	not is_string(risk)
}

deny contains "final_output must begin with PASS, FAIL or REVIEW" if not outcome_stated

has(object, key) if _ = object[key]

number_at(object, key) if is_number(object[key])

text_at(object, key) if is_string(object[key])

outcome_stated if regex.match(`^(PASS|FAIL|REVIEW)`, input.final_output)

# x^360 by squaring: 360 is 101101000 in binary.
square(x) := x * x

power360(x) := square(square(square(square(square(square(square(square(x)) * x) * x)) * x)))

ads := value if {
	monthly := input.inputs.rate / 12
	growth := power360(1 + monthly)
	value := (12 * input.inputs.loan * monthly) / (1 - (1 / growth))
}

dscr := input.inputs.noi / ads

ltv := input.inputs.loan / input.inputs.value

recomputed := {"annual_debt_service": ads, "dscr": dscr, "ltv": ltv}

deny contains msg if {
	some calculation in input.calculations
	want := recomputed[calculation.name]
	abs(calculation.result - want) > 0.01 * abs(want)
	msg := sprintf("%s claims %v; recomputed %v", [calculation.name, calculation.result, want])
}

deny contains msg if {
	some name, _ in recomputed
	not name in {calculation.name | some calculation in input.calculations}
	msg := sprintf("calculation %s is missing", [name])
}

# Each gate is a rule of its own: "not dscr >= 1.25" is no violation where dscr is undefined, so that a deal without income would pass.
deny contains "dscr_gate" if not covers

covers if dscr >= 1.25

deny contains "ltv_gate" if not lent_with_care

lent_with_care if ltv <= 0.80

deny contains "occupancy_floor" if not occupied

occupied if input.inputs.occupancy >= 0.90

deny contains "rate_sane" if not rate_sane

rate_sane if {
	input.inputs.rate >= 0.02
	input.inputs.rate <= 0.12
}

deny contains "loan_per_unit" if not loan_per_unit_fits

loan_per_unit_fits if input.inputs.loan / input.inputs.units <= 250000

deny contains "claims_cited" if {
	some claim in input.claims
	not cited(claim)
}

cited(claim) if trim_space(claim.evidence_reference) != ""
