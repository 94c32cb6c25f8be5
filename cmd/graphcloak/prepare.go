// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
)

// prepare resolves the settings of a command that has any, before it runs.
func (a *app) prepare(cmd *cobra.Command, _ []string) error {
	if _, ok := a.defaults[cmd]; !ok {
		return nil
	}
	remarks, err := a.resolve(cmd)
	if err != nil {
		return err
	}
	a.console.Log, a.console.Shows = a.log, a.showsProgress()
	for _, text := range remarks {
		a.note("%s", text)
	}
	for _, w := range a.config.Warnings() {
		a.note("Warning: %s", w)
	}
	return a.checkOutput()
}

// resolve makes settings of flags, variables and files, and returns remarks on the files.
func (a *app) resolve(cmd *cobra.Command) (remarks []string, err error) {
	layers := config.Layers{Flags: cmd.Flags(), Defaults: a.defaults[cmd]}
	if cmd.Annotations[flagsOnly] == "" {
		if remarks, err = a.addFiles(&layers); err != nil {
			return nil, err
		}
	}
	c, err := config.Load(layers)
	if err != nil {
		return nil, err
	}
	a.settling.Lock()
	defer a.settling.Unlock()
	a.config, a.command = c, strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	a.log = slog.New(a.logHandler())
	return remarks, nil
}

func (a *app) showsProgress() bool {
	return a.tty.err && os.Getenv("TERM") != "dumb" && !a.config.Terminal.Quiet
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
		l.File, l.FileOwn = config.DefaultFile(), true
	}
	if base := os.Getenv("XDG_CONFIG_HOME"); base != "" && !filepath.IsAbs(base) && l.FileOwn {
		remarks = append(remarks, fmt.Sprintf("Warning: XDG_CONFIG_HOME is relative (%s) and is ignored", base))
	}
	path := a.envPath
	if path == "" {
		path, l.DotEnvFound = config.FindDotEnv(), true
	}
	if path == "" {
		return remarks, nil
	}
	values, shared, err := config.ReadDotEnv(path)
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
			hint("name one that is there; `graphcloak init FILE` makes one").about("file", path)
	}
	return nil
}

// logHandler writes ISO 8601 UTC with milliseconds, as Neo4j's own log does: text for a person, JSON for a collector.
func (a *app) logHandler() slog.Handler {
	level := slog.LevelWarn
	if a.config.Terminal.Verbose && (!a.tty.err || a.command == "serve") { // a terminal has the progress
		level = slog.LevelDebug
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
	if a.tty.err {
		return slog.NewTextHandler(a.console.LogWriter(), options)
	}
	return slog.NewJSONHandler(term.JSONWriter{To: a.console.LogWriter()}, options)
}
