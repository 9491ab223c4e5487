package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/defendableos/referee/report"
)

// manyRecord is one line of `ledger verify A B --format json`: which ledger, and its result, or why it has none.
type manyRecord struct {
	Ledger string        `json:"ledger"`
	OK     bool          `json:"ok"`
	Result *verifyRecord `json:"result,omitempty"`
	Error  string        `json:"error,omitempty"`
}

// runMany verifies several ledgers, each by itself: a chain belongs to one repository, and an organisation has several.
// All are verified, whatever is wrong with the first; the exit code is the worst.
func (o *verifyOptions) runMany(a *app, repos []string) error {
	if err := o.checkMany(repos); err != nil {
		return err
	}
	var worst error
	failed := 0
	for i, repo := range repos {
		one := *o
		one.where.repo = repo
		if i > 0 && o.format == "table" {
			if err := a.print("\n"); err != nil {
				return err
			}
		}
		err := one.runOne(a, repo)
		if err == nil {
			continue
		}
		failed++
		if o.format == "table" && err.Error() != "" {
			if perr := a.print(report.Clean(repo) + ": " + report.Clean(err.Error()) + "\n"); perr != nil {
				return perr
			}
		}
		if worst == nil || isWorse(codeOf(err), codeOf(worst)) {
			worst = &failure{code: codeOf(err)}
		}
	}
	if o.format == "table" {
		sum := fmt.Sprintf("\n%s, %d of them not verified\n", countWord(len(repos), "ledger"), failed)
		if err := a.print(sum); err != nil {
			return err
		}
	}
	return worst
}

// checkMany refuses what speaks of one ledger: a pin or a copy of one says nothing of another.
func (o *verifyOptions) checkMany(repos []string) error {
	if o.pin != "" || o.against != "" || o.base != "" || o.online {
		return usagef("--pin, --against, --base and --online are about one ledger: name one REPO")
	}
	named := map[string]bool{}
	for _, repo := range repos {
		if named[repo] {
			return usagef("%s is named twice", repo)
		}
		named[repo] = true
	}
	return nil
}

// isWorse orders exit codes: a ledger that is wrong is worse news than one that could not be read.
func isWorse(a, b int) bool {
	rank := map[int]int{exitRules: 3, exitTool: 2, exitUsage: 1}
	return rank[a] > rank[b]
}

// runOne verifies one of several. As json it is a line, also where it could not be verified.
func (o *verifyOptions) runOne(a *app, repo string) error {
	if o.format != "json" {
		return o.run(a)
	}
	line := manyRecord{Ledger: repo}
	s, err := o.verify(a)
	if s != nil {
		defer s.closeCopies()
	}
	if err == nil {
		record := s.resultRecord()
		line.OK, line.Result = record.OK, &record
		err = s.outcomeError()
	} else {
		line.Error = err.Error()
	}
	text, marshalErr := json.Marshal(line)
	return errors.Join(err, marshalErr, a.print(string(text)+"\n"))
}
