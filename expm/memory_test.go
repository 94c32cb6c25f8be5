// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// TestKeep: a diffusion that keeps its memory, and those of other tolerances made of it, allocate none for a second
// application, also after collections of garbage; two at the same time have memory of their own.
func TestKeep(t *testing.T) {
	g, err := graph.BarabasiAlbert(20_000, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := expm.New(t.Context(), laplacian.New(g, laplacian.Normalized), 1, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-2, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	fine, err := d.WithTolerance(1e-4)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float64, g.Order()), make([]float64, g.Order())
	x[0] = 1
	d.MulVecTo(y, false, x)
	for range 3 {
		runtime.GC()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fine.MulVecTo(y, false, x)
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc >= uint64(8*g.Order()) {
		t.Errorf("a second application allocates %d bytes, with %d in one vector", after.TotalAlloc-before.TotalAlloc, 8*g.Order())
	}
	other, same := make([]float64, g.Order()), make(chan struct{})
	go func() {
		defer close(same)
		fine.MulVecTo(other, false, x)
	}()
	fine.MulVecTo(y, false, x)
	<-same
	for i := range y {
		if y[i] != other[i] {
			t.Fatalf("entry %d is %v and %v", i, y[i], other[i])
		}
	}
}
