// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestProgressText(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	began := start.Add(-10 * time.Minute)
	hour := &wholeTime{began, 40 * time.Minute, time.Hour}
	late := &wholeTime{began, time.Minute, 5 * time.Minute} // what was expected is over
	for _, c := range []struct {
		line    progressLine
		elapsed time.Duration
		width   int
		want    string
	}{
		{progressLine{stage: "local"}, 0, 79, "local"},
		{
			progressLine{stage: "local", step: 3, done: 1, total: 4},
			30 * time.Second, 79,
			"[3/8] sensitivity: local  ██▌        25 %  30s, about 1m30s left here",
		},
		{progressLine{stage: "local", done: 1, total: 4}, 30 * time.Second, 79, "local  ██▌        25 %  30s, about 1m30s left"},
		{
			progressLine{stage: "communities", step: 2, done: 1, total: 1000},
			30 * time.Second, 79,
			"[2/8] communities  ▏           0 %  30s",
		},
		{progressLine{stage: "nodes", step: 1, done: 20000}, time.Second, 79, "[1/8] read the graph: nodes  20000  1s"},
		{progressLine{stage: "write", step: 8, done: 9, total: 9}, 2 * time.Second, 79, "[8/8] write  ██████████ 100 %  2s"},
		{
			progressLine{stage: "local", step: 3, whole: hour, done: 1, total: 4},
			30 * time.Second, 79,
			"[3/8] sensitivity: local  ██▌        25 %  10m30s of about 40m to 1h",
		},
		{
			progressLine{stage: "local", step: 3, whole: late, done: 1, total: 4},
			30 * time.Second, 79,
			"[3/8] sensitivity: local  ██▌        25 %  10m30s, about 1m30s left here",
		},
		{progressLine{stage: "local", step: 3, whole: late}, 0, 79, "[3/8] sensitivity: local  10m0s"},
		{progressLine{stage: "\x1b[2J生命の村"}, 0, 8, "[2J生命"},
	} {
		c.line.started = start
		if got := c.line.text(start.Add(c.elapsed), c.width, false); got != c.want {
			t.Errorf("%+v: %q, want %q", c.line, got, c.want)
		}
	}
}

// Off a terminal short work shows nothing unless that is wanted. A step is not counted back.
func TestProgressOffATerminal(t *testing.T) {
	a, _, stderr := kit(t)
	a.command = "run"
	step := 0
	for _, stage := range []string{"nodes", "relationships", "eigenvalues", "local", "relationships", "recover: products for norms"} {
		a.progress(stage, 1, 2)
		a.progress(stage, 2, 2)
		if a.line.step < step {
			t.Errorf("step %d comes after %d", a.line.step, step)
		}
		step = a.line.step
	}
	a.stopProgress()
	if stderr.Len() > 0 || step != 7 {
		t.Errorf("%q; the last step is %d, want 7", stderr, step)
	}
}

// Off a terminal, long work says each half minute where it is; not where that is not wanted, nor in the log of a
// server.
func TestProgressLines(t *testing.T) {
	a, _, stderr := kit(t)
	a.whole.began = time.Now().Add(-time.Hour)
	a.partOf(2, 12, "scenario", "tau-half")
	a.progress("evaluate", 1, 4)
	for range 30_000 { // the line is written by another goroutine
		if a.talking.Lock(); stderr.Len() > 0 {
			a.talking.Unlock()
			break
		}
		a.talking.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	a.stopProgress()
	if next := time.Until(a.toldProgress().Add(lineEvery)); next < lineEvery/2 {
		t.Errorf("the next line would come in %v", next)
	}
	if want := "Progress: scenario 2 of 12, tau-half: evaluate 25 %\n"; stderr.String() != want {
		t.Errorf("%q, want %q", stderr, want)
	}
	for _, args := range [][]string{{"--quiet"}, nil} {
		a, _, _ := kit(t, args...)
		if args == nil {
			a.command = "serve"
		}
		if a.progress("evaluate", 1, 4); a.line.tick != nil {
			t.Errorf("%q, %q: lines would come", args, a.command)
		}
	}
}

// Every step has a stage of its own.
func TestStepOf(t *testing.T) {
	for i, step := range runSteps {
		for _, stage := range step.stages {
			if got := stepOf(stage + " further"); got != i+1 {
				t.Errorf("%q is of step %d, want %d", stage, got, i+1)
			}
		}
	}
	if got := stepOf("anything"); got != 0 {
		t.Errorf("an unknown stage is of step %d", got)
	}
}

func TestSpanOf(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, c := range []struct {
		elapsed, least, most time.Duration
		want                 string
	}{
		{s, s, 4 * s, ""},
		{s, 0, 0, ""},
		{9 * s, 3 * s, 9 * s, ""},
		{s, 2500 * time.Millisecond, 12 * s, " of about 3s to 12s"},
		{8 * s, 3 * s, 12 * s, " of about 8s to 12s"},
		{m, 72 * s, 4*m + 3*s, " of about 1m10s to 4m"},
		{m, 20 * m, 20 * m, " of about 20m"},
		{s, 10 * s, 140 * s, " of at most about 2m20s"},
	} {
		if got := spanOf(c.elapsed, c.least, c.most); got != c.want {
			t.Errorf("%v of %v to %v: %q, want %q", c.elapsed, c.least, c.most, got, c.want)
		}
	}
}
