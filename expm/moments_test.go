// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// A larger τ after a smaller one, and the other way round, gives the entries of the kernel, to the
// same bits at any number of workers.
func TestMoments(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(3000, 2, 1))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	nodes := []int{2999, 0, 7, 1500, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var first []*mat.Dense
	for _, workers := range []int{1, 2, 3, 7, 16} {
		runtime.GOMAXPROCS(workers)
		m := expm.NewMoments(l, nodes)
		for k, tau := range []float64{.5, 8, 2, .5} {
			got := must.Get(m.Entries(t.Context(), tau, 1<<30))(t)
			if workers == 1 {
				first = append(first, got)
				compareEntries(t, l, nodes, tau, got)
			} else if !mat.Equal(got, first[k]) {
				t.Errorf("%d workers, τ = %v: other bits", workers, tau)
			}
		}
	}
	if !mat.Equal(first[0], first[3]) {
		t.Error("τ = 0.5 is another after τ = 8")
	}
	if _, err := expm.NewMoments(l, nodes).Entries(t.Context(), 8, 1000); !errors.Is(err, expm.ErrAccuracy) {
		t.Errorf("%v, want a refusal of more memory", err)
	}
	if expm.NewMoments(laplacian.New(g, laplacian.RandomWalk), nodes) != nil {
		t.Error("moments of a form that is not symmetric")
	}
}

func compareEntries(t *testing.T, l *laplacian.Laplacian, nodes []int, tau float64, got *mat.Dense) {
	d := must.Get(expm.New(t.Context(), l, tau, expm.Options{Method: expm.Chebyshev}))(t)
	rows := must.Get(d.Rows(t.Context(), nodes))(t)
	for i := range nodes {
		for j, to := range nodes {
			if math.Abs(got.At(i, j)-rows.At(i, to)) > 4*d.Err() {
				t.Errorf("τ = %v, nodes %d and %d: %v, want %v", tau, nodes[i], to, got.At(i, j), rows.At(i, to))
			}
		}
	}
}
