// SPDX-License-Identifier: Apache-2.0

// Package laplacian makes the Laplacian of a graph a sparse operator with a
// certified bound on its spectrum.
//
// Start with [New]. With weights W, degrees D = diag(W1) and D⁺ = 1/d on nodes
// that have neighbours, 0 on the others,
//
//	combinatorial   L = D − W                        e^{-τL} keeps Σ f_i, and constants
//	normalized      L = D⁺½(D − W)D⁺½                keeps Σ √d_i f_i, and √d
//	randomWalk      L = D⁺(D − W) = I − D⁻¹W         keeps Σ d_i f_i, and constants
//
// The first two are symmetric. The third is similar to the second,
// L = diag(1/s) S diag(s) with s = √d, and [Laplacian.Recur] works on the
// symmetric S for all three: S = diag(a) − B with a ≥ 0 and B ≥ 0, positive
// semidefinite, with one zero eigenvalue for each connected component.
//
// F. R. K. Chung, Spectral Graph Theory, 1997; U. von Luxburg, A tutorial on
// spectral clustering, Statistics and Computing 17, 2007.
package laplacian

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/graph"
)

// Kind is one of the three Laplacians.
type Kind int

// The kinds; the zero value is the paper's.
const (
	Combinatorial Kind = iota // D − W
	Normalized                // I − D^{-1/2} W D^{-1/2}
	RandomWalk                // I − D^{-1} W
)

var kindNames = []string{"combinatorial", "normalized", "randomWalk"}

func (k Kind) String() string { return kindNames[k] }

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *Kind) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKind(string(text))
	return err
}

// ParseKind reads combinatorial, normalized or randomWalk.
func ParseKind(s string) (Kind, error) {
	if i := slices.Index(kindNames, s); i >= 0 {
		return Kind(i), nil
	}
	return 0, fmt.Errorf("laplacian: kind is %q, want one of %v", s, kindNames)
}

// Laplacian is an n × n operator, immutable and safe for concurrent use.
// It shares the rows of its graph: beside them it holds the diagonal, and for the
// normalised kinds one weight an entry.
type Laplacian struct {
	kind          Kind
	ptr           []int64
	adj           []int32
	val           []float64 // B beside adj; nil: all 1
	diag          []float64 // a
	degrees       []float64
	similarity    []float64 // s of L = diag(1/s) S diag(s); nil: L = S
	bound         float64
	nullity       int
	roundingUnits float64
	rows          storedRows // S as Recur works on it
	cuts          []int32    // rows in pieces of similar work
	workers       int
	jobs          *sync.Pool
}

// New returns the Laplacian of g. A product uses GOMAXPROCS workers; the number
// never changes its bits.
func New(g *graph.Graph, k Kind) *Laplacian {
	ptr, adj, weight := g.CSR()
	_, sizes := g.Components()
	l := &Laplacian{
		kind: k, ptr: ptr, adj: adj, val: weight, nullity: len(sizes),
		degrees: degrees(g), workers: runtime.GOMAXPROCS(0),
	}
	l.diag = l.degrees
	if k != Combinatorial {
		l.normalize()
	}
	l.reorder()
	l.cuts = balancedCuts(l.rows.ptr)
	l.roundingUnits = l.countRoundings()
	l.jobs = &sync.Pool{}
	l.bound = l.collatzWielandt()
	return l
}

// WithWorkers returns the same operator, whose products use at most w workers.
func (l *Laplacian) WithWorkers(w int) *Laplacian {
	c := *l
	c.workers = max(1, w)
	c.jobs = &sync.Pool{}
	return &c
}

// degrees sums each row with compensation, so that d_i is off by at most two
// units in the last place whatever the spread of the weights.
func degrees(g *graph.Graph) []float64 {
	ptr, _, weight := g.CSR()
	d := make([]float64, g.Order())
	for i := range d {
		if weight == nil {
			d[i] = float64(g.Degree(i))
			continue
		}
		var sum, lost float64
		for _, w := range weight[ptr[i]:ptr[i+1]] {
			t := sum + w
			if sum >= w {
				lost += (sum - t) + w
			} else {
				lost += (w - t) + sum
			}
			sum = t
		}
		d[i] = sum + lost
	}
	return d
}

// normalize replaces D − W by its symmetric normalisation.
func (l *Laplacian) normalize() {
	n := len(l.degrees)
	root, inv := make([]float64, n), make([]float64, n)
	l.diag = make([]float64, n)
	for i, d := range l.degrees {
		root[i] = 1
		if d > 0 {
			root[i] = math.Sqrt(d)
			inv[i] = 1 / root[i]
			l.diag[i] = 1
		}
	}
	val := make([]float64, len(l.adj))
	for i := range n {
		for k := l.ptr[i]; k < l.ptr[i+1]; k++ {
			val[k] = inv[i] * inv[l.adj[k]]
			if l.val != nil {
				val[k] *= l.val[k]
			}
		}
	}
	l.val = val
	if l.kind == RandomWalk {
		l.similarity = root
	}
}

// Kind returns the kind.
func (l *Laplacian) Kind() Kind { return l.kind }

// Order returns n.
func (l *Laplacian) Order() int { return len(l.diag) }

// Dims returns n, n.
func (l *Laplacian) Dims() (r, c int) { return len(l.diag), len(l.diag) }

// Degrees returns the weighted degrees. The caller must not change them.
func (l *Laplacian) Degrees() []float64 { return l.degrees }

// Bound returns an upper bound on the largest eigenvalue, certified by the
// theorem of Collatz and Wielandt and rounded up; +Inf where degrees overflow.
func (l *Laplacian) Bound() float64 { return l.bound }

// Nullity returns the multiplicity of the eigenvalue 0: the number of connected
// components.
func (l *Laplacian) Nullity() int { return l.nullity }

// Similarity returns s > 0 with L = diag(1/s) S diag(s), or nil where L = S.
// The caller must not change it.
func (l *Laplacian) Similarity() []float64 { return l.similarity }

// CSR returns S = diag(a) − B as it is stored: row i of B is adj[ptr[i]:ptr[i+1]]
// with val beside it, or with ones where val is nil. The caller must not change
// the slices.
func (l *Laplacian) CSR() (ptr []int64, adj []int32, val, diag []float64) {
	return l.ptr, l.adj, l.val, l.diag
}

// Work returns the number of entries that a product reads.
func (l *Laplacian) Work() int64 { return int64(len(l.adj) + 2*len(l.diag)) }

// Dense returns the symmetric form S as a matrix.
func (l *Laplacian) Dense() *mat.SymDense {
	n := len(l.diag)
	if n == 0 {
		return &mat.SymDense{}
	}
	s := mat.NewSymDense(n, nil)
	for i := range n {
		s.SetSym(i, i, l.diag[i])
		for k := l.ptr[i]; k < l.ptr[i+1]; k++ {
			b := 1.0
			if l.val != nil {
				b = l.val[k]
			}
			s.SetSym(i, int(l.adj[k]), -b)
		}
	}
	return s
}
