// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian"
)

// maxEvaluations is the most values of τ that are tried for one graph.
const maxEvaluations = 256

// WorstCase brackets the largest Δ₂ over a set of operators. Its upper end is valid always;
// how close it is to the lower one depends on Options.Tolerance. It returns [ErrUncertainty] for a set that is out
// of range and, where more than τ is uncertain, for more than [MaxUncertain] nodes, and [expm.ErrAccuracy] where double
// precision certifies nothing.
//
// Proof: docs/proofs/uncertainty.md.
func WorstCase(ctx context.Context, m Model, u []float64, set Uncertainty, opts Options) (Envelope, error) {
	if err := set.check(m); err != nil {
		return Envelope{}, err
	}
	if set.Tau.From > 0 {
		m.Tau = set.Tau.From
	}
	base, err := newProblem(m, u, &opts)
	if err != nil {
		return Envelope{}, err
	}
	worst := Envelope{Bracket: Bracket{Edge: [2]int{-1, -1}}, Tau: m.Tau, Alternative: -1}
	if base.trivial() {
		return worst, nil
	}
	if set.Tau.From > 0 && m.Graph.Order() > MaxUncertain {
		return byProducts(ctx, base, m, u, set, opts)
	}
	for k := -1; k < len(set.Alternatives); k++ {
		opts.Progress("uncertainty", int64(k+1), int64(len(set.Alternatives)+1))
		w, err := newOperatorFamily(ctx, base, m, u, set, k)
		if err != nil {
			return Envelope{}, err
		}
		e, err := w.bracketTau(ctx, opts)
		if err != nil {
			return Envelope{}, err
		}
		e.Alternative = k
		upper := max(worst.Upper, e.Upper)
		if e.Lower > worst.Lower*(1+tieTolerance) {
			worst = e
		}
		worst.Upper = upper
	}
	return worst, nil
}

// operatorFamily is one listed Laplacian with all its eigenpairs, the range of τ, and the edges and
// weights of the model.
type operatorFamily struct {
	problem
	spec     *expm.Spectrum
	from, to float64
	top      float64 // bounds the eigenvalues of L'
	square   float64 // largest ‖b‖²
}

func newOperatorFamily(ctx context.Context, base *problem, m Model, u []float64, set Uncertainty, k int) (*operatorFamily, error) {
	w := &operatorFamily{problem: *base, from: m.Tau, to: max(m.Tau, set.Tau.To)}
	if k >= 0 {
		w.lap = set.Alternatives[k]
		w.s = w.lap.Similarity()
		w.peak, w.uniform = 0, false
		if err := w.setWeights(m, u); err != nil {
			return nil, err
		}
		w.crossesComponents = w.joinsComponents(set.Alternatives[k])
	} else if m.Diffusion != nil && m.Diffusion.Generator() == expm.Generator(m.Laplacian) {
		w.spec = m.Diffusion.Spectrum()
	}
	if w.spec == nil {
		var err error
		if w.spec, err = expm.Decompose(ctx, w.lap, nil); err != nil {
			return nil, err
		}
	}
	w.top = w.lap.Bound() * (1 + 4*unit)
	for _, e := range w.edges.all() {
		_, _, square := w.incidence(e)
		w.square = max(w.square, square)
	}
	return w, nil
}

// joinsComponents reports whether an edge of the model joins two components of l, so that its b
// has a part in the null space.
func (p *problem) joinsComponents(l *laplacian.Laplacian) bool {
	ptr, adj, _, _ := l.CSR()
	label := make([]int32, l.Order())
	for i := range label {
		label[i] = -1
	}
	for i := range label {
		if label[i] >= 0 {
			continue
		}
		label[i] = int32(i)
		for stack := []int32{int32(i)}; len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, a := range adj[ptr[v]:ptr[v+1]] {
				if label[a] < 0 {
					label[a] = int32(i)
					stack = append(stack, a)
				}
			}
		}
	}
	return slices.ContainsFunc(p.edges.ends, func(e [2]int32) bool { return label[e[0]] != label[e[1]] })
}

// evaluation holds the bounds at one τ. For every edge: upper ≥ α‖diag(√ω)e^{-τS'}b‖/ℓ for
// the S' of the graph, and curvature ≥ α‖diag(√ω)S'²e^{-τS'}b‖/ℓ where τ is a range, else nil.
// Over all edges and all t ≥ τ: two ≥ α√peak‖S'²e^{-tS'}b‖/ℓ and four ≥ α√peak‖S'⁴e^{-tS'}b‖/ℓ.
type evaluation struct {
	tau              float64
	upper, curvature []float64
	lower            float64
	edge             [2]int
	two, four        float64
}

func (w *operatorFamily) evaluateAt(tau float64) *evaluation {
	p := w.problem
	p.tau = tau
	d := newSpectral(&p, w.spec)
	decay := 1.0 // of the part of b that decays, at least
	if !w.crossesComponents && w.lap.Kind() == laplacian.Combinatorial {
		decay = math.Exp(-tau*w.spec.Gap()) * (1 + 64*unit)
	}
	l := &evaluation{tau: tau, upper: make([]float64, w.edges.len()), edge: [2]int{-1, -1}}
	scale := 0.0
	for i, e := range w.edges.all() {
		v := d.norm(e)
		up, down := d.errorBounds(e, v)
		_, _, square := w.incidence(e)
		l.upper[i] = min((v+up)*(1+4*unit), e.scale*math.Sqrt(w.peak*square)*decay*(1+8*unit))
		if v-down > l.lower*(1+tieTolerance) {
			l.lower, l.edge = v-down, [2]int{int(e.u), int(e.v)}
		}
		scale = max(scale, e.scale)
	}
	norm := scale * math.Sqrt(w.peak*w.square) * (1 + 8*unit)
	l.two, l.four = norm*maxPowerDecay(2, tau, w.top), norm*maxPowerDecay(4, tau, w.top)
	if !w.uniform && w.to > w.from {
		l.curvature = w.curvatures(tau)
	}
	return l
}

// curvatures bounds α‖diag(√ω)S²e^{-τS}b‖/ℓ for every edge. With β the backward error and o
// the loss of orthogonality of the eigenpairs, and ‖S‖ ≤ Λ, the computed value is within
// Λ²τβ + 2Λβ + Λ²(2o + o²) of S²e^{-τS}; the product rounds.
func (w *operatorFamily) curvatures(tau float64) []float64 {
	n := w.lap.Order()
	half := mat.NewDense(n, n, nil)
	for k, l := range w.spec.Lambda() {
		h, row := l*math.Exp(-tau*l/2), half.RawRowView(k)
		for i, v := range w.spec.Vector(k) {
			row[i] = h * v
		}
	}
	var kernel mat.Dense
	kernel.Mul(half.T(), half)
	beta, o, size := w.spec.BackwardError(), w.spec.OrthogonalityError(), float64(n)
	slack := w.top * (w.top*(tau*beta+2*o+o*o+4*(size+16)*math.Sqrt(size)*unit) + 2*beta)
	out := make([]float64, w.edges.len())
	for i, e := range w.edges.all() {
		bu, bv, square := w.incidence(e)
		x, y := kernel.RawRowView(int(e.u)), kernel.RawRowView(int(e.v))
		sum := 0.0
		for t, v := range w.omega {
			z := bu*x[t] + bv*y[t]
			sum += v * z * z
		}
		out[i] = e.scale * (math.Sqrt(sum)*(1+(size+16)*unit) + math.Sqrt(w.peak*square)*slack) * (1 + 8*unit)
	}
	return out
}

// bracketTau brackets the largest norm over [from, to]. Where ω is
// uniform norms fall with τ, so that its value at from is the largest. Otherwise the cell
// with the largest bound is halved until that bound is within the tolerance of the values
// at the ends.
func (w *operatorFamily) bracketTau(ctx context.Context, opts Options) (Envelope, error) {
	first := w.evaluateAt(w.from)
	best := Envelope{Bracket: Bracket{Lower: first.lower, Upper: max(slices.Max(first.upper), floor), Edge: first.edge}, Tau: w.from}
	if w.to == w.from || w.uniform {
		return best, ctx.Err()
	}
	evaluate := func(tau float64) *evaluation {
		l := w.evaluateAt(tau)
		if l.lower > best.Lower*(1+tieTolerance) {
			best.Lower, best.Edge, best.Tau = l.lower, l.edge, tau
		}
		return l
	}
	cells := []cell{newCell(first, evaluate(w.to))}
	for used := 2; ; used++ {
		if err := ctx.Err(); err != nil {
			return Envelope{}, err
		}
		widest, attained := 0, 0.0
		for i, c := range cells {
			if c.upper > cells[widest].upper {
				widest = i
			}
			attained = max(attained, c.ends)
		}
		best.Upper = max(cells[widest].upper, floor)
		if opts.decided(best.Bracket) || opts.Threshold == 0 && best.Upper <= attained*(1+opts.Tolerance) || used >= maxEvaluations {
			return best, nil
		}
		c := cells[widest]
		middle := evaluate(math.Sqrt(c.left.tau * c.right.tau))
		cells[widest] = newCell(c.left, middle)
		cells = append(cells, newCell(middle, c.right))
	}
}

// cell is an interval of τ between two evaluations.
type cell struct {
	left, right *evaluation
	ends        float64 // the largest bound at its ends
	upper       float64 // bounds every norm within
}

// newCell bounds the norms between two evaluations. On [a, b] the vector x(t) = e^{-tS'}b is
// within h²/8·max‖x″‖, h = b − a, of the chord, on which a norm is convex; and x″ = S'²x
// at the sensors is bounded likewise.
func newCell(a, b *evaluation) cell {
	c := cell{left: a, right: b}
	h := b.tau - a.tau
	h = h * h / 8 * (1 + 8*unit)
	for i := range a.upper {
		end, bend := max(a.upper[i], b.upper[i]), a.two
		if a.curvature != nil {
			bend = min(bend, max(a.curvature[i], b.curvature[i])+h*a.four)
		}
		c.ends = max(c.ends, end)
		c.upper = max(c.upper, (end+h*bend)*(1+8*unit))
	}
	return c
}
