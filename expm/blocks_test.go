// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// TestRowsOfManyBlocks: rows that fill many blocks of columns have the bits of the product with each block by itself,
// by any number of workers: on a small graph, where a block is one worker's, and on one where all share it.
func TestRowsOfManyBlocks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct{ n, rows int }{{300, 300}, {17_000, 40}} {
		g := must.Get(graph.BarabasiAlbert(c.n, 2, 1))(t)
		var pick []int
		for k := range c.rows {
			pick = append(pick, (k*7919+5)%c.n)
		}
		for _, workers := range []int{1, 3, 16} {
			runtime.GOMAXPROCS(workers)
			d := must.Get(expm.New(background, laplacian.New(g, laplacian.RandomWalk), .3,
				expm.Options{Method: expm.Chebyshev}))(t)
			rows := must.Get(d.Rows(background, pick))(t)
			for first := 0; first < c.rows; first += 16 {
				k := min(16, c.rows-first)
				x, y := make([]float64, c.n*k), make([]float64, c.n*k)
				for j, p := range pick[first : first+k] {
					x[p*k+j] = 1
				}
				must.Do(t, d.Apply(background, y, true, x, k))
				for j := range k {
					column := make([]float64, c.n)
					for i := range column {
						column[i] = y[i*k+j]
					}
					if !slices.Equal(rows.RawRowView(first+j), column) {
						t.Fatalf("%d nodes, %d workers: row %d is not the product", c.n, workers, first+j)
					}
				}
			}
		}
	}
}

// TestPaddedColumns: any number of columns has the bits of as many among sixteen, with rows and columns that are
// copied and with those that are not.
func TestPaddedColumns(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(300, 3, 1))(t)
	const most = 16
	n := g.Order()
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		d := must.Get(expm.New(t.Context(), laplacian.New(g, kind), 2, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-9}))(t)
		rnd := rand.New(rand.NewPCG(1, 2))
		x, want := make([]float64, n*most), make([]float64, n*most)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		d.MulBlockTo(want, false, x, most)
		for k := 2; k < most; k++ {
			part, got := make([]float64, n*k), make([]float64, n*k)
			for i := range n {
				copy(part[i*k:(i+1)*k], x[i*most:])
			}
			d.MulBlockTo(got, false, part, k)
			for i := range n {
				if !slices.Equal(got[i*k:(i+1)*k], want[i*most:i*most+k]) {
					t.Fatalf("%v, %d columns: row %d has other bits than among %d", kind, k, i, most)
				}
			}
		}
	}
}
