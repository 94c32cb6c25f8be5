// SPDX-License-Identifier: Apache-2.0

// Package testgraph holds graphs whose Laplacian spectrum and sensitivity are
// known in closed form, for the tests of other packages.
//
// Start with [All]. Weights and lengths are 1.
package testgraph

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/graph"
)

// Fixture is a graph with its closed forms for L = D − W.
type Fixture struct {
	Name        string
	Graph       *graph.Graph
	Eigenvalues []float64 // of L, ascending
	// Squared returns max over edges of ‖e^{-τL}(eᵢ − eⱼ)‖₂², which is Δ₂² for α = 1,
	// hops and sensors everywhere.
	Squared func(tau float64) float64
}

// All returns fixtures of 2 to 32 nodes.
func All() []Fixture {
	return []Fixture{
		Complete(2), Complete(5), Complete(10), Star(5), Star(20), Path(2), Path(10), Path(20),
		Cycle(3), Cycle(10), Cycle(19), Hypercube(1), Hypercube(3), Hypercube(5), Grid(4, 4), Grid(3, 7),
	}
}

// fixture panics on an error: the parameters are those of a test.
func fixture(name string, g *graph.Graph, err error, eigenvalues []float64, squared func(float64) float64) Fixture {
	if err != nil {
		panic(err)
	}
	slices.Sort(eigenvalues)
	return Fixture{name, g, eigenvalues, squared}
}

// Complete is K_n: eigenvalues 0 and n; e^{-τL} = J/n + e^{-τn}(I − J/n).
func Complete(n int) Fixture {
	values := make([]float64, n)
	for k := 1; k < n; k++ {
		values[k] = float64(n)
	}
	g, err := graph.Complete(n)
	return fixture(fmt.Sprintf("complete %d", n), g, err, values, func(tau float64) float64 {
		return 2 * math.Exp(-2*tau*float64(n))
	})
}

// Star has n ≥ 2 nodes in all: eigenvalues 0, n and n − 2 times 1.
func Star(n int) Fixture {
	values := make([]float64, n)
	for k := 1; k < n; k++ {
		values[k] = 1
	}
	values[n-1] = float64(n)
	g, err := graph.Star(n)
	return fixture(fmt.Sprintf("star %d", n), g, err, values, func(tau float64) float64 {
		m := float64(n)
		return m/(m-1)*math.Exp(-2*tau*m) + (m-2)/(m-1)*math.Exp(-2*tau)
	})
}

// Path is P_n: eigenvalues 2 − 2cos(πk/n) with eigenvectors cos(πk(i + ½)/n).
func Path(n int) Fixture {
	g, err := graph.Path(n)
	return fixture(fmt.Sprintf("path %d", n), g, err, pathEigenvalues(n), func(tau float64) float64 {
		best := 0.0
		for i := range n - 1 {
			best = max(best, pathEdge(n, i, tau))
		}
		return best
	})
}

func pathEigenvalues(n int) []float64 {
	values := make([]float64, n)
	for k := range values {
		values[k] = pathEigenvalue(n, k)
	}
	return values
}

// pathEigenvalue is 2 − 2cos(πk/n), without its cancellation.
func pathEigenvalue(n, k int) float64 {
	s := math.Sin(math.Pi * float64(k) / float64(2*n))
	return 4 * s * s
}

// pathEdge is ‖e^{-τL}(eᵢ − eᵢ₊₁)‖₂² on P_n.
func pathEdge(n, i int, tau float64) float64 {
	sum := 0.0
	for k := 1; k < n; k++ {
		s := math.Sin(math.Pi*float64(k)*float64(i+1)/float64(n)) * math.Sin(math.Pi*float64(k)/float64(2*n))
		sum += math.Exp(-2*tau*pathEigenvalue(n, k)) * s * s
	}
	return 8 / float64(n) * sum
}

// pathDiagonal is (e^{-2τL})ⱼⱼ on P_n.
func pathDiagonal(n, j int, tau float64) float64 {
	sum := 1.0
	for k := 1; k < n; k++ {
		c := math.Cos(math.Pi * float64(k) * (float64(j) + 0.5) / float64(n))
		sum += 2 * math.Exp(-2*tau*pathEigenvalue(n, k)) * c * c
	}
	return sum / float64(n)
}

// Cycle is C_n: eigenvalues 2 − 2cos(2πk/n); every edge attains the maximum.
func Cycle(n int) Fixture {
	values := make([]float64, n)
	for k := range values {
		values[k] = pathEigenvalue(n, 2*k) // 2 − 2cos(2πk/n)
	}
	g, err := graph.Cycle(n)
	return fixture(fmt.Sprintf("cycle %d", n), g, err, slices.Clone(values), func(tau float64) float64 {
		sum := 0.0
		for _, l := range values {
			sum += math.Exp(-2*tau*l) * l
		}
		return sum / float64(n)
	})
}

// Hypercube is Q_d: eigenvalues 2k, each C(d, k) times.
func Hypercube(d int) Fixture {
	values := []float64{0}
	for range d {
		for _, l := range values[:len(values):len(values)] {
			values = append(values, l+2)
		}
	}
	g, err := graph.Hypercube(d)
	return fixture(fmt.Sprintf("hypercube %d", d), g, err, values, func(tau float64) float64 {
		return 2 * math.Exp(-4*tau) * math.Pow((1+math.Exp(-4*tau))/2, float64(d-1))
	})
}

// Grid is P_rows × P_cols: e^{-τL} is the Kronecker product of the factors'.
func Grid(rows, cols int) Fixture {
	var values []float64
	for _, a := range pathEigenvalues(rows) {
		for _, b := range pathEigenvalues(cols) {
			values = append(values, a+b)
		}
	}
	g, err := graph.Grid(rows, cols)
	return fixture(fmt.Sprintf("grid %d × %d", rows, cols), g, err, values, func(tau float64) float64 {
		return max(gridEdge(rows, cols, tau), gridEdge(cols, rows, tau))
	})
}

// gridEdge is the largest value over the edges along the factor P_along.
func gridEdge(along, across int, tau float64) float64 {
	edge, diagonal := 0.0, 0.0
	for i := range along - 1 {
		edge = max(edge, pathEdge(along, i, tau))
	}
	for j := range across {
		diagonal = max(diagonal, pathDiagonal(across, j, tau))
	}
	return edge * diagonal
}

// Heat is e^{-τL}, n × n, from the relationships alone, by gonum's matrix exponential.
func Heat(g *graph.Graph, tau float64) *mat.Dense {
	n := g.Order()
	l := mat.NewDense(n, n, nil)
	for e := range g.Edges() {
		w := tau * e.Weight
		l.Set(e.U, e.V, l.At(e.U, e.V)+w)
		l.Set(e.V, e.U, l.At(e.V, e.U)+w)
		l.Set(e.U, e.U, l.At(e.U, e.U)-w)
		l.Set(e.V, e.V, l.At(e.V, e.V)-w)
	}
	var m mat.Dense
	m.Exp(l)
	return &m
}

// Laplacian is an n × n matrix by its products.
type Laplacian interface {
	Order() int
	MulVecTo(dst []float64, trans bool, x []float64)
}

// Exponential is e^{-τL} by gonum's scaling and squaring, which knows nothing of symmetry.
func Exponential(l Laplacian, tau float64) *mat.Dense {
	n := l.Order()
	a, unit, column := mat.NewDense(n, n, nil), make([]float64, n), make([]float64, n)
	for j := range n {
		clear(unit)
		unit[j] = -tau
		l.MulVecTo(column, false, unit)
		a.SetCol(j, column)
	}
	var m mat.Dense
	m.Exp(a)
	return &m
}

// Symmetric is the symmetric form of a Laplacian as a matrix, from its rows in compressed form.
func Symmetric(ptr []int64, adj []int32, val, diag []float64) *mat.SymDense {
	s := mat.NewSymDense(len(diag), nil)
	for i, d := range diag {
		s.SetSym(i, i, d)
		for k := ptr[i]; k < ptr[i+1]; k++ {
			b := 1.0
			if val != nil {
				b = val[k]
			}
			s.SetSym(i, int(adj[k]), -b)
		}
	}
	return s
}
