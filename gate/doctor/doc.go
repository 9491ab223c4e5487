// Package doctor judges a repository's settings: whether the gate runs, whether what it posts is required before a
// merge, and who can get round it. Diagnose is pure: Settings as the API gave them go in, one Diagnosis for each check
// of doctorChecks comes out, and what a token may not see is Unknown and never fine (TestDiagnoseNothing).
package doctor
