// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

const (
	// walkSteps is the number of moves of each source in a sweep to a node that is near it, beside one to any node.
	walkSteps = 2
	// walkThinned is [thinned] of a walk.
	walkThinned = 8
	// proposedPrior is the share of the prior in what a move to any node proposes.
	proposedPrior = .2
)

// walk samples sources where sensors may be faulty and A is known by its columns. Its state is the sources alone: the
// likelihood sums over the state of the network and over what each sensor is, of which only those that the sources move
// matter. A move proposes another node and amplitude for one source, by Metropolis and Hastings: a node of a law that
// does not change, or one that is near, and an amplitude of an [amplitudeLaw].
type walk struct {
	gibbs
	faults   *faulty
	columns  *walkColumns
	near     *pool
	proposal []float64 // probability of each node in a move to any
	sums     []float64 // its partial sums
	burn     int       // sweeps that are not observed
	sweeps   int       // after them
	thin     int       // sweeps between two evidence ratios; 0: none

	mean    []float64 // of each sensor, of the sources that are set
	moved   []bool    // whether one of them moves it
	touched []int32   // the sensors that are moved
	here    [2]amplitudeLaw
	beyond  []sensor // given the means

	faulty []float64          // sums of by how much likelier each sensor is to be faulty than without a source
	shares [maxStates]float64 // and of the probability of each state
}

func newWalk(ctx context.Context, g *gibbs, opts SampleOptions) (*walk, error) {
	f, err := prepareFaulty(g.d, opts.Options)
	if err != nil {
		return nil, err
	}
	if err := checkResolvable(Norms{N: g.norms}); err != nil {
		return nil, err
	}
	m := len(f.d.Y)
	w := &walk{gibbs: *g, faults: f, columns: newWalkColumns(f.d, opts.Sources, walkMemory), burn: opts.Burn, mean: make([]float64, m), moved: make([]bool, m), faulty: make([]float64, m)}
	f.faint = walkFaint
	if opts.evidence {
		if !KnowsEvidence(g.d, opts.Faults) {
			return nil, fmt.Errorf("%w: where sensors may be broken and heat reaches everything, the evidence of one source more is not known", ErrInvalid)
		}
		w.thin = max(1, opts.Sweeps/walkThinned)
	}
	if err := w.pilot(ctx, opts); err != nil {
		return nil, err
	}
	w.near, err = newPool(ctx, w.proposal, w.columns)
	return w, err
}

// KnowsEvidence reports whether [Second] and [NewCount] are to be had: not where sensors may be broken and heat reaches
// everything, unless the entries of A are held.
func KnowsEvidence(d measurement.Data, f Faults) bool {
	_, n := d.A.Dims()
	if f.Rate == 0 || linop.HoldsEntries(d.A) {
		return true
	}
	_, ok := linop.ReadColumns(d.A, everyNode(n), localTolerance(d), exactOrder)
	return ok
}

// walkFaint is the largest |xy| + x² of a sensor that a walk expands: a sensor is off by 10⁻⁷ at most, and by 10⁻⁸ mostly.
const walkFaint = 1e-3

// pilot sets what moves to any node propose: the mean of the posteriors of a source given others, as a few sweeps that draw
// each source from it meet them, and the prior.
func (w *walk) pilot(ctx context.Context, opts SampleOptions) error {
	const sweeps = 3
	w.rnd = rand.New(rand.NewPCG(opts.Seed, math.MaxUint64))
	w.proposal = make([]float64, len(w.logPrior))
	for k := range sweeps * opts.Sources {
		if k >= opts.Sources {
			w.z, w.a = w.z[1:], w.a[1:]
		}
		p, err := w.oneMore(ctx)
		if err != nil {
			return err
		}
		floats.Add(w.proposal, p.Probability)
		if opts.Sources == 1 {
			break
		}
		z := drawn(floats.CumSum(p.Probability, p.Probability), w.rnd)
		w.z, w.a = append(w.z, z), append(w.a, w.law(0, w.given(), z).draw(w.rnd))
	}
	floats.Scale((1-proposedPrior)/floats.Sum(w.proposal), w.proposal)
	for i, l := range w.logPrior {
		w.proposal[i] += proposedPrior * math.Exp(l)
	}
	w.sums = floats.CumSum(make([]float64, len(w.proposal)), w.proposal)
	return nil
}

// drawn draws a place in proportion to what partial sums grow by there.
func drawn(sums []float64, rnd *rand.Rand) int {
	return min(len(sums)-1, searchAbove(sums, rnd.Float64()*sums[len(sums)-1]))
}

// oneMore returns the posterior of one source more.
func (w *walk) oneMore(ctx context.Context) (*Posterior, error) {
	w.set(-1)
	e, _ := w.faults.beyond(func(s int) float64 { return w.mean[s] })
	rest := &faulty{faultyEvidence: e, d: measurement.Data{A: w.d.A, Y: slices.Clone(w.d.Y)}, logPrior: slices.Clone(w.logPrior)}
	floats.Sub(rest.d.Y, w.mean)
	for _, z := range w.z {
		rest.logPrior[z] = math.Inf(-1)
	}
	p, _, _, err := rest.localSource(ctx, stateMargin, math.Inf(1))
	if p != nil || err != nil {
		return p, err
	}
	return rest.sketched(ctx, Norms{N: w.norms})
}

func (w *walk) state() *gibbs { return &w.gibbs }

// start draws dispersed sources, from the prior.
func (w *walk) start(k int, rnd *rand.Rand) {
	w.rnd, w.z, w.a, w.sweeps = rnd, nil, nil, -w.burn
	w.w = slices.Clone(w.logPrior)
	for range k {
		w.total = logSum(w.w)
		z := w.draw()
		w.w[z] = math.Inf(-1)
		w.set(-1)
		w.z, w.a = append(w.z, z), append(w.a, w.law(0, w.given(), z).draw(rnd))
	}
}

// set sets the means of the sensors, of all sources but one; −1: of all.
func (w *walk) set(but int) {
	for _, s := range w.touched {
		w.mean[s], w.moved[s] = 0, false
	}
	w.touched = w.touched[:0]
	for k, z := range w.z {
		if k == but {
			continue
		}
		c := w.columns.at(z)
		for j, s := range c.rows {
			if !w.moved[s] {
				w.moved[s] = true
				w.touched = append(w.touched, s)
			}
			w.mean[s] += w.a[k] * c.x[j]
		}
	}
}

// states returns the log likelihood of the means against no source, and the log probability of each state given them.
func (w *walk) states() (log float64, logStates []float64) {
	p := newRatios()
	for _, s := range w.touched {
		p.times(&w.faults.sensors[s], w.mean[s])
	}
	log = w.faults.mixed(&p)
	for k, l := range w.faults.logStates {
		logStates = append(logStates, l+p.value(k)-log)
	}
	return log, logStates
}

// given is the evidence of a further source given the means; its sensors are those of no source.
func (w *walk) given() *faultyEvidence {
	e := *w.faults.faultyEvidence
	_, e.logStates = w.states()
	w.beyond = w.beyond[:0]
	return &e
}

// law returns the law of the amplitude of a source at z beside the others, which holds until the next of this place.
func (w *walk) law(place int, e *faultyEvidence, z int) *amplitudeLaw {
	l, c := &w.here[place], w.columns.at(z)
	l.column.reset(e)
	for j, s := range c.rows {
		t := &e.sensors[s]
		if w.moved[s] {
			w.beyond = append(w.beyond, t.beyond(w.mean[s], len(e.logStates)))
			t = &w.beyond[len(w.beyond)-1]
		}
		l.column.addOf(t, int(s), c.x[j])
	}
	l.set(e.prior)
	return l
}

func (w *walk) sweep(ctx context.Context) (moved []float64) {
	w.sweeps++
	for j := range w.z {
		if len(w.z) > 1 && w.weighs() { // of one source the evidence is exact
			moved = append(moved, w.without(ctx, j))
		}
		w.anywhere(j)
		for range walkSteps {
			w.nearby(j)
		}
	}
	return moved
}

// weighs reports whether the evidence of one source more is wanted of a sweep.
func (w *walk) weighs() bool { return w.thin > 0 && w.sweeps > 0 && w.sweeps%w.thin == 0 }

// without returns the log evidence ratio of a source more than the others of j.
func (w *walk) without(ctx context.Context, j int) float64 {
	z, a := w.z, w.a
	w.z, w.a = slices.Delete(slices.Clone(z), j, j+1), slices.Delete(slices.Clone(a), j, j+1)
	log := w.evidenceOfOneMore(ctx)
	w.z, w.a = z, a
	return log
}

// evidenceOfOneMore is −Inf where the context has ended.
func (w *walk) evidenceOfOneMore(ctx context.Context) float64 {
	p, err := w.oneMore(ctx)
	if err != nil {
		return math.Inf(-1)
	}
	return p.LogPresence
}

// added returns the ratio of a thinned sweep.
func (w *walk) added(ctx context.Context) []float64 {
	if !w.weighs() {
		return nil
	}
	return []float64{w.evidenceOfOneMore(ctx)}
}

// anywhere proposes any node for source j.
func (w *walk) anywhere(j int) {
	to := drawn(w.sums, w.rnd)
	w.propose(j, to, math.Log(w.proposal[to]), math.Log(w.proposal[w.z[j]]))
}

// nearby proposes a node near source j.
func (w *walk) nearby(j int) {
	to := w.near.step(w.z[j], w.rnd)
	if to == w.z[j] { // or not in the pool
		w.propose(j, to, 0, 0)
		return
	}
	w.propose(j, to, math.Log(w.near.columns[to].square), math.Log(w.near.columns[w.z[j]].square))
}

// propose proposes the node to for source j, by Metropolis and Hastings. The logarithms are those with which it is proposed, and
// with which the way back is, up to the same constant.
func (w *walk) propose(j, to int, logTo, logBack float64) {
	z, a := w.z[j], w.a[j]
	if to != z && slices.Contains(w.z, to) || math.IsInf(w.logPrior[to], -1) {
		return
	}
	w.set(j)
	e := w.given()
	here := w.law(0, e, z)
	there := here
	if to != z {
		there = w.law(1, e, to)
	}
	b := there.draw(w.rnd)
	ratio := w.logPrior[to] + there.column.value(b) - logTo - there.logDensity(b) -
		(w.logPrior[z] + here.column.value(a) - logBack - here.logDensity(a))
	if math.Log(w.rnd.Float64()) < ratio {
		w.z[j], w.a[j] = to, b
	}
}

func (w *walk) observe() {
	w.set(-1)
	_, logs := w.states()
	var shares [maxStates]float64
	for k, l := range logs {
		shares[k] = math.Exp(l)
		w.shares[k] += shares[k]
	}
	for _, s := range w.touched {
		w.faulty[s] += w.faults.sensors[s].unsound(w.mean[s], &shares, len(logs))
	}
}

func (w *walk) broken() []float64 {
	out, total := slices.Clone(w.faulty), floats.Sum(w.shares[:])
	for s := range out {
		for k := range w.faults.logStates {
			out[s] += w.shares[k] * (1 - w.faults.sensors[s].sound[k])
		}
		out[s] = min(1, max(0, out[s]/total))
	}
	return out
}

// likelihood is the log likelihood against no source.
func (w *walk) likelihood() float64 {
	w.set(-1)
	log, _ := w.states()
	return log
}
