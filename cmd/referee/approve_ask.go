package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/defendableos/referee/gate/receipt"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/referee"
	"github.com/defendableos/referee/report"
)

// answerOpenQuestions has every open question answered: asked on a terminal, refused elsewhere. A rejection needs no
// answers.
func (o *approveOptions) answerOpenQuestions(a *app, w receipt.Work, l *receipt.Local) error {
	open, err := w.Open(l.Answers)
	if err != nil {
		return usagef("%w", err)
	}
	if len(open) == 0 || l.Reject != "" {
		return nil
	}
	if !isTerminal(a.stdin) || !isTerminal(a.stderr) {
		return refuseUnanswered(open)
	}
	ask := &asker{in: bufio.NewReader(a.stdin), out: a.stderr}
	answers, err := ask.askAll(open)
	if err != nil {
		return err
	}
	l.Answers = append(l.Answers, answers...)
	return ask.askSignature(fmt.Sprintf("Sign off %s as %s?", w.Run.ID, l.Name))
}

// refuseUnanswered refuses, and says how each question is answered.
func refuseUnanswered(open []referee.Question) error {
	f := rulesf("not signed off: the checklist is open, %s to be answered", countWord(len(open), "question"))
	for _, q := range open {
		f = f.withHint("--satisfied %s, or --flag %s=WHY: %s", q.ID, q.ID, orDash(q.Text))
	}
	return f
}

// asker asks a person.
type asker struct {
	in  *bufio.Reader
	out io.Writer
}

// errStopped ends the questions: nothing is minted.
var errStopped = &failure{code: exitRules,
	err: errors.New("not signed off: stopped before every question was answered")}

// askAll asks every question.
func (k *asker) askAll(open []referee.Question) ([]ledger.Answer, error) {
	fmt.Fprintf(k.out, "\n%s for a person. y: yes. n: no, and why. q: stop, nothing is signed.\n",
		countWord(len(open), "question"))
	var out []ledger.Answer
	for i, q := range open {
		p := &page{}
		p.line("")
		p.text(fmt.Sprintf("%d of %d  ", i+1, len(open)), orDash(q.Text))
		p.text("        ", q.Why)
		fmt.Fprint(k.out, p.b.String())
		a, err := k.askOne(q.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// askOne asks until it understands the answer.
func (k *asker) askOne(id string) (ledger.Answer, error) {
	for {
		word, err := k.readLine(report.Clean(id) + " [y/n/q] ")
		if err != nil {
			return ledger.Answer{}, err
		}
		switch strings.ToLower(word) {
		case "y", "yes":
			return ledger.Answer{ID: id, Answer: "satisfied"}, nil
		case "n", "no":
			why, err := k.askReason()
			return ledger.Answer{ID: id, Answer: "flag", Note: why}, err
		case "q", "quit":
			return ledger.Answer{}, errStopped
		}
	}
}

// askReason asks why until there is one.
func (k *asker) askReason() (string, error) {
	for {
		why, err := k.readLine("why: ")
		if err != nil || why != "" {
			return why, err
		}
	}
}

// askSignature asks for the signature itself.
func (k *asker) askSignature(question string) error {
	fmt.Fprintln(k.out)
	for {
		word, err := k.readLine(report.Clean(question) + " [y/n] ")
		if err != nil {
			return err
		}
		switch strings.ToLower(word) {
		case "y", "yes":
			return nil
		case "n", "no", "q", "quit":
			return errStopped
		}
	}
}

// readLine reads one line; the end of the input stops.
func (k *asker) readLine(prompt string) (string, error) {
	fmt.Fprint(k.out, prompt)
	text, err := k.in.ReadString('\n')
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		fmt.Fprintln(k.out)
		return "", errStopped
	}
	return oneLine(text), nil
}
