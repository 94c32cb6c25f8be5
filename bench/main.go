// SPDX-License-Identifier: Apache-2.0

// Command bench runs GraphCloak beside its peers on the same graphs and writes
// RESULTS.md, in its own folder:
//
//	go -C bench run .                       everything, into RESULTS.md
//	go -C bench run . -quick                small graphs, to standard output
//	go -C bench run . -only diffusion       one topic, to standard output
//	go -C bench run . -only run -refresh    one topic, into its section of RESULTS.md
//	go -C bench run . -only scaling         the same work at 1, 2, 4, … and all processors
//	go -C bench run . -case road-like       the cases with this text in their name, to standard output
//
// It needs Python 3.11 or later with venv. The peers, at the versions of
// requirements.txt, go into a virtual environment in the user's cache folder.
//
// Every measurement is a process of its own, one at a time, on one thread but for scaling.
// Times are CPU seconds, user and system, of the measured section only: the median of as
// many runs as ten seconds take, at most 11. Generators have seeds; the graph and the
// data that our process made are files that the peers' scripts read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

var (
	only   = flag.String("only", "", "topics to run, separated by commas: "+strings.Join(topicNames(), ", "))
	cases  = flag.String("case", "", "text that the names of the cases to run contain")
	quick  = flag.Bool("quick", false, "small graphs, a few minutes in all")
	output = flag.String("o", "", "file whose sections of these topics to write again; default: RESULTS.md for a full run or with "+
		"-refresh, else standard output")
	refresh  = flag.Bool("refresh", false, "write into RESULTS.md, whose other sections stay")
	limit    = flag.Duration("limit", time.Hour, "time that one process may take; one that takes longer fails")
	child    = flag.String("child", "", "internal: run our side of TOPIC/CASE in -dir")
	folder   = flag.String("dir", "", "internal: folder of the case")
	together = flag.Bool("together", false, "internal: wait before measuring until standard input has a line")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := runAll
	if *child != "" {
		run = runChild
	}
	if err := run(ctx); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// topics are the sections of the results.
func topics() []topic {
	return []topic{
		diffusion, product, memory, sensitivities, bpdn, posteriors, leiden, estimates, runs, snapshots,
		scaling,
	}
}

func topicNames() (names []string) {
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}

func runAll(ctx context.Context) error {
	wanted := topicNames()
	if *only != "" {
		wanted = strings.Split(*only, ",")
		for _, name := range wanted {
			if !slices.Contains(topicNames(), name) {
				return fmt.Errorf("no topic %q, want some of %s", name, strings.Join(topicNames(), ", "))
			}
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache = filepath.Join(cache, "graphcloak", "bench")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	var python string
	if anyPeers(wanted) {
		if python, err = environment(ctx, cache); err != nil {
			return err
		}
	}
	work, err := os.MkdirTemp(cache, "run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, peers); err != nil {
		return err
	}
	r := &runner{python: python, work: work}
	res, found := &results{Quick: *quick}, false
	for _, t := range topics() {
		if !slices.Contains(wanted, t.name) || ctx.Err() != nil {
			continue
		}
		done := stamp()
		if lines := r.topic(ctx, t); len(lines) > 0 {
			res.add(t, lines, done())
			found = true
		}
	}
	if !found && ctx.Err() == nil {
		return fmt.Errorf("no case with %q in its name", *cases)
	}
	// An interrupt shows what was measured.
	return errors.Join(ctx.Err(), res.finish(target(ctx)))
}

// target is the file to write, "" for standard output.
func target(ctx context.Context) string {
	whole := *only == "" && *cases == "" && !*quick
	if *output == "" && ctx.Err() == nil && (whole || *refresh) {
		return "RESULTS.md"
	}
	return *output
}

// anyPeers reports whether any of these topics runs other programs.
func anyPeers(names []string) bool {
	return slices.ContainsFunc(topics(), func(t topic) bool {
		return slices.Contains(names, t.name) && t.hasPeers(*quick)
	})
}
