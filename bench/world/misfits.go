// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// misfit is one way in which the world is not the model.
type misfit struct {
	name     string
	sources  int
	mass     float64
	tau      float64 // times what is supposed
	loudness float64 // of the noise, times what is supposed
	weights  float64 // share by which each weight is off at most
	absent   float64 // share of the relationships that are not there
	prior    posterior.Amplitude
	blob     bool    // half of the mass is at the neighbours
	stuck    float64 // share of the sensors that read 1, at least one
	added    float64 // to every reading
	instead  float64 // every reading
	within   bool    // the model's prior allows what happens
}

// inModel is the world as it is supposed to be.
func inModel() misfit { return misfit{sources: 1, mass: 1, tau: 1, loudness: 1} }

func misfits() []misfit {
	with := func(name string, change func(m *misfit)) misfit {
		m := inModel()
		m.name = name
		change(&m)
		return m
	}
	return []misfit{
		with("the model", func(m *misfit) { m.within = true }),
		with("the model, amplitude .3", func(m *misfit) { m.mass, m.within = .3, true }),
		with("no source", func(m *misfit) { m.sources, m.within = 0, true }),
		with("two sources", func(m *misfit) { m.sources = 2 }),
		with("amplitude .3 where 1 is supposed", func(m *misfit) { m.mass, m.prior = .3, posterior.UnitAmplitude }),
		with("noise 1.5 times as large", func(m *misfit) { m.loudness = 1.5 }),
		with("one sensor stuck at 1", func(m *misfit) { m.stuck = 1e-9 }),
		with("3 % of the sensors stuck at 1", func(m *misfit) { m.stuck = .03 }),
		with("a background of .05", func(m *misfit) { m.added = .05 }),
		with("every reading .5", func(m *misfit) { m.instead = .5 }),
		with("τ half of what is supposed", func(m *misfit) { m.tau = .5 }),
		with("τ twice what is supposed", func(m *misfit) { m.tau = 2 }),
		with("each weight up to 20 % off", func(m *misfit) { m.weights = .2 }),
		with("5 % of the relationships absent", func(m *misfit) { m.absent = .05 }),
		with("a blob", func(m *misfit) { m.blob = true }),
	}
}

// world is what happens under a misfit: the diffusion of a graph and a time.
type world struct {
	misfit
	x         *sensed
	diffusion *expm.Diffusion // where it is the same in all trials
}

func (x *sensed) world(w misfit) (*world, error) {
	d := x.m.Operator.Diffusion
	var err error
	if w.tau != 1 {
		d, err = d.WithTau(w.tau * x.m.Tau.Value())
	}
	return &world{w, x, d}, err
}

// diffuse returns the diffusion of a trial: weights and absent relationships are drawn again.
func (w *world) diffuse(ctx context.Context, random *rand.Rand) (*expm.Diffusion, error) {
	g := w.x.m.Graph
	var err error
	switch {
	case w.weights > 0:
		g, err = g.Reweigh(func(e graph.Edge) float64 { return e.Weight * (1 + w.weights*(2*random.Float64()-1)) })
	case w.absent > 0:
		gone := make(map[int]bool)
		for _, k := range random.Perm(g.Size())[:int(math.Ceil(w.absent*float64(g.Size())))] {
			gone[k] = true
		}
		at := -1
		g, err = g.Reweigh(func(e graph.Edge) float64 {
			if at++; gone[at] {
				return 0
			}
			return e.Weight
		})
	default:
		return w.diffusion, nil
	}
	if err != nil {
		return nil, err
	}
	return expm.New(ctx, laplacian.New(g, w.x.m.Settings.Laplacian), w.x.m.Tau.Value(), expm.Options{Method: w.x.m.Method})
}

// lump is some of a source's mass.
type lump struct {
	node int
	mass float64
}

// spread returns where the mass of a source at node i is.
func (w *world) spread(i int) []lump {
	near := w.x.m.Graph.Neighbors(i)
	if !w.blob || len(near) == 0 {
		return []lump{{i, w.mass}}
	}
	out := []lump{{i, w.mass / 2}}
	for _, j := range near {
		out = append(out, lump{int(j), w.mass / 2 / float64(len(near))})
	}
	return out
}

// stuckOf is the number of stuck sensors among m.
func (w *world) stuckOf(m int) int { return int(math.Ceil(w.stuck * float64(m))) }

// draw returns the readings of one trial, with noise, and the diffusion that made them.
func (w *world) draw(ctx context.Context, random *rand.Rand) ([]float64, *expm.Diffusion, error) {
	x, n := w.x, w.x.m.Graph.Order()
	f, heat := make([]float64, n), make([]float64, n)
	for range w.sources {
		for _, s := range w.spread(random.IntN(n)) {
			f[s.node] += s.mass
		}
	}
	d, err := w.diffuse(ctx, random)
	if err != nil {
		return nil, nil, err
	}
	d.MulVecTo(heat, false, f)
	y := make([]float64, len(x.in.Nodes))
	for k, s := range x.in.Nodes {
		y[k] = heat[s] + w.added
		if w.instead > 0 {
			y[k] = w.instead
		}
	}
	if w.stuck > 0 {
		for _, k := range random.Perm(len(y))[:w.stuckOf(len(y))] {
			y[k] = 1
		}
	}
	for k := range y {
		y[k] += w.loudness * x.in.Sigmas[k] * random.NormFloat64()
	}
	return y, d, nil
}
