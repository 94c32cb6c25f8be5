// SPDX-License-Identifier: Apache-2.0

package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Suggestion says which nodes should carry sensors, the most useful first.
type Suggestion struct {
	NodeCount int              `json:"nodeCount"`
	Existing  int              `json:"existingSensors"` // sensors that the choice starts from
	Before    PosteriorEntropy `json:"before"`          // given the readings of those
	// Sensors in the order of the choice, each with the entropy given all up to it.
	Sensors []SuggestedSensor `json:"sensors"`
	Trials  int               `json:"trials"`
	Notes   []string          `json:"notes"`
}

// SuggestedSensor is one step of the choice.
type SuggestedSensor struct {
	NodeID graph.ID `json:"nodeId"`
	PosteriorEntropy
	// Sigma is the uniform noise that a plan for the sensors up to this one needs, or this
	// sensor's own under the perSensor guarantee; 0 where no relationship changes their
	// readings by more than rounding.
	Sigma float64 `json:"sigma"`
}

// PosteriorEntropy is the expected entropy of the source's posterior, in bits. Lower is
// better.
type PosteriorEntropy struct {
	Entropy          float64 `json:"entropy"`          // over nodes
	StandardError    float64 `json:"standardError"`    // of Entropy, from simulation
	CommunityEntropy float64 `json:"communityEntropy"` // over communities
}

// SuggestOptions steer [Suggest].
type SuggestOptions struct {
	Trials int // least number of simulated sources, each possible node equally often; 0: 1000
	Seed   uint64
}

// ErrSuggest says that no sensors can be suggested.
var ErrSuggest = errors.New("study: sensors cannot be suggested")

// defaultSuggestTrials is the least number of simulated sources, if no other is asked for.
const defaultSuggestTrials = 1000

// maxTrials keeps the estimate of bytes within an int64.
const maxTrials = 1_000_000_000

// Suggest chooses k further sensors greedily, each the one that lowers the expected
// entropy of the source's posterior most. It starts from the sensors that the settings
// select, or from none where they select none. Every node is a candidate.
//
// Sources have amplitude 1. Every set of sensors is judged at the noise of a plan for
// sensors at all nodes. Readings are then independent given the source, the mutual
// information I(source; readings) is monotone and submodular in the set, and the greedy
// choice gains at least 1 − 1/e of what the best k sensors would, up to the error of
// simulation: docs/explanation/calibration.md. The noise that the chosen set needs by
// itself is less, and no such bound holds at it. The choice does not depend on communities.
//
// It returns [ErrSuggest] for options that cannot be served, [recovery.ErrInvalid] for
// a prior that does not add up, [graphcloak.ErrMemory], and the errors of
// [graphcloak.Model.Plan].
func Suggest(ctx context.Context, m *graphcloak.Model, opts graphcloak.PlanOptions, k int, s SuggestOptions) (*Suggestion, error) {
	n := m.Graph.Order()
	var chosen []int
	if m.Settings.Sensors != (graph.SensorSelection{}) {
		chosen = slices.Clone(m.Sensors)
	}
	if k < 1 || k > n-len(chosen) {
		return nil, fmt.Errorf("%w: %d further are wanted, and %d of %d nodes have none", ErrSuggest, k, n-len(chosen), n)
	}
	opts.Allocation = graphcloak.Allocation{Uniform: true}
	pl, err := newPlacement(ctx, m, opts, s)
	if err != nil {
		return nil, err
	}
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	fresh := pl.reset(s.Seed + 1)
	for _, i := range chosen {
		pl.add(i)
		fresh.add(i)
	}
	out := &Suggestion{
		NodeCount: n, Existing: len(chosen), Before: fresh.entropies(part.Labels, part.Count), Trials: len(pl.source),
		Notes: []string{
			"entropies are in bits, for one source of amplitude 1, by simulation; no signal was read, and nothing was spent",
			guaranteeNote(opts.Guarantee),
		},
	}
	for step := range k {
		m.Progress("suggest sensors", int64(step), int64(k))
		i, err := pl.best(ctx, chosen)
		if err != nil {
			return nil, err
		}
		pl.add(i)
		fresh.add(i)
		chosen = append(chosen, i)
		sigma, err := uniformSigma(ctx, m, opts, chosen)
		if err != nil {
			return nil, err
		}
		out.Sensors = append(out.Sensors, SuggestedSensor{NodeID: m.Graph.ID(i), PosteriorEntropy: fresh.entropies(part.Labels, part.Count), Sigma: sigma})
	}
	return out, nil
}

// guaranteeNote says what is guaranteed of the greedy choice, and what is not.
func guaranteeNote(g privacy.Guarantee) string {
	const share = "up to the error of simulation, the greedy choice adds at least 1 − 1/e (63 %) of the information that the best choice of as many further sensors would add, "
	if g == privacy.PerSensor {
		return share + "at each sensor's own noise; for communities nothing is guaranteed"
	}
	return share + "at the noise that sensors at every node need; at the smaller noise of a plan for the chosen ones (sigma), and for communities, nothing is guaranteed"
}

// uniformSigma returns the uniform σ that a plan for the sensors needs, or that of the last
// where each is private by itself.
func uniformSigma(ctx context.Context, m *graphcloak.Model, opts graphcloak.PlanOptions, sensors []int) (float64, error) {
	other, err := m.WithSensors(sensors)
	if err != nil {
		return 0, err
	}
	p, err := other.Plan(ctx, opts)
	if errors.Is(err, privacy.ErrInput) || errors.Is(err, privacy.ErrImprecise) { // with sensors everywhere there was a plan
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	last := sensors[len(sensors)-1]
	at := slices.IndexFunc(p.Sensors, func(s privacy.SensorNoise) bool { return s.Node == last })
	return p.Sensors[at].Sigma(), nil
}

// placement simulates sources and keeps the posterior of each, for the sensors so far.
type placement struct {
	rows      *mat.Dense // row s: what a sensor at node s reads, by source, in units of its noise
	seed      uint64
	source    []int     // of each trial
	weight    []float64 // of each trial; they sum to 1
	p         [][]float64
	plogp     [][]float64 // p·ln p
	entropy   []float64   // entropy of each trial's posterior
	gainBound []float64   // of each node: an upper bound on its gain
}

// newPlacement simulates every node that the prior allows equally often, weighted by
// the prior: the expectation over sources is exact.
func newPlacement(ctx context.Context, m *graphcloak.Model, opts graphcloak.PlanOptions, s SuggestOptions) (*placement, error) {
	n := m.Graph.Order()
	if n > analyst.DenseLimit {
		return nil, fmt.Errorf("%w: only graphs of up to %d nodes are simulated, this one has %d", ErrSuggest, analyst.DenseLimit, n)
	}
	trials := cmp.Or(s.Trials, defaultSuggestTrials)
	if trials < 1 || trials > maxTrials {
		return nil, fmt.Errorf("%w: %d simulated sources are wanted, want 1 to %d", ErrSuggest, trials, maxTrials)
	}
	rounds := (trials + n - 1) / n
	if err := m.CheckMemory("suggesting sensors", 8*int64(n)*int64(n)*int64(1+4*rounds)); err != nil {
		return nil, err
	}
	prior, err := normalised(m)
	if err != nil {
		return nil, err
	}
	everywhere := make([]int, n)
	for i := range everywhere {
		everywhere[i] = i
	}
	other, err := m.WithSensors(everywhere)
	if err != nil {
		return nil, err
	}
	plan, err := other.Plan(ctx, opts)
	if err != nil {
		return nil, err
	}
	pl := &placement{seed: s.Seed, gainBound: make([]float64, n)}
	if pl.rows, err = m.Operator().Diffusion.Rows(ctx, everywhere); err != nil {
		return nil, err
	}
	for i, sensor := range plan.Sensors {
		row := pl.rows.RawRowView(i)
		for j := range row {
			row[j] /= sensor.Sigma()
		}
		pl.gainBound[i] = math.Inf(1)
	}
	start := make([]float64, n)
	for i, v := range prior {
		start[i] = xlogx(v)
	}
	for range rounds {
		for i, v := range prior {
			if v > 0 {
				pl.source, pl.weight = append(pl.source, i), append(pl.weight, v/float64(rounds))
				pl.p, pl.plogp = append(pl.p, slices.Clone(prior)), append(pl.plogp, slices.Clone(start))
				pl.entropy = append(pl.entropy, -floats.Sum(start))
			}
		}
	}
	return pl, nil
}

// reset returns the trials before any sensor, with noise of another seed: a choice is not
// judged by the noise that it was made for.
func (pl *placement) reset(seed uint64) *placement {
	fresh := *pl
	fresh.seed, fresh.gainBound, fresh.entropy = seed, nil, slices.Clone(pl.entropy)
	fresh.p, fresh.plogp = make([][]float64, len(pl.p)), make([][]float64, len(pl.p))
	for t := range pl.p {
		fresh.p[t], fresh.plogp[t] = slices.Clone(pl.p[t]), slices.Clone(pl.plogp[t])
	}
	return &fresh
}

func xlogx(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log(x)
}

// readings returns what a sensor at node s reads in each trial, in units of its noise.
func (pl *placement) readings(s int) []float64 {
	random := rand.New(rand.NewPCG(pl.seed, uint64(s)))
	row := pl.rows.RawRowView(s)
	y := make([]float64, len(pl.source))
	for t, i := range pl.source {
		y[t] = row[i] + random.NormFloat64()
	}
	return y
}

// negligible is the reading, in units of the noise, that counts as 0 while candidates are
// compared: it moves log likelihoods by less than
// negligible·(|y| + negligible). Reported entropies are computed without it.
const negligible = 1e-4

// gain returns by how much a sensor at node s lowers the expected entropy, in nats.
// With L_j the likelihood of source j over that of the true one, which is at most
// e^{ν²/2} for noise ν, and p'_j = p_j L_j/Z,
//
//	−Σ p' ln p' = ln Z − Σ p_j L_j (ln p_j + ln L_j)/Z.
//
// Nodes whose reading is negligible share one L.
func (pl *placement) gain(s int) float64 {
	row := pl.rows.RawRowView(s)
	var seen []int
	for j, m := range row {
		if m > negligible {
			seen = append(seen, j)
		}
	}
	lowered := 0.0
	for t, y := range pl.readings(s) {
		p, plogp := pl.p[t], pl.plogp[t]
		truth := logRatio(y, row[pl.source[t]])
		var z, sum float64
		rest, restLog := 1.0, -pl.entropy[t]
		for _, j := range seen {
			l := logRatio(y, row[j]) - truth
			ratio := math.Exp(l)
			z += p[j] * ratio
			sum += (plogp[j] + p[j]*l) * ratio
			rest, restLog = rest-p[j], restLog-plogp[j]
		}
		unseen := math.Exp(-truth)
		z += max(0, rest) * unseen
		sum += (restLog - max(0, rest)*truth) * unseen
		lowered += pl.weight[t] * (pl.entropy[t] - (math.Log(z) - sum/z))
	}
	return lowered
}

// logRatio is the log likelihood ratio, for the reading y, of a source whose reading has
// mean m against no source.
func logRatio(y, m float64) float64 { return (y - m/2) * m }

// batch is the number of candidates that are evaluated before the bounds are compared
// again; it is fixed, so that the choice does not depend on the number of workers.
const batch = 64

// best returns the node that lowers the entropy most, the lowest of equal ones. A gain
// that was computed for fewer sensors bounds the gain now, by submodularity, so that
// most candidates need not be evaluated again (lazy greedy).
func (pl *placement) best(ctx context.Context, chosen []int) (int, error) {
	var order []int
	for i := range pl.gainBound {
		if !slices.Contains(chosen, i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(pl.gainBound[j], pl.gainBound[i]) })
	best := -1
	for at := 0; at < len(order); at += batch {
		if best >= 0 && pl.gainBound[best] >= pl.gainBound[order[at]] {
			break
		}
		part := order[at:min(at+batch, len(order))]
		err := parallel(ctx, len(part), func(k int) error {
			pl.gainBound[part[k]] = pl.gain(part[k])
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, i := range part {
			if best < 0 || pl.gainBound[i] > pl.gainBound[best] || pl.gainBound[i] == pl.gainBound[best] && i < best {
				best = i
			}
		}
	}
	return best, nil
}

// add puts a sensor at node s.
func (pl *placement) add(s int) {
	row := pl.rows.RawRowView(s)
	for t, y := range pl.readings(s) {
		p := pl.p[t]
		truth, z := logRatio(y, row[pl.source[t]]), 0.0
		for j, m := range row {
			p[j] *= math.Exp(logRatio(y, m) - truth)
			z += p[j]
		}
		pl.entropy[t] = 0
		for j := range p {
			p[j] /= z
			pl.plogp[t][j] = xlogx(p[j])
			pl.entropy[t] -= pl.plogp[t][j]
		}
	}
}

// entropies returns the mean entropies given the sensors so far.
func (pl *placement) entropies(labels []int, count int) PosteriorEntropy {
	groups := 0.0
	for t, p := range pl.p {
		sums := make([]float64, count)
		for j, v := range p {
			sums[labels[j]] += v
		}
		for _, v := range sums {
			groups -= pl.weight[t] * xlogx(v)
		}
	}
	return PosteriorEntropy{
		Entropy:       floats.Dot(pl.weight, pl.entropy) / math.Ln2,
		StandardError: pl.standardError() / math.Ln2, CommunityEntropy: max(0, groups) / math.Ln2,
	}
}

// standardError estimates the standard deviation over noise of h̄ = Σ w_t h_t, of which
// the variance is Σ w_t² Var h_t. With several trials a source, their variance is that
// of noise, without bias. With one each, (h_t − h̄_t)² estimates it, where
// h̄_t = (h̄ − w_t h_t)/(1 − w_t) is the mean without trial t: being independent of h_t,
// it leaves an expectation of at least Var h_t, and more by as much as sources differ.
func (pl *placement) standardError() float64 {
	h, w, variance := pl.entropy, pl.weight, 0.0
	sources := slices.Index(pl.source[1:], pl.source[0]) + 1 // trials go round all sources
	if sources > 0 {
		rounds := len(h) / sources
		same := make([]float64, rounds)
		for i := range sources {
			for r := range same {
				same[r] = h[r*sources+i]
			}
			variance += float64(rounds) * w[i] * w[i] * stat.Variance(same, nil)
		}
		return math.Sqrt(variance)
	}
	mean := h[0]
	for t := range h {
		mean += w[t] * (h[t] - h[0]) // exact where all are equal
	}
	for t := range h {
		if rest := 1 - w[t]; rest > 0 { // else the source is known, and h₀ = 0
			d := w[t] * (h[t] - mean) / rest // w_t(h_t − h̄_t)
			variance += d * d
		}
	}
	return math.Sqrt(variance)
}
