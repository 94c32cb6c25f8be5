// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

// SampleOptions steer the sampler; zero values are the defaults in brackets.
type SampleOptions struct {
	Options
	Sources int    // [1]
	Chains  int    // [4]
	Sweeps  int    // of each chain that are kept [1000]
	Burn    int    // sweeps before [half of Sweeps]
	Seed    uint64 // the same seed gives the same bits

	evidence bool // ratios for [NewCount] are wanted, where they cost more
	memory   int  // limit of the cached columns, in bytes [cacheMemory]
}

// Sample is the posterior of k sources at different nodes, by Gibbs sampling.
type Sample struct {
	// Probability of each node to be a source. It sums to k.
	Probability []float64
	// RHat is the largest split R̂ of the traced quantities (log likelihood, sum of the
	// amplitudes, and the indicators of nodes of probability .05 and more): above 1.01
	// the chains have not converged. ESS is the smallest effective sample size: below 400
	// the estimates are imprecise.
	// Reference: Vehtari et al. (2021), Bayesian Anal. 16(2).
	RHat, ESS float64

	// Faulty is the probability of each measurement to be that of a faulty sensor; nil where
	// none may be.
	Faulty []float64

	sweeps [][]int // nodes of each sweep
	n      int
	// The log evidence ratio of adding a source to all, for each sweep, and of adding one to
	// the others, for each update of a source; where sensors may be broken, for some of them.
	added, moved []float64
}

// Groups returns, for each label, the probability that it holds a source.
func (s *Sample) Groups(labels []int) ([]float64, error) {
	count, err := groupCount(labels, s.n)
	if err != nil {
		return nil, err
	}
	out := make([]float64, count)
	seen := make([]int, count)
	for t, nodes := range s.sweeps {
		for _, z := range nodes {
			if l := labels[z]; seen[l] != t+1 {
				seen[l] = t + 1
				out[l]++
			}
		}
	}
	floats.Scale(1/float64(len(s.sweeps)), out)
	return out, nil
}

// NewSample draws sources from their posterior. Given the others, node and amplitude of
// one source have the closed form of [New], so each update draws from the exact conditional.
func NewSample(ctx context.Context, d measurement.Data, opts SampleOptions) (*Sample, error) {
	opts = opts.withDefaults()
	_, n := d.A.Dims()
	if opts.Sources < 1 || opts.Sources >= n || opts.Chains < 1 || opts.Sweeps < 4 || opts.Burn < 0 {
		return nil, fmt.Errorf("%w: %d sources among %d nodes, %d chains of %d sweeps after %d", ErrInvalid, opts.Sources, n, opts.Chains, opts.Sweeps, opts.Burn)
	}
	c, norms, logPrior, err := sufficient(ctx, d, opts.Options)
	if err != nil {
		return nil, err
	}
	if math.IsInf(logDistinct(logPrior, opts.Sources), -1) {
		return nil, fmt.Errorf("%w: the prior leaves fewer than %d nodes", ErrInvalid, opts.Sources)
	}
	g := gibbs{d: d, c: c, norms: norms.N, logPrior: logPrior, e: newEvidence(opts.Amplitude), cache: map[int][]float64{}, memory: cmp.Or(opts.memory, cacheMemory)}
	at, err := g.chain(ctx, opts)
	if err != nil {
		return nil, err
	}
	out := &Sample{n: n, Probability: make([]float64, n)}
	like, mass := make([][]float64, opts.Chains), make([][]float64, opts.Chains)
	for k := range opts.Chains {
		at.start(opts.Sources, rand.New(rand.NewPCG(opts.Seed, uint64(k))))
		for t := range opts.Burn + opts.Sweeps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			moved := at.sweep(ctx)
			if t < opts.Burn {
				continue
			}
			at.observe()
			out.moved = append(out.moved, moved...)
			out.added = append(out.added, at.added(ctx)...)
			now := at.state()
			like[k], mass[k] = append(like[k], at.likelihood()), append(mass[k], floats.Sum(now.a))
			out.sweeps = append(out.sweeps, slices.Clone(now.z))
			for _, z := range now.z {
				out.Probability[z]++
			}
		}
		if opts.Progress != nil {
			opts.Progress("sample sources", int64(k+1), int64(opts.Chains))
		}
	}
	if err := ctx.Err(); err != nil { // of which the last sweep knew nothing
		return nil, err
	}
	floats.Scale(1/float64(len(out.sweeps)), out.Probability)
	out.Faulty = at.broken()
	out.diagnose(append(out.indicatorTraces(opts.Chains), like, mass))
	return out, nil
}

// diagnose sets the worst R̂ and ESS of the traced quantities.
func (s *Sample) diagnose(traces [][][]float64) {
	s.RHat, s.ESS = 1, math.Inf(1)
	for _, chains := range traces {
		s.RHat, s.ESS = max(s.RHat, splitRHat(chains)), min(s.ESS, effectiveSize(chains))
	}
}

// tracedProbability is the least probability of a node whose indicator is traced: chains
// may be stuck at different nodes with the same likelihood.
const tracedProbability = 0.05

// indicatorTraces returns, for each node to trace, whether it is a source (0 or 1), by chain.
func (s *Sample) indicatorTraces(chains int) (traces [][][]float64) {
	length := len(s.sweeps) / chains
	for i, p := range s.Probability {
		if p < tracedProbability {
			continue
		}
		trace := make([][]float64, chains)
		for t, nodes := range s.sweeps {
			v := 0.0
			if slices.Contains(nodes, i) {
				v = 1
			}
			trace[t/length] = append(trace[t/length], v)
		}
		traces = append(traces, trace)
	}
	return traces
}

func (o SampleOptions) withDefaults() SampleOptions {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.Sources, 1)
	set(&o.Chains, 4)
	set(&o.Sweeps, 1000)
	set(&o.Burn, o.Sweeps/2)
	return o
}

// gibbs is the state of one chain.
type gibbs struct {
	d                  measurement.Data
	c, norms, logPrior []float64
	e                  evidence
	cache              map[int][]float64 // columns of AᵀA
	memory             int               // limit of cache, in bytes
	rnd                *rand.Rand

	z     []int
	a     []float64
	rest  []float64 // c − Σ a·AᵀA e_z
	w     []float64 // log weight of each node for one more source
	total float64   // log Σ e^w
}

// chain returns what samples as the options say: where sensors may be faulty, by entries of A or by columns.
func (g *gibbs) chain(ctx context.Context, opts SampleOptions) (chain, error) {
	switch {
	case opts.Faults.Rate == 0:
		return g, nil
	case linop.HoldsEntries(g.d.A):
		return newFaultyGibbs(ctx, *g, opts)
	default:
		return newWalk(ctx, g, opts)
	}
}

func (g *gibbs) start(k int, rnd *rand.Rand) {
	g.rnd, g.z, g.a = rnd, nil, nil
	g.rest = append(g.rest[:0], g.c...)
	g.w = make([]float64, len(g.c))
	copy(g.w, g.logPrior)
	for range k { // dispersed: from the prior
		g.total = logSum(g.w)
		z := g.draw()
		g.w[z] = math.Inf(-1)
		g.add(z, g.amplitude(g.rest[z], g.norms[z]))
	}
}

func (g *gibbs) add(z int, a float64) {
	g.z, g.a = append(g.z, z), append(g.a, a)
	floats.AddScaled(g.rest, -a, g.column(z))
}

// cacheMemory bounds the columns that a sampler caches, in bytes. Beyond it the cache is
// cleared; columns of the current sources are soon computed again.
const cacheMemory = 1 << 30

func (g *gibbs) column(z int) []float64 {
	col, ok := g.cache[z]
	if !ok {
		m, n := g.d.A.Dims()
		if 8*n*len(g.cache) >= g.memory {
			clear(g.cache)
		}
		x := make([]float64, m)
		linop.ColumnsTo(g.d.A, x, []int{z})
		col = make([]float64, n)
		g.d.A.MulVecTo(col, true, x)
		g.cache[z] = col
	}
	return col
}

// sweep updates every source once and returns total at each update.
func (g *gibbs) sweep(context.Context) (totals []float64) {
	for range g.z {
		z, a := g.z[0], g.a[0]
		g.z, g.a = g.z[1:], g.a[1:]
		floats.AddScaled(g.rest, a, g.column(z))
		g.setWeights()
		totals = append(totals, g.total)
		z = g.draw()
		g.add(z, g.amplitude(g.rest[z], g.norms[z]))
	}
	return totals
}

// added returns the log evidence ratio of adding a source.
func (g *gibbs) added(context.Context) []float64 {
	g.setWeights()
	return []float64{g.total}
}

func (g *gibbs) observe() {}

func (g *gibbs) broken() []float64 { return nil }

func (g *gibbs) state() *gibbs { return g }

// setWeights sets w and total.
func (g *gibbs) setWeights() {
	for i, l := range g.logPrior {
		g.w[i] = l
		if !math.IsInf(l, -1) {
			g.w[i] += g.e.log(g.rest[i], g.norms[i])
		}
	}
	for _, z := range g.z {
		g.w[z] = math.Inf(-1)
	}
	g.total = logSum(g.w)
}

// draw returns a node with probability ∝ e^w.
func (g *gibbs) draw() int {
	cum := make([]float64, len(g.w))
	sum := 0.0
	for i, w := range g.w {
		sum += math.Exp(w - g.total)
		cum[i] = sum
	}
	u := g.rnd.Float64() * sum
	return min(sort.Search(len(cum), func(i int) bool { return cum[i] > u }), len(cum)-1)
}

// amplitude draws an amplitude in proportion to e^{ac − a²N/2} and the prior: where it is
// not 1 itself, by bisection of the distribution function, since ∫₀ˣ is x·∫₀¹ with c and N
// scaled by x and x².
func (g *gibbs) amplitude(c, n float64) float64 {
	if g.e.unit == 1 || g.e.unit > 0 && math.Log(g.rnd.Float64()) < math.Log(g.e.unit)+c-n/2-g.e.log(c, n) {
		return 1
	}
	target := g.e.uniform(c, n) + math.Log(1-g.rnd.Float64())
	lo, hi := 0.0, 1.0
	for range 50 {
		x := (lo + hi) / 2
		if math.Log(x)+g.e.uniform(x*c, x*x*n) < target {
			lo = x
		} else {
			hi = x
		}
	}
	return (lo + hi) / 2
}

// likelihood is Σ a·c − ½‖A f‖², with Aᵀ A f = c − rest.
func (g *gibbs) likelihood() float64 {
	sum := 0.0
	for i, z := range g.z {
		sum += g.a[i] * (g.c[z] + g.rest[z]) / 2
	}
	return sum
}
