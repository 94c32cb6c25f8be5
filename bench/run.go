// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/bench/internal/usage"
)

// measure is what one side reports, as the last line of its standard output.
type measure struct {
	CPU    float64  `json:"cpu"`             // seconds of the measured section, median
	Error  *float64 `json:"error,omitempty"` // as its topic defines it
	Share  float64  `json:"share,omitempty"` // of the memory bandwidth
	Note   string   `json:"note,omitempty"`
	Memory int64    `json:"memory"` // peak of the whole process, bytes
	Wall   float64  `json:"wall,omitempty"`
	Idle   float64  `json:"idle,omitempty"`   // seconds, of all processors together
	Digest string   `json:"digest,omitempty"` // of the result

	Phases  []float64 `json:"phases,omitempty"`  // seconds
	Support int       `json:"support,omitempty"` // nodes of f̂
}

// topic is a section of the results.
type topic struct {
	name, title, about string
	cases              func(quick bool) []comparison
	head               []string                        // of the table; nil: that of comparisons
	row                func(l line, quick bool) string // of a line; nil: that of comparisons
}

// comparison is one problem, solved by us and by peers.
type comparison struct {
	name   string
	ours   func(ctx context.Context, dir string) (measure, error)
	goals  []goal   // ours alone
	script string   // of the peers: peers/NAME.py; "": nobody judges
	args   []string // of the script
	peers  []peer

	workers []int // numbers of processors at which our side runs; nil: one, beside the peers
	copies  bool  // beside as many copies side by side, in rounds; else each number once
}

type peer struct {
	name  string
	goals []goal
}

// line is one line of a table: a program and what it measured.
type line struct {
	name    string // of the case; "" below its first line
	program string
	ours    measure
	theirs  measure // ours again where the program is ours
	goals   []goal
	err     error
	given   float64 // speed-up of as many processes side by side; 0: unknown
	lost    error   // why given is unknown, or of too few rounds
}

// us is our name in the tables.
const us = "**ours**"

// threads pins every process and its numerical libraries to one thread.
var threads = []string{
	"GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
	"RAYON_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1",
}

type runner struct {
	python, work string
}

func (r *runner) topic(ctx context.Context, t topic) (lines []line) {
	for _, c := range t.cases(*quick) {
		if ctx.Err() != nil {
			return lines
		}
		if !strings.Contains(c.name, *cases) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", t.name, c.name)
		switch {
		case c.workers != nil:
			lines = append(lines, r.scale(ctx, t.name, c)...)
		default:
			lines = append(lines, r.comparison(ctx, t.name, c)...)
		}
	}
	return lines
}

// comparison runs our side, which leaves its data in a folder, then the judge and
// the peers on that folder.
func (r *runner) comparison(ctx context.Context, topic string, c comparison) []line {
	failed := func(name string, err error) []line { return []line{{name: c.name, program: name, err: err}} }
	dir, err := os.MkdirTemp(r.work, "case-")
	if err != nil {
		return failed(us, err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return failed(us, err)
	}
	ours, err := process(ctx, nil, self, fmt.Sprintf("-quick=%v", *quick), "-dir", dir, "-child", topic+"/"+c.name)
	if err != nil {
		return failed(us, err)
	}
	beside := func(name string) (measure, error) {
		script := filepath.Join(r.work, "peers", c.script+".py")
		return process(ctx, nil, r.python, append([]string{script, dir, name}, c.args...)...)
	}
	if c.script != "" {
		verdict, err := beside("judge")
		if err != nil {
			return failed("judge", err)
		}
		ours.Error, ours.Note = verdict.Error, cmp.Or(ours.Note, verdict.Note)
	}
	lines := []line{{name: c.name, program: us, ours: ours, theirs: ours, goals: c.goals}}
	for _, p := range c.peers {
		theirs, err := beside(p.name)
		lines = append(lines, line{program: p.name, ours: ours, theirs: theirs, goals: p.goals, err: err})
	}
	return lines
}

// process runs a command, with additions to its environment, and reads the measure that it
// prints last.
func process(ctx context.Context, env []string, name string, args ...string) (m measure, err error) {
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	cmd := command(ctx, env, name, args...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return m, errors.Join(ctx.Err(), fmt.Errorf("%w: %s", err, lastLine(problem.String())))
	}
	return m, json.Unmarshal([]byte(lastLine(out.String())), &m)
}

func command(ctx context.Context, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(append(append(os.Environ(), threads...), "BENCH_SECONDS="+budget()), env...)
	return cmd
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// runChild is our side of one comparison.
func runChild(ctx context.Context) error {
	name, which, _ := strings.Cut(*child, "/")
	for _, t := range topics() {
		for _, c := range t.cases(*quick) {
			if t.name != name || c.name != which {
				continue
			}
			m, err := c.ours(ctx, *folder)
			if err != nil {
				return err
			}
			if m.Memory == 0 {
				m.Memory = usage.Peak()
			}
			return json.NewEncoder(os.Stdout).Encode(m)
		}
	}
	return fmt.Errorf("no case %q", *child)
}

// budget is how many CPU seconds the repetitions of one measurement may take.
func budget() string {
	if *quick {
		return "2"
	}
	return "10"
}

// measured repeats work until the budget is spent, at most 11 times, and returns
// the median in seconds. The scripts of the peers do the same.
func measured(work func() error) (measure, error) {
	budget, err := strconv.ParseFloat(budget(), 64)
	if err != nil {
		return measure{}, err
	}
	const most = 11
	var times []float64
	for total := 0.0; total < budget && len(times) < most; total += times[len(times)-1] {
		runtime.GC()
		begin := usage.CPU()
		if err := work(); err != nil {
			return measure{}, err
		}
		times = append(times, (usage.CPU() - begin).Seconds())
	}
	return measure{CPU: median(times)}, nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	k := len(x)
	return (x[(k-1)/2] + x[k/2]) / 2
}
