// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/paper"
)

// reproduction holds the flags of the command.
type reproduction struct {
	only    []string
	dir     string
	options paper.Options
}

func newReproduceCommand(app *app) *cobra.Command {
	var r reproduction
	cmd := &cobra.Command{
		Use:   "reproduce",
		Short: "Every figure and table of the paper, with what it prints beside what holds",
		Long: "reproduce computes the figures, tables, lemmas and theorems of Gilbert & McMillan, \"Local Differential Privacy for\n" +
			"Physical Sensor Data and Sparse Recovery\". It writes a folder with index.html, which shows everything and\n" +
			"needs nothing else, each table as CSV, each figure as PNG and SVG, and claims.csv: every statement as printed, as\n" +
			"it is, and the evidence. The same --random-seed gives the same CSV. It reads no graph and spends nothing. All of\n" +
			"it takes minutes; --quick gives a first look.\n\n" +
			"Exhibits: " + strings.Join(exhibitNames(), ", "),
		Example: "  graphcloak reproduce --quick\n" +
			"  graphcloak reproduce --only table-2 --only lemmas --out paper\n" +
			"  graphcloak reproduce --only figure-1 --trials 1000",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return app.reproduce(cmd.Context(), r)
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"format": "table"}, config.GroupOutput, config.GroupExecution)
	f := cmd.Flags()
	f.StringArrayVar(&r.only, "only", nil, "one exhibit, by `NAME`; may be given again")
	f.StringVar(&r.dir, "out", "graphcloak-paper", "`FOLDER` for the files")
	f.IntVar(&r.options.Trials, "trials", 0, "simulated releases of each point, a `NUMBER`; 0: each exhibit's own")
	f.Uint64Var(&r.options.Seed, "random-seed", 1, "seed of graphs, sources and noise, a `NUMBER`")
	f.BoolVar(&r.options.Quick, "quick", false, "a tenth of the trials, and fewer points")
	return cmd
}

func exhibitNames() []string {
	var names []string
	for _, e := range paper.Exhibits() {
		names = append(names, e.Name)
	}
	return names
}

// exhibits are those asked for, in the order of the paper.
func (r reproduction) exhibits() ([]paper.Exhibit, error) {
	for _, name := range r.only {
		if !slices.Contains(exhibitNames(), name) {
			return nil, fail(exitNotFound, "there is no exhibit %q", name).hint("the exhibits are %s", strings.Join(exhibitNames(), ", "))
		}
	}
	return slices.DeleteFunc(paper.Exhibits(), func(e paper.Exhibit) bool {
		return len(r.only) > 0 && !slices.Contains(r.only, e.Name)
	}), nil
}

func (a *app) reproduce(ctx context.Context, r reproduction) error {
	list, err := r.exhibits()
	if err != nil {
		return err
	}
	if err := r.options.Check(); err != nil {
		return err
	}
	if err := a.checkFolder(r.dir); err != nil {
		return err
	}
	r.options.Progress = a.progress
	var all []*paper.Result
	for _, e := range list {
		x, err := e.Run(ctx, r.options)
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	files, err := paper.Files(all, r.about())
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := disk.Write(filepath.Join(r.dir, f.Name), disk.Options{Mode: 0o666, Replace: a.config.Output.Force},
			func(w io.Writer) error {
				_, err := w.Write(f.Content)
				return err
			}); err != nil {
			return err
		}
	}
	return a.showReproduction(r, all)
}

// about says how the page was made, so that it can be made again.
func (r reproduction) about() string {
	command := fmt.Sprintf("graphcloak reproduce --random-seed %d", r.options.Seed)
	for _, name := range r.only {
		command += " --only " + name
	}
	if r.options.Quick {
		command += " --quick"
	}
	if r.options.Trials > 0 {
		command += fmt.Sprintf(" --trials %d", r.options.Trials)
	}
	return fmt.Sprintf("Made by “%s”, %s.", command, readBuild().Version)
}

// checkFolder makes the folder and refuses one that holds files, before the work.
func (a *app) checkFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fail(exitCode(err), "make the folder for the files: %w", err).hint("name another with --out")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 && !a.config.Output.Force {
		return fail(exitConflict, "%w: %s holds files", fs.ErrExist, dir).hint("give --force to replace them, or another --out")
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return fail(exitAuth, "%s takes no files: %w", dir, err).hint("name another folder with --out")
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// claimRow is a statement as JSON and rows show it.
type claimRow struct {
	Exhibit string `json:"exhibit"`
	paper.Claim
}

func (a *app) showReproduction(r reproduction, all []*paper.Result) error {
	rows := []claimRow{}
	for _, x := range all {
		for _, c := range x.Claims {
			rows = append(rows, claimRow{x.Name, c})
			if !c.TrueHolds {
				a.warn("%s: %s: %s: more --trials would tell", x.Name, c.Statement, c.Found)
			}
		}
	}
	page := filepath.Join(r.dir, "index.html")
	word := func(c claimRow) string {
		switch {
		case c.Printed == "":
			return "not stated"
		case c.PrintedHolds:
			return "yes"
		}
		return "no"
	}
	sections := []term.Section{{Text: fmt.Sprintf("%s shows the figures and tables; %s also holds them as CSV, PNG and SVG.", page, r.dir)}}
	if len(rows) > 0 {
		sections = slices.Insert(sections, 0, term.Section{
			Title: "What the paper says, and what was found", Columns: []string{"exhibit", "statement", "as printed", "found"},
			Rows: term.Rows(rows, func(c claimRow) []any { return []any{c.Exhibit, c.Statement, word(c), c.Found} }),
		})
	}
	return a.render(
		struct {
			Page   string     `json:"page"`
			Folder string     `json:"folder"`
			Seed   uint64     `json:"randomSeed"`
			Claims []claimRow `json:"claims"`
		}{page, r.dir, r.options.Seed, rows},
		sections...)
}
