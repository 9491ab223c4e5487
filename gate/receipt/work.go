package receipt

import (
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
)

// Judge audits a run folder for a decision. notices are what the reader of the report must be told, location is where
// the folder was found; all of its evidence is local, as nobody knows who added it (S66).
func Judge(folder *referee.RunFolder, sheet *referee.Sheet, location string, prior referee.PriorFunc) Work {
	return JudgePinned(folder, sheet, location, prior, nil)
}

// JudgePinned is Judge where a configuration may vouch for the agent's profile: pinned, unless it is nil, counts
// instead of what run.json says.
func JudgePinned(folder *referee.RunFolder, sheet *referee.Sheet, location string, prior referee.PriorFunc,
	pinned *referee.Agent) Work {
	c := folder.Case(sheet, pinned)
	c.Location, c.Prior = location, prior
	w := Work{Report: referee.Audit(c), Sheet: sheet, Run: folder.Run, Bytes: folder.Bytes, Prior: prior}
	w.Evidence = EvidenceOf(w.Report, func(string) (from, by string) { return "local", "" })
	return w
}

// Open lists the questions that a decision's answers leave open, in sheet order. The error says which answer is none:
// of no such question, given twice, or a flag without its reason.
func (w Work) Open(answers []ledger.Answer) ([]referee.Question, error) {
	signed, err := w.Report.Sign(w.Sheet, engineAnswers(answers))
	if err != nil {
		return nil, err
	}
	var out []referee.Question
	for _, id := range signed.Unanswered() {
		q := referee.Question{ID: id}
		for _, known := range w.Report.Checklist {
			if known.ID == id {
				q = known
			}
		}
		out = append(out, q)
	}
	return out, nil
}

// engineAnswers is what a person answered, in the engine's words.
func engineAnswers(answers []ledger.Answer) []referee.Answer {
	var out []referee.Answer
	for _, a := range answers {
		out = append(out, referee.Answer{ID: a.ID, Satisfied: a.Answer == "satisfied", Note: a.Note})
	}
	return out
}
