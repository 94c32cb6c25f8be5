// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian"
)

var diffusion = topic{
	name:  "diffusion",
	title: "e^{-τL}f",
	about: "From the graph's rows to the vector: the Laplacian, its bound or norm, and one product, for ten unit sources. " +
		"Errors are ‖y − truth‖₂/‖f‖₂ against a long-double Chebyshev series. PyGSP's order is the least of 30, 60, 120, … " +
		"that comes within ten times our error, or beyond which its error no longer halves.",
	cases: func(quick bool) (list []comparison) {
		n, large := 100_000, 1_000_000
		if quick {
			n, large = 10_000, 50_000
		}
		for _, c := range []struct {
			f     family
			n     int
			tau   float64
			times float64
		}{
			{sbm, n, 1, 1},
			{sbm, n, 10, 10},
			{ba, n, 1, 10},
			{rmat, n, .1, 10},
			{road, large, 10, 3},
			{knn, large, 10, 3},
			{grid, large, 10, 1},
		} {
			list = append(list, comparison{
				name: fmt.Sprintf("%s n = %d, τ = %g", c.f.name, c.n, c.tau),
				ours: func(ctx context.Context, dir string) (measure, error) {
					return diffuse(ctx, dir, c.f, c.n, c.tau, 1e-15)
				},
				script: "diffusion",
				args:   []string{fmt.Sprint(c.tau)},
				peers:  []peer{{"scipy", []goal{faster(c.times)}}, {"pygsp", []goal{faster(1)}}},
			})
		}
		return list
	},
}

var memory = topic{
	name:  "memory",
	title: "Memory",
	about: "Generation, the Laplacian and one e^{-τL}f at a truncation error of 1e-8, all in one process. The error is the proved bound.",
	cases: func(quick bool) []comparison {
		n := 5_000_000
		if quick {
			n = 100_000
		}
		return []comparison{{
			name:  fmt.Sprintf("block model n = %d, %d edges, τ = 1", n, 10*n),
			ours:  func(ctx context.Context, _ string) (measure, error) { return diffuse(ctx, "", sbm, n, 1, 1e-8) },
			goals: []goal{fits(6)},
		}}
	},
}

// diffuse measures one e^{-τL}f, and leaves graph, f and result in dir unless it is
// "".
func diffuse(ctx context.Context, dir string, f family, n int, tau, tolerance float64) (measure, error) {
	g, err := f.make(n)
	if err != nil {
		return measure{}, err
	}
	n = g.Order()
	x, y := sources(n, 10, 1), make([]float64, n)
	var d *expm.Diffusion
	m, err := measured(func() error {
		d, err = expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), tau, expm.Options{Tolerance: tolerance})
		if err == nil {
			d.MulVecTo(y, false, x)
		}
		return err
	})
	if err != nil {
		return m, err
	}
	again, err := measured(func() error { d.MulVecTo(y, false, x); return nil })
	m.Note = fmt.Sprintf("degree %d; each further vector %.2g s", d.Degree(), again.CPU)
	bound := d.Err()
	m.Error = &bound
	if dir == "" {
		return m, err
	}
	return m, errors.Join(err, writeGraph(dir, g), write(dir, "f.f64", x), write(dir, "ours.f64", y))
}

var product = topic{
	name:  "product",
	title: "One product",
	about: "One fused step of the Chebyshev recurrence with L, after reordering, against the bandwidth of a triad " +
		"a ← b + s·c (24 bytes an entry, 3 × 256 MiB) on the same thread. The step's bytes are what it must move: the rows and " +
		"their pointers, the diagonal, x once, dst read and written.",
	cases: func(quick bool) []comparison {
		n := 1_000_000
		if quick {
			n = 100_000
		}
		return []comparison{{
			name:  fmt.Sprintf("%s n = %d", knn.name, n),
			ours:  func(context.Context, string) (measure, error) { return step(n) },
			goals: []goal{share(.5)},
		}}
	},
}

func step(n int) (measure, error) {
	const length = 1 << 25
	a, b, c := make([]float64, length), make([]float64, length), make([]float64, length)
	triad, err := measured(func() error {
		c := c[:len(a)]
		b := b[:len(a)]
		for i := range a {
			a[i] = b[i] + 3*c[i]
		}
		return nil
	})
	if err != nil {
		return triad, err
	}
	g, err := knn.make(n)
	if err != nil {
		return triad, err
	}
	l := laplacian.New(g, laplacian.Combinatorial)
	x, y := sources(n, n, 1), make([]float64, n)
	const steps = 10
	m, err := measured(func() error {
		for range steps {
			l.Recur(y, nil, x, 1, 1e-3, -1, -1, 0)
		}
		return nil
	})
	m.CPU /= steps
	bandwidth := 24 * length / triad.CPU
	moved := float64(12*2*g.Size()+5*8*n) / m.CPU
	m.Share = moved / bandwidth
	m.Note = fmt.Sprintf("%.2g of %.2g GB/s: %.0f %%", moved/1e9, bandwidth/1e9, 100*m.Share)
	return m, err
}
