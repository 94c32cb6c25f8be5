// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
)

// Accuracy is how often the posterior names the right community, by simulation of
// a single source of amplitude 1 at a uniformly random node.
type Accuracy struct {
	Probability float64 `json:"probability"`
	Lower       float64 `json:"lower"` // 95 % interval, by the normal score
	Upper       float64 `json:"upper"`
	Chance      float64 `json:"chance"` // of always naming the largest community
	Trials      int     `json:"trials"`
	// MeanEMD is the mean earth mover's distance from the source to the posterior's
	// mean, in units of the metric; nil: not measured.
	MeanEMD *float64 `json:"meanEmd,omitempty"`
}

// DefaultTrials is the number of simulated releases behind an expected accuracy.
const DefaultTrials = 200

// simulation draws releases on the public graph. It touches no data and spends
// nothing. Each run repeats the same sources and the same noise up to its scale, so
// that plans are compared on common random numbers.
type simulation struct {
	model     *Model
	op        linop.Operator
	nodes     []int
	part      community.Partition
	amplitude recovery.Amplitude
	trials    int
	emd       bool // measure distances too
}

// newSimulation needs M as a matrix and returns nil for graphs of more than 6,000
// nodes.
func (m *Model) newSimulation(ctx context.Context, p *privacy.Plan, part community.Partition, amplitude recovery.Amplitude, trials int) (*simulation, error) {
	if m.Graph.Order() > denseLimit {
		return nil, nil
	}
	nodes := make([]int, len(p.Sensors))
	for k, s := range p.Sensors {
		nodes[k] = s.Node
	}
	op, err := m.operator(ctx, nodes)
	return &simulation{model: m, op: op, nodes: nodes, part: part, amplitude: amplitude, trials: trials}, err
}

// simulate runs one simulation.
func (m *Model) simulate(ctx context.Context, p *privacy.Plan, part community.Partition, amplitude recovery.Amplitude, trials int) (*Accuracy, error) {
	s, err := m.newSimulation(ctx, p, part, amplitude, trials)
	if s == nil || err != nil {
		return nil, err
	}
	return s.run(ctx, p)
}

// run simulates a plan with the simulation's sensors.
func (s *simulation) run(ctx context.Context, p *privacy.Plan) (*Accuracy, error) {
	n := s.model.Graph.Order()
	u := make([]float64, len(s.nodes))
	for k, x := range p.Sensors {
		u[k] = 1 / (x.Sigma() * x.Sigma())
	}
	silent, err := recovery.Whiten(s.op, make([]float64, len(u)), u)
	if err != nil {
		return nil, err
	}
	norms, err := silent.Norms(ctx)
	if err != nil {
		return nil, err
	}
	// The seed is public on purpose: this noise hides nothing.
	random := rand.New(rand.NewPCG(1, 2))
	f, y := make([]float64, n), make([]float64, len(u))
	right, distance := 0, 0.0
	for trial := range s.trials {
		if progress := s.model.opts.Progress; progress != nil {
			progress("simulate", int64(trial), int64(s.trials))
		}
		source := random.IntN(n)
		f[source] = 1
		s.op.MulVecTo(y, false, f)
		f[source] = 0
		for k, x := range p.Sensors {
			y[k] += x.Sigma() * random.NormFloat64()
		}
		data, err := recovery.Whiten(s.op, y, u)
		if err != nil {
			return nil, err
		}
		post, err := data.Posterior(ctx, recovery.PosteriorOptions{Amplitude: s.amplitude, Norms: &norms})
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		if community.Rank(post.Probability, s.part)[0].Community == s.part.Labels[source] {
			right++
		}
		if s.emd {
			distance += meanDistance(s.model.Graph, source, post.Probability)
		}
	}
	a := wilson(right, s.trials)
	a.Chance = float64(slices.Max(s.part.Orders())) / float64(n)
	if s.emd {
		distance /= float64(s.trials)
		a.MeanEMD = &distance
	}
	return &a, nil
}

// meanDistance returns the earth mover's distance between a distribution and the
// unit mass at a node, Σ p_i·d(i, source): all mass moves to one place, so that
// there is nothing to choose. Mass in other components, which the public total of
// each excludes, is left out.
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
