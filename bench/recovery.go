// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/bench/paper"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

var bpdn = topic{
	name:  "bpdn",
	title: "Recovery",
	about: "min 1ᵀf subject to 0 ≤ f ≤ 1, ‖Mf − y‖₂ ≤ η, with η = 0.01‖y‖ and noise of 0.95 η unless said. The error beside peers is " +
		"the largest of the relative gap to the dual bound and the excesses over η and the bounds of f; alone it is our certified gap. " +
		"SPGL1 does not know f ≤ 1, and an answer without any dual bound has error 1.",
	cases: func(quick bool) []comparison {
		list := []comparison{
			beside("block model n = 500, τ = 2", []goal{within(.02)}, matrix(two, 500, 2)),
			beside("unit interval n = 1000, m = 500, T = 0.01", nil, func(context.Context) (linop.Operator, error) {
				return paper.NewInterval(500, 1000, .01)
			}),
		}
		if quick {
			return list
		}
		return append(list,
			alone("Barabási–Albert n = 5000, matrix, τ = 1", matrix(thin, 5000, 1), .01, recovery.Options{Tol: 1e-8}, within(3)),
			alone("Barabási–Albert n = 100000, operator, τ = 1, η = 0.5‖y‖", series(thin, 100_000), .5,
				recovery.Options{Tol: 1e-6}, within(20)),
			alone("road-like n = 1000000, operator, τ = 1, η = 0.5‖y‖", series(road, 1_000_000), .5, recovery.Options{Tol: 1e-4}, fits(4)),
			alone("block model n = 100000, operator, τ = 1, η = 0.5‖y‖", series(sbm, 100_000), .5, recovery.Options{Tol: 1e-4}, fits(4)),
			alone("block model n = 1000000, operator, τ = 1, η = 0.5‖y‖", series(sbm, 1_000_000), .5, recovery.Options{Tol: 1e-4}, fits(4)),
		)
	},
}

var posteriors = topic{
	name:  "posterior",
	title: "Posterior of a single source",
	about: "One source that the best test for it alone would see at seven standard deviations, τ = 1: column norms, the " +
		"posterior and its " +
		"credible set. No peer computes it. The error is what bounds on the norms leave open of the probabilities.",
	cases: func(quick bool) []comparison {
		if quick {
			return []comparison{
				single("road-like n = 20000, operator", series(road, 20_000)),
				single("block model n = 20000, operator", series(sbm, 20_000)),
			}
		}
		return []comparison{
			single("Barabási–Albert n = 5000, M given", matrix(thin, 5000, 1), within(1)),
			single("block model n = 100000, operator", series(sbm, 100_000), fits(4)),
			single("Barabási–Albert n = 100000, operator", series(ba, 100_000), fits(4)),
			single("nearest neighbours n = 100000, operator", series(knn, 100_000), fits(4)),
			single("road-like n = 1000000, operator", series(road, 1_000_000), fits(4)),
			single("block model n = 1000000, operator", series(sbm, 1_000_000), fits(4)),
		}
	},
}

// operator makes M.
type operator func(context.Context) (linop.Operator, error)

// matrix is e^{-τL} as a matrix that declares its error.
func matrix(f family, n int, tau float64) operator {
	return func(ctx context.Context) (linop.Operator, error) {
		g, err := f.make(n)
		if err != nil {
			return nil, err
		}
		d, err := expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), tau, expm.Options{})
		if err != nil {
			return nil, err
		}
		m, err := dense(ctx, d)
		return linop.Dense{M: m, Bound: d.Err()}, err
	}
}

// series is e^{-L} as a Chebyshev series.
func series(f family, n int) operator {
	return func(ctx context.Context) (linop.Operator, error) {
		g, err := f.make(n)
		if err != nil {
			return nil, err
		}
		return expm.New(ctx, laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{Tolerance: 1e-12})
	}
}

// instance returns y = Mf₀ + ν of k unit sources, ‖ν‖ = 0.95·level·‖Mf₀‖, with
// η = level·‖y‖.
func instance(a linop.Operator, k int, level float64) recovery.Problem {
	m, n := a.Dims()
	r := random(2)
	y, noise := make([]float64, m), make([]float64, m)
	a.MulVecTo(y, false, sources(n, k, 1))
	for i := range noise {
		noise[i] = r.NormFloat64()
	}
	floats.AddScaled(y, .95*level*floats.Norm(y, 2)/floats.Norm(noise, 2), noise)
	return recovery.Problem{A: a, Y: y, Radius: level * floats.Norm(y, 2)}
}

func solve(ctx context.Context, p recovery.Problem, opts recovery.Options) (measure, *recovery.Result, error) {
	var res *recovery.Result
	m, err := measured(func() (err error) {
		res, err = recovery.ColumnGeneration{Options: opts}.Solve(ctx, p)
		if errors.Is(err, recovery.ErrStalled) { // its gap says how far it came
			return nil
		}
		return err
	})
	if err != nil {
		return m, nil, err
	}
	m.Error, m.Note = &res.Gap, fmt.Sprintf("support %d, %d products", res.Support, res.Products)
	return m, res, nil
}

// beside compares a problem, whose M is a matrix without error, with the peers.
func beside(name string, goals []goal, make operator) comparison {
	return comparison{
		name: name,
		ours: func(ctx context.Context, dir string) (measure, error) {
			a, err := make(ctx)
			if err != nil {
				return measure{}, err
			}
			m, n := a.Dims()
			all := entries(a)
			p := instance(linop.Dense{M: mat.NewDense(m, n, all)}, 2, .01)
			x, res, err := solve(ctx, p, recovery.Options{})
			if err != nil {
				return x, err
			}
			return x, errors.Join(
				write(dir, "m.f64", all), write(dir, "y.f64", p.Y), write(dir, "eta.f64", []float64{p.Radius}),
				write(dir, "f.f64", res.F), write(dir, "z.f64", res.Dual))
		},
		script: "bpdn",
		goals:  append(goals, accurate(1e-10)),
		peers:  []peer{{"clarabel", []goal{faster(100)}}, {"spgl1", nil}, {"spgl1-tight", nil}},
	}
}

// entries returns the rows of an operator one after the other.
func entries(a linop.Operator) []float64 {
	m, n := a.Dims()
	out, e := make([]float64, 0, m*n), make([]float64, m)
	row := make([]float64, n)
	for i := range m {
		e[i] = 1
		a.MulVecTo(row, true, e)
		e[i] = 0
		out = append(out, row...)
	}
	return out
}

// alone solves for 20 sources on a graph too large for the peers.
func alone(name string, make operator, level float64, opts recovery.Options, g goal) comparison {
	return comparison{
		name:  name,
		goals: []goal{g, accurate(opts.Tol)},
		ours: func(ctx context.Context, _ string) (measure, error) {
			a, err := make(ctx)
			if err != nil {
				return measure{}, err
			}
			m, _, err := solve(ctx, instance(a, 20, level), opts)
			return m, err
		},
	}
}

// single is the posterior of a single source that stands out of the noise: the best test for
// it alone would see it at seven standard deviations.
func single(name string, make operator, goals ...goal) comparison {
	return comparison{
		name:  name,
		goals: goals,
		ours: func(ctx context.Context, _ string) (measure, error) {
			a, err := make(ctx)
			if err != nil {
				return measure{}, err
			}
			y, sigma := outstanding(a)
			var p *posterior.Posterior
			m, err := measured(func() error {
				d, err := measurement.Whiten(a, y, measurement.Uniform(sigma, len(y)))
				if err == nil {
					p, err = posterior.New(ctx, d, posterior.Options{})
				}
				return err
			})
			if err == nil {
				m.Error = &p.ProbabilityError
				m.Note = fmt.Sprintf("credible set of %d; log odds within %.2g", len(p.Credible()), p.LogOddsError)
			}
			return m, err
		},
	}
}

// outstanding returns y = Me_s + ν, ν ~ N(0, σ²I), with σ = ‖Me_s‖/7.
func outstanding(a linop.Operator) (y []float64, sigma float64) {
	m, n := a.Dims()
	y = make([]float64, m)
	a.MulVecTo(y, false, sources(n, 1, 1))
	sigma = floats.Norm(y, 2) / 7
	r := random(2)
	for i := range y {
		y[i] += sigma * r.NormFloat64()
	}
	return y, sigma
}

// dense returns the rows of M as a matrix with its entries.
func dense(ctx context.Context, d *expm.Diffusion) (*mat.Dense, error) {
	n, _ := d.Dims()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return d.Rows(ctx, all)
}
