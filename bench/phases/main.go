// SPDX-License-Identifier: Apache-2.0

// Command phases does one run as `graphcloak run` does it, on a generated graph in a folder,
// and writes a table of its phases: wall and processor seconds, how many processors were busy,
// and the peak of memory, of this process alone:
//
//	go run ./bench/phases -n 1000000
//
// What recovery takes depends on the draw of the noise. -keep writes the release of a run into a
// file, and -release recovers from it, in place of a draw of its own: so two programs are compared
// on one draw.
//
// How many processors were busy is told rightly on a machine that does nothing else.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/bench/internal/usage"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

var (
	nodes = flag.Int("n", 1_000_000, "`number` of nodes")
	spec  = flag.String("graph", "road-like,n=%d", "graph as `graphcloak graph generate` names it, %d the number of nodes")
	tau   = flag.Float64("tau", 2, "diffusion time")
	keep  = flag.String("keep", "", "write the release into this `file`")
	from  = flag.String("release", "", "recover from the release in this `file`")
)

// largeHeap is the share of the live heap that may be garbage, in percent, as the command has it.
const largeHeap = 25

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "phases-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| phase | wall s | CPU s | processors busy | peak MiB |\n|---|---|---|---|---|")
	c := &clock{total: now()}
	c.begin()
	store, err := generate(ctx, dir)
	if err != nil {
		return err
	}
	c.end("generate and write the graph")
	set := graphcloak.Settings{Tau: *tau}
	m, err := graphcloak.Load(ctx, store, set, graphcloak.LoadOptions{})
	if err != nil {
		return err
	}
	c.end("read the graph, Laplacian")
	job := graphcloak.Job{
		Settings: set, Write: graphcloak.WriteOptions{Enabled: true, To: &sink{store, c}},
	}
	if *from != "" {
		err = recoverFrom(ctx, m, job, c)
	} else {
		err = runAll(ctx, m, job, c, dir)
	}
	if err != nil {
		return err
	}
	c.end("write back")
	c.row("all", c.total, now(), c.most)
	return nil
}

// runAll draws and recovers.
func runAll(ctx context.Context, m *graphcloak.Model, job graphcloak.Job, c *clock, dir string) error {
	job.Plan = graphcloak.PlanOptions{
		Budget: privacy.Budget{Epsilon: 50, Delta: 1e-7}, Alpha: 1, Allocation: graphcloak.Allocation{Uniform: true},
	}
	job.Signal = graphcloak.Signal{SourceProperty: builtin.SourceProperty}
	job.Planned = func(*graphcloak.Plan) error { c.end("certificate of Δ₂, communities"); return nil }
	job.Begin = func(a *graphcloak.Attempt) error {
		c.end("read the sources, check")
		return stage(filepath.Join(dir, "staged.json"), a.Plan)
	}
	job.Stage = func(r *graphcloak.Release) error {
		debug.SetGCPercent(largeHeap)
		err := stage(cmp.Or(*keep, filepath.Join(dir, "staged.json")), r)
		c.end("spend, noise, keep the release")
		return err
	}
	rep, err := m.Run(ctx, job)
	if err != nil {
		return err
	}
	describe(rep)
	return nil
}

// recoverFrom recovers from a release that was kept.
func recoverFrom(ctx context.Context, m *graphcloak.Model, job graphcloak.Job, c *clock) error {
	text, err := os.ReadFile(*from)
	if err != nil {
		return err
	}
	r := &graphcloak.Release{}
	if err := r.UnmarshalJSON(text); err != nil {
		return err
	}
	if _, err := m.Partition(ctx); err != nil {
		return err
	}
	debug.SetGCPercent(largeHeap)
	c.end("read the release, communities")
	job.RunID = "phases"
	rep, err := m.Complete(ctx, r, job)
	if err != nil {
		return err
	}
	describe(rep)
	return nil
}

// describe says on standard error what f̂ is, which is to be the same before and after a change.
func describe(rep *report.Report) {
	b := rep.BPDN
	fmt.Fprintf(os.Stderr, "f̂: %s, mass %v at %d nodes, residual %v of %v\n", b.Status, b.Objective, len(b.Support), b.Residual, b.Radius)
}

// generate writes the graph into a folder and opens it.
func generate(ctx context.Context, dir string) (*folder.Store, error) {
	text := *spec
	if strings.Contains(text, "%d") {
		text = fmt.Sprintf(text, *nodes)
	}
	g, err := builtin.Parse(text)
	if err != nil {
		return nil, err
	}
	f, err := g.Folder()
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, f); err != nil {
		return nil, err
	}
	return folder.New(ctx, dir, folder.Options{})
}

// stage keeps a document as the command does, for who resumes a run.
func stage(file string, v json.Marshaler) error {
	text, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// sink is a store before whose writing recovery ends.
type sink struct {
	*folder.Store
	clock *clock
}

func (s *sink) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.clock.end("recover")
	return s.Store.Write(ctx, g, t, force)
}

// moment is what a process has taken.
type moment struct {
	wall time.Time
	cpu  time.Duration
}

func now() moment { return moment{time.Now(), usage.CPU()} }

// clock measures phases, one after the other.
type clock struct {
	total, last moment
	most        int64
}

// begin starts a phase. Where the kernel allows, the peak of memory is that of the phase, else
// that of all before too.
func (c *clock) begin() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	c.last = now()
}

func (c *clock) end(phase string) {
	peak := peakMemory()
	c.most = max(c.most, peak)
	c.row(phase, c.last, now(), peak)
	c.begin()
}

func (c *clock) row(phase string, from, to moment, peak int64) {
	wall, cpu := to.wall.Sub(from.wall).Seconds(), (to.cpu - from.cpu).Seconds()
	fmt.Printf("| %s | %.2f | %.2f | %.2f | %d |\n", phase, wall, cpu, cpu/wall, peak>>20)
}

// peakMemory is the largest resident memory, in bytes; 0 where the kernel does not tell.
func peakMemory() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}
