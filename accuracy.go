// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"container/heap"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Accuracy is how often the posterior names the right community, by simulation of
// a single source of amplitude 1 at a node that the prior draws.
type Accuracy struct {
	Probability float64 `json:"probability"`
	Lower       float64 `json:"lower"` // 95 % interval, by the normal score
	Upper       float64 `json:"upper"`
	Chance      float64 `json:"chance"` // of always naming the likeliest community of the prior
	Trials      int     `json:"trials"`
	// MeanEMD is the mean earth mover's distance from the source to the posterior within
	// its component, in units of the metric, and Elsewhere the mean share of the posterior
	// in other components, to which there is no distance.
	MeanEMD   float64 `json:"meanEmd"`
	Elsewhere float64 `json:"meanElsewhere"`
	// CredibleSetSize is the mean number of nodes in the 95 % credible set, and
	// KnownMassSetSize that to a reader who knows that the amplitude is 1.
	CredibleSetSize  float64 `json:"credibleSetSize"`
	KnownMassSetSize float64 `json:"credibleSetSizeKnownMass"`
}

// DefaultTrials is the number of simulated releases behind an expected accuracy.
const DefaultTrials = 200

// expectation simulates full sources. Each plan sees the same sources and the same
// random numbers, so that plans are compared on common ones. It is nil for graphs of
// more than 6,000 nodes, which [Model.Evaluate] takes its time for.
func (m *Model) expectation(ctx context.Context, opts RecoverOptions, trials int) (*evaluator, error) {
	if m.Graph.Order() > denseLimit {
		return nil, nil
	}
	s, err := m.newEvaluator(ctx, EvaluateOptions{Trials: trials, Amplitude: 1, Recover: opts})
	if err != nil {
		return nil, err
	}
	s.common = true
	return s, nil
}

// accuracy simulates one plan.
func (s *evaluator) accuracy(ctx context.Context, p *privacy.Plan) (*Accuracy, error) {
	r, err := s.newRecoverer(ctx, p)
	if err != nil {
		return nil, err
	}
	trials, err := r.run(ctx, "simulate")
	if err != nil {
		return nil, err
	}
	var a Accuracy
	right, n := 0, float64(len(trials))
	for _, t := range trials {
		right += count(t.Right)
		a.MeanEMD += t.Distance / n
		a.Elsewhere += t.Elsewhere / n
		a.CredibleSetSize += float64(t.Credible) / n
		a.KnownMassSetSize += float64(t.Known) / n
	}
	rate := wilson(right, len(trials))
	a.Probability, a.Lower, a.Upper, a.Trials = rate.Probability, rate.Lower, rate.Upper, rate.Trials
	a.Chance = floats.Max(s.part.Sums(s.prior))
	return &a, nil
}

// meanDistance returns the earth mover's distance between a distribution and the
// unit mass at a node, Σ p_i·d(i, source): all mass moves to one place, so that
// there is nothing to choose. Mass in other components, to which there is no way, is
// left out: see unreached.
func meanDistance(g *graph.Graph, source int, p []float64) float64 {
	return meanOver(distances(g, source), p)
}

// meanOver is meanDistance for distances that are known, and any mass p ≥ 0.
func meanOver(d, p []float64) float64 {
	var sum, mass float64
	for i, x := range p {
		if !math.IsInf(d[i], 1) {
			sum, mass = sum+x*d[i], mass+x
		}
	}
	if mass == 0 {
		return 0
	}
	return sum / mass
}

// unreached is the share of a distribution at infinite distances.
func unreached(d, p []float64) (share float64) {
	for i, x := range p {
		if math.IsInf(d[i], 1) {
			share += x
		}
	}
	return min(1, share)
}

// distances returns the length of a shortest path from the source to each node, by
// Dijkstra's algorithm; +Inf in other components.
func distances(g *graph.Graph, source int) []float64 {
	d := make([]float64, g.Order())
	for i := range d {
		d[i] = math.Inf(1)
	}
	ptr, adj, _ := g.CSR()
	lengths := g.Lengths()
	d[source] = 0
	open := &queue{{source, 0}}
	for open.Len() > 0 {
		at := heap.Pop(open).(entry)
		if at.distance > d[at.node] {
			continue
		}
		for k := ptr[at.node]; k < ptr[at.node+1]; k++ {
			length := 1.0
			if lengths != nil {
				length = lengths[k]
			}
			if to := int(adj[k]); at.distance+length < d[to] {
				d[to] = at.distance + length
				heap.Push(open, entry{to, d[to]})
			}
		}
	}
	return d
}

type entry struct {
	node     int
	distance float64
}

// queue is a heap of entries by distance.
type queue []entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].distance < q[j].distance }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// wilson returns a proportion with its 95 % score interval.
func wilson(k, n int) Accuracy {
	const z = 1.959963984540054
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Accuracy{Probability: p, Lower: max(0, middle-half), Upper: min(1, middle+half), Trials: n}
}
