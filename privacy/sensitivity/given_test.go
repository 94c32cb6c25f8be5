// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// given is a matrix by its entries.
func given(m *mat.Dense) *linop.Sparse {
	r, c := m.Dims()
	start, row, value := []int64{0}, []int32(nil), []float64(nil)
	for j := range c {
		for i := range r {
			if v := m.At(i, j); v != 0 {
				row, value = append(row, int32(i)), append(value, v)
			}
		}
		start = append(start, int64(len(row)))
	}
	return linop.NewSparse(r, start, row, value)
}

// direct is the largest α‖diag(√u)M(e_i − e_j)‖/ℓ over the edges, by the definition.
func direct(g *graph.Graph, m *mat.Dense, u []float64, alpha float64) (largest float64) {
	rows, _ := m.Dims()
	for e := range g.Edges() {
		sum := 0.0
		for s := range rows {
			d := m.At(s, e.U) - m.At(s, e.V)
			sum += u[s] * d * d
		}
		largest = max(largest, alpha*math.Sqrt(sum)/e.Length)
	}
	return largest
}

// Of any matrices the bracket holds the largest norm over edges, lengths and matrices, and is as narrow as rounding; a mixture of
// them is below it. So is the bracket of each reading.
func TestGiven(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 3))
	for range 50 {
		n, rows := 3+rnd.IntN(12), 1+rnd.IntN(20)
		var edges [][3]float64
		for i := range n {
			edges = append(edges, [3]float64{float64(i), float64((i + 1) % n), .1 + rnd.Float64()})
		}
		g := build(t, n, edges, func(w float64) float64 { return 3 * w })
		matrices := make([]*mat.Dense, 1+rnd.IntN(3))
		model, want := Model{Graph: g, Alpha: .1 + rnd.Float64()}, 0.0
		u, ones := make([]float64, rows), make([]float64, rows)
		for s := range u {
			u[s], ones[s] = rnd.Float64()*float64(rnd.IntN(3)), 1
		}
		for k := range matrices {
			matrices[k] = mat.NewDense(rows, n, nil)
			for i := range matrices[k].RawMatrix().Data {
				if rnd.IntN(2) == 0 {
					matrices[k].RawMatrix().Data[i] = rnd.NormFloat64() * math.Pow(10, float64(rnd.IntN(40)-20))
				}
			}
			model.Given = append(model.Given, given(matrices[k]))
			want = max(want, direct(g, matrices[k], u, model.Alpha))
		}
		b := must.Get(Bound(t.Context(), model, u, Options{}))(t)
		if !b.Exact || b.Lower > want*(1+1e-14) || b.Upper < want || b.Upper > max(want*(1+1e-12), 1e-100) {
			t.Fatalf("[%v, %v], want %v", b.Lower, b.Upper, want)
		}
		var mixed mat.Dense
		mixed.CloneFrom(matrices[0])
		for _, m := range matrices[1:] {
			mixed.Add(&mixed, m)
		}
		mixed.Scale(1/float64(len(matrices)), &mixed)
		if v := direct(g, &mixed, u, model.Alpha); v > b.Upper {
			t.Fatalf("a mixture has %v, above %v", v, b.Upper)
		}
		each := must.Get(PerSensor(t.Context(), model, Options{}))(t)
		for s, b := range each {
			only, want := make([]float64, rows), 0.0
			only[s] = 1
			for _, m := range matrices {
				want = max(want, direct(g, m, only, model.Alpha))
			}
			if b.Lower > want*(1+1e-14) || b.Upper < want || b.Upper > want*(1+1e-12) {
				t.Fatalf("reading %d: [%v, %v], want %v", s, b.Lower, b.Upper, want)
			}
		}
	}
}

// e^{-τL} that is given has the sensitivity of heat.
func TestGivenHeat(t *testing.T) {
	f := testgraph.Grid(4, 5)
	const tau = .7
	model := Model{Graph: f.Graph, Given: []*linop.Sparse{given(testgraph.Heat(f.Graph, tau))}}
	b := must.Get(Bound(t.Context(), model, nil, Options{}))(t)
	if want := math.Sqrt(f.Squared(tau)); math.Abs(b.Upper-want) > 1e-12 {
		t.Errorf("Δ₂ ≤ %v, want %v", b.Upper, want)
	}
}

func TestGivenRefusals(t *testing.T) {
	f := testgraph.Path(3)
	m := given(mat.NewDense(2, 3, []float64{1, 0, 0, 0, 1, 0}))
	for name, c := range map[string]struct {
		model Model
		u     []float64
	}{
		"a weight below 0":  {Model{Graph: f.Graph, Given: []*linop.Sparse{m}}, []float64{1, -1}},
		"NaN":               {Model{Graph: f.Graph, Given: []*linop.Sparse{m}}, []float64{1, math.NaN()}},
		"too few weights":   {Model{Graph: f.Graph, Given: []*linop.Sparse{m}}, []float64{1}},
		"alpha":             {Model{Graph: f.Graph, Alpha: -1, Given: []*linop.Sparse{m}}, nil},
		"of other nodes":    {Model{Graph: testgraph.Path(4).Graph, Given: []*linop.Sparse{m}}, nil},
		"without any graph": {Model{Given: []*linop.Sparse{m}}, nil},
	} {
		if b, err := Bound(t.Context(), c.model, c.u, Options{}); err == nil {
			t.Errorf("%s: %+v, want an error", name, b)
		}
	}
}
