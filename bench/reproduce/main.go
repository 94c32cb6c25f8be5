// SPDX-License-Identifier: Apache-2.0

// Command reproduce computes the figures, tables, lemmas and theorems of Gilbert &
// McMillan, "Local Differential Privacy for Physical Sensor Data and Sparse Recovery".
//
//	go -C bench run ./reproduce -quick -out /tmp/paper
//	go -C bench run ./reproduce -only table-2,lemmas -out /tmp/paper
//
// It writes a folder with index.html, which shows everything and needs nothing else,
// each table as CSV, each figure as PNG and SVG, and claims.csv: every statement as
// printed, as it is, and the evidence. The same seed gives the same CSV.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/graphcloak/graphcloak/bench/paper"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); errors.Is(err, flag.ErrHelp) {
		return
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(1)
	}
}

// run writes the files into a folder that is new or empty, and prints what was found.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	options := paper.Options{Progress: func(stage string, done, total int64) {
		fmt.Fprintf(progress, "\r%s: %d of %d trials ", stage, done, total)
	}}
	flags := flag.NewFlagSet("reproduce", flag.ContinueOnError)
	flags.SetOutput(progress)
	only := flags.String("only", "", "exhibits to compute, separated by commas; none: all of "+strings.Join(names(), ", "))
	dir := flags.String("out", "graphcloak-paper", "folder for the files; one that holds files is refused")
	flags.IntVar(&options.Trials, "trials", 0, "simulated releases of each point; 0: each exhibit's own number")
	flags.Uint64Var(&options.Seed, "seed", 1, "seed of graphs, sources and noise")
	flags.BoolVar(&options.Quick, "quick", false, "a tenth of the trials, and fewer points")
	if err := flags.Parse(args); err != nil {
		return err
	}
	list, err := exhibits(*only)
	if err != nil {
		return err
	}
	if err := options.Check(); err != nil {
		return err
	}
	if err := emptyFolder(*dir); err != nil {
		return err
	}
	var all []*paper.Result
	for _, e := range list {
		r, err := e.Run(ctx, options)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	fmt.Fprintln(progress)
	files, err := paper.Files(all, about(args))
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(*dir, f.Name), f.Content, 0o666); err != nil {
			return err
		}
	}
	return show(out, all, filepath.Join(*dir, "index.html"))
}

func names() []string {
	var all []string
	for _, e := range paper.Exhibits() {
		all = append(all, e.Name)
	}
	return all
}

// exhibits are those asked for, in the order of the paper.
func exhibits(only string) ([]paper.Exhibit, error) {
	if only == "" {
		return paper.Exhibits(), nil
	}
	asked := strings.Split(only, ",")
	for _, name := range asked {
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("there is no exhibit %q: the exhibits are %s", name, strings.Join(names(), ", "))
		}
	}
	return slices.DeleteFunc(paper.Exhibits(), func(e paper.Exhibit) bool { return !slices.Contains(asked, e.Name) }), nil
}

// emptyFolder makes the folder, and refuses one that holds files before the work.
func emptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s holds files: name another folder with -out", dir)
	}
	return err
}

// about says how the page was made, so that it can be made again.
func about(args []string) string {
	version := "development"
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		version = b.Main.Version
	}
	return fmt.Sprintf("Made by “%s”, %s.", strings.Join(append([]string{"reproduce"}, args...), " "), version)
}

// show prints each statement of the paper and what was found of it.
func show(out io.Writer, all []*paper.Result, page string) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "EXHIBIT\tSTATEMENT\tAS PRINTED\tFOUND")
	for _, r := range all {
		for _, c := range r.Claims {
			word := "no"
			switch {
			case c.Printed == "":
				word = "not stated"
			case c.PrintedHolds:
				word = "yes"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, c.Statement, word, c.Found)
		}
	}
	fmt.Fprintf(w, "\n%s shows the figures and tables.\n", page)
	return w.Flush()
}
