// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/limit"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// DefaultTrials is the number of simulated releases behind an expected accuracy, LargeTrials that on graphs of more than 6,000 nodes,
// and ChanceTrials that where these do not tell it from chance.
const (
	DefaultTrials = 200
	LargeTrials   = 50
	ChanceTrials  = 1000
)

// Sample is what an expected accuracy is simulated from.
type Sample struct {
	Trials int    // simulated releases
	Most   int    // where so many do not tell the plan from chance: as many as this; 0: Trials
	Seed   uint64 // of sources and noise: the same seed, the same bits
}

// expectation simulates sources of amplitude 1. Every plan sees the same sources and the same random numbers.
type expectation struct {
	*simulate.Simulator
	Sample
	model *plan.Model
	// question is whose limit was asked for; nil: none yet
	question *limit.Question
}

func newExpectation(ctx context.Context, m *plan.Model, opts analyst.Options, sample Sample) (*expectation, error) {
	if sample.Trials < 1 {
		return nil, fmt.Errorf("%w: %d simulated releases, want at least 1", recovery.ErrInvalid, sample.Trials)
	}
	s, err := simulate.New(ctx, m, simulate.Options{Seed: sample.Seed, Amplitude: 1, Recover: opts, Common: true})
	return &expectation{Simulator: s, Sample: sample, model: m}, err
}

// accuracy simulates one plan, and more of it where its trials do not tell it from chance.
func (s *expectation) accuracy(ctx context.Context, p *privacy.Plan) (*report.Accuracy, error) {
	r, err := s.Under(ctx, p)
	if err != nil {
		return nil, err
	}
	for n := s.Trials; ; n = s.Most {
		if err := r.Run(ctx, "simulate", n); err != nil {
			return nil, err
		}
		if a := s.accuracyOf(r.Trials); n >= s.Most || !a.AtChance() {
			return a, nil
		}
	}
}

// accuracyOf sums up trials.
func (s *expectation) accuracyOf(trials []simulate.Trial) *report.Accuracy {
	x := sample(trials)
	named := x.share(right)
	a := &report.Accuracy{
		Probability: named.Rate, Lower: named.Lower, Upper: named.Upper, Chance: s.Chance(), Trials: len(x),
		MeanEMD: x.mean(distance), Elsewhere: x.mean(elsewhere), CredibleSetSize: x.mean(setSize), KnownMassSetSize: x.mean(knownSetSize),
	}
	for _, c := range byCommunity(trials, s.Partition) {
		a.Communities = append(a.Communities, c.CommunityAccuracy)
	}
	return a
}

// limit bounds what any mechanism with the guarantee of the plan could reach with the
// simulated sources.
func (s *expectation) limit(ctx context.Context, p *privacy.Plan) (*report.Limit, error) {
	l, err := s.limitOf(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("limit of accuracy: %w", err)
	}
	return l, nil
}

func (s *expectation) limitOf(ctx context.Context, p *privacy.Plan) (*report.Limit, error) {
	if s.question == nil {
		var err error
		if s.question, err = limit.New(ctx, s.model.Graph, s.Partition.Labels, s.Prior, p.Alpha); err != nil {
			return nil, err
		}
	}
	gaussian, err := limit.Gaussian(p.JointMu)
	if err != nil {
		return nil, err
	}
	l := new(report.Limit)
	if l.Gaussian, err = s.question.Accuracy(ctx, gaussian); err != nil || p.Guarantee != privacy.Joint {
		return l, err
	}
	approximate, err := limit.Approximate(p.Epsilon, p.Delta)
	if err != nil {
		return nil, err
	}
	most, err := s.question.Accuracy(ctx, approximate)
	l.Gaussian, l.AnyMechanism = min(l.Gaussian, most), &most
	return l, err
}

// compared is the accuracy of a plan with its limit, and that of uniform noise with the same guarantee by as many trials; nil where the
// plan's noise is uniform.
func (s *expectation) compared(ctx context.Context, p *plan.Plan) (a, uniform *report.Accuracy, err error) {
	if a, err = s.accuracy(ctx, p.Plan); err != nil {
		return nil, nil, err
	}
	if a.Limit, err = s.limit(ctx, p.Plan); err != nil {
		return nil, nil, err
	}
	other, err := s.model.UniformPlan(p)
	if other == nil || err != nil {
		return a, nil, err
	}
	asMany := *s
	asMany.Trials, asMany.Most = a.Trials, 0
	if uniform, err = asMany.accuracy(ctx, other); err == nil {
		uniform.Communities = nil // of the plan alone
	}
	return a, uniform, err
}

// Expect simulates how often the right community would be named under the plan,
// and under uniform noise with the same guarantee, and what no mechanism with this
// guarantee exceeds, and says so in the plan. On graphs of
// more than 6,000 nodes it does nothing; [Evaluate] takes them.
// It returns [recovery.ErrInvalid] for fewer than one trial, [limit.ErrInvalid] for an α out
// of range, and the errors of [Evaluate].
func Expect(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options, sample Sample) error {
	if m.Graph.Order() > analyst.DenseLimit {
		return nil
	}
	if err := m.Matches(p.Plan); err != nil {
		return err
	}
	s, err := newExpectation(ctx, m, opts, sample)
	if err != nil {
		return err
	}
	p.AddPublicProperties(m.PublicProperties()...)
	if p.Communities, err = m.PlannedCommunities(ctx); err != nil {
		return err
	}
	a, uniform, err := s.compared(ctx, p)
	if err != nil {
		return err
	}
	if p.Accuracy = a; uniform != nil {
		p.Allocated.Uniform.Accuracy = uniform
	}
	return nil
}

// ErrLong says that a simulation would take longer than it may.
var ErrLong = errors.New("study: the simulation would take longer than it may")

// ErrAtChance says that simulation does not tell a plan from chance: see [report.Accuracy.AtChance].
var ErrAtChance = errors.New("study: the answer cannot be distinguished from chance")

// RefuseAtChance returns [ErrAtChance] for a plan that [Judge] does not tell from chance: as [run.Job].Planned it ends a run
// before anything is spent. Where no accuracy is had in time or memory it refuses nothing.
func RefuseAtChance(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options) error {
	a, err := Judge(ctx, m, p, opts)
	if errors.Is(err, ErrLong) || errors.Is(err, plan.ErrMemory) {
		return nil
	}
	if err == nil && a != nil && a.AtChance() {
		err = AtChance(a)
	}
	return err
}

// JudgeTime is what [Judge] simulates for at most, of one processor, estimated from sizes: a busy machine does as much as an idle one.
const JudgeTime = 10 * time.Second

// Judge is the accuracy that a run is judged by before it spends: that of the plan, or of its search, or of an [Outlook] of
// [JudgeTime]. It is nil where there is one community, and on a graph of more than 6,000 nodes whose search tells the answer from
// chance. It returns [ErrLong] and [plan.ErrMemory] where nothing is had in time or memory.
func Judge(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options) (*report.Accuracy, error) {
	part, err := m.Partition(ctx)
	if err != nil || part.Count == 1 { // which is said without it
		return nil, err
	}
	if x := p.Accuracy; x != nil && !x.Few() && (!x.AtChance() || x.Trials >= ChanceTrials) {
		return x, nil
	}
	found, hopeless := Rough(m, p, part), p.TauChoice != nil && p.TauChoice.Hopeless
	if m.Graph.Order() > analyst.DenseLimit && Simulated(p) && !hopeless && !found.AtChance() {
		return nil, nil
	}
	accuracy, err := Outlook(ctx, m, p, opts, Sample{Trials: DefaultTrials, Most: ChanceTrials}, JudgeTime)
	if found != nil && !found.Few() && (errors.Is(err, ErrLong) || errors.Is(err, plan.ErrMemory)) {
		return found, nil
	}
	return accuracy, err
}

// Simulated reports whether a plan, or the search for it, says how accurate it is.
func Simulated(p *plan.Plan) bool {
	return p.Accuracy != nil || p.TauChoice != nil || p.Searched() != nil
}

// Rough is how often the right community was named by the simulation that compared an allocation with uniform noise, or where there
// was none by that which chose τ; nil where there was neither. The latter does not say of how many trials.
func Rough(m *plan.Model, p *plan.Plan, part community.Partition) *report.Accuracy {
	if s := p.Searched(); s != nil {
		x := &report.Accuracy{Probability: s.Right, Trials: s.Trials, Chance: m.Chance(part)}
		if p.Allocated == nil {
			x.Probability = s.Equal
		}
		x.Lower, x.Upper = report.ScoreInterval(int(math.Round(x.Probability*float64(s.Trials))), s.Trials)
		return x
	}
	if p.TauChoice == nil {
		return nil
	}
	k := slices.IndexFunc(p.TauChoice.Points, func(x plan.TauPoint) bool { return x.Tau == p.Public.Tau })
	if k < 0 {
		return nil
	}
	return &report.Accuracy{Probability: p.TauChoice.Points[k].Accuracy, Chance: p.TauChoice.Chance}
}

// AtChance is [ErrAtChance] with the accuracy that says so.
func AtChance(a *report.Accuracy) error {
	return fmt.Errorf("%w: right %s of the time (95 %% interval %.0f to %.0f %%, from %d simulated runs), chance %s",
		ErrAtChance, report.Percent(a.Probability), 100*a.Lower, 100*a.Upper, a.Trials, report.Percent(a.Chance))
}

// Outlook is the accuracy of [Expect], on graphs of any size: of the sample, or of as much of it as is estimated, from sizes alone, to
// take one processor of the 2020s no longer than within; beyond 6,000 nodes of [LargeTrials] at first. Where these are too few to
// conclude anything it returns [ErrLong].
func Outlook(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options, sample Sample,
	within time.Duration,
) (*report.Accuracy, error) {
	fewest := report.LeastTrials
	if m.Graph.Order() > analyst.DenseLimit {
		sample.Trials, fewest = min(sample.Trials, LargeTrials), LargeTrials
	}
	most, err := simulate.Affordable(m, p.Plan, max(sample.Trials, sample.Most), within)
	if err != nil {
		return nil, err
	}
	if most < min(fewest, sample.Trials) {
		return nil, ErrLong
	}
	sample.Trials, sample.Most = min(sample.Trials, most), min(sample.Most, most)
	s, err := newExpectation(ctx, m, opts, sample)
	if err != nil {
		return nil, err
	}
	return s.accuracy(ctx, p.Plan)
}
