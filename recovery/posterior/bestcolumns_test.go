// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
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
	cut.far = .5
	sources := []bestSource{{node: 5, amplitude: 3}, {node: n - 1, amplitude: .5}, {node: 77, amplitude: 1}, {node: 5, amplitude: 2}}
	for name, b := range map[string]*bestColumns{"read": &read, "computed": &computed, "cut": &cut} {
		y := make([]float64, n*len(sources))
		for i := range y {
			y[i] = float64(i)
		}
		b.subtract(y, sources)
		for j, s := range sources {
			want := make([]float64, n)
			linop.ColumnsTo(d, want, []int{s.node})
			for i := range want {
				if got, want := y[i*len(sources)+j],
					float64(i*len(sources)+j)-s.amplitude*want[i]; math.Abs(got-want) > 1e-11*(1+math.Abs(want)) {
					t.Fatalf("%s: at node %d of the column of %d is %v, want %v", name, i, s.node, got, want)
				}
			}
		}
	}
}
