// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

var allocations = topic{
	name:  "allocation",
	title: "Noise allocation",
	about: "The packing programme of objective separation on a block model of mean degree 20 with ten communities, τ = 1; ours " +
		"includes the rows of M. HiGHS (through SciPy) gets all rows of the programme ready made. The error beside it is the distance " +
		"from its optimum, which must lie between our value and our proved limit; alone it is our proved gap.",
	cases: func(quick bool) []comparison {
		n := 1000
		if quick {
			n = 300
		}
		list := []comparison{{
			name:   fmt.Sprintf("n = %d", n),
			ours:   func(ctx context.Context, dir string) (measure, error) { return allocate(ctx, dir, n, 1e-7) },
			script: "allocation",
			goals:  []goal{accurate(1e-6)},
			peers:  []peer{{"highs", nil}},
		}}
		if quick {
			return list
		}
		return append(list, comparison{
			name:  "n = 5000",
			ours:  func(ctx context.Context, _ string) (measure, error) { return allocate(ctx, "", 5000, .01) },
			goals: []goal{within(120), accurate(.01)},
		}, comparison{
			name:  "n = 100000",
			ours:  func(ctx context.Context, _ string) (measure, error) { return allocate(ctx, "", 100_000, .01) },
			goals: []goal{fits(4), accurate(.01)},
		})
	},
}

// allocate optimises to within a relative gap, and leaves graph, M, labels and result in
// dir unless it is "".
func allocate(ctx context.Context, dir string, n int, gap float64) (measure, error) {
	size := float64(n) / 10
	g, labels, err := graph.SBM(n, 10, 19/size, 1/(float64(n)-size), 1)
	if err != nil {
		return measure{}, err
	}
	model := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}
	d, err := expm.New(ctx, model.Laplacian, 1, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		return measure{}, err
	}
	var r *allocation.Result
	m, err := measured(func() error {
		r, err = allocation.Optimize(ctx, model, d, labels, allocation.Options{Objective: allocation.Separation, Gap: gap})
		return err
	})
	if err != nil {
		return m, err
	}
	gap = 1 - r.Value/r.Limit
	m.Error, m.Note = &gap, fmt.Sprintf("%d edges, %d sensors report", g.Size(), r.Reporting)
	if dir == "" {
		return m, nil
	}
	rows, err := dense(ctx, d)
	if err != nil {
		return m, err
	}
	return m, errors.Join(
		writeGraph(dir, g), write(dir, "m.f64", rows.RawMatrix().Data), write(dir, "labels.i64", wide(labels)),
		write(dir, "ours.f64", []float64{r.Value, r.Limit}))
}
