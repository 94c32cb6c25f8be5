// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	stores "github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	free "github.com/graphcloak/graphcloak/internal/memory"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/usage"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

var scaling = topic{
	name:  "scaling",
	title: "From one processor to all",
	about: "The same work, to the same bits, at 1, 2, 4, … and all processors, each in a process of its own; the fastest of three where " +
		"a run takes " +
		"less than 15 seconds. What the machine gives is the speed-up of as many processes side by side, each with the work of one. " +
		"On one processor: the share of the wall in which the others idled, by Go's scheduler. Leiden moves nodes one after the other.",
	head: []string{"case", "processors", "wall s", "speed-up", sideBySideColumn, "on one processor", "CPU s", "GiB"},
	row:  scalingRow,
	cases: func(quick bool) (list []comparison) {
		k := 1
		if quick {
			k = 50
		}
		add := func(name string, f family, n int, work func(ctx context.Context, dir string, g *graph.Graph) (task, error)) {
			list = append(list, comparison{
				name: fmt.Sprintf("%s, %s n = %d", name, f.name, n), workers: processors(), copies: true,
				ours: func(ctx context.Context, dir string) (measure, error) {
					g, err := f.make(n)
					if err != nil {
						return measure{}, err
					}
					t, err := work(ctx, dir, g)
					if err != nil {
						return measure{}, err
					}
					return timed(t)
				},
			})
		}
		add("one product", knn, 1_000_000/k, products(1))
		add("product of 16 columns", sbm, 1_000_000/k, products(16))
		add("e^{-τL}f, τ = 10", sbm, 1_000_000/k, diffusion10)
		add("Δ₂", knn, 1_000_000/k, certificate)
		add("Δ₂", sbm, 1_000_000/k, certificate)
		add("Δ₂", ba, 100_000/k, certificate)
		add("run", sbm, 100_000/k, wholeRun)
		add("run", road, 1_000_000/k, wholeRun)
		add("evaluate", sbm, 5_000/min(k, 5), evaluation)
		return list
	},
}

// sideBySideColumn heads what copies side by side tell of the machine.
const sideBySideColumn = "the machine gives"

// processors returns 1, 2, 4, … and the number of processors.
func processors() (list []int) {
	for k := 1; k < runtime.NumCPU(); k *= 2 {
		list = append(list, k)
	}
	return append(list, runtime.NumCPU())
}

// task is work that is measured; it returns its result.
type task func() (any, error)

// enough is for how many seconds a task is repeated.
const enough = .5

// timed measures a task: once, or where it takes less than enough the mean of as many as
// take that.
func timed(work task) (measure, error) {
	if err := othersReady(); err != nil {
		return measure{}, err
	}
	m, err := window(work, 1)
	if err == nil && m.Wall < enough {
		m, err = window(work, int(math.Ceil(enough/max(m.Wall, 1e-6))))
	}
	return m, err
}

// window measures the mean of some runs of a task. A collection of garbage brings the account of idle time up to
// date, and idles itself: what one more takes is taken off.
func window(work task, runs int) (m measure, err error) {
	idle := idleSeconds()
	cpu := usage.CPU()
	begin := time.Now()
	var result any
	for range runs {
		if result, err = work(); err != nil {
			return m, err
		}
	}
	m.Wall = time.Since(begin).Seconds() / float64(runs)
	after := usage.CPU()
	end := idleSeconds()
	collection := idleSeconds() - end
	m.CPU, m.Idle = (after-cpu).Seconds()/float64(runs), max(0, end-idle-collection)/float64(runs)
	m.Digest, err = digestOf(result)
	return m, err
}

// idleSeconds returns for how long processors had nothing to do.
func idleSeconds() float64 {
	runtime.GC() // the account is as of the last one
	s := []metrics.Sample{{Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}

// digestOf identifies the bits of a result.
func digestOf(result any) (string, error) {
	h := sha256.New()
	if x, ok := result.([]float64); ok {
		for _, v := range x {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	} else if err := json.NewEncoder(h).Encode(result); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// randomBlock returns k row-major columns of n numbers.
func randomBlock(n, k int) []float64 {
	rnd := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, n*k)
	for i := range x {
		x[i] = rnd.Float64()
	}
	return x
}

func products(k int) func(context.Context, string, *graph.Graph) (task, error) {
	return func(_ context.Context, _ string, g *graph.Graph) (task, error) {
		l := laplacian.New(g, laplacian.Combinatorial)
		x, y := randomBlock(g.Order(), k), make([]float64, g.Order()*k)
		return func() (any, error) {
			l.Recur(y, nil, x, k, 2/l.Bound(), -1, 0, 0)
			return y, nil
		}, nil
	}
}

func diffusion10(ctx context.Context, _ string, g *graph.Graph) (task, error) {
	d, err := expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), 10, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		return nil, err
	}
	x, y := randomBlock(g.Order(), 1), make([]float64, g.Order())
	return func() (any, error) { return y, d.Apply(ctx, y, false, x, 1) }, nil
}

func certificate(ctx context.Context, _ string, g *graph.Graph) (task, error) {
	m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}
	return func() (any, error) {
		return sensitivity.Bound(ctx, m, nil, sensitivity.Options{Tolerance: .05, Seed: [32]byte{1}})
	}, nil
}

// prepared is a model of a graph with one source.
type prepared struct {
	*graphcloak.Model
	opts graphcloak.PlanOptions
	key  privacy.Noise
}

func prepare(ctx context.Context, g *graph.Graph) (*prepared, error) {
	store := stores.FromGraph(g)
	if err := store.Set("source", map[graph.ID]any{g.ID(g.Order() / 2): 1}); err != nil {
		return nil, err
	}
	m, err := graphcloak.Load(ctx, store, graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{})
	if err != nil {
		return nil, err
	}
	key, err := privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "bench", 1)
	return &prepared{Model: m, key: key, opts: graphcloak.PlanOptions{
		Budget: privacy.Budget{Epsilon: 50, Delta: 1e-5}, Alpha: 1, Randomness: privacy.EscrowRandomness,
		Allocation: graphcloak.Allocation{Uniform: true},
	}}, err
}

// keep reads v from a file, where the first process that comes writes what make returns: the
// seed of a certificate and the nonces of noise are drawn again in every process, and all are to
// compute from the same.
func keep(file string, v any, make func() (any, error)) error {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		first, err := make()
		if err != nil {
			return err
		}
		text, err := json.Marshal(first)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// newRelease releases under a new plan.
func (p *prepared) newRelease(ctx context.Context, id string) (*graphcloak.Release, error) {
	plan, err := p.Plan(ctx, p.opts)
	if err != nil {
		return nil, err
	}
	return p.Release(ctx, plan, graphcloak.Job{Signal: graphcloak.Signal{SourceProperty: "source"}, RunID: id, Attempt: id, Noise: p.key})
}

// wholeRun plans, releases under a given key, and recovers from a release that is kept.
func wholeRun(ctx context.Context, dir string, g *graph.Graph) (task, error) {
	p, err := prepare(ctx, g)
	if err != nil {
		return nil, err
	}
	kept := new(graphcloak.Release)
	if err := keep(filepath.Join(dir, "release.json"), kept, func() (any, error) { return p.newRelease(ctx, "kept") }); err != nil {
		return nil, err
	}
	if p, err = prepare(ctx, g); err != nil { // nothing is known yet, as in a process that finds a release
		return nil, err
	}
	runs := 0
	return func() (any, error) {
		runs++
		if _, err := p.newRelease(ctx, strconv.Itoa(runs)); err != nil {
			return nil, err
		}
		rep, err := p.Recover(ctx, kept, analyst.Options{})
		if err != nil {
			return nil, err
		}
		rep.Millis, rep.StartedAt, rep.Store = report.Millis{}, time.Time{}, "" // of this process alone
		return rep, nil
	}, nil
}

// evaluation plans, and evaluates a plan that is kept.
func evaluation(ctx context.Context, dir string, g *graph.Graph) (task, error) {
	p, err := prepare(ctx, g)
	if err != nil {
		return nil, err
	}
	kept := new(graphcloak.Plan)
	if err := keep(filepath.Join(dir, "plan.json"), kept, func() (any, error) { return p.Plan(ctx, p.opts) }); err != nil {
		return nil, err
	}
	if p, err = prepare(ctx, g); err != nil { // as for a run
		return nil, err
	}
	return func() (any, error) {
		if _, err := p.Plan(ctx, p.opts); err != nil {
			return nil, err
		}
		return study.Evaluate(ctx, p.Model.Model, kept, study.Options{Trials: 200, Options: simulate.Options{Seed: 1}})
	}, nil
}

// Work of less than shortRun on one processor is measured scalingRounds times beside its copies: a machine's speed goes up
// and down.
const (
	shortRun      = 15 // seconds
	scalingRounds = 3
)

// scale runs our side at every number of processors, in turn.
func (r *runner) scale(ctx context.Context, topic string, c comparison) (lines []line) {
	failed := func(err error) []line { return []line{{name: c.name, program: "1", err: err}} }
	dir, err := os.MkdirTemp(r.work, "case-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	args := []string{fmt.Sprintf("-quick=%v", *quick), "-dir", dir, "-child", topic + "/" + c.name}
	s := scaled{workers: c.workers, best: make([]measure, len(c.workers)), errs: make([]error, len(c.workers))}
	rounds := 1
	if c.copies {
		rounds = scalingRounds
	}
	for round := range rounds {
		for i, k := range c.workers {
			m, err := process(ctx, []string{"GOMAXPROCS=" + strconv.Itoa(k)}, self, args...)
			s.add(i, m, err)
		}
		if most := c.workers[len(c.workers)-1]; c.copies && round < 2 && most > 1 && int64(most)*s.best[0].Memory <= free.Available() {
			list, err := sideBySide(ctx, most, self, append(args, "-together")...)
			s.addTogether(list, err)
		}
		if !(s.best[0].Wall < shortRun) {
			break
		}
	}
	return s.lines(c.name)
}

// scaled is what was measured of a case: of each number of processors the fastest run.
type scaled struct {
	workers []int
	best    []measure
	errs    []error // of each number, the first
	rate    float64 // at which processes side by side do the work together, 1/s; 0: unknown
	lost    error   // of processes side by side, the last
}

// add adds a run on the i-th number of processors.
func (s *scaled) add(i int, m measure, err error) {
	if err == nil && s.best[0].Digest != "" && m.Digest != s.best[0].Digest {
		err = errors.New("other bits than on one processor")
	}
	if s.errs[i] == nil {
		s.errs[i] = err
	}
	if err == nil && (s.best[i].Digest == "" || m.Wall < s.best[i].Wall) {
		s.best[i] = m
	}
}

// addTogether adds runs side by side, on one processor each, or why there are none.
func (s *scaled) addTogether(list []measure, err error) {
	if err != nil {
		s.lost = err
		return
	}
	rate := 0.0
	for _, m := range list {
		rate += 1 / m.Wall
	}
	s.rate = max(s.rate, rate)
}

func (s *scaled) lines(name string) (lines []line) {
	for i, k := range s.workers {
		l := line{name: name, program: strconv.Itoa(k), ours: s.best[0], theirs: s.best[i], err: s.errs[i]}
		if i == len(s.workers)-1 {
			l.given, l.lost = s.rate*s.best[0].Wall, s.lost
		}
		lines = append(lines, l)
	}
	return lines
}

// scalingRow is a line as a row of the table of [scaling], which has none for one processor.
func scalingRow(l line, _ bool) string {
	if l.err != nil {
		return cells(l.name, l.program, "", "", "", "", "", "**"+oneLine(l.err)+"**")
	}
	k, _ := strconv.ParseFloat(l.program, 64)
	if k == 1 {
		return ""
	}
	speed, m := l.ours.Wall/l.theirs.Wall, l.theirs
	share, given := fmt.Sprintf("%.1f %%", 100*m.Idle/((k-1)*m.Wall)), ""
	if l.given > 0 {
		given = fmt.Sprintf("%.2f", l.given)
	} else if l.lost != nil {
		given = "**" + oneLine(l.lost) + "**"
	}
	return cells(l.name, l.program, fmt.Sprintf("%.3g", m.Wall), fmt.Sprintf("%.2f", speed), given,
		share, fmt.Sprintf("%.3g", m.CPU), fmt.Sprintf("%.2g", float64(m.Memory)/(1<<30)))
}
