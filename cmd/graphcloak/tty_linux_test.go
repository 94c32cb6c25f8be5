// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/graphcloak/graphcloak/privacy"
)

// screen is the far side of a terminal: what a user sees and types.
type screen struct {
	terminal *os.File // what the command holds
	keyboard *os.File
	mu       sync.Mutex
	seen     bytes.Buffer
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("no terminal to test with: %v; mount devpts", err)
	}
	var number int
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if number, err = unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	s := &screen{terminal: slave, keyboard: master}
	t.Cleanup(func() { slave.Close(); master.Close() })
	go func() { // ends when the terminal is closed
		chunk := make([]byte, 4096)
		for {
			n, err := master.Read(chunk)
			s.mu.Lock()
			s.seen.Write(chunk[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// wait returns once the screen shows a text.
func (s *screen) wait(t *testing.T, text string) {
	t.Helper()
	for range 30_000 {
		if strings.Contains(s.text(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the screen shows %q, not %q", s.text(), text)
}

// onScreen gives an app a terminal.
func onScreen(t *testing.T, args ...string) (*app, *screen) {
	t.Helper()
	t.Setenv("TERM", "xterm")
	t.Setenv("NEO4J_PASSWORD", "")
	a, _, _ := kit(t, args...)
	s := newScreen(t)
	a.stdin, a.stderr = s.terminal, s.terminal
	a.tty.in, a.tty.err = isTerminal(s.terminal), isTerminal(s.terminal)
	if !a.tty.in {
		t.Fatal("a terminal is not seen as one")
	}
	return a, s
}

func TestPromptDoesNotEcho(t *testing.T) {
	a, s := onScreen(t, "-u", "me")
	type answer struct {
		password string
		err      error
	}
	answers := make(chan answer)
	a.progress("relationships", 1, 0) // would draw its time over the question
	go func() {
		_, password, err := a.credentials(t.Context())
		answers <- answer{password, err}
	}()
	s.wait(t, "Password of me at neo4j://localhost:7687: ")
	a.talking.Lock()
	if a.line != nil {
		t.Errorf("%q goes on while a question is asked", a.line.stage)
	}
	a.talking.Unlock()
	if _, err := s.keyboard.WriteString("hunter2\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.password != "hunter2" || got.err != nil {
		t.Errorf("credentials give %q, %v", got.password, got.err)
	}
	if strings.Contains(s.text(), "hunter2") {
		t.Errorf("the screen shows %q", s.text())
	}
}

func TestPromptEndsWithTheContext(t *testing.T) {
	a, s := onScreen(t, "-u", "me")
	before, err := term.GetState(int(s.terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, _, err := a.credentials(ctx)
		failed <- err
	}()
	s.wait(t, "Password")
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("credentials end with %v", err)
	}
	after, err := term.GetState(int(s.terminal.Fd()))
	if err != nil || *after != *before {
		t.Errorf("the terminal is not as it was (%v)", err)
	}
}

func TestProgressIsDrawnOnATerminalOnly(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		term  string
		drawn bool
	}{
		{"terminal", nil, "xterm", true},
		{"quiet", []string{"--quiet"}, "xterm", false},
		{"dumb", nil, "dumb", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, s := onScreen(t, c.args...)
			t.Setenv("TERM", c.term)
			for done := range int64(3) {
				a.progress("diffuse", done, 2)
				time.Sleep(110 * time.Millisecond) // longer than the bar's throttle
			}
			a.progress("solve", 7, 0)
			a.stopProgress()
			if c.drawn {
				s.wait(t, "diffuse")
			} else if s.text() != "" {
				t.Errorf("the screen shows %q", s.text())
			}
			time.Sleep(100 * time.Millisecond) // what was drawn arrives
			end := s.text()
			time.Sleep(250 * time.Millisecond)
			if now := s.text(); now != end {
				t.Errorf("after the end there appears %q", strings.TrimPrefix(now, end))
			}
		})
	}
	a, _, stderr := kit(t)
	a.progress("diffuse", 1, 2)
	a.stopProgress()
	if stderr.Len() > 0 {
		t.Errorf("off a terminal: %q", stderr)
	}
}

// TestLogTakesTheProgressAway: a line of the log stands by itself, whatever its form.
func TestLogTakesTheProgressAway(t *testing.T) {
	for _, form := range []struct {
		text   bool
		begins string
	}{{true, "time="}, {false, `{"time":`}} {
		a, s := onScreen(t)
		a.tty.err = form.text
		a.log = slog.New(a.logHandler())
		a.tty.err = true
		a.progress("diffuse", 1, 2)
		time.Sleep(2 * drawEvery)
		a.progress("diffuse", 1, 2)
		a.log.Warn("lost")
		a.log.Warn("again")
		s.wait(t, "again")
		_, after, _ := strings.Cut(s.text(), "diffuse")
		lines := strings.SplitAfter(after, "\n")
		if !strings.Contains(lines[0], eraseLine+form.begins) || !strings.HasPrefix(lines[1], form.begins) {
			t.Errorf("the screen shows %q", after)
		}
		a.stopProgress()
	}
}

// TestNewScopesAreAskedAbout: budget set makes a scope that the ledger does not know
// only where somebody says so.
func TestNewScopesAreAskedAbout(t *testing.T) {
	var l privacy.MemoryLedger
	limit := privacy.Budget{Epsilon: 1, Delta: 0.1}
	if _, err := privacy.SetCap(t.Context(), &l, "property=risk", limit); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer, question string
		made             bool
	}{
		{"\n", `Scope "property=risc" is new; did you mean "property=risk"? Create it? [y/N]`, false},
		{"no\n", `[y/N]`, false},
		{"Yes\n", `[y/N]`, true},
	} {
		a, s := onScreen(t)
		failed := make(chan error)
		go func() {
			failed <- a.setCap(t.Context(), &l, []string{"property=risc"}, privacy.Cap{Budget: limit}, false)
		}()
		s.wait(t, c.question)
		if _, err := s.keyboard.WriteString(c.answer); err != nil {
			t.Fatal(err)
		}
		if err := <-failed; (err == nil) != c.made || err != nil && exitCode(err) != exitNotFound {
			t.Errorf("answered %q: %v", c.answer, err)
		}
		scopes, err := l.Scopes(t.Context())
		if err != nil || slices.Contains(scopes, "property=risc") != c.made {
			t.Errorf("answered %q: scopes %q, %v", c.answer, scopes, err)
		}
	}
}
