// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// The tolerance of the zero value depends on the order of the graph alone.
func TestDefaultTolerance(t *testing.T) {
	for n, want := range map[int]float64{2: 0.001, 9_999: 0.001, 10_000: 0.001, 10_001: 0.05} {
		g, err := graph.Path(n)
		if err != nil {
			t.Fatal(err)
		}
		var o, given Options
		given.Tolerance = 0.02
		for _, opts := range []*Options{&o, &given} {
			if _, err := newProblem(Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}, nil, opts); err != nil {
				t.Fatal(err)
			}
		}
		if o.Tolerance != want || given.Tolerance != 0.02 {
			t.Errorf("%d nodes: the tolerance is %v, want %v, and 0.02 became %v", n, o.Tolerance, want, given.Tolerance)
		}
	}
}
