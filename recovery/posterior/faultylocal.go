// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

const (
	// localError is the error, in nats, that what a column misses may at first make of the log evidence of a node
	// that a source moves as much as any, roughly.
	localError = 1.5e-2
	// localOpen is the error of probabilities from which columns are read again, and localLeft what those have that are not.
	localOpen, localLeft = .46 * posteriorTol, .4 * posteriorTol
	// localRounds is the number of times that columns which matter are read again, each time better by localFactor.
	localRounds = 3
	localFactor = .1
	// localSuspects is the number of nodes, the likeliest, that suspects are asked of where columns are local.
	localSuspects = 2048
	// localPilots is the number of nodes whose evidence tells which others are negligible.
	localPilots = 16
)

// local is the posterior where heat stays near: every column is read at the sensors that it reaches. It reports false where
// it does not. What is summed over are the states that matter, with a bound on what the others hold; where
// that is wide, all states.
func (f *faulty) local(ctx context.Context) (*Posterior, bool, error) {
	return f.localWithin(ctx, stateMargin, math.Inf(1))
}

// localWithin sums over the states whose log probability is within a margin of the likeliest's: the first that leaves little
// open, or the last.
func (f *faulty) localWithin(ctx context.Context, margins ...float64) (*Posterior, bool, error) {
	p, l, read, err := f.localSource(ctx, margins...)
	if p == nil {
		return nil, false, err
	}
	nodes := likeliest(p.Probability, 1-unseenMass)
	p.Faulty, err = l.suspects(ctx, p, read, nodes[:min(localSuspects, len(nodes))])
	return p, err == nil, err
}

// localSource is localWithin without the suspects, and what these are asked of; nil where columns are not local.
func (f *faulty) localSource(ctx context.Context, margins ...float64) (*Posterior, *local, linop.ColumnReader, error) {
	n := len(f.logPrior)
	tol := localTolerance(f.d)
	read, ok := linop.ReadColumns(f.d.A, everyNode(n), tol, exactOrder)
	if !ok {
		return nil, nil, nil, ctx.Err()
	}
	var l *local
	var e *estimates
	for _, margin := range margins {
		l, e = f.newLocal(margin, tol), newEstimates(n)
		if err := l.weigh(ctx, read, e); err != nil {
			return nil, nil, nil, err
		}
		if e.open() <= posteriorTol/4 {
			break
		}
	}
	if err := checkResolvable(Norms{N: e.squares}); err != nil {
		return nil, nil, nil, err
	}
	p := &Posterior{LogEvidence: make([]float64, n), Probability: e.weight}
	for i, prior := range f.logPrior {
		if p.LogEvidence[i] = e.weight[i] - prior; math.IsInf(prior, -1) {
			p.LogEvidence[i] = prior
		}
	}
	p.normalize(e.low, e.high, f.level)
	return p, l, read, nil
}

// localTolerance is that of columns that are read first.
func localTolerance(d measurement.Data) float64 {
	return localError / (1 + min(linop.Norm(d.A), floats.Norm(d.Y, 2)))
}

// everyNode returns 0, 1, … below n.
func everyNode(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// estimates are the log evidence and prior of every node with bounds on it, the sum of squares of its column, and a bound on the
// log evidence and prior in the states that are left out.
type estimates struct{ weight, low, high, squares, dropped []float64 }

func newEstimates(n int) *estimates {
	return &estimates{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// open bounds the share of the evidence that is in the states left out.
func (e *estimates) open() float64 {
	return math.Exp(logSum(e.dropped) - logSum(e.weight))
}

// weigh estimates the evidence of every node, and of those that matter again from better columns.
func (l *local) weigh(ctx context.Context, read linop.ColumnReader, e *estimates) error {
	nodes := l.pilots()
	if err := l.estimate(ctx, read, nodes, e); err != nil {
		return err
	}
	for _, i := range nodes {
		l.floor = max(l.floor, e.low[i])
	}
	if err := l.estimate(ctx, read, everyNode(len(e.weight)), e); err != nil {
		return err
	}
	for range localRounds {
		nodes := l.mattering(e)
		if len(nodes) == 0 {
			return nil
		}
		better, ok := linop.ReadColumns(l.d.A, nodes, l.tol*localFactor, exactOrder)
		if !ok {
			return nil
		}
		l.within(l.tol * localFactor)
		if err := l.estimate(ctx, better, nodes, e); err != nil {
			return err
		}
	}
	return nil
}

// pilots are the nodes that the measurements speak for most, to first order in the amplitude: such as trust what is loud little, and
// such as trust all, up to three times the noise.
func (l *local) pilots() (nodes []int) {
	n, states := len(l.logPrior), len(l.logStates)
	first, clipped := make([]float64, n), make([]float64, len(l.d.Y))
	for i := range first {
		first[i] = l.linear[i*states+l.likeliest] + l.logPrior[i]
	}
	nodes = firstOf(first, localPilots)
	const loud = 3
	for s, y := range l.d.Y {
		clipped[s] = max(-loud, min(y, loud))
	}
	l.d.A.MulVecTo(first, true, clipped)
	floats.Add(first, l.logPrior)
	return append(nodes, firstOf(first, localPilots)...)
}

// firstOf returns places of the k largest values, or of all.
func firstOf(x []float64, k int) []int {
	places := atLeast(x, topOf(x, min(k, len(x))))
	return places[:min(k, len(places))]
}

// topOf returns the k-th largest value.
func topOf(x []float64, k int) float64 {
	top := make([]float64, 0, k+1)
	for _, v := range x {
		at := len(top)
		for at > 0 && top[at-1] < v {
			at--
		}
		if at < k {
			top = append(top, 0)
			copy(top[at+1:], top[at:])
			top[at] = v
			top = top[:min(len(top), k)]
		}
	}
	return top[len(top)-1]
}

// estimate estimates the evidence of some nodes, on every processor.
func (l *local) estimate(ctx context.Context, read linop.ColumnReader, nodes []int, e *estimates) error {
	return inBlocks(ctx, len(nodes), func(from, to int) {
		c := l.newNode()
		for _, i := range nodes[from:to] {
			read(i, func(rows []int32, x []float64, off float64) {
				c.set(i, rows, x, off)
				e.squares[i], e.dropped[i] = c.squares, c.dropped+l.logPrior[i]
				log, low, high := c.log(l.floor - l.logPrior[i])
				e.weight[i], e.low[i], e.high[i] = log+l.logPrior[i], low+l.logPrior[i], high+l.logPrior[i]
			})
		}
	})
}

// mattering lists the nodes whose bounds are to be narrower: none where they leave the probabilities, and the odds of the
// first two nodes, known well; else the fewest without whose errors they do.
func (l *local) mattering(e *estimates) (nodes []int) {
	shares := logShareErrors(e.low, e.high, logSum(e.weight))
	odds := logOddsError(e.weight, e.low, e.high)
	wide := make([]bool, len(shares))
	if odds > posteriorTol {
		second := firstTwo(e.low)[1]
		for i := range wide {
			wide[i] = e.high[i] >= second && e.high[i] > e.low[i]
		}
	}
	order := atLeast(shares, math.Log(localOpen/2/float64(len(shares))))
	slices.SortStableFunc(order, func(i, j int) int { return compareDown(shares[i], shares[j]) })
	open := math.Exp(logSum(shares))
	if open <= localOpen {
		order = nil
	}
	for _, i := range order {
		if open <= localLeft {
			break
		}
		wide[i] = true
		open -= math.Exp(shares[i])
	}
	for i, w := range wide {
		if w {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// suspects returns the probability of each sensor to be faulty where the source is at one of some nodes.
func (l *local) suspects(ctx context.Context, p *Posterior, read linop.ColumnReader, nodes []int) ([]float64, error) {
	return l.suspectsOf(nodes, func(visit func(int, suspecter)) error {
		return inBlocks(ctx, len(nodes), func(from, to int) {
			c := l.newNode()
			for _, i := range nodes[from:to] {
				read(i, func(rows []int32, x []float64, off float64) {
					c.set(i, rows, x, off)
					visit(i, c.suspect)
				})
			}
		})
	}, p.LogPresence)
}
