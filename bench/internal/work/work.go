// SPDX-License-Identifier: Apache-2.0

// Package work is what revisions are compared by. It builds in an older tree too: it uses
// nothing else of the benchmarks but package usage.
package work

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"

	"gonum.org/v1/gonum/floats"

	stores "github.com/graphcloak/graphcloak/connector/memory"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/usage"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// task is work that is measured.
type task func() error

type item struct {
	name    string
	family  family
	n       int
	prepare func(ctx context.Context, g *graph.Graph) (task, error)
}

// family is a generated graph.
type family struct {
	name string
	make func(n int) (*graph.Graph, error)
}

var (
	block = family{"block model", func(n int) (*graph.Graph, error) {
		g, _, err := graph.SBM(n, 20, 200/float64(n), 1/float64(n), 1)
		return g, err
	}}
	neighbours   = family{"nearest neighbours", func(n int) (*graph.Graph, error) { g, _, err := graph.KNN(n, 10, 1); return g, err }}
	preferential = family{"Barabási–Albert", func(n int) (*graph.Graph, error) { return graph.BarabasiAlbert(n, 10, 1) }}
	roads        = family{"road-like", func(n int) (*graph.Graph, error) { g, _, err := graph.RoadLike(n, 1); return g, err }}
)

func list(quick bool) []item {
	k := 1
	if quick {
		k = 20
	}
	return []item{
		{"e^{-τL}, τ = 10, 16 columns", block, 100_000 / k, diffusion},
		{"e^{-τL}, τ = 10, 16 columns", neighbours, 100_000 / k, diffusion},
		{"Δ₂", neighbours, 200_000 / k, certificate},
		{"Δ₂", block, 50_000 / k, certificate},
		{"Δ₂", preferential, 10_000 / k, certificate},
		{"column norms, 64 probes", block, 100_000 / k, probes},
		{"column norms", neighbours, 50_000 / k, norms},
		{"run", block, 100_000 / k, wholeRun},
		{"run", neighbours, 10_000 / k, wholeRun},
		{"run", roads, 50_000 / k, wholeRun},
	}
}

func (i item) String() string { return i.name + ", " + i.family.name + " n = " + strconv.Itoa(i.n) }

// Names of the works, on graphs that are small where quick.
func Names(quick bool) (names []string) {
	for _, i := range list(quick) {
		names = append(names, i.String())
	}
	return names
}

// enough is for how many CPU seconds work is repeated.
const enough = 0.5

// Measure returns the CPU seconds of the work, the mean of as many runs as take half a second,
// at least one.
func Measure(ctx context.Context, name string) (float64, error) {
	for _, i := range append(list(false), list(true)...) {
		if i.String() != name {
			continue
		}
		g, err := i.family.make(i.n)
		if err != nil {
			return 0, err
		}
		t, err := i.prepare(ctx, g)
		if err != nil {
			return 0, err
		}
		runtime.GC()
		begin, runs := usage.CPU(), 0.0
		for runs == 0 || (usage.CPU()-begin).Seconds() < enough {
			if err := t(); err != nil {
				return 0, err
			}
			runs++
		}
		return (usage.CPU() - begin).Seconds() / runs, nil
	}
	return 0, fmt.Errorf("no work %q", name)
}

func diffusion(ctx context.Context, g *graph.Graph) (task, error) {
	const columns = 16
	d, err := expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), 10, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		return nil, err
	}
	x, y := random(g.Order()*columns), make([]float64, g.Order()*columns)
	return func() error { return d.Apply(ctx, y, false, x, columns) }, nil
}

func random(n int) []float64 {
	rnd := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

func certificate(ctx context.Context, g *graph.Graph) (task, error) {
	m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}
	return func() error {
		_, err := sensitivity.Bound(ctx, m, nil, sensitivity.Options{Tolerance: .05, Seed: [32]byte{1}})
		return err
	}, nil
}

// readings are those of every node, of a source in the noise.
func readings(ctx context.Context, g *graph.Graph) (measurement.Data, error) {
	d, err := expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{Tolerance: 1e-12})
	if err != nil {
		return measurement.Data{}, err
	}
	n := g.Order()
	f, y := make([]float64, n), make([]float64, n)
	f[n/2] = 1
	d.MulVecTo(y, false, f)
	sigma := floats.Norm(y, 2) / 7
	floats.AddScaled(y, sigma, random(n))
	return measurement.Whiten(d, y, measurement.Uniform(sigma, n))
}

func probes(ctx context.Context, g *graph.Graph) (task, error) {
	d, err := readings(ctx, g)
	return func() error {
		_, err := posterior.ProbedNorms(ctx, d, 64, 1e-9, 1)
		return err
	}, err
}

func norms(ctx context.Context, g *graph.Graph) (task, error) {
	d, err := readings(ctx, g)
	return func() error {
		_, err := posterior.ColumnNorms(ctx, d, posterior.Options{})
		return err
	}, err
}

// wholeRun plans, releases under a given key, and recovers.
func wholeRun(ctx context.Context, g *graph.Graph) (task, error) {
	store := stores.FromGraph(g)
	if err := store.Set("source", map[graph.ID]any{g.ID(g.Order() / 2): 1}); err != nil {
		return nil, err
	}
	key, err := privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "bench", 1)
	if err != nil {
		return nil, err
	}
	runs := 0
	return func() error {
		runs++
		m, err := graphcloak.Load(ctx, store, graphcloak.Settings{Tau: 2}, graphcloak.LoadOptions{})
		if err != nil {
			return err
		}
		plan, err := m.Plan(ctx, graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: 50, Delta: 1e-7}, Alpha: 1, Randomness: privacy.EscrowRandomness,
			Allocation: graphcloak.Allocation{Uniform: true},
		})
		if err != nil {
			return err
		}
		id := strconv.Itoa(runs)
		release, err := m.Release(ctx, plan, graphcloak.Job{
			Signal: graphcloak.Signal{SourceProperty: "source"}, RunID: id, Attempt: id, Noise: key,
		})
		if err != nil {
			return err
		}
		_, err = m.Recover(ctx, release, analyst.Options{})
		return err
	}, nil
}
