// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
)

// Evaluation says how well sources are found under a plan, by simulation.
type Evaluation struct {
	NodeCount        int     `json:"nodeCount"`
	CommunityCount   int     `json:"communityCount"`
	Epsilon          float64 `json:"epsilon"`
	Delta            float64 `json:"delta"`
	Tau              float64 `json:"tau"` // of the plan, in the middle of its range where there is one
	Trials           int     `json:"trials"`
	RandomSeed       uint64  `json:"randomSeed"`
	SourceAmplitude  string  `json:"sourceAmplitude"` // that sources had: "uniform" or a number
	AssumedAmplitude string  `json:"amplitude"`       // prior of the posterior: "mixed", "uniform" or "one"
	// Chance is how often always naming the likeliest community of the prior is right.
	Chance float64 `json:"chance"`
	// Scenario is what differs from the model, by its name in [Scenarios] or in [Options].Alternatives.
	Scenario string `json:"scenario"`
	// Allocation is "optimal" or "uniform": the plan's noise, which Performance is about.
	Allocation string `json:"allocation"`
	*Performance
	// Uniform is the performance of uniform noise with the same guarantee; nil: the
	// plan's noise is uniform.
	Uniform  *Performance `json:"uniform,omitempty"`
	Notes    []string     `json:"notes"`
	Outcomes []Trial      `json:"-"` // trials under the plan, in their order, for [Summarize]
}

// Evaluate simulates releases of single sources under the plan, and under uniform
// noise with the same guarantee, and recovers from them. Noise is drawn by
// [privacy.Plan.Perturb] itself, keyed by the seed instead of a secret: it hides
// nothing. No signal is read and nothing is spent. It returns [recovery.ErrInvalid] for
// options without a meaning, [plan.ErrMemory], [graph.ErrBadWeight] where a
// scenario makes weights too large, and the errors of [graph.Graph.Changed],
// [plan.Model.Matches], [plan.Model.UniformPlan] and
// [plan.Model.Partition].
func Evaluate(ctx context.Context, m *plan.Model, p *plan.Plan, opts Options) (*Evaluation, error) {
	if err := m.Matches(p.Plan); err != nil {
		return nil, err
	}
	if opts.Trials == 0 {
		opts.Trials = 1000
	}
	if opts.Trials < 0 || !(opts.Amplitude >= 0 && opts.Amplitude <= 1) {
		return nil, fmt.Errorf("%w: %d trials at amplitude %v, want > 0 and in [0, 1]", recovery.ErrInvalid, opts.Trials, opts.Amplitude)
	}
	if err := analyst.CheckFalseAlarm(opts.Recover.FalseAlarm); err != nil {
		return nil, err
	}
	s, err := newEvaluator(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{
		NodeCount: p.NodeCount, CommunityCount: s.part.Count, Epsilon: p.Epsilon, Delta: p.Delta, Tau: p.Public.Tau, Trials: opts.Trials,
		RandomSeed: opts.Seed, SourceAmplitude: "uniform", AssumedAmplitude: opts.Recover.Amplitude.String(),
		Chance:   floats.Max(s.part.Sums(s.prior)),
		Scenario: s.world.Name, Allocation: "uniform", Notes: s.notes(p.Plan),
	}
	if opts.Amplitude > 0 {
		e.SourceAmplitude = strconv.FormatFloat(opts.Amplitude, 'g', -1, 64)
	}
	if e.Performance, e.Outcomes, err = s.evaluate(ctx, p.Plan, "evaluate"); err != nil {
		return nil, err
	}
	uniform, err := m.UniformPlan(p)
	if err != nil {
		return nil, err
	}
	if uniform != nil {
		e.Allocation, e.UniformSigma = "optimal", uniform.Sigma()
		if e.Uniform, _, err = s.evaluate(ctx, uniform, "evaluate uniform noise"); err != nil {
			return nil, err
		}
	}
	if s.estimated {
		e.Notes = append(e.Notes, fmt.Sprintf("column norms were estimated by %d random products", normProbes))
	}
	return e, nil
}

// evaluate simulates one plan.
func (s *evaluator) evaluate(ctx context.Context, p *privacy.Plan, stage string) (*Performance, []Trial, error) {
	r, err := s.newSimulation(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if err := r.prepareDetection(ctx); err != nil {
		return nil, nil, err
	}
	trials, err := r.run(ctx, stage)
	if err != nil {
		return nil, nil, err
	}
	f, err := Summarize(trials, s.opts.Seed)
	if err != nil {
		return nil, nil, err
	}
	f.Communities = ByCommunity(trials, s.part)
	f.SensorCount, f.Noise = len(p.Sensors), (&plan.Plan{Plan: p}).Noise()
	return f, trials, nil
}
