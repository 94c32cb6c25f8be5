// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

var sensitivities = topic{
	name:  "sensitivity",
	title: "Certified sensitivity Δ₂",
	about: "All sensors, the metric of the generator (hops or lengths). No peer certifies Δ₂. The error is the width of the bracket, " +
		"upper/lower − 1; at n = 2,000 the truth from all eigenpairs (SciPy) lies inside.",
	cases: func(quick bool) (list []comparison) {
		k := 1
		if quick {
			k = 20
		}
		for _, c := range []struct {
			f     family
			n     int
			tau   float64
			width float64
			goals []goal
			truth bool
		}{
			{sbm, 2000, 1, 1e-9, []goal{within(2)}, true},
			{road, 1_000_000 / k, 1, .05, []goal{within(10)}, false},
			{knn, 1_000_000 / k, 1, .05, []goal{within(20)}, false},
			{sbm, 100_000 / k, 1, .05, []goal{within(10)}, false},
			{sbm, 1_000_000 / k, 1, .05, []goal{within(120)}, false},
			{ba, 100_000 / k, 1, .05, nil, false},
			{rmat, 100_000 / k, 1, .05, nil, false},
		} {
			one := comparison{
				name: fmt.Sprintf("%s n = %d, τ = %g", c.f.name, c.n, c.tau),
				ours: func(ctx context.Context, dir string) (measure, error) {
					return bracket(ctx, dir, c.f, c.n, c.tau, c.width)
				},
				goals: append(c.goals, accurate(c.width)),
			}
			if c.truth {
				one.script, one.args = "sensitivity", []string{fmt.Sprint(c.tau)}
			}
			list = append(list, one)
		}
		return list
	},
}

func bracket(ctx context.Context, dir string, f family, n int, tau, width float64) (measure, error) {
	g, err := f.make(n)
	if err != nil {
		return measure{}, err
	}
	var b sensitivity.Bracket
	m, err := measured(func() error {
		model := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: tau}
		b, err = sensitivity.Bound(ctx, model, nil, sensitivity.Options{
			Tolerance: width, Seed: [32]byte{1},
		})
		return err
	})
	if err != nil {
		return m, err
	}
	w := b.Upper/b.Lower - 1
	m.Error, m.Note = &w, fmt.Sprintf("[%.4g, %.4g]", b.Lower, b.Upper)
	if n > 5000 {
		return m, nil
	}
	return m, errors.Join(writeGraph(dir, g), write(dir, "ours.f64", []float64{b.Lower, b.Upper}))
}
