// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"math"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/graph"
)

// Law is the way in which a rumour passes along relationships.
type Law int

// The laws.
const (
	// SI passes along every relationship after an exponential time, whose rate is the weight (first-passage percolation).
	SI Law = iota
	// IC tries every relationship once, one step after the person heard (independent cascade).
	IC
	// SIR is SI where a person falls silent after an exponential time.
	SIR
)

// String returns SI, IC or SIR.
func (l Law) String() string { return [...]string{"SI", "IC", "SIR"}[l] }

// Nature is a law, and how strong it is.
type Nature struct {
	Law Law
	// Passing is the probability that a relationship of mean weight passes the rumour on at all, in (0, 1). Where it is p, one of
	// w times the mean weight has 1 − (1−p)^w in an independent cascade, and w/(w + (1−p)/p) in SIR. SI does not read it.
	Passing float64
}

// Cut ends a cascade: at a number of people, or at a time in units of the reciprocal of the mean weight, whichever comes first.
type Cut struct {
	Size int     // 0: none
	Time float64 // 0: none
}

// Cascades simulates rumours on one graph. Its methods must not be called at the same time: each worker has its own.
type Cascades struct {
	ptr   []int64
	adj   []int32
	rate  []float64 // weight over mean weight, beside adj; nil: all 1
	heard []int     // the last cascade in which a node was reached
	count int
	queue []passage
}

// passage is a rumour on its way to a node.
type passage struct {
	at   float64
	node int32
}

// NewCascades prepares simulations on g.
func NewCascades(g *graph.Graph) *Cascades {
	ptr, adj, weight := g.CSR()
	return newCascades(ptr, adj, relativeRates(weight))
}

func newCascades(ptr []int64, adj []int32, rate []float64) *Cascades {
	return &Cascades{ptr: ptr, adj: adj, rate: rate, heard: make([]int, len(ptr)-1)}
}

// relativeRates returns weights over their mean, or nil for nil.
func relativeRates(weight []float64) []float64 {
	if weight == nil {
		return nil
	}
	mean := 0.0
	for i, w := range weight {
		mean += (w - mean) / float64(i+1)
	}
	rate := make([]float64, len(weight))
	for i, w := range weight {
		rate[i] = w / mean
	}
	return rate
}

// Run starts a rumour at the source and returns who have heard it when it is cut, in the order in which they
// heard, the source first. The slice is the caller's.
func (c *Cascades) Run(nature Nature, source int, cut Cut, random *rand.Rand) []int32 {
	c.count++
	c.queue = append(c.queue[:0], passage{0, int32(source)})
	var out []int32
	for len(c.queue) > 0 {
		p := c.pop()
		if cut.Time > 0 && p.at > cut.Time {
			break
		}
		if c.heard[p.node] == c.count {
			continue
		}
		c.heard[p.node] = c.count
		if out = append(out, p.node); len(out) == cut.Size {
			break
		}
		c.tell(nature, p, random)
	}
	return out
}

// tell sends the rumour on from a node that has just heard it.
func (c *Cascades) tell(nature Nature, from passage, random *rand.Rand) {
	silent := math.Inf(1)
	if nature.Law == SIR {
		silent = random.ExpFloat64() * nature.Passing / (1 - nature.Passing)
	}
	for k := c.ptr[from.node]; k < c.ptr[from.node+1]; k++ {
		if c.heard[c.adj[k]] == c.count {
			continue
		}
		rate, delay := 1.0, 1.0
		if c.rate != nil {
			rate = c.rate[k]
		}
		if nature.Law == IC {
			if random.Float64() < math.Pow(1-nature.Passing, rate) {
				continue
			}
		} else if delay = random.ExpFloat64() / rate; delay >= silent {
			continue
		}
		c.push(passage{from.at + delay, c.adj[k]})
	}
}

// before orders the queue by time, and by node where times are equal.
func (p passage) before(q passage) bool { return p.at < q.at || p.at == q.at && p.node < q.node }

func (c *Cascades) push(p passage) {
	q := append(c.queue, p)
	i := len(q) - 1
	for ; i > 0 && p.before(q[(i-1)/2]); i = (i - 1) / 2 {
		q[i] = q[(i-1)/2]
	}
	q[i], c.queue = p, q
}

func (c *Cascades) pop() passage {
	q := c.queue
	first, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	i := 0
	for k := 1; k < len(q); k = 2*i + 1 {
		if k+1 < len(q) && q[k+1].before(q[k]) {
			k++
		}
		if !q[k].before(last) {
			break
		}
		q[i], i = q[k], k
	}
	if len(q) > 0 {
		q[i] = last
	}
	c.queue = q
	return first
}
