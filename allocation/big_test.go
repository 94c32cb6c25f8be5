// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/sensitivity"
)

func TestBig(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	if n == 0 {
		t.Skip()
	}
	k, _ := strconv.Atoi(os.Getenv("K"))
	tau, _ := strconv.ParseFloat(os.Getenv("TAU"), 64)
	memk, _ := strconv.Atoi(os.Getenv("MEMK"))
	mem := int64(memk) * int64(n) * 8
	size := float64(n) / float64(k)
	// mean degree 20
	g, labels, err := graph.SBM(n, k, 19/size, 1/(float64(n)-size), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(g.Order(), g.Size())
	l := laplacian.New(g, laplacian.Combinatorial)
	start := time.Now()
	d, err := expm.New(context.Background(), l, tau, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("expm", time.Since(start))
	m := sensitivity.Model{Graph: g, Laplacian: l, Tau: tau, Diffusion: d}
	for _, o := range []Objective{Separation} {
		start := time.Now()
		last := time.Now()
		r, err := Optimize(context.Background(), m, d, labels, Options{Objective: o, Gap: 0.01, Memory: mem, Progress: func(s string, a, b int64) {
			if time.Since(last) > 2*time.Second {
				t.Log(time.Since(start), s, a, b)
				last = time.Now()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(o, r.Value, r.Limit, r.Gap, len(r.Tight), r.Reporting, r.Rounds, time.Since(start))
	}
}
