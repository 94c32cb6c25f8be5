// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// The operator differs from the one whose entries are taken by no more than both errors that are
// stated, for symmetric forms and others, with few eigenpairs left and with all.
func TestStored(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(60, 2, 1))(t)
	closest, all := 0.0, make([]int, 60)
	for i := range all {
		all[i] = 59 - i
	}
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		l := laplacian.New(g, kind)
		for _, tau := range []float64{.1, 3, 40} {
			d := must.Get(expm.New(t.Context(), l, tau, expm.Options{Method: expm.Eigen}))(t)
			for _, least := range []float64{1e-15, 1e-3} {
				s := d.Stored(least)
				rows := must.Get(s.Rows(t.Context(), all))(t)
				want := must.Get(d.Rows(t.Context(), all))(t)
				rows.Sub(rows, want)
				var spectrum mat.SVD
				if !spectrum.Factorize(rows, mat.SVDNone) {
					t.Fatal("no singular values")
				}
				off := spectrum.Values(nil)[0]
				closest = max(closest, off/s.Err())
				if off > s.Err()+d.Err() || s.Err() < least || s.Err() > d.Err()+8*least {
					t.Errorf("%v, τ = %v, least %v: off by %.2g, stated %.2g, of the operator %.2g", kind, tau, least, off,
						s.Err(), d.Err())
				}
			}
		}
	}
	if closest < .8 {
		t.Errorf("errors are at most %.2g of what is stated: none shows a bound that is too small", closest)
	}
	d, err := expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{Method: expm.Chebyshev})
	if err != nil || d.Stored(0) != nil {
		t.Errorf("%v: without eigenpairs something is stored", err)
	}
}
