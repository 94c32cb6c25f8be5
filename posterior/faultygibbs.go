// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
)

// chain is a Markov chain over k sources.
type chain interface {
	start(k int, rnd *rand.Rand)
	// sweep updates every source and returns, for some of them, the log evidence ratio of
	// adding one to the others.
	sweep(ctx context.Context) (moved []float64)
	added(ctx context.Context) []float64 // log evidence ratios of adding a source to all
	observe()                            // counts what the sources say of the sensors
	// broken returns the mean probability of each sensor to be faulty over what was observed; nil where none may be.
	broken() []float64
	likelihood() float64
	state() *gibbs
}

// faultyGibbs samples sources where sensors may be faulty: the state of the network and what each sensor is, given the
// sources; each source, given the others and the sensors, in closed form; and, since
// both hold each other in place, a move of each source that sums over all that sensors may be.
type faultyGibbs struct {
	gibbs
	faults   *faultyEvidence
	columns  blas64.General // Aᵀ, n × m
	weight   []float64      // of each sensor: 1 where it is sound, 1/v where it is shifted, else 0
	mean     []float64      // A f
	residual []float64
	proposal []float64 // probability of each node in a move
	sums     []float64 // its partial sums
	faulty   []float64 // sums of the probability of each sensor to be faulty
	observed int       // their number
	burn     int       // sweeps that are not observed
	sweeps   int       // after them
	thin     int       // sweeps between two evidence ratios; 0: none
}

// thinned is the number of sweeps of a chain whose evidence ratios are computed: each costs a
// posterior of one source.
const thinned = 16

func newFaultyGibbs(ctx context.Context, g gibbs, opts SampleOptions) (*faultyGibbs, error) {
	m, n := g.d.A.Dims()
	f, err := prepareFaulty(g.d, opts.Options)
	if err != nil {
		return nil, err
	}
	g.d = f.d
	one, err := f.exact(ctx)
	if err != nil {
		return nil, err
	}
	all := blas64.General{Rows: n, Cols: m, Stride: m, Data: make([]float64, n*m)}
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	linop.ColumnsTo(g.d.A, all.Data, nodes)
	c := &faultyGibbs{gibbs: g, faults: f.faultyEvidence, columns: all, burn: opts.Burn, faulty: make([]float64, m)}
	if opts.evidence {
		c.thin = max(1, opts.Sweeps/thinned)
	}
	c.norms, c.rest = make([]float64, n), make([]float64, n)
	c.weight, c.mean, c.residual = make([]float64, m), make([]float64, m), make([]float64, m)
	c.proposal = make([]float64, n)
	for i, p := range one.Probability {
		c.proposal[i] = (p + math.Exp(g.logPrior[i])) / 2
	}
	c.sums = floats.CumSum(make([]float64, n), c.proposal)
	return c, nil
}

func (g *faultyGibbs) state() *gibbs { return &g.gibbs }

func (g *faultyGibbs) column(i int) []float64 {
	return g.columns.Data[i*g.columns.Stride:][:g.columns.Cols]
}

// start takes all sensors for sound and draws dispersed sources.
func (g *faultyGibbs) start(k int, rnd *rand.Rand) {
	g.rnd, g.z, g.a, g.sweeps = rnd, nil, nil, -g.burn
	clear(g.mean)
	for s := range g.weight {
		g.weight[s] = 1
	}
	g.setNorms()
	g.w = slices.Clone(g.logPrior)
	for range k {
		g.total = logSum(g.w)
		z := g.draw()
		g.w[z] = math.Inf(-1)
		g.setRest()
		g.add(z, g.amplitude(g.rest[z], g.norms[z]))
	}
}

func (g *faultyGibbs) add(z int, a float64) {
	g.z, g.a = append(g.z, z), append(g.a, a)
	floats.AddScaled(g.mean, a, g.column(z))
}

// remove takes the first source away.
func (g *faultyGibbs) remove() (z int, a float64) {
	z, a = g.z[0], g.a[0]
	g.z, g.a = g.z[1:], g.a[1:]
	clear(g.mean) // anew: no rounding adds up
	for k, i := range g.z {
		floats.AddScaled(g.mean, g.a[k], g.column(i))
	}
	return z, a
}

// setRest sets rest to what the sensors that hear them say of each node beyond the sources.
func (g *faultyGibbs) setRest() {
	for s, t := range g.faults.sensors {
		g.residual[s] = g.weight[s] * (t.y - g.mean[s])
	}
	blas64.Gemv(blas.NoTrans, 1, g.columns, blas64.Vector{N: len(g.residual), Inc: 1, Data: g.residual}, 0, blas64.Vector{N: len(g.rest), Inc: 1, Data: g.rest})
}

// setNorms sets the weighted sums of squares.
func (g *faultyGibbs) setNorms() {
	for i := range g.norms {
		sum := 0.0
		for s, x := range g.column(i) {
			sum += g.weight[s] * x * x
		}
		g.norms[i] = sum
	}
}

func (g *faultyGibbs) sweep(ctx context.Context) (moved []float64) {
	g.drawWeights()
	g.sweeps++
	weigh := len(g.z) > 1 && g.weighs() // of one source the evidence is exact
	for range g.z {
		g.remove()
		if weigh {
			moved = append(moved, g.evidenceOfOneMore(ctx))
		}
		g.setRest()
		g.setWeights()
		z := g.draw()
		g.add(z, g.amplitude(g.rest[z], g.norms[z]))
	}
	for range g.z {
		g.move()
	}
	return moved
}

// drawWeights draws the state of the network, summed over those of all sensors, and then these, given the
// sources.
func (g *faultyGibbs) drawWeights() {
	changed, k, states := false, 0, len(g.faults.logStates)
	shares := g.stateShares()
	for u := g.rnd.Float64(); k < states-1; k++ {
		if u -= shares[k]; u < 0 {
			break
		}
	}
	for s := range g.faults.sensors {
		sound, shifted := g.faults.sensors[s].at(g.mean[s], states)
		weight, u := 0.0, g.rnd.Float64()
		if u < sound[k] {
			weight = 1
		} else if u < sound[k]+shifted[k] {
			weight = 1. / shiftedVariance
		}
		if weight != g.weight[s] {
			g.weight[s], changed = weight, true
		}
	}
	if changed {
		g.setNorms()
	}
}

// weighs reports whether the evidence of one source more is wanted of a sweep.
func (g *faultyGibbs) weighs() bool { return g.thin > 0 && g.sweeps > 0 && g.sweeps%g.thin == 0 }

// added returns the ratio of a thinned sweep.
func (g *faultyGibbs) added(ctx context.Context) []float64 {
	if !g.weighs() {
		return nil
	}
	return []float64{g.evidenceOfOneMore(ctx)}
}

// evidenceOfOneMore returns the log evidence ratio of one source more, summed over all sets
// of sound sensors.
func (g *faultyGibbs) evidenceOfOneMore(ctx context.Context) float64 {
	rest := &faulty{faultyEvidence: g.evidenceBeyond(), d: g.d, logPrior: slices.Clone(g.logPrior)}
	for _, z := range g.z {
		rest.logPrior[z] = math.Inf(-1)
	}
	weight, err := rest.weights(ctx) // its only error is that of the context
	if err != nil {
		return math.Inf(-1)
	}
	return logSum(weight)
}

// stateShares are the probabilities of the states, given the sources.
func (g *faultyGibbs) stateShares() (shares [maxStates]float64) {
	p := g.ratios()
	for k := range g.faults.logStates {
		shares[k] = p.value(k)
	}
	total := g.faults.mix(&shares)
	for k := range g.faults.logStates {
		shares[k] = math.Exp(shares[k] - total)
	}
	return shares
}

func (g *faultyGibbs) ratios() ratios {
	p := newRatios()
	for s := range g.faults.sensors {
		p.times(&g.faults.sensors[s], g.mean[s])
	}
	return p
}

// evidenceBeyond is the evidence of a further source, given those that there are.
func (g *faultyGibbs) evidenceBeyond() *faultyEvidence {
	rest, _ := g.faults.beyond(func(s int) float64 { return g.mean[s] })
	return rest
}

func (g *faultyGibbs) observe() {
	shares, states := g.stateShares(), len(g.faults.logStates)
	g.observed++
	for s := range g.faulty {
		sound, _ := g.faults.sensors[s].at(g.mean[s], states)
		for k := range states {
			g.faulty[s] += shares[k] * (1 - sound[k])
		}
	}
}

func (g *faultyGibbs) broken() []float64 {
	out := slices.Clone(g.faulty)
	for s, v := range out {
		out[s] = min(1, v/float64(g.observed))
	}
	return out
}

// likelihood is the log likelihood against no source.
func (g *faultyGibbs) likelihood() float64 {
	p := g.ratios()
	return g.faults.mixed(&p)
}

// amplitudeBins is the number of parts of [0, 1] that a move draws its amplitude from.
const amplitudeBins = 48

// move proposes another place and amplitude for the first source, by Metropolis and Hastings.
func (g *faultyGibbs) move() {
	z, a := g.remove()
	e := g.evidenceBeyond()
	to := drawn(g.sums, g.rnd)
	if slices.Contains(g.z, to) || math.IsInf(g.logPrior[to], -1) {
		g.add(z, a)
		return
	}
	here, there := g.bins(e, z), g.bins(e, to)
	b := there.draw(g.rnd, g.faults.prior)
	ratio := g.logPrior[to] + there.column.value(b) - math.Log(g.proposal[to]) - there.logDensity(b) -
		(g.logPrior[z] + here.column.value(a) - math.Log(g.proposal[z]) - here.logDensity(a))
	if math.Log(g.rnd.Float64()) < ratio {
		z, a = to, b
	}
	g.add(z, a)
}

// searchAbove returns the first index whose value is above u.
func searchAbove(sums []float64, u float64) int {
	i, _ := slices.BinarySearchFunc(sums, u, func(x, u float64) int {
		if x > u {
			return 1
		}
		return -1
	})
	return i
}

// binned is a law of the amplitude that is near its posterior at one node: relative to the
// prior it is constant on equal parts of [0, 1], and at 1 itself.
type binned struct {
	column column
	log    []float64 // of the probability of each part, and of 1 itself, relative to the prior's
	sums   []float64 // partial sums of the probabilities
}

func (g *faultyGibbs) bins(e *faultyEvidence, z int) *binned {
	b := &binned{log: make([]float64, amplitudeBins+1), sums: make([]float64, amplitudeBins+1)}
	e.column(g.column(z), &b.column)
	mass := make([]float64, amplitudeBins+1)
	for k := range mass {
		if k == amplitudeBins {
			b.log[k], mass[k] = b.column.value(1), math.Log(g.faults.prior.one)
		} else {
			b.log[k], mass[k] = b.column.value((float64(k)+.5)/amplitudeBins), math.Log(g.faults.prior.even/amplitudeBins)
		}
	}
	const spread = 12 // no part is less likely than e^{-12} times the likeliest
	floats.AddConst(-floats.Max(b.log), b.log)
	sum := 0.0
	for k := range b.log {
		b.log[k] = max(b.log[k], -spread)
		sum += math.Exp(b.log[k] + mass[k])
		b.sums[k] = sum
	}
	floats.AddConst(-math.Log(sum), b.log)
	return b
}

func (b *binned) draw(rnd *rand.Rand, prior amplitudePrior) float64 {
	k := searchAbove(b.sums, rnd.Float64()*b.sums[amplitudeBins])
	if k >= amplitudeBins || prior.even == 0 {
		return 1
	}
	return (float64(k) + rnd.Float64()) / amplitudeBins
}

// logDensity is relative to the prior.
func (b *binned) logDensity(a float64) float64 {
	if a == 1 {
		return b.log[amplitudeBins]
	}
	return b.log[min(amplitudeBins-1, int(a*amplitudeBins))]
}
