//go:build race

package document

func init() { underRace = true }
