// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
)

// Accuracy is how often the posterior names the right community, by simulation of
// a single source of amplitude 1 at a uniformly random node.
type Accuracy struct {
	Probability float64 `json:"probability"`
	Lower       float64 `json:"lower"` // 95 % interval, Wilson (1927)
	Upper       float64 `json:"upper"`
	Chance      float64 `json:"chance"` // of always naming the largest community
	Trials      int     `json:"trials"`
}

// DefaultTrials is the number of simulated releases behind an expected accuracy.
const DefaultTrials = 200

// simulate draws releases under a plan on the public graph. It touches no data and
// spends nothing. The same plan gives the same numbers. It needs M as a matrix and
// returns nil for graphs of more than 6,000 nodes.
func (m *Model) simulate(ctx context.Context, p *privacy.Plan, part community.Partition, amplitude recovery.Amplitude, trials int) (*Accuracy, error) {
	n := m.Graph.Order()
	if n > denseLimit {
		return nil, nil
	}
	nodes := make([]int, len(p.Sensors))
	u := make([]float64, len(nodes))
	for k, s := range p.Sensors {
		nodes[k], u[k] = s.Node, 1/(s.Sigma()*s.Sigma())
	}
	op, err := m.operator(ctx, nodes)
	if err != nil {
		return nil, err
	}
	silent, err := recovery.Whiten(op, make([]float64, len(nodes)), u)
	if err != nil {
		return nil, err
	}
	norms, err := silent.Norms(ctx)
	if err != nil {
		return nil, err
	}
	// The seed is public on purpose: this noise hides nothing.
	random := rand.New(rand.NewPCG(1, 2))
	f, y := make([]float64, n), make([]float64, len(nodes))
	right := 0
	for trial := range trials {
		if m.opts.Progress != nil {
			m.opts.Progress("simulate", int64(trial), int64(trials))
		}
		source := random.IntN(n)
		f[source] = 1
		op.MulVecTo(y, false, f)
		f[source] = 0
		for k, s := range p.Sensors {
			y[k] += s.Sigma() * random.NormFloat64()
		}
		data, err := recovery.Whiten(op, y, u)
		if err != nil {
			return nil, err
		}
		post, err := data.Posterior(ctx, recovery.PosteriorOptions{Amplitude: amplitude, Norms: &norms})
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		if community.Rank(post.Probability, part)[0].Community == part.Labels[source] {
			right++
		}
	}
	largest := 0
	for _, size := range part.Orders() {
		largest = max(largest, size)
	}
	a := wilson(right, trials)
	a.Chance = float64(largest) / float64(n)
	return &a, nil
}

// wilson returns a proportion with its 95 % score interval.
func wilson(k, n int) Accuracy {
	const z = 1.959963984540054
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Accuracy{Probability: p, Lower: max(0, middle-half), Upper: min(1, middle+half), Trials: n}
}
