// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/bench/internal/work"
)

// revisions compares this tree with an older revision.
var revisions = topic{
	name:  "revisions",
	title: "One processor, before and after",
	about: "The same work by two revisions, each program built from its own tree: processes on one processor, in turn (old, new, " +
		"new, old, …). " +
		"CPU seconds (user and system) are those of the work alone, medians; the ratio, new over old, is the median of those " +
		"of the pairs, " +
		"beside it the least and the largest. More than 3 % is too slow where all pairs say so.",
	head: []string{"work", "old", "CPU s", "new", "CPU s", "ratio", "least – largest", "pairs", "slower by more than 3 %"},
	row:  revisionRow,
	cases: func(quick bool) (list []comparison) {
		for _, name := range work.Names(quick) {
			list = append(list, comparison{name: name, pairs: 3})
		}
		return list
	},
}

// slowdown is the ratio of CPU seconds from which work counts as slower.
const slowdown = 1.03

var errNoRevision = errors.New("name a revision to compare with: -against REV")

// trees are the programs of two revisions.
type trees struct {
	old, new string // what they are called
	programs [2]string
}

// trees builds the programs on first use. The old tree gets the sources of the program that
// does the work from this one.
func (r *runner) builds(ctx context.Context) (*trees, error) {
	if r.built != nil {
		return r.built, nil
	}
	old, err := printed(ctx, "git", "rev-parse", "--short", *against+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("revision %q: %w", *against, err)
	}
	now, err := printed(ctx, "git", "describe", "--always", "--dirty", "--exclude", "*")
	if err != nil {
		return nil, err
	}
	root, err := printed(ctx, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	t := &trees{old: oneLine(fmt.Errorf("%s", strings.TrimSpace(old))), new: strings.TrimSpace(now)}
	here, there := strings.TrimSpace(root), filepath.Join(r.work, "old")
	if _, err := printed(ctx, "git", "worktree", "add", "--detach", there, t.old); err != nil {
		return nil, err
	}
	// After an interrupt, too: git would keep the entry.
	defer printed(context.WithoutCancel(ctx), "git", "worktree", "remove", "--force", there)
	for _, part := range []string{"bench/go.mod", "bench/go.sum", "bench/revision", "bench/internal/work", "bench/internal/usage"} {
		to := filepath.Join(there, filepath.FromSlash(part))
		if err := os.RemoveAll(to); err != nil {
			return nil, err
		}
		if err := os.CopyFS(to, os.DirFS(filepath.Join(here, filepath.FromSlash(part)))); err != nil {
			return nil, err
		}
	}
	for i, tree := range []string{there, here} {
		t.programs[i] = filepath.Join(r.work, fmt.Sprintf("revision-%d", i))
		if out, err := exec.CommandContext(ctx, "go", "build", "-C", filepath.Join(tree, "bench"), "-mod=mod", "-o", t.programs[i],
			"./revision").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", []string{t.old, t.new}[i], err, out)
		}
	}
	r.built = t
	return t, nil
}

// compare runs one work by both programs in turn.
func (r *runner) compare(ctx context.Context, c comparison) []line {
	failed := func(err error) []line { return []line{{name: c.name, err: err}} }
	t, err := r.builds(ctx)
	if err != nil {
		return failed(err)
	}
	var cpu [2][]float64
	for pair := range c.pairs {
		for k := range 2 {
			side := (pair + k) % 2 // old first, then new first
			m, err := process(ctx, nil, t.programs[side], "-work", c.name)
			if err != nil {
				return failed(fmt.Errorf("%s: %w", []string{t.old, t.new}[side], err))
			}
			cpu[side] = append(cpu[side], m.CPU)
		}
	}
	ratios := make([]float64, c.pairs)
	for i := range ratios {
		ratios[i] = cpu[1][i] / cpu[0][i]
	}
	return []line{{
		name: c.name, program: t.old + " " + t.new, ours: measure{CPU: median(cpu[0])},
		theirs: measure{CPU: median(cpu[1]), Ratios: ratios},
	}}
}

// revisionRow is a line as a row of the table of [revisions].
func revisionRow(l line, _ bool) string {
	if l.err != nil {
		return cells(l.name, "", "", "", "", "", "", "", "**"+oneLine(l.err)+"**")
	}
	old, now, _ := strings.Cut(l.program, " ")
	ratios := slices.Clone(l.theirs.Ratios)
	verdict := "no"
	if slices.Min(ratios) > slowdown {
		verdict = "**yes**"
	}
	return cells(l.name, old, fmt.Sprintf("%.3g", l.ours.CPU), now, fmt.Sprintf("%.3g", l.theirs.CPU), fmt.Sprintf("%.3f", median(ratios)),
		fmt.Sprintf("%.3f – %.3f", slices.Min(ratios), slices.Max(ratios)), fmt.Sprint(len(ratios)), verdict)
}
