// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/graphcloak/graphcloak/community"
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
