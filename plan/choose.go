// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
	"github.com/graphcloak/graphcloak/report"
)

// TauChoice says how τ was chosen. The values are those of a rough simulation, good to
// compare one τ with another; [Plan].Accuracy says what the plan itself is worth. No file
// holds it: a plan file states τ as if it had been given.
type TauChoice struct {
	// ByDistance reports whether τ was judged by the distance of the posterior from the source, as where there is a single
	// community, and not by how often the right community is named.
	ByDistance bool
	Points     []TauPoint // ascending; none where nothing could be compared
	Chance     float64    // probability of the likeliest community without measurements
	// Hopeless reports whether no τ names the right community clearly more often than Chance.
	Hopeless bool
	// CutShort reports whether τ were left out that would have taken too long.
	CutShort bool
	Note     string // what a reader should know of the choice; "": nothing
}

// TauPoint is a τ that was tried.
type TauPoint struct {
	Tau       float64
	Accuracy  float64 // probability that the likeliest community is the right one
	LogLoss   float64 // of the community, in nats
	Distance  float64 // of the posterior from the source, in units of the metric
	Allocated bool    // of allocated noise; beyond 10,000 nodes equal noise is tried only where there is none
}

// This file chooses τ where [Settings].Tau is zero and GraphCloak diffuses. τ is public, like
// the graph: it is searched over powers of two from 1/λ_max on, judged by simulation.

// fallbackTau is taken where nothing can be compared.
const fallbackTau = 2

// Bounds of the search. Work is in seconds of one core, by [expm.Estimate], so that the
// choice does not depend on the machine, nor on what else it does.
const (
	firstTau       = 8                    // times 1/λ_max: the least τ that is tried at first, near 1 on many graphs
	firstTries     = 3                    // at first: with steps of 16 they span where most graphs have their best τ
	coarse         = 4                    // the exponent of a step, halved until it is 1
	usualTries     = 9                    // shown to the user as the total
	searchWork     = 60.0                 // seconds
	draftOrder     = allocation.RowsLimit // nodes beyond which a try takes long
	fewRelaxed     = 4                    // λ₂τ at which all but the slowest difference is gone
	allRelaxed     = 32                   // λ₂τ at which that is gone too, in double precision
	chanceMargin   = .02                  // of the way from chance to certainty: what counts as none of it
	finalReleases  = 4000                 // releases that are simulated for those that may be the best
	resolvedErrors = 1e4                  // what computing loses: differences that a plan can be made of
	clearErrors    = 3                    // standard errors of a difference beyond which they cannot be
)

// The smallest τ that is nearly as good as the best is taken: arithmetic carries it best, and
// sensors that a rough simulation leaves out would serve a small τ more.
const (
	accuracySlack = .005 // of the probability to be right
	distanceSlack = .01  // of the distance
	gainSlack     = .1   // of what is gained over the worst τ: where little can be told, little counts
)

// ChooseTau chooses τ for plans with these options, where [Settings].Tau was zero, and keeps
// it: later plans are made with it. It is nil where τ was given. It returns
// [privacy.ErrInput] for measured readings, whose τ is nature's, [allocation.ErrInvalid],
// [expm.ErrAccuracy], [ErrMemory], and the errors of [Model.Partition]. Where no plan can be
// made, as by [sensitivity.ErrUncertainty], that τ is left out.
func (m *Model) ChooseTau(ctx context.Context, opts Options) (*TauChoice, error) {
	c, err := m.chooseTau(ctx, opts)
	m.Open = m.Open && err != nil
	return c, err
}

func (m *Model) chooseTau(ctx context.Context, opts Options) (*TauChoice, error) {
	if !m.Open {
		return nil, nil
	}
	if opts.Measured {
		return nil, fmt.Errorf("%w: tau is to be chosen, but sensors measure here, and how long the process ran before they did is a "+
			"fact about it: give tau", privacy.ErrInput)
	}
	s, err := m.newTauSearch(ctx, opts)
	if err != nil {
		return nil, err
	}
	if s.affordable {
		if err := s.run(); err != nil {
			return nil, err
		}
		if err := s.sharpen(); err != nil {
			return nil, err
		}
	}
	tau, err := s.decide()
	if err != nil {
		return nil, err
	}
	return s.choice(), m.setTau(ctx, tau)
}

// setTau makes the operator of another τ.
func (m *Model) setTau(ctx context.Context, t float64) (err error) {
	m.Tau = tau.At(t)
	if m.Operator.Diffusion.Method() != expm.Eigen {
		return m.prepareDiffusion(ctx, t)
	}
	d, err := m.Operator.Diffusion.WithTau(t)
	if err == nil {
		m.Operator = m.Operator.With(d)
	}
	return err
}

// tauSearch is a search for τ = 2ᵏ.
type tauSearch struct {
	ctx        context.Context
	m          *Model
	opts       Options
	labels     []int
	single     bool    // community: τ is judged by distance
	chance     float64 // share of the likeliest community
	sketch     allocation.Options
	first      int // k of what is tried first
	affordable bool
	drafting   bool              // a rough allocation is judged
	spent      float64           // seconds of one core, by estimate
	tried      map[int]*TauPoint // nil: nothing could be simulated
	end        int               // k that is out of reach, as all larger ones are
	sketches   map[*TauPoint]*allocation.Sketch
	cut        bool // τ that were to be tried would have taken too long
	hopeless   bool // at every τ the accuracy is that of chance
	note       string
}

func (m *Model) newTauSearch(ctx context.Context, opts Options) (*tauSearch, error) {
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	s := &tauSearch{
		ctx: ctx, m: m, opts: opts, labels: part.Labels, single: part.Count < 2, tried: make(map[int]*TauPoint), end: math.MaxInt,
		sketches: make(map[*TauPoint]*allocation.Sketch),
		chance:   m.Chance(part),
		sketch:   allocation.Options{Prior: m.Prior, Noise: 1, Distances: distances(m.Graph)},
	}
	if opts.Allocation.MaxSensors < len(m.Sensors) {
		s.sketch.MaxSensors = opts.Allocation.MaxSensors
	}
	if s.sketch.Noise, err = opts.unitNoise(); err != nil {
		return nil, err
	}
	if m.Graph.Size() == 0 {
		s.note = "the graph has no relationships, so there is nothing to diffuse along"
		return s, nil
	}
	s.first = int(math.Ceil(math.Log2(firstTau / m.Operator.Laplacian.Bound())))
	for _, s.drafting = range s.drafts() {
		if s.affordable = s.work() <= searchWork; s.affordable {
			return s, nil
		}
	}
	s.note = fmt.Sprintf("on %d nodes and %d relationships a search would take minutes: τ = %v was taken; try others by --tau",
		m.Graph.Order(), m.Graph.Size(), fallbackTau)
	return s, nil
}

// Chance is how often always naming the likeliest community of the prior is right.
func (m *Model) Chance(part community.Partition) float64 {
	prior := m.Prior
	if prior == nil {
		prior = slices.Repeat([]float64{1}, len(part.Labels))
	}
	return floats.Max(part.Sums(prior)) / floats.Sum(prior)
}

// distances returns the lengths of the shortest ways from a node, each computed once: every
// try has the same few sources.
func distances(g *graph.Graph) func(int) []float64 {
	var known sync.Map
	return func(i int) []float64 {
		if d, ok := known.Load(i); ok {
			return d.([]float64)
		}
		d, _ := known.LoadOrStore(i, emd.Lengths(g, i))
		return d.([]float64)
	}
}

// work estimates the seconds of what is tried at first.
func (s *tauSearch) work() float64 {
	sum := 0.0
	for try := range firstTries {
		seconds, err := s.seconds(s.first + try*coarse)
		if err != nil {
			break
		}
		sum += seconds
	}
	return sum
}

// seconds estimates those of a try of τ = 2ᵏ.
func (s *tauSearch) seconds(k int) (float64, error) {
	cost, err := expm.Estimate(s.m.Operator.Laplacian, math.Ldexp(1, k), expm.Options{Method: s.method()})
	return float64(allocation.SketchProducts(s.m.Graph, s.drafting)) * cost.Column, err
}

// affords reports whether the search may try τ = 2ᵏ too, and counts it.
func (s *tauSearch) affords(k int) bool {
	seconds, err := s.seconds(k)
	if err != nil || s.spent+seconds <= searchWork {
		s.spent += seconds
		return true
	}
	s.cut = true
	return false
}

// method is Eigen where the eigenpairs are known, else Chebyshev: a search that needed them
// first would not be short.
func (s *tauSearch) method() expm.Method {
	if s.m.Operator.Diffusion.Method() == expm.Eigen {
		return expm.Eigen
	}
	return expm.Chebyshev
}

// run tries a few τ far apart, goes on in steps as wide where the best of them is the least or the largest, and then
// tries the neighbours of the best: where diffusion is of use, rather than from the least τ upwards.
func (s *tauSearch) run() error {
	for try := range firstTries {
		if err := s.try(s.first + try*coarse); err != nil {
			return err
		}
	}
	if len(s.ranked()) == 0 {
		if err := s.try(s.first - coarse); err != nil {
			return err
		}
	}
	for step := coarse; step >= 1 && len(s.ranked()) > 0; step /= 2 {
		for again := true; again; {
			best, tries := s.best(), len(s.tried)
			for _, k := range []int{best - step, best + step} {
				if err := s.try(k); err != nil {
					return err
				}
			}
			again = step == coarse && s.best() != best && len(s.tried) > tries
		}
	}
	return nil
}

// sharpen simulates more releases for all that may be the best: the first ones only show which.
// It ends when no other may be.
func (s *tauSearch) sharpen() error {
	done := make(map[*TauPoint]bool)
	for again := true; again; {
		again = false
		for _, p := range s.leaders() {
			if done[p] {
				continue
			}
			done[p], again = true, true
			if err := s.sketches[p].Simulate(finalReleases); err != nil {
				return err
			}
			p.set(s.sketches[p])
		}
	}
	return nil
}

// leaders are those that may be as good as the best, as far as so few releases show.
func (s *tauSearch) leaders() []*TauPoint {
	var list []*TauPoint
	order := s.ranked()
	for _, k := range order {
		p, best := s.tried[k], s.tried[order[0]]
		if s.value(p) <= s.acceptable(s.value(best), math.Inf(1))+clearErrors*math.Hypot(s.doubt(p), s.doubt(best)) {
			list = append(list, p)
		}
	}
	return list
}

// doubt is the standard error of a value.
func (s *tauSearch) doubt(p *TauPoint) float64 {
	if s.single {
		return s.sketches[p].DistanceError
	}
	return s.sketches[p].AccuracyError
}

// value is what is to be small.
func (s *tauSearch) value(p *TauPoint) float64 {
	switch {
	case p == nil:
		return math.Inf(1)
	case s.single:
		return p.Distance
	}
	return 1 - p.Accuracy
}

// acceptable is the value that is nearly as good as the best, where worst is that of the worst τ.
func (s *tauSearch) acceptable(best, worst float64) float64 {
	slack := accuracySlack
	if s.single {
		slack = distanceSlack * best
	}
	return best + min(slack, gainSlack*(worst-best))
}

// best returns the k of the least value, the lowest of equal ones.
func (s *tauSearch) best() int { return s.ranked()[0] }

// ranked lists what was tried, the best first.
func (s *tauSearch) ranked() []int {
	var keys []int
	for k, p := range s.tried {
		if p != nil {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.value(s.tried[a]), s.value(s.tried[b])), cmp.Compare(a, b))
	})
	return keys
}

// try judges τ = 2ᵏ, unless it was tried, is beyond the end or would take too long. The end is where double precision does
// not carry τ or the differences that are left, and after the first τ at which there is hardly one.
func (s *tauSearch) try(k int) error {
	if _, ok := s.tried[k]; ok || k >= s.end || k < s.first-coarse || !s.affords(k) {
		return nil
	}
	s.m.Progress("choose tau", int64(min(len(s.tried), usualTries-1)), usualTries)
	tau := math.Ldexp(1, k)
	d, err := s.operator(tau)
	if errors.Is(err, expm.ErrAccuracy) {
		s.end = k
		return nil
	}
	if err != nil {
		return err
	}
	relaxed := s.relaxed(d)
	if !(relaxed < allRelaxed) {
		s.end = k
		return nil
	}
	other := s.m.at(tau, d)
	p, err := s.simulated(other.sensitivityModel(s.opts.Alpha), d)
	if err != nil {
		return err
	}
	s.tried[k] = p
	if relaxed >= fewRelaxed {
		s.end = min(s.end, k+1)
	}
	return nil
}

// simulated simulates a rough allocation, where noise is allocated, and equal noise
// where that could be better, and returns the better; nil where nothing can be simulated. Where
// fewer sensors may report than there are, equal noise at all of them is no plan that could be made.
// Beyond draftOrder nodes a draft starts from equal noise and costs the most, and equal noise serves where
// there is none.
func (s *tauSearch) simulated(model sensitivity.Model, d *expm.Diffusion) (*TauPoint, error) {
	var p *TauPoint
	if s.drafting {
		var err error
		if p, err = s.simulate(model, d, true); err != nil {
			return nil, err
		}
	}
	if n := s.m.Graph.Order(); p == nil || n <= draftOrder && s.sketch.MaxSensors == 0 &&
		!allocation.DraftsAll(s.m.Graph, len(s.m.Sensors)) {
		q, err := s.simulate(model, d, false)
		if err != nil || q == nil {
			return nil, err
		}
		if !(s.value(p) < s.value(q)) {
			p, q = q, p
		}
		delete(s.sketches, q) // its inner products are not needed again
	}
	if math.IsNaN(p.Accuracy) || math.IsNaN(p.LogLoss) || math.IsNaN(p.Distance) {
		return nil, nil
	}
	return p, nil
}

// simulate judges allocated noise, or what there is without; nil where nothing can be simulated.
func (s *tauSearch) simulate(model sensitivity.Model, d *expm.Diffusion, allocated bool) (*TauPoint, error) {
	sketch := allocation.Equal
	if allocated {
		sketch = allocation.Draft
	}
	found, err := sketch(s.ctx, model, d, s.labels, s.sketch)
	if errors.Is(err, allocation.ErrNothing) || errors.Is(err, allocation.ErrWork) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &TauPoint{Tau: d.Tau(), Allocated: allocated}
	s.sketches[p] = &found
	p.set(&found)
	return p, nil
}

func (p *TauPoint) set(s *allocation.Sketch) {
	p.Accuracy, p.LogLoss, p.Distance = s.Accuracy, s.Loss, s.Distance
}

// otherNoise says what the plan has and the search did not judge, "" where it judged the same
// kind of noise.
func (s *tauSearch) otherNoise() string {
	switch n := s.m.Graph.Order(); {
	case s.opts.Guarantee == privacy.PerSensor:
		return "the search for τ judged equal noise for all readings together, which is not that of the guarantee perSensor"
	case s.sketch.MaxSensors > 0 && s.opts.Allocates(s.m.Settings, n) && !s.drafting:
		return fmt.Sprintf("on more than %d nodes the search for τ judged equal noise at all sensors, of which %d report at most",
			draftOrder, s.sketch.MaxSensors)
	case s.opts.Allocates(s.m.Settings, n) && !s.drafting:
		return fmt.Sprintf("on %d nodes the search for τ judged equal noise, not the noise that is allocated", n)
	}
	return ""
}

// drafts lists whether a rough allocation may be judged, what is wanted first. Beyond 10,000 nodes equal
// noise serves where a draft takes too long.
func (s *tauSearch) drafts() []bool {
	switch n := s.m.Graph.Order(); {
	case !s.opts.Allocates(s.m.Settings, n):
		return []bool{false}
	case n <= draftOrder:
		return []bool{true}
	}
	return []bool{true, false}
}

func (s *tauSearch) operator(tau float64) (*expm.Diffusion, error) {
	if s.method() == expm.Eigen {
		return s.m.Operator.Diffusion.WithTau(tau)
	}
	return expm.New(s.ctx, s.m.Operator.Laplacian, tau, expm.Options{Method: expm.Chebyshev})
}

// relaxed estimates λ₂τ. The Rayleigh quotient of L e^{-τL}x for a
// random x, which has no part in the null space, is an upper estimate of λ₂ that is close
// where τλ₂ is large.
func (s *tauSearch) relaxed(d *expm.Diffusion) float64 {
	n := s.m.Graph.Order()
	random := rand.New(rand.NewPCG(3, 7)) // public on purpose: these numbers hide nothing
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = random.NormFloat64()
	}
	d.MulVecTo(y, false, x)
	l := s.m.Operator.Laplacian
	l.MulVecTo(x, false, y)
	l.MulVecTo(y, false, x)
	return d.Tau() * floats.Dot(x, y) / floats.Dot(x, x)
}

// decide returns the best τ that a plan can be made for.
func (s *tauSearch) decide() (float64, error) {
	order := s.ranked()
	if len(order) > 0 {
		notes := []string{s.otherNoise()}
		best := s.value(s.tried[order[0]])
		most := s.acceptable(best, s.value(s.tried[order[len(order)-1]]))
		near, _ := slices.BinarySearchFunc(order, most, func(k int, v float64) int {
			if s.value(s.tried[k]) <= v {
				return -1
			}
			return 1
		})
		slices.Sort(order[:near])
		if s.hopeless = !s.single && 1-best < s.chance+chanceMargin*(1-s.chance); s.hopeless {
			notes[0] = "at no τ that was tried is the right community named clearly more often than by chance"
		}
		if s.cut {
			notes = slices.Insert(notes, 0, fmt.Sprintf("the search for τ was cut short after %s, because more would take minutes "+
				"on this graph", report.Count(len(order), "value")))
		}
		s.note = strings.Join(slices.DeleteFunc(notes, func(v string) bool { return v == "" }), "; ")
	}
	for _, k := range order {
		tau := s.tried[k].Tau
		if s.clearlyFeasible(s.tried[k]) || s.m.feasibleAt(s.ctx, tau, s.m.newSpec(s.opts), s.opts) {
			if s.note != "" {
				s.note += fmt.Sprintf(": τ = %v was taken", tau)
			}
			return tau, nil
		}
		if err := s.ctx.Err(); err != nil {
			return 0, err
		}
	}
	if s.note == "" || len(order) > 0 {
		s.note = fmt.Sprintf("no τ tells anything apart here: τ = %v was taken", fallbackTau)
	}
	return fallbackTau, nil
}

// clearlyFeasible reports whether differences across edges are so far above what computing loses
// that a plan can be made, without a certificate that the plan takes again.
func (s *tauSearch) clearlyFeasible(p *TauPoint) bool {
	d, err := s.operator(p.Tau)
	if err != nil || s.opts.Guarantee != privacy.Joint {
		return false
	}
	lost := d.Err() * math.Sqrt(float64(s.m.Graph.Order()))
	return s.sketches[p].Sensitivity > resolvedErrors*lost
}

func (s *tauSearch) choice() *TauChoice {
	c := &TauChoice{
		ByDistance: s.single, Points: []TauPoint{}, Chance: s.chance, Hopeless: s.hopeless, CutShort: s.cut, Note: s.note,
	}
	for _, k := range s.ranked() {
		c.Points = append(c.Points, *s.tried[k])
	}
	slices.SortFunc(c.Points, func(a, b TauPoint) int { return cmp.Compare(a.Tau, b.Tau) })
	return c
}
