// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/internal/must"
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
	must.Do(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number = must.Get(unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN))(t)
	slave := must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	must.Do(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
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
	a.tty.in, a.tty.err = term.IsTerminal(s.terminal), term.IsTerminal(s.terminal)
	a.console.Writer, a.console.Terminal = s.terminal, true
	a.console.Shows = a.showsProgress()
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
	if strings.Contains(s.text()[strings.Index(s.text(), "Password"):], "relationships") {
		t.Errorf("the progress goes on beside a question: %q", s.text())
	}
	must.Get(s.keyboard.WriteString("hunter2\n"))(t)
	if got := <-answers; got.password != "hunter2" || got.err != nil {
		t.Errorf("credentials give %q, %v", got.password, got.err)
	}
	if strings.Contains(s.text(), "hunter2") {
		t.Errorf("the screen shows %q", s.text())
	}
}

func TestPromptEndsWithTheContext(t *testing.T) {
	a, s := onScreen(t, "-u", "me")
	before := must.Get(xterm.GetState(int(s.terminal.Fd())))(t)
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
	after, err := xterm.GetState(int(s.terminal.Fd()))
	if err != nil || *after != *before {
		t.Errorf("the terminal is not as it was (%v)", err)
	}
}

func TestProgressIsDrawnOnATerminalOnly(t *testing.T) {
	for _, c := range []struct {
		args  []string
		drawn bool
	}{{nil, true}, {[]string{"--quiet"}, false}} {
		a, s := onScreen(t, c.args...)
		a.progress("diffuse", 1, 2)
		a.progress("solve", 7, 0)
		a.console.Stop()
		if c.drawn {
			s.wait(t, "diffuse")
			s.wait(t, "solve")
		} else if a.console.Shows || s.text() != "" {
			t.Errorf("%q: the screen shows %q", c.args, s.text())
		}
	}
	a, _, stderr := kit(t)
	a.progress("diffuse", 1, 2)
	a.console.Stop()
	if stderr.Len() > 0 {
		t.Errorf("off a terminal: %q", stderr)
	}
}
