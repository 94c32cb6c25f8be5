// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar is the progress bar of the stage that runs.
type bar struct {
	stage   string
	total   int64
	started time.Time
	drawn   *progressbar.ProgressBar // nil where nothing is drawn
}

// progress reports how far a stage has come; total is 0 where it is unknown. It
// draws on a terminal only, and logs the time of each stage.
func (a *app) progress(stage string, done, total int64) {
	a.talking.Lock()
	defer a.talking.Unlock()
	if a.bar == nil || a.bar.stage != stage {
		a.stop()
		a.bar = &bar{stage: stage, total: total, started: time.Now(), drawn: a.newBar(stage, total)}
	}
	drawn := a.bar.drawn
	if drawn == nil {
		return
	}
	if total > 0 && total != a.bar.total {
		a.bar.total = total
		drawn.ChangeMax64(total)
	}
	// A terminal that cannot be written to is no reason to stop the work.
	_ = drawn.Set64(done)
}

func (a *app) newBar(stage string, total int64) *progressbar.ProgressBar {
	if !a.tty.err || os.Getenv("TERM") == "dumb" || a.quiet() || a.config != nil && a.config.Terminal.NoProgress {
		return nil
	}
	if total <= 0 {
		total = -1
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetDescription(stage),
		progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(total > 0),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine draws on after the end
	)
}

// stopProgress ends the stage that runs.
func (a *app) stopProgress() {
	a.talking.Lock()
	defer a.talking.Unlock()
	a.stop()
}

// stop needs a.talking.
func (a *app) stop() {
	if a.bar == nil {
		return
	}
	a.clear()
	a.log.Info("stage", "phase", a.bar.stage, "duration", time.Since(a.bar.started))
	a.bar = nil
}

// clearProgress makes room for a line; the bar comes back with the next report.
func (a *app) clearProgress() {
	a.talking.Lock()
	defer a.talking.Unlock()
	a.clear()
}

// clear needs a.talking.
func (a *app) clear() {
	if a.bar != nil && a.bar.drawn != nil {
		_ = a.bar.drawn.Clear()
	}
}
