// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// Thresholds of convergence by Vehtari et al. (2021), Bayesian Anal. 16(2): R̂ below 1.01
// and an effective sample size above 400.
const (
	maxRHat = 1.01
	minESS  = 400
)

// severalSources replaces the posterior of one source by that of as many as the options
// say: exactly for two on up to [posterior.PairLimit] nodes, else by Gibbs sampling. With
// [ByEvidence] it first chooses the number. It changes nothing for one source.
func (a *analysis) severalSources(ctx context.Context, opts posterior.Options) error {
	k, n := a.opts.Sources, a.op.Graph.Order()
	if k == 0 || k == 1 || k < 0 && n == 1 {
		return nil
	}
	if k == OneOrTwo {
		return a.oneOrTwo(ctx, opts)
	}
	sampling := posterior.SampleOptions{Options: opts}
	s := &report.Sources{Count: k}
	a.report.Sources = s
	if k == ByEvidence {
		count, err := a.count(ctx, &sampling)
		if err != nil {
			return fmt.Errorf("count sources: %w", err)
		}
		opts = sampling.Options
		s.Count, s.Probabilities = count.Best(), count.Probability
		if !math.IsInf(count.ESS, 1) { // it took samplers
			a.addDiagnostics(count.RHat, count.ESS, "the number of sources is rough, and so is what rests on it")
		}
	}
	if s.Count <= 1 {
		s.Method = "exact"
		return nil
	}
	if err := a.rank(ctx); err != nil {
		return err
	}
	var groups []float64
	var err error
	if s.Count == 2 {
		groups, err = a.pairs(ctx, opts)
	}
	if err == nil && groups == nil {
		sampling.Sources = s.Count
		groups, err = a.sample(ctx, sampling)
	}
	if err != nil {
		return fmt.Errorf("posterior of %d sources: %w", s.Count, err)
	}
	a.rerank(groups, opts.Prior)
	return nil
}

// count returns the posterior of the number of sources. Where that is not to be had of sensors that may be broken, the options trust
// all from then on, and a note says so.
func (a *analysis) count(ctx context.Context, opts *posterior.SampleOptions) (*posterior.Count, error) {
	most := min(maxSources, a.op.Graph.Order()-1)
	if posterior.KnowsEvidence(a.Data, opts.Faults) {
		return posterior.NewCount(ctx, a.Data, most, *opts)
	}
	opts.Faults = posterior.Faults{}
	a.report.Notes = append(a.report.Notes, fmt.Sprintf("above %d nodes, where heat reaches everything, the number of sources is weighed as if all sensors were sound, and so are they", DenseLimit))
	return posterior.NewCount(ctx, a.Data, most, *opts)
}

// oneOrTwo supposes a second source where the evidence for it is large: under the model of
// one source the ratio of the evidence of two to that of one has mean 1, so it exceeds 1/α
// with probability α at most. The ratio is estimated, and exact where it is large and pairs
// can be enumerated. Where the noise at all sensors, or a background, explains more, one source is supposed,
// whose fit is then tested.
func (a *analysis) oneOrTwo(ctx context.Context, opts posterior.Options) error {
	if why := a.onlyOne(opts); why != "" {
		a.report.Notes = append(a.report.Notes, why)
		return nil
	}
	second, err := posterior.Second(ctx, a.Data, opts)
	if err != nil {
		return fmt.Errorf("evidence of a second source: %w", err)
	}
	a.report.Sources = &report.Sources{Count: 1, Method: "exact", LogSecond: report.Finite(second)}
	enough := -math.Log(min(a.opts.falseAlarm(), DefaultFalseAlarm))
	if !(second >= enough) {
		return nil
	}
	better, err := a.simpler(ctx, opts)
	if err != nil {
		return fmt.Errorf("what explains more than a second source: %w", err)
	}
	if better != "" {
		a.report.Notes = append(a.report.Notes, fmt.Sprintf("two sources explain the measurements better than one, and %s better still: one source is supposed", better))
		return nil
	}
	if err := a.rank(ctx); err != nil {
		return err
	}
	var groups []float64
	var p *posterior.Pairs
	if a.op.Graph.Order() <= PairedNodes {
		if p, err = a.exactPairs(ctx, opts); err != nil {
			return fmt.Errorf("posterior of 2 sources: %w", err)
		}
	}
	if p != nil {
		one, err := posterior.New(ctx, a.Data, opts)
		if err != nil {
			return err
		}
		second = p.LogPresence - one.LogPresence
		a.report.Sources.LogSecond = report.Finite(second)
		if !(second >= enough) {
			return nil
		}
		a.probability = p.Probability
		if groups, err = p.Groups(a.partition.Labels); err != nil {
			return err
		}
	} else if groups, err = a.sample(ctx, posterior.SampleOptions{Options: opts, Sources: 2}); err != nil {
		return fmt.Errorf("posterior of 2 sources: %w", err)
	}
	a.report.Sources.Count = 2
	a.rerank(groups, opts.Prior)
	return nil
}

// onlyOne says why a second source is not weighed, or nothing where it is.
func (a *analysis) onlyOne(opts posterior.Options) string {
	n := a.op.Graph.Order()
	switch {
	case n > SecondNodes:
		return fmt.Sprintf("above %d nodes only one source is weighed unless `sources` says otherwise", SecondNodes)
	case n > DenseLimit && opts.Faults.Rate == 0:
		return fmt.Sprintf("above %d nodes, where no sensor is broken, only one source is weighed unless `sources` says otherwise", DenseLimit)
	case a.opts.TauFrom < a.opts.TauTo:
		return "where τ is known by a range only, one source is weighed unless `sources` says otherwise: the measure of a second one supposes that τ is known"
	case a.severalProcesses():
		return "where the graph is known by a list only, one source is weighed unless `sources` says otherwise: the measure of a second one supposes that the graph is known"
	case !posterior.KnowsEvidence(a.Data, opts.Faults):
		return fmt.Sprintf("above %d nodes, where heat reaches everything, only one source is weighed unless `sources` says otherwise", DenseLimit)
	}
	return ""
}

// SecondNodes is the order up to which [OneOrTwo] weighs a second source, in some ten seconds; without faults it is [DenseLimit].
const SecondNodes = 100_000

// CheckSeveralSources refuses, with the error of Guard, what does not fit into memory of weighing more than one source where
// so many sensors may be broken and the rows are not held.
func (o *Operator) CheckSeveralSources(sensors int, opts Options) error {
	n := o.Graph.Order()
	one := opts.Sources == 0 || opts.Sources == 1 || opts.Sources == OneOrTwo && n > SecondNodes
	if o.Guard == nil || n <= DenseLimit || one || opts.FaultRate == nil || *opts.FaultRate == 0 {
		return nil
	}
	return o.Guard("recovery of several sources", posterior.SampleBytes(n, sensors))
}

// simpler is [Whitened.Simpler] without the sensors that are more likely broken than sound.
func (a *analysis) simpler(ctx context.Context, opts posterior.Options) (string, error) {
	if rows := Sound(a.faulty); len(rows) > 0 && len(rows) < len(a.faulty) {
		opts.Norms = nil
		return a.Subset(rows).Simpler(ctx, opts)
	}
	return a.Simpler(ctx, opts)
}

// Simpler names the explanation of all sensors at once, louder noise or a background, that has more evidence than a
// second source where all sensors are sound; "" for none. It returns [posterior.ErrInvalid] for options that do not
// fit to the measurements.
func (w *Whitened) Simpler(ctx context.Context, opts posterior.Options) (string, error) {
	opts.Faults = posterior.Faults{}
	one, err := posterior.New(ctx, w.Data, opts)
	if err != nil {
		return "", err
	}
	second, err := posterior.Second(ctx, w.Data, opts)
	if err != nil {
		return "", err
	}
	louder, err := posterior.Louder(ctx, w.Data, opts)
	if err != nil {
		return "", err
	}
	background, err := posterior.Background(ctx, w.Data, uniformBackground(w.Data), opts)
	switch most := one.LogPresence + second; {
	case err != nil || most >= max(louder, background):
		return "", err
	case louder > background:
		return report.LouderNoise, nil
	default:
		return report.UniformBackground, nil
	}
}

// PairedNodes is the order up to which [OneOrTwo] weighs every pair, in some ten seconds.
const PairedNodes = 1500

// exactPairs returns the posterior of every pair, or nil where there are too many to weigh: beyond
// sizes that the operator tells, or, with a note, because the measurements leave too many open.
func (a *analysis) exactPairs(ctx context.Context, opts posterior.Options) (*posterior.Pairs, error) {
	if !posterior.ExactPairs(a.Data, opts.Faults) {
		return nil, nil
	}
	p, err := posterior.NewPairs(ctx, a.Data, opts)
	if errors.Is(err, posterior.ErrWork) {
		a.report.Notes = append(a.report.Notes, "two sources are weighed by sampling: where sensors may be broken, these measurements leave so many pairs of nodes open that weighing each would take minutes")
		return nil, nil
	}
	return p, err
}

// pairs returns the probability that each community holds a source, for two sources: nil where
// [analysis.exactPairs] is.
func (a *analysis) pairs(ctx context.Context, opts posterior.Options) ([]float64, error) {
	p, err := a.exactPairs(ctx, opts)
	if p == nil {
		return nil, err
	}
	a.report.Sources.Method = "exact"
	a.probability = p.Probability
	return p.Groups(a.partition.Labels)
}

// sample returns the probability that each community holds a source, by Gibbs sampling.
func (a *analysis) sample(ctx context.Context, opts posterior.SampleOptions) ([]float64, error) {
	p, err := posterior.NewSample(ctx, a.Data, opts)
	if err != nil {
		return nil, err
	}
	s := a.report.Sources
	s.Method = "gibbs"
	a.addDiagnostics(p.RHat, p.ESS, fmt.Sprintf("the probabilities of %d sources are rough", s.Count))
	a.probability = p.Probability
	if p.Faulty != nil {
		a.faulty = p.Faulty
	}
	return p.Groups(a.partition.Labels)
}

// addDiagnostics reports the worst diagnostics of the samplers so far, with a note on what
// is rough where a sampler has not converged.
func (a *analysis) addDiagnostics(rHat, ess float64, rough string) {
	s := a.report.Sources
	if s.EffectiveSampleSize == nil || ess < *s.EffectiveSampleSize {
		s.EffectiveSampleSize = report.Finite(ess)
	}
	a.rHat = max(a.rHat, rHat)
	s.RHat = report.Finite(a.rHat)
	if rHat <= maxRHat && ess >= minESS {
		return
	}
	a.report.Notes = append(a.report.Notes, fmt.Sprintf(
		"the sampler has not mixed well (R̂ = %.3g, effective sample size %.0f): %s. With little noise chains stay where they are: Basis Pursuit Denoising finds several sources beside",
		rHat, ess, rough))
}

// rerank replaces the ranking under one source of nodes and communities.
func (a *analysis) rerank(groups, prior []float64) {
	rep, g := a.report, a.op.Graph
	chance := report.Chance(prior, a.partition.Labels, a.partition.Count, rep.Sources.Count)
	for i, c := range rep.Communities {
		rep.Communities[i].Prior, rep.Communities[i].Probability = chance[c.CommunityID], min(1, groups[c.CommunityID])
	}
	slices.SortStableFunc(rep.Communities, func(x, y report.Community) int { return cmp.Compare(y.Probability, x.Probability) })
	order := make([]int, len(a.probability))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.probability[j], a.probability[i]) })
	want, held := credibleLevel*float64(rep.Sources.Count), 0.0
	rep.Posterior.CredibleSetSize, rep.Posterior.KnownMassSetSize = 0, 0
	for _, i := range order {
		if held >= want {
			break
		}
		held += a.probability[i]
		rep.Posterior.CredibleSetSize++
	}
	rep.Posterior.NodeID, rep.Posterior.Probability = g.ID(order[0]), a.probability[order[0]]
	rep.Posterior.LogRunnerUp = nil
	for _, i := range order[:rep.Sources.Count] {
		rep.Sources.NodeIDs = append(rep.Sources.NodeIDs, g.ID(i))
	}
}

// credibleLevel is the level of the credible set: its share of the expected sources.
const credibleLevel = 0.95
