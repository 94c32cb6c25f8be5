// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

// progressLine is what a whole command shows of itself: the step it is at, how far that
// has come, and how long it may still take.
type progressLine struct {
	stage       string // as it is reported
	part        string // which of several things of a kind the command is at; "": there is one
	done, total int64  // total 0: unknown
	started     time.Time
	whole       *wholeTime // of the command; nil: only the stage's time is told
	drawn       time.Time
	step        int         // the farthest, counted from 1; 0: the command has no steps
	shows       bool        // on a terminal
	tick        *time.Timer // draws the time on while nothing is reported; nil: nobody is told
}

// wholeTime is when a command began, and how long it may take from then on, at least and at
// most; 0: nobody knows.
type wholeTime struct {
	began       time.Time
	least, most time.Duration
}

// tellsFrom is the length of a command from which it tells how long it may take.
const tellsFrom = 5 * time.Second

// spanOf is the time of a whole command in words; "" where what was expected is over, or not
// worth a word.
func spanOf(elapsed, least, most time.Duration) string {
	if most < tellsFrom || elapsed >= most {
		return ""
	}
	low, high := roughTime(max(least, elapsed)), roughTime(most)
	switch {
	case low == high:
		return " of about " + high
	case most > 5*max(least, elapsed): // the least says nothing
		return " of at most about " + high
	}
	return " of about " + low + " to " + high
}

// roughTime is a time as it is estimated: to seconds, to ten seconds, or to minutes.
func roughTime(d time.Duration) string {
	unit := time.Minute
	switch {
	case d < time.Minute:
		unit = time.Second
	case d < 10*time.Minute:
		unit = 10 * time.Second
	}
	text := max(d.Round(unit), time.Second).String()
	for _, nothing := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, nothing) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// expectTime tells the progress line how long the rest of a command may take.
func (a *app) expectTime(least, most time.Duration) {
	a.talking.Lock()
	defer a.talking.Unlock()
	past := time.Since(a.whole.began)
	a.whole.least, a.whole.most = past+least, past+most
}

// runStep is a part of a run, and how the stages in it begin.
type runStep struct {
	name   string
	stages []string
}

// runSteps are the steps of a whole run.
var runSteps = []runStep{
	{"read the graph", []string{"nodes", "relationships", "properties"}},
	{"communities", []string{"communities"}},
	{"sensitivity", []string{
		"eigenvalues", "spectrum", "local", "quadrature", "sensors", "norms", "uncertainty", "choose tau", "bound",
		"screen", "columns",
	}},
	{"noise", []string{"allocate"}},
	{"simulate", []string{"simulate"}},
	{"release", []string{"release"}},
	{"recover", []string{"recover", "sample sources"}},
	{"write", []string{"write"}},
}

// stepOf returns the number of the step that a stage belongs to, 0 where it is none.
func stepOf(stage string) int {
	return 1 + slices.IndexFunc(runSteps, func(s runStep) bool {
		return slices.ContainsFunc(s.stages, func(start string) bool { return strings.HasPrefix(stage, start) })
	})
}

// Times of the progress line: between two drawings, from when on it tells any, and between two
// lines where there is no terminal.
const (
	drawEvery = 100 * time.Millisecond
	timeFrom  = time.Second
	lineEvery = 30 * time.Second
)

// progress reports how far a stage has come; total is 0 where it is unknown. A terminal
// shows one line for the whole command; elsewhere one is written each half minute that the command takes, and
// --verbose logs each stage with its time.
func (a *app) progress(stage string, done, total int64) {
	a.talking.Lock()
	defer a.talking.Unlock()
	p := a.line
	if p == nil || p.stage != stage {
		p = a.newStage(stage)
	}
	p.done, p.total = done, total
	if p.shows && time.Since(p.drawn) >= drawEvery {
		a.draw(p)
	}
}

// newStage needs a.talking. A step is never counted back: a later one may read again.
func (a *app) newStage(stage string) *progressLine {
	step := 0
	if a.line != nil {
		step = a.line.step
	}
	a.stop()
	p := &progressLine{stage: stage, started: time.Now(), shows: a.showsProgress()}
	if slices.Contains([]string{"run", "demo"}, a.command) {
		p.step, p.whole = max(step, stepOf(stage)), &a.whole
	}
	a.line = p
	p.part = a.part
	switch {
	case p.shows:
		p.tick = time.AfterFunc(timeFrom, func() { a.drawOn(p) })
	case a.writesProgress():
		p.tick = time.AfterFunc(time.Until(a.toldProgress().Add(lineEvery)), func() { a.writeOn(p, lineEvery) })
	}
	return p
}

// toldProgress is when the last line of progress was written, or the command began. It needs a.talking.
func (a *app) toldProgress() time.Time {
	if a.told.IsZero() {
		return a.whole.began
	}
	return a.told
}

// writesProgress reports whether long work writes lines of how far it has come: where no terminal shows it, of
// a command that somebody waits for.
func (a *app) writesProgress() bool {
	return !a.showsProgress() && !a.quiet() && a.config != nil && a.command != "serve"
}

// writeOn writes a line, and again and again until the stage ends.
func (a *app) writeOn(p *progressLine, every time.Duration) {
	a.talking.Lock()
	defer a.talking.Unlock()
	if a.line != p {
		return
	}
	a.told = time.Now()
	fmt.Fprintln(a.stderr, "Progress: "+p.written(a.told))
	p.tick.Reset(every)
}

// partOf says which of several things of a kind the command is at, from the next stage on.
func (a *app) partOf(k, n int, kind, name string) {
	a.stopProgress()
	a.talking.Lock()
	defer a.talking.Unlock()
	a.part = fmt.Sprintf("%s %d of %d, %s", kind, k, n, name)
}

// drawOn draws again and again until the stage ends.
func (a *app) drawOn(p *progressLine) {
	a.talking.Lock()
	defer a.talking.Unlock()
	if a.line == p {
		a.draw(p)
		p.tick.Reset(timeFrom)
	}
}

func (a *app) showsProgress() bool {
	return a.tty.err && os.Getenv("TERM") != "dumb" && !a.quiet()
}

// eraseLine goes back to the start of the line and empties it.
const eraseLine = "\r\x1b[K"

// draw needs a.talking. A terminal that cannot be written to is no reason to stop the work.
func (a *app) draw(p *progressLine) {
	width := screenWidth(a.stderr)
	if width == 0 {
		width = defaultWidth
	}
	a.drawn.Store(true)
	_, _ = io.WriteString(a.stderr, eraseLine+p.text(time.Now(), width-1, a.ascii))
	p.drawn = time.Now()
}

// text is the line at some time, cut to a width: a line that wraps could not be erased.
func (p *progressLine) text(now time.Time, width int, ascii bool) string {
	text := p.what()
	if p.total > 0 {
		text += "  " + drawBar(p.share(), barWidth, ascii)
	}
	return fitted(text+p.percent()+p.time(now), width)
}

// written is the line as it stands in a log.
func (p *progressLine) written(now time.Time) string { return p.what() + p.percent() + p.time(now) }

// what the command is at.
func (p *progressLine) what() string {
	text := visible(p.stage)
	if p.step > 0 {
		text = fmt.Sprintf("[%d/%d] %s", p.step, len(runSteps), runSteps[p.step-1].name)
		if name := runSteps[p.step-1].name; visible(p.stage) != name {
			text += ": " + visible(p.stage)
		}
	}
	if p.part != "" {
		text = visible(p.part) + ": " + text
	}
	return text
}

func (p *progressLine) share() float64 { return min(max(float64(p.done)/float64(p.total), 0), 1) }

// percent is how far the stage has come, in percent where its end is known.
func (p *progressLine) percent() string {
	switch {
	case p.total > 0:
		return fmt.Sprintf(" %2.0f %%", 100*p.share())
	case p.done > 0:
		return fmt.Sprintf("  %d", p.done)
	}
	return ""
}

// time says how long the command has taken, or the stage of one without steps, and how long
// it may take: as a whole where that is known, else this stage.
func (p *progressLine) time(now time.Time) string {
	inStage := now.Sub(p.started)
	elapsed, span := inStage, ""
	if p.whole != nil {
		elapsed = now.Sub(p.whole.began)
		span = spanOf(elapsed, p.whole.least, p.whole.most)
	}
	if elapsed < timeFrom {
		return ""
	}
	text := "  " + elapsed.Truncate(time.Second).String()
	left, ok := p.left(inStage)
	switch {
	case span != "":
		text += span
	case ok && inStage >= timeFrom:
		text += ", about " + left.String() + " left"
		if p.step > 0 || p.part != "" { // the step may have other parts, and the command other steps
			text += " here"
		}
	}
	return text
}

// left is the time that the stage still takes, if it goes on as it did. The first few
// hundredths say too little.
func (p *progressLine) left(elapsed time.Duration) (time.Duration, bool) {
	if p.total <= 0 || p.done >= p.total || float64(p.done) < 0.03*float64(p.total) {
		return 0, false
	}
	left := time.Duration(float64(elapsed) * float64(p.total-p.done) / float64(p.done))
	return max(left.Round(time.Second), time.Second), true
}

// fitted keeps what fits into a width.
func fitted(text string, width int) string {
	var b strings.Builder
	used, state := 0, -1
	for text != "" {
		var cluster string
		var w int
		cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		if used += w; used > width {
			break
		}
		b.WriteString(cluster)
	}
	return b.String()
}

// stopProgress ends the stage that runs.
func (a *app) stopProgress() {
	a.talking.Lock()
	defer a.talking.Unlock()
	a.stop()
}

// stop needs a.talking.
func (a *app) stop() {
	if a.line == nil {
		return
	}
	a.clear()
	if a.line.tick != nil {
		a.line.tick.Stop()
	}
	if !a.line.shows {
		a.log.Info("stage", "phase", a.line.stage, "duration", time.Since(a.line.started))
	}
	a.line = nil
}

// clearProgress makes room for a line; the progress comes back with the next report.
func (a *app) clearProgress() {
	a.talking.Lock()
	defer a.talking.Unlock()
	a.clear()
}

// clear needs a.talking.
func (a *app) clear() {
	if a.drawn.Swap(false) {
		_, _ = io.WriteString(a.stderr, eraseLine)
	}
}

// belowProgress writes lines of the log, each in the place of the progress that is shown.
// It takes no lock: the log is written to by who holds a.talking too.
type belowProgress struct{ a *app }

func (w belowProgress) Write(line []byte) (int, error) {
	if w.a.drawn.Swap(false) {
		line = append([]byte(eraseLine), line...)
	}
	if _, err := w.a.stderr.Write(line); err != nil {
		return 0, err
	}
	return len(line), nil
}
