// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/linop"
)

// unread is an operator whose columns come from products.
type unread struct{ linop.Operator }

// Columns of the best sources are the same to rounding whether they are read or computed, and where what
// is read is said to be off.
func TestBestColumns(t *testing.T) {
	const n = 10_000
	g, _, err := graph.RoadLike(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), .25, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		t.Fatal(err)
	}
	read, computed, cut := newBestColumns(d, d), newBestColumns(unread{d}, d), newBestColumns(d, d)
	if read.read == nil || computed.read != nil {
		t.Fatalf("reads %v, without a reader %v", read.read != nil, computed.read != nil)
	}
	cut.read = func(j int, do func(rows []int32, x []float64, off float64)) { do([]int32{int32(j)}, []float64{7}, 1) }
	nodes := []int{5, n - 1, 77, 5}
	for _, b := range []*bestColumns{&read, &computed, &cut} {
		b.load(nodes)
	}
	for j := range nodes {
		want := make([]float64, n)
		computed.subtract(want, j, 3)
		for _, b := range []*bestColumns{&read, &cut} {
			x := make([]float64, n)
			b.subtract(x, j, 3)
			if floats.Sub(x, want); floats.Norm(x, 2) > 1e-11 || floats.Norm(want, 2) < .1 {
				t.Errorf("column %d is off by %v of %v", nodes[j], floats.Norm(x, 2), floats.Norm(want, 2))
			}
		}
	}
}
