// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// app is what every command shares: streams, settings, and ways to talk.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	tty            struct{ in, out, err bool }
	width          int // columns that prose may take
	screen         int // columns of the screen; 0: there is none
	console        *term.Console
	helpAll        bool // help is to show every flag

	config   *config.Config // resolved before RunE
	log      *slog.Logger
	warnings []string                                   // given by warn
	command  string                                     // as it is called, without the program
	captions []string                                   // of the nodes; nil: none are wanted
	page     func(*report.Report) (term.Section, error) // writes that of the run; nil: none is wanted
	rendered bool                                       // a result went to standard output
	secret   bool                                       // the result is for its owner alone
	memory   graph.Memory                               // that a graph is read into; nil: of the heap
	// chosenByFile says that a plan, a release or a kept run settles what is read of the graph.
	chosenByFile atomic.Bool

	args                []string
	configPath, envPath string
	defaults            map[*cobra.Command]map[string]string
	ended               chan struct{} // closed when the command should end
	end                 func()        // closes it, once
	holding             sync.Mutex    // of the next three
	held                *run.Held     // run that was begun and is not ended; nil: none
	paid                bool          // a run was begun, and did not end unpaid
	unpaid              bool          // the command has ended, and comes to no payment
	pays                bool          // the command is one that spends
	resumes             bool          // it names a run that may have been paid for
	releaseID           string        // that a scheduler gave the run; "": none
	signal              string        // the file of --signal; "": the store has the private values
	moreGrace           time.Duration // beyond the usual
	settling            sync.Mutex    // held while settings are stored, and for good by who leaves the work behind
}

func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{
		stdin: stdin, stdout: stdout, stderr: stderr,
		args: args, defaults: make(map[*cobra.Command]map[string]string),
		width: term.DefaultWidth, log: slog.New(slog.DiscardHandler), ended: make(chan struct{}),
	}
	a.end = sync.OnceFunc(func() { close(a.ended) })
	a.tty.in, a.tty.out, a.tty.err = term.IsTerminal(stdin), term.IsTerminal(stdout), term.IsTerminal(stderr)
	a.console = &term.Console{Writer: stderr, Terminal: a.tty.err, Log: a.log}
	if a.screen = term.Width(stdout); a.screen == 0 && a.tty.out { // a terminal that does not say
		a.screen = term.DefaultWidth
	}
	if a.screen > 0 {
		a.width = max(a.screen, term.LeastWidth)
	}
	return a
}

// flagsOnly marks a command that must work while files are broken.
const flagsOnly = "flagsOnly"

// quiet holds from the first argument on, before settings are resolved.
func (a *app) quiet() bool { return a.config != nil && a.config.Terminal.Quiet }

// note prints a remark on standard error.
func (a *app) note(format string, args ...any) {
	if a.quiet() {
		return
	}
	text := fmt.Sprintf(format, args...)
	if rest, ok := strings.CutPrefix(text, warningMark+" "); ok {
		a.say(warningMark, term.Wary, rest)
		return
	}
	a.say("", term.Plain, text)
}

// say prints a message on standard error, its mark painted where the terminal takes colour.
func (a *app) say(mark string, p term.Paint, text string) {
	a.console.Say(mark, p, text, a.coloured(a.tty.err))
}

// progress reports how far a stage has come; total is 0 where it is unknown.
func (a *app) progress(stage string, done, total int64) { a.console.Progress(stage, done, total) }

const warningMark = "Warning:"

// warn prints a warning about the result. It is part of JSON output, and under
// --strict the command ends with 12.
func (a *app) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.warnings = append(a.warnings, text)
	a.note("Warning: %s", text)
}

// coloured reports whether a stream takes colour.
func (a *app) coloured(terminal bool) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	force := os.Getenv("CLICOLOR_FORCE")
	return terminal || force != "" && force != "0"
}

func (a *app) printProblem(p problem) {
	text, err := term.JSON(map[string]problem{"error": p}, a.format() == "json")
	if err == nil {
		_, err = a.stdout.Write(text)
	}
	if err != nil { // standard error still says it
		a.log.Debug("print the failure as JSON", "error", err)
	}
}

// printError prints a message, or one for each of several problems, and what to do.
func (a *app) printError(lines []string, p problem) {
	const mark = "Error:"
	if len(lines) == 1 {
		a.say(mark, term.Bad, fmt.Sprintf("%s (exit %d)", lines[0], p.ExitCode))
	} else {
		a.say(mark, term.Bad, fmt.Sprintf("%d problems (exit %d)", len(lines), p.ExitCode))
		for _, line := range lines {
			a.say("", term.Plain, "  - "+line)
		}
	}
	if p.Suggestion != "" && !strings.Contains(p.Message, p.Suggestion) {
		a.say("Hint:", term.Plain, p.Suggestion)
	}
}

// format returns the form of the result.
func (a *app) format() string {
	chosen := a.early("format")
	if a.config != nil {
		chosen = a.config.Output.Format
	}
	if slices.Contains(term.Formats(), chosen) {
		return chosen
	}
	if a.tty.out {
		return "table"
	}
	return "json"
}

// early reads a flag or its variable where settings could not be resolved, so
// that the report of the failure has the form that was asked for.
func (a *app) early(flag string) string {
	value := os.Getenv(config.EnvPrefix + strings.ToUpper(flag))
	for i, arg := range a.args {
		if v, ok := strings.CutPrefix(arg, "--"+flag+"="); ok {
			value = v
		} else if arg == "--"+flag && i+1 < len(a.args) {
			value = a.args[i+1]
		}
	}
	return value
}

// sharedWarning says what to do about a secret file that others can use.
func sharedWarning(path, shared string) string {
	return fmt.Sprintf("Warning: others can %s %s; `chmod 600` it", shared, path)
}

// endsUnpaid reports whether the command has come to no payment, and sees to it that it comes
// to none: what does not look at its context may go on for a moment.
func (a *app) endsUnpaid() bool {
	a.holding.Lock()
	defer a.holding.Unlock()
	a.unpaid = a.held == nil && !a.paid
	return a.unpaid
}

// grace is how long a command may take to end in order after Ctrl-C or SIGTERM.
// A dense eigendecomposition cannot be interrupted; whatever outlasts
// the grace ends with the process, which stores and ledger survive like a crash.
const grace = 700 * time.Millisecond

// setGrace gives a command more than [grace], which it needs to hand on what it does.
func (a *app) setGrace(more time.Duration) {
	a.settling.Lock()
	defer a.settling.Unlock()
	a.moreGrace = more + settleGrace
}

// settleGrace is how long a command has to write to the store how its runs ended.
const settleGrace = 5 * time.Second

// drain is what runs have to finish after SIGTERM, before another instance takes them over. It fits into the 30 s that
// containers are given to stop.
const drain = 20 * time.Second
