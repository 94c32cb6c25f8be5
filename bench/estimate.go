// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/bench/internal/usage"
)

var estimates = topic{
	name:  "estimate",
	title: "What `graphcloak estimate` promises",
	about: "The time is that of all five commands on a generated graph; the error is how far the worst of them lies outside the " +
		"interval that `estimate` gave before, in CPU seconds or resident bytes, relative to its end.",
	cases: func(quick bool) (list []comparison) {
		specs := []struct{ spec, allocation string }{
			{"sbm,n=100,k=2,in=0.2,out=0.01,seed=1", "uniform"},
			{"sbm,n=500,k=5,in=0.1,out=0.002,seed=1", "uniform"},
			{"barabasi-albert,n=2000,m=5,seed=1", "uniform"},
			{"sbm,n=5000,k=10,in=0.02,out=0.0005,seed=1", "uniform"},
			{"knn,n=20000,k=6,seed=1", "uniform"},
			{"sbm,n=500,k=5,in=0.1,out=0.002,seed=1", "optimal"},
			{"knn,n=2000,k=6,seed=1", "optimal"},
		}
		if quick {
			specs = specs[:2]
		}
		for _, s := range specs {
			list = append(list, comparison{
				name:  s.spec + " " + s.allocation,
				ours:  func(ctx context.Context, dir string) (measure, error) { return promise(ctx, dir, s.spec, s.allocation) },
				goals: []goal{accurate(0)},
			})
		}
		return list
	},
}

// promise runs the commands and compares them with their estimates.
func promise(ctx context.Context, dir, spec, allocation string) (measure, error) {
	worst, notes, total := 0.0, []string{}, measure{}
	err := promised(ctx, dir, spec, allocation, func(p interval, o outcome) {
		worst = max(worst, p.miss(o))
		if p.miss(o) > 0 {
			notes = append(notes, p.beside(o))
		}
		total.CPU += o.seconds
	})
	total.Error, total.Note = &worst, strings.Join(notes, "; ")
	return total, err
}

// promised runs some commands, or all where it names none, and calls each with what
// estimate said before and what the command took.
func promised(ctx context.Context, dir, spec, allocation string, each func(interval, outcome), only ...string) error {
	c := cli{path: filepath.Join(dir, "program"), dir: dir}
	if err := c.build(ctx); err != nil {
		return err
	}
	from := []string{"--from", "generate:" + spec}
	ask := append(from, "--epsilon", "4", "--delta", "0.1", "--allocation", allocation)
	source := []string{"--source-property", "source"}
	out, err := c.run(ctx, append([]string{"estimate", "--format", "json"}, ask...)...)
	if err != nil {
		return err
	}
	var estimate struct {
		Commands []interval `json:"commands"`
	}
	if err := json.Unmarshal(out.text, &estimate); err != nil {
		return err
	}
	for _, p := range estimate.Commands {
		if len(only) > 0 && !slices.Contains(only, p.Command) {
			continue
		}
		args := map[string][]string{
			"plan":     append([]string{"-o", "plan.json"}, ask...),
			"release":  append(append([]string{"-o", "release.json", "--plan", "plan.json", "--spend-at-chance"}, from...), source...),
			"recover":  append([]string{"--release", "release.json", "--mode", "stats"}, from...),
			"run":      append(append([]string{"--mode", "stats"}, ask...), source...),
			"evaluate": ask,
		}[p.Command]
		o, err := c.run(ctx, append([]string{p.Command}, args...)...)
		if err != nil {
			return err
		}
		each(p, o)
	}
	return nil
}

// interval is what an estimate says of a command.
type interval struct {
	Command                string
	BytesMin, BytesMax     float64
	SecondsMin, SecondsMax float64
}

// miss is how far outside the interval a command was, relative to its end.
func (p interval) miss(o outcome) float64 {
	return max(0, p.SecondsMin/o.seconds-1, o.seconds/p.SecondsMax-1, p.BytesMin/o.bytes-1, o.bytes/p.BytesMax-1)
}

func (p interval) beside(o outcome) string {
	const mib = 1 << 20
	return fmt.Sprintf("%s %.2g s in %.2g – %.2g, %.0f MiB in %.0f – %.0f", p.Command,
		o.seconds, p.SecondsMin, p.SecondsMax, o.bytes/mib, p.BytesMin/mib, p.BytesMax/mib)
}

// cli is the program in a folder of its own.
type cli struct{ path, dir string }

// build builds the program in its own module, with what that requires.
func (c cli) build(ctx context.Context) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/graphcloak/graphcloak").Output()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(dir)), "-o", c.path, "./cmd/graphcloak")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

type outcome struct {
	text           []byte
	seconds, bytes float64
}

// run runs the program and measures its process.
func (c cli) run(ctx context.Context, args ...string) (outcome, error) {
	cmd := exec.CommandContext(ctx, c.path, append(args, "--quiet")...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "XDG_STATE_HOME="+c.dir)
	text, err := cmd.Output()
	if err != nil {
		problem := ""
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			problem = lastLine(string(exit.Stderr))
		}
		return outcome{}, fmt.Errorf("%s: %w: %s", args[0], err, problem)
	}
	s := cmd.ProcessState
	o := outcome{text, (s.UserTime() + s.SystemTime()).Seconds(), float64(usage.PeakOf(s))}
	if o.bytes == 0 {
		return o, errors.New("this system does not tell how much memory a process held")
	}
	return o, nil
}
