// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// edge is an edge with (α/ℓ)², under the operator of the objective or another.
type edge struct {
	u, v  int32
	world int32 // 0: the objective's; k: worlds[k−1]
	scale float64
}

// rows holds the readings M_si of the candidate sensors, node by node: the
// readings for a unit source at node i are x[i·stride : i·stride+k].
type rows struct {
	n, k, stride int
	x            []float64
	edges        []edge
	pick         []int // the node of each candidate
	worlds       []*rows
}

// inWorld returns the readings under the operator of a world; 0 is the first operator.
func (r *rows) inWorld(world int32) *rows {
	if world == 0 {
		return r
	}
	return r.worlds[world-1]
}

func edgesOf(m sensitivity.Model) []edge {
	es := make([]edge, 0, m.Graph.Size())
	for e := range m.Graph.Edges() {
		r := m.Scale(e)
		es = append(es, edge{u: int32(e.U), v: int32(e.V), scale: r * r})
	}
	return es
}

// blockRows is the number of rows of M that are computed between two checks of the time:
// one block of expm.
const blockRows = 16

// newRows computes the rows of the candidates, or of the first ones until stop returns true.
func newRows(ctx context.Context, m Diffusion, pick []int, stop func() bool, progress func(string, int64, int64)) (*rows, error) {
	_, n := m.Dims()
	r := &rows{n: n, stride: len(pick), x: make([]float64, n*len(pick))}
	for at := 0; at < len(pick) && (at == 0 || !stop()); at += blockRows {
		progress("allocate: sensors", int64(at), int64(len(pick)))
		part := pick[at:min(at+blockRows, len(pick))]
		block, err := m.Rows(ctx, part)
		if err != nil {
			return nil, err
		}
		for k := range part {
			for i, v := range block.RawRowView(k) {
				r.x[i*r.stride+at+k] = v
			}
		}
		r.k = at + len(part)
	}
	r.pick = pick[:r.k]
	return r, ctx.Err()
}

// readings returns those of all candidates, in their order, for a unit source at node i.
func (r *rows) readings(i int32) []float64 {
	at := int(i) * r.stride
	return r.x[at : at+r.k]
}

// squares writes the constraint of an edge, (α/ℓ)²(M_si − M_sj)²·h_s.
func (r *rows) squares(dst []float64, e edge, h []float64) {
	r = r.inWorld(e.world)
	x, y := r.readings(e.u), r.readings(e.v)
	for s, v := range h {
		d := x[s] - y[s]
		dst[s] = e.scale * d * d * v
	}
}

// largestSquares returns (α/ℓ)²(M_si − M_sj)² at the worst edge of each candidate.
func (r *rows) largestSquares() []float64 {
	w := make([]float64, r.k)
	for _, part := range parallel.Parts(len(r.edges), 2*r.k, func(lo, hi int) []float64 {
		w := make([]float64, r.k)
		for _, e := range r.edges[lo:hi] {
			x, y := r.inWorld(e.world).readings(e.u), r.inWorld(e.world).readings(e.v)
			for s := range w {
				d := x[s] - y[s]
				w[s] = max(w[s], e.scale*d*d)
			}
		}
		return w
	}) {
		for s, v := range part {
			w[s] = max(w[s], v)
		}
	}
	return w
}

// constraints writes Σ_s (α/ℓ)²(M_si − M_sj)² u_s of every edge to dst, and returns the
// largest. Sensors without weight are skipped.
func (r *rows) constraints(dst, u []float64) float64 {
	all := make([][]float64, len(r.worlds)+1)
	var width int
	for k := range all {
		all[k], width = r.inWorld(int32(k)).whiten(u)
	}
	each(len(r.edges), 2*width, func(k int) {
		e := r.edges[k]
		z := all[e.world]
		x, y := z[int(e.u)*width:(int(e.u)+1)*width], z[int(e.v)*width:(int(e.v)+1)*width]
		var sum float64
		for s, v := range x {
			d := v - y[s]
			sum += d * d
		}
		dst[k] = e.scale * sum
	})
	return slices.Max(dst)
}

// whiten returns √u_s M_si of the reporting sensors, node by node.
func (r *rows) whiten(u []float64) (z []float64, width int) {
	var on []int
	var root []float64
	for s, v := range u {
		if v > 0 {
			on, root = append(on, s), append(root, math.Sqrt(v))
		}
	}
	width = len(on)
	z = make([]float64, r.n*width)
	for i := range r.n {
		x, dst := r.readings(int32(i)), z[i*width:(i+1)*width]
		for k, s := range on {
			dst[k] = root[k] * x[s]
		}
	}
	return z, width
}

// axpy sets y ← a·x + y; no x counts as 0.
func axpy(a float64, x, y []float64) {
	if a == 0 || x == nil {
		return
	}
	floats.AddScaled(y, a, x)
}

// each calls f(0) … f(n−1), each once, for work of so many values each.
func each(n, width int, f func(i int)) {
	parallel.Rows(n, width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}
