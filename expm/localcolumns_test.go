// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"math"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// Columns from balls are off by no more than they say, entries beyond the ball included, and by
// little where the ball is not cut.
func TestLocalColumns(t *testing.T) {
	road, _, err := graph.RoadLike(3000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*graph.Graph{"road-like": road, "hub": hub(t)} {
		kind, js := laplacian.Combinatorial, []int{0, 77, 1500, 2999}
		if name == "hub" {
			kind, js = laplacian.Normalized, []int{0, 50, 100, 150, 240, 299}
		}
		d, err := expm.New(t.Context(), laplacian.New(g, kind), 2, expm.Options{Method: expm.Chebyshev})
		if err != nil {
			t.Fatal(err)
		}
		want, err := d.Columns(t.Context(), js)
		if err != nil {
			t.Fatal(err)
		}
		const tol = 1e-4
		var lock sync.Mutex
		ok, err := d.LocalColumns(t.Context(), js, tol, 1<<20, func(k int, nodes []int32, values []float64, off float64) {
			lock.Lock()
			defer lock.Unlock()
			got, norm := make([]float64, g.Order()), 0.0
			for z, i := range nodes {
				got[i] = values[z]
			}
			for i, v := range want.RawRowView(k) {
				norm += (v - got[i]) * (v - got[i])
			}
			if norm = math.Sqrt(norm); norm > off+d.Err() || name == "road-like" && off > 2*tol || norm < tol/1e6 {
				t.Errorf("%s: column %d is off by %v, said to be by %v", name, js[k], norm, off)
			}
		})
		if !ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if ok, _ := d.LocalColumns(t.Context(), js, tol, 0, nil); ok {
			t.Errorf("%s: balls are taken for cheaper than nothing", name)
		}
	}
}
