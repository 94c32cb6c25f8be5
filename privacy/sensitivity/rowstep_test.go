// SPDX-License-Identifier: Apache-2.0

package sensitivity_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// Quadrature with vectors over all rows agrees with that over the nodes visited, and has the same
// bits at any number of workers.
func TestQuadratureByRows(t *testing.T) {
	ba := must[*graph.Graph](t)(graph.BarabasiAlbert(20_000, 3, 1))
	const n = 40_000
	place := rand.New(rand.NewPCG(1, 2)).Perm(n)
	var edges [][3]float64
	for i := range n {
		edges = append(edges, [3]float64{float64(place[i]), float64(place[(i+1)%n]), 1},
			[3]float64{float64(place[i]), float64(place[(i+7)%n]), 2})
	}
	ring := build(t, n, edges, hops)
	for _, c := range []struct {
		g         *graph.Graph
		kind      laplacian.Kind
		reordered bool
		tol       float64 // more where vectors over all rows are charged with more rounding
	}{{ba, laplacian.Combinatorial, false, 1e-9}, {ba, laplacian.RandomWalk, false, 1e-9}, {ring, laplacian.Combinatorial, true, 1e-3}} {
		m := sensitivity.Model{Graph: c.g, Laplacian: laplacian.New(c.g, c.kind), Tau: 2}
		if (m.Laplacian.Permutation() != nil) != c.reordered {
			t.Fatal("the rows are not in the order that this test is of")
		}
		for _, index := range []int{100, 5000} {
			low, up, err := sensitivity.QuadratureByRows(m, index, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			first := [2]float64{}
			withWorkers(t, func(workers int) {
				l, u, err := sensitivity.QuadratureByRows(m, index, 50)
				if first == [2]float64{} {
					first = [2]float64{l, u}
				}
				if err != nil || !(math.Abs(l-low) <= c.tol*low) || !(math.Abs(u-up) <= c.tol*up) || first != [2]float64{l, u} {
					t.Errorf("%v, edge %d, %d workers: [%v, %v], over the nodes visited [%v, %v], at first %v", c.kind, index, workers, l,
						u, low, up, first)
				}
			})
		}
	}
}

// Quadrature with vectors over all rows, from the start or from the middle on, brackets the exact value of every
// edge, however few steps it takes.
func TestQuadratureByRowsIsExact(t *testing.T) {
	const n = 40
	for name, g := range families(t, n) {
		for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized} {
			for _, tau := range []float64{.3, 10} {
				m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: tau}
				for _, rowsFrom := range []int{1, n / 2} {
					for _, limit := range []int64{4 * n, math.MaxInt64} {
						var wide int
						err := sensitivity.Quadrature(background, m, limit, rowsFrom, func(low, up, exactLow, exactUp float64) {
							if low > exactUp || up < exactLow {
								t.Errorf("%s %v τ=%v, rows from %d, limit %d: [%v, %v], exact [%v, %v]", name, kind, tau, rowsFrom, limit,
									low, up, exactLow, exactUp)
							}
							if up > 1.01*exactUp && up > 1e-5 {
								wide++
							}
						})
						if err != nil {
							t.Fatal(err)
						}
						if limit == math.MaxInt64 && tau < 1 && name != "weighted" && wide > g.Size()/10 {
							t.Errorf("%s %v, rows from %d: %d of %d edges stay open", name, kind, rowsFrom, wide, g.Size())
						}
					}
				}
			}
		}
	}
}
