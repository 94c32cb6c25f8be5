// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// ColumnGeneration solves the program exactly on a small working set of columns,
// prices all columns with one product Mᵀr, adds the best and repeats. Solutions
// are sparse, so few columns are ever needed.
//
// It holds 8·m·k bytes for k columns, at most the numerical rank of M, and again as
// much where they are ill conditioned. Where they are well conditioned, it holds their entries
// that are not 0 where these can be read; and where that would take more
// than half a GiB, 8·k² bytes instead, and a column costs two products. Ill conditioned columns that need more than 1.5 GiB end
// it with [ErrStalled].
type ColumnGeneration struct {
	Options
	memory int // for columns beside their Gram matrix; 0: gramMemory, from gramSensors on
	most   int // outer steps; 0: maxIterations
	room   int // vectors of the orthogonal basis; 0: as basisMemory allows
}

const maxIterations = 1000

// basisMemory bounds the memory of the orthogonal basis, in bytes: columns that need more are not added.
const basisMemory = 3 << 29

// Solve returns a nil error with Optimal, Zero and
// Infeasible, [ErrStalled] beside the best iterate, [ErrInvalid] or the error of
// the context. The same problem gives the same bits.
func (g ColumnGeneration) Solve(ctx context.Context, p Problem) (*Result, error) {
	j, zero, err := newCertifier(ctx, g.Options, p)
	if j == nil {
		return zero, err
	}
	s := newGeneration(j, g)
	for s.res.Iterations < s.most && !s.cancelled() {
		s.res.Iterations++
		if s.prove(s.r) {
			break
		}
		shrunk := false
		if s.feasible {
			var optimal bool
			s.value(true)
			if optimal, shrunk = s.accept(); optimal {
				break
			}
		}
		s.opts.report(&s.res)
		picks := s.choose()
		if len(picks) == 0 && !shrunk {
			shrunk = s.feasible && s.shrink(s.excess()) // no column has a better price: only the ball remains to be met
		}
		if len(picks) == 0 && !shrunk || !s.extend(picks) {
			break
		}
	}
	return s.finish()
}

// generation is the state of one run of ColumnGeneration.
type generation struct {
	*certifier
	gram     *gram // nil: basis and master
	basis    dense.Basis
	master   master
	nodes    []int // of the working set
	in       []bool
	r        []float64 // residual of the present solution
	lambda   float64   // its multiplier; 0 where the ball was missed
	dense    bool      // add more than local maxima
	feasible bool
	most     int // outer steps
	room     int // vectors of the basis
}

func newGeneration(j *certifier, g ColumnGeneration) *generation {
	m, n := j.p.A.Dims()
	memory := g.memory
	s := &generation{
		certifier: j, basis: dense.Basis{M: m}, in: make([]bool, n), r: slices.Clone(j.p.Y), most: cmp.Or(g.most, maxIterations),
		room: cmp.Or(g.room, basisMemory/(8*max(1, m))),
	}
	if memory == 0 && m >= gramSensors {
		memory = gramMemory
	}
	if memory != 0 {
		s.gram = &gram{certifier: j, memory: memory, resid: make([]float64, m)}
		if a, ok := j.p.A.(normal); ok {
			if read := a.reader(); read != nil {
				s.gram.local, s.gram.thin = read, &thinColumns{}
			}
		}
	}
	return s
}

// choose returns the columns to add, the best price first.
func (s *generation) choose() []int {
	threshold := 0.0
	if s.feasible {
		threshold = s.lambda
	}
	limit := max(20, s.res.Support*3/5)
	// a column costs a product: add fewer, in multiples of the block of 16
	if !linop.HoldsEntries(s.p.A) && (s.gram == nil || s.gram.local == nil) {
		limit = max(16, s.res.Support/5/16*16)
	}
	return s.bestPrices(limit, func(j int) bool {
		// Of the nodes that are left the best is a local maximum.
		return !s.in[j] && !(s.c[j] <= threshold) && (s.dense || s.opts.Neighbors == nil || s.localMaximum(j))
	})
}

// choosePiece is the number of nodes of which only the best are compared with others.
const choosePiece = 1 << 12

// bestPrices returns the nodes with the highest prices of those that are wanted, the best first and of equal ones
// the first.
func (s *generation) bestPrices(limit int, wanted func(j int) bool) (best []int) {
	better := func(a, b int) int { return cmp.Or(cmp.Compare(s.c[b], s.c[a]), a-b) }
	for first := 0; first < len(s.c); first += choosePiece {
		for j := first; j < min(first+choosePiece, len(s.c)); j++ {
			if wanted(j) {
				best = append(best, j)
			}
		}
		slices.SortFunc(best, better)
		best = best[:min(limit, len(best))]
	}
	return best
}

// localMaximum reports whether no neighbour outside the working set has a better price.
func (s *generation) localMaximum(j int) bool {
	for _, k := range s.opts.Neighbors(j) {
		if s.c[k] > s.c[j] && !s.in[k] {
			return false
		}
	}
	return true
}

// extend adds columns to the working set and solves it. It reports false where the
// context ended, or memory would not do.
func (s *generation) extend(picks []int) bool {
	for _, j := range picks {
		s.in[j] = true
	}
	s.nodes = append(s.nodes, picks...)
	if s.gram != nil {
		s.gram.grow(picks)
		if s.gram.solve(s.eta, s.cancelled) {
			copy(s.r, s.gram.resid)
			s.update(len(picks), s.gram.f, s.gram.lambda)
			return true
		}
		if s.cancelled() || s.gram.k > s.room {
			return false
		}
		s.gram.handOver(&s.basis, &s.master, s.room)
		s.gram = nil
	} else if len(picks) > 0 {
		if s.basis.K+len(picks) > s.room {
			return false
		}
		coords := s.basis.Extend(s.columns(picks), len(picks))
		q, _, rho2 := s.basis.Project(s.p.Y)
		s.master.grow(coords, q, rho2)
	}
	if !s.master.solve(s.eta, s.cancelled) {
		return false
	}
	_, s.r, _ = s.basis.Project(s.p.Y)
	for i, v := range s.master.resid {
		floats.AddScaled(s.r, v, s.basis.Vector(i))
	}
	s.update(len(picks), s.master.f, s.master.lambda)
	return true
}

// update stores a solution on the working set after p columns were added.
func (s *generation) update(p int, f []float64, lambda float64) {
	used := 0
	for _, v := range f[len(f)-p:] {
		if v > 0 {
			used++
		}
	}
	// Where most of the peaks were needed, their neighbours will be too.
	s.dense = 2*used > p
	s.lambda, s.feasible = lambda, lambda > 0
	clear(s.res.F)
	for k, j := range s.nodes {
		s.res.F[j] = f[k]
	}
	s.value(s.feasible)
}
