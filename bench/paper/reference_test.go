// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// referenceGraph holds values of 60 digits for a small graph.
type referenceGraph struct {
	N     int
	Edges [][3]float64
	Tau   map[string]struct {
		HopsEdges    [][2]int
		Edges        [][3]float64
		Connectivity float64
	}
	Distances map[string][][]float64
}

func (r referenceGraph) build(t *testing.T, length func(w float64) float64) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for i := range r.N {
		if _, err := b.AddNode(graph.ID(fmt.Sprintf("%09d", i))); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range r.Edges {
		if err := b.Connect(int(e[0]), int(e[1]), e[2], length(e[2])); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ‖M_i − M_j‖ of every relationship, the worst of them, √2·e^{-τλ₂} and all distances
// are those computed with 60 digits.
func TestReferenceGraphs(t *testing.T) {
	raw, err := os.ReadFile("../../privacy/sensitivity/testdata/sensitivity.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct{ Graphs map[string]referenceGraph }
	if err := json.Unmarshal(raw, &ref); err != nil {
		t.Fatal(err)
	}
	values, distances := 0, 0
	for name, r := range ref.Graphs {
		g := r.build(t, func(float64) float64 { return 1 })
		s, err := expm.Decompose(t.Context(), laplacian.New(g, laplacian.Combinatorial), nil)
		if err != nil {
			t.Fatal(err)
		}
		for ts, want := range r.Tau {
			tau, err := strconv.ParseFloat(ts, 64)
			if err != nil {
				t.Fatal(err)
			}
			decay := make([]float64, r.N)
			for k, l := range s.Lambda() {
				decay[k] = math.Exp(-2 * tau * l)
			}
			for _, e := range want.Edges {
				values++
				got := math.Sqrt(apart(s, decay, graph.Edge{U: int(e[0]), V: int(e[1])}))
				if relative(got, e[2]) > 1e-12 {
					t.Errorf("%s, τ = %v: ‖M_%v − M_%v‖ = %v, want %v", name, tau, e[0], e[1], got, e[2])
				}
			}
			_, at := spectral(g, s, tau)
			known := false
			for _, e := range want.HopsEdges {
				known = known || e == [2]int{at.U, at.V} || e == [2]int{at.V, at.U}
			}
			if !known {
				t.Errorf("%s, τ = %v: the worst relationship is %v, want one of %v", name, tau, at, want.HopsEdges)
			}
			if got := math.Sqrt2 * math.Exp(-tau*s.Lambda()[1]); relative(got, want.Connectivity) > 1e-12 {
				t.Errorf("%s, τ = %v: √2·e^{-τλ₂} = %v, want %v", name, tau, got, want.Connectivity)
			}
		}
		for metric, d := range r.Distances {
			g := r.build(t, map[string]func(float64) float64{
				"hop": func(float64) float64 { return 1 }, "inverse_weight": func(w float64) float64 { return 1 / w },
			}[metric])
			for i := range d {
				lengths := emd.Lengths(g, i)
				for j, want := range d[i] {
					distances++
					if got := lengths[j]; math.Abs(got-want) > 1e-12*want {
						t.Errorf("%s, %s: d(%d, %d) = %v, want %v", name, metric, i, j, got, want)
					}
				}
			}
		}
	}
	if values != 189 || distances != 2*(36+36+81) {
		t.Errorf("%d values and %d distances are compared", values, distances)
	}
}

// TestReferenceInterval: the kernel of the unit interval, computed with 60 digits.
func TestReferenceInterval(t *testing.T) {
	raw, err := os.ReadFile("../../expm/testdata/kernels.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct {
		Intervals []struct {
			N, M int
			T    float64
			Rows [][]float64
		}
	}
	if err := json.Unmarshal(raw, &ref); err != nil || len(ref.Intervals) == 0 {
		t.Fatal(len(ref.Intervals), err)
	}
	for _, v := range ref.Intervals {
		a, err := NewInterval(v.M, v.N, v.T)
		if err != nil {
			t.Fatal(err)
		}
		for j, row := range v.Rows {
			for i, want := range row {
				if got := a.M.At(j, i); math.Abs(got-want) > 1e-12*want {
					t.Errorf("n=%d m=%d T=%v: A[%d][%d] = %v, want %v", v.N, v.M, v.T, j, i, got, want)
				}
			}
		}
	}
}

// A radius that is too small for any f is widened to √(d² + k): the distance of (7.5, 2.5) from the line of (1, 1) is 5/√2, and one
// node holds the source. One that is large enough stays.
func TestRadiusIsWidened(t *testing.T) {
	op := linop.Dense{M: mat.NewDense(2, 1, []float64{10, 10})}
	rule := radiusRule{radius: paperRadius(2), widen: true}
	for _, c := range []struct {
		y    []float64
		want float64
	}{{[]float64{7.5, 2.5}, math.Sqrt(12.5 + 1)}, {[]float64{6, 5}, math.Sqrt2}} {
		res, err := rule.solve(t.Context(), measurement.Data{A: op, Y: c.y}, nil)
		if err != nil || res.Status != recovery.Optimal || math.Abs(res.Residual-c.want) > 1e-5 {
			t.Errorf("%v: %v, residual %v (%v), want %v", c.y, res.Status, res.Residual, err, c.want)
		}
	}
}
