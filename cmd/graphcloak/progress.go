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
	done, total int64  // total 0: unknown
	started     time.Time
	drawn       time.Time
	step        int         // the farthest, counted from 1; 0: the command has no steps
	shows       bool        // on a terminal
	tick        *time.Timer // draws the time on while nothing is reported
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
	{"sensitivity", []string{"eigenvalues", "spectrum", "local", "quadrature", "sensors", "norms", "uncertainty", "choose tau", "bound", "screen", "columns"}},
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

// Times of the progress line: between two drawings, and from when on it tells any.
const (
	drawEvery = 100 * time.Millisecond
	timeFrom  = time.Second
)

// progress reports how far a stage has come; total is 0 where it is unknown. A terminal
// shows one line for the whole command; elsewhere --verbose writes a line a step. The
// time of each stage is logged.
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
		p.step = max(step, stepOf(stage))
	}
	a.line = p
	if !p.shows && p.step > step && a.verbose() && !a.quiet() {
		fmt.Fprintf(a.stderr, "Step %d of %d: %s\n", p.step, len(runSteps), runSteps[p.step-1].name)
	}
	if p.shows {
		p.tick = time.AfterFunc(timeFrom, func() { a.drawOn(p) })
	}
	return p
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
	return a.tty.err && os.Getenv("TERM") != "dumb" && !a.quiet() && (a.config == nil || !a.config.Terminal.NoProgress)
}

// eraseLine goes back to the start of the line and empties it.
const eraseLine = "\r\x1b[K"

// draw needs a.talking. A terminal that cannot be written to is no reason to stop the work.
func (a *app) draw(p *progressLine) {
	width := screenWidth(a.stderr)
	if width == 0 {
		width = defaultWidth
	}
	_, _ = io.WriteString(a.stderr, eraseLine+p.text(time.Since(p.started), width-1, a.ascii))
	p.drawn = time.Now()
}

// text is the line after some time, cut to a width: a line that wraps could not be erased.
func (p *progressLine) text(elapsed time.Duration, width int, ascii bool) string {
	text := stripControl(p.stage)
	if p.step > 0 {
		text = fmt.Sprintf("[%d/%d] %s", p.step, len(runSteps), runSteps[p.step-1].name)
		if name := runSteps[p.step-1].name; stripControl(p.stage) != name {
			text += ": " + stripControl(p.stage)
		}
	}
	if p.total > 0 {
		share := min(max(float64(p.done)/float64(p.total), 0), 1)
		text += fmt.Sprintf("  %s %2.0f %%", drawBar(share, barWidth, ascii), 100*share)
	} else if p.done > 0 {
		text += fmt.Sprintf("  %d", p.done)
	}
	if elapsed >= timeFrom {
		text += "  " + elapsed.Truncate(time.Second).String()
		if left, ok := p.left(elapsed); ok {
			text += ", about " + left.String() + " left"
			if p.step > 0 { // the step may have other parts, and the command other steps
				text += " of this part"
			}
		}
	}
	return fitted(text, width)
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
	a.log.Info("stage", "phase", a.line.stage, "duration", time.Since(a.line.started))
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
	if a.line != nil && a.line.shows && !a.line.drawn.IsZero() {
		_, _ = io.WriteString(a.stderr, eraseLine)
	}
}
