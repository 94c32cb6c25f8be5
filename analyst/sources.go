// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// severalSources replaces the posterior of one source by that of two, where the options say two, or [OneOrTwo]
// and the evidence does. It changes nothing for one source.
func (a *analysis) severalSources(ctx context.Context, opts posterior.Options) error {
	switch a.opts.Sources {
	case OneOrTwo:
		return a.oneOrTwo(ctx, opts)
	case 2:
		a.report.Sources = &report.Sources{}
		return a.twoSources(ctx, opts, math.Inf(-1))
	}
	return nil
}

// oneOrTwo supposes a second source where the evidence for it is large: under the model of
// one source the ratio of the evidence of two to that of one has mean 1, so it exceeds 1/α
// with probability α at most. The ratio is estimated, and where that is large computed from all pairs. Where a background
// explains more, one source is supposed, whose fit is then tested.
func (a *analysis) oneOrTwo(ctx context.Context, opts posterior.Options) error {
	if a.op.Graph.Order() == 1 {
		return nil
	}
	if why := a.onlyOne(); why != "" {
		a.report.Notes = append(a.report.Notes, why)
		return nil
	}
	second, err := posterior.Second(ctx, a.Data, opts)
	if err != nil {
		return fmt.Errorf("evidence of a second source: %w", err)
	}
	a.report.Sources = &report.Sources{Count: 1, LogSecond: report.Finite(second)}
	least := -math.Log(min(a.opts.falseAlarm(), DefaultFalseAlarm))
	if !(second >= least) {
		return nil
	}
	better, err := a.simpler(ctx, opts)
	if err != nil {
		return fmt.Errorf("what explains more than a second source: %w", err)
	}
	if better != "" {
		a.report.Notes = append(a.report.Notes, fmt.Sprintf("two sources explain the measurements better than one, and %s better still: "+
			"one source is supposed", better))
		return nil
	}
	return a.twoSources(ctx, opts, least)
}

// twoSources replaces the ranking under one source by that under two, where all pairs can be weighed and have
// at least so large log odds against one source.
func (a *analysis) twoSources(ctx context.Context, opts posterior.Options, least float64) error {
	pairs, err := posterior.NewPairs(ctx, a.Data, opts)
	switch {
	case errors.Is(err, posterior.ErrWork):
		a.report.Sources.Count = 1
		a.report.Notes = append(a.report.Notes, "one source is supposed: where sensors may be broken, all pairs of nodes would take too "+
			"long to weigh")
		return nil
	case err != nil:
		return fmt.Errorf("posterior of 2 sources: %w", err)
	}
	one, err := posterior.New(ctx, a.Data, opts)
	if err != nil {
		return err
	}
	second := pairs.LogPresence - one.LogPresence
	a.report.Sources.LogSecond = report.Finite(second)
	if !(second >= least) {
		return nil
	}
	if err := a.rank(ctx); err != nil {
		return err
	}
	groups, err := pairs.Groups(a.partition.Labels)
	if err != nil {
		return err
	}
	a.report.Sources.Count, a.probability, a.faulty = 2, pairs.Probability, pairs.Faulty
	a.rerank(groups, opts.Prior)
	return nil
}

// onlyOne says why a second source is not weighed, or nothing where it is.
func (a *analysis) onlyOne() string {
	switch {
	case a.op.Graph.Order() > DenseLimit:
		return fmt.Sprintf("above %d nodes only one source is weighed", DenseLimit)
	case a.opts.Tau.IsWide():
		return "where τ is known by a range only, one source is weighed unless `sources` says otherwise: the measure of a second one " +
			"supposes that τ is known"
	case a.severalProcesses():
		return "where the " + a.op.kind() + " is known by a list only, one source is weighed unless `sources` says otherwise: the " +
			"measure of a second one supposes that it is known"
	}
	return ""
}

// simpler is [Whitened.Simpler] without the sensors that are more likely broken than sound.
func (a *analysis) simpler(ctx context.Context, opts posterior.Options) (string, error) {
	if rows := Sound(a.faulty); len(rows) > 0 && len(rows) < len(a.faulty) {
		opts.Norms = nil
		return a.Subset(rows).Simpler(ctx, opts)
	}
	return a.Simpler(ctx, opts)
}

// Simpler names a background where it has more evidence than a second source, all sensors being sound; "" where it has not.
// It returns [posterior.ErrInvalid] for options that do not fit to the measurements.
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
	background, err := posterior.Background(ctx, w.Data, uniformBackground(w.Data), opts)
	if err != nil || one.LogPresence+second >= background {
		return "", err
	}
	return report.UniformBackground, nil
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
