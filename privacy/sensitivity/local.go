// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Limits of one Lanczos process: its steps, and the entries after which it stops in the
// local tier.
const (
	localSteps   = 24
	localEntries = 1 << 14
	localBatch   = 4096
	localCost    = 3 // least time of an entry, relative to one of a block product
	localSample  = 256
)

// A process that may read the whole graph holds localSteps + 1 vectors for each
// worker: 400 MB at this order.
const (
	globalEntries = math.MaxInt64
	globalOrder   = 1 << 20
	globalBatch   = 64
	globalSample  = 4
)

// localQuadrature brackets edges by Gauss and Gauss–Radau quadrature from a Lanczos
// process that starts at b and so reads a neighbourhood only. A sample decides whether it
// is cheaper than the screen, and a small one before it: it is on spatial graphs, and not on
// expanders, where a neighbourhood is all that may be read.
func (s *search) localQuadrature(ctx context.Context) error {
	if len(s.rest) <= localSample {
		return nil
	}
	// The first round of the screen has firstColumns columns of about a hundred products.
	screenWork := firstColumns * 100 * float64(s.lap.Work())
	for _, size := range []int{localSample / 16, localSample} {
		work, open, err := s.quadrature(ctx, s.spread(size), localEntries)
		if err != nil {
			return err
		}
		perEdge := float64(work) / float64(size)
		if size == localSample { // a small sample is too uncertain to say more than that
			perEdge *= localCost
		}
		if open > size/4 || perEdge*float64(len(s.rest)) > screenWork {
			return nil
		}
	}
	for done := 0; done < len(s.rest); {
		batch := s.rest[done:min(done+localBatch, len(s.rest))]
		if _, _, err := s.quadrature(ctx, batch, localEntries); err != nil {
			return err
		}
		done += len(batch)
		s.opts.Progress("local", int64(done), int64(len(s.rest)))
	}
	return nil
}

// spread returns so many of the edges that remain, at equal distances in their order.
func (s *search) spread(count int) []int32 {
	sample := make([]int32, count)
	for k := range sample {
		sample[k] = s.rest[k*(len(s.rest)/count)]
	}
	return sample
}

// globalQuadrature brackets the edges that remain by quadrature on the whole graph, where
// a sample shows that it costs less than half of the given number of columns of the
// polynomial: where b has components along few eigenvectors, as at the leaves of hubs,
// it takes a few products instead of about a hundred.
func (c *screening) globalQuadrature(ctx context.Context, columns int) error {
	// A step reads the graph, and orthogonalising costs about three times as much.
	const least = 4 * 4
	budget := float64(columns) * float64(c.d.Degree()+1) * float64(c.lap.Work()) / 2
	if !c.uniform || c.n > globalOrder || c.skipQuadrature || float64(len(c.rest))*least*float64(c.lap.Work()) > budget {
		return nil
	}
	step := max(1, len(c.rest)/globalSample)
	var sample []int32
	for done := 0; done < len(c.rest) && len(sample) < globalSample; done += step {
		sample = append(sample, c.rest[done])
	}
	var work int64
	open := 0
	for part := sample; len(part) > 0 && 4*open <= len(sample); part = part[min(globalSample/2, len(part)):] {
		w, o, err := c.quadrature(ctx, part[:min(globalSample/2, len(part))], globalEntries)
		if err != nil {
			return err
		}
		work, open = work+w, open+o
	}
	perEdge := 4 * float64(work) / float64(len(sample))
	c.skipQuadrature = 4*open > len(sample) || perEdge*float64(len(c.rest)) > budget
	c.dropClosed("quadrature")
	for done := 0; !c.skipQuadrature && done < len(c.rest); {
		batch := c.rest[done:min(done+globalBatch, len(c.rest))]
		if _, _, err := c.quadrature(ctx, batch, globalEntries); err != nil {
			return err
		}
		done += len(batch)
		c.opts.Progress("quadrature", int64(c.edges.len()-len(c.rest)+done), int64(c.edges.len()))
	}
	c.dropClosed("quadrature")
	return nil
}

// quadrature brackets a batch with the target at its beginning, so that the result does
// not depend on the number of workers. It returns the entries read and the number of
// edges still open.
func (s *search) quadrature(ctx context.Context, batch []int32, limit int64) (work int64, open int, err error) {
	type result struct {
		up, low float64
		work    int64
	}
	target := s.target()
	out := make([]result, len(batch))
	parallel.Rows(len(batch), processWork, func(lo, hi int) {
		p := s.process(limit)
		defer s.processes.Put(p)
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			e := s.edges.at(batch[k])
			unitScale := e.scale * math.Sqrt(s.peak)
			up, low := p.bracket(e, target/unitScale, s.opts.Tolerance)
			out[k] = result{up * unitScale * (1 + 8*unit), low * unitScale * (1 - 8*unit), p.entriesRead}
		}
	})
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	for k, i := range batch {
		r := out[k]
		s.upper[i] = min(s.upper[i], r.up)
		if s.uniform {
			s.raiseLower(i, r.low)
		}
		work += r.work
		if s.upper[i] > target && s.upper[i] > s.target() {
			open++
		}
	}
	return work, open, nil
}

// process is a Lanczos process, stored on the nodes visited so far.
type process struct {
	p           *problem
	ptr         []int64
	adj         []int32
	val         []float64
	diag        []float64
	position    []int32 // 1 + number of a node in nodes; 0: not visited
	nodes       []int32
	v           [][]float64 // basis, v[k] over the first len(v[k]) nodes
	entriesRead int64
	limit       int64
	counted     int   // nodes whose entries are counted
	entries     int64 // of the rows of so many nodes
	wide        bool  // vectors are over all rows, see stepByRows
	rowsFrom    int   // the length of a vector from which they are
	spare       []float64
	alpha       []float64
	beta        []float64
}

// processWork is the work of a process, in values that a loop reads: at least that, so that
// each may be on a processor of its own.
const processWork = 1 << 14

// process returns a process that is not at work; it is given back after use.
func (s *search) process(limit int64) *process {
	q, ok := s.processes.Get().(*process)
	if !ok {
		q = newProcess(s.problem)
	}
	q.limit = limit
	return q
}

func newProcess(p *problem) *process {
	n := p.lap.Order()
	q := &process{p: p, position: make([]int32, n), v: make([][]float64, localSteps+1), rowsFrom: max(wideNodes, n/4)}
	q.ptr, q.adj, q.val, q.diag = p.lap.CSR()
	return q
}

// bracket bounds ‖e^{-τS}b‖ from both sides, until the upper bound is at most
// target, or the two are within tol of each other, or the limits are reached.
func (q *process) bracket(e edge, target, tol float64) (up, low float64) {
	bu, bv, mass := q.p.incidence(e)
	up = math.Sqrt(mass) * (1 + 4*unit)
	q.initialize(e, bu/math.Sqrt(mass), bv/math.Sqrt(mass))
	for m := 1; m < localSteps; m++ {
		if !q.step(m - 1) {
			break
		}
		g, h := q.radau(mass)
		up, low = min(up, g), max(low, h)
		if up <= target || up <= low*(1+tol/2) {
			break
		}
	}
	for _, t := range q.nodes {
		q.position[t] = 0
	}
	return up, low
}

func (q *process) initialize(e edge, bu, bv float64) {
	q.nodes = append(q.nodes[:0], e.u, e.v)
	q.position[e.u], q.position[e.v] = 1, 2
	q.v[0] = append(q.v[0][:0], bu, bv)
	q.alpha, q.beta, q.entriesRead = q.alpha[:0], q.beta[:0], 0
	q.counted, q.entries, q.wide = 0, 0, false
}

// step makes v_{m+1} with full reorthogonalisation, twice. It reports false where the
// limit of entries read would be exceeded.
func (q *process) step(m int) bool {
	v := q.v[m]
	for ; !q.wide && q.counted < len(v); q.counted++ {
		t := q.nodes[q.counted]
		q.entries += q.ptr[t+1] - q.ptr[t]
	}
	if q.entriesRead += q.entries; q.entriesRead > q.limit {
		return false
	}
	var alpha, beta float64
	if q.wide || len(v) >= q.rowsFrom {
		alpha, beta = q.stepByRows(m)
	} else {
		q.multiply(m)
		w := q.v[m+1]
		alpha = dot(v, w[:len(v)])
		for range 2 {
			dense.Orthogonalize(w, q.v[:m+1], nil)
		}
		beta = normalize(w, math.Sqrt(dot(w, w)))
	}
	q.alpha, q.beta = append(q.alpha, alpha), append(q.beta, beta)
	return true
}

// multiply sets v_{m+1} to S v_m, and appends the nodes that it comes to first.
func (q *process) multiply(m int) {
	v := q.v[m]
	w := append(q.v[m+1][:0], make([]float64, len(v))...)
	for k, x := range v {
		t := q.nodes[k]
		w[k] += q.diag[t] * x
		for a := q.ptr[t]; a < q.ptr[t+1]; a++ {
			b := 1.0
			if q.val != nil {
				b = q.val[a]
			}
			position := q.position[q.adj[a]]
			if position == 0 {
				q.nodes = append(q.nodes, q.adj[a])
				w = append(w, 0)
				position = int32(len(q.nodes))
				q.position[q.adj[a]] = position
			}
			w[position-1] -= b * x
		}
	}
	q.v[m+1] = w
}

// normalize divides w by its norm beta, unless that is 0, and returns it.
func normalize(w []float64, beta float64) float64 {
	if beta > 0 {
		for k := range w {
			w[k] /= beta
		}
	}
	return beta
}
