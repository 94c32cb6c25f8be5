// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

const (
	probes       = 8       // random vectors
	lanczosSteps = 100     // at most
	basisEntries = 1 << 26 // of a Krylov basis: half a gigabyte
)

// fromLanczos fills in what follows from products with L: Ritz values of Krylov spaces
// orthogonal to the null space lie between the least non-zero eigenvalue and λ_max
// (Rayleigh), and their quadrature estimates traces (stochastic Lanczos quadrature:
// Ubaru, Chen & Saad 2017).
func (in *Inspection) fromLanczos(ctx context.Context, m sensitivity.Model, o Options) error {
	n := m.Graph.Order()
	null := newNullSpace(m.Graph, m.Laplacian)
	steps := max(20, min(lanczosSteps, basisEntries/n))
	steps = min(steps, n-len(null.norms))
	var nodes, weights []float64
	least, most := math.Inf(1), 0.0
	for p := range probes {
		o.Progress("spectrum", int64(p), probes)
		theta, w, err := lanczos(ctx, m.Laplacian, null, steps, rand.New(rand.NewPCG(0, uint64(p))))
		if err != nil {
			return err
		}
		nodes, weights = append(nodes, theta...), append(weights, w...)
		least, most = min(least, floats.Min(theta)), max(most, floats.Max(theta))
	}
	rest := float64(n - len(null.norms)) // eigenvalues that the probes see
	floats.Scale(rest/probes, weights)
	nodes, weights = append(nodes, 0), append(weights, float64(len(null.norms)))
	in.LambdaMaxLower, in.LambdaMaxUpper = most, m.Laplacian.Bound()
	in.LambdaMax = in.LambdaMaxUpper
	if len(null.norms) == 1 {
		in.Lambda2, in.Lambda2Upper = least, pointer(least)
	} else {
		in.Lambda2Lower, in.Lambda2Upper = pointer(0), pointer(0)
	}
	in.Density = histogram(nodes, weights, in.LambdaMaxUpper)
	in.note("beyond %d nodes λ₂ is an upper bound and λ_max lies between a Ritz value and a certified bound; density and effective rank "+
		"are estimates from %d random vectors", ExactNodes, probes)
	in.note("coherence, leverage scores and the check of mass take all columns, and are left out beyond %d nodes", ExactNodes)
	if symmetric(m) {
		in.Kappa2Log10 = pointer(m.Tau * most / math.Ln10)
		in.note("κ₂ is a lower bound; at most 10^%.4g", m.Tau*in.LambdaMaxUpper/math.Ln10)
		in.EffectiveRank = pointer(rankByQuadrature(nodes, weights, m.Tau))
	}
	return nil
}

// rankByQuadrature is e^H for singular values e^{-τθ} with multiplicities w:
// H = ln Z + τ⟨θ⟩ with Z = Σw e^{-τθ}.
func rankByQuadrature(theta, w []float64, tau float64) float64 {
	z, mean := 0.0, 0.0
	for i, t := range theta {
		p := w[i] * math.Exp(-tau*t)
		z += p
		mean += p * t
	}
	return math.Exp(math.Log(z) + tau*mean/z)
}

// nullSpace is the null space of S: a vector for each component.
type nullSpace struct {
	component []int32   // component of each row
	value     []float64 // entries of the vector of its component
	norms     []float64 // squared, of the vectors
	coeffs    []float64 // work space
}

// newNullSpace returns the span of the components' indicators for L = D − W, and of these
// times √degree for the normalised form; a node without relationships has 1.
func newNullSpace(g *graph.Graph, l *laplacian.Laplacian) *nullSpace {
	labels, sizes := g.Components()
	n := g.Order()
	z := &nullSpace{
		component: make([]int32, n), value: make([]float64, n), norms: make([]float64, len(sizes)),
		coeffs: make([]float64, len(sizes)),
	}
	places, degrees := l.Permutation(), l.Degrees()
	for i := range n {
		row := i
		if places != nil {
			row = int(places[i])
		}
		v := 1.0
		if l.Kind() != laplacian.Combinatorial && degrees[i] > 0 {
			v = math.Sqrt(degrees[i])
		}
		z.component[row], z.value[row] = labels[i], v
		z.norms[labels[i]] += v * v
	}
	return z
}

// projectOut projects x on the orthogonal complement of the null space.
func (z *nullSpace) projectOut(x []float64) {
	clear(z.coeffs)
	for i, v := range x {
		z.coeffs[z.component[i]] += v * z.value[i]
	}
	for c := range z.coeffs {
		z.coeffs[c] /= z.norms[c]
	}
	for i := range x {
		x[i] -= z.coeffs[z.component[i]] * z.value[i]
	}
}

// lanczos returns Ritz values of S without its null space and the weights of their
// quadrature, which add up to 1. Each vector is orthogonalised twice against the
// whole basis.
func lanczos(ctx context.Context, l *laplacian.Laplacian, z *nullSpace, steps int, rnd *rand.Rand) (theta, weight []float64, err error) {
	n := l.Order()
	basis := make([][]float64, 0, steps)
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(1 - 2*int(rnd.Uint64()&1))
	}
	z.projectOut(v)
	norm := floats.Norm(v, 2)
	if norm == 0 {
		return nil, nil, fmt.Errorf("inspect: %d nodes have no relationship", n)
	}
	floats.Scale(1/norm, v)
	var diag, off []float64
	for range steps {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		basis = append(basis, v)
		w := make([]float64, n)
		l.Recur(w, nil, v, 1, 1, 0, 0, 0)
		diag = append(diag, floats.Dot(w, v))
		for range 2 {
			z.projectOut(w)
			dense.Orthogonalize(w, basis, nil)
		}
		b := floats.Norm(w, 2)
		if b <= 1e-12*l.Bound() { // the space is invariant
			break
		}
		off = append(off, b)
		floats.Scale(1/b, w)
		v = w
	}
	return ritz(diag, off)
}

// ritz returns the eigenvalues of a tridiagonal matrix, in the place of its diagonal, and the
// squares of the first entries of its eigenvectors.
func ritz(diag, off []float64) (theta, weight []float64, err error) {
	weight = make([]float64, len(diag))
	if err := dense.FirstEntries(diag, append(off[:len(diag)-1], 0), weight); err != nil {
		return nil, nil, fmt.Errorf("inspect: Ritz values: %w", err)
	}
	floats.Mul(weight, weight)
	return diag, weight, nil
}
