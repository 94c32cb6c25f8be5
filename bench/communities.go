// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph/emd"
)

var leiden = topic{
	name:  "leiden",
	title: "Communities by Leiden",
	about: "Modularity at resolution 1, defaults of every side, the graph already built. The error is 1 − Q/Q*, with Q* the best of " +
		"leidenalg's runs with different seeds, as many as its remark says: negative is better. Times are of one run.",
	cases: func(quick bool) (list []comparison) {
		n, large, runs := 100_000, 1_000_000, 10
		if quick {
			n, large, runs = 5000, 20_000, 2
		}
		for _, c := range []struct {
			f     family
			n     int
			runs  int
			goals []goal
		}{{many, n, runs, nil}, {rmat, n, runs, nil}, {many, large, 2, []goal{slower(2)}}} {
			list = append(list, comparison{
				name:   fmt.Sprintf("%s n = %d", c.f.name, c.n),
				ours:   func(ctx context.Context, dir string) (measure, error) { return detect(ctx, dir, c.f, c.n) },
				script: "leiden",
				args:   []string{strconv.Itoa(c.runs)},
				goals:  []goal{accurate(.005)},
				peers:  []peer{{"leidenalg", nil}, {"igraph", c.goals}, {"networkit", nil}},
			})
		}
		return list
	},
}

func detect(ctx context.Context, dir string, f family, n int) (measure, error) {
	g, err := f.make(n)
	if err != nil {
		return measure{}, err
	}
	var p community.Partition
	m, err := measured(func() error {
		p, err = community.Leiden{Seed: 1}.Detect(ctx, g)
		return err
	})
	if err != nil {
		return m, err
	}
	m.Note = fmt.Sprintf("Q = %.5f, %d communities", p.Modularity, p.Count)
	return m, errors.Join(writeGraph(dir, g), write(dir, "ours.i64", wide(p.Labels)))
}

var movers = topic{
	name:  "emd",
	title: "Earth mover's distance",
	about: "Two random distributions with mass on every node, under shortest paths. POT gets the n × n distances ready made. Errors " +
		"are relative, against a linear programme on the edges that HiGHS solves to 1e-10.",
	cases: func(quick bool) (list []comparison) {
		n := 2000
		if quick {
			n = 500
		}
		for _, f := range []family{sbm, knn, road} {
			list = append(list, comparison{
				name:   fmt.Sprintf("%s n = %d", f.name, n),
				ours:   func(ctx context.Context, dir string) (measure, error) { return move(ctx, dir, f, n) },
				script: "emd",
				goals:  []goal{accurate(1e-9)},
				peers:  []peer{{"pot", []goal{fasterAt(10, 1e-9)}}},
			})
		}
		if quick {
			return list
		}
		for _, f := range []family{road, sbm, knn} {
			list = append(list, comparison{
				name: f.name + " n = 100000",
				ours: func(ctx context.Context, dir string) (measure, error) { return move(ctx, dir, f, 100_000) },
			})
		}
		return list
	},
}

func move(ctx context.Context, dir string, f family, n int) (measure, error) {
	g, err := f.make(n)
	if err != nil {
		return measure{}, err
	}
	r, p, q := random(1), make([]float64, n), make([]float64, n)
	labels, sizes := g.Components()
	massP, massQ := make([]float64, len(sizes)), make([]float64, len(sizes))
	for i, c := range labels {
		p[i], q[i] = r.Float64(), r.Float64()
		massP[c] += p[i]
		massQ[c] += q[i]
	}
	for i, c := range labels {
		q[i] *= massP[c] / massQ[c]
	}
	var d float64
	m, err := measured(func() error {
		d, err = emd.Distance(ctx, g, p, q)
		return err
	})
	return m, errors.Join(err, writeGraph(dir, g), write(dir, "p.f64", p), write(dir, "q.f64", q), write(dir, "ours.f64", []float64{d}))
}
