// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// app is what every command shares: streams, settings, and ways to talk.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	tty            struct{ in, out, err bool }
	width          int  // columns that prose may take
	screen         int  // columns of the screen; 0: there is none
	ascii          bool // the screen shows ASCII alone
	noColor        bool
	helpAll        bool // help is to show every flag

	config   *config.Config // resolved before RunE
	log      *slog.Logger
	warnings []string                              // given by warn
	command  string                                // as it is called, without the program
	captions []string                              // of the nodes; nil: none are wanted
	page     func(*report.Report) (section, error) // writes that of the run; nil: none is wanted
	// simulate makes the curve of a page, or says why there is none; nil: no plan is known
	simulate func(context.Context) ([]report.CurvePoint, string, error)
	rendered bool // a result went to standard output
	secret   bool // the result is for its owner alone
	// chosenByFile says that a plan, a release or a kept run settles what is read of the graph.
	chosenByFile atomic.Bool

	args                []string
	configPath, envPath string
	defaults            map[*cobra.Command]map[string]string
	line                *progressLine // nil between stages
	drawn               atomic.Bool   // the progress is on the screen
	whole               wholeTime     // of this command
	told                time.Time     // when the last line of progress was written, where no terminal shows any; zero: none was
	part                string        // which of several things of a kind the command is at; "": there is one
	cancel              context.CancelFunc
	ended               chan struct{} // closed when the command should end
	end                 func()        // closes it, once
	talking             sync.Mutex    // held while a line or the progress is written
	holding             sync.Mutex    // of held, paying and unpaid
	held                *run.Held     // run that was begun and is not ended; nil: none
	pays                bool          // the command is one that spends
	resumes             bool          // it names a run that may have been paid for
	paying              bool          // it has come to a payment
	unpaid              bool          // it has ended, and comes to none
	scheduled           scheduled     // what is told at the end
	moreGrace           time.Duration // beyond the usual
	settling            sync.Mutex    // held while settings are stored, and for good by who leaves the work behind
}

func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{
		stdin: stdin, stdout: stdout, stderr: stderr,
		args: args, defaults: make(map[*cobra.Command]map[string]string),
		width: defaultWidth, ascii: onlyASCII(), log: slog.New(slog.DiscardHandler), cancel: func() {},
	}
	a.ended, a.whole.began = make(chan struct{}), time.Now()
	a.end = sync.OnceFunc(func() { close(a.ended) })
	a.tty.in, a.tty.out, a.tty.err = isTerminal(stdin), isTerminal(stdout), isTerminal(stderr)
	if a.screen = screenWidth(stdout); a.screen == 0 && a.tty.out { // a terminal that does not tell
		a.screen = defaultWidth
	}
	if a.screen > 0 {
		a.width = max(a.screen, leastWidth)
	}
	return a
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// flagsOnly marks a command that must work while files are broken.
const flagsOnly = "flagsOnly"

// prepare resolves the settings of a command that has any, before it runs.
func (a *app) prepare(cmd *cobra.Command, _ []string) error {
	defaults, ok := a.defaults[cmd]
	if !ok {
		return nil
	}
	layers := config.Layers{Flags: cmd.Flags(), Defaults: defaults}
	var remarks []string
	if cmd.Annotations[flagsOnly] == "" {
		var err error
		if remarks, err = a.addFiles(&layers); err != nil {
			return err
		}
	}
	c, err := config.Load(layers)
	if err != nil {
		return err
	}
	a.settling.Lock()
	a.config, a.command = c, strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	a.log = slog.New(a.logHandler())
	a.settling.Unlock()
	for _, text := range remarks {
		a.note("%s", text)
	}
	for _, w := range c.Warnings() {
		a.note("Warning: %s", w)
	}
	if c.Execution.Timeout > 0 {
		ctx, cancel := context.WithTimeout(cmd.Context(), c.Execution.Timeout)
		context.AfterFunc(ctx, a.end)
		a.cancel = cancel
		cmd.SetContext(ctx)
	}
	return a.checkOutput()
}

// addFiles finds the configuration and .env files, and returns remarks on them.
func (a *app) addFiles(l *config.Layers) (remarks []string, err error) {
	l.File = a.configPath
	if l.File == "" {
		l.File = os.Getenv(config.EnvPrefix + "CONFIG")
	}
	if l.File != "" {
		by := "--config"
		if a.configPath == "" {
			by = config.EnvPrefix + "CONFIG"
		}
		if err := checkNamed(l.File, ", which "+by+" names"); err != nil {
			return nil, err
		}
	} else {
		l.File, l.FileOwn = defaultConfigFile(), true
	}
	if base := os.Getenv("XDG_CONFIG_HOME"); base != "" && !filepath.IsAbs(base) && l.FileOwn {
		remarks = append(remarks, fmt.Sprintf("Warning: XDG_CONFIG_HOME is relative (%s) and is ignored", base))
	}
	path := a.envPath
	if path == "" {
		path, l.DotEnvFound = findDotEnv(), true
	}
	if path == "" {
		return remarks, nil
	}
	values, shared, err := readDotEnv(path)
	if err != nil {
		return nil, err
	}
	if a.envPath != "" && len(values) == 0 {
		return nil, fail(exitValidation, "%s sets no NEO4J_ or GRAPHCLOAK_ variable", path).hint("give the file with NEO4J_URI=…")
	}
	if here, err := os.Getwd(); err == nil && len(values) > 0 && a.envPath == "" && filepath.Dir(path) != here {
		remarks = append(remarks, "Using "+path)
	}
	if shared != "" && len(values) > 0 {
		remarks = append(remarks, sharedWarning(path, shared))
	}
	l.DotEnv, l.DotEnvPath = values, path
	return remarks, nil
}

// checkNamed makes sure that a configuration file which was named is there.
func checkNamed(path, by string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fail(exitNotFound, "there is no configuration file %s%s", path, by).
			hint("name one that is there; `graphcloak init -o FILE` makes one").about("file", path)
	}
	return nil
}

// defaultConfigFile returns the user's configuration file if there is one. A relative
// $XDG_CONFIG_HOME does not count, as the XDG Base Directory Specification says.
func defaultConfigFile() string {
	base := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	path := filepath.Join(base, "graphcloak", "config.yaml")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// logHandler writes ISO 8601 UTC with milliseconds, as Neo4j's own log does.
func (a *app) logHandler() slog.Handler {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.config.Terminal.LogLevel)); err != nil {
		level = slog.LevelWarn
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey && len(groups) == 0 {
			attr.Value = slog.StringValue(attr.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z07:00"))
		}
		if d := attr.Value; d.Kind() == slog.KindDuration {
			return slog.Int64(attr.Key+"Millis", int64(d.Duration()/time.Millisecond))
		}
		return attr
	}}
	if a.config.Terminal.LogFormat == "json" {
		return slog.NewJSONHandler(escapingWriter{belowProgress{a}}, options)
	}
	return slog.NewTextHandler(belowProgress{a}, options)
}

// quiet holds from the first argument on, before settings are resolved.
func (a *app) quiet() bool { return a.config != nil && a.config.Terminal.Quiet }

// note prints a remark on standard error.
func (a *app) note(format string, args ...any) {
	if a.quiet() {
		return
	}
	a.talking.Lock()
	defer a.talking.Unlock()
	a.clear()
	text := fmt.Sprintf(format, args...)
	if rest, ok := strings.CutPrefix(text, warningMark+" "); ok {
		a.say(warningMark, wary, rest)
		return
	}
	a.say("", plain, text)
}

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
	choice := a.early("color")
	if a.noColor || slices.Contains(a.args, "--no-color") {
		return false
	}
	if a.config != nil {
		choice = a.config.Terminal.Color
	}
	if choice == "always" || choice == "never" {
		return choice == "always"
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	force := os.Getenv("CLICOLOR_FORCE")
	return terminal || force != "" && force != "0"
}
