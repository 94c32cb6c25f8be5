// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/disk"
)

// form is how a result goes to standard output, or to a file.
func (a *app) form() term.Form {
	f := term.Form{
		Name: a.outputFormat(), Width: a.width, Limit: a.screen, Verbose: a.verbose(), Warnings: a.warnings,
		Colour: a.coloured(a.tty.out && a.outputPath() == ""),
	}
	if a.outputPath() != "" { // what goes to a file is not cut for a screen
		f.Limit = 0
	}
	return f
}

// render prints a result in the chosen form, to standard output or --output.
func (a *app) render(v any, sections ...term.Section) error {
	err := a.toOutput(func(w io.Writer) error { return a.form().Write(w, v, sections...) })
	if errors.Is(err, term.ErrNoRows) {
		return fail(exitUsage, "%w", err).hint("give --format json")
	}
	return err
}

// outputFormat is the format asked for, else that of the file's name. A taste for
// tables in the environment or a file of settings is meant for a screen.
func (a *app) outputFormat() string {
	chosen := a.config.Output.Format
	if chosen == "table" && a.config.Origin("format").Layer != config.LayerFlag {
		chosen = ""
	}
	if chosen == "" && a.outputPath() != "" {
		switch ext := strings.TrimPrefix(filepath.Ext(a.outputPath()), "."); ext {
		case "csv", "ndjson", "parquet":
			return ext
		default:
			return "json"
		}
	}
	return a.format()
}

// needJSON refuses another form than JSON for a file that a later command reads.
func (a *app) needJSON(what string) error {
	if a.outputPath() != "" && a.outputFormat() != "json" {
		return fail(exitUsage, "%s is JSON, not %s", what, a.outputFormat()).hint("leave --format out, and name the file .json")
	}
	return nil
}

// outputPath returns --output, "" for standard output.
func (a *app) outputPath() string {
	if a.config.Output.File == "-" {
		return ""
	}
	return a.config.Output.File
}

// checkOutput refuses an --output that could not be written at the end, before
// anything is computed or spent.
func (a *app) checkOutput() error {
	path := a.outputPath()
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".html" || ext == ".htm":
		return fail(exitUsage, "--output %s would hold no page: it takes the result as data", path).
			hint("name a page by --report FILE where the command makes one, and data .json or .csv")
	case path != "":
		return a.checkFile(path)
	case a.tty.out && a.outputFormat() == "parquet":
		return fail(exitUsage, "%s cannot be shown on a terminal; nothing was spent", a.outputFormat()).hint("name a file by --output")
	}
	return nil
}

// checkFile refuses a file that create would refuse.
func (a *app) checkFile(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fail(exitNotFound, "no folder %s for the output", filepath.Dir(path)).hint("create it first")
	}
	if _, err := os.Lstat(path); err == nil && !a.config.Output.Force {
		return exists(path)
	}
	if err := disk.Replaceable(path); err != nil {
		return fail(exitValidation, "%s cannot be written: %w", path, err).hint("give another name; nothing was spent")
	}
	if err := disk.Room(filepath.Dir(path), 1); err != nil {
		return fail(exitValidation, "%s cannot be written: %w", path, err).hint("name a place that you may write to")
	}
	return nil
}

func exists(path string) error {
	return fail(exitConflict, "%w: %s", fs.ErrExist, path).hint("give --force to replace it, or another name").about("file", path)
}

func (a *app) toOutput(write func(io.Writer) error) error {
	a.console.Clear()
	if path := a.outputPath(); path != "" {
		if err := a.create(path, write); err != nil {
			return err
		}
		if a.tty.err { // a script needs no word of it
			a.note("Wrote %s.", path)
		}
		return nil
	}
	a.rendered = true
	return write(a.stdout)
}

// create writes a file whole or not at all. Without --force it replaces nothing,
// even if the file appears meanwhile. The umask decides who may read it; a secret
// is for its owner alone.
func (a *app) create(path string, write func(io.Writer) error) error {
	mode := os.FileMode(0o666)
	if a.secret {
		mode = 0o600
	}
	err := disk.Write(path, disk.Options{Mode: mode, Replace: a.config.Output.Force}, write)
	if errors.Is(err, fs.ErrExist) {
		return exists(path)
	}
	return err
}

func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// verbose reports whether the details are wanted.
func (a *app) verbose() bool { return a.config != nil && a.config.Terminal.Verbose }

// settingText keeps a list on one line and an unset value empty.
func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []string:
		if len(v) == 0 {
			return ""
		}
	}
	return fmt.Sprint(v)
}

// shownRows is the number of nodes or communities in a table; the other formats
// have all of them.
const shownRows = 10

// fewRows are the rows that the form of the result shows.
func fewRows[T any](a *app, all []T) []T {
	if a.outputFormat() == "table" {
		return all[:min(shownRows, len(all))]
	}
	return all
}

func moreText(n int) string {
	if n <= shownRows {
		return ""
	}
	return fmt.Sprintf(" (%d of %d; --format csv gives all)", shownRows, n)
}
