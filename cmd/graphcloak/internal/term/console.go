// SPDX-License-Identifier: Apache-2.0

package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Console is standard error: messages, and below them one line that shows how far a command has come.
type Console struct {
	Writer   io.Writer
	Terminal bool         // it is one
	Shows    bool         // progress is drawn; else the log takes it every second
	Log      *slog.Logger // takes the time of each stage

	mu    sync.Mutex
	line  *stage
	drawn atomic.Bool // the line is on the screen
}

// stage is what a command is at.
type stage struct {
	name        string
	done, total int64 // total 0: unknown
	started     time.Time
	last        time.Time // when it was drawn
	tick        *time.Timer
}

// Times of the progress line: between two drawings, and from when on it shows any.
const (
	drawEvery = 100 * time.Millisecond
	timeFrom  = time.Second
	eraseLine = "\r\x1b[K" // goes back to the start of the line and empties it
)

// Say prints a message. On a terminal what follows its first line stands deeper; elsewhere it is one line, for what reads a
// pipe takes a line for a message.
func (c *Console) Say(mark string, p Paint, text string, coloured bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	text = c.laidOut(strings.TrimLeft(mark+" ", " ") + text)
	if rest, ok := strings.CutPrefix(text, mark); ok {
		text = p.on(mark, coloured) + rest
	}
	fmt.Fprintln(c.Writer, text)
}

// Ask prints a question, in the place of the progress.
func (c *Console) Ask(question string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	fmt.Fprint(c.Writer, c.laidOut(question)+" ")
}

func (c *Console) laidOut(text string) string {
	text = strings.TrimRight(Visible(text), " ")
	if !c.Terminal {
		return text
	}
	body := strings.TrimLeft(text, " ")
	indent := strings.Repeat(" ", len(text)-len(body))
	width := min(max(c.width(), LeastWidth), ProseWidth)
	return strings.Join(hanging(indent, indent+"  ", body, width), "\n")
}

func (c *Console) width() int {
	if width := Width(c.Writer); width > 0 {
		return width
	}
	return DefaultWidth
}

// LogWriter takes lines of a log, each in the place of the progress that is shown. It takes no lock: the log is written to
// by who holds it too.
func (c *Console) LogWriter() io.Writer { return belowProgress{c} }

type belowProgress struct{ c *Console }

func (w belowProgress) Write(line []byte) (int, error) {
	text := line
	if w.c.drawn.Swap(false) {
		text = append([]byte(eraseLine), line...)
	}
	if _, err := w.c.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(line), nil
}

// Progress reports how far a stage has come; total is 0 where it is unknown.
func (c *Console) Progress(name string, done, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == nil || c.line.name != name {
		s := &stage{name: name, started: time.Now()}
		c.stop()
		if c.line = s; c.Shows || c.Log.Enabled(context.Background(), slog.LevelInfo) {
			s.tick = time.AfterFunc(timeFrom, func() { c.drawOn(s) })
		}
	}
	c.line.done, c.line.total = done, total
	if c.Shows && time.Since(c.line.last) >= drawEvery {
		c.draw()
	}
}

// Stop ends the stage that runs.
func (c *Console) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
}

// Clear makes room on the screen; the progress comes back with the next report.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

// The rest needs c.mu.

// drawOn draws again and again until the stage ends. It takes the lock.
func (c *Console) drawOn(s *stage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == s {
		c.draw()
		s.tick.Reset(timeFrom)
	}
}

// draw ignores a terminal that cannot be written to: it is no reason to stop the work. Where nothing is drawn the log takes
// the line, so that who reads a pipe knows how far a long stage has come.
func (c *Console) draw() {
	c.line.last = time.Now()
	if !c.Shows {
		c.Log.Info("progress", "text", c.line.text(c.line.last, DefaultWidth-1))
		return
	}
	c.drawn.Store(true)
	_, _ = io.WriteString(c.Writer, eraseLine+c.line.text(c.line.last, c.width()-1))
}

func (c *Console) clear() {
	if c.drawn.Swap(false) {
		_, _ = io.WriteString(c.Writer, eraseLine)
	}
}

func (c *Console) stop() {
	if c.line == nil {
		return
	}
	c.clear()
	if c.line.tick != nil {
		c.line.tick.Stop()
	}
	c.Log.Info("stage", "phase", c.line.name, "duration", time.Since(c.line.started))
	c.line = nil
}

// text is the line at some time, cut to a width: a line that wraps could not be erased.
func (s *stage) text(now time.Time, width int) string {
	text := Visible(s.name)
	share := min(max(float64(s.done)/float64(max(s.total, 1)), 0), 1)
	switch {
	case s.total > 0:
		text += fmt.Sprintf("  %s %2.0f %%", bar(share, barWidth), 100*share)
	case s.done > 0:
		text += fmt.Sprintf("  %d", s.done)
	}
	if elapsed := now.Sub(s.started); elapsed >= timeFrom {
		text += "  " + elapsed.Truncate(time.Second).String()
		if s.total > 0 && share >= 0.03 && share < 1 { // the first few hundredths say too little
			left := time.Duration(float64(elapsed) * (1 - share) / share)
			text += ", about " + max(left.Round(time.Second), time.Second).String() + " left"
		}
	}
	return fitted(text, width)
}

// fitted keeps what fits into a width.
func fitted(text string, width int) string {
	used, end, state := 0, 0, -1
	for rest := text; rest != ""; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += w; used > width {
			break
		}
		end += len(cluster)
	}
	return text[:end]
}

// Password asks for a password, which the terminal does not show. Ctrl-C leaves the terminal as it was.
func (c *Console) Password(ctx context.Context, in io.Reader, question string) (string, error) {
	terminal, ok := in.(*os.File)
	if !ok {
		return "", errors.New("read the password: no terminal")
	}
	fd := int(terminal.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	c.Ask(question)
	defer fmt.Fprintln(c.Writer)
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // ends with the process if the context does first: a read of a terminal cannot be stopped
		text, err := term.ReadPassword(fd)
		answers <- answer{text, err}
	}()
	select {
	case got := <-answers:
		return string(got.text), got.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, state))
	}
}
