package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far an audit or a verification is: on standard error, where that is a terminal, and only when it
// takes longer than a second. A nil progress shows nothing.
type progress struct {
	w     io.Writer
	now   func() time.Time
	what  string // is done
	total int64  // -1: unknown
	begun time.Time
	done  int64
	bar   *progressbar.ProgressBar
}

// patience is how long it takes before a bar appears.
const patience = time.Second

func (a *app) newProgress(sources []source) *progress {
	if !isTerminal(a.stderr) {
		return nil
	}
	return newProgress(a.stderr, a.now, totalWeight(sources))
}

func newProgress(w io.Writer, now func() time.Time, total int64) *progress {
	return &progress{w: w, now: now, what: "auditing", total: total, begun: now()}
}

// newBar is the progress of something else than an audit, whose total is said later (set).
func (a *app) newBar(what string) *progress {
	if !isTerminal(a.stderr) {
		return nil
	}
	p := newProgress(a.stderr, a.now, -1)
	p.what = what
	return p
}

// setProgress moves the bar to a place.
func (p *progress) setProgress(done, total int) {
	if p != nil {
		p.total = int64(total)
		p.addProgress(int64(done) - p.done)
	}
}

// totalWeight is the sum that the units' weights will reach, or -1 if some source does not know.
func totalWeight(sources []source) int64 {
	var total int64
	for _, s := range sources {
		if s.size == 0 {
			return -1
		}
		total += s.size
	}
	return total
}

// addProgress moves the bar on; the first time after a second, it appears.
func (p *progress) addProgress(weight int64) {
	if p == nil {
		return
	}
	p.done += weight
	if p.bar == nil && p.now().Sub(p.begun) >= patience {
		p.bar = progressbar.NewOptions64(p.total, progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.what), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(p.total > 0))
	}
	if p.bar != nil {
		_ = p.bar.Set64(p.done) // a bar that cannot be drawn is no reason to stop
	}
}

// clearBar makes room for a line of the result or a message.
func (p *progress) clearBar() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}

// endBar takes the bar away.
func (p *progress) endBar() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}
